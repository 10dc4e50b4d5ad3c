"""Lines that clash where histories criss-cross: their base is merged, and kept in no vault (CLAY-76, LAZ-39)."""

from __future__ import annotations

from pathlib import Path

import pytest

from lazy.conflicts import conflicts
from lazy.resolving.opening import open_conflict
from tests.circle.world import open_vault
from tests.people import Person
from tests.shelf import Shelf
from tests.walk.conftest import make_trio
from tests.walk.meeting import meet, text_of

LINES = [f"{number}\n" for number in range(1, 12)]
Pair = tuple[Person, Person]


def _text(*changed: tuple[int, str]) -> str:
    lines = list(LINES)
    for number, text in changed:
        lines[number - 1] = f"{text}\n"
    return "".join(lines)


@pytest.fixture
def crossed(shelf: Shelf) -> Pair:
    """Alice and bob took in each other's line of a file, after each had changed that line of theirs and the fifth."""
    return shelf.lay(_crossed)


def _crossed(root: Path) -> Pair:
    alice, bob, _ = make_trio(root)
    alice.write("n.md", _text())
    alice.lace("release", "1.1.0")
    meet(alice, bob)
    bob.lace("update")
    own = {"alice": 1, "bob": 9}
    for person, version in ((alice, "1.2.0"), (bob, "1.3.0")):
        person.write("n.md", _text((own[person.name], person.name)))
        person.lace("release", version)
    meet(alice, bob)
    for person, version in ((alice, "1.4.0"), (bob, "1.5.0")):
        person.write("n.md", _text((own[person.name], f"{person.name} again"), (5, f"five of {person.name}")))
        person.lace("commit", "-m", "again")  # else what `update` merges is that very base
        person.lace("update")
        person.lace("release", version)
    meet(alice, bob)
    assert alice.lace("update", expect=1)["conflicts"]
    return alice, bob


def _id(person: Person) -> str:
    (conflict,) = person.lace("conflicts")["conflicts"]
    return str(conflict["id"])


def test_regions_over_a_merged_base_are_shown(crossed: Pair) -> None:
    """LAZ-39, CLAY-76: nothing was shown of them, and no word said why."""
    alice, _ = crossed
    (conflict,) = alice.lace("conflicts", "--regions")["conflicts"]
    (shown,) = conflict["regions"]
    texts = [(one["base"], one["ours"], one["theirs"]) for one in shown["regions"]]
    assert ("5\n", "five of alice\n", "five of bob\n") in texts
    assert "five of bob" in alice.text("conflicts", "--regions")
    assert alice.lace("conflicts", "--drafts", "D")["conflicts"][0]["drafts"] == ["n.md"]


@pytest.mark.parametrize(
    ("words", "five"),
    [
        (("--region", "1", "--take", "bob"), "five of bob\n"),
        (("--take", "both"), "five of alice\nfive of bob\n"),
    ],
)
def test_regions_over_a_merged_base_are_decided(crossed: Pair, words: tuple[str, ...], five: str) -> None:
    """LAZ-39, CLAY-76: a content was said to be missing that never was in any vault."""
    alice, bob = crossed
    alice.lace("resolve", _id(alice), "--merged", "1.6.0", "--path", "n.md", *words)
    assert five in text_of(alice, "n.md")
    meet(alice, bob)
    bob.lace("update")
    assert text_of(bob, "n.md") == text_of(alice, "n.md")


def test_a_merged_base_is_shown_between_the_sides(crossed: Pair) -> None:
    """LAZ-35, LAZ-39: the page that asks by lines failed to open."""
    alice, _ = crossed
    with open_vault(alice) as vault:
        (conflict,) = conflicts(vault)
        (file,) = open_conflict(vault, conflict.id).files
    assert file.has_lines
    assert file.base is not None
    assert file.base.text == _text((1, "alice"), (9, "bob")).encode()
