"""Another vault's directory as a place (architecture, decision 6; INT-164, CYB-15)."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.live.test_live_sync import found, records
from tests.people import Person


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def _stored(person: Person) -> int:
    """Return how many records a vault holds, shared or not."""
    count = person.lace("status")["records"]
    assert isinstance(count, int)
    return count


def _same_machine(alice: Person, name: str) -> Person:
    """Return another vault of alice's own account."""
    return Person(name, alice.home, alice.folder.parent / name)


def test_two_vaults_of_one_machine_exchange_both_ways(alice: Person) -> None:
    """INT-164: both sides run here; the result is that of any other road."""
    found(alice)
    desk = _same_machine(alice, "desk")
    desk.lace("accept", alice.lace("invite", "desk")["invite"], "--name", "desk")
    desk.lace("place", "add", "laptop", str(alice.folder))
    came = desk.lace("sync", "laptop")
    assert (came["transport"], came["fixed_point"], came["next"]) == ("vault", True, "lace update")
    assert [release["version"] for release in came["releases"]] == ["1.0.0"]
    desk.lace("update")
    desk.write("b.txt", "two\n")
    desk.lace("release", "1.1.0")
    planned = desk.lace("sync", "laptop", "--dry-run")
    gone = desk.lace("sync", "laptop")
    assert planned["sent"] == gone["sent"] > 0
    assert gone["round_trips"] == 1
    assert records(alice) == records(desk)
    alice.lace("update")
    assert (alice.folder / "b.txt").read_text() == "two\n"
    again = desk.lace("sync", "laptop")
    assert (again["received"], again["sent"]) == (0, 0)


def test_a_vault_whose_key_is_elsewhere_is_read_and_never_written(alice: Person, bob: Person, tmp_path: Path) -> None:
    """Decision 6: an unproven source; its evidence counts, its word about itself does not."""
    found(alice)
    alice.lace("place", "add", "stick", str(tmp_path / "stick"))
    bob.lace("accept", alice.lace("invite", "bob")["invite"], "--name", "bob")
    for person in (bob, alice, bob):
        person.run("sync", "stick")
    bob.lace("place", "remove", "stick")
    alice.write("c.txt", "three\n")
    alice.lace("release", "1.1.0")
    bob.write("mine.txt", "bob\n")
    bob.lace("release", "2.0.0")
    bob.lace("place", "add", "alices", str(alice.folder))
    before = {name: data for name, data in _files(alice.folder).items() if "-wal" not in name and "-shm" not in name}
    met = bob.lace("vectors")["vectors"]["alice"]
    came = bob.lace("sync", "alices")
    assert [release["version"] for release in came["releases"]] == ["1.1.0"]
    assert came["sent"] == 0
    assert bob.lace("vectors")["vectors"]["alice"] == met
    assert {name for name in _files(alice.folder) if "store.db" not in name} == {
        n for n in before if "store.db" not in n
    }
    assert "2.0.0" not in str(alice.lace("log", "-n", "50"))
    assert bob.lace("push", "alices", expect=0)["queued"]
    assert len(bob.lace("queue")["entries"]) > 0
    assert records(alice) <= records(bob)


@pytest.mark.parametrize("change", ["gone", "of another machine"])
def test_a_vault_whose_mark_is_elsewhere_is_named_and_not_mine(alice: Person, change: str) -> None:
    """APP-13: both keys lie here, and the other vault may not write; to adopt my own would be the wrong way out."""
    found(alice)
    desk = _same_machine(alice, "desk")
    desk.lace("accept", alice.lace("invite", "desk")["invite"], "--name", "desk")
    desk.lace("place", "add", "laptop", str(alice.folder))
    desk.lace("sync", "laptop")
    with closing(sqlite3.connect(alice.folder / ".vault" / "store.db")) as db:
        ((instance,),) = db.execute("SELECT value FROM meta WHERE key = 'instance'")
    (mark,) = alice.home.rglob(f"{instance}.mark")
    if change == "gone":
        mark.unlink()
    else:
        other = [f"machine {'0' * 32}" if line.startswith("machine") else line for line in mark.read_text().split("\n")]
        mark.write_text("\n".join(other))
    desk.write("b.txt", "two\n")
    desk.lace("release", "1.1.0")
    before = _stored(alice)
    planned = desk.lace("sync", "laptop", "--dry-run", expect=23)
    told = desk.lace("sync", "laptop", expect=23)
    error = told["error"]
    assert planned["error"] == error == desk.lace("push", "laptop", expect=23)["error"]
    assert error["code"] == "place-not-writable"
    assert error["message"].startswith(f"The vault in {alice.folder} takes nothing in from here. There lace says: ")
    assert error["hint"].startswith("Nothing is wrong with your own vault.")
    assert (planned["sent"], told["sent"], _stored(alice)) == (0, 0, before)
    assert desk.lace("status")["queue"]


def _copied(alice: Person) -> Person:
    """Return a copy of alice's vault and of her home, of which the vault goes on under a key of its own."""
    copy = Person("copy", alice.home.with_name("copied"), alice.folder.with_name("copy"))
    for mine, its in ((alice.home, copy.home), (alice.folder, copy.folder)):
        shutil.copytree(mine, its, dirs_exist_ok=True)
    copy.lace("adopt", "--name", "copy", "--yes")
    return copy


