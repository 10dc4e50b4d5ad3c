"""Joining in the app: by an invitation, and in Peers by key as `lace join` does, with words to compare (APP-1)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from textual.pilot import Pilot
from textual.widgets import Input

from lace_tui.app.lace import LaceApp
from lace_tui.screens.dialogs import Page, PlanPage, Question
from lace_tui.screens.home import Home
from lace_tui.screenshots import Story, app_of
from lazy.belonging.circle import accept, invite, leave
from lazy.people import peers
from lazy.sync import sync
from tests.tui.conftest import is_showing, page_of, press, settle, text_of
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


async def test_who_joins_in_the_app_sees_the_words_that_show_whom(story: Story) -> None:
    """APP-1: `lace accept` prints both words, and the app took the invitation's and told none; they wait until read."""
    with story.open("alice") as alice:
        made = invite(alice, "dora")
        theirs = fingerprint_words(alice.node)
    folder = story.folder("dora")
    folder.mkdir(parents=True)
    app = app_of(story, "dora")
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        await press(pilot, "j")
        app.screen.query_one(Input).value = made.encode()
        await press(pilot, "enter")
        await press(pilot, "enter")
        with story.open("dora") as dora:
            mine = fingerprint_words(dora.node)
        assert is_showing(app, Page)
        told = " ".join(page_of(app).split())
        assert f"Whoever invited you reads out these words: {theirs}" in told
        assert f"Your words: {mine}" in told
        assert "Next: s syncs, then u updates. You are a member once your friend has synced too." in told
        await press(pilot, "escape")
        assert is_showing(app, Home)
        await press(pilot, "s")
        assert "next: lace conflicts, or here 2" in text_of(app, "#card-text")


async def _says_of_a_sync(app: LaceApp, pilot: Pilot[Any], text: str) -> None:
    """Sync, and look that the card says it: at once, and as after a new start."""
    await press(pilot, "s")
    assert text in text_of(app, "#card-text")
    app.card = None
    app.refresh_places()
    await settle(pilot)
    assert text in text_of(app, "#card-text")


async def test_who_was_let_in_is_called_as_by_command(story: Story) -> None:
    """APP-1, APP-5: `lace sync` says they are a member now, and the card of that sync that they were admitted."""
    with story.open("alice") as alice:
        line = invite(alice, "dora").encode()
    with accept(story.folder("dora"), story.around("dora"), line)[0] as dora:
        sync(dora, ["stick"])
    app = app_of(story, "alice")
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        await _says_of_a_sync(app, pilot, "+ dora is a member now")


async def test_who_was_let_in_by_a_friend_is_named_with_them(story: Story) -> None:
    """APP-1, APP-5: as `lace sync` names both, in the card of that sync and after a new start."""
    with story.open("bob") as bob:
        line = invite(bob, "dora").encode()
        with accept(story.folder("dora"), story.around("dora"), line)[0] as dora:
            sync(dora, ["stick"])
        sync(bob, ["stick"])
    app = app_of(story, "alice")
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        await _says_of_a_sync(app, pilot, "+ bob let dora in")
        await press(pilot, "s")
        assert "dora" not in text_of(app, "#card-text")


async def test_an_invitation_that_seems_too_late_is_told_on_the_same_page(story: Story) -> None:
    """APP-1: the page with the words would cover the remark, and with it the reason why nothing comes of joining."""
    with story.open("alice") as alice:
        made = invite(alice, "dora")
    story.seconds += 400 * 24 * 3600
    folder = story.folder("dora")
    folder.mkdir(parents=True)
    app = app_of(story, "dora")
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        await press(pilot, "j")
        app.screen.query_one(Input).value = made.encode()
        await press(pilot, "enter", "enter")
        assert "! This device's clock says" in " ".join(page_of(app).split())


async def test_beginning_in_a_git_repository_says_that_a_release_would_share_it(story: Story) -> None:
    """APP-1: `lace init` said so, and the app let the first release bring `.git` to every friend without a word."""
    folder = story.folder("dora")
    (folder / ".git").mkdir(parents=True)
    app = app_of(story, "dora")
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        await press(pilot, "b", *"dora", "enter", "enter")
        assert is_showing(app, Page)
        told = " ".join(page_of(app).split())
        assert "! .git lies in your shared folder, so a release would share it" in told
        assert app.screen.title == "You have begun"
        await press(pilot, "escape")
        assert is_showing(app, Home)


async def test_joining_says_of_a_repository_and_of_a_place_that_lace_does_not_know(story: Story) -> None:
    """APP-1: `lace accept` says both, and the app took the invitation without that place and told nothing."""
    with story.open("alice") as alice:
        made = replace(invite(alice, "dora"), places=(("moon", "moonbase:crater"),))
    folder = story.folder("dora")
    (folder / ".git").mkdir(parents=True)
    app = app_of(story, "dora")
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        await press(pilot, "j")
        app.screen.query_one(Input).value = made.encode()
        await press(pilot, "enter", "enter")
        told = " ".join(page_of(app).split())
    assert "! The place moon at moonbase:crater is of a kind this lace does not speak; it was left out." in told
    assert "! .git lies in your shared folder" in told


async def test_a_peer_is_shown_with_the_words_of_their_key(app: LaceApp, story: Story) -> None:
    """APP-1, APP-4: where two compare, the app had the key alone, which nobody reads out."""
    with story.open("bob") as bob:
        words = fingerprint_words(bob.node)
    async with app.run_test(size=(110, 34)) as pilot:
        await settle(pilot)
        await press(pilot, "/", *"bob  peer", "enter", "enter")
        assert f"Words: {words}" in " ".join(page_of(app).split())
        await press(pilot, "escape", "escape", "4", "/", *"bob", "enter", "enter")
        assert f"Words: {words}" in " ".join(page_of(app).split())
