"""How long work is watched and stopped: what every loop over files or records is handed, and tells how far it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from vault.errors import Cancelled

__all__ = ["Watch"]


class Watch(NamedTuple):
    """How long work is watched and stopped; passed down to every loop over files or records.

    Args:
        progress: called with (done, total or 0 when unknown, what).
        cancelled: raises `Cancelled` when the person asked to stop.
        moved: called with (records done, records in all, bytes done, bytes in all, what) while records travel;
            `progress` is told instead when it is absent.
    """

    progress: Callable[[int, int, str], None] = lambda _done, _total, _what: None
    cancelled: Callable[[], None] = lambda: None
    moved: Callable[[int, int, int, int, str], None] | None = None

    def is_stopped(self) -> bool:
        """Tell whether the person asked to stop, for work that ends by itself then."""
        try:
            self.cancelled()
        except Cancelled:
            return True
        return False

    def travelled(self, done: int, total: int, size: int, total_size: int, what: str) -> None:
        """Say how far a transfer is.

        Args:
            done: records that came or went.
            total: records in all; 0 where nobody knows yet.
            size: bytes of those done.
            total_size: bytes in all.
            what: a word for what is done, such as `receive`.
        """
        if self.moved is not None:
            self.moved(done, total, size, total_size, what)
        else:
            self.progress(done, total, what)
