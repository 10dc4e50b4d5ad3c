"""What is kept while a branch is away from a host, and is damaged on this disk meanwhile (LAZ-63, CLAY-79)."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest

from lazy.sync import sync
from tests.shelf import Shelf
from tests.transports.git_hosts import git
from tests.transports.git_places import damage, got, lose_own, noise
from tests.transports.helpers import additions, key, put
from tests.transports.test_git_alone import Killed, content_let_go, films_let_go, own_branch
from transports.git import upkeep
from transports.git.place import GitPlace
from transports.git.talks import Talks
from vault.releasing import release
from vault.vault import Vault


def cut_off(alice: Vault, bare: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let the host lose the tip of a mailbox, and its owner be killed while the branch is away; return what is kept."""
    lose_own(alice.folder, alice.node, bare, "")
    act = Talks.delete

    def dies(talks: Talks, name: str, expected: str) -> None:
        act(talks, name, expected)
        raise Killed

    with monkeypatch.context() as patch, suppress(Killed):
        patch.setattr(Talks, "delete", dies)
        sync(alice, ["host"])
    (kept,) = (alice.folder / ".vault" / "git").glob("*-again-*.git")
    return kept


def forget_the_rest(alice: Vault) -> None:
    """Let what is kept lie nowhere else here."""
    for private in (alice.folder / ".vault" / "git").glob("*.git"):
        if "-again-" not in private.name:
            shutil.rmtree(private)


def objects(kept: Path) -> list[Path]:
    return sorted((kept / "objects").glob("??/*"))


def spoil(file: Path, how: str) -> None:
    """Leave of a file what a power cut or a bad disk leaves of it."""
    file.chmod(0o600)
    data = file.read_bytes()
    half = len(data) // 2
    file.write_bytes(
        {"flipped": data[:half] + bytes([data[half] ^ 1]) + data[half + 1 :], "short": data[:half], "empty": b""}[how]
    )


@pytest.mark.parametrize("how", ["flipped", "short", "empty", "gone"])
def test_what_is_damaged_of_what_is_kept_is_taken_from_where_it_lies_still(
    shelf: Shelf, bare: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """CLAY-79, LAZ-63: each visit refused to write there from then on, and what the host alone had went with time."""
    alice, bob, films = shelf.lay(films_let_go)
    with closing(alice), closing(bob):
        kept = cut_off(alice, bare, monkeypatch)
        files = objects(kept)
        for file in random.Random(how).sample(files, len(files) // 2):
            if how == "gone":
                file.unlink()
            else:
                spoil(file, how)
        for vault in (alice, bob, alice, bob):
            assert not sync(vault, ["host"])[0].problems
        assert not kept.exists()
        assert content_let_go(alice, bare) == films[0]


@pytest.mark.parametrize("part", ["HEAD", "config", "again"])
def test_what_git_needs_of_what_is_kept_is_made_anew(
    shelf: Shelf, bare: Path, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    """CLAY-79, LAZ-63: without its HEAD all that was kept was cleared away as a repository that is none."""
    alice, bob, films = shelf.lay(films_let_go)
    with closing(alice), closing(bob):
        kept = cut_off(alice, bare, monkeypatch)
        forget_the_rest(alice)
        (kept / part).unlink() if part != "again" else spoil(kept / part, "flipped")
        for vault in (alice, bob, alice, bob):
            sync(vault, ["host"])
        assert own_branch(alice, bare)
        assert content_let_go(alice, bare) == films[0]


@pytest.mark.parametrize("how", ["short", "empty"])
def test_what_lies_nowhere_any_more_is_named_once_and_the_rest_goes_on(
    shelf: Shelf, bare: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """LAZ-63, APP-14: the mailbox was never written again, and the way out that was named lost all that was kept."""
    alice, bob, _ = shelf.lay(films_let_go)
    with closing(alice), closing(bob):
        kept = cut_off(alice, bare, monkeypatch)
        forget_the_rest(alice)
        for file in objects(kept)[::2]:
            spoil(file, how)
        (told,) = sync(alice, ["host"])
        assert told.refusal is not None
        (aside,) = kept.parent.glob("*-spoiled-1.git")
        assert str(aside) in told.refusal.hint
        assert not kept.exists()
        for vault in (bob, alice, bob, alice):
            assert not sync(vault, ["host"])[0].problems
        (alice.folder / "new.txt").write_text("new")
        release(alice)
        sync(alice, ["host"])
        assert sync(bob, ["host"])[0].came.received


def test_pieces_that_were_kept_are_asked_for_again(shelf: Shelf, bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """CLAY-79, LAZ-63: a commit with pieces is gone at the host, and a piece of it that was kept is damaged here."""
    alice, bob, films = shelf.lay(films_let_go)
    with closing(alice), closing(bob):
        for commit in git(bare, "rev-parse", f"{own_branch(alice, bare)}:data", "--").splitlines()[:1]:
            for row in git(bare, "ls-tree", commit).splitlines():
                damage(bare, row.split("\t")[1], is_gone=True)
        kept = cut_off(alice, bare, monkeypatch)
        large = [file for file in objects(kept) if file.stat().st_size > len(films[0])]
        assert len(large) >= len(films) - 2
        for file in large:
            spoil(file, "flipped")
        forget_the_rest(alice)
        for vault in (alice, bob, alice, bob):
            sync(vault, ["host"])
        assert not list(kept.parent.glob("*-spoiled-*"))
        assert content_let_go(alice, bare) == films[0]


def begun_anew(bare: Path, at: Callable[[str], GitPlace], how: str) -> tuple[GitPlace, list[str]]:
    """Write two mailboxes, spoil what is known of one, and begin anew; return the place and where both stood."""
    with closing(at("a")) as place:
        for number in (1, 2):
            put(place, key(number), additions(noise(1, seed=number)))
        path = place.private.here.path
        names = [file.name for file in (path / "mine").iterdir()]  # in the order in which they are looked at
        tips = [place.private.here.mine(name) or "" for name in names]
        tree = git(bare, "rev-parse", f"{tips[0]}:files")
    if how == "a tree":
        (path / "objects" / tree[:2] / tree[2:]).unlink()
    else:
        (path / "mine" / names[0]).write_bytes(b"")
    upkeep.mark_torn(path)
    return at("a"), tips


@pytest.mark.parametrize("how", ["a tree", "where it stood"])
def test_what_is_damaged_of_one_mailbox_takes_no_other_with_it(
    bare: Path, at: Callable[[str], GitPlace], how: str
) -> None:
    """LAZ-63: where a private repository was begun anew, nothing of any mailbox written from here outlived that."""
    place, (_, other) = begun_anew(bare, at, how)
    with closing(place):
        assert place.private.here.has(other)
        assert not place.private.here.missing([*place.private.here.seen().values()])
        assert [len(got(place, number)) for number in (1, 2)] == [1, 1]
