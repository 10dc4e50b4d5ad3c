"""A text that was kept as a draft is in a file, and named, however its conflict is decided (APP-13, LAZ-39)."""

from __future__ import annotations

from pathlib import Path

from lace_tui.screens.conflicts import Conflicts
from lace_tui.screens.dialogs import PlanPage
from lace_tui.screenshots import Story, app_of
from tests.tui.conftest import is_showing, page_of, press
from tests.tui.resolving import clash_twice, opened
from tests.tui.test_drafts import drafts
from tests.tui.test_edited_late import decide_elsewhere

SIZE = (110, 34)


def kept(story: Story) -> list[Path]:
    """Return the files of alice's texts that are in no draft."""
    return sorted((story.folder("alice") / ".vault").glob("edit-*/*"))


async def test_a_side_taken_in_the_list_keeps_what_was_edited(story: Story) -> None:
    """APP-13, LAZ-39: "Your choices are kept as a draft" was said, and L then y deleted the text."""
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "e", *"typed ", "escape", "escape")
        assert is_showing(app, Conflicts)
        await press(pilot, "L")
        assert is_showing(app, PlanPage)
        assert "! What you wrote for menu.md would not count" in page_of(app)
        await press(pilot, "y")
        (file,) = kept(story)
        assert file.read_text().startswith("typed ")
        assert app.card is not None
        assert f"it lies in {file} for a week." in " ".join(line.plain for line in app.card.lines)
    assert drafts(story) == []


async def test_who_goes_to_the_next_one_after_it_was_decided_elsewhere_has_the_text(story: Story) -> None:
    """APP-13, LAZ-39: the page left it before it knew, and the text was in no file."""
    clash_twice(story)
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "e", *"typed ", "escape")
        decide_elsewhere(story)
        await press(pilot, "]")
    assert [file.read_text().startswith("typed ") for file in kept(story)] == [True]


async def test_a_page_behind_another_place_leaves_no_second_copy(story: Story) -> None:
    """APP-13, LAZ-39: decided elsewhere it was in no file; now the page names the file that the decision wrote."""
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "e", *"typed ", "escape", "5")
        decide_elsewhere(story)
        assert len(kept(story)) == 1
        await press(pilot, "2")
        app.read_all()
        await press(pilot)
        (file,) = kept(story)
        assert f"It lies in {file} for a week." in page_of(app)
