"""What an undo kept before it wrote over it is found in the app, read, compared and brought back (APP-1, APP-4)."""

from __future__ import annotations

from lace_tui.app.lace import LaceApp
from lace_tui.screens.dialogs import Page, PlanPage
from lace_tui.screens.files import Files
from lace_tui.screens.history import History
from lace_tui.screens.kept import Kept
from lace_tui.screens.viewer import Viewer
from lace_tui.screenshots import Story
from lazy.address import resolve
from lazy.folder.bringing_back import bring_back
from lazy.folder.undo import undo
from tests.tui.conftest import is_showing, page_of, press, rows_of, settle
from vault.folder.checked_out import checkout_of

SIZE = (100, 30)


def _keep(story: Story, text: str) -> None:
    """Let alice bring a file back, write something else there, and undo that."""
    with story.open("alice") as vault:
        base = checkout_of(vault)
        assert base is not None
        bring_back(vault, resolve(vault, "main@1"), "menu.md")
        (vault.folder / "menu.md").write_text(text)
        assert undo(vault).kept_as


async def test_kept_states_are_listed_read_and_brought_back(app: LaceApp, story: Story) -> None:
    """APP-4: whoever did not write the name down found it nowhere in the app."""
    _keep(story, "the only copy\n")
    _keep(story, "another one\n")
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "5", "K")
        assert is_showing(app, Kept)
        first, second = rows_of(app).splitlines()[:2]
        assert ("main@kept-2" in first, "main@kept-1" in second) == (True, True)
        assert "menu.md" in first
        await press(pilot, "enter")
        assert is_showing(app, Page)
        assert "lace checkout main@kept-2 PATH" in page_of(app)
        await press(pilot, "escape", "d")
        assert is_showing(app, Viewer)
        await press(pilot, "escape", "j", "f")
        assert is_showing(app, Files)
        await press(pilot, "o")
        assert is_showing(app, PlanPage)
        await press(pilot, "y")
        with story.open("alice") as vault:
            assert (vault.folder / "menu.md").read_text() == "the only copy\n"
        await press(pilot, "escape", "escape")
        assert is_showing(app, History)


async def test_the_command_that_is_copied_of_a_kept_state_runs(app: LaceApp, story: Story) -> None:
    """APP-4: `y` copied PATH as a word of its own, which names no file; what runs tells which there are."""
    _keep(story, "the only copy\n")
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "5", "K", "y")
        assert app.clipboard == "lace diff main main@kept-1"
        await press(pilot, "enter", "y")
        assert app.clipboard == "lace diff main main@kept-1"


async def test_a_state_that_is_kept_meanwhile_comes_into_the_list(app: LaceApp, story: Story) -> None:
    """APP-4: another command keeps one while the list is in front."""
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "5", "K")
        assert "kept-1" not in rows_of(app)
        _keep(story, "the only copy\n")
        await press(pilot, "f5")
        assert "main@kept-1" in rows_of(app)


async def test_where_nothing_is_kept_it_says_so(app: LaceApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "5", "K")
        screen = app.screen
        assert isinstance(screen, Kept)
        assert "Nothing is kept" in screen.lines.render_line(0).text
        await press(pilot, "f", "d")
        assert [note.message for note in app._notifications] == ["Nothing is kept."] * 2
        await press(pilot, "escape")
        assert is_showing(app, History)
