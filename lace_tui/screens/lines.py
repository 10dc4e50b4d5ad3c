"""A list of any length: only the rows in sight are made, so a million cost what a screenful costs.

Rows come from a `LineSource`: a number of rows, and one row by its number. Marks and the filter work on numbers, so
nothing is copied. A row is one line; whoever needs more shows it on `enter`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from typing import ClassVar, Protocol

from textual import events
from textual.binding import BindingType
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.style import Style
from textual.visual import Visual
from textual.worker import get_current_worker

from lace_tui.keys.actions import Scope
from lace_tui.keys.bindings import bindings_of
from lace_tui.screens.entry import let_filter_follow
from lace_tui.screens.hanging_text import hung
from lace_tui.screens.marks import QUIET, STRONG, mark, rows

__all__ = ["LineSource", "Lines", "Listed"]

_CACHED = 4096
_MOST = 8  # characters in a cell, with all the marks on a letter; what lies beyond a row need not be laid out
_AT_ONCE = 5_000  # rows that are searched while one types; longer lists are searched in a thread


class LineSource(Protocol):
    """Where rows come from."""

    def __len__(self) -> int:
        """Return how many rows there are."""

    def line(self, number: int) -> Content:
        """Return one row; called for rows in sight only."""

    def key(self, number: int) -> str:
        """Return a row's stable id; empty for a remark that cannot be selected."""

    def text(self, number: int) -> str:
        """Return the text that a filter searches, in lower case; of a long list it is asked in a thread."""


class Listed:
    """A source over values that are in memory."""

    def __init__(self, rows: Sequence[tuple[str, Content]]) -> None:
        self._rows = rows

    def __len__(self) -> int:
        """Return how many rows there are."""
        return len(self._rows)

    def line(self, number: int) -> Content:
        """Return one row."""
        return self._rows[number][1]

    def key(self, number: int) -> str:
        """Return a row's id."""
        return self._rows[number][0]

    def text(self, number: int) -> str:
        """Return what a filter searches."""
        return self._rows[number][1].plain.lower()


def _fitting(source: LineSource, text: str, numbers: range) -> Iterator[int]:
    return (number for number in numbers if text in source.text(number))


