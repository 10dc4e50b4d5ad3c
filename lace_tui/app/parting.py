"""Leaving the app: what that would end or lose is asked about, and what is on its way to the disk waited for (APP-3).

Choices are kept by a thread while one goes on; a key that leaves may come before it began. What is typed is handed to
it once in a while only.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from lace_tui.screens.dialogs import Leaving
from lace_tui.screens.host import SAVING, Choosing, Losing
from lace_tui.screens.marks import BAD, STRONG, mark
from lace_tui.screens.overlay import Overlay

if TYPE_CHECKING:
    from textual.content import Content

    from lace_tui.app.front import Front
    from lace_tui.app.working import Working

__all__ = ["Parting"]

_KEEPING = 10.0  # seconds for choices to come to the disk; longer than any that answers takes


class Parting:
    """What leaves the app.

    Args:
        front: the app.
        working: knows the work under way.
    """

    def __init__(self, front: Front, working: Working) -> None:
        self._front = front
        self._working = working
        self._leaving: Leaving | None = None  # asks whether to leave

    async def ask(self) -> None:
        """Leave; where that ends work or serving, or loses choices, ask first: work stops at its next safe point."""
        await self._kept()
        running, losing = self.running, self.losing
        if not running and not losing:
            self._front.exit()
        elif self._leaving is None:  # the same key again is no answer
            self._leaving = Leaving(running, losing)
            self._front.push_screen(self._leaving, self._leave)

    async def _kept(self) -> None:
        """Wait until what was typed and chosen is in its draft, or cannot be."""
        for _, page in self._front.pages():
            if isinstance(page, Overlay):
                await page.hand_over()
        for _, page in self._front.pages():
            if isinstance(page, Choosing):
                page.keep_again()
        saving = (worker for worker in self._front.workers if worker.group.startswith(SAVING))
        keeping = [worker.wait() for worker in saving if not worker.is_finished]
        if keeping:
            await asyncio.wait([asyncio.ensure_future(one) for one in keeping], timeout=_KEEPING)

    @property
    def running(self) -> list[Content]:
        """What leaving the app would end, in sentences; nothing where it ends nothing."""
        lines = []
        job, server = self._working.job, self._front.server
        if job is not None:
            lines.append(mark(f"{job.what} is still running.", STRONG))
            lines.append(mark("To leave stops it at its next safe point. What is stored by then stays."))
        if server is not None:
            lines.append(mark(f"Friends reach you at {server.where}.", STRONG))
            now = " Somebody is being answered now; that may end, for some seconds." if server.is_busy else ""
            lines.append(mark(f"To leave ends that.{now}"))
        return lines

    @property
    def losing(self) -> list[Content]:
        """What leaving the app would lose, in sentences; nothing where it loses nothing."""
        pages = (page for _, page in self._front.pages())
        return [mark(f"! {told}", BAD) for page in pages if isinstance(page, Losing) and (told := page.losing)]

    def ask_anew(self) -> None:
        """Ask about what still runs, where it is being asked: that may have ended meanwhile."""
        if self._leaving is not None:
            self._leaving.show_running(self.running)

    def _leave(self, is_agreed: bool | None) -> None:
        self._leaving = None
        if is_agreed:
            self.leave()

    def leave(self, return_code: int = 0) -> None:
        """Leave without a question, once what was typed is kept; work is asked to stop, and waited for."""
        self._working.stop()
        self._front.call_later(self._leave_kept, return_code)

    async def _leave_kept(self, return_code: int) -> None:
        await self._kept()
        self._front.exit(return_code=return_code)
