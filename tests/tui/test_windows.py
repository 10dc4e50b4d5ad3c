"""Windows of any size, and terminals without colour (APP-1, APP-3, APP-5)."""

from __future__ import annotations

import re

import pytest
from textual.content import Content

from lace_tui.app.lace import LaceApp
from lace_tui.keys.actions import PLACES
from lace_tui.screens.cards import Card
from lace_tui.screens.conflicts import Conflicts
from lace_tui.screens.home import Home
from lace_tui.screens.resolve import Resolve
from lace_tui.screenshots import Story, app_of
from lazy.sync import sync
from tests.tui.conftest import is_showing, press, settle, text_of

SIZE = (100, 30)


async def test_a_small_terminal_is_enough(app: LaceApp) -> None:
    """60x20 shows everything in one column; the count of conflicts and `?` never fall off."""
    async with app.run_test(size=(60, 20)) as pilot:
        await settle(pilot)
        assert "! 1 conflict" in text_of(app, "#head")
        assert text_of(app, "#foot").startswith("? help   s sync stick")
        meet, needs = app.screen.query_one("#meet"), app.screen.query_one("#needs")
        assert meet.region.x == needs.region.x, "panels are stacked"
        await pilot.press("tab", "tab")
        await pilot.pause()
        assert app.screen.focused is needs
        assert app.screen.region.contains_region(needs.region), "the focused panel is in sight"
        await pilot.resize_terminal(120, 30)
        await pilot.pause()
        assert needs.region.x > meet.region.right - 1, "panels stand side by side"
        await pilot.resize_terminal(50, 20)
        await pilot.pause()
        await pilot.resize_terminal(60, 20)
        await pilot.pause()
        await pilot.pause()
        assert app.screen.focused is needs, "the keys come back to their panel"
        await pilot.press("s")
        await settle(pilot)
        card = app.screen.query_one("#card")
        assert app.screen.region.contains_region(card.region), "work that begins is in sight"
        for key in ("S", "a"):  # a plan, and a question
            app.notify("It went wrong, and that takes half of the screen.", severity="error", timeout=30)
            await pilot.press(key)
            await settle(pilot)
            assert not is_showing(app, Home)
            assert not app._notifications, "what asks for an answer can be read"
            await pilot.press("escape")


@pytest.mark.parametrize("size", [(59, 20), (60, 19)])
async def test_a_smaller_one_is_told_so(app: LaceApp, size: tuple[int, int]) -> None:
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        assert app.screen.query_one("#small").display
        assert not app.screen.query_one("#body").display
        assert "lace status" in text_of(app, "#small")


async def test_a_window_of_40_by_12_shows_how_things_stand_and_what_to_press(app: LaceApp, story: Story) -> None:
    """APP-4: it showed nothing but that it is too small, and every key worked unseen."""
    async with app.run_test(size=(40, 12)) as pilot:
        await settle(pilot)
        small = text_of(app, "#small").splitlines()
        assert small[:2] == ["supper   ! 1 conflict", "^ 1 waiting   v 2 new"]
        assert "! main 1.1.0: bob <> you" in small
        assert "s sync stick   u update   R release   S sync all   ? help   q quit" in small
        await pilot.press("s")
        await settle(pilot)
        assert "sent " in text_of(app, "#small"), "what came of it is told"
        await pilot.press("2")
        await settle(pilot)
        assert "1 go to home   ? help   q quit" in text_of(app, "#small")
        assert "! 1 conflict" in text_of(app, "#small")
        await pilot.resize_terminal(60, 20)
        await pilot.pause()
        assert app.screen.query_one("#list").region.height >= 10


async def test_nothing_is_decided_unseen_in_a_window_that_shows_no_sides(app: LaceApp) -> None:
    """LAZ-39: `l`, `L` and `0` chose for a region that no row showed; `esc` was not named, and `1` did nothing."""
    async with app.run_test(size=(59, 20)) as pilot:
        await settle(pilot)
        await pilot.press("2")
        await settle(pilot)
        listed = app.screen
        assert isinstance(listed, Conflicts)
        listed.action_resolve()
        await settle(pilot)
        resolve = app.screen
        assert isinstance(resolve, Resolve)
        await pilot.press("l", "L", "o", "e", "w")
        await settle(pilot)
        before = resolve.walk.pick
        assert before.is_empty
        small = text_of(app, "#small")
        assert "esc later" in small
        assert "! undecided: 1" in small
        await pilot.resize_terminal(60, 20)
        await settle(pilot)
        await pilot.press("l")
        await settle(pilot)
        assert resolve.walk.pick != before, "where they are in sight it does"
        await pilot.resize_terminal(40, 12)
        await settle(pilot)
        await pilot.press("escape")
        await settle(pilot)
        assert is_showing(app, Conflicts)


