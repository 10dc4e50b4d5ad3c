"""Work under way behind the screen: how far it is, and the wish to stop it (APP-3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from lace_tui.cli.progress import CancelToken
from vault.work import Watch

__all__ = ["Job"]


@dataclass(slots=True)
class Job:
    """Work under way.

    Args:
        what: for people.
        token: set to stop it.
        progress: done, total (0 when unknown) and phase; the newest wins.
        began: seconds on the app's clock.
    """

    what: str
    token: CancelToken = field(default_factory=CancelToken)
    progress: tuple[int, int, str] = (0, 0, "")
    began: float = 0.0

    def watch(self) -> Watch:
        """Return what the work reports to and asks."""

        def report(done: int, total: int, what: str) -> None:
            self.progress = (done, total, what)

        return Watch(report, self.token.check)

    def patient(self, sleep: Callable[[float], None]) -> Callable[[float], None]:
        """Return a way to wait that ends when the work is to stop."""

        def wait(seconds: float) -> None:
            self.token.check()
            sleep(seconds)

        return wait
