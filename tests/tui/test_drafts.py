"""Choices that nobody wrote yet, on several pages and from one reading to the next (APP-4, LAZ-39, LAZ-42)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from textual import events

from lace_tui.app.lace import LaceApp
from lace_tui.screens.conflicts import Conflicts
from lace_tui.screens.dialogs import Leaving
from lace_tui.screens.home import Home
from lace_tui.screens.resolve import Resolve
from lace_tui.screenshots import Story, app_of
from lazy.conflicts import conflicts
from lazy.folder.update import update
from lazy.resolving.deciding import Pick
from lazy.resolving.drafts import load_draft, save_draft
from lazy.resolving.opening import open_conflict
from lazy.resolving.resolve import resolve_prefer
from lazy.sync import sync
from tests.tui.conftest import is_showing, page_of, press
from tests.tui.resolving import clash, clash_twice, opened, pane
from vault.files import read_bounded
from vault.names import Version
from vault.releasing import release

SIZE = (110, 34)


def drafts(story: Story) -> list[Path]:
    """Return the files of alice's drafts."""
    return sorted((story.folder("alice") / ".vault" / "drafts").glob("*"))


def drafted(story: Story) -> dict[str, dict[str, object]]:
    """Return what the one draft there is has, by path."""
    (draft,) = drafts(story)
    files: dict[str, dict[str, object]] = json.loads(read_bounded(draft, 1 << 20))["files"]
    return files


async def test_a_conflict_has_one_page_wherever_it_is_opened(story: Story) -> None:
    """APP-4: from Home and from Conflicts it was two, and what was chosen on one took back what was on the other."""
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        page = app.screen
        await press(pilot, "r")
        await press(pilot, "1")
        assert is_showing(app, Home)
        app.screen.query_one("#needs").focus()
        await press(pilot, "enter")
        assert app.screen is page
        await press(pilot, "escape")
        assert is_showing(app, Conflicts)
        await press(pilot, "1")
        app.screen.query_one("#needs").focus()
        await press(pilot, "enter")
        assert is_showing(app, Resolve)
        assert "= Leek, 4.20" in pane(app, "result")
        page = app.screen
        await press(pilot, "2")
        await press(pilot, "enter")
        assert app.screen is page


async def test_two_windows_keep_what_either_chose(story: Story) -> None:
    """LAZ-42: each wrote the whole draft as it knew it, and so a text that was edited in the other one was gone."""
    clash(story, {"a.md": b"mine\n", "b.md": b"1\n"}, {"a.md": b"bob\n", "b.md": b"2\n"})
    first, second = app_of(story, "alice"), app_of(story, "alice")
    async with first.run_test(size=SIZE) as pilot, second.run_test(size=SIZE) as other:
        await opened(pilot)
        await opened(other)
        await press(pilot, "n", "e", *"Mine ", "escape")
        await press(other, "l")
        assert set(drafted(story)) == {"a.md", "b.md"}
        await press(pilot, "N", "0")
        assert set(drafted(story)) == {"b.md"}, "what one takes away goes, and nothing else"
        await press(other, "f5")
        assert isinstance(second.screen, Resolve)
        (path, pick), *more = second.screen.walk.picks.items()
        assert (path, more) == ("b.md", [])
        assert (pick.edited or b"").startswith(b"Mine ")


async def test_two_pages_that_come_to_one_conflict_show_the_same(story: Story) -> None:
    """LAZ-42: by `[` a page came to what another one shows, which then wrote what it knew over the later choice."""
    clash_twice(story)
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        first = app.screen
        await press(pilot, "1")
        app.screen.query_one("#needs").focus()
        await press(pilot, "down", "enter")
        assert isinstance(app.screen, Resolve)
        assert app.screen is not first
        await press(pilot, "left_square_bracket", "r", "2")
        assert app.screen is first
        assert "= bob" in pane(app, "result")


def clashing(story: Story, version: str, files: dict[str, str]) -> None:
    """Let bob release these files, and alice meet that in an update."""
    with story.open("alice") as alice, story.open("bob") as bob:
        for path, content in files.items():
            (bob.folder / path).write_text(content)
        release(bob, Version.parse(version), "more")
        sync(bob, ["stick"])
        sync(alice, ["stick"])
        update(alice)


def clash_in_two(story: Story) -> None:
    """Let alice and bob both change the menu and add a list, and alice meet that: one conflict of no version."""
    clash(story, {}, {})
    story.write("alice", "menu.md", "# Menu\n\nMine\n")
    story.write("alice", "list.md", "mine\n")
    clashing(story, "5.1.0", {"menu.md": "# Menu\n\nBob's\n", "list.md": "bob\n"})


def told(app: LaceApp) -> str:
    """Return all that was told and is in sight still."""
    return " ".join(note.message for note in app._notifications)


def picks_of(app: LaceApp) -> dict[str, Pick]:
    """Return what is chosen on the page in front, by path."""
    assert isinstance(app.screen, Resolve)
    return {path: pick for path, pick in app.screen.walk.picks.items() if not pick.is_empty}


