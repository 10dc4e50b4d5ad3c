"""Leaving the app: what that would end or lose is asked about, and what is on its way to the disk waited for (APP-3).

Choices are kept by a thread while one goes on; a key that leaves may come before it began. What is typed is handed to
it once in a while only.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from lace_tui.app.serving import Serving
from lace_tui.screens.dialogs import Leaving
from lace_tui.screens.host import SAVING, Choosing, Losing
from lace_tui.screens.marks import BAD, mark
from lace_tui.screens.over import Over

if TYPE_CHECKING:
    from textual.content import Content

__all__ = ["Parting"]

_KEEPING = 10.0  # seconds for choices to come to the disk; longer than any that answers takes


class Parting(Serving):
    """An app that is left; what its places show is the business of its heir."""

    _leaving: Leaving | None = None  # asks whether to leave

    async def action_quit(self) -> None:
        """Leave; where that ends work or serving, or loses choices, ask first: work stops at its next safe point."""
        await self._kept()
        running, losing = self.running, self.losing
        if not running and not losing:
            self.exit()
        elif self._leaving is None:  # the same key again is no answer
            self._leaving = Leaving(running, losing)
            self.push_screen(self._leaving, self._leave)

    async def _kept(self) -> None:
        """Wait until what was typed and chosen is in its draft, or cannot be."""
        for _, page in self.pages():
            if isinstance(page, Over):
                await page.hand_over()
        for _, page in self.pages():
            if isinstance(page, Choosing):
                page.keep_again()
        saving = (worker for worker in self.workers if worker.group.startswith(SAVING))
        keeping = [worker.wait() for worker in saving if not worker.is_finished]
        if keeping:
            await asyncio.wait([asyncio.ensure_future(one) for one in keeping], timeout=_KEEPING)

    @property
    def losing(self) -> list[Content]:
        """What leaving the app would lose, in sentences; nothing where it loses nothing."""
        return [mark(f"! {told}", BAD) for _, one in self.pages() if isinstance(one, Losing) and (told := one.losing)]

    def ask_about_leaving(self) -> None:
        """Ask about what still runs, where it is being asked: that may have ended meanwhile."""
        if self._leaving is not None:
            self._leaving.show_running(self.running)

    def _leave(self, is_agreed: bool | None) -> None:
        self._leaving = None
        if is_agreed:
            self.leave()

    def leave(self, return_code: int = 0) -> None:
        """Leave without a question, once what was typed is kept; work is asked to stop, and waited for."""
        if self.job is not None:
            self.job.token.set()
        self.call_later(self._leave_kept, return_code)

    async def _leave_kept(self, return_code: int) -> None:
        await self._kept()
        self.exit(return_code=return_code)
