"""What is noted as a copy lies in a bundle of mine, and making copies keeps nothing else back (CLAY-79)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from shutil import rmtree

import pytest

from lazy.folder.update import update
from lazy.places.adding import add_place
from lazy.places.known import place_named, remove_place
from lazy.places.media import mailboxes_of_mine, open_medium
from lazy.sync import sync
from tests.vault.vaults import befriend, found
from transports.drop.place import Drop
from vault.content.keeping import Keep, fetch, set_keep
from vault.content.prune import plan_prune, prune
from vault.releasing import release
from vault.revisions.history import commit_info, releases
from vault.vault import Vault


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[tuple[Vault, Vault]]:
    """Alice and bob with three releases of a file each, on two sticks where alice's mailbox names bob's bundles."""
    alice = found(tmp_path)
    (alice.folder / "alice.bin").write_bytes(song("alice", 0))
    release(alice)
    bob = befriend(tmp_path, alice, "bob")
    update(bob)
    for vault in (alice, bob):
        add_place(vault, "stick2", str(tmp_path / "stick2"), cwd=tmp_path)
    for number in (1, 2, 3):
        (alice.folder / "alice.bin").write_bytes(song("alice", number))
        release(alice)
    visited(alice, "stick", "stick2")
    visited(bob, "stick", "stick2")
    update(bob)
    for number in (1, 2, 3):
        (bob.folder / "bob.bin").write_bytes(song("bob", number))
        release(bob)
    for vault in (bob, alice, bob, alice):
        visited(vault, "stick", "stick2")
    update(alice)
    yield alice, bob
    for vault in (alice, bob):
        vault.close()


def song(whose: str, number: int) -> bytes:
    """A file of which each version is wholly new."""
    return Random(f"{whose} {number}").randbytes(50_000)


def visited(vault: Vault, *names: str) -> None:
    """Sync with places that take and give all."""
    for result in sync(vault, names):
        assert not result.problems


def mailbox_of(vault: Vault, root: Path, name: str) -> Path:
    """Return the directory of a mailbox on a stick."""
    return mailboxes_of_mine(vault, Drop.open(root / name), open_medium(vault, place_named(vault, name)))[0]


def comes_back(vault: Vault, place: str) -> bool:
    """Ask for all that was let go, and tell whether a place brings it."""
    for each in releases(vault.store, "main"):
        fetch(vault, commit_info(vault.store, each.commit).tree, "")
    assert is_awaited(vault)
    visited(vault, place)
    return not is_awaited(vault)


def is_awaited(vault: Vault) -> bool:
    """Tell whether something that was asked for is not all here."""
    return bool(vault.store.rows("SELECT 1 FROM tomb WHERE wanted > 0"))


def test_what_came_back_from_a_friends_bundle_is_noted_as_no_copy(pair: tuple[Vault, Vault], tmp_path: Path) -> None:
    """CLAY-79: one that came back beside some of my own was noted as lying in mine, and a prune let the last one go."""
    alice, bob = pair
    theirs = mailbox_of(bob, tmp_path, "stick2")
    set_keep(alice, "main", Keep("", 1))
    done = prune(alice)
    assert (done.files, done.unproven) == (3, 2)
    visited(alice, "stick")
    assert (prune(alice).files, plan_prune(alice).unproven) == (2, 0)
    assert comes_back(alice, "stick2")
    remove_place(alice, "stick")
    done = prune(alice)
    assert (done.files, done.unproven) == (3, 2)
    rmtree(theirs)
    assert comes_back(alice, "stick2")
