"""What lies at a git host alone, for it was let go here, outlives what the host loses and who is cut off (LAZ-63)."""

from __future__ import annotations

import os
import random
import shutil
from contextlib import closing, suppress
from pathlib import Path

import pytest

from lazy.address import resolve
from lazy.folder.update import update
from lazy.places.adding import add_place
from lazy.places.registry import places, remove_place
from lazy.sync import sync
from tests.shelf import Shelf
from tests.transports.git_hosts import bare_repository, daemon, git
from tests.transports.git_places import NODE, damage, got, lose_own, make_due, noise, refs
from tests.transports.helpers import GROUP, additions, key, make_head, put, seal_head, some_records
from tests.vault.vaults import befriended
from transports.errors import PlaceDamaged, PlaceUnreachable
from transports.git import command, upkeep
from transports.git.place import GitPlace
from transports.git.remote import git_uri
from transports.git.talks import Talks
from transports.mailbox import Mailbox
from transports.reading import read_head
from vault.content.keeping import Keep, fetch, set_keep
from vault.content.prune import prune
from vault.desks.chunks import entry_pieces
from vault.desks.tree import lookup
from vault.releasing import release
from vault.vault import Vault


@pytest.mark.parametrize("is_fetched", [False, True])
@pytest.mark.parametrize("part", ["", "^{tree}", ":head.rec", ":files", ":commits"])
def test_what_lies_at_the_host_alone_outlives_the_loss_of_a_tip(
    shelf: Shelf, bare: Path, part: str, is_fetched: bool
) -> None:
    """CLAY-79, LAZ-63: the owner wrote anew what was here, and what was let go here was gone for everybody."""
    alice, bob, films = shelf.lay(films_let_go)
    with closing(alice), closing(bob):
        if is_fetched:
            begin_private_anew(alice)
        lose_own(alice.folder, alice.node, bare, part)
        for vault in (alice, bob, alice, bob):
            sync(vault, ["host"])
        assert content_let_go(alice, bare) == films[0]


def begin_private_anew(vault: Vault) -> None:
    """Let somebody know their own mailbox from the host, by its tip alone, without the commits behind it."""
    for private in (vault.folder / ".vault" / "git").glob("*.git"):
        shutil.rmtree(private)
    sync(vault, ["host"])


def released_and_let_go(root: Path, alice: Vault, bob: Vault, bare: Path | str) -> list[bytes]:
    """Share a film in four releases over a git host; return them all, of which both keep the last two."""
    films = [random.Random(number).randbytes(300_000) for number in range(4)]
    for vault in (alice, bob, alice, bob):
        if not any(place.name == "host" for place in places(vault)):
            add_place(vault, "host", str(bare), cwd=root)
        sync(vault, ["host"])
    for film in films:
        (alice.folder / "film.bin").write_bytes(film)
        release(alice)
        sync(alice, ["host"])
        sync(bob, ["host"])
    update(bob)
    for vault in (bob, alice):
        sync(vault, ["host"])
        remove_place(vault, "stick")
        set_keep(vault, "main", Keep("film.bin", 2))
    assert (prune(alice).files, prune(bob).unproven) == (2, 2), (
        "bob's mailbox names what alice's has, for his own it is none"
    )
    for vault in (bob, alice, bob):  # makes that copy, and each has seen it
        sync(vault, ["host"])
    assert prune(bob).files == 2
    return films


def films_let_go(root: Path) -> tuple[Vault, Vault, list[bytes]]:
    """Let two friends share a film in four releases over a repository, and let the first two of them go."""
    alice, bob = befriended(root, "bob")
    return alice, bob, released_and_let_go(root, alice, bob, bare_repository(root / "remote.git"))


def content_let_go(alice: Vault, bare: Path) -> bytes:
    """Fetch the film of the first release back from the host, whose mailbox somebody new can read."""
    with closing(GitPlace.open(git_uri(bare), alice.folder.parent / "somebody new")) as place:
        assert read_head(Mailbox(place, alice.group, alice.node)) is not None
    old = resolve(alice, "alice/main@1.0.0")
    assert fetch(alice, old.tree, "film.bin") == ["film.bin"]
    (again,) = sync(alice, ["host"])
    entry = lookup(alice.store, old.tree, "film.bin")
    assert entry is not None
    assert again.problems == []
    return b"".join(entry_pieces(alice.store, entry))


