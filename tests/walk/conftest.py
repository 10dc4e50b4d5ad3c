"""People that walks begin with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.people import Person, person_in
from tests.shelf import Shelf
from tests.walk.meeting import let_in


@pytest.fixture
def trio(shelf: Shelf, alice: Person, bob: Person, cara: Person) -> tuple[Person, Person, Person]:
    """Three members with one file each and a common release 1.0.0."""
    shelf.lay(make_trio)
    return alice, bob, cara


def make_trio(root: Path) -> tuple[Person, Person, Person]:
    """Let alice found, and let bob and cara in."""
    alice, bob, cara = (person_in(root, name) for name in ("alice", "bob", "cara"))
    alice.lace("init", "--name", "alice")
    alice.lace("place", "add", "stick", str(root / "stick"))
    alice.write("a.txt", "base\n")
    alice.write("x.txt", "base\n")
    alice.lace("release", "1.0.0")
    let_in(alice, bob, cara)
    return alice, bob, cara
