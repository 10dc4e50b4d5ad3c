"""Turns at a place: one visit of a vault there at a time (APP-13).

Two at once would each take the other's files of my mailbox for damage, and what one of them just wrote for strange. The
operating system holds the turn for the process, so it ends with the process however that ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from blake3 import blake3

from vault.files import make_directory
from vault.lock import Holder, VaultLock
from vault.vault import Vault
from vault.watch import Watch

if TYPE_CHECKING:
    from lazy.places import Place

__all__ = ["turn"]

_TURNS = "turns"  # below .vault: a lock for each place


@contextmanager
def turn(vault: Vault, place: Place, watch: Watch = Watch()) -> Iterator[None]:
    """Hold the turn at a place for the length of a `with` block; waits for another visit as long as it takes.

    Raises:
        NotWritable, DiskFull: the vault cannot be written, or its file system has no locks.
        Cancelled: the person would not wait any longer.
    """
    folder = vault.dot / _TURNS
    make_directory(folder)

    def told(_holder: Holder | None) -> None:
        watch.progress(0, 0, "wait for another visit to this place")

    def pause(seconds: float) -> None:
        watch.cancelled()
        vault.around.sleep(seconds)

    name = blake3((place.place_id or place.uri).encode()).hexdigest()[:32]
    with VaultLock(folder / name, sleep=pause).held(timeout=None, on_wait=told):
        yield
