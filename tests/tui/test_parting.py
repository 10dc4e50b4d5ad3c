"""Leaving and revoking somebody, and dropping what waits for them: a plan, then their name (APP-1, LAZ-53)."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from lace_tui.app.lace import LaceApp
from lace_tui.screens.dialogs import PlanPage, Question
from lace_tui.screens.peers import Peers
from lace_tui.screens.queue import Queue
from lace_tui.screenshots import Story
from lazy.people import formers, peers
from lazy.queue import queue
from tests.tui.conftest import is_showing, page_of, press, settle, text_of

SIZE = (110, 34)


async def _select(pilot: Pilot[None], text: str) -> None:
    """Select the row of a list that holds a text."""
    app: LaceApp = pilot.app  # type: ignore[assignment]
    screen = app.screen
    assert isinstance(screen, Peers | Queue)
    for at in range(screen.lines.shown):
        screen.lines.cursor = at
        if screen.lines.key and text in screen.lines.rendered(at):
            await settle(pilot)
            return
    raise AssertionError(text)


@pytest.mark.parametrize("place", ["3", "4"])
async def test_somebody_is_left_once_their_name_was_typed(app: LaceApp, story: Story, place: str) -> None:
    """APP-1, LAZ-53: a peer could be left, and what waits for them dropped, by command only."""
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, place)
        await _select(pilot, "bob")
        await press(pilot, "x")
        assert is_showing(app, PlanPage)
        assert "Nothing would be synced with bob any more" in page_of(app)
        assert "would be dropped from the queue: 1 entry" in page_of(app)
        assert "lace leave bob" in page_of(app)
        assert ("One entry alone" in page_of(app)) == (place == "3")
        await press(pilot, "n", "x", "y")
        assert is_showing(app, Question)
        await press(pilot, *"bo", "enter")
        assert "That is not bob" in text_of(app, "#question")
        await press(pilot, "escape")
        with story.open("alice") as vault:
            assert "bob" in {peer.name for peer in peers(vault)}
        await press(pilot, "x", "y", *"bob", "enter")
        with story.open("alice") as vault:
            assert "bob" not in {peer.name for peer in peers(vault)}
            assert not [entry for entry in queue(vault) if entry.peer == "bob"]
        assert app._activity == ["lace leave bob"]
        assert app.card is not None
        assert "lace join bob" in app.card.lines[1].plain


async def test_somebody_is_revoked_once_their_name_was_typed(app: LaceApp, story: Story) -> None:
    """APP-1: never by one key, and never without the plan."""
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "4")
        await _select(pilot, "cara")
        await press(pilot, "X")
        assert "cara would no longer belong to the group" in page_of(app)
        assert "It is never taken back" in page_of(app)
        await press(pilot, "y", *"cara")
        with story.open("alice") as vault:
            assert not formers(vault)
        await press(pilot, "enter")
        with story.open("alice") as vault:
            assert [gone.name for gone in formers(vault)] == ["cara"]
        assert isinstance(app.screen, Peers)
        assert "revoked by" in "\n".join(map(app.screen.lines.rendered, range(app.screen.lines.shown)))


async def test_peers_tries_moves_and_forgets_places_too(app: LaceApp, story: Story) -> None:
    """The page gives Peers the keys that Home has."""
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "4")
        await _select(pilot, "office")
        await press(pilot, "x")
        assert "office would no longer be a place of yours" in page_of(app)
        await press(pilot, "n", "e")
        assert is_showing(app, Question)
        assert app.screen.query_one(Input).value.endswith("/office")
        await press(pilot, "escape")
        await _select(pilot, "stick")
        await press(pilot, "t")
        assert app.card is not None
        assert app.card.title == "What would move"
        await press(pilot, "X")
        assert "Select a member" in str([note.message for note in app._notifications])
        await _select(pilot, "alice")
        for key in ("x", "X", "t"):
            app.clear_notifications()
            await press(pilot, key)
            assert is_showing(app, Peers)
            assert len(app._notifications) == 1
