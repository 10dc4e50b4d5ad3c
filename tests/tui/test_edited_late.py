"""What is typed for one file never becomes the result of another one, whatever is read meanwhile (LAZ-39, LAZ-42)."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import pytest
from textual.widgets import TextArea

from lace_tui.screens.dialogs import Page
from lace_tui.screens.editor import Editor
from lace_tui.screens.resolve import Resolve
from lace_tui.screenshots import Story, app_of
from lazy.conflicts import conflicts
from lazy.resolving.resolve import resolve_prefer
from tests.tui.conftest import is_showing, page_of, press, settle, text_of
from tests.tui.resolving import opened
from tests.tui.test_drafts import clash_in_two, clashing, picks_of, told

SIZE = (110, 34)


async def test_a_text_does_not_land_in_another_file(story: Story) -> None:
    """LAZ-39: the friend's next release made the edited file equal, and the text became the result of the next one."""
    clash_in_two(story)
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        resolve = app.screen
        assert isinstance(resolve, Resolve)
        assert resolve.walk.file is not None
        assert resolve.walk.file.path == "list.md"
        await press(pilot, "e", *"typed ")
        clashing(story, "5.2.0", {"list.md": "mine\n"})
        app.read_all()
        await settle(pilot)
        await press(pilot, "escape")
        assert is_showing(app, Page)
        assert "list.md needs no decision any more" in page_of(app)
        assert "typed " in page_of(app)
        await press(pilot, "y")
        assert app.clipboard.startswith("typed ")
        await press(pilot, "escape")
        assert app.screen is resolve
        assert picks_of(app) == {}


async def test_a_text_does_not_hide_what_a_friend_added_meanwhile(story: Story) -> None:
    """LAZ-42: it was taken for the decision on what the friend released since, whose line was left out unseen."""
    clash_in_two(story)
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "e", *"typed ")
        clashing(story, "5.2.0", {"list.md": "bob\nmore\n"})
        app.read_all()
        await settle(pilot)
        await press(pilot, "escape")
        assert "list.md has other sides now" in page_of(app)
        await press(pilot, "escape")
        assert picks_of(app) == {}
        assert "undecided" in text_of(app, "#what")


@pytest.mark.parametrize("is_read", [True, False])
async def test_a_text_is_shown_where_its_conflict_was_decided_meanwhile(story: Story, is_read: bool) -> None:
    """LAZ-39: it was gone, in a draft that no command names."""
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "r", "e")
        app.screen.query_one(TextArea).insert("\ttyped\n", (0, 0))
        with story.open("alice") as vault:
            (conflict,) = conflicts(vault)
            resolve_prefer(vault, conflict.id, "local")
        app.read_all()
        if is_read:
            await settle(pilot)
        await press(pilot, "escape")
        assert "menu.md needs no decision any more" in page_of(app)
        await press(pilot, "y")
        assert app.clipboard.startswith("\ttyped\n")
        await press(pilot, "escape")
        assert not is_showing(app, Editor)
        assert not is_showing(app, Resolve)


async def test_a_text_from_outside_is_shown_where_its_file_changed_meanwhile(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LAZ-42: all that was told is that a file changed; the text lay where nothing led to it."""
    clash_in_two(story)
    app = app_of(story, "alice")

    def edit(path: Path) -> None:
        clashing(story, "5.2.0", {"list.md": "bob\nmore\n"})
        path.write_text("typed outside\n")

    app._edit = edit
    monkeypatch.setattr(app, "suspend", nullcontext)
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "E")
        app.read_all()
        await settle(pilot)
        assert "list.md has other sides now" in page_of(app)
        assert "typed outside" in page_of(app)


async def test_what_was_agreed_to_counts_for_the_contents_that_were_shown(story: Story) -> None:
    """LAZ-42: another result took the place of an edited one whose file had become another meanwhile."""
    clash_in_two(story)
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "e", *"typed ", "escape", "L")
        clashing(story, "5.2.0", {"list.md": "bob\nmore\n"})
        app.read_all()
        await settle(pilot)
        await press(pilot, "y")
        assert "changed since you chose" in told(app)
        assert picks_of(app) == {}
