"""Folders that the tests of verbs begin with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.people import Person


@pytest.fixture
def ann(alice: Person) -> Person:
    """Alice, with a vault."""
    alice.lace("init", "--name", "alice")
    return alice


@pytest.fixture
def pair(ann: Person, bob: Person, tmp_path: Path) -> tuple[Person, Person]:
    """Alice and bob with the same two files, from alice's 1.0.0, and a stick."""
    ann.lace("place", "add", "stick", str(tmp_path / "stick"))
    ann.write("notes.md", "one\ntwo\nthree\nfour\nfive\n")
    ann.write("list.md", "milk\n")
    ann.lace("release", "1.0.0")
    bob.lace("accept", ann.lace("invite", "bob")["invite"])
    for person in (ann, bob, ann, bob):
        person.lace("sync", "stick")
    bob.lace("update")
    return ann, bob


@pytest.fixture
def trio(pair: tuple[Person, Person], cara: Person) -> tuple[Person, Person, Person]:
    """The same two, and cara, who came later and has the two files too."""
    alice, bob = pair
    cara.lace("accept", alice.lace("invite", "cara")["invite"], "--name", "cara")
    for person in (cara, alice, cara, bob):
        person.run("sync", "stick")
    cara.lace("update")
    return alice, bob, cara


@pytest.fixture
def stick(tmp_path: Path) -> Path:
    """An empty directory that becomes a drop."""
    folder = tmp_path / "stick"
    folder.mkdir()
    return folder