@pytest.mark.parametrize(("cut", "part"), [("delete", ""), ("push", ""), ("push", ":head.rec")])
def test_a_cut_while_what_is_lost_is_pushed_again_loses_nothing(
    shelf: Shelf, bare: Path, monkeypatch: pytest.MonkeyPatch, cut: str, part: str
) -> None:
    """CLAY-79, LAZ-63: a line that is cut there says nothing of what the host has; all was written anew for it."""
    alice, bob, films = shelf.lay(films_let_go)
    with closing(alice), closing(bob):
        lose_own(alice.folder, alice.node, bare, part)
        act = getattr(Talks, cut)
        cuts: list[object] = []

        def once(talks: Talks, *words: object, **how: object) -> None:
            if not cuts and (cut == "delete" or part or how.get("asks_first")):
                cuts.append(words)
                raise PlaceUnreachable("cut")
            act(talks, *words, **how)

        monkeypatch.setattr(Talks, cut, once)
        for vault in (alice, bob, alice, bob, alice):
            with suppress(PlaceUnreachable):  # the visit that is cut ends so
                sync(vault, ["host"])
            make_due(alice.folder)
        assert cuts
        assert content_let_go(alice, bare) == films[0]


class Killed(BaseException):
    """As a power cut, or kill -9: nothing in lace takes note of it."""


def own_branch(vault: Vault, bare: Path) -> str:
    """Return the name of the branch with somebody's mailbox, of several generations the youngest."""
    return max((name for name in refs(bare) if vault.node.key.hex() in name), key=lambda name: (len(name), name))


@pytest.mark.parametrize("refused", [("receive.denyDeletes",), ("receive.denyDeletes", "receive.denyNonFastForwards")])
@pytest.mark.parametrize("part", ["^{tree}", ":head.rec", ":files", ":commits"])
def test_a_host_that_lets_no_branch_go_keeps_what_it_alone_has(
    shelf: Shelf, bare: Path, part: str, refused: tuple[str, ...]
) -> None:
    """CLAY-79, LAZ-63: where the branch could not be taken away, all was written anew, without what was let go here."""
    alice, bob, films = shelf.lay(films_let_go)
    with closing(alice), closing(bob):
        for key_ in refused:
            git(bare, "config", key_, "true")
        lose_own(alice.folder, alice.node, bare, part)
        for vault in (alice, bob, alice, bob):
            assert not sync(vault, ["host"])[0].problems
        assert content_let_go(alice, bare) == films[0]


@pytest.mark.parametrize("when", ["delete", "push"])
@pytest.mark.parametrize("part", ["", "^{tree}", ":head.rec"])
def test_a_kill_while_what_is_lost_is_pushed_again_loses_nothing(
    shelf: Shelf, bare: Path, monkeypatch: pytest.MonkeyPatch, part: str, when: str
) -> None:
    """CLAY-79, LAZ-63: the branch was taken away by then, and the next visit wrote anew what was here."""
    alice, bob, films = shelf.lay(films_let_go)
    with closing(alice), closing(bob):
        lose_own(alice.folder, alice.node, bare, part)
        act = getattr(Talks, when)

        def dies(talks: Talks, *words: object, **how: object) -> None:
            is_before = when == "push" and not part and how["expected"]  # the branch stands still
            if when == "delete" or is_before:
                act(talks, *words, **how)
            raise Killed

        with monkeypatch.context() as patch, suppress(Killed):
            patch.setattr(Talks, when, dies)
            sync(alice, ["host"])
        if not part:  # nor is the cache needed for it
            (private,) = (alice.folder / ".vault" / "git").glob("[0-9a-f]*[0-9a-f].git/own")
            shutil.rmtree(private.parent)
        make_due(alice.folder)
        for vault in (bob, alice, bob, alice):
            sync(vault, ["host"])
        assert content_let_go(alice, bare) == films[0]


