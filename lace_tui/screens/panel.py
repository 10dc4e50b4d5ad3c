"""A list in a frame beside others, as on Home: it marks its selected row, and keeps it when the list is read anew."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from lace_tui.keys.actions import Scope
from lace_tui.keys.bindings import bindings_of
from lace_tui.screens.entry import let_filter_follow
from lace_tui.screens.hanging_text import Hanging
from lace_tui.screens.marks import QUIET, STRONG, mark

__all__ = ["Panel"]

_ROW, _SELECTED = Content("  "), Content.styled("> ", STRONG)


class Panel(OptionList):
    """A list in a frame, with the keys of every list."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Scope.LIST)

    def __init__(self, title: str, panel_id: str) -> None:
        super().__init__(id=panel_id, markup=False)
        self._title = title
        self.border_title = title
        self._entries: list[tuple[str, Content]] = []
        self._empty = Content("")
        self.filtered = ""
        """What the rows that are shown hold, in lower case; nothing shows all."""
        self._texts: list[Content] = []
        self._marked: int | None = None
        self._before = ""  # id of the row that was highlighted last

    def on_resize(self) -> None:
        """Keep the highlighted row, on which the keys act, in sight."""
        self.call_after_refresh(self.scroll_to_highlight)

    def action_half_down(self) -> None:
        """Go down by half of what is in sight."""
        self._leap(1)

    def action_half_up(self) -> None:
        """Go up by half of what is in sight."""
        self._leap(-1)

    def _leap(self, way: int) -> None:
        for _ in range(max(1, self.size.height // 4)):  # a row has two lines or more
            if way > 0:
                self.action_cursor_down()
            else:
                self.action_cursor_up()

    async def on_key(self, event: events.Key) -> None:
        """Let what is typed behind the key of the filter go into it."""
        await let_filter_follow(self, event)

    def fill(self, entries: list[tuple[str, Content]], empty: Content) -> None:
        """Show the entries, keeping the highlighted one; an entry without an id is a remark.

        Where nothing is new nothing is done: to lay a list out and draw it takes longer than to read it.
        """
        if self._texts and empty.is_same(self._empty) and _are_same(entries, self._entries):
            return
        self._entries, self._empty = entries, empty
        self._show()

    def filter(self, text: str) -> None:
        """Show only the entries that hold some text, whatever its case; nothing shows all."""
        if text.lower() != self.filtered:
            self.filtered = text.lower()
            self._show()

    def _show(self) -> None:
        before = self._before = self.highlighted_id or self._before  # a filter may have left none
        fitting = [entry for entry in self._entries if self.filtered in entry[1].plain.lower()]
        empty = (
            mark("No row has this text. esc shows all rows.", QUIET) if self.filtered and self._entries else self._empty
        )
        entries = fitting or [("", empty)]
        count = f" {len(fitting)} of {len(self._entries)}: {self.filtered}" if self.filtered else ""
        self.border_title = mark(f"{self._title}{count}")
        self._texts = [text for _, text in entries]
        self._marked = None
        self.set_options([Option(Hanging(_ROW + text), id=key or None, disabled=not key) for key, text in entries])
        keys = [key for key, _ in entries]
        if before in keys and before:
            self.highlighted = keys.index(before)
        elif any(keys):
            self.highlighted = next(number for number, key in enumerate(keys) if key)
        self._mark_row()

    def choose(self, key: str) -> bool:
        """Highlight an entry; tell whether it is among those that are shown."""
        at = next((number for number, option in enumerate(self.options) if option.id == key), None)
        if at is not None:
            self.highlighted = at
        return at is not None

    def watch_highlighted(self, highlighted: int | None) -> None:
        """Move the sign of the selected row with it."""
        super().watch_highlighted(highlighted)
        self._mark_row()

    def watch_has_focus(self, has_focus: bool) -> None:
        """Show where the keys go; the sign stays only where another panel's keys still act on it."""
        super().watch_has_focus(has_focus)
        self._mark_row()

    def _mark_row(self) -> None:
        """Put a sign before the selected row, so that nobody needs colours to see it."""
        wanted = self.highlighted if self.has_focus or self.id == "meet" else None
        if wanted == self._marked:
            return
        for number, sign in ((self._marked, _ROW), (wanted, _SELECTED)):
            if number is not None and number < min(self.option_count, len(self._texts)):
                self.replace_option_prompt_at_index(number, Hanging(_ROW + self._texts[number], sign))
        self._marked = wanted

    @property
    def highlighted_id(self) -> str:
        """Id of the highlighted row, or nothing."""
        option = self.highlighted_option
        return option.id or "" if option is not None else ""


def _are_same(ones: list[tuple[str, Content]], others: list[tuple[str, Content]]) -> bool:
    return len(ones) == len(others) and all(
        key == other_key and text.is_same(other) for (key, text), (other_key, other) in zip(ones, others, strict=True)
    )
