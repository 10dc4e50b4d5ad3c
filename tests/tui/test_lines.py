"""Lists of any length: what a key costs does not grow with the rows, and a search never stops the keys (APP-3)."""

from __future__ import annotations

import asyncio
import threading

import pytest
from textual.app import App, ComposeResult
from textual.content import Content

from lace_tui.screens.lines import Lines
from lace_tui.screens.panel import Panel

KEYS = ("j", "k", "pagedown", "ctrl+d", "G", "k", "pageup", "ctrl+u", "g", "j")


class Many:
    """Rows that count what is asked of them."""

    def __init__(self, count: int) -> None:
        self._count = count
        self.asked = 0
        self.searched_by: set[int] = set()
        self.go = threading.Event()
        self.go.set()

    def __len__(self) -> int:
        return self._count

    def line(self, number: int) -> Content:
        self.asked += 1
        return Content(f"row {number}")

    def key(self, number: int) -> str:
        self.asked += 1
        return str(number)

    def text(self, number: int) -> str:
        self.searched_by.add(threading.get_ident())
        self.go.wait(30)
        return f"row {number}"


class Holder(App[None]):
    """An app of one list."""

    def compose(self) -> ComposeResult:
        yield Lines("Many", "list", can_mark=True)


async def _cost(count: int) -> list[int]:
    """Return how many rows and keys are asked for by filling, and then by each key."""
    source, app = Many(count), Holder()
    async with app.run_test(size=(80, 24)) as pilot:
        lines = app.query_one(Lines)
        lines.fill(source)
        lines.focus()
        await pilot.pause()
        costs = [source.asked]
        for key in KEYS:
            before = source.asked
            await pilot.press(key)
            await pilot.pause()
            costs.append(source.asked - before)
        assert lines.key == "1"
        return costs


async def test_what_a_key_costs_does_not_grow_with_the_rows() -> None:
    """The same rows are made for a million as for a thousand: a screenful at most, at either end and in between."""
    thousand, million = await _cost(1_000), await _cost(1_000_000)
    assert million == thousand
    assert max(million) < 24 * 8, "each row in sight a few times: its key, its text, the row above"


async def test_the_highlighted_row_stays_in_sight_of_a_smaller_window() -> None:
    """APP-4: the keys went on acting on a row that nobody saw."""
    app = Holder()
    async with app.run_test(size=(80, 24)) as pilot:
        lines = app.query_one(Lines)
        lines.fill(Many(1_000))
        lines.focus()
        await pilot.press("G")
        await pilot.resize_terminal(80, 14)
        await pilot.pause()
        first = lines.scroll_offset.y
        assert first <= lines.cursor < first + lines.scrollable_content_region.height


class Framed(App[None]):
    """An app of one list in a frame."""

    def compose(self) -> ComposeResult:
        yield Panel("Places", "meet")


async def test_the_highlighted_row_of_a_list_in_a_frame_stays_in_sight_too() -> None:
    """APP-4: `s` on Home synced a place that nobody saw."""
    app = Framed()
    async with app.run_test(size=(80, 24)) as pilot:
        panel = app.query_one(Panel)
        panel.fill([(f"place {number}", Content("a place\n  never synced")) for number in range(40)], Content(""))
        panel.focus()
        await pilot.press("G")
        await pilot.resize_terminal(80, 14)
        await pilot.pause()
        assert (panel.highlighted, panel.scroll_offset.y) == (39, panel.max_scroll_y), "the last row, at the end"


async def test_the_mouse_reaches_a_row_of_a_million() -> None:
    app = Holder()
    async with app.run_test(size=(80, 24)) as pilot:
        lines = app.query_one(Lines)
        lines.fill(Many(1_000_000))
        await pilot.click(Lines, offset=(5, 5))
        assert lines.key == "4"


async def test_a_search_of_a_million_rows_is_off_the_screens_thread() -> None:
    """Keys move on while it is searched; a newer search replaces it; what was found comes by itself."""
    source, app = Many(1_000_000), Holder()
    async with app.run_test(size=(80, 24)) as pilot:
        lines = app.query_one(Lines)
        lines.fill(source)
        lines.focus()
        source.go.clear()
        lines.filter("row 99999")
        await pilot.press("j", "j")
        assert lines.key == "2"
        assert "searching: row 99999" in str(lines.border_title)
        lines.filter("row 999999")
        source.go.set()
        while lines.shown > 1:
            await asyncio.sleep(0.01)
        assert lines.key == "999999"
        assert "1 of 1000000: row 999999" in str(lines.border_title)
        assert threading.get_ident() not in source.searched_by
        lines.filter("")
        assert lines.shown == 1_000_000


@pytest.mark.parametrize("count", [10, 5_000])
async def test_a_short_list_is_searched_while_one_types(count: int) -> None:
    source, app = Many(count), Holder()
    async with app.run_test(size=(80, 24)):
        lines = app.query_one(Lines)
        lines.fill(source)
        lines.filter("row 7")
        assert lines.key == "7"


async def test_the_row_one_is_at_stays_in_a_long_list_that_grows() -> None:
    """Behind the first 4,096 rows another row was selected whenever something new came above it."""
    app = Holder()
    rows = [(str(number), Content(f"row {number}")) for number in range(10_000)]
    async with app.run_test(size=(80, 24)) as pilot:
        lines = app.query_one(Lines)
        lines.fill(rows)
        lines.focus()
        await pilot.press("G", "k")
        lines.fill([("new", Content("new")), *rows])
        assert lines.key == "9998"
        lines.filter("row")
        while lines.shown != len(rows):
            await asyncio.sleep(0.01)
        assert lines.key == "9998"
        lines.filter("")
        assert lines.key == "9998"


async def test_a_list_that_shrinks_below_a_search_forgets_what_is_gone() -> None:
    app = Holder()
    async with app.run_test(size=(80, 24)) as pilot:
        lines = app.query_one(Lines)
        lines.fill(Many(20_000))
        lines.filter("9")
        while lines.shown == 20_000:
            await asyncio.sleep(0.01)
        lines.focus()
        await pilot.press("G", "space")
        lines.fill(Many(6_000))
        await pilot.press("j", "k", "G")
        while "searching" in str(lines.border_title):
            await asyncio.sleep(0.01)
        assert lines.marked == frozenset()
        assert int(lines.key) < 6_000


async def test_a_search_that_finds_nothing_says_so() -> None:
    app = Holder()
    async with app.run_test(size=(80, 24)) as pilot:
        lines = app.query_one(Lines)
        lines.filter("")
        assert lines.render_line(0).text.strip() == "Reading ..."
        lines.fill([])
        assert lines.render_line(0).text.strip() == "Nothing here."
        lines.fill([("a", Content("apple"))])
        lines.filter("pear")
        await pilot.pause()
        assert (lines.shown, lines.render_line(0).text.strip()) == (0, "No row has this text. esc shows all rows.")
        lines.filter("app")
        assert "apple" in lines.render_line(0).text
