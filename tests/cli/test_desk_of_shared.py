"""A shared folder that becomes a desk: what nobody edited clashes for no friend (CLAY-3, CLAY-24, LAZ-29)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import make_pair
from tests.cli.desks import meet
from tests.people import Person
from tests.shelf import Shelf


@pytest.fixture
def friends(shelf: Shelf) -> tuple[Person, Person]:
    """Alice, who released a folder n and then made it a desk and edited that, and bob, who has the folder."""
    return shelf.lay(_friends)


def _friends(root: Path) -> tuple[Person, Person]:
    alice, bob = make_pair(root)
    for name in ("a", "same", "mine"):
        alice.write(f"n/{name}", "1\n")
    alice.lace("release", "1.5.0")
    meet(alice, bob)
    bob.lace("update")
    return alice, bob


def _release_desk(alice: Person, bob: Person) -> None:
    alice.lace("desk", "add", "n", "n")
    alice.write("n/a", "1\n2\n")
    alice.write("n/mine", "1\nalice\n")
    alice.write("n/b", "new\n")
    alice.lace("release", "1.0.0", "--desk", "n")
    meet(alice, bob)
    bob.lace("desk", "add", "n", "n")


def test_a_friend_who_edited_nothing_takes_it_as_it_is(friends: tuple[Person, Person]) -> None:
    """CLAY-3, CLAY-24: each file that the maker edited clashed, and all was committed as the friend's change."""
    alice, bob = friends
    _release_desk(alice, bob)
    planned = bob.lace("update", "n", "--dry-run")
    done = bob.lace("update", "n")
    assert "committed first" not in bob.text("update", "n")
    assert planned["written"] == done["written"] == ["a", "b", "mine"]
    assert (planned["relation"], done["relation"], done["saved"]) == ("behind", "behind", None)
    assert (bob.folder / "n/a").read_text() == "1\n2\n"
    left = bob.lace("changes", "n")
    assert (left["added"], left["changed"], left["deleted"]) == ([], [], [])
    assert bob.lace("fsck")["ok"]


def test_nor_is_anything_committed_where_the_maker_edited_nothing(friends: tuple[Person, Person]) -> None:
    """CLAY-24, LAZ-29: the folder is as the friend's line has it, and the own line goes on from there."""
    alice, bob = friends
    alice.lace("desk", "add", "n", "n")
    alice.write("n/b", "new\n")
    alice.lace("release", "1.0.0", "--desk", "n")
    meet(alice, bob)
    bob.lace("desk", "add", "n", "n")
    planned, done = bob.lace("update", "n", "--dry-run"), bob.lace("update", "n")
    assert planned["written"] == done["written"] == ["b"]
    assert (planned["relation"], done["relation"], done["saved"]) == ("behind", "behind", None)
    assert bob.lace("update", "n")["relation"] == "same"


def test_what_a_friend_edited_or_made_stays_theirs(friends: tuple[Person, Person]) -> None:
    """CLAY-24: the edited file alone clashes, and all that the other kept comes with the decision."""
    alice, bob = friends
    bob.write("n/mine", "1\nbob\n")
    bob.write("n/own", "bob's\n")
    _release_desk(alice, bob)
    planned = bob.lace("update", "n", "--dry-run", expect=1)
    done = bob.lace("update", "n", expect=1)
    for told in (planned, done):
        assert [clash["path"] for clash in told["conflicts"]] == ["mine"]
    bob.lace("resolve", done["conflict"], "--prefer", "local")
    assert (bob.folder / "n/mine").read_text() == "1\nbob\n"
    assert (bob.folder / "n/own").read_text() == "bob's\n"
    assert (bob.folder / "n/a").read_text() == "1\n2\n"


def test_what_a_friend_committed_before_is_no_file_that_came(friends: tuple[Person, Person]) -> None:
    """CLAY-24: it stands in the folder as main has it, and is an edit of theirs all the same."""
    alice, bob = friends
    bob.write("n/mine", "1\nbob\n")
    bob.lace("release", "1.6.0")
    _release_desk(alice, bob)
    done = bob.lace("update", "n", expect=1)
    assert [clash["path"] for clash in done["conflicts"]] == ["mine"]
    assert (bob.folder / "n/mine").read_text() == "1\nbob\n"


def test_a_file_that_the_maker_did_not_have_stays(friends: tuple[Person, Person]) -> None:
    """CLAY-24: what another friend put there, or the maker took away, is deleted for nobody unasked."""
    alice, bob = friends
    alice.lace("desk", "add", "n", "n")
    (alice.folder / "n/same").unlink()
    alice.write("n/a", "1\n2\n")
    alice.lace("release", "1.0.0", "--desk", "n")
    meet(alice, bob)
    bob.lace("desk", "add", "n", "n")
    assert bob.lace("update", "n")["written"] == ["a"]
    assert (bob.folder / "n/same").read_text() == "1\n"


def test_after_an_undo_the_same_update_merges_again(friends: tuple[Person, Person]) -> None:
    """APP-4, CLAY-24: what the folder had was forgotten with the first update, and the second one clashed."""
    alice, bob = friends
    alice.lace("desk", "add", "n", "n")
    alice.write("n/a", "2\n")
    alice.lace("release", "1.0.0", "--desk", "n")
    meet(alice, bob)
    bob.lace("desk", "add", "n", "n")
    bob.write("n/own", "bob's\n")
    bob.lace("commit", "-m", "mine", "--desk", "n")
    first = bob.lace("update", "n")
    bob.lace("undo")
    assert (bob.folder / "n/a").read_text() == "1\n"
    again = bob.lace("update", "n")
    assert (first["relation"], again["relation"]) == ("mergeable", "mergeable")
    assert first["written"] == again["written"] == ["a"]


def test_what_both_add_later_is_committed_first_as_the_plan_says(friends: tuple[Person, Person]) -> None:
    """APP-12, CLAY-24: of a desk that has a commit the plan still asked what its folder was to the desk around it."""
    alice, bob = friends
    _release_desk(alice, bob)
    bob.lace("update", "n")
    for name in ("later", "more"):
        alice.write(f"n/{name}", "both\n")
    alice.lace("release", "1.1.0", "--desk", "n")
    meet(alice, bob)
    bob.write("n/later", "both\n")
    planned, done = bob.lace("update", "n", "--dry-run"), bob.lace("update", "n")
    assert (planned["relation"], done["relation"]) == ("mergeable", "mergeable")
    assert planned["written"] == done["written"] == ["more"]
