"""What rotted in its row is given to no friend who is met live, and its owner is told (REC-5, APP-13)."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from lazy.live.cursors import Held
from tests.live.servers import serving
from tests.people import Person

_OF_APP = """
SELECT b.p, b.bytes FROM body b JOIN rec r USING (p) JOIN sym s ON s.id = r.app WHERE s.s = ? AND length(b.bytes) > 0
ORDER BY b.p DESC LIMIT 1"""


def _rot(person: Person, app: str, at: int) -> tuple[bytes, int]:
    """Change a bit of the newest record of an App where it lies in its row; return the row as it was."""
    with sqlite3.connect(person.folder / ".vault" / "store.db") as db:
        p, good = db.execute(_OF_APP, (app,)).fetchone()
        data = bytearray(good)
        data[at] ^= 1
        db.execute("UPDATE body SET bytes = ? WHERE p = ?", (bytes(data), p))
    return bytes(good), int(p)


def _right(person: Person, good: bytes, p: int) -> None:
    """Put a row back as it was."""
    with sqlite3.connect(person.folder / ".vault" / "store.db") as db:
        db.execute("UPDATE body SET bytes = ? WHERE p = ?", (good, p))


@contextmanager
def _met(alice: Person, bob: Person) -> Iterator[None]:
    """Let alice serve for a block, and bob have her first release."""
    alice.write("a.txt", "one\n")
    alice.lace("init", "--name", "alice", "--group", "friends")
    alice.lace("release", "1.0.0", "-m", "first")
    with serving(alice) as server:
        alice.lace("place", "add", "home", server.uri)
        bob.lace("accept", alice.lace("invite", "bob")["invite"], "--name", "bob")
        bob.lace("sync", "home")
        bob.lace("update")
        yield


@pytest.mark.parametrize("at", [2, 20])
@pytest.mark.parametrize("app", ["lace/data", "lace/commit"])
def test_a_record_whose_first_line_rotted_is_named_and_the_rest_goes(
    alice: Person, bob: Person, app: str, at: int
) -> None:
    """REC-5: the friend could read nothing that followed it, and each sync said that one of the two is older."""
    with _met(alice, bob):
        bob.write("b.txt", "two\n")
        bob.lace("release", "1.1.0")
        good, p = _rot(bob, app, at)
        told = bob.lace("sync", "home", expect=1)
        (problem,) = told["problems"]
        assert (problem["code"], told["sent"] > 0) == ("pack-damaged", True)
        assert good.split(b"\n", 1)[0].decode()[-48:] in problem["message"]
        assert "lace fsck --repair" in problem["hint"]
        _right(bob, good, p)
        assert bob.lace("fsck", "--repair")["ok"]
        assert bob.lace("sync", "home")["problems"] == []
        alice.lace("update")
    assert (alice.folder / "b.txt").read_text() == "two\n"


@pytest.mark.parametrize("at", [2, -2])
@pytest.mark.parametrize("app", ["lace/data", "lace/tree", "lace/commit", "lace/log"])
def test_what_was_misread_once_comes_later_and_is_told_until_then(
    alice: Person, bob: Person, app: str, at: int
) -> None:
    """REC-5, LAZ-24, APP-13: the next sync said that nothing waits, and the friend never got it."""
    with _met(alice, bob):
        bob.write("b.txt", "two\n")
        bob.lace("release", "1.1.0")
        good, p = _rot(bob, app, at)
        for _ in range(3):
            told = bob.lace("sync", "home", expect=1)
            assert good.split(b"\n", 1)[0].decode()[-48:] in told["problems"][0]["message"]
        _right(bob, good, p)
        assert bob.lace("sync", "home")["problems"] == []
        assert bob.lace("sync", "home")["sent"] == 0
        alice.lace("update")
    assert (alice.folder / "b.txt").read_text() == "two\n"


@pytest.mark.parametrize("at", [2, -2])
@pytest.mark.parametrize("app", ["lace/data", "lace/commit", "lace/log"])
def test_what_who_serves_misread_once_comes_later(alice: Person, bob: Person, app: str, at: int) -> None:
    """REC-5, LAZ-24: whoever asked had a position behind it, and asked for it no more."""
    with _met(alice, bob):
        alice.write("b.txt", "two\n")
        alice.lace("release", "1.1.0")
        good, p = _rot(alice, app, at)
        for _ in range(2):
            bob.run("sync", "home")
        _right(alice, good, p)
        assert bob.lace("sync", "home")["problems"] == []
        assert bob.lace("sync", "home")["received"] == 0
        bob.lace("update")
    assert (bob.folder / "b.txt").read_text() == "two\n"


def test_a_position_is_held_only_while_little_follows_what_is_damaged() -> None:
    """INT-152: what follows would come again at each sync, and be more than anybody sends in good faith."""
    held = Held()
    held.passed(1 << 40, is_damaged=False)
    assert not held
    held.passed(0, is_damaged=True)
    assert held
    held.passed(16 << 20, is_damaged=False)
    assert held
    held.passed(1, is_damaged=True)
    assert not held


def _moved(person: Person) -> int:
    """Let somebody sync, and return how many bytes went and came."""
    told = person.run("--json", "sync", "home").json
    return int(told["bytes_sent"]) + int(told["bytes_received"])


@pytest.mark.parametrize("app", ["lace/data", "lace/commit"])
@pytest.mark.parametrize("is_served", [False, True])
def test_what_follows_a_damaged_record_is_moved_once(alice: Person, bob: Person, app: str, is_served: bool) -> None:
    """REC-5, INT-152, LAZ-24: the cursor stays before it, so up to 16 MiB of what follows went again at each sync."""
    with _met(alice, bob):
        whose = alice if is_served else bob
        whose.write("b.txt", "two\n")
        whose.lace("release", "1.1.0")
        good, p = _rot(whose, app, -2)
        whose.write("big.bin", random.Random(8).randbytes(200_000))
        whose.lace("release", "1.2.0")
        assert _moved(bob) > 200_000
        for _ in range(2):
            assert _moved(bob) < 10_000
        _right(whose, good, p)
        assert _moved(bob) < 10_000, "and what is whole by then comes"
        assert bob.lace("sync", "home")["problems"] == []
        other = bob if is_served else alice
        assert other.lace("update")["written"]
        assert (other.folder / "b.txt").read_text() == "two\n"
        whose.write("c.txt", "three\n")
        whose.lace("release", "1.3.0")
        assert bob.lace("sync", "home")["problems"] == []
        other.lace("update")
    assert (other.folder / "c.txt").read_text() == "three\n"


def test_content_that_only_a_damaged_entry_reaches_is_not_asked_for_before_it(alice: Person, bob: Person) -> None:
    """REC-5, INT-152: all of it came again at each sync, and was dropped again."""
    with _met(alice, bob):
        alice.write("b.bin", random.Random(8).randbytes(200_000))
        alice.lace("release", "1.1.0")
        good, p = _rot(alice, "lace/log", -2)
        _moved(bob)
        for _ in range(2):
            assert _moved(bob) < 10_000
        _right(alice, good, p)
        assert _moved(bob) > 200_000
        assert bob.lace("sync", "home")["received"] == 0
        bob.lace("update")
    assert (bob.folder / "b.bin").read_bytes() == (alice.folder / "b.bin").read_bytes()
