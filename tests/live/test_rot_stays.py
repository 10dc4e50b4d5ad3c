"""What rotted in its row is given to no friend who is met live, and its owner is told (REC-5, APP-13)."""

from __future__ import annotations

import sqlite3

import pytest

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


@pytest.mark.parametrize("at", [2, 20])
@pytest.mark.parametrize("app", ["lace/data", "lace/commit"])
def test_a_record_whose_first_line_rotted_is_named_and_the_rest_goes(
    alice: Person, bob: Person, app: str, at: int
) -> None:
    """REC-5: the friend could read nothing that followed it, and each sync said that one of the two is older."""
    alice.write("a.txt", "one\n")
    alice.lace("init", "--name", "alice", "--group", "friends")
    alice.lace("release", "1.0.0", "-m", "first")
    with serving(alice) as server:
        alice.lace("place", "add", "home", server.uri)
        bob.lace("accept", alice.lace("invite", "bob")["invite"], "--name", "bob")
        bob.lace("sync", "home")
        bob.lace("update")
        bob.write("b.txt", "two\n")
        bob.lace("release", "1.1.0")
        good, p = _rot(bob, app, at)
        told = bob.lace("sync", "home", expect=1)
        (problem,) = told["problems"]
        assert (problem["code"], told["sent"] > 0) == ("pack-damaged", True)
        assert good.split(b"\n", 1)[0].decode()[-48:] in problem["message"]
        assert "lace fsck --repair" in problem["hint"]
        with sqlite3.connect(bob.folder / ".vault" / "store.db") as db:
            db.execute("UPDATE body SET bytes = ? WHERE p = ?", (good, p))
        assert bob.lace("fsck", "--repair")["ok"]
        assert bob.lace("sync", "home")["problems"] == []
        alice.lace("update")
    assert (alice.folder / "b.txt").read_text() == "two\n"
