"""Questions: what is typed is the answer's, is never lost, and is seen on every screen (APP-1, APP-3, APP-5)."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from textual.events import Key
from textual.pilot import Pilot
from textual.widgets import Input

from lace_tui.app.lace import LaceApp
from lace_tui.model import deeds
from lace_tui.screens.dialogs import Question
from lace_tui.screens.home import Home
from lace_tui.screens.lines import Lines
from lace_tui.screenshots import Story
from lazy.places.registry import NameTaken
from tests.tui.conftest import is_showing, press, settle, text_of
from vault.names import Version
from vault.revisions.versions import highest_version

SIZE = (110, 34)


async def _type(pilot: Pilot[None], text: str) -> None:
    await settle(pilot)
    pilot.app.screen.query_one(Input).value = text
    await pilot.press("enter")
    await settle(pilot)


def _line(app: LaceApp) -> str:
    return app.screen.query_one(Input).value


def _slowly(monkeypatch: pytest.MonkeyPatch, name: str) -> threading.Event:
    go, real = threading.Event(), getattr(deeds, name)

    def slowly(*asked: Any) -> Any:
        assert go.wait(30)
        return real(*asked)

    monkeypatch.setattr(deeds, name, slowly)
    return go


async def test_what_is_typed_while_a_question_is_read_is_its_answer(
    app: LaceApp, story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`R`, then a version at once: no key of it acts on Home, and none is lost."""
    story.write("alice", "songs.md", "one\n")
    go = _slowly(monkeypatch, "next_release")
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await pilot.press("R", *"2.3.4", "enter")
        assert is_showing(app, Question)
        go.set()
        await settle(pilot)
        assert _line(app) == "2.3.4"
        assert "becomes this version" in text_of(app, "#question")
        await pilot.press("enter")
        await settle(pilot)
        assert app.card is not None
        assert "2.3.4" in app.card.lines[0].plain


async def test_what_is_new_is_typed_behind_the_proposed_version(app: LaceApp, story: Story) -> None:
    """APP-1: the question says that it may stand there, and the first key of it took the version away."""
    story.write("alice", "songs.md", "one\n")
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await pilot.press("R")
        await settle(pilot)
        proposed = _line(app)
        await pilot.press(*" autumn menu")
        assert _line(app) == f"{proposed} autumn menu"
        await pilot.press("enter")
        await settle(pilot)
        assert f"{proposed} is released" in text_of(app, "#card-text")
        assert app._activity == [f"lace release {proposed} -m 'autumn menu'"]


async def test_a_release_says_what_goes_and_proposes_none_where_nothing_changed(app: LaceApp, story: Story) -> None:
    """LAZ-45: `R` and `enter` made an empty release for everybody, which `lace release` refuses."""
    for name in ("songs.md", "rounds.md"):
        story.write("alice", name, "one\n")
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "R")
        assert "(2 added" in " ".join(text_of(app, "#question").split())
        proposed = Version.parse(_line(app))
        await press(pilot, "enter", "R")
        told = " ".join(text_of(app, "#question").split())
        assert "Nothing changed in main since your last release." in told
        assert _line(app) == ""
        await press(pilot, "enter")
        assert is_showing(app, Question)
        with story.open("alice") as alice:
            assert highest_version(alice.store, "main") == proposed
        again = str(proposed._replace(patch=proposed.patch + 1))
        await press(pilot, *again, "enter")
        assert f"{again} is released" in text_of(app, "#card-text")


async def test_a_release_without_what_friends_released_says_so_before(app: LaceApp, story: Story) -> None:
    """APP-1: the command says it before it asks; the app said it once friends could not be spared it any more."""
    story.write("alice", "songs.md", "one\n")
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "s", "R")  # the sync brings what bob released, which clashes with alice's
        told = text_of(app, "#question").split("\n")
        assert "! A conflict of main stays open, and this release decides it for nobody: lace conflicts" in told
        assert "What is new may stand behind the version" in told[-1]


