"""The way out of a look at another state whose content is lost: the folder goes back to what was there (APP-13)."""

from __future__ import annotations

import sqlite3

import pytest

from tests.people import Person

_CONTENT = "SELECT p, bytes FROM body WHERE instr(bytes, CAST(? AS BLOB)) AND instr(bytes, CAST('lace/data' AS BLOB))"


def _rot(person: Person, text: str) -> None:
    """Change a bit of the content that holds a text."""
    with sqlite3.connect(person.folder / ".vault" / "store.db") as db:
        ((p, good),) = db.execute(_CONTENT, (text,)).fetchall()
        db.execute("UPDATE body SET bytes = ? WHERE p = ?", (bytes(good[:-2]) + bytes([good[-2] ^ 1, good[-1]]), p))


@pytest.fixture
def looking(ann: Person) -> Person:
    """Alice, whose look at her first state ended for content that rotted; one file of it was written."""
    for number in (1, 2, 3):
        ann.write(f"{number}.md", f"first {number}\n")
    ann.lace("release", "1.0.0")
    for number in (1, 2, 3):
        ann.write(f"{number}.md", f"second {number}\n")
    ann.write("new.md", "new\n")
    ann.lace("release", "1.1.0")
    _rot(ann, "first 2")
    ann.lace("checkout", "main@1", expect=41)
    ann.write("1.md", "first 1\n")
    return ann


def _is_back(person: Person) -> bool:
    texts = [(person.folder / f"{number}.md").read_text() for number in (1, 2, 3)]
    changes = person.lace("status", "--tree")["changes"]
    return (texts, (person.folder / "new.md").read_text()) == (
        [f"second {number}\n" for number in (1, 2, 3)],
        "new\n",
    ) and changes == {"added": [], "changed": [], "deleted": [], "problems": []}


@pytest.mark.parametrize("repaired", [False, True])
def test_who_cannot_get_the_content_back_goes_back_to_what_was_there(looking: Person, repaired: bool) -> None:
    """APP-13, APP-14: each look at the folder ended with 41, and with 42 once that was repaired, for good."""
    if repaired:
        looking.lace("fsck", "--repair", expect=1)
    (problem,) = looking.lace("status", "--tree")["changes"]["problems"]
    assert "lace checkout main" in problem["reason"]
    error = looking.lace("commit", "-m", "all", expect=42 if repaired else 41)["error"]
    assert error["hint"].endswith("Or go back to what was there before: lace checkout main")
    assert looking.lace("checkout", "main", "--dry-run")["planned"]
    done = looking.lace("checkout", "main")
    assert not done["finished"]
    assert _is_back(looking)
    looking.write("1.md", "third\n")
    assert looking.lace("commit", "-m", "third")["changed"] == ["1.md"]


def test_the_way_back_leads_to_the_state_that_was_looked_at_before(looking: Person) -> None:
    """CLAY-24: of two looks the first is no work of the person's either, and every way is open from it."""
    looking.lace("checkout", "main")
    looking.write("4.md", "fourth\n")
    looking.lace("release", "1.2.0")
    looking.lace("checkout", "main@2")
    looking.lace("checkout", "main@1", expect=41)
    looking.lace("checkout", "main@3")
    assert (looking.folder / "4.md").read_text() == "fourth\n"
    assert _is_back(looking)
    assert looking.lace("fsck", expect=1)["bad"][0]["kind"] == "record"
