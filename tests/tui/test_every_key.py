"""Every key that the help names does something where it is named, or says why not (APP-1, APP-4)."""

from __future__ import annotations

import pytest
from textual.widgets import Input

from lace_tui.app.lace import LaceApp
from lace_tui.screens.conflicts import Conflicts
from lace_tui.screens.dialogs import Page, PlanPage, Question
from lace_tui.screens.entry import FilterLine
from lace_tui.screens.files import Files
from lace_tui.screens.help import Help
from lace_tui.screens.history import History
from lace_tui.screens.home import Home
from lace_tui.screens.lines import Lines
from lace_tui.screens.resolve import Resolve
from lace_tui.screenshots import Story
from tests.tui.conftest import is_showing, page_of, press, settle, text_of
from transports.drop.marker import MARKER

SIZE = (100, 30)


def _told(app: LaceApp) -> str:
    return "\n".join(str(note.message) for note in app._notifications)


async def test_the_panels_of_home_are_filtered(app: LaceApp) -> None:
    """`/` stood in the help of Home, and did nothing there."""
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "slash", *"1.1.0")
        meet = app.screen.query_one("#meet")
        assert "cara" not in text_of(app, "#meet")
        assert "bob" in text_of(app, "#meet")
        assert str(meet.border_title) == "Places and peers 1 of 4: 1.1.0"
        await press(pilot, "enter")
        assert app.focused is meet
        assert text_of(app, "#foot").startswith("? help   s sync bob")
        await press(pilot, "f5")
        assert "cara" not in text_of(app, "#meet"), "it holds when the vault is read again"
        await press(pilot, "escape")
        assert "cara" in text_of(app, "#meet")
        assert str(meet.border_title) == "Places and peers"
        await press(pilot, "slash", *"zzz")
        assert "No row has this text" in text_of(app, "#meet")
        await press(pilot, "escape")
        assert not app.screen.query_one(FilterLine).has_class("-open")
        assert app.focused is meet


@pytest.mark.parametrize(("place", "key"), [("1", "space"), ("3", "space"), ("6", "asterisk"), ("1", "asterisk")])
async def test_where_nothing_can_be_marked_that_is_said(app: LaceApp, place: str, key: str) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, place)
        app.clear_notifications()
        await press(pilot, key)
        assert "conflicts and in history" in _told(app)
        await press(pilot, "question_mark", *"mark", "space", *"the", "space", *"row")
        assert is_showing(app, Help)
        assert "conflicts and in history" in text_of(app, "#about")


async def test_what_is_typed_in_brackets_is_no_markup(app: LaceApp) -> None:
    """The frame of a list took a filter for markup, and ended the app where it was none."""
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "5", "slash", "left_square_bracket", "slash", "right_square_bracket")
        assert "[/]" in str(app.screen.query_one("#list").border_title)


async def test_esc_shows_all_rows_again(app: LaceApp) -> None:
    """The help says so; in the list, where enter leads, it did nothing."""
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        for place in ("5", "5 f"):
            await press(pilot, *place.split(), "slash", *"m", "enter")
            lines = app.screen.query_one("#list", Lines)
            assert " of " in str(lines.border_title)
            assert app.focused is lines
            await press(pilot, "escape")
            assert " of " not in str(lines.border_title)
            assert not app.screen.query_one(FilterLine).has_class("-open")
        assert is_showing(app, Files)
        await press(pilot, "escape")
        assert is_showing(app, History)


async def test_a_number_leads_home_from_a_page_of_home_too(app: LaceApp) -> None:
    """In Resolve, opened from Home, `1` stayed where it was; so did `5` in the files that History opened."""
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "tab", "tab", "enter")
        assert is_showing(app, Resolve)
        await press(pilot, "l", "1")
        assert is_showing(app, Home)
        assert "kept as a draft" in _told(app)
        await press(pilot, "5", "f")
        assert is_showing(app, Files)
        await press(pilot, "5")
        assert is_showing(app, History)
        await press(pilot, "2", "enter", "1")
        assert is_showing(app, Home)
        await press(pilot, "2")
        assert is_showing(app, Resolve), "what was begun in another place waits there"
        await press(pilot, "2")
        assert is_showing(app, Conflicts)


async def test_a_page_copies_the_command_that_it_names(app: LaceApp) -> None:
    """It named one, and nothing took it along."""
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "enter")
        assert is_showing(app, Page)
        await press(pilot, "y")
        assert app.clipboard == "lace sync stick"
        await press(pilot, "escape", "d", "exclamation_mark", "y")
        assert app.clipboard == "lace sync stick --dry-run"
        await press(pilot, "escape", "4", "I", "y")
        assert app.clipboard.startswith("V.")


async def test_where_nothing_can_be_copied_that_is_said(app: LaceApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "5", "slash", *"zzzz", "enter")
        await press(pilot, "y")
        assert "Select a row" in _told(app)


async def test_a_place_is_forgotten_after_the_plan(app: LaceApp, story: Story) -> None:
    """APP-1: `place remove` had no key; `U` brings it back."""
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "x", "n")
        assert "stick" in text_of(app, "#meet")
        await press(pilot, "x")
        assert is_showing(app, PlanPage)
        assert "lace place remove stick" in page_of(app)
        await press(pilot, "y")
        assert "stick  drop" not in text_of(app, "#meet")
        assert (story.stick / MARKER).exists(), "what lies there stays"
        assert "U brings it back" in text_of(app, "#card-text")
        await press(pilot, "U", "y")
        assert "stick  drop" in text_of(app, "#meet")
        while app.screen.query_one("#meet").highlighted_id.startswith("place"):  # type: ignore[attr-defined]
            await press(pilot, "j")
        await press(pilot, "x")
        assert "Select a place" in _told(app)


@pytest.mark.parametrize("keys", ["R", "a", "i", "5 t", "5 b", "5 f x", "7 x", "2 enter v"])
async def test_an_empty_answer_says_what_is_missing(app: LaceApp, keys: str) -> None:
    """The question went away, and nothing was done or said."""
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        for key in keys.split():
            if key == "b":
                await press(pilot, "slash", *"pumpkin soup", "enter", "g")
            await press(pilot, key)
        assert is_showing(app, Question)
        app.screen.query_one(Input).value = "  "
        await press(pilot, "enter")
        assert is_showing(app, Question)
        assert "Nothing is typed yet" in text_of(app, "#question")
        await press(pilot, "escape")
        assert not is_showing(app, Question)


async def test_an_empty_answer_is_taken_where_it_means_something(app: LaceApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "5", "f", "d", "enter")
        assert not is_showing(app, Question)


async def test_two_places_at_80_columns_can_be_told_apart(app: LaceApp) -> None:
    """`2 conflicts 1 3 queue 1` read like four numbers; where there is room, the counts stand apart."""
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert " 1 home  2 conflicts! 3 queue^ 4 peers" in text_of(app, "#nav")
        await pilot.resize_terminal(100, 30)
        await settle(pilot)
        assert "2 conflicts 1   3 queue 1   4 peers" in text_of(app, "#nav")
