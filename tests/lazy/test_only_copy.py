"""What one commit alone holds is found by what the commit changed, and not by going through the folder (APP-4)."""

from __future__ import annotations

from pathlib import Path

import pytest

from lazy.folder.only_copy import only_copies
from tests.circle.world import open_vault
from tests.people import Person, person_in
from vault.folder.divergence import one_below
from vault.revisions.history import commit_info, line_head
from vault.watch import Watch


def _person(root: Path, folders: int) -> Person:
    """Return somebody whose folder has as many folders, and whose last commit changed one file."""
    ann = person_in(root, "ann")
    for number in range(folders):
        ann.write(f"deep/{number}/a.txt", f"file {number}\n")
    ann.lace("init", "--name", "ann", "--group", "friends")
    for message in ("first", "second"):
        ann.write("deep/0/a.txt", f"{message}\n")
        ann.lace("commit", "-m", message)
    return ann


def _asked(ann: Person) -> tuple[list[str], int, int]:
    """Return what the last commit alone holds, how often the store was asked for that, and how often the last look."""
    statements: list[str] = []
    with open_vault(ann) as vault:
        head = line_head(vault.store, vault.node.text, "main")
        assert head is not None
        before = one_below(vault, head)
        assert before is not None
        trees = [commit_info(vault.store, one.commit) for one in (head, before)]
        vault.store.db.set_trace_callback(statements.append)
        found = only_copies(vault, trees[0], trees[1].tree, Watch(), is_dry=True)
        vault.store.db.set_trace_callback(None)
    # Whoever looks through the folder asks what the last look saw.
    looks = sum("FROM dircache" in text for text in statements)
    return [one.path for one in found], len(statements) - looks, looks


@pytest.mark.parametrize("text", ["second\n", "edited\n"])
def test_what_it_costs_follows_what_the_commit_changed(tmp_path: Path, text: str) -> None:
    """APP-4: in an edited folder of thousands of files an undo read every list of names of every commit."""
    few, many = _person(tmp_path / "few", 2), _person(tmp_path / "many", 60)
    for one in (few, many):
        one.write("deep/1/a.txt", "also edited\n")
        one.write("deep/0/a.txt", text)
        one.write("kept.txt", "second\n")
    told = [_asked(one) for one in (few, many)]
    assert told[0][0] == []
    assert (told[0][0], told[0][1]) == (told[1][0], told[1][1])


def test_it_does_not_look_through_the_folder_where_its_own_files_are_as_committed(tmp_path: Path) -> None:
    """APP-4: other files are edited, and nothing that the commit made could be lost."""
    ann = _person(tmp_path / "ann", 3)
    ann.write("deep/1/a.txt", "also edited\n")
    assert _asked(ann)[::2] == ([], 0)
    ann.write("deep/0/a.txt", "edited\n")
    found, _, looked = _asked(ann)
    assert (found, looked > 0) == (["deep/0/a.txt"], True)


def test_what_an_earlier_commit_has_too_is_no_only_copy(tmp_path: Path) -> None:
    """APP-4: whenever it was stored, and under whatever name."""
    ann = _person(tmp_path / "ann", 3)
    for path, text in (("deep/2/a.txt", "first\n"), ("new.txt", "file 1\n"), ("copy.txt", "second\n")):
        ann.write(path, text)
    ann.lace("commit", "-m", "of what was there before")
    for path in ("deep/2/a.txt", "new.txt", "copy.txt"):
        (ann.folder / path).unlink()
    assert _asked(ann)[0] == []
    ann.write("fresh.txt", "fresh\n")
    ann.lace("commit", "-m", "fresh", ".")
    (ann.folder / "fresh.txt").rename(ann.folder / "deep/other.txt")
    assert _asked(ann)[0] == []
    (ann.folder / "deep/other.txt").unlink()
    assert _asked(ann)[0] == ["fresh.txt"]
