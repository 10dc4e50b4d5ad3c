"""The base of a new desk's first update: what both had, and where that is in doubt a person is asked (CLAY-3, CLAY-24).

An edit is never lost for that: a release holds the whole tree, also what its maker never touched.
"""

from __future__ import annotations

import pytest

from tests.cli.desks import clashing, meet
from tests.people import Person

_MINE = "1\nalice worked a day on this\n"


def _files(person: Person, *names: str) -> None:
    for name in names:
        person.write(f"n/{name}", "1\n")


def _older_desk(alice: Person, bob: Person, theirs: str) -> None:
    """Let alice release an edit after bob made the folder a desk, and bob main over it and then the desk without it."""
    _files(alice, "mine", "c", "same")
    alice.lace("release", "1.5.0")
    meet(alice, bob)
    bob.lace("update")
    bob.lace("desk", "add", "n", "n")
    alice.write("n/mine", _MINE)
    alice.lace("release", "1.6.0")
    meet(alice, bob)
    bob.lace("update")
    bob.write("list.md", "milk\nbread\n")
    bob.lace("release", "1.7.0")
    bob.write("n/c", "bob\n")
    bob.write("n/mine", theirs)
    bob.lace("release", "1.0.0", "--desk", "n")
    meet(bob, alice)


@pytest.mark.parametrize("theirs", ["1\n", "1\nbob\n"])
def test_my_work_stays_where_the_maker_of_the_desk_never_had_it(pair: tuple[Person, Person], theirs: str) -> None:
    """CLAY-24, LAZ-29: a friend released it with all of main, and so it was overwritten with what was before it."""
    alice, bob = pair
    _older_desk(alice, bob, theirs)
    alice.lace("desk", "add", "n", "n")
    assert clashing(alice, "n") == ["mine"]
    assert (alice.folder / "n/mine").read_text() == _MINE


@pytest.mark.parametrize("theirs", ["1\n", "1\nbob\n"])
def test_so_does_a_friends_work_with_a_third(trio: tuple[Person, Person, Person], theirs: str) -> None:
    """CLAY-24: it came from a friend, and what went on from the state before it took it back all the same."""
    alice, bob, cara = trio
    _older_desk(alice, bob, theirs)
    meet(cara)
    cara.lace("update")
    assert (cara.folder / "n/mine").read_text() == _MINE
    cara.lace("desk", "add", "n", "n")
    assert clashing(cara, "n") == ["mine"]
    assert (cara.folder / "n/mine").read_text() == _MINE


def test_my_work_stays_mine_under_another_key(pair: tuple[Person, Person]) -> None:
    """CYB-21, CLAY-24: what was released before `lace adopt` counted as a friend's."""
    alice, bob = pair
    _files(alice, "mine", "c", "same")
    alice.lace("release", "1.5.0")
    meet(alice, bob)
    bob.lace("update")
    bob.lace("desk", "add", "n", "n")
    bob.write("n/mine", "1\nbob\n")
    bob.lace("release", "1.0.0", "--desk", "n")
    alice.write("n/mine", _MINE)
    alice.lace("release", "1.6.0")
    alice.lace("adopt", "--name", "alice-2", "--yes")
    meet(alice, bob, alice)
    alice.lace("desk", "add", "n", "n")
    assert clashing(alice, "n") == ["mine"]
    assert (alice.folder / "n/mine").read_text() == _MINE


def test_what_a_maker_released_under_a_former_key_is_theirs(pair: tuple[Person, Person]) -> None:
    """CYB-21, CLAY-24: all of it was edited since, and whoever has it as it was has edited nothing."""
    alice, bob = pair
    _files(alice, "a")
    alice.lace("release", "1.5.0")
    meet(alice, bob)
    bob.lace("update")
    alice.lace("adopt", "--name", "alice-2", "--yes")
    alice.lace("desk", "add", "n", "n")
    alice.write("n/a", "1\n2\n")
    alice.lace("release", "1.0.0", "--desk", "n")
    meet(alice, bob, alice, bob)
    bob.lace("desk", "add", "n", "n")
    assert bob.lace("update", "n")["written"] == ["a"]


