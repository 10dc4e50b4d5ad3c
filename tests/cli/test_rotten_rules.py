"""What the store notes of who may read and write, and rotted: private files stay private, and a repair ends it."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from tests.cli.conftest import make_pair
from tests.people import Person
from tests.shelf import Shelf
from vault.kept_rows import RulesDamaged
from vault.permits import NotPermitted
from vault.store import guard


@pytest.fixture
def writer(shelf: Shelf) -> Person:
    """Alice, whose main has a file of a desk that bob may not read, and whose folder was moved since."""
    return shelf.lay(_writer)


def _writer(root: Path) -> Person:
    alice, _ = make_pair(root)
    alice.write("notes/n.txt", "secret\n")
    alice.lace("commit", "-m", "wip")
    alice.lace("desk", "add", "notes", "notes")
    alice.lace("desk", "permit", ".", "--read", "--not", "bob", "--desk", "notes")
    (alice.folder / "notes").rename(alice.folder / "diary")
    alice.lace("desk", "add", "notes", "diary")
    alice.write("a.txt", "for all\n")
    return alice


def rot(person: Person, key: str, at: int, byte: bytes) -> None:
    """Change one byte of a setting past what watches it, as damage does; beyond its end, all of it."""
    db = sqlite3.connect(person.folder / ".vault" / "store.db")
    guard.install(db)
    with db:
        triggers = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            db.execute(f"DROP TRIGGER {name}")
        ((value,),) = db.execute("SELECT CAST(value AS BLOB) FROM meta WHERE key = ?", (key,)).fetchall()
        value = value[:at] + byte + value[at + 1 :] if at < len(value) else byte
        db.execute("UPDATE meta SET value = CAST(? AS TEXT) WHERE key = ?", (value, key))
        for _, sql in triggers:
            db.execute(sql)
    db.close()


def refused(person: Person, *words: str) -> None:
    """Expect that a command does nothing, and names the way out."""
    error = person.lace(*words, expect=RulesDamaged.exit_code)["error"]
    assert (error["code"], error["hint"]) == (RulesDamaged.code, "Run: lace fsck --repair")


def mended(person: Person, name: str) -> str:
    """Let fsck name a setting, and a repair mend it; return what the repair says of it."""
    bad = person.lace("fsck", expect=1)["bad"]
    assert [(one["kind"], one["code"]) for one in bad if one["name"] == name] == [("setting", "damaged")]
    repaired = person.lace("fsck", "--repair")["repaired"]
    assert person.lace("fsck")["bad"] == []
    (told,) = [one["message"] for one in repaired if one["name"] == name]
    return str(told)


@pytest.mark.parametrize(("at", "byte"), [(0, b"{"), (2, b"x"), (5, b"\x01"), (12, b"!"), (13, b"Z"), (-2, b")")])
def test_a_rotten_note_of_a_moved_desk_gives_nothing_away(writer: Person, at: int, byte: bytes) -> None:
    """APP-13, CLAY-80: it ended each release and each new desk as a fault of lace, for good."""
    key = "left behind main"
    rot(writer, key, at, byte)
    refused(writer, "release", "--yes")
    refused(writer, "desk", "add", "songs", "songs")
    assert [desk["desk"] for desk in writer.lace("desks")["desks"]] == ["main", "notes"]
    assert "tells it again by the audit trail" in mended(writer, key)
    error = writer.lace("release", "--yes", expect=2)["error"]
    assert error["code"] == NotPermitted.code
    assert "bob may not read what main still holds of the desk notes: notes/n.txt" in error["message"]
    writer.lace("desk", "permit", ".", "--read", "--anyone", "--desk", "notes")
    writer.lace("desk", "add", "songs", "songs")
    assert writer.lace("release", "--yes")["files"] == 4


def test_what_is_told_again_is_of_each_place_where_a_desk_lay_and_of_no_other(pair: tuple[Person, Person]) -> None:
    """APP-13, CLAY-80, CLAY-3: also of a desk in one that moved, and what the line took out is not let in again."""
    alice, _ = pair
    alice.write("p/y/n.txt", "secret\n")
    alice.lace("commit", "-m", "wip")
    alice.lace("desk", "add", "outer", "p")
    alice.lace("desk", "add", "inner", "p/y")
    for former, now in (("p", "q"), ("q", "r")):
        (alice.folder / former).rename(alice.folder / now)
        alice.lace("desk", "add", "outer", now)
    alice.write("p/own.txt", "for all\n")
    alice.lace("commit", "-m", "own")
    alice.lace("desk", "permit", ".", "--read", "--not", "bob", "--desk", "inner")
    rot(alice, "left behind main", 0, b"{")
    mended(alice, "left behind main")
    error = alice.lace("release", "--yes", expect=2)["error"]
    assert "what main still holds of the desk inner: p/y/n.txt." in error["message"]


@pytest.mark.parametrize(("at", "byte"), [(0, b"{"), (6, b"R"), (20, b"!"), (60, b"\x01")])
def test_rotten_rules_give_nothing_away(writer: Person, at: int, byte: bytes) -> None:
    """APP-13, CLAY-80: a repair lets nobody else read or write, until the person says again who may."""
    key = "permits notes"
    rot(writer, key, at, byte)
    for words in (
        ["release", "--yes"],
        ["release", "1.0.0", "--desk", "notes"],
        ["desk", "permits", "notes"],
        ["desk", "permit", ".", "--read", "--anyone", "--desk", "notes"],
        ["desk", "add", "inner", "diary/inner"],
    ):
        refused(writer, *words)
    assert "lets nobody but you" in mended(writer, key)
    assert writer.text("desk", "permits", "notes").splitlines() == [".  read  you alone", ".  write  you alone"]
    for words in (["release", "--yes"], ["release", "1.0.0", "--desk", "notes"]):
        assert writer.lace(*words, expect=2)["error"]["code"] == NotPermitted.code
    for act in ("--read", "--write"):
        writer.lace("desk", "permit", ".", act, "--anyone", "--desk", "notes")
    assert writer.lace("release", "1.0.0", "--desk", "notes")["added"] == ["n.txt"]
    assert writer.lace("desk", "permits", "notes")["permits"] == []


@pytest.mark.parametrize("key", ["permits notes", "left behind main"])
def test_rules_that_became_lists_without_end_give_nothing_away(writer: Person, key: str) -> None:
    """APP-13, CLAY-80: release, sync, fsck and the repair ended as a fault of lace, for good."""
    rot(writer, key, 1 << 20, b"[" * 5_000)
    refused(writer, "release", "--yes")
    assert writer.run("sync", "stick").code != 70
    mended(writer, key)
    assert writer.lace("release", "--yes", expect=2)["error"]["code"] == NotPermitted.code


def test_rules_that_are_no_text_any_more_give_nothing_away(writer: Person) -> None:
    """APP-13, CLAY-80: as another path or desk, they would be about nothing that is there."""
    writer.lace("desk", "permit", "n.txt", "--read", "--not", "bob", "--desk", "notes")
    writer.lace("desk", "permit", ".", "--read", "--anyone", "--desk", "notes")
    rot(writer, "permits notes", 3, b"\xee")
    assert writer.run("release", "1.0.0", "--desk", "notes").code == 41
    writer.lace("fsck", "--repair")
    assert writer.lace("release", "1.0.0", "--desk", "notes", expect=2)["error"]["code"] == NotPermitted.code


def test_a_rotten_note_of_what_was_brought_ends_no_command(pair: tuple[Person, Person]) -> None:
    """APP-13, CLAY-24: it only spares a question."""
    alice, bob = pair
    alice.write("notes.md", "other\n")
    alice.lace("release", "1.1.0")
    for person in (alice, bob):
        person.lace("sync", "stick")
    bob.lace("checkout", "main@1.1.0", "notes.md")
    rot(bob, "parts main", 0, b"{")
    bob.lace("commit", "-m", "brought")
    bob.lace("checkout", "main@1.0.0", "notes.md")
    rot(bob, "parts main", 0, b"{")
    bob.lace("update")


def test_of_a_rule_that_can_be_read_and_may_be_another_the_person_is_told_to_look(writer: Person) -> None:
    """APP-13, CLAY-80: a letter of a path or a key that rotted is another one, and only the person knows."""
    writer.lace("desk", "permit", "n.txt", "--read", "--not", "bob", "--desk", "notes")
    rot(writer, "permits notes", 40, b"7")
    (told,) = [one["message"] for one in writer.lace("fsck", expect=1)["bad"] if one["name"] == "meta"]
    assert "look it through" in told
    assert "lace desk permits who may read" in told
