"""A passphrase for one's own key is given and taken away in the app too (APP-1, APP-11)."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from lace_tui.app.lace import LaceApp
from lace_tui.screens.dialogs import PlanPage, Question
from lace_tui.screenshots import Story
from tests.tui.conftest import is_showing, page_of, press, rows_of, settle, text_of
from vault.identity.keys import KeyLocked

SECRET = " open sesame"  # a passphrase may begin with a space


def _is_protected(story: Story) -> bool:
    with story.open("alice") as vault:
        return vault.keys_here.is_protected(vault.node)


async def _type(pilot: Pilot[None], text: str) -> None:
    line = pilot.app.screen.query_one(Input)
    assert line.password, "nobody reads it over a shoulder"
    line.value = text
    await press(pilot, "enter")


async def _protect(pilot: Pilot[None]) -> None:
    await press(pilot, "p")
    await _type(pilot, SECRET)
    await _type(pilot, SECRET)


@pytest.mark.parametrize("size", [(60, 20), (80, 24), (120, 40)])
async def test_a_key_gets_a_passphrase_and_loses_it(app: LaceApp, story: Story, size: tuple[int, int]) -> None:
    """APP-11: the app said that no key of theirs is protected nowhere, and could do nothing about it."""
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await press(pilot, "8")
        assert "passphrase" in rows_of(app)
        await _protect(pilot)
        assert _is_protected(story)
        assert app.card is not None
        assert "Your key opens with this passphrase only." in app.card.lines[0].plain
        assert "asked for" in next(row for row in rows_of(app).splitlines() if "passphrase" in row)
        with story.open("alice") as vault, pytest.raises(KeyLocked):
            vault.key()
        await press(pilot, "p")
        assert is_showing(app, PlanPage)
        assert "lace key unprotect" in page_of(app)
        await press(pilot, "n")
        assert _is_protected(story)
        await press(pilot, "p", "y")
        assert is_showing(app, Question), "the key is open for nobody yet in this sitting"
        await _type(pilot, SECRET)
        assert not _is_protected(story)
        assert "none" in next(row for row in rows_of(app).splitlines() if "passphrase" in row)


async def test_two_that_differ_lock_nobody_out(app: LaceApp, story: Story) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await press(pilot, "8", "p")
        await _type(pilot, SECRET)
        await _type(pilot, SECRET.strip())
        assert is_showing(app, Question)
        assert "The two passphrases differ. Nothing was changed." in text_of(app, "#question")
        await press(pilot, "escape")
        assert not _is_protected(story)


async def test_another_passphrase_is_asked_for_as_if_none_was_given(app: LaceApp, story: Story) -> None:
    """APP-11: the one before was tried by itself, and it said that the passphrase does not open the key."""
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await press(pilot, "8")
        await _protect(pilot)
        await press(pilot, "p", "y")
        await _type(pilot, SECRET)
        await press(pilot, "p")
        await _type(pilot, "another")
        await _type(pilot, "another")
        await press(pilot, "p", "y")
        assert text_of(app, "#question").startswith("Your key is protected. It is opened for this sitting only")
        await _type(pilot, "another")
        assert not _is_protected(story)


async def test_it_was_protected_meanwhile(app: LaceApp, story: Story) -> None:
    """APP-13: another process may have done it; the passphrase that it has stays."""
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await press(pilot, "8", "p")
        await _type(pilot, SECRET)
        with story.open("alice") as vault:
            vault.keys_here.protect(vault.node, b"another")
        await _type(pilot, SECRET)
        assert app.card is not None
        assert "opens with a passphrase already. (protected-already)" in app.card.lines[0].plain
        assert app.card.is_bad


async def test_settings_are_shown_where_the_key_cannot_be_read(app: LaceApp, story: Story) -> None:
    """APP-14: what is wrong with it is told where somebody asks."""
    for key in (story.root / "homes" / "alice").rglob("*.key"):
        key.chmod(0o644)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await press(pilot, "8", "p")
        assert "not known" in rows_of(app)
        assert any("F in Audit says what is wrong." in note.message for note in app._notifications)
