"""An update or a merge that ends a conflict says so: whoever was told of one hears that it is over."""

from __future__ import annotations

import pytest

import lazy.folder.ended
from lazy.conflicts import conflicts
from lazy.contested import Conflict
from tests.people import Person
from vault.errors import DataError
from vault.vault import Vault


def _met(*people: Person) -> None:
    for person in people:
        person.run("sync", "stick")


def _clash(alice: Person, bob: Person, mine: str, theirs: str) -> str:
    """Let both change one line and release it; return the conflict that alice is told of."""
    for person, version in ((alice, mine), (bob, theirs)):
        person.write("notes.md", f"{person.name}\n")
        person.lace("release", version)
    _met(alice, bob, alice)
    for person in (alice, bob):
        assert person.lace("update", expect=1)["ended"] == []
    (conflict,) = alice.lace("conflicts")["conflicts"]
    return str(conflict["id"])


def test_an_update_says_that_it_ends_a_conflict_of_changes(pair: tuple[Person, Person]) -> None:
    """LAZ-36, APP-12: bob took alice's side in, and she who was told of a conflict heard of one file."""
    alice, bob = pair
    known = _clash(alice, bob, "1.1.0", "1.2.0")
    bob.write("notes.md", "both\n")
    (his,) = bob.lace("conflicts")["conflicts"]
    assert bob.lace("resolve", his["id"], "--merged", "1.3.0")["status"] == "merged"
    _met(bob, alice)
    planned = alice.lace("update", "--dry-run")
    assert planned["ended"] == [known]
    assert f"Conflict {known} would end: main, clashing changes." in alice.text("update", "--dry-run")
    told = alice.text("update")
    assert f"Conflict {known} has ended: main, clashing changes." in told
    assert alice.lace("conflicts")["conflicts"] == []
    assert alice.lace("update")["ended"] == []


def test_an_update_says_that_it_ends_a_contested_version(pair: tuple[Person, Person]) -> None:
    """LAZ-36, LAZ-40: what bob released upon his decision brings that with it."""
    alice, bob = pair
    known = _clash(alice, bob, "1.1.0", "1.1.0")
    bob.lace("resolve", "1.1.0", "--prefer", "local")
    bob.write("list.md", "bread\n")
    bob.lace("release", "1.2.0")
    _met(bob, alice)
    assert alice.lace("update", "--dry-run")["ended"] == [known]
    assert alice.lace("update")["ended"] == [known]
    assert alice.lace("conflicts")["conflicts"] == []


def test_a_merge_by_a_named_strategy_says_that_it_ends_a_conflict(pair: tuple[Person, Person]) -> None:
    """LAZ-36, CLAY-72: it takes the other line in, and nothing is asked any more."""
    alice, bob = pair
    known = _clash(alice, bob, "1.1.0", "1.2.0")
    words = ("merge", "main", "--from", "bob/main", "--strategy", "only-this")
    assert alice.lace(*words, "--dry-run")["ended"] == [known]
    told = alice.text(*words)
    assert f"Conflict {known} has ended: main, clashing changes." in told
    assert alice.lace("conflicts")["conflicts"] == []


def test_an_update_that_is_done_does_not_end_with_what_is_damaged_of_conflicts(
    pair: tuple[Person, Person], monkeypatch: pytest.MonkeyPatch
) -> None:
    """LAZ-36: its files were written, and whoever looks at conflicts hears what is damaged."""
    alice, bob = pair
    _clash(alice, bob, "1.1.0", "1.2.0")
    bob.write("notes.md", "both\n")
    (his,) = bob.lace("conflicts")["conflicts"]
    bob.lace("resolve", his["id"], "--merged", "1.3.0")
    _met(bob, alice)

    def damaged(vault: Vault, *, include_settled: bool = False) -> list[Conflict]:
        if include_settled:
            raise DataError("A row of the store is damaged.")
        return conflicts(vault)

    monkeypatch.setattr(lazy.folder.ended, "conflicts", damaged)
    assert alice.lace("update")["ended"] == []
    assert (alice.folder / "notes.md").read_text() == "both\n"