async def test_what_was_chosen_counts_on_where_a_friend_released_something_else(story: Story) -> None:
    """LAZ-42: the clash has another id then, and a text that was merged by hand lay unread under the former one."""
    clash_in_two(story)
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "R", "n", "e", *"Mine ", "escape")
        chosen = picks_of(app)
        assert set(chosen) == {"list.md", "menu.md"}
        await press(pilot, "escape")
    (former,) = drafts(story)
    clashing(story, "5.2.0", {"b.txt": "b\n"})
    again = app_of(story, "alice")
    async with again.run_test(size=SIZE) as pilot:
        await opened(pilot)
        assert picks_of(again) == chosen
        assert "choose again" not in told(again)
        await press(pilot, "0", "y")
    assert drafts(story) != [former]
    assert len(drafts(story)) == 1, "what was taken over is let go of"


async def test_an_open_page_goes_on_where_another_command_updates(story: Story) -> None:
    """APP-4, LAZ-42: it closed, and said that the conflict was decided, which nobody had done."""
    clash_in_two(story)
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        page = app.screen
        assert isinstance(page, Resolve)
        await press(pilot, "R")
        chosen, former = picks_of(app), page.conflict_id
        clashing(story, "5.2.0", {"b.txt": "b\n"})
        await press(pilot, "f5")
        assert page.conflict_id != former
        assert app.screen is page
        assert picks_of(app) == chosen
        assert "decided with it" in told(app)
        await press(pilot, "n", "L", "w", "y")
    with story.open("alice") as alice:
        assert conflicts(alice) == []
        assert (alice.folder / "list.md").read_text() == "bob\n"
        assert (alice.folder / "b.txt").exists()
    assert drafts(story) == []


async def test_a_choice_for_what_a_friend_changed_again_is_said_to_count_no_more(story: Story) -> None:
    """LAZ-42: of the file that became another one it is told, and what was chosen for the other one counts on."""
    clash_in_two(story)
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "R", "n", "L")
    clashing(story, "5.2.0", {"menu.md": "# Menu\n\nBob's, later\n"})
    again = app_of(story, "alice")
    async with again.run_test(size=SIZE) as pilot:
        await opened(pilot)
        assert set(picks_of(again)) == {"list.md"}
        assert "1 file changed since you chose; choose again." in told(again)


@pytest.mark.parametrize("is_released", [False, True])
def test_a_conflict_that_a_command_decides_leaves_no_draft(story: Story, is_released: bool) -> None:
    """LAZ-42: `lace resolve` let drafts lie for good, also those of the ids that a conflict had before."""
    clash_in_two(story)
    with story.open("alice") as alice:
        (conflict,) = conflicts(alice)
        known = open_conflict(alice, conflict.id)
        save_draft(alice, known, {"menu.md": Pick(side=0)})
    assert len(drafts(story)) == 1
    if is_released:
        clashing(story, "5.2.0", {"b.txt": "b\n"})
    with story.open("alice") as alice:
        (conflict,) = conflicts(alice)
        resolve_prefer(alice, conflict.id, "local")
    assert drafts(story) == []


def test_nothing_chosen_brings_no_former_choice_back(story: Story) -> None:
    """LAZ-42: what was taken over and then taken away lay under its former id still."""
    clash_in_two(story)
    with story.open("alice") as alice:
        (conflict,) = conflicts(alice)
        save_draft(alice, open_conflict(alice, conflict.id), {"menu.md": Pick(side=1)})
    clashing(story, "5.2.0", {"b.txt": "b\n"})
    with story.open("alice") as alice:
        (conflict,) = conflicts(alice)
        now = open_conflict(alice, conflict.id)
        assert load_draft(alice, now) == ({"menu.md": Pick(side=1)}, (), None)
        save_draft(alice, now, {"menu.md": Pick()})
        assert load_draft(alice, now) == ({}, (), None)
    assert drafts(story) == []


async def test_leaving_waits_for_a_choice_on_its_way(story: Story) -> None:
    """APP-3, LAZ-42: where the key that leaves came at once behind a choice, there was no draft."""
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        for key in "rq":
            app.post_message(events.Key(key, key))
        while app.is_running:
            await pilot.pause()
    assert drafted(story)["menu.md"]["regions"] == {"1": "right"}


async def test_leaving_asks_where_a_choice_cannot_be_kept(story: Story) -> None:
    """LAZ-42: it was told that the choices are not kept, and the next key ended the app with them."""
    (story.folder("alice") / ".vault" / "drafts").write_text("in the way")
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "l", "1", "q")
        assert is_showing(app, Leaving), "wherever one is in the app"
        assert "Your choices in main 1.1.0 are not kept." in page_of(app)
        await press(pilot, "n", "2")
        assert "= Pumpkin, 4.50" in pane(app, "result")
        await press(pilot, "q")
        assert is_showing(app, Leaving)
        await pilot.press("y")
        await pilot.pause()
        assert not app.is_running


async def test_the_version_that_was_named_is_kept_with_the_choices(story: Story) -> None:
    """LAZ-42: the draft had the choices, and the result was proposed as another version again."""
    clash_in_two(story)
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "v", *["backspace"] * 12, *"7.0.0", "enter", "R", "escape")
    clashing(story, "5.2.0", {"b.txt": "b\n"})
    again = app_of(story, "alice")
    async with again.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "L", "w")
        assert "release main 7.0.0" in page_of(again)
        await press(pilot, "y")
    assert drafts(story) == []


async def test_without_a_name_the_version_goes_on_with_the_conflict(story: Story) -> None:
    """LAZ-42: what was proposed for the former one may be released by then."""
    clash_in_two(story)
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "R")
        clashing(story, "5.2.0", {"b.txt": "b\n"})
        await press(pilot, "f5")
        await press(pilot, "n", "L", "w")
        assert "release main 5.2.1" in page_of(app)
