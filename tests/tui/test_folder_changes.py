"""What changed in the folder, seen in the app before it is committed or released, as `lace diff` shows it (APP-1)."""

from __future__ import annotations

from lace_tui.app.lace import LaceApp
from lace_tui.screens.viewer import Viewer
from lace_tui.screenshots import Story
from tests.tui.conftest import is_showing, press, rows_of, settle, text_of
from vault.folder.work import commit


async def test_what_changed_is_seen_from_every_place_before_it_is_kept(app: LaceApp, story: Story) -> None:
    """APP-1: the app counted what a release would share for ever, and showed none of it."""
    story.write("alice", "guests.txt", "ada\ncid\n")
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        for place in ("1", "2", "5"):
            await press(pilot, place, "D")
            assert is_showing(app, Viewer), place
            shown = rows_of(app)
            assert "-ben" in shown
            assert "+cid" in shown
            assert "menu.md" not in shown
            await press(pilot, "escape")
        await press(pilot, "1", "R")
        assert "1 changed: guests.txt" in " ".join(text_of(app, "#question").split())
        await press(pilot, "escape")
        story.write("alice", "guests.txt", "ada\nben\n")
        await press(pilot, "D")
        assert "Nothing changed in main since the last commit." in rows_of(app)


async def test_a_release_of_earlier_commits_too_names_what_they_changed(app: LaceApp, story: Story) -> None:
    """APP-1, LAZ-45: once something was committed, it was asked for by counts alone again."""
    story.write("alice", "guests.txt", "ada\ncid\n")
    story.write("alice", "new.txt", "new\n")
    with story.open("alice") as vault:
        commit(vault, "earlier")
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        for more, named in (("", "guests.txt, new.txt"), ("wine.txt", "guests.txt, new.txt, wine.txt")):
            if more:
                story.write("alice", more, "red\n")
            await press(pilot, "R")
            assert f"earlier commit: {named}) becomes" in " ".join(text_of(app, "#question").split())
            await press(pilot, "escape")


async def test_of_very_many_changed_files_the_first_are_shown(app: LaceApp, story: Story) -> None:
    """APP-3: and how all of them are listed."""
    for number in range(600):
        story.write("alice", f"song-{number:03}.md", "la\n")
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        await press(pilot, "D")
        shown = rows_of(app)
        assert "song-499.md" in shown
        assert "song-500.md" not in shown
        assert "More than 500 files differ; all are listed by: lace changes" in shown
