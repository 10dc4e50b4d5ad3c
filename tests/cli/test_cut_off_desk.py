"""An update of one desk that was cut off, and whose folder cannot be written, keeps no other desk back (APP-13)."""

from __future__ import annotations

from pathlib import Path

import pytest

from lace_tui.model.deeds import cut_off, finish
from tests.circle.world import open_vault
from tests.cli.conftest import make_pair
from tests.cli.cutting import cut_folder_off
from tests.cli.desks import meet
from tests.people import Person
from tests.shelf import Shelf
from vault.desk_folders import FolderGone
from vault.folder import unfinished
from vault.watch import Watch


@pytest.fixture
def cut(shelf: Shelf) -> Person:
    """Bob, whose update of the desk songs was cut off before it wrote anything, and whose folder of it was moved."""
    return shelf.lay(_cut)


def _cut(root: Path) -> Person:
    alice, bob = pair = make_pair(root)
    for person in pair:
        person.lace("desk", "add", "songs", "songs")
    alice.write("songs/a", "la\n")
    alice.write("songs/b", "b\n")
    alice.lace("release", "1.0.0", "--desk", "songs")
    meet(alice, bob)
    bob.lace("update", "songs")
    alice.write("songs/a", "la la\n")
    alice.lace("release", "1.1.0", "--desk", "songs")
    alice.write("list.md", "milk\nbread\n")
    alice.lace("release", "1.1.0")
    meet(alice, bob)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unfinished, "_write_folder", cut_folder_off)
        assert bob.run("update", "songs").code != 0
    (bob.folder / "songs").rename(bob.folder / "away")
    return bob


def test_another_desk_is_committed_updated_and_undone(cut: Person) -> None:
    """APP-13, CLAY-3: every command about main failed for the folder of a desk that nobody asked about."""
    cut.write("notes.md", "mine\n")
    assert cut.lace("commit", "-m", "mine", "notes.md")["changed"] == ["notes.md"]
    cut.lace("undo")
    (cut.folder / "away").rename(cut.home / "away")
    assert cut.lace("update")["written"] == ["list.md"]
    cut.write("notes.md", "mine too\n")
    cut.lace("release", "1.2.0")


def test_who_asks_about_that_desk_is_told_where_its_folder_is(cut: Person) -> None:
    """APP-13, CLAY-3: it said that the folder cannot be changed, and named no way out."""
    for words in (["update", "songs"], ["update", "songs", "--dry-run"], ["commit", "-m", "x", "--desk", "songs"]):
        told = cut.lace(*words, expect=FolderGone.exit_code)["error"]
        assert told["code"] == FolderGone.code
        assert "The folder of the desk songs is gone" in told["message"]
        assert "lace desk add songs DIR" in told["hint"]


def test_it_is_finished_once_the_folder_is_named(cut: Person) -> None:
    """APP-13: what is noted of it stays, whatever was done to other desks meanwhile."""
    cut.lace("commit", "-m", "mine", "notes.md")
    cut.lace("desk", "add", "songs", "away")
    assert cut.lace("changes", "songs")["changed"] == []
    assert (cut.folder / "away/a").read_text() == "la la\n"


def test_nor_does_it_keep_back_an_update_of_main_in_the_screens(cut: Person) -> None:
    """APP-4, APP-13: what was cut off in another desk could be neither seen nor finished."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unfinished, "_write_folder", cut_folder_off)
        (cut.folder / "away").rename(cut.home / "away")
        assert cut.run("update").code != 0
    with open_vault(cut) as vault:
        shown = cut_off(vault, Watch())
        assert shown is not None
        assert shown.moves == {"main": (("list.md",), ())}
        finish(vault, shown, Watch())
    assert (cut.folder / "list.md").read_text() == "milk\nbread\n"


def test_checkout_makes_the_folder_again(cut: Person) -> None:
    """CLAY-71, APP-13: the way out that is named leads out of it."""
    cut.lace("checkout", "songs")
    assert (cut.folder / "songs/a").read_text() == "la la\n"
    assert (cut.folder / "songs/b").read_text() == "b\n"
