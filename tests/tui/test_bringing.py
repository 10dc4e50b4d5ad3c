"""One file brought back in the app as `lace checkout DESK@CASE PATH` does it (APP-1, CLAY-24)."""

from __future__ import annotations

from lace_tui.app.lace import LaceApp
from lace_tui.screens.dialogs import PlanPage
from lace_tui.screens.files import Files
from lace_tui.screenshots import Story
from tests.tui.conftest import in_turn, is_showing, page_of, press, settle, text_of


async def test_one_file_comes_back_and_the_others_stay(app: LaceApp, story: Story) -> None:
    """APP-1, CLAY-24: the app brought back the whole folder or nothing, where the command takes a path."""
    menu, guests = (story.folder("alice") / name for name in ("menu.md", "guests.txt"))
    story.write("alice", "guests.txt", "nobody\n")
    now = menu.read_text()
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        await press(pilot, "5", "t", "ctrl+u", *"main@1", "enter")
        assert is_showing(app, Files)
        await press(pilot, "/", *"menu", "enter", "b")
        assert is_showing(app, PlanPage)
        told = page_of(app)
        assert "~ menu.md" in told
        assert "lace checkout self/main@1 menu.md" in told
        assert "guests" not in told
        assert menu.read_text() == now, "nothing is written before y"
        await press(pilot, "y")
        assert "Tomato, 4.00" in menu.read_text() != now
        assert guests.read_text() == "nobody\n"
        await press(pilot, "escape", "escape", "1")
        assert "= menu.md is as in self/main@1" in text_of(app, "#card-text")
        await press(pilot, "5", "t", "ctrl+u", *"main@1", "enter", "/", *"menu", "enter", "b")
        assert is_showing(app, Files), "nothing is left to agree to"
        assert [told.message for told in app._notifications] == ["menu.md is like that already."]
        await press(pilot, "escape", "escape", "1")
        await in_turn(pilot, "U", "y")
        assert menu.read_text() == now


async def test_what_was_edited_is_committed_before_a_file_comes_over_it(app: LaceApp, story: Story) -> None:
    """APP-1, CYB-8: an edit is kept in a revision of its own, and the plan says so."""
    menu = story.folder("alice") / "menu.md"
    story.write("alice", "menu.md", "mine alone\n")
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        await press(pilot, "5", "t", "ctrl+u", *"main@1", "enter", "/", *"menu", "enter", "b")
        told = page_of(app)
        assert "! You edited it: your edit is committed first" in told
        assert "lace checkout self/main@1 menu.md --keep-edits" in told
        await press(pilot, "n")
        assert menu.read_text() == "mine alone\n"
        await in_turn(pilot, "b", "y", "escape", "escape", "1")
        assert "what you edited there is kept as main@" in text_of(app, "#card-text")
        assert "Tomato, 4.00" in menu.read_text()
