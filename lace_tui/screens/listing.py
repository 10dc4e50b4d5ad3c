"""A place that is one list, with a filter line; queue, peers, audit and the like are made of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from lace_tui.screens.dialogs import Page
from lace_tui.screens.entry import FilterLine
from lace_tui.screens.lines import Lines, LineSource
from lace_tui.screens.marks import NOTE, mark, rows
from lace_tui.screens.place import PlaceScreen

__all__ = ["Listing"]

_FRAMES = 3  # lines around the list, and above what stands below it
_TOLD = 8  # lines about the selected row that stand below the list


class Listing(PlaceScreen):
    """A place whose body is one list.

    A subclass names `TITLE`, `EMPTY` and the signs in its rows (`LEGEND`), and gives `read`, `show` and `row`.
    """

    DEFAULT_CSS = """
    Listing #detail { display: none; height: auto; max-height: 10; padding: 0 2; color: $foreground 80%;
        border-top: solid $foreground 40%; text-wrap: nowrap; text-overflow: ellipsis; }
    Listing.-high #detail.-known, Listing #detail.-known.-fits { display: block; }
    """

    TITLE: ClassVar[str]
    EMPTY: ClassVar[str] = "Nothing here."
    LEGEND: ClassVar[str] = ""
    CAN_MARK: ClassVar[bool] = False

    def body(self) -> ComposeResult:
        """Lay out the list and its filter."""
        yield Lines(self.TITLE, "list", empty=self.EMPTY, can_mark=self.CAN_MARK)
        yield Static(id="detail")
        yield FilterLine()

    def on_mount(self) -> None:
        """Begin in the list (the frame is shown as well)."""
        self.lines.border_subtitle = mark(self.LEGEND)
        self.lines.focus()

    def on_resize(self) -> None:
        """Give the keys back to the list after the window was too small to show it (the frame is shown as well)."""
        self.call_after_refresh(self._resized)

    def _resized(self) -> None:
        if self.focused is None and self.is_current:
            self.lines.focus()
        self.fit_rows()
        self.show_detail()

    def fit_rows(self) -> None:
        """Make the rows anew where they are made for the width that there was."""

    @property
    def lines(self) -> Lines:
        """The list."""
        return self.query_one("#list", Lines)

    def fill(self, source: LineSource | Sequence[tuple[str, Content]]) -> None:
        """Show these rows."""
        self.lines.fill(source)

    def show_unread(self, told: Sequence[Content]) -> bool:
        """Say in the list why nothing could be read, unless rows of an earlier reading stand there."""
        return self.lines.say_instead(rows(*told))

    def on_lines_moved(self, event: Lines.Moved) -> None:
        """Keep the footer's words true, and tell more of the row where there is room."""
        event.stop()
        self.show_footer()
        self.show_detail()

    def show_detail(self) -> None:
        """Show what is known of the selected row below a list that leaves room; `enter` shows all of it."""
        _, lines, command = self.row()
        detail = self.query_one("#detail", Static)
        detail.set_class(bool(lines), "-known")
        shown = [mark(line) for line in lines[:_TOLD]]
        if command:
            shown.append(mark(command, NOTE))
        detail.update(rows(*shown))
        room = self.query_one("#body").size.height - self.lines.shown - _FRAMES
        detail.set_class(len(shown) <= room, "-fits")

    def on_lines_selected(self, event: Lines.Selected) -> None:
        """Open the row."""
        event.stop()
        self.action_open_row()

    def selected_key(self) -> str:
        """Return the id of the selected row; where none is, say so."""
        if not self.lines.key:
            shows = f": {self.key_of('stop')} shows all rows" if self.lines.is_filtered else ""
            self.notify(f"No row is selected{shows}.", markup=False)
        return self.lines.key

    def action_open_row(self) -> None:
        """Show all of the selected row, and its command."""
        title, lines, command = self.row()
        if title:
            shown = [*(mark(line) for line in lines), *([mark(""), mark(command, NOTE)] if command else [])]
            self.app.push_screen(Page(title, shown, self.runnable()))

    def action_filter(self) -> None:
        """Type what the rows shall hold."""
        self.query_one(FilterLine).open_for(self.lines)

    def show_all(self) -> None:
        """Take the filter away."""
        self.query_one(FilterLine).clear_away()

    def action_leave(self) -> None:
        """Go back to where it was opened from; what runs is stopped first, and a filter taken away, as everywhere."""
        if self.lace.job is not None or self.lines.is_filtered:
            self.lace.action_stop()
        else:
            self.go_back()

    def action_mark(self) -> None:
        """Mark the row."""
        if self.CAN_MARK:
            self.lines.toggle_mark()
        else:
            super().action_mark()

    def action_mark_all(self) -> None:
        """Mark all rows that are shown."""
        if self.CAN_MARK:
            self.lines.toggle_all()
        else:
            super().action_mark_all()
