"""What the folder holds is committed only where something is taken in (LAZ-1, CLAY-72)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import make_pair
from tests.people import Person
from tests.shelf import Shelf


@pytest.fixture
def clash(shelf: Shelf) -> Person:
    """Bob, whose commit clashes with alice's release, and whose folder holds one more change."""
    return shelf.lay(_clash)


def _clash(root: Path) -> Person:
    alice, bob = make_pair(root)
    alice.write("list.md", "bread\n")
    alice.lace("release", "2.0.0")
    alice.lace("sync", "stick")
    bob.write("list.md", "butter\n")
    bob.lace("commit", "-m", "butter")
    bob.write("notes.md", "half done\n")
    bob.lace("sync", "stick")
    return bob


@pytest.mark.parametrize("words", [("update",), ("merge", "main", "--from", "alice/main@2.0.0", "--strategy", "mate")])
def test_a_clash_of_what_is_committed_commits_nothing_more(clash: Person, words: tuple[str, ...]) -> None:
    """LAZ-1: it committed the half-done file first, though nothing was taken in."""
    planned = clash.lace(*words, "--dry-run", expect=1)
    done = clash.lace(*words, expect=1)
    assert [one["path"] for one in done["conflicts"]] == ["list.md"] == [one["path"] for one in planned["conflicts"]]
    assert done["saved"] is None
    assert clash.lace("changes")["changed"] == ["notes.md"]
    (conflict,) = clash.lace("conflicts")["conflicts"]
    assert (conflict["paths"], conflict["id"]) == (["list.md"], done["conflict"])
    clash.lace("resolve", conflict["id"], "--prefer", "remote")
    assert (clash.folder / "list.md").read_text() == "bread\n"
    assert (clash.folder / "notes.md").read_text() == "half done\n"
    assert clash.lace("changes")["changed"] == []


@pytest.mark.parametrize("words", [("update",), ("merge", "main", "--from", "alice/main@2.0.0", "--strategy", "mate")])
def test_a_clash_that_the_folder_ends_is_taken_in(clash: Person, words: tuple[str, ...]) -> None:
    """LAZ-39: whoever edits the file until it merges needs no decision."""
    clash.lace(*words, expect=1)
    clash.write("list.md", "bread\n")
    assert clash.lace(*words, "--dry-run")["conflicts"] == []
    done = clash.lace(*words)
    assert (done["conflicts"], done["saved"] is not None) == ([], True)
    assert (clash.folder / "notes.md").read_text() == "half done\n"
    assert clash.lace("conflicts")["conflicts"] == []


def test_what_clashes_because_of_the_folder_is_committed_as_its_side(pair: tuple[Person, Person]) -> None:
    """LAZ-39: a conflict is between commits, so what the folder holds has to be one of them."""
    alice, bob = pair
    alice.write("list.md", "bread\n")
    alice.lace("release", "2.0.0")
    alice.lace("sync", "stick")
    bob.write("list.md", "butter\n")
    bob.lace("sync", "stick")
    done = bob.lace("update", expect=1)
    assert done["saved"] is not None
    assert bob.lace("changes")["changed"] == []
    (conflict,) = bob.lace("conflicts")["conflicts"]
    assert conflict["paths"] == ["list.md"]


def test_a_merge_of_what_is_here_already_commits_nothing(pair: tuple[Person, Person]) -> None:
    """CLAY-72: my line holds it, so nothing is taken in."""
    _, bob = pair
    bob.write("notes.md", "half done\n")
    done = bob.lace("merge", "main", "--from", "alice/main@1.0.0", "--strategy", "mate")
    assert (done["saved"], done["revision"]) == (None, None)
    assert bob.lace("changes")["changed"] == ["notes.md"]


def test_what_waits_for_a_contested_version_commits_nothing(trio: tuple[Person, Person, Person]) -> None:
    """LAZ-1: a clash with what both sides of a contested version hold is left to that decision."""
    alice, bob, cara = trio
    alice.write("list.md", "bread\n")
    alice.lace("release", "1.1.0")
    for person in (alice, bob):
        person.run("sync", "stick")
    bob.lace("update")
    for person in (alice, bob):
        person.write("notes.md", f"{person.name}\n")
        person.lace("release", "2.0.0")
    for person in (alice, bob, cara):
        person.run("sync", "stick")
    cara.write("list.md", "butter\n")
    done = cara.lace("update", expect=1)
    assert done["waiting"]
    assert (done["saved"], done["conflicts"]) == (None, [])
    assert cara.lace("changes")["changed"] == ["list.md"]
    assert len(cara.lace("conflicts")["conflicts"]) == 1


def test_a_clash_noted_before_a_contested_version_is_left_to_that_decision(trio: tuple[Person, Person, Person]) -> None:
    """LAZ-35: both sides of the version hold what cara clashed with, and she was asked about both."""
    alice, bob, cara = trio
    alice.write("list.md", "bread\n")
    alice.lace("release", "1.1.0")
    cara.write("list.md", "butter\n")
    for person in (alice, bob, cara):
        person.run("sync", "stick")
    assert cara.lace("update", expect=1)["conflict"]
    bob.lace("update")
    for person in (alice, bob):
        person.write("notes.md", f"{person.name}\n")
        person.lace("release", "2.0.0")
    for person in (alice, bob, cara):
        person.run("sync", "stick")
    (conflict,) = cara.lace("conflicts")["conflicts"]
    assert conflict["version"] == "2.0.0"
    named = cara.lace("update", "--from", "alice@1.1.0", expect=1)
    assert named["conflict"] == conflict["id"]
    assert named["next"] == "lace conflicts"
    cara.run("resolve", conflict["id"], "--prefer", "bob")
    left = cara.lace("conflicts")["conflicts"]
    assert [one["paths"] for one in left] in ([], [["list.md"]])
    for one in left:
        cara.lace("resolve", one["id"], "--prefer", "local")
    assert cara.lace("conflicts")["conflicts"] == []
    assert cara.lace("update")["conflicts"] == []


