"""Help: every action of the table in one list; type to search it, enter does what is selected (APP-1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static

from lace_tui.keys.actions import ACTIONS, PLACES, Action, Scope, action_named
from lace_tui.keys.keymap import key_of, shown_keys
from lace_tui.screens.entry import TextLine
from lace_tui.screens.home import Home
from lace_tui.screens.lines import Lines, Listed
from lace_tui.screens.listing import Listing
from lace_tui.screens.marks import NOTE, QUIET, STRONG, mark, pressable, rows
from lace_tui.screens.overlay import Overlay
from lace_tui.screens.place import MARKED, PlaceScreen

__all__ = ["Help", "help_rows", "show_help", "why_not"]


class _Search(TextLine):
    """The search; the keys of the list act on it while one types, each behind what was typed before it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "screen.do", "Do it", show=False),
        Binding("down", "screen.move('cursor_down')", "Down", show=False),
        Binding("up", "screen.move('cursor_up')", "Up", show=False),
        Binding("pagedown", "screen.move('page_down')", "Page down", show=False),
        Binding("pageup", "screen.move('page_up')", "Page up", show=False),
    ]


class _Actions(Listed):
    """The actions; a search finds their command too, and headings are no hits."""

    def text(self, number: int) -> str:
        """Return what a search looks at."""
        key = self.key(number)
        return f"{super().text(number)} {action_named(key).cli} {action_named(key).title}".lower() if key else ""


def help_rows(here: Scope | None, keys: Mapping[str, str], reach: Mapping[str, str]) -> list[tuple[str, Content]]:
    """Return one row for each action below a heading for each scope.

    Args:
        here: the place whose actions come first.
        keys: keys that the person changed, by action id.
        reach: why an action is out of reach now, by its id; such a row is dim and says so.
    """
    found: list[tuple[str, Content]] = []
    for scope in sorted(Scope, key=lambda scope: scope is not here):
        found.append(("", mark(scope.value.capitalize(), STRONG)))
        for action in ACTIONS:
            if action.scope is scope:
                is_off = bool(reach.get(action.id))
                shown = mark(f"{shown_keys(action, keys):<12}", QUIET if is_off else NOTE)
                found.append((action.id, shown + mark(action.sentence, QUIET if is_off else "")))
    return found


def why_not(
    action: Action, here: Scope | None, keys: Mapping[str, str], *, is_list: bool, can_mark: bool = False
) -> str:
    """Return why an action cannot be done from here, or nothing; `keys` are those that the person changed."""
    if action.id in {"mark", "mark-all"} and not can_mark:
        return f"works {MARKED}"
    if action.scope in {Scope.APP, here} or (action.scope is Scope.LIST and is_list):
        return ""
    if action.scope in PLACES:
        return f"works in {action.scope}: press {key_of(f'go-{action.scope}', keys)}"
    if action.scope is Scope.RESOLVE:
        return f"works in a conflict: press {key_of('go-conflicts', keys)}, then {key_of('resolve', keys)}"
    return f"works {action.scope.value}"


def show_help(app: App[Any], keys: Mapping[str, str], *, is_begun: bool) -> None:
    """Show all keys over the screen in front, those of this place first, and do what is chosen.

    Args:
        app: the app.
        keys: keys that the person changed, by action id.
        is_begun: whether there is a vault.
    """
    screen, focused = app.screen, app.focused
    here = screen.SCOPE if isinstance(screen, PlaceScreen) else None if is_begun else Scope.FIRST
    is_list = isinstance(screen, Listing | Home)
    can_mark = isinstance(screen, Listing) and screen.CAN_MARK
    reach = {action.id: why_not(action, here, keys, is_list=is_list, can_mark=can_mark) for action in ACTIONS}

    def chosen(action_id: str | None) -> None:
        action = action_named(action_id) if action_id else None
        if action is not None:
            inside = {Scope.APP: app, Scope.LIST: focused}.get(action.scope, screen)
            app.call_later(app.run_action, action.call, inside or screen)

    app.push_screen(Help(here, keys, reach), chosen)


class Help(Overlay[str]):
    """The list; ends with the id of the action to do, or nothing.

    Args:
        here: the place it was asked in.
        keys: keys that the person changed.
        reach: why an action is out of reach, by its id.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f1,question_mark", "leave", "Back", show=False, priority=True),
    ]

    DEFAULT_CSS = """
    Help { align: center middle; }
    Help #page {
        width: 96%; max-width: 100; height: 90%; border: round $primary; background: $surface; padding: 0 1;
    }
    Help Input { height: 1; border: none; padding: 0; background: $surface; }
    Help Input:focus { border: none; }
    Help Lines, Help Lines:focus { border: none; padding: 0; background: $surface; }
    Help #about { height: 3; color: $foreground; }
    """

    def __init__(self, here: Scope | None, keys: Mapping[str, str], reach: Mapping[str, str]) -> None:
        super().__init__()
        self._here = here
        self._keys = keys
        self._reach = reach
        self._searched = ""

    def compose(self) -> ComposeResult:
        """Lay out the search, the list, and what is known of the selected action."""
        with Vertical(id="page") as page:
            page.border_title = Content("Help: type to search")
            page.border_subtitle = pressable(("enter does it", "screen.do"), ("esc back", "screen.leave"))
            yield _Search(placeholder="what do you want to do?", id="search")
            yield Lines("", "actions", unmatched="No action has this in its words.")
            yield Static(id="about")

    def on_mount(self) -> None:
        """Show all actions, and begin in the search."""
        lines = self.query_one(Lines)
        lines.can_focus = False
        lines.show_cursor = True
        lines.fill(_Actions(help_rows(self._here, self._keys, self._reach)))
        self.query_one(Input).focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Show what fits as it is typed."""
        event.stop()
        self._search(event.value)

    def _search(self, text: str) -> None:
        lines = self.query_one(Lines)
        if text != self._searched:
            self._searched = text
            lines.filter(text)
            lines.action_first()

    def on_lines_moved(self, event: Lines.Moved) -> None:
        """Say the selected action's command, or why it is out of reach."""
        event.stop()
        if not event.key:
            self.query_one("#about", Static).update("")
            return
        action = action_named(event.key)
        reason = self._reach.get(action.id, "")
        first = mark(f"{action.title}: ", STRONG) + mark(reason or action.sentence)  # a narrow row cuts it off
        second = f"by command: {action.cli}" if action.cli else "moves about the screen only"
        self.query_one("#about", Static).update(rows(first, mark(f"{second}   id: {action.id}", QUIET)))

    def on_lines_selected(self, event: Lines.Selected) -> None:
        """Do what was clicked twice."""
        event.stop()
        self.action_do()

    def action_move(self, way: str) -> None:
        """Move in the list while one types."""
        self._search(self.query_one(Input).value)  # what was typed may not have been told yet
        getattr(self.query_one(Lines), f"action_{way}")()

    def action_do(self) -> None:
        """Go back and do the selected action, if it is within reach."""
        self._search(self.query_one(Input).value)
        key = self.query_one(Lines).key
        if not key:
            return
        if reason := self._reach.get(key):
            self.notify(f"{action_named(key).title} {reason}.", markup=False)
            return
        self.dismiss(key)

    def action_leave(self) -> None:
        """Go back and do nothing."""
        self.dismiss("")
