"""Equal bytes are no proof that the maker of a new desk had what I released: then a person is asked (CLAY-24)."""

from __future__ import annotations

import pytest

from tests.cli.desks import clashing, meet
from tests.people import Person

_MINE = "verse\nbob's second strophe\n"


def _one_change_twice(alice: Person, bob: Person, same: str) -> None:
    """Let bob release an edit of main, and alice a desk that has one change of his by chance and not the other."""
    alice.write("songs/list.md", "teh list\n")
    alice.write("songs/x.md", "verse\n")
    alice.lace("release", "1.5.0")
    meet(alice, bob)
    bob.lace("update")
    bob.write(f"songs/{same}", "the list\n")
    bob.write("songs/x.md", _MINE)
    bob.lace("release", "1.5.1")
    alice.lace("desk", "add", "songs", "songs")
    alice.write(f"songs/{same}", "the list\n")
    alice.write("songs/x.md", "verse, as alice has it\n")


@pytest.mark.parametrize("same", ["list.md", "photo.jpg"])
@pytest.mark.parametrize("more", [0, 2])
def test_one_change_that_two_made_gives_no_other_away(pair: tuple[Person, Person], same: str, more: int) -> None:
    """CLAY-24, LAZ-29: both mended one word or put in one picture, and so the maker overwrote what they never had."""
    alice, bob = pair
    _one_change_twice(alice, bob, same)
    for count in range(more):  # then their desk counts as later than what they never had
        alice.write("other.md", f"{count}\n")
        alice.lace("release", f"1.6.{count}")
    alice.lace("release", "1.0.0", "--desk", "songs")
    meet(bob, alice, bob)
    bob.lace("desk", "add", "songs", "songs")
    assert clashing(bob, "songs") == ["x.md"]
    assert (bob.folder / "songs/x.md").read_text() == _MINE


def test_nor_does_it_with_a_third(trio: tuple[Person, Person, Person]) -> None:
    """CLAY-24, LAZ-14: whoever made the desk had met nobody who had it, as the counters of both releases tell."""
    alice, bob, cara = trio
    _one_change_twice(alice, bob, "list.md")
    alice.lace("release", "1.0.0", "--desk", "songs")
    meet(bob, alice, cara)
    cara.lace("update")
    cara.lace("desk", "add", "songs", "songs")
    assert clashing(cara, "songs") == ["x.md"]
    assert (cara.folder / "songs/x.md").read_text() == _MINE


@pytest.mark.parametrize("also", [False, True])
def test_what_i_put_back_stays_as_i_put_it(pair: tuple[Person, Person], also: bool) -> None:
    """CLAY-24: it is as it was once, which the maker had, and what came between was taken for newer."""
    alice, bob = pair
    for at, text in enumerate(("v1\n", "v2\n")):
        alice.write("songs/x.md", text)
        alice.write("songs/same.md", "1\n")
        alice.lace("release", f"1.5.{at}")
    meet(alice, bob)
    bob.lace("update")
    bob.write("songs/x.md", "v1\n")
    if also:
        bob.write("songs/own.md", "bob's\n")
    bob.lace("release", "1.5.2")
    alice.lace("desk", "add", "songs", "songs")
    alice.lace("release", "1.0.0", "--desk", "songs")
    meet(bob, alice, bob)
    bob.lace("desk", "add", "songs", "songs")
    assert clashing(bob, "songs") == ["x.md"]
    assert (bob.folder / "songs/x.md").read_text() == "v1\n"


def test_what_two_left_as_it_was_side_by_side_did_not_go_back(pair: tuple[Person, Person]) -> None:
    """CLAY-3, CLAY-24: a release beside the maker's has the file as it was before, and nobody edited it there."""
    alice, bob = pair
    alice.write("songs/x.md", "v1\n")
    alice.write("songs/y.md", "v1\n")
    alice.lace("release", "1.5.0")
    meet(alice, bob)
    bob.lace("update")
    alice.write("songs/x.md", "v2\n")
    alice.lace("release", "1.6.0")
    bob.write("songs/y.md", "v2\n")
    bob.lace("release", "1.6.1")
    alice.lace("desk", "add", "songs", "songs")
    alice.write("songs/x.md", "v3\n")
    alice.lace("release", "1.0.0", "--desk", "songs")
    meet(alice, bob)
    bob.lace("desk", "add", "songs", "songs")
    assert clashing(bob, "songs") == ["y.md"]


@pytest.mark.parametrize("is_first", [False, True])
def test_what_i_released_is_mine_unless_the_desk_had_it_itself(pair: tuple[Person, Person], is_first: bool) -> None:
    """CLAY-3, CLAY-24: the maker released main over my edit; whether they went on from it, their desk alone tells."""
    alice, bob = pair
    alice.write("songs/list.md", "teh list\n")
    alice.write("songs/x.md", "verse\n")
    alice.lace("release", "1.5.0")
    meet(alice, bob)
    bob.lace("update")
    bob.write("songs/list.md", "the list\n")
    bob.write("songs/x.md", _MINE)
    bob.lace("release", "1.5.1")
    meet(bob, alice)
    alice.lace("update")
    alice.write("other.md", "1\n")
    alice.lace("release", "1.5.2")
    alice.lace("desk", "add", "songs", "songs")
    if is_first:
        alice.lace("release", "0.9.0", "--desk", "songs")
    alice.write("songs/x.md", f"{_MINE}and a third\n")
    alice.lace("release", "1.0.0", "--desk", "songs")
    meet(alice, bob)
    bob.lace("desk", "add", "songs", "songs")
    if is_first:
        assert bob.lace("update", "songs")["written"] == ["x.md"]
    else:
        assert clashing(bob, "songs") == ["x.md"]


