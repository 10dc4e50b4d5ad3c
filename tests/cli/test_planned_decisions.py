"""The plan of a decision is what the decision does, with what the folder holds and nobody committed yet (LAZ-39)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import make_pair, make_trio
from tests.people import Person
from tests.shelf import Shelf

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


@pytest.fixture
def decided(shelf: Shelf) -> tuple[Person, Person]:
    """Alice and bob with a release each of one version; bob kept his own, and alice knows of it."""
    return shelf.lay(_decided)


def _decided(root: Path) -> tuple[Person, Person]:
    alice, bob = pair = make_pair(root)
    for person in pair:
        person.write("notes.md", f"{person.name}\ntwo\n")
        person.write(f"{person.name}.md", "own\n")
        person.lace("release", "2.0.0")
    for person in (alice, bob, alice):
        person.run("sync", "stick")
    bob.lace("resolve", "2.0.0", "--prefer", "local")
    for person in (bob, alice):
        person.run("sync", "stick")
    return pair


_FORMS = (("--prefer", "bob"), ("--accept",), ("--accept", "bob"))


@pytest.mark.parametrize("form", _FORMS)
def test_what_somebody_decided_is_planned_as_it_is_accepted(
    decided: tuple[Person, Person], form: tuple[str, ...]
) -> None:
    """LAZ-40, APP-12: to accept was the one form without a plan, and it takes what somebody else decided."""
    alice, _ = decided
    before = (alice.lace("status"), alice.lace("log"))
    planned = alice.lace("resolve", "2.0.0", *form, "--dry-run")
    assert (planned["planned"], planned["conflicts"]) == (True, [])
    assert _moved(planned) == {"written": ["bob.md", "notes.md"], "deleted": ["alice.md"], "skipped": []}
    assert (alice.lace("status"), alice.lace("log")) == before
    assert _moved(alice.lace("resolve", "2.0.0", *form)) == _moved(planned)


@pytest.mark.parametrize("is_committed", [True, False])
@pytest.mark.parametrize("form", _FORMS)
def test_a_plan_names_what_would_clash_in_the_folder(
    decided: tuple[Person, Person], form: tuple[str, ...], is_committed: bool
) -> None:
    """LAZ-39, LAZ-40: it said that no file would change and ended with 0, and the decision ended with 1."""
    alice, _ = decided
    alice.write("notes.md", "edited\ntwo\n")
    if is_committed:
        alice.lace("commit", "-m", "more")
    words = ("resolve", "2.0.0", *form)
    told = alice.text(*words, "--dry-run", expect=1)
    assert "notes.md: your newer work and the decision differ" in told
    planned = alice.lace(*words, "--dry-run", expect=1)
    done = alice.lace(*words, expect=1)
    assert planned["conflicts"] == done["conflicts"] == ["notes.md"]
    assert _moved(planned) == _moved(done)


@pytest.mark.parametrize(
    ("version", "code"), [("bogus", "bad-version"), ("1.0.0", "version-taken"), ("2.0.0", "version-taken")]
)
@pytest.mark.parametrize("kind", ["version", "heads"])
def test_a_version_that_cannot_be_released_is_refused_in_the_plan(
    pair: tuple[Person, Person], version: str, code: str, kind: str
) -> None:
    """LAZ-41, CYB-5: the plan passed over the version, and the decision was refused for it."""
    alice, bob = pair
    for person, released in ((alice, "2.0.0"), (bob, "2.0.0" if kind == "version" else "2.1.0")):
        person.write("notes.md", f"{person.name}\ntwo\n")
        person.lace("release", released)
    for person in (alice, bob, alice):
        person.run("sync", "stick")
    conflict = alice.lace("update", expect=1)["conflict"] if kind == "heads" else "2.0.0"
    words = ("resolve", conflict, "--merged", version, "--yes")
    refused = alice.lace(*words, "--dry-run", expect=2)["error"]
    assert refused["code"] == code
    assert alice.lace(*words, expect=2)["error"] == refused


@pytest.mark.parametrize("word", ["local", "both", "bob"])
def test_what_is_chosen_beside_what_is_accepted_is_planned(trio: tuple[Person, Person, Person], word: str) -> None:
    """LAZ-40, LAZ-42: where the decision clashes with an earlier one the plan refuses, or has what was chosen."""
    alice, bob, cara = trio
    for person in (alice, bob):
        person.write("notes.md", f"{person.name}\ntwo\n")
        person.lace("release", "2.0.0")
    for person in (alice, bob, cara, alice):
        person.run("sync", "stick")
    for person, version in ((bob, "2.1.0"), (cara, "2.2.0")):
        person.write("notes.md", f"both, says {person.name}\ntwo\n")
        person.write("song.md", f"one\n{person.name}\nthree\n")
        person.lace("resolve", "2.0.0", "--merged", version, "--yes")
    for person in (bob, cara, alice):
        person.run("sync", "stick")
    first = alice.lace("resolve", "2.0.0", "--accept", "cara", "--dry-run")
    assert _moved(alice.lace("resolve", "2.0.0", "--accept", "cara")) == _moved(first)
    accept = ("resolve", "2.0.0", "--accept", "bob")
    refused = alice.lace(*accept, "--dry-run", expect=2)["error"]
    assert refused["code"] == "decisions-clash"
    assert alice.lace(*accept, expect=2)["error"] == refused
    alice.write("song.md", "made of both\n")
    taken = (*accept, "--path", "song.md", "--take", word)
    planned = alice.lace(*taken, "--dry-run", expect=0 if word == "local" else 1)
    assert planned["conflicts"] == ([] if word == "local" else ["song.md"])
    done = alice.lace(*taken, expect=0 if word == "local" else 1)
    assert (_moved(planned), planned["conflicts"]) == (_moved(done), done["conflicts"])


@pytest.mark.parametrize("form", [("--prefer", "bob"), ("--accept",), ("--merged", "3.0.0", "--yes", *_NOTES)])
@pytest.mark.parametrize("name", ["caras.md", "notes.md", "list.md"])
def test_a_folder_that_took_nothing_before_is_planned_with_its_own_files(
    decided: tuple[Person, Person], people: Callable[[str], Person], name: str, form: tuple[str, ...]
) -> None:
    """LAZ-39, LAZ-40: the plan said that the person's own files go."""
    alice, bob = decided
    cara = people("cara")
    cara.lace("accept", alice.lace("invite", "cara")["invite"], "--name", "cara")
    for person in (cara, alice, bob, cara):
        person.run("sync", "stick")
    cara.write(name, "cara's own\n")
    words = ("resolve", "2.0.0", *form)
    clashes = name != "caras.md" and "--merged" not in form
    planned = cara.lace(*words, "--dry-run", expect=int(clashes))
    done = cara.lace(*words, expect=int(clashes))
    assert (_moved(planned), planned["conflicts"]) == (_moved(done), done["conflicts"])
    assert planned["conflicts"] == ([name] if clashes else [])


