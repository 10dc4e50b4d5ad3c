"""What somebody is called who went on under a new key without a fork, as on a new machine (LAZ-65)."""

from __future__ import annotations

import shutil

import pytest

from tests.people import Person
from vault.commands import as_option


def _go_on(person: Person) -> str:
    """Let somebody lose the mark beside the key, as on a new machine, and adopt; return the node from then on."""
    shutil.rmtree(person.home / "lace" / "marks")
    person.lace("sync", "stick", expect=19)
    return str(person.lace("adopt")["node"])


@pytest.fixture
def moved(pair: tuple[Person, Person]) -> tuple[Person, Person, str, str]:
    """Alice, bob who released and went on under a new key, what alice calls the older one, and the new node."""
    alice, bob = pair
    bob.write("new.md", "bob's\n")
    bob.lace("release", "1.1.0")
    bob.lace("sync", "stick")
    older = str(bob.lace("id")["node"])
    newer = _go_on(bob)
    for person in (bob, alice, bob, alice):
        person.run("sync", "stick")
    return alice, bob, f"bob-{older[2:8]}", newer


def test_the_newest_key_has_the_name(moved: tuple[Person, Person, str, str]) -> None:
    """LAZ-65: both had an end of a key in their name, and nobody was called bob any more."""
    alice, bob, older, newer = moved
    assert alice.lace("peers", "bob")["key"] == newer
    assert {row["peer"] for row in alice.lace("peers")["peers"]} == {"bob", older}
    members = {row["name"]: row for row in alice.lace("members")["members"]}
    assert members[older]["older_key_of"] == "bob"
    newest = _go_on(bob)
    for person in (bob, alice):
        person.run("sync", "stick")
    assert alice.lace("peers", "bob")["key"] == newest
    assert {row["peer"] for row in alice.lace("peers")["peers"]} == {"bob", older, f"bob-{newer[2:8]}"}


def test_what_was_released_under_the_older_key_is_found_by_the_name(moved: tuple[Person, Person, str, str]) -> None:
    """LAZ-65, APP-14: that bob released nothing was no answer while his last release waited."""
    alice, _, older, _ = moved
    error = alice.lace("update", "--from", "bob", expect=2)["error"]
    assert error["hint"] == f"Under an older key they released: lace update {as_option('--from', older)}"
    assert alice.lace("update", "--from", older)["written"] == ["new.md"]


def test_whoever_went_on_is_told_how_friends_learn_of_it(pair: tuple[Person, Person]) -> None:
    """LAZ-65, APP-14: every other verb that makes news names the next command, and this one ended without."""
    _, bob = pair
    assert bob.text("adopt", "--yes").endswith("Next: lace sync stick. Your friends learn of the new key then.\n")


def test_two_people_of_one_name_are_still_told_apart(moved: tuple[Person, Person, str, str], cara: Person) -> None:
    """LAZ-65: who calls themselves bob and is no key of his takes nobody's name away, and gets it neither."""
    alice, _, older, newer = moved
    cara.lace("accept", alice.lace("invite", "bob")["invite"], "--name", "bob")
    for person in (cara, alice):
        person.run("sync", "stick")
    other = cara.lace("id")["node"]
    names = {row["peer"] for row in alice.lace("peers")["peers"]}
    assert names == {older, f"bob-{newer[2:8]}", f"bob-{other[2:8]}"}