def test_a_clash_with_a_side_of_a_contested_version_is_left_to_that_decision(
    trio: tuple[Person, Person, Person],
) -> None:
    """LAZ-35: an update leaves out that side until somebody decides, and so does the list."""
    alice, bob, cara = trio
    for person in (alice, bob):
        person.write("list.md", f"{person.name}\n")
        person.lace("release", "2.0.0")
    cara.write("list.md", "butter\n")
    for person in (alice, cara):
        person.run("sync", "stick")
    noted = cara.lace("update", expect=1)["conflict"]
    for person in (bob, cara):
        person.run("sync", "stick")
    (conflict,) = cara.lace("conflicts")["conflicts"]
    assert conflict["version"] == "2.0.0"
    _is_decided_with(cara, noted, conflict["id"])
    after = cara.lace("resolve", conflict["id"], "--prefer", "bob", expect=1)
    assert after["conflicts"] == ["list.md"]
    (clash,) = cara.lace("conflicts")["conflicts"]
    assert clash["version"] is None
    _is_decided_with(cara, noted, clash["id"])
    cara.lace("resolve", clash["id"], "--prefer", "local")
    assert {one["status"] for one in cara.lace("conflicts", "--all")["conflicts"]} == {"resolved-remote", "merged"}
    assert "resolved already (merged)" in cara.run("resolve", noted, "--prefer", "local").err


def _is_decided_with(person: Person, conflict: str, other: str) -> None:
    """LAZ-36, LAZ-43: it was called merged, and resolved already, when nobody had decided anything."""
    (told,) = [one for one in person.lace("conflicts", "--all")["conflicts"] if one["id"] == conflict]
    assert (told["status"], told["asked_with"]) == ("pending", other)
    assert f"- asked with {other}  {conflict}" in person.text("conflicts", "--all")
    refused = person.lace("resolve", conflict, "--prefer", "local", expect=2)["error"]
    assert refused["code"] == "no-such-conflict"
    assert refused["message"] == f"The conflict '{conflict}' is decided with {other} now."
    assert f"lace resolve {other} " in refused["hint"]


@pytest.mark.parametrize("is_version", [False, True])
def test_what_is_taken_as_mine_is_what_the_folder_holds(pair: tuple[Person, Person], is_version: bool) -> None:
    """LAZ-42: the plan said so, and what was committed before was released in its place."""
    alice, bob = pair
    alice.write("list.md", "bread\n")
    alice.lace("release", "2.0.0")
    alice.lace("sync", "stick")
    bob.write("list.md", "butter\n")
    bob.lace(*(("release", "2.0.0") if is_version else ("commit", "-m", "butter")))
    bob.run("sync", "stick")
    bob.run("update")
    bob.write("list.md", "salted butter\n")
    (conflict,) = bob.lace("conflicts")["conflicts"]
    decide = ("resolve", conflict["id"], "--merged", "3.0.0", "--path", "list.md", "--take", "local")
    assert bob.lace(*decide, "--dry-run")["written"] == []
    assert bob.lace(*decide)["written"] == []
    assert (bob.folder / "list.md").read_text() == "salted butter\n"
    assert bob.lace("changes")["changed"] == []


def test_regions_and_drafts_are_those_of_the_folder(pair: tuple[Person, Person], tmp_path: Path) -> None:
    """LAZ-39: they were shown of what was committed, and taken of what the folder holds by then: of other lines."""
    alice, bob = pair
    lines = [f"{number}\n" for number in range(12)]
    alice.write("list.md", "".join(lines))
    alice.lace("release", "1.1.0")
    alice.lace("sync", "stick")
    bob.lace("sync", "stick")
    bob.lace("update")
    alice.write("list.md", "".join([*lines[:2], "alice 2\n", *lines[3:8], "eight\n", *lines[9:]]))
    alice.lace("release", "2.0.0")
    alice.lace("sync", "stick")
    bob.write("list.md", "".join([*lines[:8], "bob 8\n", *lines[9:]]))
    bob.lace("commit", "-m", "eight")
    bob.lace("sync", "stick")
    bob.run("update")
    bob.write("list.md", "".join([*lines[:2], "bob 2\n", *lines[3:8], "eight\n", *lines[9:]]))
    (conflict,) = bob.lace("conflicts", "--regions", "--drafts", str(tmp_path / "merge"))["conflicts"]
    ((region,),) = (path["regions"] for path in conflict["regions"])
    assert (region["ours"], region["theirs"]) == ("bob 2\n", "alice 2\n")
    assert "<<<<<<< bob\nbob 2\n" in (tmp_path / "merge" / "list.md").read_text()
    words = ("--path", "list.md", "--region", "1", "--take", "remote")
    bob.lace("resolve", conflict["id"], "--merged", "3.0.0", *words)
    assert (bob.folder / "list.md").read_text() == (alice.folder / "list.md").read_text()
