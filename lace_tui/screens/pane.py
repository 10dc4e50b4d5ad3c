"""Rows to look at in a frame: only those in sight are drawn, so that a long text costs what a screenful costs."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content as Row
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.visual import Visual

from lace_tui.screens.marks import mark

__all__ = ["Pane"]


class Pane(ScrollView, can_focus=False):
    """Rows in a frame, of which only those in sight are drawn."""

    DEFAULT_CSS = """
    Pane { border: round $foreground 40%; border-title-color: $foreground; background: $background; padding: 0 1;
        scrollbar-size-vertical: 1; scrollbar-size-horizontal: 0; overflow-x: hidden; height: 1fr; width: 1fr; }
    """

    def __init__(self, widget_id: str) -> None:
        super().__init__(id=widget_id)
        self._rows: Sequence[Row] = []

    def show(self, title: str, rows: Sequence[Row], at: int | None = None) -> None:
        """Show these rows, with row `at` in the upper part."""
        self._rows = rows
        self.border_title = mark(title)
        self.virtual_size = Size(self.scrollable_content_region.width, len(rows))
        if at is not None:
            self.scroll_to(y=max(0, at - 2), animate=False, force=True)
        self.refresh()

    @property
    def text(self) -> str:
        """All rows as plain text."""
        return "\n".join(row.plain for row in self._rows)

    def render_line(self, y: int) -> Strip:
        """Return one line of what is in sight."""
        at, width = y + self.scroll_offset.y, self.scrollable_content_region.width
        row = self._rows[at] if at < len(self._rows) else Row("")
        (strip, *_) = Visual.to_strips(self, row.truncate(width, ellipsis=True), width, 1, self.visual_style) or [
            Strip.blank(width)
        ]
        return strip
