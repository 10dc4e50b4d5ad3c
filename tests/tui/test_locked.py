"""A key that a passphrase protects is opened in the app, for one sitting (APP-11), and conflicts are set aside."""

from __future__ import annotations

import threading

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from lace_tui.app.lace import LaceApp
from lace_tui.screens.conflicts import Conflicts
from lace_tui.screens.dialogs import Leaving, Question
from lace_tui.screens.home import Home
from lace_tui.screens.lines import Lines
from lace_tui.screens.resolve import Resolve
from lace_tui.screenshots import Story, app_of, begin_visit
from tests.tui.conftest import is_showing, press, settle, text_of
from vault.desk_folders import MAIN
from vault.identity import keys
from vault.identity.keys import KeyStore
from vault.names import Version
from vault.releasing import release
from vault.revisions.history import releases

SIZE = (100, 30)
SECRET = " open sesame"  # a passphrase may begin with a space


@pytest.fixture
def locked(story: Story) -> LaceApp:
    """The app of alice, whose key is protected now."""
    with story.open("alice") as vault:
        node, key, root = vault.node, vault.key(), vault.around.data_root
    KeyStore(root).path(node).unlink()
    KeyStore(root, ops=1, memory=1 << 13).create(key.seed, SECRET.encode())
    (story.folder("alice") / "new.txt").write_text("new")
    return app_of(story, "alice")


async def _ask_for_a_release(pilot: Pilot[None]) -> None:
    await settle(pilot)
    await press(pilot, "R")
    assert isinstance(pilot.app.screen, Question)
    await press(pilot, "enter")


async def _type(pilot: Pilot[None], text: str) -> None:
    question = pilot.app.screen.query_one(Input)
    assert question.password, "nobody reads it over a shoulder"
    question.value = text
    await press(pilot, "enter")


def _mine(story: Story) -> int:
    with story.open("alice") as vault:
        return len(releases(vault.store, MAIN, node=vault.node.text))


async def test_a_passphrase_is_asked_once_and_the_work_goes_on(locked: LaceApp, story: Story) -> None:
    """A wrong one is asked again; the right one does what was asked for, and what comes later."""
    before = _mine(story)
    async with locked.run_test(size=SIZE) as pilot:
        await _ask_for_a_release(pilot)
        assert is_showing(locked, Question)
        assert locked.job is not None, "the work waits"
        await _type(pilot, "close sesame")
        assert is_showing(locked, Question)
        assert "does not open" in str(locked.screen.query_one("#page Static").render())
        assert _mine(story) == before
        await _type(pilot, SECRET)
        assert is_showing(locked, Home)
        assert locked.card is not None
        assert locked.card.title == "Release: done"
        assert _mine(story) == before + 1
        (story.folder("alice") / "newer.txt").write_text("newer")
        await _ask_for_a_release(pilot)
        assert is_showing(locked, Home), "the passphrase is known for this sitting"
        assert _mine(story) == before + 2


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Set once a passphrase may be tried: a real one takes a second of work."""
    may, opened = threading.Event(), keys._open_box
    monkeypatch.setattr(keys, "_open_box", lambda *box: opened(*box) if may.wait(60) else None)
    return may


async def test_what_is_typed_while_a_passphrase_is_tried_stays_in_its_question(
    locked: LaceApp, tried: threading.Event
) -> None:
    """APP-3, APP-11: the keys of a second try went to the place below, where each of them does something."""
    async with locked.run_test(size=SIZE) as pilot:
        await _ask_for_a_release(pilot)
        locked.screen.query_one(Input).value = "close sesame"
        await pilot.press("enter", "s", "q")
        assert is_showing(locked, Question)
        tried.set()
        await settle(pilot)
        assert is_showing(locked, Question)
        assert "does not open" in text_of(locked, "#question")
        assert locked.screen.query_one(Input).value == "sq"
        await _type(pilot, SECRET)
        assert locked.card is not None
        assert locked.card.title == "Release: done"


async def test_a_passphrase_that_is_tried_can_be_left(locked: LaceApp, story: Story, tried: threading.Event) -> None:
    """APP-3: what came of it counts no more."""
    before = _mine(story)
    async with locked.run_test(size=SIZE) as pilot:
        await _ask_for_a_release(pilot)
        locked.screen.query_one(Input).value = SECRET
        await pilot.press("enter", "escape")
        tried.set()
        await settle(pilot)
        assert is_showing(locked, Home)
        assert locked.job is None
        assert "(key-locked)" in text_of(locked, "#card-text"), "the work was not begun"
    assert _mine(story) == before


async def test_a_key_opens_under_a_page(locked: LaceApp, story: Story, tried: threading.Event) -> None:
    """APP-3: who looks whether to leave meanwhile goes on where the key is open."""
    before = _mine(story)
    async with locked.run_test(size=SIZE) as pilot:
        await _ask_for_a_release(pilot)
        locked.screen.query_one(Input).value = SECRET
        await pilot.press("enter", "ctrl+q")
        await pilot.pause()
        assert is_showing(locked, Leaving)
        tried.set()
        await settle(pilot)
        await press(pilot, "n")
        assert is_showing(locked, Home)
    assert _mine(story) == before + 1


async def test_a_passphrase_is_not_asked_for_over_another_question(locked: LaceApp, story: Story) -> None:
    """It waits until that one is answered, so nothing that is typed there is taken for it."""
    before = _mine(story)
    async with locked.run_test(size=SIZE) as pilot:
        await settle(pilot)
        other = Question("Another", "What?")
        locked.push_screen(other)
        await settle(pilot)
        assert locked.begin("Release", lambda vault, _: release(vault, Version.parse("9.0.0")), lambda _: None)
        await settle(pilot)
        assert locked.screen is other
        await press(pilot, "escape")
        assert is_showing(locked, Question), "and is asked for then"
        await _type(pilot, SECRET)
        assert _mine(story) == before + 1


async def test_without_the_passphrase_nothing_happens_and_the_way_out_is_told(locked: LaceApp, story: Story) -> None:
    before = _mine(story)
    async with locked.run_test(size=SIZE) as pilot:
        await _ask_for_a_release(pilot)
        await press(pilot, "escape")
        assert is_showing(locked, Home)
        assert locked.job is None
        told = text_of(locked, "#card-text")
        assert "(key-locked)" in told
        assert "Do it again, and type the passphrase of your key." in told, (
            "no command and no file is asked for one here"
        )
        assert _mine(story) == before


async def test_a_conflict_set_aside_comes_last_and_stays_open(story: Story) -> None:
    begin_visit(story)
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "s")
        await press(pilot, "2")
        lines = app.screen.query_one(Lines)
        first = lines.key
        await press(pilot, "z")
        second = lines.key
        assert second != first
        assert "! aside " in lines.rendered(1)
        assert "! 2 conflicts" in text_of(app, "#head"), "it is open, so it counts"
        await press(pilot, "enter")
        assert isinstance(app.screen, Resolve)
        assert app.screen.conflict_id == second
        await press(pilot, "right_square_bracket")
        assert app.screen.conflict_id == first
        await press(pilot, "escape")
        assert is_showing(app, Conflicts)
        await press(pilot, "G", "z")
        assert app.aside == set()
