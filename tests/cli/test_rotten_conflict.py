"""What the store notes of a conflict that an update met, and rotted: no command ends for it, and it is met again."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from tests.cli.conftest import make_pair
from tests.people import Person
from tests.shelf import Shelf
from vault.store import guard

_OTHER = f"S.{'A' * 43}.H3"


@pytest.fixture
def clashing(shelf: Shelf) -> tuple[Person, str]:
    """Alice, whose update met what bob did to the same line, and the id of that conflict."""
    return shelf.lay(_clashing)


def _clashing(root: Path) -> tuple[Person, str]:
    alice, bob = make_pair(root)
    for version, person in (("1.1.0", bob), ("1.2.0", alice)):
        person.write("notes.md", f"{person.name}\ntwo\nthree\nfour\nfive\n")
        person.lace("release", version)
        person.lace("sync", "stick")
    alice.run("update")
    (conflict,) = alice.run("--json", "conflicts").json["conflicts"]
    return alice, conflict["id"]


def rot_heads(person: Person, heads: str) -> None:
    """Change what a conflict is about past what watches it, as damage does; `?` stands for what it was."""
    db = sqlite3.connect(person.folder / ".vault" / "store.db")
    guard.install(db)
    with db:
        triggers = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            db.execute(f"DROP TRIGGER {name}")
        change = "UPDATE conflict SET heads = replace(?, '?', heads) WHERE version = ''"
        assert db.execute(change, (heads,)).rowcount == 1
        for _, sql in triggers:
            db.execute(sql)
    db.close()


@pytest.mark.parametrize("heads", [_OTHER, f"? {_OTHER}", "?~", "? ~", "4611", ""])
def test_the_heads_of_a_conflict_that_rotted_end_no_command(clashing: tuple[Person, str], heads: str) -> None:
    """APP-13, LAZ-35: each command about the folder ended with 42 or 40, and a release only after it was made."""
    alice, named = clashing
    rot_heads(alice, heads)
    for words in (["status"], ["conflicts"], ["changes"], ["log"], ["release", "1.3.0"], ["sync", "stick"]):
        assert alice.run(*words).code in {0, 1}, words
    assert alice.run("--json", "conflicts").json["conflicts"] == []
    alice.lace("fsck", "--repair")
    assert alice.lace("fsck")["bad"] == []
    assert alice.run("update").code == 1
    assert [one["id"] for one in alice.run("--json", "conflicts").json["conflicts"]] == [named]


@pytest.mark.parametrize("heads", [_OTHER, "~"])
def test_a_conflict_that_rotted_is_met_again_before_a_repair(clashing: tuple[Person, str], heads: str) -> None:
    """APP-13, LAZ-35: nor does its old row keep it from being asked about."""
    alice, named = clashing
    rot_heads(alice, heads)
    assert alice.run("update").code == 1
    assert [one["id"] for one in alice.run("--json", "conflicts").json["conflicts"]] == [named]
    alice.lace("resolve", named, "--prefer", "local")
    assert alice.run("--json", "conflicts").json["conflicts"] == []
