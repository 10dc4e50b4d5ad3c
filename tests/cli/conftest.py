"""Folders that the tests of verbs begin with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.people import Person, person_in
from tests.shelf import Shelf


@pytest.fixture
def ann(shelf: Shelf, alice: Person) -> Person:
    """Alice, with a vault."""
    shelf.lay(make_ann)
    return alice


def make_ann(root: Path) -> Person:
    """Let alice begin a group."""
    alice = person_in(root, "alice")
    alice.lace("init", "--name", "alice")
    return alice


@pytest.fixture
def pair(shelf: Shelf, alice: Person, bob: Person) -> tuple[Person, Person]:
    """Alice and bob with the same two files, from alice's 1.0.0, and a stick."""
    shelf.lay(make_pair)
    return alice, bob


def make_pair(root: Path) -> tuple[Person, Person]:
    """Let alice share two files, and bob take them over a stick."""
    alice, bob = make_ann(root), person_in(root, "bob")
    alice.lace("place", "add", "stick", str(root / "stick"))
    alice.write("notes.md", "one\ntwo\nthree\nfour\nfive\n")
    alice.write("list.md", "milk\n")
    alice.lace("release", "1.0.0")
    bob.lace("accept", alice.lace("invite", "bob")["invite"])
    for person in (alice, bob, alice, bob):
        person.lace("sync", "stick")
    bob.lace("update")
    return alice, bob


@pytest.fixture
def trio(shelf: Shelf, alice: Person, bob: Person, cara: Person) -> tuple[Person, Person, Person]:
    """The same two, and cara, who came later and has the two files too."""
    shelf.lay(make_trio)
    return alice, bob, cara


def make_trio(root: Path) -> tuple[Person, Person, Person]:
    """Let cara join alice and bob."""
    alice, bob = make_pair(root)
    cara = person_in(root, "cara")
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
