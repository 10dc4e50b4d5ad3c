"""A branch of one's own that stands elsewhere: written by a copy of the vault, or brought there by somebody else."""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path

import pytest

from lazy.places.adding import add_place
from lazy.places.media import set_encrypted
from lazy.sync import sync
from tests.shelf import Shelf
from tests.transports.git_hosts import git
from tests.transports.git_places import refs
from tests.transports.test_git_alone import (
    begin_private_anew,
    content_let_go,
    films_let_go,
    own_branch,
)
from tests.transports.test_git_torn import cut_off
from tests.vault.vaults import befriended
from transports.git.place import GitPlace
from transports.git.remote import git_uri
from vault.releasing import release
from vault.vault import Vault


@pytest.mark.parametrize("is_encrypted", [False, True])
@pytest.mark.parametrize("pull_first", [False, True])
def test_a_restored_backup_blames_nobody_for_what_was_written_since(
    tmp_path: Path, shelf: Shelf, bare: Path, pull_first: bool, is_encrypted: bool
) -> None:
    """CYB-17, LAZ-66: what was written since was said to be set back, and written over with what was there before."""
    alice, bob = shelf.lay(befriended, "bob")
    with closing(alice), closing(bob):
        for vault in (alice, bob):
            place = add_place(vault, "host", str(bare), cwd=tmp_path)
            if is_encrypted:
                set_encrypted(vault, place)
        for vault in (alice, bob, alice, bob):
            sync(vault, ["host"])
        shutil.copytree(alice.dot, tmp_path / "backup")
        before = refs(bare)
        for number in range(3):
            (alice.folder / f"{number}.txt").write_text("new")
            release(alice)
            sync(alice, ["host"])
        ((branch, tip),) = refs(bare).items() - before.items()
        alice.close()
        shutil.rmtree(alice.dot)
        shutil.copytree(tmp_path / "backup", alice.dot)
        with closing(Vault(alice.folder, alice.around)) as again:
            assert not sync(again, ["host"], push=not pull_first)[0].problems
            for vault in (again, bob, again, bob):
                assert not sync(vault, ["host"])[0].problems
        git(bare, "merge-base", "--is-ancestor", tip, branch)


def test_a_branch_of_a_later_generation_is_brought_back(shelf: Shelf, bare: Path) -> None:
    """CLAY-79, CYB-17: it was looked for under its first name, so all was written anew without what was let go here."""
    alice, bob, films = shelf.lay(films_let_go)
    with closing(alice), closing(bob):
        git(bare, "config", "receive.denyNonFastForwards", "true")
        with closing(GitPlace.open(git_uri(bare), alice.folder / ".vault" / "git")) as place:
            place.writer(alice.group, alice.node).compact()
        assert own_branch(alice, bare).endswith("-1")
        git(bare, "update-ref", "-d", own_branch(alice, bare))
        told = [[problem.code for problem in sync(v, ["host"])[0].problems] for v in (alice, bob, alice, bob)]
        assert told == [["branch-set-back"], [], [], []]
        assert content_let_go(alice, bare) == films[0]


@pytest.mark.parametrize("parent", ["over it", "in its place", "beside it"])
@pytest.mark.parametrize("what", ["no mailbox", "an empty one", "another head", "what git refuses", "and no other way"])
def test_what_somebody_wrote_over_a_mailbox_takes_nothing_of_it(
    shelf: Shelf, bare: Path, what: str, parent: str
) -> None:
    """CLAY-79, CYB-17: it was written over in turn without a word, and without what was let go here."""
    alice, bob, films = shelf.lay(films_let_go)
    with closing(alice), closing(bob):
        name = own_branch(alice, bare)
        row = {"no mailbox": "notes", "an empty one": "commits", "another head": "head.rec"}.get(what, ".git")
        blob = git(bare, "hash-object", "-w", "--stdin", stdin=b"2\n")
        tree = git(bare, "mktree", stdin=f"100644 blob {blob}\t{row}\n".encode())
        behind = ["-p", refs(bare)[name]] if parent == "over it" else []
        other = f"{name}-7" if parent == "beside it" else name
        git(bare, "update-ref", other, git(bare, "commit-tree", tree, "-m", "mine now", *behind))
        git(bare, "config", "receive.denyNonFastForwards", str(what == "and no other way").lower())
        told = [[problem.code for problem in sync(vault, ["host"])[0].problems] for vault in (alice, bob, alice, bob)]
        assert told == [["branch-set-back"], [], [], []]
        assert content_let_go(alice, bare) == films[0]


def test_a_branch_that_was_set_back_is_known_by_its_number_where_nothing_else_lies_here(
    shelf: Shelf, bare: Path
) -> None:
    """CLAY-79, CYB-17: what it held before was taken for news, and written over without what was let go here."""
    alice, bob, films = shelf.lay(films_let_go)
    with closing(alice), closing(bob):
        name = own_branch(alice, bare)
        begin_private_anew(alice)
        (alice.folder / "new.txt").write_text("new")
        release(alice)
        sync(alice, ["host"])
        git(bare, "update-ref", name, f"{name}~4")
        told = [[problem.code for problem in sync(vault, ["host"])[0].problems] for vault in (alice, bob, alice, bob)]
        assert told == [["branch-set-back"], [], [], []]
        assert content_let_go(alice, bare) == films[0]


@pytest.mark.parametrize("what", ["no mailbox", "what git refuses"])
def test_what_is_kept_comes_back_over_what_somebody_wrote_meanwhile(
    shelf: Shelf, bare: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """CLAY-79, APP-14: each visit failed from then on, with no way out."""
    alice, bob, films = shelf.lay(films_let_go)
    with closing(alice), closing(bob):
        name = own_branch(alice, bare)
        cut_off(alice, bare, monkeypatch)
        blob = git(bare, "hash-object", "-w", "--stdin", stdin=b"2\n")
        tree = git(bare, "mktree", stdin=f"100644 blob {blob}\t{'notes' if 'no' in what else '.git'}\n".encode())
        git(bare, "update-ref", name, git(bare, "commit-tree", tree, "-m", "mine now"))
        for vault in (alice, bob, alice, bob):
            assert not sync(vault, ["host"])[0].problems
        assert content_let_go(alice, bare) == films[0]
