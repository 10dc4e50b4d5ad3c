"""A merge that decides a conflict is a release: what it gives friends that nobody released is named (LAZ-39)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.people import Person


@pytest.fixture
def met(ann: Person, bob: Person, tmp_path: Path) -> Person:
    """Bob, who joined from a folder with files of his own; one of them clashes with alice's first release."""
    ann.write("notes.md", "alice's\n")
    ann.write("same.md", "same\n")
    ann.lace("place", "add", "stick", str(tmp_path / "stick"))
    ann.lace("release", "1.0.0")
    bob.write("notes.md", "bob's\n")
    bob.write("same.md", "same\n")
    bob.write("diary.md", "mine\n")
    bob.lace("accept", ann.lace("invite", "bob")["invite"])
    for person in (ann, bob):
        person.lace("sync", "stick")
    bob.run("update")
    return bob


def _id(person: Person) -> str:
    (row,) = person.lace("conflicts")["conflicts"]
    return str(row["id"])


def test_what_was_mine_alone_is_named_before_and_after(met: Person) -> None:
    """LAZ-39: to decide about one file released all the others of the folder, and nothing said so."""
    words = ("resolve", _id(met), "--merged", "1.0.1", "--path", "notes.md", "--take", "both")
    assert met.lace(*words, "--dry-run")["own"] == ["diary.md"]
    assert "! It would release what was yours alone, too: diary.md\n" in met.text(*words, "--dry-run")
    met.write("late.md", "mine\n")
    assert "! It released what was yours alone, too: diary.md, late.md\n" in met.text(*words)


def test_what_friends_have_is_not_named(pair: tuple[Person, Person]) -> None:
    """LAZ-39: of a line that was released it is what came since, and nothing that a friend released."""
    ann, bob = pair
    for person in pair:
        person.write("list.md", f"{person.name}\n")
        person.write(f"{person.name}.md", "released\n")
        person.lace("release", "2.0.0")
        person.run("sync", "stick")
    bob.write("diary.md", "mine\n")
    done = bob.lace("resolve", _id(bob), "--merged", "2.0.1", "--path", "list.md", "--take", "alice")
    assert done["own"] == ["diary.md"]
    bob.lace("sync", "stick")
    ann.run("sync", "stick")
    assert ann.run("cat", "bob/main", "diary.md").text == "mine\n"


def test_a_side_releases_nothing_else(met: Person) -> None:
    """LAZ-39: nothing of mine goes out with it, so nothing is said."""
    done = met.lace("resolve", _id(met), "--prefer", "remote")
    assert (done["own"], done["release"]) == ([], None)
    assert met.lace("release", "--dry-run", "1.0.1")["added"] == []


def test_an_undo_of_a_decision_names_what_brings_a_side_back(pair: tuple[Person, Person]) -> None:
    """LAZ-43: the way out had a placeholder where the decision itself named both sides."""
    ann, bob = pair
    for person in pair:
        person.write("list.md", f"{person.name}\n")
        person.lace("release", "2.0.0")
        person.run("sync", "stick")
    bob.lace("resolve", _id(bob), "--prefer", "remote")
    back = "Bring a side back with: lace checkout alice/main@2.0.0 or bob/main@2.0.0 - then: lace release"
    assert bob.lace("undo", expect=2)["error"]["hint"] == f"A decision stays. {back}"
    bob.lace("sync", "stick")
    ann.run("sync", "stick")
    ann.lace("resolve", _id(ann), "--accept")
    assert ann.lace("undo", expect=2)["error"]["hint"] == f"A decision stays. {back}"
