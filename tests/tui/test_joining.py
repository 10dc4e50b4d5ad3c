"""Peers names a peer by key, as `lace join` does: a line, then its plan with the words to compare (APP-1, LAZ-50)."""

from __future__ import annotations

from pathlib import Path

from textual.widgets import Input

from lace_tui.app import LaceApp
from lace_tui.screens.dialogs import PlanPage, Question
from lace_tui.screenshots import Story
from lazy.belonging.circle import leave
from lazy.people import peers
from tests.tui.conftest import is_showing, press, settle, text_of
from vault.identity.words import fingerprint_words


async def test_a_friend_who_was_left_is_joined_again(app: LaceApp, story: Story) -> None:
    """APP-1: what `x` said leads back had to be typed in a shell."""
    with story.open("bob") as bob:
        key = bob.node
    with story.open("alice") as alice:
        leave(alice, "bob")
    line = f"lace join bob {story.stick} --key {key.text}"
    async with app.run_test(size=(110, 34)) as pilot:
        await settle(pilot)
        await press(pilot, "4", "J")
        assert is_showing(app, Question)
        for wrong in ("bob", f"bob {story.stick} V.nokey", f"'bob {story.stick}"):
            app.screen.query_one(Input).value = wrong
            await press(pilot, "enter")
            assert is_showing(app, Question), wrong
        app.screen.query_one(Input).value = line
        await press(pilot, "enter")
        assert is_showing(app, PlanPage)
        assert fingerprint_words(key) in " ".join(str(app.screen.query_one("#page Static").render()).split())
        with story.open("alice") as alice:
            assert "bob" not in {person.name for person in peers(alice)}
        await press(pilot, "y")
        with story.open("alice") as alice:
            assert "bob" in {person.name for person in peers(alice)}
        assert app._activity == [line]
        await press(pilot, "J")
        app.screen.query_one(Input).value = line
        await press(pilot, "enter", "y")
        assert "already a peer called 'bob'" in text_of(app, "#question")


async def test_a_directory_that_would_be_made_is_named_first(app: LaceApp, story: Story, tmp_path: Path) -> None:
    """APP-1: as where a place is added, a mistyped address makes none unseen."""
    with story.open("bob") as bob:
        key = bob.node.text
    with story.open("alice") as alice:
        leave(alice, "bob")
    async with app.run_test(size=(110, 34)) as pilot:
        await settle(pilot)
        await press(pilot, "4", "J")
        app.screen.query_one(Input).value = f"bob {tmp_path / 'absent'} {key}"
        await press(pilot, "enter")
        assert "There is no directory" in str(app.screen.query_one("#page Static").render())
        await press(pilot, "n")
        assert not (tmp_path / "absent").exists()
