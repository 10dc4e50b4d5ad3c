"""A page for a long text: a diff, a file of an old revision, a record. Only rows in sight are made (APP-3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.reactive import reactive

from lace_tui.screens.entry import FilterLine
from lace_tui.screens.lines import Lines
from lace_tui.screens.marks import BAD, GOOD, NOTE, STRONG, mark, pressable
from lace_tui.screens.overlay import Overlay
from lace_tui.words.inert import inert

__all__ = ["Texts", "Viewer", "painted"]

_STEP = 16  # columns that one key moves sideways


def painted(line: str) -> Content:
    """Return a line of a unified diff: its sign first, its colour second."""
    text = line.expandtabs()
    if text.startswith(("--- ", "+++ ")):
        return mark(text, STRONG)
    style = GOOD if text.startswith("+") else BAD if text.startswith("-") else NOTE if text.startswith("@@") else ""
    return mark(text, style)


def plain(line: str) -> Content:
    """Return a line of any text."""
    return mark(line.expandtabs())


class Texts:
    """Lines of text as rows, each made harmless when it is seen."""

    def __init__(self, lines: Sequence[str], paint: Callable[[str], Content] = plain) -> None:
        self._lines = lines
        self._paint = paint

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._lines)

    def line(self, number: int) -> Content:
        """Return one row."""
        return self._paint(self._lines[number])

    def key(self, number: int) -> str:
        """Return a row's number, from 1."""
        return str(number + 1)

    def text(self, number: int) -> str:
        """Return what a search looks at."""
        return self._lines[number].lower()


class _Text(Lines):
    """Lines that can be moved sideways."""

    pan: reactive[int] = reactive(0)

    def _content(self, at: int) -> Content:
        text = super()._content(at)
        return text[self.pan :] if self.pan else text

    def watch_pan(self) -> None:
        """Make the rows anew."""
        self.redraw()


class Viewer(Overlay[None]):
    """A long text; esc leaves.

    Args:
        title: shown in the frame.
        source: its rows.
        command: what prints the same by command; copied with `y`.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "Back", show=False),
        Binding("right,l", "pan(1)", "Right", show=False),
        Binding("left,h", "pan(-1)", "Left", show=False),
        Binding("y", "copy", "Copy the command", show=False),
    ]

    DEFAULT_CSS = """
    Viewer { align: center middle; }
    Viewer #page { width: 98%; height: 96%; border: round $primary; background: $background; padding: 0; }
    Viewer Lines, Viewer Lines:focus { border: none; padding: 0; }
    """

    def __init__(self, title: str, source: Texts, command: str = "") -> None:
        super().__init__()
        self.title = title
        self._source = source
        self._command = command

    def compose(self) -> ComposeResult:
        """Lay out the text and the line for a search."""
        with Vertical(id="page") as page:
            page.border_title = mark(self.title or "")
            keys = [("esc back", "screen.leave"), ("/ find", "screen.filter")]
            keys += [("y copies", "screen.copy")] if self._command else []
            moving = pressable(("left", "screen.pan(-1)")) + mark(", ") + pressable(("right move", "screen.pan(1)"))
            page.border_subtitle = pressable(*keys) + mark("   ") + moving
            yield _Text("", "list", empty="Nothing to show.", unmatched="No line has this text.")
            yield FilterLine()

    def on_mount(self) -> None:
        """Show the text, with nothing in front of it."""
        self.app.clear_notifications()
        lines = self.query_one(_Text)
        lines.fill(self._source)
        lines.focus()

    def on_lines_moved(self, event: Lines.Moved) -> None:
        """Keep the move here."""
        event.stop()

    def on_lines_selected(self, event: Lines.Selected) -> None:
        """Open nothing: a line is all there is."""
        event.stop()

    def action_filter(self) -> None:
        """Type what the lines shall hold."""
        self.query_one(FilterLine).open_for(self.query_one(_Text))

    def action_mark(self) -> None:
        """Mark nothing: no line is a thing to choose."""

    def action_mark_all(self) -> None:
        """Mark nothing."""

    def action_pan(self, way: int) -> None:
        """Move the text sideways."""
        lines = self.query_one(_Text)
        lines.pan = max(0, lines.pan + way * _STEP)

    def action_copy(self) -> None:
        """Copy the command that prints the same."""
        if self._command:
            self.app.copy_to_clipboard(inert(self._command))
            self.notify(f"Copied: {inert(self._command)}", markup=False)

    def action_leave(self) -> None:
        """Go back."""
        self.dismiss(None)
