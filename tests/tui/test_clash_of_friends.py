"""A conflict of two friends in the app of somebody who changed nothing there (APP-4, LAZ-35)."""

from __future__ import annotations

import contextlib
import re

from lace_tui.screens.conflicts import Conflicts
from lace_tui.screens.pane import Pane
from lace_tui.screens.place import Fitted
from lace_tui.screenshots import Story, app_of
from lazy.conflicts import conflicts
from lazy.folder.update import update
from lazy.resolving.resolve import accept_resolution, resolve_prefer
from lazy.sync import sync
from tests.tui.conftest import press, rows_of, settle
from vault.names import Version
from vault.releasing import release


def _friends_clash(story: Story) -> None:
    """Let alice and bob each change a line of the menu that all three had agreed on, and cara meet both."""
    with contextlib.ExitStack() as stack:
        alice, bob, cara = (stack.enter_context(story.open(name)) for name in ("alice", "bob", "cara"))
        resolve_prefer(alice, "1.1.0", "local")
        for vault in (alice, bob, cara):
            sync(vault, ["stick"])
        for vault in (bob, cara):
            accept_resolution(vault, "1.1.0")
        update(cara)
        release(cara, Version.parse("1.2.0"), "all of it")
        for vault in (cara, alice, bob):
            sync(vault, ["stick"])
        for vault, soup, version in ((alice, b"Beet, 4.00", "2.0.0"), (bob, b"Kale, 4.00", "2.1.0")):
            update(vault)
            file = vault.folder / "menu.md"
            file.write_bytes(file.read_bytes().replace(b"Pumpkin, 4.50", soup))
            release(vault, Version.parse(version), "winter")
            sync(vault, ["stick"])
        sync(cara, ["stick"])
        assert update(cara).conflict


async def test_of_two_friends_both_are_named_and_neither_is_mine(story: Story) -> None:
    """LAZ-35, LAZ-42: whoever changed nothing was asked between their own old state and both."""
    _friends_clash(story)
    app = app_of(story, "cara")
    async with app.run_test(size=(110, 34)) as pilot:
        await settle(pilot)
        await press(pilot, "2")
        assert re.search("main, clashing changes  (alice <> bob|bob <> alice)  do not merge", rows_of(app))
        foot = app.screen.query_one("#foot", Fitted).render().plain
        assert not re.search("mine|theirs", foot), "they were offered, and refused once agreed to"
        for key, why in (("L", "no side of it is yours"), ("R", "several sides are not yours")):
            await press(pilot, key)
            assert isinstance(app.screen, Conflicts)
            assert [note.message for note in app._notifications][-1].startswith(f"Not taken: {why}")
        await press(pilot, "enter")
        titles = {str(app.screen.query_one(name, Pane).border_title) for name in ("#left", "#right")}
        assert titles == {"ALICE @ alice-desk  2.0.0  just now", "BOB @ bob-desk  2.1.0  just now"}
        await press(pilot, "l", "w", "y")
    with story.open("cara") as cara:
        assert conflicts(cara) == []
    assert re.search(b"Beet|Kale", (story.folder("cara") / "menu.md").read_bytes())
