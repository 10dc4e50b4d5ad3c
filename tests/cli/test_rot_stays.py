"""What rotted in a vault stays there: a visit sends the rest, names it and leads to the repair (REC-5, APP-13)."""

from __future__ import annotations

import sqlite3
from io import BytesIO
from pathlib import Path

import pytest

from tests.people import Person
from tests.transports.git_hosts import bare_repository
from vault.records import iter_records, parse_record

_OF_APP = """
SELECT b.p, b.bytes FROM body b JOIN rec r USING (p) JOIN sym s ON s.id = r.app WHERE s.s = ? AND length(b.bytes) > 0
ORDER BY b.p DESC LIMIT 1"""


def _store(person: Person) -> sqlite3.Connection:
    return sqlite3.connect(person.folder / ".vault" / "store.db", isolation_level=None)


def _rot(person: Person, app: str, at: int = -2) -> tuple[bytes, int]:
    """Change a bit of the newest record of an App where it lies in its row; return the row as it was."""
    with _store(person) as db:
        p, good = db.execute(_OF_APP, (app,)).fetchone()
        data = bytearray(good)
        data[at] ^= 1
        db.execute("UPDATE body SET bytes = ? WHERE p = ?", (bytes(data), p))
    return bytes(good), int(p)


def _second(person: Person, road: str, tmp_path: Path) -> list[str]:
    """Return address and options of a second place."""
    path = tmp_path / "second"
    if road == "git":
        return [f"git+file://{path if path.exists() else bare_repository(path)}"]
    return [str(path), *(["--encrypt"] if road == "encrypted" else [])]


@pytest.mark.parametrize("app", ["lace/data", "lace/tree", "lace/commit"])
@pytest.mark.parametrize("road", ["drop", "encrypted", "git"])
def test_what_rotted_in_its_row_is_copied_to_no_place(
    pair: tuple[Person, Person], tmp_path: Path, road: str, app: str
) -> None:
    """REC-5, LAZ-24: receivers refused it, the sender was told nothing, and the place held it from then on."""
    ann, bob = pair
    for person in pair:
        person.lace("place", "add", "second", *_second(person, road, tmp_path))
    for person in (ann, bob, ann, bob):
        person.run("sync", "second")
    ann.write("new.md", "new\n")
    ann.write("other.md", "other\n")
    ann.lace("release", "1.1.0")
    good, p = _rot(ann, app)
    for _ in range(2):  # until it is mended
        done = ann.lace("sync", "second", expect=1)
        (problem,) = done["problems"]
        assert (problem["code"], good.split(b"\n", 1)[0].decode()[-48:] in problem["message"]) == ("pack-damaged", True)
        assert "lace fsck --repair" in problem["hint"]
    came = bob.lace("sync", "second")
    assert (came["received"] > 0, came["problems"], came["releases"]) == (True, [], [])
    with _store(ann) as db:
        db.execute("UPDATE body SET bytes = ? WHERE p = ?", (good, p))
    again = ann.lace("sync", "second")
    assert (again["sent"], again["problems"]) == (1, [])
    assert [release["version"] for release in bob.lace("sync", "second")["releases"]] == ["1.1.0"]
    bob.lace("update")
    assert (bob.folder / "new.md").read_text() == "new\n"


@pytest.mark.parametrize("app", ["lace/data", "lace/release"])
def test_what_rotted_goes_into_no_bundle(pair: tuple[Person, Person], tmp_path: Path, app: str) -> None:
    """REC-5: the file is made of the rest, and whoever makes it is told."""
    ann, bob = pair
    ann.write("new.md", "new\n")
    ann.lace("release", "1.1.0")
    good, _ = _rot(ann, app)
    made = ann.run("--json", "bundle", "create", str(tmp_path / "all.lace"))
    (problem,) = made.json["problems"]
    assert (made.code, problem["code"]) == (1, "pack-damaged")
    assert good.split(b"\n", 1)[0].decode()[-48:] in problem["message"]
    assert "lace fsck --repair" in ann.run("bundle", "create", str(tmp_path / "more.lace")).text
    assert bob.run("--json", "bundle", "apply", str(tmp_path / "all.lace")).json["problems"] == []


@pytest.mark.parametrize("selector", ["shared", "main@1.1.0"])
def test_what_rotted_is_exported_no_more_and_all_else_is(pair: tuple[Person, Person], selector: str) -> None:
    """REC-5, LAZ-63: the stream held it, and whoever put it in elsewhere had nothing of what came after."""
    ann, _ = pair
    ann.write("new.md", "new\n")
    ann.lace("release", "1.1.0")
    whole = [record.hash for record in iter_records(BytesIO(ann.run("record", "export", selector).out))]
    good, _ = _rot(ann, "lace/data", 2)
    told = ann.run("record", "export", selector)
    rotten = parse_record(good).hash
    assert [record.hash for record in iter_records(BytesIO(told.out))] == [each for each in whole if each != rotten]
    assert (told.code, rotten.text in told.err, "lace fsck --repair" in told.err) == (41, True, True)
