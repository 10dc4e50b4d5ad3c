"""Work under way behind the screen: how far it is, and the wish to stop it (APP-3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lace_tui.cli.progress import CancelToken

if TYPE_CHECKING:
    from vault.work import Watch

__all__ = ["Job"]

_SETTLED = 1.0  # seconds of one phase before its pace is told; before that it would jump


@dataclass(slots=True)
class Job:
    """Work under way.

    Args:
        what: for people.
        token: set to stop it.
        progress: done, total (0 when unknown) and phase; the newest wins.
        began: seconds on the app's clock.
        phase: phase and total whose pace is measured, with when and at what count that began.
    """

    what: str
    token: CancelToken = field(default_factory=CancelToken)
    progress: tuple[int, int, str] = (0, 0, "")
    began: float = 0.0
    phase: tuple[str, int, float, int] = ("", 0, 0.0, 0)

    def watch(self) -> Watch:
        """Return what the work reports to and asks."""
        from vault.work import Watch  # noqa: PLC0415 - no part of the first frame

        def report(done: int, total: int, what: str) -> None:
            self.progress = (done, total, what)

        return Watch(report, self.token.check)

    def pace(self, now: float) -> tuple[float, float | None]:
        """Return how fast the phase goes, per second, and the seconds it still needs (APP-3).

        Args:
            now: seconds on the app's clock.

        Returns:
            The pace, 0 while it is not known; the rest, None unless the total is known.
        """
        done, total, phase = self.progress
        known, of, since, first = self.phase
        if (known, of) != (phase, total) or done < first:
            self.phase = (phase, total, now, done)
            return 0.0, None
        if now - since < _SETTLED or done == first:
            return 0.0, None
        rate = (done - first) / (now - since)
        return rate, max(0, total - done) / rate if total else None

    def patient(self, sleep: Callable[[float], None]) -> Callable[[float], None]:
        """Return a way to wait that ends when the work is to stop."""

        def wait(seconds: float) -> None:
            self.token.check()
            sleep(seconds)

        return wait
