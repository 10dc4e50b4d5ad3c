"""`lace merge`: each strategy between two people, by the commands they type (CLAY-72 to CLAY-78)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.people import Person, person_in
from tests.shelf import Shelf

BASE = {"a.txt": "a\n", "b.txt": "b\n", "both.txt": "1\n2\n3\n4\n5\n"}


def _write(person: Person, files: dict[str, str]) -> None:
    for name, content in files.items():
        person.write(name, content)


def _files(person: Person) -> dict[str, str]:
    return {path.name: path.read_text() for path in person.folder.glob("*.txt")}


def _sync(*people: Person) -> None:
    for person in (*people, *people):
        person.lace("sync", "stick")


@pytest.fixture
def two(shelf: Shelf) -> tuple[Person, Person]:
    """Alice's 1.0.0 at both; then each changes something, and bob releases 1.1.0."""
    return shelf.lay(_two)


def _two(root: Path) -> tuple[Person, Person]:
    alice, bob = person_in(root, "alice"), person_in(root, "bob")
    alice.lace("init", "--name", "alice")
    alice.lace("place", "add", "stick", str(root / "stick"))
    _write(alice, BASE)
    alice.lace("release", "1.0.0")
    bob.lace("accept", alice.lace("invite", "bob")["invite"])
    _sync(alice, bob)
    bob.lace("update")
    _write(bob, {"b.txt": "B\n", "both.txt": "1\n2\n3\n4\n5?\n", "new.txt": "bob\n"})
    bob.lace("release", "1.1.0")
    _sync(bob, alice)
    return alice, bob


def _merge(person: Person, strategy: str, *more: str, expect: int = 0, line: str = "bob/main") -> dict[str, Any]:
    return person.lace("merge", "main", "--from", line, "--strategy", strategy, *more, expect=expect)


def test_fine_goes_forward_stays_or_fails(two: tuple[Person, Person]) -> None:
    """CLAY-75: behind takes the next number for that commit, ahead does nothing, else it fails."""
    alice, bob = two
    planned = _merge(alice, "fine", "--dry-run")
    assert planned["planned"] is True
    assert sorted(planned["written"]) == ["b.txt", "both.txt", "new.txt"]
    assert _files(alice) == BASE
    done = _merge(alice, "fine")
    assert done["relation"] == "behind"
    assert done["revision"] == 2
    assert _files(alice) == _files(bob)
    assert _merge(alice, "fine")["relation"] == "same"
    alice.write("a.txt", "A\n")
    assert _merge(alice, "fine")["relation"] == "same"
    alice.lace("commit", "-m", "A")
    assert _merge(alice, "fine")["relation"] == "ahead"
    bob.write("b.txt", "Bb\n")
    bob.lace("release", "1.2.0")
    _sync(bob, alice)
    assert _merge(alice, "fine", expect=2)["error"]["code"] == "not-fast-forward"
    assert _files(alice)["a.txt"] == "A\n"


