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
    assert _offered(bob.run("checkout", "--", "-ann/-songs@1.0.0").err, "update") == _offered(mapped, "update")
    assert bob.lace(*_offered(mapped, "update"))["written"] == ["one.md"]
    left = bob.text("leave", "--", "-ann")
    asked = bob.run(*_offered(left, "revoke")).err
    assert bob.lace(*_offered(asked.replace(" - ", "\n"), "revoke --dry-run"))["name"] == "-ann"
    bob.lace(*_offered(left, "join"))
    taken = bob.run("place", "add", "again", stick).err
    assert bob.lace(*_offered(taken, "place remove"))["place"] == "-s"