_LINES = "".join(f"{number}\n" for number in range(1, 10))
_EIGHTH = _LINES.replace("8\n", "8, mended\n")


def _one_file_brought(alice: Person, editor: Person) -> None:
    """Let a friend edit two files of a folder that alice made a desk, and her have one of them by hand alone."""
    alice.write("sub/f.txt", "f\n")
    alice.write("sub/g.txt", _LINES)
    alice.lace("release", "1.5.0")
    meet(alice, editor)
    editor.lace("update")
    alice.lace("desk", "add", "sub", "sub")
    editor.write("sub/f.txt", "mended\n")
    editor.write("sub/g.txt", _EIGHTH)
    editor.lace("release", "1.5.1")
    meet(editor, alice)


@pytest.mark.parametrize("is_merged", [False, True])
def test_one_file_brought_by_hand_gives_no_other_away(pair: tuple[Person, Person], is_merged: bool) -> None:
    """CLAY-24, LAZ-29: main went on from my edit and had it in no folder, and so the maker's desk overwrote it."""
    alice, bob = pair
    if is_merged:  # then what main has of the file is the maker's and mine
        alice.write("sub/g.txt", _LINES)
        alice.write("sub/f.txt", "f\n")
        alice.lace("release", "1.4.0")
        meet(alice, bob)
        bob.lace("update")
        alice.write("sub/g.txt", f"{_LINES}10\n")
        alice.lace("commit", "-m", "mine", "sub/g.txt")
        alice.lace("desk", "add", "sub", "sub")
        bob.write("sub/f.txt", "mended\n")
        bob.write("sub/g.txt", _EIGHTH)
        bob.lace("release", "1.5.1")
        meet(bob, alice)
    else:
        _one_file_brought(alice, bob)
    assert {one["path"] for one in alice.lace("update")["skipped"]} == {"sub/f.txt", "sub/g.txt"}
    alice.write("sub/f.txt", alice.text("cat", "bob/main@1.5.1", "sub/f.txt"))
    alice.write("sub/g.txt", f"alice\n{_LINES}{'10' if is_merged else ''}\n")
    alice.lace("release", "1.5.2")
    alice.lace("release", "1.0.0", "--desk", "sub")
    meet(alice, bob)
    bob.lace("update")
    mine = f"{_EIGHTH}10\n" if is_merged else _EIGHTH
    assert (bob.folder / "sub/g.txt").read_text() == mine
    bob.lace("desk", "add", "sub", "sub")
    assert clashing(bob, "sub") == ["g.txt"]
    assert (bob.folder / "sub/g.txt").read_text() == mine


def test_nor_does_it_give_away_what_a_third_released(trio: tuple[Person, Person, Person]) -> None:
    """CLAY-24, LAZ-14: cara's edit is in bob's folder, and the desk that alice made without it overwrote it there."""
    alice, bob, cara = trio
    _one_file_brought(alice, cara)
    meet(bob)
    bob.lace("update")
    alice.write("sub/f.txt", "mended\n")
    alice.write("sub/g.txt", f"alice\n{_LINES}")
    alice.lace("release", "1.0.0", "--desk", "sub")
    meet(alice, bob)
    bob.lace("desk", "add", "sub", "sub")
    assert clashing(bob, "sub") == ["g.txt"]
    assert (bob.folder / "sub/g.txt").read_text() == _EIGHTH


def test_a_file_that_two_put_in_by_themselves_stays_mine(pair: tuple[Person, Person]) -> None:
    """CLAY-24: nothing was there before it, and the maker of the desk had another one of that name."""
    alice, bob = pair
    alice.write("sub/f.txt", "f\n")
    alice.lace("release", "1.5.0")
    meet(alice, bob)
    bob.lace("update")
    alice.lace("desk", "add", "sub", "sub")
    bob.write("sub/f.txt", "mended\n")
    bob.write("sub/g.txt", "bob's\n")
    bob.lace("release", "1.5.1")
    meet(bob, alice)
    alice.lace("update")
    alice.lace("release", "1.5.2")
    alice.write("sub/f.txt", "mended\n")
    alice.write("sub/g.txt", "alice's\n")
    alice.lace("release", "1.0.0", "--desk", "sub")
    meet(alice, bob)
    bob.lace("desk", "add", "sub", "sub")
    assert clashing(bob, "sub") == ["g.txt"]
    assert (bob.folder / "sub/g.txt").read_text() == "bob's\n"
