"""Help and the palette: every action is found there, with its key and where it works (APP-2)."""

from __future__ import annotations

import pytest
from textual.command import Command, CommandList

from lace_tui.app.lace import LaceApp
from lace_tui.keys.actions import ACTIONS, Scope
from lace_tui.screens.help import Help
from lace_tui.screens.lines import Lines
from tests.tui.conftest import is_showing, settle

SIZE = (100, 30)


async def test_help_and_palette_offer_the_actions(app: LaceApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await pilot.press("question_mark")
        await pilot.pause()
        assert is_showing(app, Help)
        assert app.screen.query_one(Lines).shown == len(ACTIONS) + len(Scope), "every action, below its heading"
        await pilot.press("escape")
        titles = {command.title for command in app.get_system_commands(app.screen)}
        assert {"Sync", "Update the folder", "Read again", "Help", "Quit", "Theme: light"} <= titles


@pytest.mark.parametrize(
    ("typed", "title", "where"),
    [
        ("revoke", "Revoke", "works in peers: press 4"),
        ("serve", "Serve", "works in peers: press 4"),
        ("prun", "Prune", "works in history: press 5"),
        ("take both", "Take both", "works in a conflict: press 2, then enter"),
    ],
)
async def test_the_palette_finds_what_works_elsewhere_and_says_where(
    app: LaceApp, typed: str, title: str, where: str
) -> None:
    """APP-2: the footer calls it `all`, and it said that there is no such thing; help knew better."""
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await pilot.press("ctrl+p")
        await pilot.pause()
        await pilot.press(*typed)
        found = app.screen.query_one(CommandList)
        while not found.option_count:
            await pilot.pause(0.05)
        (hit,) = [one.hit for one in found.options if isinstance(one, Command) and str(one.hit.text) == title]
        assert str(hit.help).lower().startswith(f"{where}. ")
        await pilot.press("escape")
        await settle(pilot)
        hit.command()
        await settle(pilot)
        assert any(note.message == f"{title} {where}." for note in app._notifications)


async def test_the_palette_lists_what_works_here_and_only_that_unasked(app: LaceApp) -> None:
    """APP-2: what works here too is not named once more, with another place; and nothing elsewhere hides it."""
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        for key, here, there in (("1", "Sync all", "Revoke"), ("4", "Revoke", "Sync all")):
            await pilot.press(key)
            await settle(pilot)
            told = list(app.get_system_commands(app.screen))
            titles = [command.title for command in told]
            assert len(titles) == len(set(titles))
            unasked = {command.title for command in told if command.discover}
            assert here in unasked
            assert there not in unasked
            assert there in titles