def test_a_decision_under_a_revoked_key_says_that_it_counts_for_nobody(pair: tuple[Person, Person]) -> None:
    """LAZ-40, LAZ-71: a release said so, and a decision that releases one did not."""
    alice, bob = pair
    for person in pair:
        person.write("notes.md", f"{person.name}\ntwo\n")
        person.lace("release", "2.0.0")
    for person in (alice, bob, alice):
        person.run("sync", "stick")
    alice.lace("revoke", "self", "--yes")
    told = alice.text("resolve", "2.0.0", "--merged", "3.0.0")
    assert "! This device's key was revoked: it counts for nobody else, now or later." in told
    assert told.endswith("Next: lace adopt\n")


@pytest.fixture
def on_bob(shelf: Shelf) -> tuple[Person, str]:
    """Alice, whose folder stands on bob's release with an edit of hers, and the clash of bob and cara."""
    return shelf.lay(_on_bob)


def _on_bob(root: Path) -> tuple[Person, str]:
    alice, bob, cara = make_trio(root)
    for person, version in ((bob, "2.0.0"), (cara, "2.1.0")):
        person.write("notes.md", f"{person.name}\ntwo\nthree\nfour\nfive\n")
        person.lace("release", version)
    bob.run("sync", "stick")
    alice.run("sync", "stick")
    alice.lace("update")
    for person in (cara, alice):
        person.run("sync", "stick")
    conflict = alice.lace("update", expect=1)["conflict"]
    alice.write("notes.md", "bob\ntwo\nthree\nfour\nalice\n")
    return alice, conflict


@pytest.mark.parametrize(
    "form",
    [
        ("--prefer", "bob"),
        ("--prefer", "cara"),
        ("--merged", "3.0.0", *_NOTES),
        ("--merged", "3.0.0", *_NOTES[:3], "cara"),
        ("--merged", "3.0.0", *_NOTES, "--path", "list.md", "--take", "local"),
    ],
)
@pytest.mark.parametrize("other", [False, True])
def test_a_side_that_my_folder_stands_on_is_planned_as_it_was_released(
    on_bob: tuple[Person, str], form: tuple[str, ...], *, other: bool
) -> None:
    """LAZ-39, LAZ-40: the plan said that no file would change, and the act took the unsaved edit out of the file."""
    alice, conflict = on_bob
    if other:
        alice.write("list.md", "edited\n")
    planned = alice.lace("resolve", conflict, *form, "--dry-run")
    assert planned["written"] == ["notes.md"]
    assert _moved(alice.lace("resolve", conflict, *form)) == _moved(planned)
    side = "cara" if "cara" in form else "bob"
    assert (alice.folder / "notes.md").read_text() == f"{side}\ntwo\nthree\nfour\nfive\n"
    assert (alice.folder / "list.md").read_text() == ("edited\n" if other else "milk\n")


def test_an_edit_on_a_friend_s_release_decides_where_nothing_else_is_chosen(on_bob: tuple[Person, str]) -> None:
    """LAZ-42: it stays as it was edited, and the plan says so."""
    alice, conflict = on_bob
    planned = alice.lace("resolve", conflict, "--merged", "3.0.0", "--dry-run")
    assert _moved(alice.lace("resolve", conflict, "--merged", "3.0.0")) == _moved(planned)
    assert (alice.folder / "notes.md").read_text() == "bob\ntwo\nthree\nfour\nalice\n"


def test_a_plan_has_the_keys_of_the_act(on_bob: tuple[Person, str]) -> None:
    """APP-14: a program that read the status of a plan met a key that was not there."""
    alice, conflict = on_bob
    planned = alice.lace("resolve", conflict, "--prefer", "bob", "--dry-run")
    undecided = {"resolution": None, "status": "pending", "release": None, "commit": None}
    assert {key: planned[key] for key in undecided} == undecided
    made = alice.lace("resolve", conflict, "--prefer", "bob")
    assert set(planned) - {"planned"} <= set(made)
    assert (made["status"], made["commit"] is None) == ("merged", False)
