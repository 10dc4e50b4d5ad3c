"""A vault that is a copy says so on Home as soon as its mark tells, and not at its first refused write (APP-13)."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from textual.widgets import Input

from lace_tui.acts.server import Server
from lace_tui.app.lace import LaceApp
from lace_tui.screens.home import Home
from lace_tui.screenshots import Story, app_of
from lazy.people import is_member
from lazy.status import refused_by_mark
from lazy.sync import sync
from lazy.visits.carry import create_bundle
from tests.tui.conftest import is_showing, page_of, press, settle, text_of
from vault.folder.work import commit
from vault.identity.mark import OtherMachine, VaultBehindMark, VaultForked
from vault.names import Version
from vault.releasing import release
from vault.vault import Vault

SIZE = (100, 30)


def _copied(story: Story) -> Path:
    """Copy alice's folder with everything in it; return the copy."""
    folder = story.folder("alice")
    copy = folder.with_name("copy")
    shutil.copytree(folder, copy, symlinks=True)
    return copy


def _releases(story: Story, folder: Path, version: str = "3.0.0") -> None:
    """Release something under alice's key from one of the copies."""
    with Vault(folder, story.around("alice")) as vault:
        (folder / "new.txt").write_text(folder.name + version)
        release(vault, Version.parse(version))


async def test_home_tells_that_another_copy_wrote(story: Story) -> None:
    """APP-13: it looked healthy until its first write was refused."""
    _releases(story, _copied(story))
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        needs = text_of(app, "#needs")
        assert "! This vault has " in needs.splitlines()[0]
        assert "A copy of it wrote since" in needs
        await press(pilot, "tab", "tab", "enter")
        assert "lace adopt" in page_of(app)


async def test_a_copy_goes_on_under_a_new_key_once_the_word_was_typed(story: Story) -> None:
    """APP-1, APP-13: the way out was to be had by command only."""
    _releases(story, _copied(story))
    app = app_of(story, "alice")
    with story.open("alice") as vault:
        before = vault.node
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await press(pilot, "tab", "tab", "enter")
        assert "sync first, by s" in page_of(app)
        await press(pilot, "y", *"yes", "enter")
        assert "That is not adopt" in text_of(app, "#question")
        with story.open("alice") as vault:
            assert vault.node == before
        await press(pilot, "escape", "enter", "y", *"adopt", "enter")
        assert "goes on under a new key" in text_of(app, "#card-text")
        assert "written on this machine" not in text_of(app, "#needs")
        assert app._activity == ["lace adopt"]
    with story.open("alice") as vault:
        assert vault.node != before
        assert is_member(vault, vault.node.text)


async def test_what_another_copy_writes_is_told_while_home_is_open(story: Story) -> None:
    """APP-13: nothing in this copy changes then, so that only the mark tells."""
    copy = _copied(story)
    app: LaceApp = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        app._look()
        await settle(pilot)
        before = app.looking.readings
        assert "written on this machine" not in text_of(app, "#needs")
        _releases(story, copy)
        app._look()  # the clock does this
        await settle(pilot)
        assert "written on this machine" in text_of(app, "#needs")
        app._look()
        await settle(pilot)
        assert app.looking.readings == before + 1


def test_only_what_would_be_refused_is_told(story: Story) -> None:
    """APP-13: each of the verdicts of the mark, asked without a lock."""
    copy = _copied(story)
    alice = story.around("alice")
    with Vault(story.folder("alice"), alice) as one, Vault(copy, alice) as other:
        assert refused_by_mark(one) is refused_by_mark(other) is None
        with one.lock.held():
            assert refused_by_mark(one) is None
        (copy / "more.txt").write_text("more")
        commit(other, "more", desk="main")
    _releases(story, copy)
    with Vault(story.folder("alice"), alice) as one, Vault(copy, alice) as other:
        assert isinstance(refused_by_mark(one), VaultBehindMark)
        assert refused_by_mark(other) is None
    with Vault(copy, replace(alice, machine="0" * 32)) as moved:
        assert isinstance(refused_by_mark(moved), OtherMachine)


def test_a_copy_that_went_another_way_is_told(story: Story) -> None:
    """APP-13: an entry of this copy is not the one that the mark knows, though its log is the longer one."""
    copy, alice = _copied(story), story.around("alice")
    (mark,) = (alice.data_root / "marks").glob("*.mark")
    before = mark.read_bytes()
    for version in ("3.0.0", "3.1.0"):
        _releases(story, copy, version)
    mark.write_bytes(before)  # as where nobody asked it
    _releases(story, story.folder("alice"))
    with Vault(copy, alice) as vault:
        assert isinstance(refused_by_mark(vault), VaultForked)


async def test_nobody_goes_on_under_a_new_key_while_the_old_one_is_served(story: Story) -> None:
    """APP-1: friends would be answered under the key that this vault speaks for no more."""
    _releases(story, _copied(story))
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        app.server = cast("Server", SimpleNamespace(where="here", uri="", is_busy=False, is_over=False))
        await press(pilot, "tab", "tab", "enter")
        assert is_showing(app, Home)
        assert any("by v in Peers" in note.message for note in app._notifications)
        app.server = None


@pytest.mark.parametrize("road", ["place", "file"])
async def test_a_visit_that_may_sign_nothing_tells_what_came(story: Story, tmp_path: Path, road: str) -> None:
    """LAZ-27, APP-14: what came was stored, and the card was that of a visit that failed."""
    with story.open("bob") as bob:
        (story.folder("bob") / "new.txt").write_text("new")
        release(bob, Version.parse("3.0.0"))
        sync(bob, ["stick"])
        create_bundle(bob, tmp_path / "file.lace")
    for mark in (story.around("alice").data_root / "marks").glob("*.mark"):
        mark.unlink()
    app = app_of(story, "alice")
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        if road == "place":
            await press(pilot, "s")
        else:
            await press(pilot, "4", "B")
            app.screen.query_one(Input).value = str(tmp_path / "file.lace")
            await press(pilot, "enter", "y")
            await press(pilot, "1")
        card = text_of(app, "#card-text")
        assert "received 6" in card
        assert "this machine has no mark for it" in card
        assert "lace adopt" in card
