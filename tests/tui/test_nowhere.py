"""What a sync says where nothing is selected to sync with (APP-1, APP-5)."""

from __future__ import annotations

import threading

import pytest

from lace_tui.app.lace import LaceApp
from lace_tui.model import reading
from lace_tui.model.view import HomeView
from lace_tui.screens.dialogs import PlanPage
from tests.tui.conftest import is_showing, press, settle
from vault.vault import Vault

SIZE = (100, 30)


def _told(app: LaceApp) -> list[str]:
    return [note.message for note in app._notifications]


async def test_a_key_before_the_vault_is_read_denies_no_place(app: LaceApp, monkeypatch: pytest.MonkeyPatch) -> None:
    """APP-5: it said that there is no place yet, to somebody who has two."""
    is_free, real = threading.Event(), reading.read_home

    def late(vault: Vault) -> HomeView:
        is_free.wait(20)
        return real(vault)

    monkeypatch.setattr(reading, "read_home", late)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("s", "S", "t")
        await pilot.pause()
        told = _told(app)
        is_free.set()
        await settle(pilot)
    assert told
    assert not [said for said in told if "no place" in said]


async def test_a_filter_that_hides_all_places_denies_none(app: LaceApp) -> None:
    """APP-1: what is hidden is there still."""
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "/", *"zzz", "enter", "s")
        assert "Select a place or a peer." in _told(app)


async def test_a_filter_that_hides_what_waits_does_not_deny_it(app: LaceApp) -> None:
    """APP-4: the queue said that nothing waits, below a header that counts what does."""
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "3", "/", *"zzz", "enter", "x", "r")
        assert _told(app) == ["Select what waits."] * 2
        await press(pilot, "escape", "escape", "x")
        assert is_showing(app, PlanPage)
