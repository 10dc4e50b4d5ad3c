"""Holding bytes back to a rate where somebody shares the line with others, and waiting for nobody who only drips."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

from transports.layout import RATE_FLOOR

__all__ = ["Dripping", "Pace", "Patience"]

_BURST = 0.25  # seconds' worth of bytes that go at once
_WINDOW = 60.0  # seconds of waiting


class Pace:
    """Spends bytes no faster than a rate; for several threads, as of one friend who asks several times at once.

    Args:
        rate: bytes a second, or None for as fast as it goes.
        monotonic: seconds of a clock that never goes back.
        sleep: waits that many seconds.
    """

    def __init__(self, rate: int | None, monotonic: Callable[[], float], sleep: Callable[[float], None]) -> None:
        self._rate = rate
        self._monotonic, self._sleep = monotonic, sleep
        self._free_at = 0.0
        self._turn = Lock()

    @property
    def portion(self) -> int | None:
        """Bytes that are waited for at once: a second's worth, or the other side takes a slow line for a dead one."""
        return None if self._rate is None else max(self._rate, 1)

    def spend(self, size: int) -> None:
        """Wait until so many bytes may have gone."""
        if self._rate is None or not size:
            return
        now = self._monotonic()
        with self._turn:
            self._free_at = until = max(self._free_at, now - _BURST) + size / self._rate
        if until > now:
            self._sleep(until - now)


class Dripping(TimeoutError):
    """Somebody was reached and sends something, and too little of it."""


class Patience:
    """Ends where somebody sends a byte now and then, which is no silence (faults.md row 15).

    Only what a reader waits counts: what is done with what came takes none of the sender's time.
    """

    def __init__(self) -> None:
        self._waited, self._came = 0.0, 0

    def waited(self, seconds: float, size: int) -> None:
        """Take note that so many bytes came after so long.

        Raises:
            Dripping: they were too few for a whole window.
        """
        self._waited += seconds
        self._came += size
        if self._waited >= _WINDOW:
            if self._came < RATE_FLOOR * _WINDOW:
                raise Dripping(f"it sends fewer than {RATE_FLOOR} bytes a second")
            self._waited, self._came = 0.0, 0
