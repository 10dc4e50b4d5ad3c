"""Folders and places on paths that are no UTF-8: whatever bytes the system takes for a name (LAZ-56, CYB-16)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.people import Person


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    found = tmp_path / os.fsdecode(b"no\xfftext\n")
    try:
        found.mkdir()
    except OSError:
        pytest.skip("this disk takes no such name")
    return found


def test_all_works_on_a_path_that_is_no_text(tmp_path: Path, odd: Path) -> None:
    """LAZ-56, CYB-16: `status` and `fsck` ended with 70, and a place that was added there could not be synced with."""
    alice = Person("alice", tmp_path / "home", odd / "notes")
    alice.lace("init", "--name", "alice")
    alice.write("list.md", "milk\n")
    alice.lace("release", "1.0.0")
    for _ in range(2):
        assert alice.lace("status")["name"] == "alice"
    assert alice.lace("changes")["added"] == []
    alice.lace("place", "add", "stick", str(odd / "stick"))
    assert alice.lace("sync")["sent"] > 0
    assert alice.lace("fsck")["ok"] is True
    assert alice.lace("fsck", "--repair")["ok"] is True
    bob = Person("bob", tmp_path / "other", odd / "bobs")
    bob.lace("accept", alice.lace("invite", "bob")["invite"])
    bob.lace("sync")
    bob.lace("update")
    assert (bob.folder / "list.md").read_text() == "milk\n"


def test_that_nothing_changed_is_told_beside_what_is_left_out(ann: Person) -> None:
    """LAZ-56: `changes` said both, and of `status --tree` one had to guess from warnings alone."""
    (ann.folder / "two\nlines").write_text("x\n")
    assert "Nothing changed." in ann.text("changes")
    told = ann.text("status", "--tree")
    assert "  nothing changed in the folder\n  ! two\\nlines: holds a control character\n" in told
