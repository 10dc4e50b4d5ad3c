"""A draft of which a record rotted, and that nobody else has (APP-13, CYB-10)."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
from pathlib import Path

import pytest

from tests.circle.world import open_vault
from tests.faults.iolayer import Layer, kill_at
from tests.faults.sweep import spread
from tests.people import Person, person_in
from tests.shelf import Shelf
from vault.records import RecordHash
from vault.revisions.history import revision


@pytest.fixture
def friends(shelf: Shelf) -> tuple[Person, Person]:
    """Alice with three drafts after her first release, and bob who has that."""
    return shelf.lay(_friends)


def _friends(root: Path) -> tuple[Person, Person]:
    alice, bob = person_in(root, "alice"), person_in(root, "bob")
    alice.lace("init", "--name", "alice")
    alice.lace("place", "add", "stick", str(root / "stick"))
    alice.write("song.txt", "la\n")
    alice.lace("release", "1.0.0", "-m", "first")
    line = alice.text("invite", "bob").splitlines()[-1]
    alice.lace("sync", "stick")
    bob.lace("accept", line)
    for person in (bob, alice, bob):
        person.run("sync", "stick")
    bob.lace("update")
    for number in (2, 3, 4):
        alice.write("song.txt", "la\n" * number)
        alice.lace("commit", "-m", f"draft {number}")
    alice.lace("label", "best")
    return alice, bob


def record_of(person: Person, number: int, kind: str) -> RecordHash:
    with open_vault(person) as vault:
        found = revision(vault.store, vault.node.text, "main", number)
        assert found is not None
        return found.commit if kind == "commit" else found.rev


def rot(person: Person, record: RecordHash) -> None:
    """Flip a bit of a record where it lies."""
    with sqlite3.connect(person.folder / ".vault" / "store.db") as db:
        triggers = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            db.execute(f"DROP TRIGGER {name}")
        where = (record.kind, record.digest)
        stored = db.execute("SELECT bytes FROM body WHERE kind = ? AND digest = ?", where).fetchone()[0]
        spoiled = bytearray(stored if isinstance(stored, bytes) else stored.encode())
        spoiled[len(spoiled) // 2] ^= 1
        db.execute("UPDATE body SET bytes = ? WHERE kind = ? AND digest = ?", (bytes(spoiled), *where))
        for _, sql in triggers:
            db.execute(sql)
    db.close()


@pytest.mark.parametrize(("number", "kind"), [(4, "commit"), (3, "commit"), (2, "commit"), (3, "rev"), (2, "rev")])
def test_a_person_goes_on_without_a_draft_that_is_lost(friends: tuple[Person, Person], number: int, kind: str) -> None:
    """APP-13: no command could say anything any more, or no later release was ever whole at a friend."""
    alice, bob = friends
    rot(alice, record_of(alice, number, kind))
    alice.write("song.txt", "mine\n")
    alice.run("fsck", "--repair")
    bad = alice.lace("fsck", expect=1)["bad"]
    cut = number if kind == "commit" else number + 1
    assert [(thing["kind"], thing["name"]) for thing in bad] == [("line", f"main@{cut}")]
    assert "lace fsck --repair" in bad[0]["message"]
    alice.lace("fsck", "--repair")
    assert alice.lace("fsck")["ok"] is True
    assert (alice.folder / "song.txt").read_text() == "mine\n"
    assert alice.lace("changes")["changed"] == ["song.txt"]
    alice.lace("label", "best")
    alice.lace("update")
    alice.lace("release", "1.1.0", "-m", "on")
    alice.lace("sync", "stick")
    bob.lace("sync", "stick")
    assert bob.lace("update")["written"] == ["song.txt"]
    assert (bob.folder / "song.txt").read_text() == "mine\n"


def test_a_backup_gives_a_lost_draft_back(friends: tuple[Person, Person], tmp_path: Path) -> None:
    """APP-13: the first repair lets nothing go, and the way that it names leads there."""
    alice, _ = friends
    backup = Person("alice", alice.home, tmp_path / "backup")
    shutil.copytree(alice.folder, backup.folder, dirs_exist_ok=True)
    rot(alice, record_of(alice, 4, "commit"))
    alice.run("fsck", "--repair")
    (tmp_path / "saved").write_bytes(backup.run("record", "export", "lace/commit").out)
    alice.lace("record", "put", str(tmp_path / "saved"))
    assert alice.lace("fsck")["ok"] is True
    assert alice.lace("changes")["changed"] == []
    assert alice.run("cat", "main@4", "song.txt").out == b"la\n" * 4


def _in_child(person: Person, layer: Layer) -> int:
    """Repair behind a layer in a process of its own; return its exit code, or minus the signal that ended it."""
    child = os.fork()
    if child == 0:
        code = 70
        try:
            layer.install()
            code = person.run("fsck", "--repair").code
            (person.home / "calls").write_text(str(layer.count))
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_repair_that_was_cut_off_lets_nothing_go_that_nobody_was_told_of(friends: tuple[Person, Person]) -> None:
    """APP-13: run again, as after any crash, it let drafts go at once, and the way out was never shown."""
    alice, _ = friends
    rot(alice, record_of(alice, 2, "commit"))
    kept = {path: path.with_name("kept") for path in (alice.folder, alice.home)}
    for path, copy in kept.items():
        shutil.copytree(path, copy)

    def revisions() -> int:
        with open_vault(alice) as vault:
            ((count,),) = vault.store.rows("SELECT count(*) FROM rev")
            return int(str(count))

    def is_told() -> bool:
        return "line" in {thing["kind"] for thing in alice.run("--json", "fsck", "--repair").json["bad"]}

    everything = revisions()
    assert _in_child(alice, Layer(lambda _count, _name, _args, _named, call: call())) == 1
    before_told = int((alice.home / "calls").read_text()) - 4  # the last ones note that the report is out
    for number in spread(before_told, 12):
        for path, copy in kept.items():
            shutil.rmtree(path)
            shutil.copytree(copy, path)
        assert _in_child(alice, kill_at(number)) == -signal.SIGKILL
        assert is_told()
        assert revisions() == everything
    alice.lace("fsck", "--repair")
    assert revisions() == everything - 3


def test_nothing_is_let_go_of_where_what_was_told_rotted(friends: tuple[Person, Person]) -> None:
    """APP-13: a letter that rotted in the store must not be what says that a person agreed."""
    alice, _ = friends
    rot(alice, record_of(alice, 3, "commit"))
    alice.run("fsck", "--repair")
    with sqlite3.connect(alice.folder / ".vault" / "store.db") as db:
        triggers = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            db.execute(f"DROP TRIGGER {name}")
        assert db.execute("UPDATE meta SET value = value || '0' WHERE key = 'told drafts'").rowcount == 1
        for _, sql in triggers:
            db.execute(sql)
    db.close()
    bad = alice.run("--json", "fsck", "--repair").json["bad"]
    assert [(thing["kind"], thing["name"]) for thing in bad] == [("line", "main@3")]
    assert alice.lace("fsck", "--repair")["ok"] is True