async def test_a_question_that_was_left_while_it_was_read_stays_left(
    app: LaceApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    go = _slowly(monkeypatch, "next_release")
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await pilot.press("R", "escape")
        go.set()
        await settle(pilot)
        assert is_showing(app, Home)
        assert not app._notifications


async def test_a_question_that_cannot_be_read_goes_and_says_why(app: LaceApp, story: Story) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        folder = story.folder("alice")
        folder.rename(folder.with_name("renamed"))
        await pilot.press("R")
        await settle(pilot)
        folder.with_name("renamed").rename(folder)
        assert is_showing(app, Home)
        assert any("any more" in str(note.message) for note in app._notifications)


@pytest.mark.parametrize(
    ("keys", "row", "answers", "why"),
    [
        ("a", "", ("attic", "/nowhere/at/all"), "(place-unreachable)"),
        ("R", "", ("1.1.0",), "(version-taken)"),
        ("8 enter", "setting sync-strategy", ("on-releas",), "on-release"),
        ("8 enter", "key go-audit", ("q",), "would be both"),
        ("7 x", "", ("/proc/nothing",), "(not-writable)"),
        ("5 b", "", ("1st",), "(bad-name)"),
    ],
)
async def test_what_the_work_refuses_stands_in_its_question_again(
    app: LaceApp, keys: str, row: str, answers: tuple[str, ...], why: str
) -> None:
    """APP-5: with the reason below it, and nothing in front of it; esc leaves things as they are."""
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        for key in keys.split():
            if key == "enter":
                lines = app.screen.query_one("#list", Lines)
                while lines.key != row:
                    await pilot.press("j")
            elif key == "b":
                await pilot.press("slash", *"pumpkin soup", "enter", "g")
            await pilot.press(key)
            await settle(pilot)
        for answer in answers:
            await _type(pilot, answer)
        assert is_showing(app, Question)
        assert _line(app) == answers[-1]
        assert why in text_of(app, "#question")
        assert not app._notifications
        await pilot.press("end", "x")
        assert _line(app) == answers[-1] + "x", "it is mended, not typed anew"
        await pilot.press("escape")
        await settle(pilot)
        assert not is_showing(app, Question)


async def test_a_taken_name_of_a_place_is_told_before_it_is_asked_where(app: LaceApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await pilot.press("a")
        for name in ("stick", "bob", "alice"):
            await _type(pilot, name)
            assert _line(app) == name
            assert "called" in text_of(app, "#question").partition("?")[2]
        await _type(pilot, "attic")
        assert "Where is it?" in text_of(app, "#question")


async def test_a_question_is_whole_in_a_window_of_40_by_12(app: LaceApp) -> None:
    """The line, the frame and the end of a long reason are in sight; the words above it can be moved."""
    async with app.run_test(size=(40, 12)) as pilot:
        await settle(pilot)
        app.push_screen(Question("A question", "word " * 60, "old", refused="Not so."))
        await settle(pilot)
        page, line = app.screen.query_one("#page"), app.screen.query_one(Input)
        assert app.screen.region.contains_region(page.region)
        assert page.region.contains_region(line.region)
        words, question = app.screen.query_one("#words"), app.screen.query_one("#question")
        assert words.region.bottom <= line.region.y
        assert question.region.bottom == words.region.bottom
        await pilot.press("pageup")
        assert question.region.bottom > words.region.bottom


async def test_a_failure_is_told_once(app: LaceApp) -> None:
    """Two notices of one failure hid half of the place."""
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await pilot.press("6")
        await settle(pilot)

        def fails(*_: Any) -> None:
            raise NameTaken("It went wrong.")

        assert app.begin("Work", fails, lambda _: None)
        await settle(pilot)
        assert [note.title for note in app._notifications] == ["Work: ended early"]
        await pilot.press("escape", "V")
        await settle(pilot)
        assert [note.title for note in app._notifications] == ["Audit: verified"]


async def _at_once(pilot: Pilot[None], *keys: str) -> None:
    """Press keys faster than the app takes them, as a keyboard that repeats does."""
    for key in keys:
        pilot.app.post_message(Key(key, None))
    await settle(pilot)


@pytest.mark.parametrize(
    ("before", "key"),
    [
        ("i x", "enter"),
        ("i x", "escape"),
        ("exclamation_mark", "escape"),
        ("question_mark", "escape"),
        ("5 f", "escape"),
        ("5 d", "escape"),
    ],
)
async def test_a_key_that_comes_twice_at_once_leaves_once(app: LaceApp, before: str, key: str) -> None:
    """The second one took away what lay below, or ended the app where nothing did."""
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        for one in before.split():
            await pilot.press(one)
            await settle(pilot)
        front = app.screen
        assert not is_showing(app, Home)
        await _at_once(pilot, key, key, key)
        assert app.screen is not front
        assert app.is_running
        assert app.return_code in {None, 0}