def test_mate_merges_parts_and_reports_what_clashes(two: tuple[Person, Person]) -> None:
    """CLAY-72, CLAY-76: one commit with both parents; with a clash the paths, and nothing is changed."""
    alice, bob = two
    _write(alice, {"a.txt": "A\n", "both.txt": "1!\n2\n3\n4\n5\n"})
    done = _merge(alice, "mate")
    assert done["relation"] == "mergeable"
    assert done["merged"] == ["both.txt"]
    assert done["saved"]
    assert _files(alice) == {"a.txt": "A\n", "b.txt": "B\n", "both.txt": "1!\n2\n3\n4\n5?\n", "new.txt": "bob\n"}
    bob.write("both.txt", "1?\n2\n3\n4\n5?\n")
    bob.lace("release", "1.2.0")
    _sync(bob, alice)
    before = _files(alice)
    clash = _merge(alice, "mate", expect=1)
    assert [c["path"] for c in clash["conflicts"]] == ["both.txt"]
    assert _files(alice) == before
    assert clash["commit"] == done["commit"]
    assert alice.lace("conflicts")["conflicts"][0]["id"] == clash["conflict"]
    assert clash["next"] == "lace conflicts"


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        ("only-this", {"a.txt": "A\n", "b.txt": "b\n", "both.txt": "mine\n"}),
        ("only-that", {"a.txt": "a\n", "b.txt": "B\n", "both.txt": "1\n2\n3\n4\n5?\n", "new.txt": "bob\n"}),
        ("take-this", {"a.txt": "A\n", "b.txt": "b\n", "both.txt": "mine\n", "new.txt": "bob\n"}),
        ("take-that", {"a.txt": "a\n", "b.txt": "B\n", "both.txt": "1\n2\n3\n4\n5?\n", "new.txt": "bob\n"}),
        ("meet-this", {"a.txt": "A\n", "b.txt": "B\n", "both.txt": "mine\n", "new.txt": "bob\n"}),
        ("meet-that", {"a.txt": "A\n", "b.txt": "B\n", "both.txt": "1\n2\n3\n4\n5?\n", "new.txt": "bob\n"}),
        ("meld", {"a.txt": "A\n", "b.txt": "B\n", "both.txt": BASE["both.txt"], "new.txt": "bob\n"}),
    ],
)
def test_a_strategy_that_decides_makes_one_commit_that_later_merges_know(
    two: tuple[Person, Person], strategy: str, expected: dict[str, str]
) -> None:
    """CLAY-74, CLAY-77: the content is what the name says, with both parents, so the next merge has nothing to do."""
    alice, _ = two
    _write(alice, {"a.txt": "A\n", "both.txt": "mine\n"})
    done = _merge(alice, strategy)
    assert done["conflicts"] == []
    assert done["relation"] == "mergeable"
    assert _files(alice) == expected
    assert _merge(alice, "mate")["relation"] == "ahead"
    assert alice.lace("update")["relation"] in {"same", "ahead"}
    assert _files(alice) == expected


def test_meet_refuses_what_mate_merges(two: tuple[Person, Person]) -> None:
    """CLAY-74: meet wants changes in different files."""
    alice, _ = two
    alice.write("both.txt", "1!\n2\n3\n4\n5\n")
    clash = _merge(alice, "meet", expect=1)
    assert [c["path"] for c in clash["conflicts"]] == ["both.txt"]


def test_an_empty_desk_is_begun_and_histories_without_a_base_are_told(
    alice: Person, bob: Person, tmp_path: Path
) -> None:
    """CLAY-73, CLAY-78: merging into a missing desk is init; no common commit is an error that names the way out."""
    alice.lace("init", "--name", "alice")
    alice.lace("place", "add", "stick", str(tmp_path / "stick"))
    _write(alice, BASE)
    alice.lace("release", "1.0.0")
    bob.lace("accept", alice.lace("invite", "bob")["invite"])
    _sync(alice, bob)
    begun = _merge(bob, "mate", line="alice/main")
    assert begun["relation"] == "behind"
    assert begun["revision"] == 1
    assert _files(bob) == BASE
    again = _merge(bob, "init", line="alice/main", expect=2)
    assert again["error"]["code"] == "desk-not-empty"


def test_no_merge_base_is_an_explicit_error(alice: Person, bob: Person, tmp_path: Path) -> None:
    """CLAY-73: two lines that began apart merge only by a strategy that needs no base."""
    alice.lace("init", "--name", "alice")
    alice.lace("place", "add", "stick", str(tmp_path / "stick"))
    alice.write("a.txt", "a\n")
    alice.lace("release", "1.0.0")
    bob.write("b.txt", "b\n")
    bob.lace("accept", alice.lace("invite", "bob")["invite"])
    bob.lace("commit", "-m", "mine")
    _sync(alice, bob)
    for strategy in ("mate", "meet", "meld", "meet-this", "meet-that"):
        assert _merge(bob, strategy, line="alice/main", expect=2)["error"]["code"] == "no-merge-base"
    assert _merge(bob, "take-this", line="alice/main")["conflicts"] == []
    assert _files(bob) == {"a.txt": "a\n", "b.txt": "b\n"}
    assert bob.run("merge", "main", "--from", "alice/main", "--strategy", "best").code == 2
