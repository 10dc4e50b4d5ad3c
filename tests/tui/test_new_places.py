"""Places that are added in the app as by command: for everybody who reaches them, or for members alone (APP-1)."""

from __future__ import annotations

from textual.widgets import Input

from lace_tui.app import LaceApp
from lace_tui.screenshots import Story
from lazy.places.registry import is_encrypted, place_named
from tests.tui.conftest import press, settle, text_of


async def test_a_place_is_added_encrypted_in_the_app_too(app: LaceApp, story: Story) -> None:
    """APP-1, CYB-15: what members alone should read went to a place in plain: the app added none otherwise."""
    where = story.root / "cloud"
    where.mkdir()
    async with app.run_test(size=(140, 40)) as pilot:
        await settle(pilot)
        await press(pilot, "a", "ctrl+u", *"cloud", "enter")
        assert "--encrypt" in text_of(app, "#question")
        app.screen.query_one(Input).value = f"{story.folder('bob')} --encrypt"
        await press(pilot, "enter")
        assert "only read, so there is nothing to encrypt" in " ".join(text_of(app, "#question").split())
        app.screen.query_one(Input).value = f"{where} --encrypt"
        await press(pilot, "enter")
        assert "= what you put there only members can read" in text_of(app, "#card-text")
        assert app._activity == [f"lace place add cloud {where} --encrypt"]
        with story.open("alice") as vault:
            assert is_encrypted(vault, place_named(vault, "cloud"))
        await press(pilot, "U", "y")
        assert "cloud" not in text_of(app, "#meet"), "one act, one undo"
