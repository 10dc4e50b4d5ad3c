"""What an answer or a way out offers can be typed as it stands, whatever people and places are called (APP-14)."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from tests.people import Person


def _offered(text: str, verb: str) -> list[str]:
    """Return the words of the one command of a verb that a text offers at the end of a line."""
    (found,) = set(re.findall(rf"lace ({verb} .*)", text))
    return shlex.split(found)


def test_a_name_that_begins_with_a_dash_is_typed_as_it_is_offered(alice: Person, bob: Person, tmp_path: Path) -> None:
    """APP-14: lace takes no name that it offers for an option of its own."""
    stick = str(tmp_path / "stick")
    alice.write("a.md", "a\n")
    alice.lace("init", "--name=-ann")
    alice.lace("place", "add", "--", "-s", stick)
    mapped = alice.text("desk", "add", "--", "-songs", "songs")
    alice.write("songs/one.md", "one\n")
    alice.lace(*_offered(mapped, "release"))
    bob.lace("accept", alice.lace("invite", "--", "-bob")["invite"], "--name=-bob")
    for person in (bob, alice, bob):
        person.run("sync")
    bob.lace("update")
    *mapping, where = _offered(bob.text("status"), "desk add")
    assert where == "DIR"
    mapped = bob.text(*mapping, "songs")
    refused = bob.run("checkout", "--", "-ann/-songs@1.0.0").err.replace(" - ", "\n")
    assert _offered(refused, "update") == _offered(mapped, "update")
    assert bob.lace(*_offered(mapped, "update"))["written"] == ["one.md"]
    left = bob.text("leave", "--", "-ann")
    asked = bob.run(*_offered(left, "revoke")).err
    assert bob.lace(*_offered(asked.replace(" - ", "\n"), "revoke --dry-run"))["name"] == "-ann"
    bob.lace(*_offered(left, "join"))
    taken = bob.run("place", "add", "again", stick).err
    assert bob.lace(*_offered(taken, "place remove"))["place"] == "-s"


def test_who_has_met_nobody_is_not_told_to_have_all_that_friends_released(
    pair: tuple[Person, Person], cara: Person
) -> None:
    """APP-14: a first sync that failed left `with all that friends released`, beside friends never met."""
    alice, bob = pair
    assert "nothing released, revision 1, with all that friends released\n" in bob.text("status")
    cara.lace("accept", alice.lace("invite", "cara")["invite"], "--name", "cara")
    assert "with all" not in cara.text("status")


def test_who_can_let_nobody_in_is_not_sent_to_the_requests(pair: tuple[Person, Person], cara: Person) -> None:
    """APP-14: whoever had revoked their own device was told to look who asks to join."""
    alice, bob = pair
    bob.lace("revoke", "self", "--yes")
    bob.lace("sync", "stick")
    cara.lace("accept", alice.lace("invite", "cara")["invite"], "--name", "cara")
    assert bob.lace("requests")["requests"] == []
    assert bob.lace("sync", "stick")["next"] != "lace requests"
