"""Turns at a place: one visit of a vault there at a time (APP-13).

Two at once would each take the other's files of my mailbox for damage, and what one of them just wrote for strange. The
operating system holds the turn for the process, so it ends with the process however that ends. One that was stopped, or
that a medium lets hang, keeps it: whoever waits gives up in the end, and goes on to the other places.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from blake3 import blake3

from vault.errors import PlaceError
from vault.files import make_directory
from vault.lock import Holder, Locked, VaultLock
from vault.vault import Vault
from vault.watch import Watch

if TYPE_CHECKING:
    from lazy.places.registry import Place

__all__ = ["PlaceBusy", "turn"]

_TURNS = "turns"  # below .vault: a lock for each place
_WAIT_SECONDS = 600.0  # as for the vault itself: a visit of many records to a slow stick is no hung one


class PlaceBusy(PlaceError):
    """Another visit of this vault to the place did not end; it may have been stopped, or hang."""

    code = "place-busy"
    exit_code = 20
    can_wait = True
    hint = "Let that process go on or end it, which ends its visit too, and run the same command again."


@contextmanager
def turn(vault: Vault, place: Place, watch: Watch = Watch(), *, seconds: float = _WAIT_SECONDS) -> Iterator[None]:
    """Hold the turn at a place for the length of a `with` block.

    Args:
        vault: whose visit it is.
        place: where.
        watch: told who is waited for, as the vault's surroundings are after a second; a person may stop the waiting.
        seconds: to wait at most for another visit; 0 looks once and tells nobody. The sleep of this machine is none.

    Raises:
        PlaceBusy: another visit was there all the time.
        NotWritable, DiskFull: the vault cannot be written, or its file system has no locks.
        VaultMoved: it lies elsewhere by now.
        Cancelled: the person would not wait any longer.
    """
    vault.require_here()
    folder = vault.dot / _TURNS
    make_directory(folder)
    waited = 0.0

    def told(holder: Holder | None) -> None:
        if seconds:
            watch.progress(0, 0, f"wait for {holder or 'another visit'} at {place.name}")

    def pause(time: float) -> None:
        nonlocal waited
        watch.cancelled()
        vault.around.sleep(time)
        waited += time

    name = blake3((place.place_id or place.uri).encode()).hexdigest()[:32]
    # Beside the progress, which nobody sees whose talk goes into a file.
    waits = vault.around.patience.told(f"which is visiting {place.name}") if seconds else None
    lock = VaultLock(folder / name, sleep=pause, monotonic=lambda: waited, waits=waits)
    with ExitStack() as stack:
        try:
            stack.enter_context(lock.held(timeout=seconds, on_wait=told))
        except Locked:
            who = f"Another lace ({holder})" if (holder := lock.holder()) else "Another lace"
            raise PlaceBusy(f"{who} is visiting {place.name}, and does not end (lock {lock.path}).") from None
        yield
