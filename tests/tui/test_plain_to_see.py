"""Where one is, what is next, and why a key did nothing is said, and whole at each size (APP-4, APP-5)."""

from __future__ import annotations

import pytest
from textual.content import Content
from textual.pilot import Pilot

from lace_tui.app.lace import LaceApp
from lace_tui.screens.entry import FilterLine
from lace_tui.screens.kept import Kept
from lace_tui.screens.lines import Lines
from lace_tui.screens.place import Fitted
from lace_tui.screens.viewer import Viewer
from lace_tui.screenshots import Story
from tests.tui.conftest import is_showing, page_of, press, settle, text_of
from tests.tui.test_kept_states import _keep

SIZES = [(60, 20), (80, 24), (120, 40)]


def _line(app: LaceApp, number: int) -> str:
    return app.screen.query_one("#list", Lines).render_line(number).text.strip()


def _told(app: LaceApp) -> list[str]:
    return [str(note.message) for note in app._notifications]


@pytest.mark.parametrize("keys", ["5 K", "5 f", "5 w", "6 r", "2 enter"])
async def test_what_a_place_opened_says_which_place_it_is_in(app: LaceApp, keys: str) -> None:
    """APP-4: none of the eight was marked there."""
    place = {"5": " 5 history ", "6": " 6 audit ", "2": " 2 conflicts "}[keys[0]].rstrip()
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        await press(pilot, *keys.split())
        nav = app.screen.query_one("#nav", Fitted).render()
        styled = [nav.plain[span.start : span.end] for span in nav.spans if "reverse" in str(span.style)]
        assert [part.startswith(place) for part in styled] == [True]


@pytest.mark.parametrize("size", SIZES)
async def test_where_nothing_is_kept_all_of_it_is_said(app: LaceApp, size: tuple[int, int]) -> None:
    """It was cut at 60 and at 80 columns, and did not say what would be there."""
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await press(pilot, "5", "K")
        assert [_line(app, number) for number in range(3)] == [
            "= Nothing is kept.",
            "What an undo or a checkout writes over, and nothing",
            "else here has, is named here for a while.",
        ]


@pytest.mark.parametrize("size", SIZES)
async def test_a_kept_state_says_how_it_is_brought_back(app: LaceApp, story: Story, size: tuple[int, int]) -> None:
    """It named a command alone, though two keys do it."""
    _keep(story, "the only copy\n")
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await press(pilot, "5", "K")
        assert is_showing(app, Kept)
        told = text_of(app, "#detail")
        assert "f shows its files; there b brings one back, o all." in told
        assert max(map(len, told.splitlines())) <= size[0] - 4, "no line of it is cut"
        assert [_line(app, number) for number in (1, 2)] == ["", ""], "what an empty list says is not below its rows"


@pytest.mark.parametrize("place", ["1", "5", "5 f"])
async def test_while_a_filter_is_typed_the_footer_names_what_ends_it(app: LaceApp, place: str) -> None:
    """APP-4: it named the keys of the place, which are letters there."""
    async with app.run_test(size=(60, 20)) as pilot:
        await settle(pilot)
        await press(pilot, *place.split())
        before = text_of(app, "#foot")
        await press(pilot, "slash", *"zzz")
        assert text_of(app, "#foot") == "enter keeps it   esc shows all rows"
        await press(pilot, "enter")
        assert text_of(app, "#foot").startswith("? help")
        await press(pilot, "escape")
        assert text_of(app, "#foot") == before


async def test_where_a_filter_leaves_no_row_it_says_what_shows_all(app: LaceApp) -> None:
    async with app.run_test(size=(60, 20)) as pilot:
        await settle(pilot)
        await press(pilot, "5", "slash", *"zzz", "enter")
        assert _line(app, 0) == "No row has this text. esc shows all rows."


@pytest.mark.parametrize("keys", ["5 f", "5 m", "5 o", "5 d", "5 f/ b"])
async def test_a_key_that_needs_a_row_says_so_where_there_is_none(app: LaceApp, keys: str) -> None:
    """APP-4: where a filter left none, each of them did nothing, and said nothing."""
    first, key = keys.replace("/", "").rsplit(" ", 1)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await press(pilot, *first.split(), "slash", *"zzz", "enter")
        app.clear_notifications()
        await press(pilot, key)
        assert _told(app) == ["No row is selected: esc shows all rows."]


async def test_a_text_names_both_keys_that_move_it(app: LaceApp) -> None:
    """`left   right: move` read as if left did something else."""
    async with app.run_test(size=(60, 20)) as pilot:
        await settle(pilot)
        await press(pilot, "5", "d")
        assert is_showing(app, Viewer)
        subtitle = Content.from_markup(str(app.screen.query_one("#page").border_subtitle))
        assert subtitle.plain.endswith("left, right move")


async def _row_says(pilot: Pilot[None], said: str) -> None:
    await press(pilot, "enter")
    assert said in " ".join(page_of(pilot.app).split())  # type: ignore[arg-type]


async def test_what_the_command_line_does_better_is_named_where_one_needs_it(app: LaceApp) -> None:
    """APP-1: to merge by a strategy, to encrypt a place that is there, to write one file: the exact command."""
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        await _row_says(pilot, "lace place set stick --encrypt")
        await press(pilot, "escape", "5", "slash")
        app.screen.query_one(FilterLine).value = "bob released main 1.1.0"
        await press(pilot, "enter")
        await _row_says(pilot, "lace merge main --from bob/main@1.1.0 --strategy S")
        await press(pilot, "escape", "f", "x")
        assert "lace archive" in text_of(app, "#question")
