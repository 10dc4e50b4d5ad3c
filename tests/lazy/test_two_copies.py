"""Two places that are one medium and are both written, such as a stick and a copy of it (CYB-18, decision 4)."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.people import Person, person_in
from tests.shelf import Shelf
from tests.transports.git_hosts import git
from tests.transports.git_places import make_met
from transports.layout import HEAD_NAME
from vault.store.guard import guard, install
from vault.store.schema import DERIVED_TABLES

_LISTING = 10_000  # bytes that nobody can list the files of `_make_stick` in


def _make_stick(root: Path) -> None:
    """Let alice and bob meet on a stick where some hundred files of hers lie."""
    alice, bob = person_in(root, "alice"), person_in(root, "bob")
    alice.lace("init", "--name", "alice")
    for number in range(300):
        alice.write(f"films/{number}.txt", f"{number}\n")
    alice.lace("release", "1.0.0")
    alice.lace("place", "add", "one", str(root / "stick"))
    bob.lace("accept", alice.lace("invite", "bob")["invite"], "--name", "bob")
    for person in (alice, bob, alice, bob):
        person.lace("sync", "one")


@pytest.fixture
def stick(shelf: Shelf, tmp_path: Path, alice: Person, bob: Person) -> Path:
    """Let both have a stick as `one` and a copy of it as `two`."""
    shelf.lay(_make_stick)
    shutil.copytree(tmp_path / "stick", tmp_path / "two")
    _add(tmp_path / "two", "two", alice, bob)
    return tmp_path / "stick"


@pytest.fixture(params=["stick", "git"])
def names(request: pytest.FixtureRequest, shelf: Shelf, tmp_path: Path, alice: Person, bob: Person) -> tuple[str, str]:
    """Let both have two copies as places: a stick and what was copied of it, or a git remote and a mirror."""
    if request.param == "stick":
        shelf.lay(_make_stick)
        shutil.copytree(tmp_path / "stick", tmp_path / "two")
        _add(tmp_path / "two", "two", alice, bob)
        return "one", "two"
    shelf.lay(make_met)
    git(tmp_path / "remote.git", "clone", "--quiet", "--mirror", str(tmp_path / "remote.git"), str(tmp_path / "m.git"))
    _add(tmp_path / "m.git", "mirror", alice, bob)
    return "host", "mirror"


def _add(copy: Path, name: str, *people: Person) -> None:
    for person in people:
        person.lace("place", "add", name, str(copy))


def _synced(person: Person, name: str) -> dict[str, Any]:
    result = person.lace("sync", name)
    assert result["problems"] == []
    return result


def _written(person: Person, *names: str) -> list[int]:
    return [int(_synced(person, name)["bytes_sent"]) for name in names]


def _released(person: Person, version: str) -> None:
    person.write("notes.txt", f"{version}\n")
    person.lace("release", version)


def test_nothing_new_is_written_on_neither_of_two_copies(names: tuple[str, str], alice: Person, bob: Person) -> None:
    """CYB-18, LAZ-46: each sync wrote a head at each copy for ever, and read its own listing for it."""
    for version in ("1.1.0", "1.2.0"):
        for _ in range(3):
            for person in (alice, bob):
                _written(person, *names)
        for person in (alice, bob):
            results = [_synced(person, name) for name in names]
            assert [(result["bytes_sent"], result["sent"]) for result in results] == [(0, 0), (0, 0)]
            assert all(result["bytes_received"] < _LISTING for result in results)
        _released(alice, version)
        assert all(_written(alice, *names))
        assert _written(alice, *names) == [0, 0]
        assert [_synced(bob, name)["received"] > 0 for name in names] == [True, False]


def test_a_copy_is_written_once_by_whoever_visits_one_of_them_alone(
    names: tuple[str, str], alice: Person, bob: Person
) -> None:
    """CYB-18, LAZ-47: what lies at one copy does not at the other; each gets it once, and the queue says where."""
    one, other = names
    _written(alice, one, other)
    _released(alice, "1.1.0")
    assert all(_written(alice, one))
    waits = alice.lace("queue")
    assert [entry["places"] for entry in waits["entries"]] == [[one]]
    assert [place["place"] for place in waits["places"]] == [other]
    _released(alice, "1.2.0")
    assert all(_written(alice, one, other))
    assert _written(alice, one, other) == [0, 0]
    assert _synced(bob, other)["received"] > 0
    assert (bob.lace("update"), (bob.folder / "notes.txt").read_text())[1] == "1.2.0\n"


def _make_older(person: Person) -> None:
    """Bring a store back to version 12, where how a medium was left was noted once for all copies of it."""
    with closing(sqlite3.connect(person.folder / ".vault" / "store.db", isolation_level=None)) as db:
        install(db)
        ((of, name),) = db.execute("SELECT place_id, name FROM published ORDER BY number DESC LIMIT 1").fetchall()
        for kept in ("files", "copied"):
            was = f"SELECT '{kept} ' || place_id, {kept} FROM published WHERE name = ?"
            db.execute(f"INSERT INTO meta {was}", (name,))
        db.execute("DELETE FROM published WHERE place_id <> ? OR name <> ?", (of, name))
        db.execute("CREATE TABLE older AS SELECT place_id, number, head, epoch, at, seq FROM published")
        db.execute("DROP TABLE published")
        db.execute("ALTER TABLE older RENAME TO published")
        guard(db, DERIVED_TABLES)
        db.execute("PRAGMA user_version = 12")


@pytest.mark.parametrize("order", [("one", "two"), ("two", "one")])
def test_of_two_copies_an_older_store_says_nothing_lies_there_until_they_are_visited(
    stick: Path, alice: Person, bob: Person, order: tuple[str, str]
) -> None:
    """CYB-18, LAZ-47: the queue said that a release lay at a copy where it did not; nothing is written twice for it."""
    _written(alice, "one", "two")
    _released(alice, "1.1.0")
    (size,) = _written(alice, "one")
    _make_older(alice)
    assert [entry["state"] for entry in alice.lace("queue")["entries"]] == ["queued"]
    for number, name in enumerate(order, 1):
        (written,) = _written(alice, name)
        assert written == 0 if name == "one" else 0 < written <= 2 * size
        assert [{*entry["places"]} for entry in alice.lace("queue")["entries"]] == [{*order[:number]}]
    assert _written(alice, "one", "two") == [0, 0]
    assert _synced(bob, "two")["received"] > 0
    assert stick.is_dir()


def _is_told(person: Person, place: str) -> bool:
    """Sync where a copy was set back; tell whether the person is told of their own mailbox alone, and writes it."""
    done = person.lace("sync", place)
    return [problem["code"] for problem in done["problems"]] == ["mailbox-set-back"] and done["bytes_sent"] > 0


def test_a_copy_that_was_set_back_is_told_and_brought_forward(
    stick: Path, tmp_path: Path, alice: Person, bob: Person
) -> None:
    """CYB-18: by itself; the other one is as it was left, and costs nothing."""
    _written(alice, "one", "two")
    shutil.copytree(tmp_path / "two", tmp_path / "old")
    _released(alice, "1.1.0")
    for person in (alice, bob):
        _written(person, "one", "two")
    shutil.rmtree(tmp_path / "two")
    (tmp_path / "old").rename(tmp_path / "two")
    told = bob.lace("sync", "two", expect=1)["problems"]
    assert {(problem["code"], problem["peer"]) for problem in told} >= {("rolled-back", "alice")}
    assert _is_told(alice, "two")
    assert _written(alice, "one", "two") == [0, 0]
    _written(bob, "two")
    assert stick.is_dir()


def test_a_copy_that_was_set_back_to_what_another_one_shows_is_brought_forward(
    stick: Path, tmp_path: Path, alice: Person, bob: Person
) -> None:
    """CYB-18: friends saw a newer head there; one that was brought up to what another shows is good as it is."""
    _released(alice, "1.1.0")
    for person in (alice, bob, alice, bob):
        _written(person, "one", "two")
    shutil.rmtree(tmp_path / "two")
    shutil.copytree(stick, tmp_path / "two")
    told = bob.lace("sync", "two", expect=1)["problems"]
    assert [problem["code"] for problem in told] == ["rolled-back", "mailbox-set-back"]
    assert _is_told(alice, "two")
    _written(bob, "two")
    shutil.rmtree(stick)
    shutil.copytree(tmp_path / "two", stick)
    assert _written(alice, "one", "two", "one") == [0, 0, 0]


def test_a_copy_that_has_another_name_now_is_the_one_it_was(stick: Path, tmp_path: Path, alice: Person) -> None:
    """CYB-18: it is as it was left, and the other one too."""
    _released(alice, "1.1.0")
    _written(alice, "one", "two")
    alice.lace("place", "remove", "two")
    assert _written(alice, "one") == [0]
    alice.lace("place", "add", "other", str(tmp_path / "two"))
    assert _written(alice, "other", "one", "other") == [0, 0, 0]
    assert stick.is_dir()


@pytest.mark.parametrize("is_met", [True, False])
def test_a_copy_that_rotted_is_healed_by_itself(stick: Path, tmp_path: Path, alice: Person, is_met: bool) -> None:
    """APP-13, CYB-18: also one that was never visited; the other one is as it was left."""
    assert _written(alice, "one") == [0]
    if is_met:
        _released(alice, "1.1.0")
        _written(alice, "one", "two")
    bundle = max((tmp_path / "two").rglob("*.bnd"), key=lambda path: path.stat().st_size)
    data = bytearray(bundle.read_bytes())
    data[len(data) // 2] ^= 1
    bundle.write_bytes(data)
    assert [bad["code"] for bad in alice.lace("fsck", expect=1)["bad"]] == ["bundle-damaged"]
    assert alice.lace("fsck", "--repair")["bad"] == []
    for name in ("one", "two"):
        _written(alice, name)
    assert _written(alice, "one", "two") == [0, 0]
    assert stick.is_dir()


def test_a_bundle_that_nothing_names_has_its_time_at_each_copy(stick: Path, tmp_path: Path, alice: Person) -> None:
    """APP-13, CYB-18: a friend may be writing a reference to it at one, and the other says nothing of that."""
    _written(alice, "one", "two")
    left = []
    for copy in (stick, tmp_path / "two"):
        bundle = max(copy.rglob("*.bnd"), key=lambda path: path.stat().st_size)  # hers
        left.append(bundle.with_name(f"b-{'0' * 32}.bnd"))
        shutil.copy(bundle, left[-1])
    for is_there in (True, False):
        alice.lace("fsck", "--repair")
        assert [path.exists() for path in left] == [is_there, is_there]


def test_each_copy_is_written_anew_under_a_new_key(tmp_path: Path, alice: Person) -> None:
    """CYB-18, APP-13: it was asked for one of them by name, and who knows the old key can read all of them."""
    alice.lace("init", "--name", "alice")
    alice.write("notes.txt", "one\n")
    alice.lace("release", "1.0.0")
    alice.lace("place", "add", "one", str(tmp_path / "stick"), "--encrypt")
    _written(alice, "one")
    shutil.copytree(tmp_path / "stick", tmp_path / "two")
    _add(tmp_path / "two", "two", alice)
    assert _written(alice, "two") == [0]
    before = {path.name for path in tmp_path.rglob("*") if path.suffix in {".bnd", ".run"}}
    for asked in range(2):
        alice.lace("place", "set", "one", "--rebase")
        assert all(_written(alice, "two", "one")), asked
        assert _written(alice, "one", "two") == [0, 0]
        after = {path.name for path in tmp_path.rglob("*") if path.suffix in {".bnd", ".run"}}
        assert after.isdisjoint(before)
        before = after


def test_each_copy_that_is_plugged_in_is_told_by_itself(stick: Path, tmp_path: Path, alice: Person) -> None:
    """LAZ-46, CYB-18: one of them was told of, under the name of either, as not safe to pull out."""
    _written(alice, "one", "two")
    _released(alice, "1.1.0")
    _written(alice, "one")
    told = alice.lace("drops")["drops"]
    seen = [(one["path"], one["place"], one["waiting"] > 0, one["safe_to_remove"]) for one in told]
    assert seen == [(str(stick), "one", False, True), (str(tmp_path / "two"), "two", True, True)]
    alice.lace("place", "remove", "two")
    assert [(one["path"], one["place"]) for one in alice.lace("drops")["drops"]] == [(str(stick), "one")]


def test_what_did_not_change_is_not_read_again_at_neither_copy(stick: Path, alice: Person, bob: Person) -> None:
    """W4, CYB-18: the heads of both were read whole at each visit, since one was what the other showed last."""
    _released(alice, "1.1.0")
    for _ in range(3):
        for person in (alice, bob):
            _written(person, "one", "two")
    heads = sum(path.stat().st_size for path in stick.rglob(HEAD_NAME))
    for person in (alice, bob):
        assert all(0 < _synced(person, name)["bytes_received"] < heads / 4 for name in ("one", "two"))
