"""A copy that is noted and does not lie there any more is noted no longer once a visit saw that (CLAY-79)."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

import pytest

from lazy.folder.update import update
from lazy.places.adding import add_place
from lazy.places.registry import remove_place
from lazy.sync import sync
from tests.lazy.test_own_copies import mailbox_of, song, visited
from tests.shelf import Shelf
from tests.vault.vaults import befriend, found
from transports.errors import PlaceFull
from vault.content.keeping import Keep, set_keep
from vault.content.prune import plan_prune, prune
from vault.errors import Cancelled
from vault.releasing import release
from vault.vault import Vault


@pytest.fixture
def copied(shelf: Shelf) -> tuple[Vault, Vault]:
    """Alice and bob; of two old songs of bob's alice's mailbox on the stick has the copies that a prune waited for."""
    return shelf.lay(_copied)


def _copied(root: Path) -> tuple[Vault, Vault]:
    alice = found(root)
    (alice.folder / "alice.bin").write_bytes(song("alice", 0))
    release(alice)
    bob = befriend(root, alice, "bob")
    update(bob)
    for number in range(3):
        (bob.folder / "bob.bin").write_bytes(song("bob", number))
        release(bob)
    for vault in (bob, alice):
        visited(vault, "stick")
    update(alice)
    visited(alice, "stick")
    set_keep(alice, "main", Keep("bob.bin", 1))
    assert prune(alice).unproven == 2
    visited(alice, "stick")
    assert (plan_prune(alice).files, plan_prune(alice).unproven) == (2, 0)
    return alice, bob


def cut(monkeypatch: pytest.MonkeyPatch, error: type[Exception]) -> None:
    """Let nothing be published: the visit that would is cut off, or the place is full."""

    def refuse(*_words: object, **_how: object) -> None:
        raise error("Not now.")

    monkeypatch.setattr("lazy.visits.publish.publish", refuse)


@pytest.mark.parametrize("error", [Cancelled, PlaceFull, None])
@pytest.mark.parametrize("what", ["b-*.bnd", "*"])
def test_what_was_deleted_there_counts_as_no_copy(
    copied: tuple[Vault, Vault],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    error: type[Exception] | None,
    what: str,
) -> None:
    """CLAY-79: a visit that saw them gone and published nothing left the note, and a prune let the last one go."""
    alice, _ = copied
    for file in mailbox_of(alice, tmp_path, "stick").glob(what):
        file.unlink()
    if error is not None:
        cut(monkeypatch, error)
    with suppress(Cancelled):
        sync(alice, ["stick"], push=error is not None)
    done = prune(alice)
    assert (done.files, done.unproven) == (0, 2)
    monkeypatch.undo()
    (told,) = sync(alice, ["stick"])
    assert [problem.code for problem in told.problems] == (["mailbox-set-back"] if what == "*" else [])
    visited(alice, "stick")
    assert prune(alice).files == 2


def test_a_friends_bundle_that_is_gone_takes_no_copy_of_mine_back(copied: tuple[Vault, Vault], tmp_path: Path) -> None:
    """CLAY-79: what lies in bundles of mine stays noted, whatever becomes of those that my mailbox names beside it."""
    alice, bob = copied
    shutil.rmtree(mailbox_of(bob, tmp_path, "stick"))
    sync(alice, ["stick"], push=False)
    assert prune(alice).files == 2


def test_a_place_that_shows_what_was_left_at_its_copy_has_the_copies_of_that_one(
    copied: tuple[Vault, Vault], tmp_path: Path
) -> None:
    """CLAY-79: its own note stayed, of what lay there before somebody copied the other one over it."""
    alice, _ = copied
    shutil.copytree(tmp_path / "stick", tmp_path / "copy")
    for file in mailbox_of(alice, tmp_path, "stick").glob("b-*.bnd"):
        file.unlink()
    add_place(alice, "copy", str(tmp_path / "copy"), cwd=tmp_path)
    visited(alice, "copy")
    sync(alice, ["stick"], push=False)
    assert (plan_prune(alice).files, plan_prune(alice).unproven) == (2, 0)
    remove_place(alice, "copy")
    assert (plan_prune(alice).files, plan_prune(alice).unproven) == (0, 2)
