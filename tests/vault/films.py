"""Two vaults with releases of films, and how some of it is let go and fetched back."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from lazy.address import resolve
from lazy.folder.update import update
from lazy.sync import sync
from tests.vault.vaults import befriend, found, write
from vault.content.keeping import LetGo, explained, fetch
from vault.content.prune import prune
from vault.content.prune_plan import Pruning
from vault.desks.chunks import MissingObject, check_here, entry_pieces
from vault.desks.tree import lookup
from vault.errors import Cancelled
from vault.records import RecordHash
from vault.releasing import release
from vault.revisions.history import releases
from vault.vault import Vault
from vault.watch import Watch


def film(number: int) -> bytes:
    """A large file of which each version is wholly new, but for its beginning."""
    return random.Random(0).randbytes(100_000) + random.Random(number).randbytes(300_000)


def films(root: Path) -> tuple[Vault, Vault]:
    """Alice with five releases of two films and a text, and bob, who has them all."""
    alice = found(root)
    write(alice, "a.txt", "begin\n")
    release(alice)
    bob = befriend(root, alice, "bob")
    (alice.folder / "films").mkdir()
    for number in range(1, 5):
        (alice.folder / "films/small.bin").write_bytes(b"%d" % number * 600)
        (alice.folder / "films/large.bin").write_bytes(film(number))
        (alice.folder / "other.bin").write_bytes(film(number))
        write(alice, "a.txt", f"text {number}\n")
        release(alice)
    for vault in (alice, bob, alice):
        sync(vault, ["stick"])
    update(bob)
    return alice, bob


def prune_copied(vault: Vault) -> Pruning:
    """Let go of what the rules say, once my own mailbox on the stick has it and not a friend's alone."""
    assert prune(vault).files == 0
    sync(vault, ["stick"])
    done = prune(vault)
    assert done.unproven == 0
    return done


def content(vault: Vault, version: str, path: str) -> bytes:
    """Return what a file of a release of alice holds here."""
    entry = lookup(vault.store, resolve(vault, f"alice/main@{version}").tree, path)
    assert entry is not None
    check_here(vault.store, entry)
    return b"".join(entry_pieces(vault.store, entry))


def gone(vault: Vault, version: str, path: str) -> bool:
    """Tell whether a file was let go; what is merely not here is an error."""
    try:
        content(vault, version, path)
    except MissingObject as error:
        shown = explained(vault.store, error)
        if not isinstance(shown, LetGo):
            raise
        return True
    return False


def visible(vault: Vault) -> list[str]:
    """Return the versions of main that are shown."""
    return [str(each.version) for each in releases(vault.store, "main")]


def top_of(vault: Vault, version: str) -> RecordHash:
    """Return the record of the large film of a release, which names its parts."""
    entry = lookup(vault.store, resolve(vault, f"alice/main@{version}").tree, "films/large.bin")
    assert entry is not None
    return entry.hash


def begin_to_fetch(vault: Vault, version: str) -> None:
    """Ask for a large film that was let go, and stop the sync that brings it before all of it is here."""
    top = top_of(vault, version)
    assert fetch(vault, resolve(vault, f"alice/main@{version}").tree, "films/large.bin") == ["films/large.bin"]

    def cancelled() -> None:
        if vault.store.position(top) is not None:
            raise Cancelled("Stopped.")

    with pytest.raises(Cancelled):
        sync(vault, ["stick"], watch=Watch(cancelled=cancelled))
    assert vault.store.position(top) is not None
    with pytest.raises(MissingObject):
        content(vault, version, "films/large.bin")
