"""How the places show what is known: ages, reach and counts, the card of work, and how far it is (APP-3, APP-5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lace_tui.keys.actions import Scope
from lace_tui.screens.cards import stored_card, working_card
from lace_tui.screens.home import Home
from lace_tui.screens.place import PlaceScreen

if TYPE_CHECKING:
    from lace_tui.app.front import Front
    from lace_tui.app.working import Working

__all__ = ["Showing"]


class Showing:
    """What shows on Home, and in the frame of the place in front, what is known.

    Args:
        front: the app, which has what is known.
        working: knows the work under way.
    """

    def __init__(self, front: Front, working: Working) -> None:
        self._front = front
        self._working = working

    def tell_working(self, *, is_working: bool) -> None:
        """Show that work began or ended, on Home and in the frame."""
        if isinstance(home := self.shown(Scope.HOME), Home):
            home.show_working(is_working)
        if isinstance(self._front.screen, PlaceScreen) and self._front.screen.is_mounted:
            self._front.screen.show_footer()
            self._front.screen.show_head()

    def shown(self, place: Scope) -> PlaceScreen | None:
        """Return the screen of a place if it was ever shown."""
        return next((one for mode, one in self._front.pages() if mode == place and isinstance(one, PlaceScreen)), None)

    def show_progress(self) -> None:
        """Show how far the work under way is, on Home and in the header."""
        job = self._working.job
        home = self.shown(Scope.HOME)
        if job is not None and isinstance(home, Home) and home.is_mounted:
            home.show_card(working_card(job.what, job.far(self._working.monotonic()), self._front.key_of("stop")), 0)
        if job is not None and isinstance(self._front.screen, PlaceScreen) and self._front.screen.is_mounted:
            self._front.screen.show_head()

    def refresh_places(self) -> None:
        """Show what is known anew: ages, reach, counts."""
        home = self.shown(Scope.HOME)
        if self._front.view is not None:
            self._front.view = self._front.view._replace(now_ns=self._working.now_ns)
            if isinstance(home, Home) and home.is_mounted:
                home.show_home(self._front.view, self._front.reach)
        last = self._front.view.last if self._front.view is not None else None
        if last is not None and self._front.card is not None and "" < self._front.card.ended < last.when:
            self._front.card = None  # another command has synced since
        card = self._front.card or (stored_card(self._front.view, self._front.taste.keys) if self._front.view else None)
        if card is not None and self._working.job is None and isinstance(home, Home) and home.is_mounted:
            home.show_card(card, self._working.now_ns)
        for screen in self._front.screen_stack:  # a place below a page is in sight too
            if isinstance(screen, PlaceScreen) and screen.is_mounted:
                screen.show_frame()
