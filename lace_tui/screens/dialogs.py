"""Pages that lie over Home: help, the details of a row, and a plan to agree to."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from lace_tui.actions import ACTIONS, Scope, actions_of
from lace_tui.screens.marks import NOTE, QUIET, STRONG, mark, rows

__all__ = ["Page", "PlanPage", "help_lines"]


def help_lines() -> list[Content]:
    """Return every action: its keys, its sentence, and the command that does the same."""
    lines = []
    for scope in Scope:
        lines.append(mark(scope.value.capitalize(), STRONG))
        for action in ACTIONS:
            if action.scope is scope:
                lines.append(mark(f"  {action.shown:<10}", NOTE) + mark(action.sentence))
                if action.cli:
                    lines.append(mark(f"{'':12}{action.cli}", QUIET))
    return lines


class Page(ModalScreen[bool]):
    """Lines to read; any of esc, enter, q or ? leaves."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,enter,q,n,question_mark", "leave", "Back", show=False),
        Binding("j", "scroll(1)", "Down", show=False),
        Binding("k", "scroll(-1)", "Up", show=False),
    ]

    DEFAULT_CSS = """
    Page { align: center middle; }
    Page #page {
        width: 90%; max-width: 84; height: auto; max-height: 90%;
        border: round $primary; background: $surface; padding: 0 1;
    }
    """

    def __init__(self, title: str, lines: list[Content], foot: str = "esc back") -> None:
        super().__init__()
        self._title = title
        self._lines = lines
        self._foot = foot

    def compose(self) -> ComposeResult:
        """Lay out the frame and its lines."""
        with VerticalScroll(id="page") as page:
            page.border_title = Content(self._title)
            page.border_subtitle = Content(self._foot)
            yield Static(rows(*self._lines))

    def action_leave(self) -> None:
        """Go back and do nothing."""
        self.dismiss(False)

    def action_scroll(self, by: int) -> None:
        """Move the lines."""
        self.query_one("#page").scroll_relative(y=by, animate=False)


class PlanPage(Page):
    """A plan; only the key that is not the one that led here agrees."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(",".join(action.keys), action.call, action.title, id=action.id, show=False)
        for action in actions_of(Scope.PLAN)
    ]

    def __init__(self, lines: list[Content]) -> None:
        super().__init__("Update: the plan", lines, "y do it   n leave it")

    def action_confirm(self) -> None:
        """Agree."""
        self.dismiss(True)
