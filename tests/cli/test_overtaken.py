"""A contested version whose sides a later state contains: a decision on it takes back nothing (LAZ-39 to LAZ-43)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import make_pair
from tests.people import Person
from tests.shelf import Shelf

Pair = tuple[Person, Person]
_BOTH = "alice and bob\ntwo\n"


@pytest.fixture
def merged(shelf: Shelf) -> Pair:
    """Alice and bob released 2.0.1 and 2.0.2 each beside the other; bob merged the newer one into 2.0.3."""
    return shelf.lay(_merged)


def _merged(root: Path) -> Pair:
    alice, bob = pair = make_pair(root)
    for person in pair:
        for version in ("2.0.1", "2.0.2"):
            person.write(f"{person.name} {version}", f"{person.name}'s own\n")
            person.write("notes.md", f"{person.name} {version}\ntwo\n")
            person.lace("release", version)
    _sync(alice, bob, alice)
    bob.write("notes.md", _BOTH)
    bob.lace("resolve", "2.0.2", "--merged", "2.0.3", "--yes")
    _sync(bob, alice)
    return pair


def _sync(*people: Person) -> None:
    for person in people:
        person.run("sync", "stick")


def _files(person: Person) -> dict[str, str]:
    return {path.name: path.read_text() for path in person.folder.iterdir() if path.is_file()}


def _open(person: Person) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = person.lace("conflicts")["conflicts"]
    return found


def _whole(person: Person) -> None:
    """Check that somebody has every file as 2.0.3 has it."""
    own = {f"{name} {version}": f"{name}'s own\n" for name in ("alice", "bob") for version in ("2.0.1", "2.0.2")}
    assert _files(person) == {"list.md": "milk\n", "notes.md": _BOTH, **own}


@pytest.mark.parametrize("is_updated", [True, False])
@pytest.mark.parametrize("side", ["local", "remote"])
def test_nobody_loses_what_came_later(merged: Pair, side: str, is_updated: bool) -> None:
    """LAZ-39, LAZ-40: keeping a side deleted the other one's released file, and so did accepting that."""
    alice, bob = merged
    planned = bob.lace("resolve", "--all", "--prefer", side, "--dry-run")["resolved"][0]
    done = bob.lace("resolve", "--all", "--prefer", side)["resolved"][0]
    for answer in (planned, done):
        assert (answer["conflict"], answer["written"], answer["deleted"]) == (done["conflict"], [], [])
    assert (_open(bob), done["conflicts"]) == ([], [])
    _sync(bob, alice)
    if is_updated:
        alice.lace("update")
        _whole(alice)
    before = _files(alice)
    alice.lace("resolve", "2.0.1", "--accept")
    assert _files(alice) == before
    alice.lace("update")
    for person in merged:
        _whole(person)
        assert _open(person) == []


def test_what_is_released_later_brings_no_decision_back(merged: Pair) -> None:
    """LAZ-40: the decision was a new change to every update, also of who had taken it and gone on."""
    alice, bob = merged
    bob.lace("resolve", "2.0.1", "--prefer", "local")
    _sync(bob, alice)
    alice.lace("update")
    alice.lace("resolve", "2.0.1", "--accept")
    for person, other in ((alice, bob), (bob, alice)):
        person.write("alice 2.0.1", f"edited by {person.name}\n")
        person.lace("release", "--yes")
        _sync(person, other)
        assert other.lace("update")["written"] == ["alice 2.0.1"]
        assert _files(person) == _files(other)
        assert set(_files(bob)) >= {"alice 2.0.1", "bob 2.0.1", "alice 2.0.2", "bob 2.0.2"}
        assert (_open(person), _open(other)) == ([], [])


def test_two_who_decide_otherwise_still_lose_nothing(merged: Pair) -> None:
    """LAZ-42, LAZ-43: the version is open again until one accepts, and neither has to give a file for that."""
    alice, bob = merged
    alice.lace("update")
    for person in merged:
        person.lace("resolve", "2.0.1", "--prefer", "local")
    _sync(alice, bob, alice)
    assert [one["version"] for one in _open(bob)] == ["2.0.1"]
    bob.lace("resolve", "2.0.1", "--accept")
    _sync(bob, alice)
    for person in merged:
        assert person.lace("update")["deleted"] == []
        assert _open(person) == []
        _whole(person)
    decided = bob.run("cat", "main@2.0.1", "notes.md").text
    assert decided == alice.run("cat", "main@2.0.1", "notes.md").text == "alice 2.0.1\ntwo\n"


def test_a_merge_of_a_past_version_releases_the_folder(merged: Pair) -> None:
    """LAZ-41: nothing of what was decided for it before is merged as if it were new."""
    alice, bob = merged
    alice.lace("update")
    for person in merged:
        person.lace("resolve", "2.0.1", "--prefer", "local")
    _sync(alice, bob, alice)
    done = bob.lace("resolve", "2.0.1", "--merged", "2.0.4", "--yes")
    assert (done["written"], done["deleted"]) == ([], [])
    _sync(bob, alice)
    alice.lace("update")
    for person in merged:
        assert _open(person) == []
        _whole(person)


def test_it_is_said_that_the_folder_stays(merged: Pair) -> None:
    """LAZ-34: that keeping a side leaves out what the other one did is not true of such a version."""
    _, bob = merged
    told = bob.text("conflicts")
    assert "has one side's of all" not in told
    assert "your folder stays as it is" in told
    assert [one["overtaken"] for one in _open(bob)] == [True]
