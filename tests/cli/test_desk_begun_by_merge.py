"""`lace merge` into a desk without a revision: it is begun from the other line, as its plan says (CLAY-78)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import make_pair
from tests.cli.desks import meet
from tests.people import Person
from tests.shelf import Shelf


@pytest.fixture
def friends(shelf: Shelf) -> tuple[Person, Person]:
    """Alice, who released a folder, made it a desk and edited that, and bob, whose folder is as main had it."""
    return shelf.lay(_friends)


def _friends(root: Path) -> tuple[Person, Person]:
    alice, bob = make_pair(root)
    alice.write("songs/list.md", "1\n")
    alice.write("songs/x.md", "verse\n")
    alice.lace("release", "1.5.0")
    meet(alice, bob)
    bob.lace("update")
    alice.lace("desk", "add", "songs", "songs")
    alice.write("songs/x.md", "verse\nstrophe\n")
    alice.write("songs/new.md", "new\n")
    alice.lace("release", "1.0.0", "--desk", "songs")
    meet(alice, bob)
    bob.lace("desk", "add", "songs", "songs")
    return alice, bob


def _words(strategy: str, *more: str) -> tuple[str, ...]:
    return ("merge", "songs", "--from", "alice/songs", "--strategy", strategy, *more)


@pytest.mark.parametrize("strategy", ["init", "fine", "mate", "meet"])
def test_a_folder_as_main_had_it_is_no_side(friends: tuple[Person, Person], strategy: str) -> None:
    """CLAY-78, CLAY-24: it was committed in the same act, and that commit has none in common with a friend's."""
    _, bob = friends
    planned, done = bob.lace(*_words(strategy, "--dry-run")), bob.lace(*_words(strategy))
    assert planned["written"] == done["written"] == ["new.md", "x.md"]
    assert (planned["relation"], done["relation"]) == ("behind", "behind")
    assert (done["revision"], done["saved"]) == (1, None)
    assert (bob.folder / "songs/x.md").read_text() == "verse\nstrophe\n"
    left = bob.lace("changes", "songs")
    assert (left["added"], left["changed"], left["deleted"]) == ([], [], [])
    assert bob.lace("update", "songs")["relation"] == "same"


@pytest.mark.parametrize(
    ("strategy", "code"), [("init", "desk-not-empty"), ("fine", "not-fast-forward"), ("mate", "no-merge-base")]
)
def test_what_is_mine_there_is_refused_by_the_plan_too(
    friends: tuple[Person, Person], strategy: str, code: str
) -> None:
    """CLAY-73, CLAY-78: the plan said that it works, and `init` named a revision that nobody had made."""
    _, bob = friends
    bob.write("songs/x.md", "verse\nbob\n")
    planned, done = bob.lace(*_words(strategy, "--dry-run"), expect=2), bob.lace(*_words(strategy), expect=2)
    assert planned["error"] == done["error"]
    assert done["error"]["code"] == code
    assert "revisions already" not in done["error"]["message"]
    assert (bob.folder / "songs/x.md").read_text() == "verse\nbob\n"
    assert bob.lace("changes", "songs")["added"]  # nothing was committed


@pytest.mark.parametrize(
    ("strategy", "text", "is_own"),
    [
        ("only-that", "verse\nstrophe\n", False),
        ("take-that", "verse\nstrophe\n", True),
        ("take-this", "verse\nbob\n", True),
        ("only-this", "verse\nbob\n", True),
    ],
)
def test_a_side_that_is_named_is_committed_first(
    friends: tuple[Person, Person], strategy: str, text: str, is_own: bool
) -> None:
    """CLAY-78: nothing of mine is lost, and the plan, which said that it is overwritten, says what is done."""
    _, bob = friends
    bob.write("songs/x.md", "verse\nbob\n")
    bob.write("songs/own.md", "bob's\n")
    planned, done = bob.lace(*_words(strategy, "--dry-run")), bob.lace(*_words(strategy))
    assert (planned["relation"], done["relation"]) == ("mergeable", "mergeable")
    assert (planned["written"], planned["deleted"]) == (done["written"], done["deleted"])
    assert (bob.folder / "songs/x.md").read_text() == text
    assert (bob.folder / "songs/own.md").exists() is is_own
    assert done["saved"]


def test_a_folder_with_the_same_files_is_begun_from_them(ann: Person, bob: Person, stick: Path) -> None:
    """CLAY-78: who had copied files before they joined was told of a revision that nobody had made."""
    ann.lace("place", "add", "stick", str(stick))
    for name in ("a.md", "b.md"):
        ann.write(name, "1\n")
    ann.lace("release", "1.0.0")
    bob.write("a.md", "1\n")
    bob.lace("accept", ann.lace("invite", "bob")["invite"])
    meet(bob, ann, bob)
    words = ("merge", "main", "--from", "alice/main", "--strategy", "init")
    planned, done = bob.lace(*words, "--dry-run"), bob.lace(*words)
    assert planned["written"] == done["written"] == ["b.md"]
    assert (planned["relation"], done["relation"], done["revision"]) == ("behind", "behind", 1)
