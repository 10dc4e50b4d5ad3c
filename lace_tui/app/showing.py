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

    def shown(self, place: Scope) -> PlaceScreen | None:
        """Return the screen of a place if it was ever shown."""
        return next((one for mode, one in self._front.pages() if mode == place and isinstance(one, PlaceScreen)), None)

    @property
    def _home(self) -> Home | None:
        home = self.shown(Scope.HOME)
        return home if isinstance(home, Home) and home.is_mounted else None

    def tell_working(self, *, is_working: bool) -> None:
        """Show that work began or ended, on Home and in the frame."""
        if isinstance(home := self.shown(Scope.HOME), Home):
            home.show_working(is_working)
        screen = self._front.screen
        if isinstance(screen, PlaceScreen) and screen.is_mounted:
            screen.show_footer()
            screen.show_head()

    def show_progress(self) -> None:
        """Show how far the work under way is, on Home and in the header."""
        job = self._working.job
        if job is None:
            return
        if (home := self._home) is not None:
            home.show_card(working_card(job.what, job.far(self._working.monotonic()), self._front.key_of("stop")), 0)
        screen = self._front.screen
        if isinstance(screen, PlaceScreen) and screen.is_mounted:
            screen.show_head()

    def refresh_places(self) -> None:
        """Show what is known anew: ages, reach, counts."""
        front, home = self._front, self._home
        view = front.view
        if view is not None:
            view = front.view = view._replace(now_ns=self._working.now_ns)
            if home is not None:
                home.show_home(view, front.reach)
            if view.last is not None and front.card is not None and "" < front.card.ended < view.last.when:
                front.card = None  # another command has synced since
        card = front.card or (stored_card(view, front.taste.keys) if view else None)
        if card is not None and home is not None and self._working.job is None:
            home.show_card(card, self._working.now_ns)
        for screen in front.screen_stack:  # a place below a page is in sight too
            if isinstance(screen, PlaceScreen) and screen.is_mounted:
                screen.show_frame()
