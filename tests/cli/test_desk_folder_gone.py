"""A desk whose folder was moved: its files are given away by no other desk until somebody says so (CLAY-3, CLAY-80)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import make_pair
from tests.people import Person
from tests.shelf import Shelf
from vault.desk_folders import FolderGone


@pytest.fixture
def writer(shelf: Shelf) -> Person:
    """Alice, with a diary that bob may not read, in a folder that was moved."""
    return shelf.lay(_writer)


def _writer(root: Path) -> Person:
    alice, _ = make_pair(root)
    alice.write("a.txt", "one\n")
    alice.lace("release", "1.5.0")
    alice.write("diary/d.txt", "secret\n")
    alice.lace("desk", "add", "diary", "diary")
    alice.lace("desk", "permit", ".", "--read", "--not", "bob", "--desk", "diary")
    (alice.folder / "diary").rename(alice.folder / "private")
    return alice


def test_what_was_moved_out_of_a_desk_is_not_given_away(writer: Person) -> None:
    """CLAY-80, CLAY-3: the next release of main gave the files of the moved folder to everybody."""
    for words in (["commit", "-m", "x"], ["release", "1.6.0"], ["release", "1.6.0", "--dry-run"]):
        told = writer.lace(*words, expect=FolderGone.exit_code)["error"]
        assert told["code"] == FolderGone.code
        assert "The folder of the desk diary is gone" in told["message"]
        assert "private/d.txt" in told["message"]
        assert "lace desk add diary DIR" in told["hint"]
    (notice,) = writer.lace("changes")["notices"]
    assert (notice["path"], notice["kind"]) == ("diary", "notice")
    assert "lace desk add diary DIR" in notice["reason"]
    writer.lace("desk", "add", "diary", "private")
    assert writer.lace("changes")["notices"] == []
    assert writer.lace("release", "1.6.0", expect=0)["added"] == []


def test_what_is_named_or_known_goes_on_while_a_desk_has_no_folder(writer: Person) -> None:
    """CLAY-3: who names a file means it, and an edited one was never in the other desk."""
    writer.write("a.txt", "two\n")
    writer.write("b.txt", "mine to share\n")
    assert writer.lace("commit", "-m", "by name", "a.txt", "b.txt")["added"] == ["b.txt"]
    assert writer.lace("commit", "-m", "a folder by name", "private")["added"] == ["private/d.txt"]
    writer.write("a.txt", "three\n")
    assert writer.lace("changes")["notices"] == []
    assert writer.lace("commit", "-m", "all")["changed"] == ["a.txt"]


def test_nor_by_another_desk_into_which_it_was_moved(writer: Person) -> None:
    """CLAY-80: the folder may lie in any desk now."""
    writer.lace("desk", "add", "songs", "songs")
    (writer.folder / "private").rename(writer.folder / "songs" / "private")
    told = writer.lace("release", "1.0.0", "--desk", "songs", expect=FolderGone.exit_code)["error"]
    assert "The folder of the desk diary is gone" in told["message"]
    assert writer.lace("changes", "songs")["notices"][0]["path"] == "../diary"


@pytest.mark.parametrize("more", [("--dry-run",), ()])
def test_an_update_commits_nothing_that_may_be_of_a_desk(writer: Person, bob: Person, more: tuple[str, ...]) -> None:
    """CLAY-80, LAZ-1: the commit before an update took in the files of the moved folder."""
    for person in (writer, bob):
        person.lace("sync", "stick")
    bob.lace("update")
    bob.write("b.txt", "bob's\n")
    bob.lace("release", "1.6.0")
    for person in (bob, writer):
        person.lace("sync", "stick")
    told = writer.lace("update", *more, expect=FolderGone.exit_code)["error"]
    assert "private/d.txt" in told["message"]
    assert not (writer.folder / "b.txt").exists()
    writer.lace("desk", "add", "diary", "private")
    assert writer.lace("update", *more)["written"] == ["b.txt"]
