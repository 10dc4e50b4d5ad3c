"""A place gets another address, or is tried; a release says what is new (APP-1)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from textual.widgets import Input

from lace_tui.app.lace import LaceApp
from lace_tui.keys.taste import Taste
from lace_tui.model.deeds import move_place
from lace_tui.screens.dialogs import PlanPage, Question
from lace_tui.screenshots import Story, app_of
from lazy.log import log_lines
from lazy.places.media import set_encrypted
from lazy.places.registry import is_encrypted, place_named
from tests.tui.conftest import is_showing, page_of, press, settle, text_of
from vault.errors import LaceError
from vault.outside import InTheVault

SIZE = (120, 34)


async def test_a_place_gets_another_address(app: LaceApp, story: Story, tmp_path: Path) -> None:
    """APP-1: the page names `e`; it took two commands, and its encryption was to be set anew."""
    with story.open("alice") as vault:
        set_encrypted(vault, place_named(vault, "stick"), rebase=False)
    other = tmp_path / "other"
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "e")
        assert is_showing(app, Question)
        assert app.screen.query_one(Input).value == story.stick.as_uri()
        app.screen.query_one(Input).value = str(other)
        await press(pilot, "enter")
        assert is_showing(app, PlanPage)
        assert not other.exists(), "it may be mistyped"
        await press(pilot, "y")
        assert f"= stick: {other.as_uri()}" in text_of(app, "#card-text")
        assert app._activity == ["lace place remove stick", f"lace place add stick {other} --encrypt"]
        with story.open("alice") as vault:
            place = place_named(vault, "stick")
            assert place.uri == other.as_uri()
            assert is_encrypted(vault, place)
        assert "U, twice, takes the move back" in text_of(app, "#card-text")
        await press(pilot, "U", "y", "U", "y")
        with story.open("alice") as vault:
            assert place_named(vault, "stick").uri == story.stick.as_uri()


async def test_a_place_that_cannot_move_stays_where_it_is(app: LaceApp, story: Story, tmp_path: Path) -> None:
    """APP-13: neither of the two acts is done then, and the question says why."""
    file = tmp_path / "file"
    file.write_text("no directory")
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "e")
        app.screen.query_one(Input).value = str(file)
        await press(pilot, "enter")
        assert is_showing(app, Question)
        assert "file" in text_of(app, "#question")
        await press(pilot, "escape")
        with story.open("alice") as vault:
            assert place_named(vault, "stick").uri == story.stick.as_uri()
        while app.screen.query_one("#meet").highlighted_id.startswith("place"):  # type: ignore[attr-defined]
            await press(pilot, "j")
        await press(pilot, "e")
        assert "Select a place." in [note.message for note in app._notifications]


async def test_a_place_is_tried(app: LaceApp) -> None:
    """The page names `t` for it: it is reached, and nothing is moved."""
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "t")
        assert "Nothing was moved" in text_of(app, "#card-text")
        await press(pilot, "k", "t")
        assert "cannot be reached" in text_of(app, "#card-text")


async def test_a_release_says_what_is_new(app: LaceApp, story: Story) -> None:
    """APP-1: `lace release -m`; in the app a release had no words."""
    (story.folder("alice") / "new.txt").write_text("new")
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "R")
        app.screen.query_one(Input).value = "plums 1.2.0"
        await press(pilot, "enter")
        assert "plums" in text_of(app, "#question")
        app.screen.query_one(Input).value = "1.2.0 plums, and a cake"
        await press(pilot, "enter")
        assert "main 1.2.0 is released" in text_of(app, "#card-text")
        assert app._activity == ["lace release 1.2.0 -m 'plums, and a cake'"]
        with story.open("alice") as vault:
            assert any("plums, and a cake" in line.words for line in log_lines(vault))


async def test_a_place_stays_known_where_neither_address_can_be(app: LaceApp, story: Story, tmp_path: Path) -> None:
    """APP-13: the old address may be why it moves; the place was forgotten when the new one was refused too."""
    (tmp_path / "file").write_text("no directory")
    story.stick.rename(story.stick.with_name("away"))
    story.stick.write_text("no directory either")
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        while app.screen.query_one("#meet").highlighted_id != "place stick":  # type: ignore[attr-defined]
            await press(pilot, "j")
        await press(pilot, "e")
        app.screen.query_one(Input).value = str(tmp_path / "file")
        await press(pilot, "enter")
        assert str(tmp_path / "file") in text_of(app, "#question")
        with story.open("alice") as vault:
            assert place_named(vault, "stick").uri == story.stick.as_uri()
    story.stick.unlink()
    story.stick.with_name("away").rename(story.stick)


async def test_a_place_that_is_there_already_forgets_nothing(app: LaceApp, story: Story) -> None:
    """APP-1: enter on the address that is proposed took away when it was synced last."""
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        for typed in (story.stick.as_uri(), str(story.stick)):
            await press(pilot, "e")
            app.screen.query_one(Input).value = typed
            await press(pilot, "enter")
            assert is_showing(app, Question)
            assert "stick is there already" in text_of(app, "#question")
            await press(pilot, "escape")
        assert app.view is not None
        assert all(place.last_sync for place in app.view.places if place.place.name == "stick")


async def test_a_release_keeps_words_behind_any_space(app: LaceApp, story: Story) -> None:
    """APP-1: what is pasted may hold a space that does not break, or a tab; the first word was dropped then."""
    (story.folder("alice") / "new.txt").write_text("new")
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "R")
        app.screen.query_one(Input).value = "1.2.0\u00a0plums and a cake"
        await press(pilot, "enter")
        assert app._activity == ["lace release 1.2.0 -m 'plums and a cake'"]


async def test_what_is_told_in_peers_names_keys_that_work_there(app: LaceApp, story: Story, tmp_path: Path) -> None:
    """APP-1: it named `i` and `U`, which are Home's, and of a move not where the place had been."""
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "4", "G", "e")
        app.screen.query_one(Input).value = str(tmp_path / "other")
        await press(pilot, "enter", "y")
        assert "invites" not in "".join(note.message for note in app._notifications)
        assert app.card is not None
        assert any(story.stick.as_uri() in line.plain for line in app.card.lines)
        await press(pilot, "x", "y")
        assert "U brings it back" in "".join(note.message for note in app._notifications)