async def test_a_sentence_of_the_help_can_be_read_whole_on_a_narrow_screen(app: LaceApp) -> None:
    """The rows cut most of them off, and nothing showed the rest."""
    async with app.run_test(size=(60, 20)) as pilot:
        await settle(pilot)
        await pilot.press("question_mark", *"take", "space", *"back")
        await settle(pilot)
        sentence = "Take back your last commit, update or change of places; shows the plan first."
        assert sentence in text_of(app, "#about")
        about = app.screen.query_one("#about")
        assert about.region.height == 3
        shown = "".join(strip.text for strip in about.render_lines(about.region.reset_offset))
        assert "plan first." in shown
        assert "lace undo" in shown


@pytest.mark.parametrize("is_plain", [True, False])
async def test_no_color_means_no_colour(story: Story, monkeypatch: pytest.MonkeyPatch, is_plain: bool) -> None:
    """NO_COLOR: every colour is a grey, and signs and words still say it all."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    if is_plain:
        monkeypatch.setenv("NO_COLOR", "1")
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        used = set(re.findall(r"(?:fill: |fill=\")#([0-9a-f]{6})", app.export_screenshot()))
        used -= {"ff5f57", "febc2e", "28c840", "292929", "c5c8c6"}  # the window's frame
        greys = {colour for colour in used if colour[:2] == colour[2:4] == colour[4:]}
        assert (used == greys) is is_plain
        assert "! 1 conflict" in text_of(app, "#head")
        assert "* here now" in text_of(app, "#meet")


@pytest.mark.parametrize("is_away", [False, True])
async def test_a_list_takes_the_keys_again_after_a_window_that_was_too_small(app: LaceApp, *, is_away: bool) -> None:
    """APP-4: in every place but Home no row could be chosen any more before a tab, nor was one shown as chosen."""
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        for place in "2345678":
            await pilot.press(place)
            await settle(pilot)
            await pilot.resize_terminal(40, 12)
            await settle(pilot)
            if is_away:
                await pilot.press("1")
                await settle(pilot)
            await pilot.resize_terminal(*SIZE)
            await settle(pilot)
            if is_away:
                await pilot.press(place)
                await settle(pilot)
            assert app.focused is not None, place
            assert app.focused.id == "list", place


async def test_each_key_below_a_long_text_has_a_word(app: LaceApp) -> None:
    """APP-4: `left` and `right` stood there without a word, before the key that fell off a narrow frame."""
    async with app.run_test(size=(60, 20)) as pilot:
        await settle(pilot)
        await press(pilot, "5", "d")
        told = str(app.screen.query_one("#page").border_subtitle)
        assert Content.from_markup(told).plain == "esc back   / find   left, right move"


async def test_keys_bring_the_row_that_they_act_on_back_into_sight(app: LaceApp) -> None:
    """APP-4: in one column the card lay over the list after a sync, and `j` and `s` acted on rows that nobody saw."""
    async with app.run_test(size=(60, 20)) as pilot:
        await settle(pilot)
        home, meet = app.screen, app.screen.query_one("#meet")
        await press(pilot, "s")
        lines = tuple(Content(f"line {number}") for number in range(30))
        app.card = Card("A long one", lines, ended="2031-01-01T00:00:00Z")
        app.refresh_places()
        await settle(pilot)
        scroll, card = home.query_one("#scroll"), home.query_one("#card")
        assert scroll.region.contains_region(card.region), "what came of one's own work is in sight"
        assert not scroll.region.contains_region(meet.region)
        await press(pilot, "j")
        assert scroll.region.contains_region(meet.region)
        await press(pilot, "tab", "tab", "tab", "G")
        assert app.focused is card
        assert scroll.region.contains_region(card.region)
        assert card.scroll_offset.y == card.max_scroll_y > 0, "the end of a long card can be read"
        await press(pilot, "g", "j", "j", "k", "ctrl+d", "ctrl+u")
        assert card.scroll_offset.y == 1


async def test_a_sync_in_another_terminal_moves_no_row_out_of_sight(app: LaceApp, story: Story) -> None:
    """APP-4: each turn of a `sync --follow` moved the list of places away from whoever was about to press `s`."""
    async with app.run_test(size=(60, 24)) as pilot:
        await settle(pilot)
        scroll, meet = app.screen.query_one("#scroll"), app.screen.query_one("#meet")
        assert app.screen.query_one("#card").region.overlaps(scroll.region), "its first line is in sight"
        before = scroll.scroll_offset
        with story.open("alice") as vault:
            sync(vault, ["stick"])
        await press(pilot, "f5")
        assert "just now" in str(app.screen.query_one("#card").border_title)
        assert scroll.scroll_offset == before
        assert scroll.region.contains_region(meet.region)


async def test_no_place_goes_from_the_line_of_places_without_a_sign(app: LaceApp) -> None:
    """APP-4: at 60 columns the last three were not there, and who did not look into the help never knew of them."""
    async with app.run_test(size=(60, 20)) as pilot:
        await settle(pilot)
        for key in "12345678":
            await press(pilot, key)
            shown = text_of(app, "#nav")
            assert len(shown) <= 58
            assert [word for word in shown.split() if word.isdigit()] == list("1213145678"), (key, shown)
            assert f" {key} {PLACES[int(key) - 1]}" in f" {shown}", "where one is"
            assert "2 conflicts 1" in shown
