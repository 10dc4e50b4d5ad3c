"""What the app says to press is the key that this person has given the action (APP-1, APP-5)."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace

import pytest

from lace_tui.keys.actions import Scope, action_named
from lace_tui.keys.taste import Taste
from lace_tui.screens.cards import sync_card
from lace_tui.screens.help import why_not
from lace_tui.screenshots import Story, app_of
from lazy.results import PlaceResult
from tests.tui.conftest import page_of, press, settle, text_of
from vault.vault import Vault
from vault.watch import Watch

SIZE = (100, 30)
KEYS = {"sync": "f6", "undo": "f7", "redo": "f8", "new-place": "f9", "invite-friend": "f4", "go-conflicts": "f2"}


@pytest.mark.parametrize(
    ("following", "named"), [("lace update", "u"), ("lace conflicts", "F2"), ("lace resolve 1.0.0", "F2")]
)
def test_what_is_next_after_a_sync_is_named_by_the_persons_own_key(following: str, named: str) -> None:
    """It said 2 and s, whatever the table or the person's file had."""
    done = replace(PlaceResult("stick", "drop"), next=following)
    assert sync_card([done], 1.0, KEYS).lines[-1].plain == f"next: {following}, or here {named}"


def test_the_help_says_which_of_the_persons_keys_leads_there() -> None:
    assert why_not(action_named("prefer-local"), Scope.HOME, KEYS, is_list=True) == "works in conflicts: press F2"
    assert why_not(action_named("take-left"), Scope.HOME, KEYS, is_list=True).endswith("press F2, then enter")


async def test_cards_name_the_persons_own_keys(story: Story) -> None:
    app = app_of(story, "alice", taste=Taste(keys=KEYS))
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "d")
        assert "Nothing was moved. F6 syncs." in text_of(app, "#card-text")
        await press(pilot, "x", "y")
        assert "next: F7 brings it back" in text_of(app, "#card-text")
        await press(pilot, "f7", "y")
        await press(pilot, "f2", "R", "y")
        assert "Press F6" not in page_of(app), "the page has a key of its own"
        assert "Press s to sync" in page_of(app)


async def test_what_stops_and_what_reads_again_are_named_by_the_persons_own_keys(story: Story) -> None:
    """APP-3, APP-14: it said that esc stops what runs, which did nothing, and that F5 reads a folder that is back."""
    began, go = threading.Event(), threading.Event()

    def work(_vault: Vault, watch: Watch) -> None:
        began.set()
        go.wait(30)
        watch.cancelled()

    app = app_of(story, "alice", taste=Taste(keys={"stop": "f12", "read": "f3"}))
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        assert app.begin("Sync: stick", work, lambda _: None)
        try:
            assert await asyncio.to_thread(began.wait, 30)
            await pilot.press("s")
            app.show_progress()
            assert [note.message for note in app._notifications] == ["Sync: stick is still running; F12 stops it."]
            assert "F12 stops at the next safe point" in text_of(app, "#card-text")
            await pilot.press("f12")
        finally:
            go.set()
        await settle(pilot)
        story.folder("alice").rename(story.folder("alice").with_name("away"))
        await press(pilot, "f3")
        assert "F3 reads it." in text_of(app, "#card-text")


async def test_who_begins_reads_their_own_keys(story: Story) -> None:
    """APP-5: before there is a place, and nobody to sync with."""
    app = app_of(story, "alice", taste=Taste(keys=KEYS))
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        for _ in range(2):
            await press(pilot, "x", "y")
        assert "F9" in text_of(app, "#foot")
        await press(pilot, "f9", *"stick", "enter", *str(story.stick), "enter")
        assert "next: F4 invites a friend, who learns of it; F6 syncs it" in text_of(app, "#card-text")