def test_what_is_kept_has_a_name_after_a_power_cut_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """LAZ-63: where a file system is not flushed at once, the directory that it lies in was not."""
    kept = tmp_path / "kept.git"
    (kept / "objects").mkdir(parents=True)
    (kept / "objects/one").write_bytes(b"one")
    flushed: list[Path] = []
    monkeypatch.setattr(upkeep, "can_flush_everything", lambda: False)
    monkeypatch.setattr(upkeep, "fsync_directory", flushed.append)
    upkeep.make_lasting(kept)
    assert set(flushed) == {tmp_path, kept, kept / "objects"}


@pytest.mark.parametrize("part", ["", ":head.rec"])
def test_a_second_part_that_a_host_lost_takes_nothing_with_it(shelf: Shelf, bare: Path, part: str) -> None:
    """CLAY-79, LAZ-63: what was pushed again needed it too and was not taken, and all was written anew for it."""
    alice, bob, films = shelf.lay(films_let_go)
    with closing(alice), closing(bob):
        files = git(bare, "ls-tree", "-r", own_branch(alice, bare), "files/").splitlines()
        runs = [row.split()[2] for row in files if row.endswith(".run")]
        damage(bare, git(bare, "show", runs[-1]).split("\n")[2], is_gone=True)
        lose_own(alice.folder, alice.node, bare, part)
        for vault in (alice, bob, alice, bob, alice):
            sync(vault, ["host"])
        assert content_let_go(alice, bare) == films[0]


