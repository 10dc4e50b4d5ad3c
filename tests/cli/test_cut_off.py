"""An update that was cut off, or left files saved meanwhile, is told by who only looks (APP-4, APP-13)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.circle.world import open_vault
from tests.cli.conftest import make_pair
from tests.cli.cutting import cut_folder_off
from tests.people import Person
from tests.shelf import Shelf
from vault.desk_folders import MAIN
from vault.folder import unfinished
from vault.notes.folders import LEFT_AS_SAVED


@pytest.fixture
def cut(shelf: Shelf) -> Person:
    """Bob, whose update to alice's 1.1.0 was cut off before it wrote anything."""
    return shelf.lay(_cut)


def _cut(root: Path) -> Person:
    alice, bob = make_pair(root)
    alice.write("list.md", "milk\nbread\n")
    alice.lace("release", "1.1.0")
    alice.lace("sync", "stick")
    bob.lace("sync", "stick")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unfinished, "_write_folder", cut_folder_off)
        assert bob.run("update").code != 0
    assert (bob.folder / "list.md").read_text() == "milk\n"
    return bob


def test_status_tells_of_it_and_names_the_command_that_finishes_it(cut: Person) -> None:
    """LAZ-56: from stored state alone, so the folder stays as it is; it was silent, and said that all was well."""
    told = cut.text("status")
    assert "! its folder is written in part: an update was cut off" in told
    assert "to finish it: lace changes\n" in told
    (desk,) = cut.lace("status")["desks"]
    assert desk["unfinished"]
    assert cut.text("status") == told, "the kept answer too"
    assert (cut.folder / "list.md").read_text() == "milk\n"
    assert cut.text("changes") == "Nothing changed.\n"
    assert (cut.folder / "list.md").read_text() == "milk\nbread\n"
    assert "in part" not in cut.text("status")
    assert not cut.lace("status")["desks"][0]["unfinished"]


def test_a_look_at_the_folder_finishes_it_and_says_nothing_of_it_any_more(cut: Person) -> None:
    told = cut.text("status", "--tree")
    assert "in part" not in told
    assert "nothing changed in the folder" in told
    assert (cut.folder / "list.md").read_text() == "milk\nbread\n"


@pytest.mark.parametrize("words", [("update",), ("merge", "main", "--from", "alice/main@1.1.0", "--strategy", "fine")])
def test_a_plan_tells_of_it_and_leaves_it(cut: Person, words: tuple[str, ...]) -> None:
    """It said that there is nothing new, over a folder that was written in part."""
    told = cut.text(*words, "--dry-run")
    assert told.startswith("The last update of this folder was cut off, and would be finished first.\n")
    assert told.endswith("Next: lace changes\n")
    planned = cut.lace(*words, "--dry-run")
    assert (planned["unfinished"], planned["next"], planned["kept"]) == (True, "lace changes", [])
    assert (cut.folder / "list.md").read_text() == "milk\n"
    assert not cut.lace(*words)["unfinished"]
    assert (cut.folder / "list.md").read_text() == "milk\nbread\n"
    assert not cut.lace(*words, "--dry-run")["unfinished"]


def test_a_plan_names_what_will_wait_for_a_person(cut: Person) -> None:
    """APP-12: a plan says what the update itself would: a file that was saved since does not merge with what came."""
    cut.write("list.md", "eggs\n")
    for planned in (cut.lace("update", "--dry-run", expect=1), cut.lace("update", expect=1)):
        assert planned["kept"] == ["list.md"]
    planned = cut.lace("update", "--dry-run", expect=1)
    assert (planned["unfinished"], planned["kept"]) == (False, ["list.md"])
    assert "lace commit -m TEXT list.md" in planned["next"]


def test_status_names_what_keeps_a_file_that_alone_was_left(cut: Person) -> None:
    """LAZ-56: it said to finish the update with `lace changes`, which only named the command that ends it."""
    cut.write("list.md", "eggs\n")
    (desk,) = cut.lace("status")["desks"]
    assert (desk["unfinished"], desk["left"]) == (True, [])  # nobody looked at the folder yet
    cut.run("changes")
    told = cut.text("status")
    assert "! saved by you while an update was written, so left as saved: list.md\n" in told
    assert "    to keep yours: lace commit -m TEXT list.md - to have theirs: move yours away, then lace " in told
    assert "in part" not in told
    (desk,) = cut.lace("status")["desks"]
    assert (desk["unfinished"], desk["left"]) == (True, ["list.md"])
    (cut.folder / "deep").mkdir()
    there = cut.run("status", cwd=cut.folder / "deep").text
    assert "lace commit -m TEXT ../list.md" in there
    cut.lace("commit", "-m", "eggs", "list.md")
    (desk,) = cut.lace("status")["desks"]
    assert (desk["unfinished"], desk["left"]) == (False, [])
    assert "list.md" not in cut.text("status")


def test_status_forgets_a_file_that_was_moved_away(cut: Person) -> None:
    cut.write("list.md", "eggs\n")
    cut.run("changes")
    (cut.folder / "list.md").rename(cut.folder / "mine.md")
    assert cut.text("changes") == "+ mine.md\n"
    assert (cut.folder / "list.md").read_text() == "milk\nbread\n"
    (desk,) = cut.lace("status")["desks"]
    assert (desk["unfinished"], desk["left"]) == (False, [])


@pytest.mark.parametrize("way", ["by name", "moved away", "merged"])
def test_nothing_is_noted_any_more_once_the_update_ended(cut: Person, way: str) -> None:
    """LAZ-56: the row stayed, and the next update to that very tree was told as one that waits for a person."""
    cut.write("list.md", "eggs\n")
    cut.run("changes")
    with open_vault(cut) as vault:
        assert vault.store.note(LEFT_AS_SAVED, MAIN)
    match way:
        case "by name":
            cut.lace("commit", "-m", "eggs", "list.md")
        case "moved away":
            (cut.folder / "list.md").rename(cut.folder / "mine.md")
            cut.run("changes")
        case _:
            cut.write("list.md", "milk\nbread\n")
            cut.run("changes")
    with open_vault(cut) as vault:
        assert not vault.store.rows("SELECT 1 FROM unfinished")
        assert not vault.store.note(LEFT_AS_SAVED, MAIN)


def test_the_same_update_again_says_what_it_wrote(cut: Person) -> None:
    """APP-13, LAZ-40: it wrote what a full disk had left, and said that there is nothing new."""
    cut.write("list.md", "milk\n")
    planned = cut.text("update", "--dry-run")
    assert "and would be finished first.\nThat is all there is to do: 1 file would be written.\n  list.md\n" in planned
    done = cut.run("update")
    assert done.text == "The last update of this folder was cut off.\nNow it is finished: 1 file written.\n  list.md\n"
    assert (cut.folder / "list.md").read_text() == "milk\nbread\n"
    assert not cut.lace("update")["finished"]


def test_what_a_cut_off_update_left_is_among_what_is_written(cut: Person) -> None:
    """APP-13."""
    done = cut.lace("update")
    assert (done["finished"], done["written"], done["relation"]) == (True, ["list.md"], "same")
