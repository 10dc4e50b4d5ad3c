"""The plan of a decision is what the decision does, with what the folder holds and nobody committed yet (LAZ-39)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.people import Person

_MOVED = ("written", "deleted", "skipped")
_NOTES = ("--path", "notes.md", "--take", "bob")


def _moved(answer: dict[str, Any]) -> dict[str, Any]:
    return {name: answer[name] for name in _MOVED}


@pytest.mark.parametrize("other", ["2.0.0", "2.1.0"])
@pytest.mark.parametrize("path", ["list.md", "new.md"])
def test_a_path_that_is_to_be_mine_is_planned_as_the_folder_has_it(
    pair: tuple[Person, Person], other: str, path: str
) -> None:
    """LAZ-40: of an edit that was not committed the plan said that it goes, of a new file that nobody has it."""
    alice, bob = pair
    for person, version in ((alice, "2.0.0"), (bob, other)):
        person.write("notes.md", f"{person.name}\ntwo\n")
        person.lace("release", version)
    for person in (alice, bob, alice):
        person.run("sync", "stick")
    alice.write(path, "edited\n")
    conflict = alice.lace("update", expect=1)["conflict"] if other != "2.0.0" else "2.0.0"
    words = ("resolve", conflict, "--merged", "3.0.0", *_NOTES, "--path", path, "--take", "local")
    planned = alice.lace(*words, "--dry-run")
    assert planned["written"] == ["notes.md"]
    assert _moved(alice.lace(*words)) == _moved(planned)
    assert (alice.folder / path).read_text() == "edited\n"


@pytest.mark.parametrize("edited", [{"list.md": "edited\n"}, {"new.md": "edited\n"}, {"notes.md": "one\nedited\n"}])
def test_what_was_edited_below_all_sides_is_part_of_the_plan(
    pair: tuple[Person, Person], people: Callable[[str], Person], edited: dict[str, str]
) -> None:
    """LAZ-40: my line was below both sides, and the plan of a merge took what I had edited back."""
    alice, bob = pair
    cara = people("cara")
    alice.write("notes.md", "one\ntwo\n")
    alice.lace("release", "1.5.0")
    cara.lace("accept", alice.lace("invite", "cara")["invite"], "--name", "cara")
    for person in (cara, alice, cara, bob):
        person.run("sync", "stick")
    for person in (bob, cara):
        person.lace("update")
        person.write("notes.md", f"{person.name}\ntwo\n")
        person.lace("release", "2.0.0")
    for person in (cara, bob, alice):
        person.run("sync", "stick")
    for path, content in edited.items():
        alice.write(path, content)
    words = ("resolve", "2.0.0", "--merged", "3.0.0", *_NOTES)
    planned = alice.lace(*words, "--dry-run")
    assert (planned["written"], planned["deleted"]) == (["notes.md"], [])
    assert _moved(alice.lace(*words)) == _moved(planned)
