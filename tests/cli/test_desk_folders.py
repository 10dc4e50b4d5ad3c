"""The folders that desks have: gone, moved, taken by something else, on odd disks (CLAY-3)."""

from __future__ import annotations

import shutil

import pytest

from tests.people import Person
from vault.desk_folders import DeskTaken, FolderGone
from vault.desks.modes import Modes


def test_a_disk_that_calls_everything_a_program_changes_no_mode_of_a_desk_in_it(
    alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Faults 8: a sub-folder has no vault of its own to tell the disk by."""
    alice.write("songs/a.txt", "la\n")
    alice.lace("init", "--name", "alice")
    alice.lace("desk", "add", "songs", "songs")
    alice.lace("release", "1.0.0", "--desk", "songs")
    monkeypatch.setattr(Modes, "_shows_program", lambda *_: True)
    for path in ("songs/a.txt", ".vault/.gitignore"):
        (alice.folder / path).chmod(0o755)
    assert alice.lace("changes", "songs")["changed"] == []
    assert alice.lace("commit", "-m", "none", "--desk", "songs")["commit"] is None
    monkeypatch.undo()
    alice.write("songs/b.txt", "lo\n")
    assert alice.lace("changes", "songs")["changed"] == ["a.txt"], "a disk with modes is believed"


def test_the_folder_of_a_desk_that_is_gone_comes_back(alice: Person) -> None:
    """CLAY-3: a folder that is gone is neither an empty one nor a fault of the disk, and hides no other desk."""
    alice.write("a.txt", "a\n")
    alice.lace("init", "--name", "alice")
    alice.write("songs/a.txt", "la\n")
    alice.lace("desk", "add", "songs", str(alice.folder / "songs"))
    alice.lace("release", "0.1.0", "--desk", "songs")
    shutil.rmtree(alice.folder / "songs")
    for command in (
        ["changes", "songs"],
        ["release", "--yes", "--desk", "songs"],
        ["commit", "-m", "x", "--desk", "songs"],
    ):
        told = alice.lace(*command, expect=13)["error"]
        assert told["code"] == FolderGone.code
        assert "lace checkout songs" in told["hint"]
    tree = alice.lace("status", "--tree")
    assert [len(desk["changes"]["problems"]) for desk in tree["desks"]] == [1, 1], "a.txt is new, and may be of songs"
    assert tree["changes"]["added"] == ["a.txt"]
    assert "lace checkout songs" in alice.text("status", "--tree")
    assert alice.lace("checkout", "songs")["written"] == ["a.txt"]
    assert (alice.folder / "songs/a.txt").read_text() == "la\n"
    assert "nothing changed" in alice.text("status", "--tree")


def test_the_folder_of_a_desk_that_was_moved_is_named_where_it_lies_now(alice: Person) -> None:
    """CLAY-3: there was no way to say so, and main went on to take in what lay there."""
    alice.lace("init", "--name", "alice")
    alice.write("songs/a.txt", "la\n")
    alice.lace("desk", "add", "songs", "songs")
    alice.lace("release", "0.1.0", "--desk", "songs")
    (alice.folder / "songs").rename(alice.folder / "lieder")
    assert "lace desk add songs DIR" in alice.lace("changes", "songs", expect=13)["error"]["hint"]
    (alice.folder / "empty").mkdir()
    for folder in ("empty", "nowhere"):  # there all would look deleted
        assert alice.lace("desk", "add", "songs", folder, expect=2)["error"]["code"] == DeskTaken.code
    moved = alice.lace("desk", "add", "songs", "lieder")
    assert (moved["folder"], moved["revision"]) == (str(alice.folder / "lieder"), 1)
    assert alice.lace("desk", "add", "songs", "lieder")["already"]
    alice.write("lieder/b.txt", "lo\n")
    assert alice.lace("changes", "songs")["added"] == ["b.txt"]
    assert alice.lace("changes", "main")["added"] == ["empty"]
    assert alice.lace("desk", "add", "songs", "empty", expect=2)["error"]["code"] == DeskTaken.code


def test_what_stands_in_the_place_of_a_desks_folder_is_told_as_that(alice: Person) -> None:
    """CLAY-3: a file there was told as a disk that is not healthy; and without a commit the way out led nowhere."""
    alice.lace("init", "--name", "alice")
    alice.write("songs/a.txt", "la\n")
    alice.lace("desk", "add", "songs", "songs")
    (alice.folder / "songs").rename(alice.folder.parent / "away")
    told = alice.lace("changes", "songs", expect=13)["error"]
    assert "make it again" in told["hint"]
    assert "lace checkout" not in told["hint"]
    (alice.folder.parent / "away").rename(alice.folder / "songs")
    alice.lace("release", "0.1.0", "--desk", "songs")
    shutil.rmtree(alice.folder / "songs")
    alice.write("songs", "a file\n")
    for command in (["changes", "songs"], ["checkout", "songs"]):
        told = alice.lace(*command, expect=13)["error"]
        assert told["code"] == FolderGone.code
        assert "something else stands at" in told["message"]


def test_two_desks_never_have_one_folder_and_none_lies_behind_a_link(alice: Person) -> None:
    """CLAY-3: by another way to the same folder two desks took in each other's files."""
    alice.lace("init", "--name", "alice")
    alice.write("real/songs/a.txt", "la\n")
    alice.lace("desk", "add", "songs", "real/songs")
    (alice.folder / "link").symlink_to("real")
    for folder in ("link/songs", "link/new"):
        assert alice.lace("desk", "add", "other", folder, expect=2)["error"]["code"] == DeskTaken.code
    assert not (alice.folder / "real" / "new").exists()
