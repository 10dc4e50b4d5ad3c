"""Work under way behind the screen: how far it is, and the wish to stop it (APP-3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from lace_tui.acts.stopping import CancelToken
from vault.watch import Watch

__all__ = ["Far", "Job"]

_SETTLED = 1.0  # seconds of one phase before its pace is told; before that it would jump


class Far(NamedTuple):
    """How far work is.

    Args:
        phase: what it does now; nothing before its first report.
        done: things done in this phase.
        total: of how many; 0 when unknown.
        size: bytes moved in this phase.
        total_size: of how many; 0 when unknown or when nothing is moved.
        rate: bytes a second where bytes are moved, else things a second; 0 while it is not known.
        left: seconds that the phase still needs; None unless a total and the pace are known.
        spent: seconds since the work began.
        is_stopping: whether it was asked to stop.
    """

    phase: str = ""
    done: int = 0
    total: int = 0
    size: int = 0
    total_size: int = 0
    rate: float = 0.0
    left: float | None = None
    spent: float = 0.0
    is_stopping: bool = False


@dataclass(slots=True)
class Job:
    """Work under way.

    Args:
        what: for people.
        token: set to stop it.
        progress: done, total (0 when unknown), phase, bytes moved and their total; the newest wins.
        measured: phase and totals whose pace is measured, with when and at what count that began.
        began: when it was looked at first, seconds on the app's clock.
    """

    what: str
    token: CancelToken = field(default_factory=CancelToken)
    progress: tuple[int, int, str, int, int] = (0, 0, "", 0, 0)
    measured: tuple[tuple[str, int, int], float, int] = (("", 0, 0), 0.0, 0)
    began: float | None = None

    def watch(self) -> Watch:
        """Return what the work reports to and asks."""

        def report(done: int, total: int, what: str) -> None:
            self.progress = (done, total, what, 0, 0)

        def moved(done: int, total: int, size: int, total_size: int, what: str) -> None:
            self.progress = (done, total, what, size, total_size)

        return Watch(report, self.token.check, moved)

    def far(self, now: float) -> Far:
        """Return how far the phase is and how fast it goes: by its bytes where it moves some, else by its count.

        Args:
            now: seconds on the app's clock.
        """
        done, total, phase, size, total_size = self.progress
        self.began = now if self.began is None else self.began
        spent = now - self.began
        is_known = Far(phase, done, total, size, total_size, spent=spent, is_stopping=self.token.is_set)
        count, of = (size, total_size) if total_size else (done, total)
        known, since, first = self.measured
        if known != (phase, total, total_size) or count < first:
            self.measured = ((phase, total, total_size), now, count)
            return is_known
        if now - since < _SETTLED or count == first:
            return is_known
        rate = (count - first) / (now - since)
        return is_known._replace(rate=rate, left=max(0, of - count) / rate if of else None)

    def waits(self, who: str, _doing: str) -> None:
        """Tell whom the work waits for."""
        self.progress = (0, 0, f"wait for {who.partition(',')[0]}", 0, 0)  # since when, a narrow header has no room for

    def patient(self, sleep: Callable[[float], None]) -> Callable[[float], None]:
        """Return a way to wait that ends when the work is to stop."""

        def wait(seconds: float) -> None:
            self.token.check()
            sleep(seconds)

        return wait