def test_who_released_the_files_and_edited_none_is_asked_nothing(pair: tuple[Person, Person]) -> None:
    """CLAY-3, CLAY-24: each file that a friend had edited clashed, and was committed in the name of who made it."""
    alice, bob = pair
    _files(alice, "a", "c", "d")
    alice.lace("release", "1.5.0")
    meet(alice, bob)
    bob.lace("update")
    bob.lace("desk", "add", "n", "n")
    bob.write("n/a", "1\nbob\n")
    bob.write("n/c", "bob\n")
    bob.lace("release", "1.0.0", "--desk", "n")
    meet(bob, alice)
    alice.lace("desk", "add", "n", "n")
    planned, done = alice.lace("update", "n", "--dry-run"), alice.lace("update", "n")
    assert planned["written"] == done["written"] == ["a", "c"]
    assert (planned["relation"], done["relation"], done["saved"]) == ("behind", "behind", None)


def test_a_friend_may_go_on_from_a_newer_state_than_mine(pair: tuple[Person, Person]) -> None:
    """CLAY-24: the maker of the desk had what was released later, and with it all that was before."""
    alice, bob = pair
    _files(alice, "a", "b")
    alice.lace("release", "1.5.0")
    meet(alice, bob)
    bob.lace("update")
    alice.write("n/a", "2\n")
    alice.lace("release", "1.6.0")
    alice.lace("desk", "add", "n", "n")
    alice.write("n/b", "3\n")
    alice.lace("release", "1.0.0", "--desk", "n")
    meet(alice, bob)
    bob.lace("desk", "add", "n", "n")
    assert bob.lace("update", "n")["written"] == ["a", "b"]


def test_who_made_a_file_a_desk_has_taken_back_is_asked(pair: tuple[Person, Person]) -> None:
    """CLAY-24: what is as it was before mine may be older, or meant so; which, is for a person."""
    alice, bob = pair
    _files(alice, "a", "b")
    alice.lace("release", "1.5.0")
    alice.write("n/a", "2\n")
    alice.lace("release", "1.6.0")
    meet(alice, bob)
    bob.lace("update")
    alice.lace("desk", "add", "n", "n")
    alice.write("n/a", "1\n")
    alice.lace("release", "1.0.0", "--desk", "n")
    meet(alice, bob)
    bob.lace("desk", "add", "n", "n")
    assert clashing(bob, "n") == ["a"]


def test_what_main_merged_is_in_no_folder_of_the_desk(trio: tuple[Person, Person, Person]) -> None:
    """CLAY-24: the maker of the desk released an edit of a friend with main, merged into theirs, and never had it."""
    alice, bob, cara = trio
    _files(alice, "c", "same")
    alice.write("n/mine", "1\n2\n3\n")
    alice.lace("release", "1.5.0")
    meet(alice, bob)
    bob.lace("update")
    bob.write("n/mine", "1\n2\n3\nbob\n")
    bob.lace("release", "1.6.0")
    bob.lace("desk", "add", "n", "n")
    alice.write("n/mine", "alice\n1\n2\n3\n")
    alice.lace("release", "1.6.1")
    meet(alice, bob)
    bob.lace("update")
    bob.lace("release", "1.7.0")
    bob.write("n/mine", "1\n2\n3\nbob more\n")
    bob.lace("release", "1.0.0", "--desk", "n")
    meet(bob, cara)
    cara.lace("update")
    merged = "alice\n1\n2\n3\nbob\n"
    assert (cara.folder / "n/mine").read_text() == merged
    cara.lace("desk", "add", "n", "n")
    assert clashing(cara, "n") == ["mine"]
    assert (cara.folder / "n/mine").read_text() == merged
