"""The app where a vault has several desks, and where a place failed (APP-1, APP-4, APP-5, CLAY-3)."""

from __future__ import annotations

import shutil

import pytest
from textual.widgets import Input

from lace_tui.app.lace import LaceApp
from lace_tui.screens.dialogs import PlanPage, Question
from lace_tui.screenshots import Story, app_of
from lazy.resolving.resolve import resolve_merged
from lazy.sync import sync
from tests.tui.conftest import is_showing, press, settle, text_of
from transports.errors import PlaceUnreachable
from vault.desk_folders import add_desk
from vault.folder.work import changes, commit
from vault.names import Version
from vault.releasing import release

SIZE = (100, 30)


def songs_of_bob(story: Story, version: str = "0.1.0", *, is_mapped: bool = True) -> None:
    """Let bob release something in a desk of his own, and alice fetch it; perhaps she has a folder for it."""
    with story.open("bob") as vault:
        (story.folder("bob") / "songs").mkdir(exist_ok=True)
        story.write("bob", "songs/a.txt", f"la {version}\n")
        if version == "0.1.0":
            add_desk(vault, "songs", "songs")
        release(vault, Version.parse(version), desk="songs")
        sync(vault, ["stick"])
    with story.open("alice") as vault:
        sync(vault, ["stick"])
        if is_mapped and version == "0.1.0":
            (story.folder("alice") / "songs").mkdir()
            add_desk(vault, "songs", "songs")


def page_of(app: LaceApp) -> str:
    """Return the text of the page in front."""
    return "\n".join(str(part.render()) for part in app.screen.query("Static"))


async def test_home_speaks_of_every_desk(story: Story) -> None:
    """APP-4, CLAY-3: what came to another desk is new, has its own command, and the same key brings it in."""
    songs_of_bob(story)
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        assert "bob  songs 0.1.0" in text_of(app, "#came")
        assert "v 3 new" in text_of(app, "#head")
        await pilot.press("u")
        await settle(pilot)
        assert is_showing(app, PlanPage)
        assert "songs:" in page_of(app)
        await pilot.press("y")
        await settle(pilot)
        assert (story.folder("alice") / "songs/a.txt").read_text() == "la 0.1.0\n"
        assert "songs:" in text_of(app, "#card-text")
        assert "songs 0.1.0" not in text_of(app, "#came")


async def test_a_desk_without_a_folder_is_named_with_its_command(story: Story) -> None:
    """APP-4: what friends released beside main is no secret."""
    songs_of_bob(story, is_mapped=False)
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        needs = text_of(app, "#needs")
        assert "songs: released by friends, no folder here" in needs
        assert "lace desk add songs DIR" in needs


async def test_a_desk_whose_folder_is_gone_keeps_no_other_back(story: Story) -> None:
    songs_of_bob(story)
    with story.open("alice") as vault:
        story.write("alice", "songs/mine.txt", "mine\n")
        release(vault, Version.parse("0.1.1"), desk="songs")
    shutil.rmtree(story.folder("alice") / "songs")
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await pilot.press("u")
        await settle(pilot)
        assert is_showing(app, PlanPage)
        page = page_of(app)
        assert "main:" in page
        assert "lace checkout songs" in page
        await pilot.press("n")


async def test_a_release_and_a_commit_are_of_the_desk_it_was_opened_in(story: Story) -> None:
    """APP-1: the question names the desk as soon as there is more than one."""
    songs_of_bob(story)
    story.write("alice", "songs/b.txt", "mine\n")
    app = app_of(story, "alice", here=story.folder("alice") / "songs")
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await pilot.press("5", "c")
        await settle(pilot)
        assert is_showing(app, Question)
        assert "b.txt" in page_of(app)
        await pilot.press("escape", "1", "R")
        await settle(pilot)
        assert "The desk songs" in page_of(app)
        await pilot.press("enter")
        await settle(pilot)
        assert "songs 0.1.1 is released" in text_of(app, "#card-text")
        await pilot.press("exclamation_mark")
        await settle(pilot)
        assert "lace release 0.1.1 --desk songs" in page_of(app)


