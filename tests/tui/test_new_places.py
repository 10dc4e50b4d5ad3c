"""Places that are added in the app as by command: for everybody who reaches them, or for members alone (APP-1)."""

from __future__ import annotations

from textual.widgets import Input

from lace_tui.app.lace import LaceApp
from lace_tui.screenshots import Story
from lazy.places.registry import is_encrypted, place_named
from tests.tui.conftest import page_of, press, settle, text_of


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


async def test_a_directory_whose_name_ends_as_the_option_is_named_in_quotes(app: LaceApp, story: Story) -> None:
    """APP-1: the one without that end was taken for the place, though it is the other that is there."""
    where = story.root / "cloud --encrypt"
    where.mkdir()
    async with app.run_test(size=(140, 40)) as pilot:
        await settle(pilot)
        await press(pilot, "a", "ctrl+u", *"cloud", "enter")
        app.screen.query_one(Input).value = str(where)
        await press(pilot, "enter")
        assert "put quotes around it" in " ".join(text_of(app, "#question").split())
        app.screen.query_one(Input).value = f"'{where}'"
        await press(pilot, "enter")
        assert "can read" not in text_of(app, "#card-text")
        with story.open("alice") as vault:
            place = place_named(vault, "cloud")
            assert not is_encrypted(vault, place)
        assert [each.name for each in where.iterdir()] == ["lace-drop.txt"]
        assert not (story.root / "cloud").exists()


async def test_a_place_tells_that_it_is_encrypted_and_where_it_lies(app: LaceApp, story: Story) -> None:
    """APP-1, CYB-15: `lace places` tells it, the app did at the adding alone; and %E6%B1%A4 is no name to read."""
    where = story.root / "my 汤"
    where.mkdir()
    async with app.run_test(size=(140, 40)) as pilot:
        await settle(pilot)
        await press(pilot, "a", "ctrl+u", *"cloud", "enter")
        app.screen.query_one(Input).value = f"{where} --encrypt"
        await press(pilot, "enter")
        assert "cloud  drop, encrypted  " in text_of(app, "#meet")
        assert "stick  drop  " in text_of(app, "#meet")
        assert f"file://{where}" in text_of(app, "#card-text")
        await press(pilot, "enter")
        assert f"cloud: file://{where}" in page_of(app)
        assert "Encrypted: what you put there only members can read" in page_of(app)
        await press(pilot, "escape", "e")
        assert app.screen.query_one(Input).value == f"file://{where}"
        await press(pilot, "enter")
        assert "cloud is there already" in text_of(app, "#question"), "what is proposed is the address that it has"
        await press(pilot, "escape", "4", "G", "k", "k", "enter")
        assert f"Where: file://{where}" in page_of(app)
        assert "Encrypted: what you put there only members can read" in page_of(app)


async def test_the_making_of_a_directory_tells_who_will_read_what_lies_there(app: LaceApp, story: Story) -> None:
    """APP-1, CYB-15: what was agreed to named the directory alone; `-encrypt` would have been taken for its name."""
    async with app.run_test(size=(140, 40)) as pilot:
        await settle(pilot)
        for typed, told in (("--encrypt", True), ("", False)):
            await press(pilot, "a", "ctrl+u", *"cloud", "enter")
            app.screen.query_one(Input).value = f"{story.root / 'new'} {typed}".strip()
            await press(pilot, "enter")
            assert ("What you put there only members can read." in page_of(app)) is told
            await press(pilot, "n", "escape")
