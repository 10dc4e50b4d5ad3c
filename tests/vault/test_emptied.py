"""A folder that lost every file is not committed by itself (LAZ-1, CLAY-24)."""

from __future__ import annotations

from pathlib import Path

import pytest

from lazy.folder.update import update
from lazy.sync import sync
from tests.vault.vaults import found, gathered, write
from vault.desk_folders import add_desk
from vault.folder.unnamed import FolderEmptied
from vault.folder.work import changes, commit
from vault.releasing import release
from vault.revisions.history import line_head
from vault.vault import Vault


def empty(vault: Vault) -> None:
    """Delete every file and leave the folders, as a slip or a cleaner does."""
    for path in sorted(vault.folder.rglob("*")):
        if ".vault" not in path.parts and path.is_file():
            path.unlink()


def number(vault: Vault) -> int:
    """Return how many commits my line has."""
    head = line_head(vault.store, vault.node.text, "main")
    return head.number if head else 0


def test_neither_a_commit_nor_a_release_of_all_lets_every_file_go(tmp_path: Path) -> None:
    """LAZ-1: friends would lose all of it with their next update; nothing is changed, and the way out is named."""
    alice = found(tmp_path)
    write(alice, "a.txt", "one\n")
    write(alice, "deep/b.txt", "two\n")
    release(alice)
    empty(alice)
    for act in (lambda: commit(alice, "gone"), lambda: release(alice)):
        with pytest.raises(FolderEmptied) as caught:
            act()
        assert "All 2 files of main are gone" in caught.value.message
        assert "lace checkout main" in caught.value.hint
    assert number(alice) == 1
    assert changes(alice).paths("deleted") == ["a.txt", "deep/b.txt"]


def test_whoever_names_the_folder_lets_every_file_go(tmp_path: Path) -> None:
    """LAZ-1: a person may mean it."""
    alice = found(tmp_path)
    write(alice, "a.txt", "one\n")
    release(alice)
    empty(alice)
    made = commit(alice, "Begin anew", [""])
    assert made
    assert made.paths("deleted") == ["a.txt"]
    assert release(alice).files == 0


def test_one_file_that_is_left_or_new_is_work(tmp_path: Path) -> None:
    """LAZ-1: only a folder without any file is doubtful."""
    alice = found(tmp_path)
    write(alice, "a.txt", "one\n")
    write(alice, "b.txt", "two\n")
    release(alice)
    (alice.folder / "a.txt").unlink()
    assert commit(alice, "one left")
    (alice.folder / "b.txt").rename(alice.folder / "c.txt")
    assert commit(alice, "renamed")


@pytest.mark.parametrize("text", ["[Desktop Entry]\n", ""])
def test_a_stray_new_file_is_not_what_the_folder_held(tmp_path: Path, text: str) -> None:
    """LAZ-1: a file manager had left one in the emptied folder, and so all twenty others went without a word."""
    alice = found(tmp_path)
    for count in range(20):
        write(alice, f"deep/{count}.txt", f"{count}\n" if count else "")
    release(alice)
    empty(alice)
    write(alice, ".directory", text)
    for act in (lambda: commit(alice, "gone"), lambda: release(alice)):
        with pytest.raises(FolderEmptied, match="All 20 files of main are gone"):
            act()
    assert number(alice) == 1
    assert commit(alice, "Begin anew", [""])


def test_a_file_that_was_moved_or_edited_is_still_there(tmp_path: Path) -> None:
    """LAZ-1: it is what is left of the folder, whatever else went."""
    alice = found(tmp_path)
    for name in ("a.txt", "b.txt"):
        write(alice, name, name)
    release(alice)
    (alice.folder / "a.txt").unlink()
    write(alice, "b.txt", "edited\n")
    assert commit(alice, "edited")
    write(alice, "new.txt", "new\n")
    (alice.folder / "deep").mkdir()
    (alice.folder / "b.txt").rename(alice.folder / "deep/b.txt")
    assert commit(alice, "moved")


@pytest.mark.parametrize("names", [["final.txt"], [f"deep/app.{count}.js" for count in range(38)]])
def test_new_files_in_the_place_of_all_others_are_work(tmp_path: Path, names: list[str]) -> None:
    """LAZ-1: a draft that was renamed and went on, or a build in the place of the one before, was refused as a slip."""
    alice = found(tmp_path)
    write(alice, "draft.txt", "one\n")
    release(alice)
    (alice.folder / "draft.txt").unlink()
    for name in names:
        write(alice, name, f"one\n{name}\n")
    made = commit(alice, "went on")
    assert made
    assert made.paths("deleted") == ["draft.txt"]


@pytest.mark.parametrize("name", [".cache/index.db", "deep/.directory", "empty.txt"])
def test_what_is_hidden_or_empty_is_no_work_in_an_emptied_folder(tmp_path: Path, name: str) -> None:
    """LAZ-1: programs leave such files by themselves, so they speak for no person."""
    alice = found(tmp_path)
    write(alice, "deep/a.txt", "one\n")
    release(alice)
    empty(alice)
    write(alice, name, "" if name == "empty.txt" else "made by a program\n")
    with pytest.raises(FolderEmptied):
        commit(alice, "gone")


@pytest.mark.parametrize("dry_run", [False, True])
def test_an_update_commits_no_emptied_folder(tmp_path: Path, dry_run: bool) -> None:
    """CLAY-24: what is committed before friends' work comes in is work, not its loss."""
    alice, bob = gathered(tmp_path, "bob")
    update(bob)
    write(alice, "b.txt", "more\n")
    release(alice)
    for vault in (alice, bob):
        sync(vault, ["stick"])
    before = number(bob)
    empty(bob)
    with pytest.raises(FolderEmptied):
        update(bob, dry_run=dry_run)
    assert number(bob) == before


def test_files_that_became_a_desk_of_their_own_are_not_gone(tmp_path: Path) -> None:
    """CLAY-3: `main` without a file of its own is not emptied, though all lies in the folder of another desk."""
    alice = found(tmp_path)
    write(alice, "photos/a.txt", "one\n")
    release(alice)
    add_desk(alice, "photos", "photos")
    assert commit(alice, "photos", desk="photos")
    assert not commit(alice, "nothing of main")


def test_what_a_tree_has_in_the_folder_of_a_desk_is_no_file_that_is_left(tmp_path: Path) -> None:
    """CLAY-3, LAZ-1: once a sub-folder was a desk, all other files of `main` went without a word."""
    alice = found(tmp_path)
    write(alice, "a.txt", "one\n")
    write(alice, "photos/b.txt", "two\n")
    release(alice)
    add_desk(alice, "photos", "photos")
    empty(alice)
    with pytest.raises(FolderEmptied, match=r"The only file of main is gone from .*: a\.txt"):
        commit(alice, "gone")