def test_a_vault_whose_key_came_here_in_a_copied_home_is_read_and_not_written(alice: Person) -> None:
    """INT-164, faults.md row 32: it was said to take nothing in and had taken six records; and nothing was read."""
    found(alice)
    copy = _copied(alice)
    alice.lace("place", "add", "other", str(copy.folder))
    alice.run("sync", "other")  # so the new key is a member there
    alice.write("mine.txt", "alice\n")
    alice.lace("release", "1.1.0")
    copy.write("its.txt", "copy\n")
    copy.lace("release", "1.2.0")
    copy.lace("place", "add", "other", str(alice.folder))
    before = _stored(alice)
    came = copy.lace("sync", "other", expect=23)
    assert _stored(alice) == before
    assert came["error"]["message"].startswith(f"The vault in {alice.folder} takes nothing in from here. ")
    assert [release["version"] for release in came["releases"]] == ["1.1.0"]
    assert [problem["code"] for problem in came["problems"]] == ["place-not-writable"]
    pulled = copy.lace("pull", "other")
    assert (pulled["problems"], _stored(alice)) == ([], before)
    alice.run("sync", "other")
    assert records(copy) <= records(alice)


def test_a_copy_that_signs_as_this_vault_is_said_to_be_one(alice: Person) -> None:
    """CYB-18, APP-13: of a new place it was said that another vault lies there than before, and to add it anew."""
    found(alice)
    desk = _same_machine(alice, "desk")
    desk.lace("accept", alice.lace("invite", "desk")["invite"], "--name", "desk")
    desk.lace("place", "add", "laptop", str(alice.folder))
    desk.lace("sync", "laptop")
    copy = alice.folder.with_name("copy")
    shutil.copytree(alice.folder, copy)
    told = alice.lace("place", "add", "other", str(copy), expect=2)["error"]
    assert (told["message"], "lace adopt" in told["hint"]) == (
        f"The vault in {copy} is a copy of this one: both sign as one node.",
        True,
    )
    shutil.rmtree(alice.folder / ".vault")
    shutil.copytree(desk.folder / ".vault", alice.folder / ".vault")
    told = desk.lace("sync", "laptop", expect=21)["error"]
    assert (told["code"], "a copy of this one" in told["message"], "lace adopt" in told["hint"]) == (
        "wrong-drop",
        True,
        True,
    )


def test_this_vault_by_another_path_is_no_copy_of_it(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """CYB-18, APP-13: whoever reached their own vault by a mount was told to go on under a new key, which costs one."""
    found(alice)
    desk = _same_machine(alice, "desk")
    desk.lace("accept", alice.lace("invite", "desk")["invite"], "--name", "desk")
    desk.lace("place", "add", "laptop", str(alice.folder))
    desk.lace("sync", "laptop")
    alice.folder.rename(alice.folder.with_name("away"))
    alice.folder.symlink_to(desk.folder)
    told = desk.lace("sync", "laptop", expect=21)["error"]
    assert told["message"].endswith(" is this vault itself.")
    assert told["hint"].endswith(" to forget the place: lace place remove laptop")
    monkeypatch.setattr(Path, "resolve", lambda path, **_: path)  # as of a mount, or of a name in another case
    told = desk.lace("place", "add", "other", str(alice.folder), expect=2)["error"]
    assert told["message"] == "That is this vault itself."


def test_what_is_no_vault_of_the_group_is_refused(alice: Person, bob: Person) -> None:
    """CYB-16. What belongs to another group has one word, wherever it is met."""
    found(alice)
    bob.write("x.txt", "x\n")
    bob.lace("init", "--name", "bob", "--group", "others")
    refused = alice.lace("place", "add", "bobs", str(bob.folder), expect=43)
    assert refused["error"]["code"] == "other-group"
    assert "another group" in refused["error"]["message"]
    itself = alice.lace("place", "add", "me", str(alice.folder), expect=2)
    assert "this vault itself" in itself["error"]["message"]
    line = alice.lace("invite", "cara")["invite"]
    assert len(line) > 0


def test_a_vault_that_is_gone_or_another_is_told(alice: Person) -> None:
    found(alice)
    desk = _same_machine(alice, "desk")
    desk.lace("accept", alice.lace("invite", "desk")["invite"], "--name", "desk")
    desk.lace("place", "add", "laptop", str(alice.folder))
    desk.lace("sync", "laptop")
    away = alice.folder.with_name("away")
    alice.folder.rename(away)
    gone = desk.lace("sync", "laptop", expect=20)["error"]
    assert gone["code"] == "place-unreachable"
    assert gone["hint"].endswith("elsewhere here: lace place remove laptop; lace place add laptop DIR")
    third = Person("third", alice.home.parent / "third", alice.folder)
    third.write("t.txt", "t\n")
    third.lace("init", "--name", "third")
    error = desk.lace("sync", "laptop", expect=21)["error"]
    way = f"lace place remove laptop; lace place add laptop {alice.folder}"
    assert (error["code"], error["hint"]) == ("wrong-drop", f"If it is of your group: {way}")


@pytest.mark.parametrize(
    ("statement", "hint"),
    [
        ("PRAGMA user_version = 99", "Install a newer lace; nothing was changed."),
        ("DROP TABLE meta", "In that folder: Run: lace fsck --repair"),
    ],
)
def test_a_vault_that_this_lace_cannot_open_is_not_one_to_plug_in(alice: Person, statement: str, hint: str) -> None:
    """CYB-15, APP-13: it is there, and what has to be done about it was known where it was opened."""
    found(alice)
    desk = _same_machine(alice, "desk")
    desk.lace("accept", alice.lace("invite", "desk")["invite"], "--name", "desk")
    desk.lace("place", "add", "laptop", str(alice.folder))
    with closing(sqlite3.connect(alice.folder / ".vault" / "store.db")) as store:
        store.execute(statement)
        store.commit()
    assert desk.lace("sync", "laptop", expect=20)["error"]["hint"] == hint
