"""People that walks begin with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.people import Person
from tests.walk.meeting import let_in


@pytest.fixture
def trio(alice: Person, bob: Person, cara: Person, tmp_path: Path) -> tuple[Person, Person, Person]:
    """Three members with one file each and a common release 1.0.0."""
    alice.lace("init", "--name", "alice")
    alice.lace("place", "add", "stick", str(tmp_path / "stick"))
    alice.write("a.txt", "base\n")
    alice.write("x.txt", "base\n")
    alice.lace("release", "1.0.0")
    let_in(alice, bob, cara)
    return alice, bob, cara
