"""Choices that nobody wrote yet, on several pages and from one reading to the next (APP-4, LAZ-39, LAZ-42)."""

from __future__ import annotations

import json
from pathlib import Path

from lace_tui.screens.conflicts import Conflicts
from lace_tui.screens.home import Home
from lace_tui.screens.resolve import Resolve
from lace_tui.screenshots import Story, app_of
from lazy.sync import sync
from tests.tui.conftest import is_showing, press
from tests.tui.test_resolve import clash, opened, pane
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
    clash(story, {"a.txt": b"mine"}, {"a.txt": b"bob"}, "2.9.0")
    with story.open("alice") as alice, story.open("bob") as bob:
        for vault in (alice, bob):
            (vault.folder / "b.txt").write_text(vault.name)
            release(vault, Version.parse("2.10.0"), "2")
        sync(bob, ["stick"])
        sync(alice, ["stick"])
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