class Lines(ScrollView, can_focus=True):
    """A list in a frame.

    Args:
        title: shown in the frame.
        widget_id: for `query_one`.
        empty: what stands there while there is no row, in lines.
        unmatched: what stands there where a filter leaves none.
        can_mark: whether rows take marks.

    Attributes:
        marked: ids of the marked rows.
        title: shown in the frame from the next filling on.
        show_cursor: whether the highlighted row is shown while another widget takes the keys.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Scope.LIST)

    DEFAULT_CSS = """
    Lines { border: round $foreground 40%; border-title-color: $foreground; background: $background; padding: 0 1;
        scrollbar-size-vertical: 1; height: 1fr; overflow-x: hidden; }
    Lines:focus { border: double $primary; border-title-style: bold; }
    """

    cursor: reactive[int] = reactive(0, repaint=False)

    class Selected(Message):
        """A row was opened."""

        def __init__(self, lines: Lines, key: str) -> None:
            super().__init__()
            self.lines = lines
            self.key = key

    class Fitted(Message):
        """A search of a long list ended."""

        def __init__(self, source: LineSource, text: str, numbers: list[int], before: str) -> None:
            super().__init__()
            self.source = source
            self.text = text
            self.numbers = numbers
            self.before = before

    class Moved(Message):
        """Another row is highlighted."""

        def __init__(self, lines: Lines, key: str) -> None:
            super().__init__()
            self.lines = lines
            self.key = key

    def __init__(
        self,
        title: str,
        widget_id: str,
        *,
        empty: str = "Nothing here.",
        unmatched: str = "No row has this text. esc shows all rows.",
        can_mark: bool = False,
    ) -> None:
        super().__init__(id=widget_id)
        self.title = title
        self._empty, self._unmatched = empty, unmatched
        self._instead = _quiet("Reading ...")  # of rows
        self._is_filled = False
        self._can_mark = can_mark
        self._source: LineSource = Listed([])
        self._shown: Sequence[int] = range(0)
        self._filter = ""
        self.marked: frozenset[str] = frozenset()
        self.show_cursor = False
        self._line = lru_cache(maxsize=_CACHED)(self._content)

    # What is shown

    def fill(self, source: LineSource | Sequence[tuple[str, Content]]) -> None:
        """Show these rows; the highlighted one stays where it is still there, and marks of rows that are gone go."""
        before = self.key
        self._is_filled = True
        self._source = Listed(source) if isinstance(source, list | tuple) else source  # type: ignore[assignment]
        if self.marked:
            keys = {self._source.key(number) for number in range(len(self._source))}
            self.marked &= keys
        self._select_shown(before)

    def say_instead(self, told: Content) -> bool:
        """Say in lines why there are no rows; return whether it is said, which it is not once there were any."""
        if not self._is_filled:
            self._instead = told
            self.refresh()
        return not self._is_filled

    def redraw(self) -> None:
        """Make the rows in sight anew."""
        self._line.cache_clear()
        self.refresh()

    def filter(self, text: str) -> None:
        """Show only the rows that hold some text, whatever its case; nothing shows all."""
        self._filter = text.lower()
        self._select_shown(self.key)

    @property
    def is_filtered(self) -> bool:
        """Whether some rows are left out."""
        return bool(self._filter)

    @property
    def shown(self) -> int:
        """How many rows are shown."""
        return len(self._shown)

    def _select_shown(self, before: str) -> None:
        total = len(self._source)
        if not self._filter:
            self._show_numbers(range(total), before)
        elif total <= _AT_ONCE:
            self._show_numbers(list(_fitting(self._source, self._filter, range(total))), before)
        else:  # keys go on while it is searched; until then what fitted before is shown, if it is still there
            if self._shown and self._shown[-1] >= total:
                self._show_numbers(range(total), before)
            self.border_title = mark(f"{self.title} searching: {self._filter}")
            self._instead = _quiet("Searching ...")
            search = partial(self._search, self._source, self._filter, before)
            self.run_worker(search, thread=True, exclusive=True, group="search", exit_on_error=False)

    def _search(self, source: LineSource, text: str, before: str) -> None:
        """Search a long list, in a thread; give up when another search began."""
        worker = get_current_worker()
        found: list[int] = []
        for start in range(0, len(source), _AT_ONCE):
            if worker.is_cancelled:
                return
            found += _fitting(source, text, range(start, min(start + _AT_ONCE, len(source))))
        self.post_message(self.Fitted(source, text, found, before))

    def on_lines_fitted(self, event: Fitted) -> None:
        """Show what was found, unless something else is asked for by now."""
        event.stop()
        if event.source is self._source and event.text == self._filter:
            self._show_numbers(event.numbers, event.before)

    def _show_numbers(self, numbers: Sequence[int], before: str) -> None:
        total = len(self._source)
        was = self._shown[self.cursor] if self.cursor < len(self._shown) else 0
        self._shown = numbers
        if self._is_filled:
            self._instead = _quiet(self._unmatched if self._filter and total else self._empty)
        self._line.cache_clear()
        self.virtual_size = Size(self.scrollable_content_region.width, max(1, len(self._shown)))
        count = f" {len(self._shown)} of {total}: {self._filter}" if self._filter else ""
        marks = f", {len(self.marked)} marked" if self.marked else ""
        self.border_title = mark(f"{self.title}{count}{marks}")  # else what is typed in brackets would be markup
        self.cursor = self._place_of(before, was)
        self.refresh()
        self.post_message(self.Moved(self, self.key))

    def _place_of(self, key: str, was: int) -> int:
        """Return where a row stands now, which is looked for near to the number that it had; else what stands there."""
        near = bisect_left(self._shown, was)
        for step in range(_CACHED if key else 0):
            for at in (near + step, near - step):
                if 0 <= at < len(self._shown) and self._source.key(self._shown[at]) == key:
                    return at
        return self._row_near(self.cursor, 1)

    def _row_near(self, at: int, step: int) -> int:
        """Return the row nearest to `at` that can be selected, looking in that direction first."""
        last = len(self._shown) - 1
        at = max(0, min(at, last))
        for way in (step, -step):
            number = at
            for _ in range(_CACHED):
                if not 0 <= number <= last:
                    break
                if self._source.key(self._shown[number]):
                    return number
                number += way
        return at

    def _content(self, at: int) -> Content:
        number = self._shown[at]
        key = self._source.key(number)
        sign = ("[x] " if key in self.marked else "[ ] ") if self._can_mark and key else ""
        return mark(sign) + self._source.line(number)

    def render_line(self, y: int) -> Strip:
        """Return one line of what is in sight."""
        at = y + self.scroll_offset.y
        width = self.scrollable_content_region.width
        base = self.visual_style
        if at >= len(self._shown):
            told = [] if self._shown else hung(self._instead, width).split("\n", allow_blank=True)
            return self._strip(told[at] if at < len(told) else Content(""), width, base)
        is_here = at == self.cursor
        text = mark("> " if is_here else "  ", STRONG) + self._line(at)[: _MOST * width]
        return self._strip(text, width, base, is_here=is_here and (self.has_focus or self.show_cursor))

    def rendered(self, at: int) -> str:
        """Return the text of a shown row, as it stands on the screen."""
        return (mark("> " if at == self.cursor else "  ") + self._line(at)).plain

    def _strip(self, text: Content, width: int, base: Style, *, is_here: bool = False) -> Strip:
        if is_here:
            if self.app.native_ansi_color:  # reversed colours of several parts would be patches
                text = Content(text.plain)
            style = "reverse" if self.app.native_ansi_color else "on $primary 30%"
            text = text.pad_right(max(0, width - text.cell_length)).stylize(style)
        (strip, *_) = Visual.to_strips(self, text.truncate(width, ellipsis=True), width, 1, base) or [
            Strip.blank(width)
        ]
        return strip

    def on_resize(self, _event: events.Resize) -> None:
        """Rows are as wide as the list, and the highlighted one, on which the keys act, stays in sight."""
        self.virtual_size = Size(self.scrollable_content_region.width, max(1, len(self._shown)))
        self.call_after_refresh(self._keep_in_sight)

    async def on_key(self, event: events.Key) -> None:
        """Let what is typed behind the key of the filter go into it."""
        await let_filter_follow(self, event)

    # The highlighted row

    @property
    def key(self) -> str:
        """Id of the highlighted row, or nothing."""
        return self._source.key(self._shown[self.cursor]) if self.cursor < len(self._shown) else ""

    @property
    def chosen(self) -> tuple[str, ...]:
        """Ids of the marked rows, or of the highlighted one when none is marked."""
        if self.marked:
            numbers = range(len(self._source))
            return tuple(key for key in (self._source.key(number) for number in numbers) if key in self.marked)
        return (self.key,) if self.key else ()

    def go_to(self, beginning: str) -> bool:
        """Go to the first row that is shown whose id begins so; return whether there is one."""
        found = (at for at, number in enumerate(self._shown) if self._source.key(number).startswith(beginning))
        at = next(found, None)
        if at is not None:
            self.cursor = at
        return at is not None

    def watch_cursor(self, before: int, now: int) -> None:
        """Keep the highlighted row in sight."""
        if before != now:
            self._keep_in_sight()
            self.refresh()
            self.post_message(self.Moved(self, self.key))

    def _keep_in_sight(self) -> None:
        if (now := self.cursor) < len(self._shown):
            above = now - 1 if now and not self._source.key(self._shown[now - 1]) else now  # its heading too
            self.scroll_to_region(Region(0, above, 1, now - above + 1), animate=False, force=True)

    def _go(self, to: int) -> None:
        self.cursor = self._row_near(to, 1 if to >= self.cursor else -1)

    def action_cursor_down(self) -> None:
        """Go one row down."""
        self._go(self.cursor + 1)

    def action_cursor_up(self) -> None:
        """Go one row up."""
        self._go(self.cursor - 1)

    def action_first(self) -> None:
        """Go to the first row."""
        self._go(0)

    def action_last(self) -> None:
        """Go to the last row."""
        self._go(len(self._shown) - 1)

    def action_page_down(self) -> None:
        """Go down by what is in sight."""
        self._go(self.cursor + self.scrollable_content_region.height - 1)

    def action_page_up(self) -> None:
        """Go up by what is in sight."""
        self._go(self.cursor - self.scrollable_content_region.height + 1)

    def action_half_down(self) -> None:
        """Go down by half of what is in sight."""
        self._go(self.cursor + max(1, self.scrollable_content_region.height // 2))

    def action_half_up(self) -> None:
        """Go up by half of what is in sight."""
        self._go(self.cursor - max(1, self.scrollable_content_region.height // 2))

    def action_select(self) -> None:
        """Open the highlighted row."""
        if self.key:
            self.post_message(self.Selected(self, self.key))

    def on_click(self, event: events.Click) -> None:
        """Go to the row under the mouse; a second click opens it."""
        at = event.get_content_offset_capture(self).y + self.scroll_offset.y
        if at < len(self._shown):
            was_here = at == self.cursor
            self._go(at)
            if was_here:
                self.action_select()

    # Marks

    def toggle_mark(self) -> None:
        """Mark the highlighted row, or take its mark away, and go on to the next."""
        if self._can_mark and self.key:
            self.marked ^= {self.key}
            self._select_shown(self.key)
            self._go(self.cursor + 1)

    def toggle_all(self) -> None:
        """Mark every row that is shown, or none when all are marked."""
        if self._can_mark:
            keys = frozenset(key for key in (self._source.key(number) for number in self._shown) if key)
            self.marked = self.marked - keys if keys <= self.marked else self.marked | keys
            self._select_shown(self.key)


def _quiet(text: str) -> Content:
    return rows(*(mark(line, QUIET) for line in text.split("\n")))