async def test_what_the_rules_name_and_is_shared_all_the_same_is_told(story: Story) -> None:
    """CLAY-71, APP-1: before the release is agreed to, which nobody takes back, and of a commit after it."""
    name = min(path.name for path in story.folder("alice").iterdir() if path.is_file())
    told = f"{name} is named in .laceignore and was committed before, so it goes on being shared."
    told += " To stop that and keep it here: lace commit -m TEXT --keep-out PATH"
    story.write("alice", ".laceignore", f"{name}\n")
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "R")
        assert told in " ".join(text_of(app, "#question").split())
        await press(pilot, "escape", "5", "c")
        app.screen.query_one(Input).value = "rules"
        await press(pilot, "enter")
        assert app.card is not None
        assert any(told in line.plain for line in app.card.lines)


async def test_a_place_that_failed_says_why_and_what_to_do(story: Story) -> None:
    """APP-5, LAZ-46: the row says what went wrong, the page the way out, and another place is offered first."""
    with story.open("alice") as vault, pytest.raises(PlaceUnreachable):
        sync(vault, ["office"])
    app = app_of(story, "alice")
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        meet = text_of(app, "#meet")
        assert "! The drop" in meet
        assert "records to send" in meet
        assert "sync stick" in text_of(app, "#foot")
        await pilot.press("k")
        await settle(pilot)
        assert "sync office" in text_of(app, "#foot")
        await pilot.press("enter")
        await settle(pilot)
        assert "Plug the stick in" in page_of(app)


async def test_what_was_done_elsewhere_is_told_there(story: Story) -> None:
    """APP-5: the card lies on Home; who works in another place reads it there."""
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await pilot.press("4")
        await settle(pilot)
        await pilot.press("j", "s")
        await settle(pilot)
        told = [(str(note.title), note.message) for note in app._notifications]
        assert any(title.startswith("Last sync: ") and "sent" in said for title, said in told), told


async def test_a_conflict_that_an_update_ends_says_so(story: Story) -> None:
    """LAZ-38: the list says what `lace conflicts` does, and copies its command."""
    with story.open("bob") as vault:
        sync(vault, ["stick"])
        done = resolve_merged(vault, "1.1.0", Version.parse("1.1.1"))
        assert done.release is not None
        sync(vault, ["stick"])
    with story.open("alice") as vault:
        sync(vault, ["stick"])
    app = app_of(story, "alice")
    async with app.run_test(size=(120, 30)) as pilot:
        await settle(pilot)
        await pilot.press("2")
        await settle(pilot)
        lines = "\n".join(str(app.screen.query_one("Lines").render_line(y).text) for y in range(3))
        assert "bob 1.1.1 ends it: u on Home" in lines
        assert app.screen.row()[2] == "lace update"  # type: ignore[attr-defined]


async def test_the_last_act_is_taken_back_after_the_plan(story: Story) -> None:
    """APP-1, APP-4: undo says what it would do; what was done meanwhile is not taken back instead."""
    with story.open("alice") as vault:
        story.write("alice", "extra.txt", "extra\n")
        commit(vault, "extra")
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await pilot.press("U")
        await settle(pilot)
        assert is_showing(app, PlanPage)
        assert "would be taken back; what it held would be uncommitted work." in page_of(app)
        with story.open("alice") as vault:
            story.write("alice", "more.txt", "more\n")
            commit(vault, "more")
        await pilot.press("y")
        await settle(pilot)
        assert "Something else was done here meanwhile" in text_of(app, "#card-text")
        await pilot.press("U")
        await settle(pilot)
        await pilot.press("y")
        await settle(pilot)
        assert "= main revision" in text_of(app, "#card-text")
    with story.open("alice") as vault:
        assert [item.path for item in changes(vault).items] == ["more.txt"]
