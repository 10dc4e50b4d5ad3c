"""The app checks everything as `lace fsck` does, and repairs once that is agreed to (APP-1, APP-13, APP-14)."""

from __future__ import annotations

import fcntl
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from lace_tui.app.lace import LaceApp
from lace_tui.screens.dialogs import PlanPage
from lace_tui.screens.lines import Lines
from lace_tui.screenshots import Story
from lazy.mend import examine
from tests.tui.conftest import is_showing, page_of, press, rows_of, settle, text_of
from vault.fsck import unopened
from vault.vault import Vault

SIZES = [(60, 20), (80, 24), (120, 40)]


def _store(story: Story) -> str:
    return str(story.folder("alice") / ".vault" / "store.db")


def _rot_record(story: Story) -> None:
    with closing(sqlite3.connect(_store(story))) as db, db:
        db.execute("UPDATE body SET bytes = bytes || x'00' WHERE p = (SELECT max(p) FROM log)")


def _rot_head(story: Story) -> None:
    with Path(_store(story)).open("r+b") as file:
        file.write(b"\0")


def _report(story: Story) -> str:
    with Vault(story.folder("alice"), story.around("alice"), mending=True) as vault:
        report = examine(vault)
        return "whole" if report.ok else report.bad[0].message


async def test_a_check_says_that_all_is_whole(app: LaceApp, story: Story) -> None:
    """APP-1: it says what the command says, and the command stands on the page of what was done."""
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        await press(pilot, "6", "F", "1")
        assert "Check: all is whole" in str(app.screen.query_one("#card").border_title)
        assert "records are whole, and every view follows from them." in text_of(app, "#card-text")
        await press(pilot, "exclamation_mark")
        assert page_of(app) == "lace fsck"
    assert _report(story) == "whole"


@pytest.mark.parametrize("size", SIZES)
async def test_what_is_wrong_is_repaired_once_that_is_agreed_to(
    app: LaceApp, story: Story, size: tuple[int, int]
) -> None:
    """APP-13: the app said that a command says what is wrong, and nobody could do it there."""
    _rot_record(story)
    wrong = _report(story)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await press(pilot, "6", "F")
        assert is_showing(app, PlanPage)
        assert wrong.split("\n")[0][:40] in page_of(app)
        await press(pilot, "n", "1")
        assert "next: F in Audit, or lace fsck --repair" in text_of(app, "#card-text"), "what was left is told there"
        assert _report(story) == wrong, "nothing was repaired"
        await press(pilot, "6", "F", "y")
        assert app.card is not None
        assert app.card.title == "Repair: done"
        assert any(line.plain.startswith("repaired ") for line in app.card.lines)
        await press(pilot, "1")
        assert "1 conflict" in text_of(app, "#head"), "what is shown was read anew"
    assert _report(story) == "whole"


async def test_a_repair_says_that_the_app_had_the_store_open(
    app: LaceApp, story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-13: what SQLite reads the store by was left as it is, and nobody was told, nor why."""
    monkeypatch.setattr(unopened, "_PATIENCE", 0)
    _rot_record(story)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await press(pilot, "6", "F")
        with Vault(story.folder("alice"), story.around("alice")) as serving:
            assert serving.store.exposed()
            await press(pilot, "y")
            assert app.card is not None
            told = [line.plain for line in app.card.lines]
        assert any("this app has it open elsewhere" in line and "lace fsck --repair" in line for line in told)
        await press(pilot, "6", "F", "1")
        assert "this app has it open" not in text_of(app, "#card-text"), "a check mends nothing"


async def test_a_store_that_cannot_be_opened_is_repaired_too(app: LaceApp, story: Story) -> None:
    """APP-14: all places are empty then; the card says where in the app it is repaired."""
    _rot_head(story)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert "or here: F in Audit, place 6" in text_of(app, "#card-text")
        await press(pilot, "6", "F")
        assert is_showing(app, PlanPage)
        await press(pilot, "y")
        assert app.card is not None
        assert (app.card.title, app.card.is_bad) == ("Repair: done", False)
        await press(pilot, "1")
        assert "1 conflict" in text_of(app, "#head")
    assert _report(story) == "whole"


@pytest.mark.parametrize("size", SIZES)
async def test_what_cannot_be_read_is_said_in_its_place_and_over_no_plan(
    app: LaceApp, story: Story, size: tuple[int, int]
) -> None:
    """APP-14: it was told twice at each place, over the plan too and once it was repaired; the lists said Reading."""
    _rot_head(story)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        for place in "5867":
            await press(pilot, place)
            told = app.screen.query_one("#list", Lines)
            shown = " ".join(told.render_line(y).text.strip() for y in range(6))
            assert "! The store of the vault in" in shown
            assert "or here: F in Audit, place 6" in shown
        assert not app._notifications
        await press(pilot, "6", "F")
        assert is_showing(app, PlanPage)
        assert not app._notifications, "they hid what is asked"
        await press(pilot, "y")
        assert [note.title for note in app._notifications] == ["Repair: done"]
        await press(pilot, "F")
        assert "Check: all is whole" in [note.title for note in app._notifications]


async def test_a_repair_under_way_is_told_where_nothing_could_be_read(app: LaceApp, story: Story) -> None:
    """APP-3: the header stayed empty while it waited for another process; esc stops it, and that is said on Home."""
    _rot_head(story)
    with (story.folder("alice") / ".vault" / "lock").open("ab") as lock:
        async with app.run_test(size=(80, 24)) as pilot:
            await press(pilot, "6", "F")
            fcntl.flock(lock, fcntl.LOCK_EX)
            await pilot.press("y")
            await pilot.pause()
            app.show_progress()
            assert "Repair: " in text_of(app, "#head")
            await press(pilot, "escape")
            assert text_of(app, "#head") == ""
            assert app.card is not None
            assert app.card.title == "Repair: ended early", "the reading after it took that away"
            assert "or here: F in Audit, place 6" in [line.plain for line in app.card.lines]


async def test_a_store_that_rots_under_the_app_is_told_once(app: LaceApp, story: Story) -> None:
    """APP-14: rows that were read stay in sight; each reading told it twice more. Who asks again is told again."""
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await press(pilot, "6")
        _rot_head(story)
        for _ in range(2):
            await press(pilot, "f5")
            assert [note.title for note in app._notifications][-1] == "The vault cannot be read"
        assert len(app._notifications) == 2
        assert "lace-init" in rows_of(app)


async def test_a_passphrase_is_not_asked_for_before_it_is_known_whether_there_is_one(
    app: LaceApp, story: Story
) -> None:
    """APP-14: where the store could not be read, it said that the file of the key cannot."""
    _rot_head(story)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await press(pilot, "8", "p")
        assert [note.message for note in app._notifications] == ["What you have is not read yet."]


async def test_what_no_repair_mends_offers_none(app: LaceApp, story: Story) -> None:
    """CYB-10, APP-14: as by command, nobody is led to a repair that says the same again."""
    for key in (story.root / "homes" / "alice").rglob("*.key"):
        key.chmod(0o644)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await press(pilot, "6", "F")
        assert not is_showing(app, PlanPage)
        assert "chmod go-rwx" in page_of(app)
        await press(pilot, "escape")
        assert app.card is not None
        assert app.card.is_bad
        assert not any("--repair" in line.plain for line in app.card.lines)