@pytest.mark.parametrize("part", ["", "^{tree}", ":head.rec"])
def test_a_host_of_the_old_protocol_keeps_what_it_alone_has(
    shelf: Shelf, bare: Path, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    """CLAY-79, LAZ-63: it cannot be asked what it has beside its branches, so all was written anew."""
    alice, bob, films = shelf.lay(films_let_go)
    with closing(alice), closing(bob):
        monkeypatch.setattr(command, "_CONFIG", command._CONFIG.replace("version = 2", "version = 0"))
        tip = refs(bare)[own_branch(alice, bare)]
        kept = git(bare, "cat-file", "commit", tip)
        lose_own(alice.folder, alice.node, bare, part)
        for vault in (alice, bob, alice, bob):
            with suppress(PlaceDamaged):
                sync(vault, ["host"])
        if not part:  # nobody but the host's keeper can put that right, and then all of it is there
            assert refs(bare)[own_branch(alice, bare)] == tip
            git(bare, "hash-object", "-w", "-t", "commit", "--stdin", stdin=f"{kept}\n".encode())
            sync(alice, ["host"])
        assert content_let_go(alice, bare) == films[0]


@pytest.mark.parametrize("old", [False, True])
@pytest.mark.parametrize("part", ["^{tree}", ":head.rec", ":files", ":data", ":commits"])
def test_what_lies_at_the_host_alone_outlives_a_part_that_a_power_cut_emptied(
    shelf: Shelf, bare: Path, monkeypatch: pytest.MonkeyPatch, part: str, old: bool
) -> None:
    """CLAY-79, LAZ-63: git there takes nothing under that name any more, and all was written anew."""
    alice, bob, films = shelf.lay(films_let_go)
    with closing(alice), closing(bob):
        if old:
            monkeypatch.setattr(command, "_CONFIG", command._CONFIG.replace("version = 2", "version = 0"))
        damage(bare, git(bare, "rev-parse", f"{own_branch(alice, bare)}{part}"), is_gone=False)
        make_due(alice.folder)
        for vault in (alice, bob, alice, bob):
            sync(vault, ["host"])
        assert not [problem for vault in (alice, bob) for problem in sync(vault, ["host"])[0].problems]
        assert content_let_go(alice, bare) == films[0]


@pytest.mark.parametrize("is_fetched", [False, True])
@pytest.mark.parametrize("is_cleared", [False, True])
def test_a_branch_that_somebody_deleted_is_brought_back(
    shelf: Shelf, bare: Path, is_cleared: bool, is_fetched: bool
) -> None:
    """CLAY-79, CYB-17: what the host still had was written anew without what was let go here, and nothing was said."""
    alice, bob, films = shelf.lay(films_let_go)
    with closing(alice), closing(bob):
        if is_fetched:
            begin_private_anew(alice)
        for _ in range(2):
            git(bare, "update-ref", "-d", own_branch(alice, bare))
            if is_cleared:
                git(bare, "gc", "--prune=now", "--quiet")
            told = [sync(vault, ["host"])[0].problems for vault in (bob, alice, bob, alice)]
            assert [[problem.code for problem in problems] for problems in told] == [[], ["branch-set-back"], [], []]
            assert "somebody deleted it" in told[1][0].message
            if is_fetched:
                begin_private_anew(alice)
        if not is_cleared:
            assert content_let_go(alice, bare) == films[0]
        again = sync(alice, ["host"])[0]
        assert (again.problems, again.sent) == ([], 0)


def test_a_host_that_takes_back_no_branch_is_read_all_the_same(shelf: Shelf, bare: Path) -> None:
    """CLAY-79, CYB-17: what a friend shares comes, and nothing is written over what is to be brought back."""
    alice, bob, films = shelf.lay(films_let_go)
    with closing(alice), closing(bob):
        git(bare, "update-ref", "-d", own_branch(alice, bare))
        (bob.folder / "new.txt").write_text("new")
        release(bob)
        sync(bob, ["host"])
        git(bare, "config", "receive.maxInputSize", "1")
        (again,) = sync(alice, ["host"])
        assert again.refusal is not None
        assert again.came.received
        git(bare, "config", "--unset", "receive.maxInputSize")
        sync(alice, ["host"])
        assert content_let_go(alice, bare) == films[0]


def test_a_tip_that_a_host_lost_and_does_not_let_go_loses_nothing(shelf: Shelf, bare: Path) -> None:
    """APP-14, CLAY-79: its keeper was told to delete the branch, and then all was written anew."""
    alice, bob, films = shelf.lay(films_let_go)
    with closing(alice), closing(bob):
        git(bare, "config", "receive.denyDeletes", "true")
        lose_own(alice.folder, alice.node, bare, "")
        (again,) = sync(alice, ["host"])
        assert sum("which the host refuses" in problem.message for problem in again.problems) == 1  # it was said twice
        assert any("allow you to delete branches" in problem.hint for problem in again.problems)
        git(bare, "update-ref", "-d", own_branch(alice, bare))  # as its keeper may
        told = [[problem.code for problem in sync(vault, ["host"])[0].problems] for vault in (alice, bob, alice)]
        assert told == [["branch-set-back"], [], []]
        assert content_let_go(alice, bare) == films[0]


@pytest.mark.parametrize("is_gone", [False, True])
@pytest.mark.parametrize("part", ["^{tree}", ":head.rec", ":files", ":data"])
def test_a_host_that_hangs_up_at_what_is_empty_is_given_it_otherwise(tmp_path: Path, part: str, is_gone: bool) -> None:
    """LAZ-63, APP-14: over a line that says nothing of it each visit of the owner ended as over a cut one."""
    bare = bare_repository(tmp_path / "served" / "v.git")
    with daemon(tmp_path / "served") as address:
        uri, stored = address + bare.name, noise(4)
        with closing(GitPlace.create(uri, tmp_path / "a", entropy=os.urandom)) as owner:
            _, seen = put(owner, key(1), additions(stored))
            ref = f"refs/heads/lace/{owner.ref(GROUP, NODE)}"
            os.utime(owner.private.here.path / "own", (0, 0))
        tip = refs(bare)[ref]
        damage(bare, git(bare, "rev-parse", f"{tip}{part}"), is_gone=False)
        if is_gone:
            damage(bare, tip, is_gone=True)
        with closing(GitPlace.open(uri, tmp_path / "a", mends=True)) as owner:
            box = owner.mailbox(GROUP, NODE)
            assert box is not None
            assert box.files
            if box.head is None:
                writer = owner.writer(GROUP, NODE)
                writer.publish_head(seal_head(key(1), make_head(key(1), owner.place_id, 2, seen.head.runs)).encode())
        with closing(GitPlace.open(uri, tmp_path / "b")) as reader:
            assert got(reader) == stored


def test_a_host_that_stumbles_over_what_lies_here_says_which_place_it_is(tmp_path: Path) -> None:
    """CYB-17: after the private repository was begun anew, every visit ended before anything was read."""
    bare = bare_repository(tmp_path / "served" / "v.git")
    with daemon(tmp_path / "served") as address:
        uri = address + bare.name
        with closing(GitPlace.create(uri, tmp_path / "a", entropy=os.urandom)) as owner:
            put(owner, key(1), additions(some_records(3)))
            name = owner.ref(GROUP, NODE)
        with closing(GitPlace.open(uri, tmp_path / "b", owner.place_id)) as reader:
            assert len(got(reader)) == 3
            (reader.private.here.path / "refs" / "lace" / "seen" / "place").unlink()
        damage(bare, git(bare, "rev-parse", f"refs/heads/lace/{name}^{{tree}}"), is_gone=False)
        with closing(GitPlace.open(uri, tmp_path / "b", owner.place_id)) as reader:
            assert len(reader.nodes(GROUP)) == 1


@pytest.mark.parametrize("how", ["set back", "set back far", "and cleared", "killed in between", "looked at by a pull"])
def test_a_branch_that_somebody_set_back_is_brought_forward(
    shelf: Shelf, bare: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """CLAY-79, CYB-17: what it held was written over with what was here, without what was let go; nobody was told."""
    alice, bob, films = shelf.lay(films_let_go)
    with closing(alice), closing(bob):
        name = own_branch(alice, bare)
        git(bare, "update-ref", name, f"{name}~{'4' if 'far' in how else '2'}")
        if how == "and cleared":
            git(bare, "gc", "--prune=now", "--quiet")
        if how == "looked at by a pull":
            sync(alice, ["host"], push=False)
        if how == "killed in between":
            act = Talks.push
            pushed: list[str] = []

            def dies(talks: Talks, *words: str, **how: str) -> None:
                if not pushed:
                    pushed.append(words[0])
                    raise PlaceDamaged("by parts, then")
                act(talks, *words, **how)  # type: ignore[arg-type]
                raise Killed

            with monkeypatch.context() as patch, suppress(Killed):
                patch.setattr(Talks, "push", dies)
                sync(alice, ["host"])
        told = [sync(alice, ["host"])[0].problems for _ in range(2)]
        assert [[problem.code for problem in problems] for problems in told] == [["branch-set-back"], []]
        for vault in (bob, alice, bob):
            assert not sync(vault, ["host"])[0].problems
        if how != "and cleared":
            assert content_let_go(alice, bare) == films[0]


def test_a_copy_that_pushed_is_not_taken_for_a_branch_that_was_set_back(shelf: Shelf, bare: Path) -> None:
    """CYB-17: whoever is cut off right after a push finds a branch that stands where nobody knows of it."""
    alice, bob, _ = shelf.lay(films_let_go)
    with closing(alice), closing(bob):
        (mine,) = (alice.folder / ".vault" / "git").glob("*.git/mine/*")
        before = mine.read_bytes()
        for number in range(2):
            (alice.folder / f"{number}.txt").write_text("new")
            release(alice)
            sync(alice, ["host"])
        mine.write_bytes(before)
        assert not sync(alice, ["host"])[0].problems


@pytest.mark.parametrize("is_gone", [False, True])
@pytest.mark.parametrize("part", ["^{tree}", ":files"])
def test_news_of_a_friend_take_nothing_of_what_the_host_lost(
    shelf: Shelf, bare: Path, part: str, is_gone: bool
) -> None:
    """CLAY-79, LAZ-63: git there stumbled over it when the friend's was asked for, and all was begun and written anew.

    Nothing was said of it, and what was let go here was gone for everybody.
    """
    alice, bob, films = shelf.lay(films_let_go)
    with closing(alice), closing(bob):
        (alice.folder / "small.txt").write_text("small")
        release(alice)
        for vault in (alice, bob):
            sync(vault, ["host"])
        damage(bare, git(bare, "rev-parse", f"{own_branch(alice, bare)}{part}"), is_gone=is_gone)
        make_due(alice.folder)
        for vault in (alice, bob, alice, bob):
            assert not sync(vault, ["host"])[0].problems
        assert content_let_go(alice, bare) == films[0]