def test_a_move_that_the_new_address_refuses_forgets_nothing(story: Story) -> None:
    """APP-13: a good address that is refused only once it is looked at; the place was to be forgotten by then."""
    with story.open("alice") as vault:
        before, synced = place_named(vault, "stick"), vault.store.rows("SELECT * FROM last_sync ORDER BY place")
        (last,) = vault.store.rows("SELECT max(seq) FROM audit")
        for uri, error in ((place_named(vault, "office").uri, LaceError), (str(vault.dot / "place"), InTheVault)):
            with pytest.raises(error):
                move_place(vault, "stick", uri, story.root)
            assert place_named(vault, "stick") == before
        assert vault.store.rows("SELECT * FROM last_sync ORDER BY place") == synced
        assert vault.store.rows("SELECT max(seq) FROM audit") == [last]


async def test_a_stick_that_comes_is_told_with_a_key_that_syncs_it(app: LaceApp, story: Story) -> None:
    """APP-1: on History it said that `s` syncs it, where `s` does nothing, whatever key somebody had chosen for it."""
    away = story.stick.with_name("away")
    app.live_by(Taste(keys={"sync": "f9"}), lambda _: None)
    async with app.run_test(size=SIZE) as pilot:
        for place, told in (("1", "stick is here now: F9 syncs it."), ("5", "stick is here now: F9 syncs it on Home.")):
            await press(pilot, place)
            story.stick.rename(away)
            await press(pilot, "f5")
            away.rename(story.stick)
            await press(pilot, "f5")
            assert told in [notice.message for notice in app._notifications]


async def test_a_place_that_is_here_again_is_not_said_to_be_out_of_reach(app: LaceApp, story: Story) -> None:
    """APP-5: its row said `here now` and, below, that it cannot be reached, until the next sync."""
    away = story.stick.with_name("away")
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        assert "sync stick" in text_of(app, "#foot")
        story.stick.rename(away)
        await press(pilot, "f5", "s")
        assert re.search(r"stick  drop  o not here\n.*\n  ! The drop .* cannot be reached", text_of(app, "#meet"))
        away.rename(story.stick)
        await press(pilot, "f5")
        assert "stick  drop  * here now" in text_of(app, "#meet")
        assert "cannot be reached" not in text_of(app, "#meet")
        await press(pilot, "enter")
        assert "cannot be reached" not in page_of(app)


async def test_a_path_counts_from_where_the_app_was_opened(story: Story) -> None:
    """APP-1: it counted from the shared folder, so what was shown as the same by command meant another directory."""
    docs = story.folder("alice") / "docs"
    docs.mkdir()
    beside, further = story.folder("alice") / "second", docs / "copy"
    app = app_of(story, "alice", here=docs)
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "a")
        app.screen.query_one(Input).value = "second"
        await press(pilot, "enter")
        app.screen.query_one(Input).value = "../second"
        await press(pilot, "enter")
        assert f"There is no directory {beside}." in " ".join(page_of(app).split())
        await press(pilot, "y")
        assert app._activity == ["lace place add second ../second"]
        assert beside.is_dir()
        with story.open("alice") as vault:
            assert place_named(vault, "second").uri == beside.as_uri()
        await press(pilot, "5", "slash", *"autumn", "enter", "f", "x")
        app.screen.query_one(Input).value = "copy"
        await press(pilot, "enter")
        assert app._activity[-1].endswith(" --to copy")
        assert (further / "menu.md").is_file()
        await press(pilot, "1")
        assert f"in {further}" in " ".join(text_of(app, "#card-text").split())
