"""Two git remotes that are copies of one another, as places of one vault (CYB-18, decision 7a)."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.people import Person
from tests.shelf import Shelf
from tests.transports.git_hosts import git
from tests.transports.git_places import make_met, refs


@pytest.fixture
def mirror(shelf: Shelf, tmp_path: Path, alice: Person) -> Path:
    """Let alice and bob meet at a remote, of which alice has a mirror as a place too."""
    shelf.lay(make_met)
    made = mirrored(tmp_path / "remote.git", tmp_path / "mirror.git")
    alice.lace("place", "add", "mirror", str(made))
    return made


def mirrored(bare: Path, at: Path) -> Path:
    git(bare, "clone", "--quiet", "--mirror", str(bare), str(at))
    return at


def released(person: Person, version: str, *names: str) -> list[str]:
    """Release something new and sync; return what was said to be wrong."""
    person.write("notes.txt", f"{version}\n")
    person.lace("release", version)
    return [code for name in names for code in told(person, name)]


def told(person: Person, name: str) -> list[str]:
    return [problem["code"] for problem in person.lace("sync", name)["problems"]]


def back(bare: Path, before: dict[str, str]) -> None:
    for name, tip in before.items():
        git(bare, "update-ref", name, tip)


def repositories(person: Person) -> list[str]:
    return sorted(path.name for path in (person.folder / ".vault" / "git").glob("*.git"))


def test_a_mirror_that_lags_was_not_set_back(mirror: Path, alice: Person, bob: Person) -> None:
    """CYB-18, CYB-17: every sync with something new accused the host, in turn each of both."""
    for number in range(1, 4):
        assert released(alice, f"1.{number}.0", "host", "mirror") == []
    assert released(alice, "1.4.0", "mirror", "host") == []
    assert released(alice, "1.5.0", "host") == []
    assert released(alice, "1.6.0", "host", "mirror") == []
    assert len(repositories(alice)) == 2
    bob.lace("place", "add", "mirror", str(mirror))
    assert told(bob, "mirror") == []
    bob.lace("update")
    assert (bob.folder / "notes.txt").read_text() == "1.6.0\n"


@pytest.mark.parametrize("which", ["host", "mirror"])
def test_one_of_two_mirrors_that_was_set_back_is_told(mirror: Path, bare: Path, alice: Person, which: str) -> None:
    """CYB-18: where it stood at that address is known of it, whatever the other shows; the other one is not blamed."""
    for number in range(1, 3):
        assert released(alice, f"1.{number}.0", "host", "mirror") == []
    repository = {"host": bare, "mirror": mirror}[which]
    before = refs(repository)
    assert released(alice, "1.3.0", "host", "mirror") == []
    back(repository, before)
    assert told(alice, which) == ["branch-set-back"]
    assert [code for name in ("host", "mirror") for code in told(alice, name)] == []


def test_a_place_that_moved_takes_along_where_it_stood(shelf: Shelf, tmp_path: Path, bare: Path, alice: Person) -> None:
    """CYB-18: under another address it is the same place, and that it was set back is told as before."""
    shelf.lay(make_met)
    before = refs(bare)
    assert released(alice, "1.1.0", "host") == []
    moved = tmp_path / "moved.git"
    shutil.move(bare, moved)
    alice.lace("place", "remove", "host")
    alice.lace("place", "add", "host", str(moved))
    assert told(alice, "host") == []
    assert len(repositories(alice)) == 1
    back(moved, before)
    again = tmp_path / "again.git"
    shutil.move(moved, again)
    alice.lace("place", "remove", "host")
    alice.lace("place", "add", "host", str(again))
    assert told(alice, "host") == ["branch-set-back"]
    assert told(alice, "host") == []


def test_a_mirror_that_moved_takes_along_its_own(mirror: Path, tmp_path: Path, alice: Person) -> None:
    """CYB-18: and leaves alone what is known of the other one, also where that lags."""
    assert released(alice, "1.1.0", "host", "mirror") == []
    assert released(alice, "1.2.0", "mirror") == []
    moved = tmp_path / "moved.git"
    shutil.move(mirror, moved)
    alice.lace("place", "remove", "mirror")
    alice.lace("place", "add", "mirror", str(moved))
    assert released(alice, "1.3.0", "mirror", "host", "mirror") == []
    assert len(repositories(alice)) == 2
