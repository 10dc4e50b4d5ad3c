"""What the palette offers: every action that fits the place, with its key and its command (APP-2).

Who searches it finds what works elsewhere too, and is told where.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from textual.app import SystemCommand

from lace_tui.keys.actions import ACTIONS, PLACES, Action, Scope
from lace_tui.keys.keymap import shown_keys
from lace_tui.keys.taste import THEME_NAMES
from lace_tui.screens.help import why_not
from lace_tui.screens.place import PlaceScreen

if TYPE_CHECKING:
    from textual.screen import Screen

    from lace_tui.screens.host import Host

__all__ = ["commands"]

_OF_THE_KEYBOARD = {"palette", "next-panel", "previous-panel"}  # nothing to choose from a list
_ELSEWHERE = {*PLACES, Scope.RESOLVE, Scope.FILES, Scope.KEPT, Scope.REFUSED}  # scopes that somebody can go to


def commands(app: Host, screen: Screen[object]) -> Iterable[SystemCommand]:
    """Yield what can be done on a screen, what can be done elsewhere, and the themes."""
    elsewhere, titles = [], set()
    for action in ACTIONS:
        run = _runner(app, action, screen)
        if run is not None and action.id not in _OF_THE_KEYBOARD:
            titles.add(action.title)
            extra = f"  ({shown_keys(action, app.taste.keys).split()[0]}{', ' + action.cli if action.cli else ''})"
            yield SystemCommand(action.title, action.sentence + extra, run)
        elif action.cli and action.scope in _ELSEWHERE and app.folder is not None:
            elsewhere.append(action)
    for action in elsewhere:
        if action.title not in titles:
            titles.add(action.title)
            where = why_not(action, None, app.taste.keys, is_list=False)
            tell = partial(screen.notify, f"{action.title} {where}.", markup=False)
            yield SystemCommand(action.title, f"{where.capitalize()}. {action.sentence}", tell, discover=False)
    for name in THEME_NAMES:
        what = "These are the colours now." if name == app.taste.theme else "Take these colours from now on."
        yield SystemCommand(f"Theme: {name}", what, partial(app.choose_theme, name))


def _runner(app: Host, action: Action, screen: Screen[object]) -> Callable[[], Any] | None:
    """Return what runs an action from the palette, or None where it is out of place."""
    if action.id.startswith("go-"):
        place = action.id.removeprefix("go-")
        return lambda: app.action_go(place)
    if action.scope is Scope.APP:
        return getattr(app, f"action_{action.call}", None)
    if isinstance(screen, PlaceScreen) and action.scope is screen.SCOPE:
        return getattr(screen, f"action_{action.call}", None)
    return None
