"""Keys that come faster than the app takes them act in the order in which they were pressed (APP-1, APP-3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from textual.events import Key
from textual.keys import key_to_character
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Input, TextArea

from lace_tui.app.lace import LaceApp
from lace_tui.keys.actions import action_named
from lace_tui.keys.taste import Taste
from lace_tui.screens.dialogs import Page, Question
from lace_tui.screens.editor import Editor
from lace_tui.screens.help import Help
from lace_tui.screens.home import Home
from lace_tui.screens.lines import Lines
from lace_tui.screens.peers import Peers
from lace_tui.screens.resolve import Resolve
from lace_tui.screenshots import Story, app_of
from tests.tui.conftest import is_showing, press, settle
from tests.tui.resolving import opened
from tests.tui.test_drafts import told

SIZE = (100, 30)


def _at_once(pilot: Pilot[None], *keys: str) -> None:
    """Press keys faster than the app takes them, as a slow line or a keyboard that repeats brings them."""
    for key in keys:
        pilot.app.post_message(Key(key, key_to_character(key)))


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        (("a", "b", "backspace", "c"), "ac"),
        (("b", "home", "a", "end", "c"), "abc"),
        (("x", "y", "ctrl+u", "z"), "z"),
        (("a", "c", "left", "b"), "abc"),
    ],
)
async def test_keys_in_a_line_act_in_their_order(app: LaceApp, keys: tuple[str, ...], text: str) -> None:
    """Letters went in at once, and each key that moves or deletes came behind all of them."""
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        app.push_screen(Question("A question", "What?"))
        await settle(pilot)
        _at_once(pilot, *keys)
        await settle(pilot)
        assert app.screen.query_one(Input).value == text


async def test_an_answer_is_what_was_typed_before_enter(app: LaceApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        answers: list[str | None] = []
        app.push_screen(Question("A question", "What?"), answers.append)
        await settle(pilot)
        _at_once(pilot, *"soup", "enter", *"er")
        await settle(pilot)
        assert answers == ["soup"]
        assert is_showing(app, Home)


async def test_keys_in_the_editor_act_in_their_order(app: LaceApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        app.push_screen(Editor("A text", ""))
        await settle(pilot)
        _at_once(pilot, "a", "b", "backspace", "c", "left", "x")
        await settle(pilot)
        assert app.screen.query_one(TextArea).text == "axc"


async def test_help_does_what_was_searched_and_not_what_stood_first(app: LaceApp) -> None:
    """Enter came before the words that were typed in front of it, and did the first action of the list: a sync."""
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "question_mark")
        assert is_showing(app, Help)
        _at_once(pilot, *"who", "space", *"has", "enter")
        await settle(pilot)
        assert app.card is None
        assert is_showing(app, Peers)


async def test_a_filter_is_typed_in_its_order(app: LaceApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "5", "slash")
        _at_once(pilot, *"pumx", "backspace", *"pkin")
        await settle(pilot)
        assert "pumpkin" in str(app.screen.query_one("#list", Lines).border_title)


@pytest.mark.parametrize(("place", "selector"), [("1", "#meet"), ("3", "#list")])
async def test_a_filter_that_is_typed_at_once_begins_no_work(app: LaceApp, place: str, selector: str) -> None:
    """Its first letters acted on the place below: `/s` on Home was a sync, `/r` in the queue another."""
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, place)
        _at_once(pilot, "slash", *"srel")
        await settle(pilot)
        assert app.card is None
        assert app.screen.query_one(Input).value == "srel"
        assert "srel" in str(app.screen.query_one(selector).border_title)


@pytest.mark.parametrize("make", [lambda: Question("A question", "What?"), lambda: Page("A page", [])])
async def test_the_keys_that_suspend_and_leave_count_over_a_page(app: LaceApp, make: Callable[[], Screen[Any]]) -> None:
    """APP-3: they did nothing over a question or a page, while the help says that they work everywhere."""
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        page = make()
        app.push_screen(page)
        await press(pilot, "ctrl+z")
        assert "cannot be given back to a shell" in told(app), "not this one"
        assert app.screen is page
        await pilot.press("ctrl+q")
        assert app._exit


async def test_a_key_that_types_leaves_no_question(app: LaceApp) -> None:
    """APP-3: whoever leaves by a letter can type it still."""
    app.live_by(Taste(keys={"quit": "x,f10"}), lambda _: None)
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        app.push_screen(Question("A question", "What?"))
        await press(pilot, "x", "ctrl+q")
        assert app.screen.query_one(Input).value == "x"
        assert not app._exit, "it is no key of theirs any more"
        await pilot.press("f10")
        assert app._exit


@pytest.mark.parametrize("size", [SIZE, (60, 20)])
async def test_the_editor_says_what_its_keys_do(app: LaceApp, size: tuple[int, int]) -> None:
    """APP-1: of the key that undoes there the help said that it gives the terminal back everywhere."""
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        app.push_screen(Editor("A text", "soup"))
        await press(pilot, "x", "ctrl+z")
        assert "ctrl+z&#160;undoes" in app.export_screenshot()
        assert app.screen.query_one(TextArea).text == "soup"
        await press(pilot, "x")
        await app.run_action("screen.take_back")
        assert app.screen.query_one(TextArea).text == "soup", "the mouse presses it too"
    assert "ctrl+z undoes" in action_named("suspend").sentence


async def test_leaving_from_a_text_keeps_what_was_typed(story: Story) -> None:
    """LAZ-39: also what was typed right before the key; and the key that suspends takes typing back there."""
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "r", "e", *"typed ", "x", "ctrl+z", "y")
        assert is_showing(app, Editor)
        assert not told(app)
        typed = app.screen.query_one(TextArea).text
        await pilot.press("ctrl+q")
        assert app._exit
    assert await _kept_text(story) == typed


async def _kept_text(story: Story) -> str:
    """Return what a new app has of the result that was edited."""
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        assert isinstance(app.screen, Resolve)
        return (app.screen.walk.pick.edited or b"").decode()


@pytest.mark.parametrize("is_asked", [True, False])
async def test_all_that_was_typed_is_kept_however_fast_one_leaves(story: Story, is_asked: bool) -> None:
    """LAZ-39: up to a second of it was lost, by the key that leaves and where the app was asked to end."""
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "r", "e")
        if is_asked:
            await pilot.press(*"typed ")
            app.leave(130)
        else:
            _at_once(pilot, *"typed ", "ctrl+q")
        while app.is_running:
            await pilot.pause()
    assert app.return_code == (130 if is_asked else 0)
    assert (await _kept_text(story)).startswith("typed ")
