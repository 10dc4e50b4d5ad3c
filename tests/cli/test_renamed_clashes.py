"""A clash in a file that one friend renamed: the others have it by its old name, which is no deletion (LAZ-42)."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import make_pair, make_trio
from tests.people import Person
from tests.shelf import Shelf

_BASE = "".join(f"{number}\n" for number in range(1, 9))
_Trio = tuple[Person, Person, Person]
_HEADS = ("", "2.0.0", "")  # bob's release clashes with what alice did not release
_VERSION = ("2.0.0", "2.0.0", "")
_FRIENDS = ("2.1.0", "2.0.0", "")  # cara has what both went on from
_THREE = ("2.1.0", "2.0.0", "2.2.0")
_of = partial(pytest.mark.parametrize, "trio", indirect=True, ids="-".join)


def _with(name: str) -> str:
    """Return the text with another first line, which is what everybody changes."""
    return _BASE.replace("1\n", f"{name}\n", 1)


def _renamed(root: Path, *versions: str) -> _Trio:
    """Let bob rename and edit what the others edit; a version for each, or nothing for who does not release."""
    alice, bob, cara = make_trio(root)
    alice.write("m.txt", _BASE)
    alice.lace("release", "1.1.0")
    for person in (alice, bob, cara):
        person.run("sync", "stick")
    for person in (bob, cara):
        person.lace("update")
    (bob.folder / "m.txt").unlink()
    for person, name, version in zip((alice, bob, cara), ("m.txt", "b.txt", "m.txt"), versions, strict=True):
        if person is not cara or version:
            person.write(name, _with(person.name))
        if version:
            person.lace("release", version)
    for person in (alice, bob, cara, alice, bob):
        person.run("sync", "stick")
    return alice, bob, cara


@pytest.fixture(params=[_HEADS], ids="-".join)
def trio(shelf: Shelf, request: pytest.FixtureRequest) -> _Trio:
    """The three, with the releases that a test asks for."""
    return shelf.lay(_renamed, *request.param)


def _asked(person: Person) -> str:
    """Let an update note the conflict, and return its id."""
    assert person.run("update").code == 1
    (conflict,) = person.lace("conflicts")["conflicts"]
    assert "b.txt" in conflict["paths"]
    return str(conflict["id"])


def _decided(person: Person, conflict: str, *words: str) -> dict[str, Any]:
    """Decide as a dry run says, and return what the act did."""
    decide = ("resolve", conflict, *words)
    planned, done = person.lace(*decide, "--dry-run"), person.lace(*decide)
    assert {key: done[key] for key in ("written", "deleted", "unedited")} == {
        key: planned[key] for key in ("written", "deleted", "unedited")
    }
    return done


def _files(person: Person) -> dict[str, str]:
    """Return what a person has of the file, by name."""
    return {path.name: path.read_text() for path in sorted(person.folder.glob("*.txt"))}


def test_my_side_of_what_a_friend_renamed_is_my_content_by_their_name(trio: _Trio) -> None:
    """LAZ-39, LAZ-42: my folder was asked for the new name alone, so the file went, for everybody."""
    alice, bob, _ = trio
    done = _decided(alice, _asked(alice), "--prefer", "local")
    assert (done["written"], done["deleted"], _files(alice)) == (["b.txt"], ["m.txt"], {"b.txt": _with("alice")})
    alice.lace("release", "3.0.0")
    for person in (alice, bob):
        person.run("sync", "stick")
    bob.lace("update")
    assert _files(bob) == {"b.txt": _with("alice")}


@_of([_HEADS, _VERSION, _THREE])
@pytest.mark.parametrize("text", [_with("both"), _BASE, _BASE.replace("8\n", "both\n")])
def test_a_renamed_file_is_as_it_was_edited(trio: _Trio, text: str) -> None:
    """LAZ-42: edited as it should be, under the name that it has in the folder, it was released as deleted."""
    alice, bob, _ = trio
    conflict = _asked(alice)
    alice.write("m.txt", text)
    alice.write("new.md", "so that it is no look at an older state\n")
    assert _decided(alice, conflict, "--merged", "3.0.0")["unedited"] == []
    assert _files(alice) == {"b.txt": text}
    for person in (alice, bob):
        person.run("sync", "stick")
    bob.run("update")
    bob.run("resolve", "2.0.0", "--accept")
    assert _files(bob) == {"b.txt": text}


@_of([_VERSION])
def test_a_renamed_file_that_nobody_edited_is_named(trio: _Trio) -> None:
    """LAZ-42: it told whose it is, and meant a deletion."""
    alice, *_ = trio
    named = [{"path": "b.txt", "side": "alice", "without": ["bob"]}]
    assert _decided(alice, _asked(alice), "--merged", "3.0.0")["unedited"] == named
    assert _files(alice) == {"b.txt": _with("alice")}


@_of([_FRIENDS])
@pytest.mark.parametrize("side", ["alice", "bob"])
def test_a_bystander_prefers_either_side(trio: _Trio, side: str) -> None:
    """LAZ-39, LAZ-42: who had it by the old name was said to have changed nothing of what they went on from."""
    *_, cara = trio
    _decided(cara, _asked(cara), "--prefer", side)
    assert _files(cara) == {"b.txt": _with(side)}


@_of([_FRIENDS])
@pytest.mark.parametrize("text", [_BASE, _with("all")])
def test_what_a_bystander_edited_decides_and_what_they_left_does_not(trio: _Trio, text: str) -> None:
    """LAZ-42: an edit by the old name was none."""
    *_, cara = trio
    conflict = _asked(cara)
    cara.write("m.txt", text)
    if text == _BASE:
        refused = cara.lace("resolve", conflict, "--merged", "3.0.0", expect=2)["error"]
        assert refused["code"] == "path-undecided"
        return
    assert _decided(cara, conflict, "--merged", "3.0.0")["unedited"] == []
    assert _files(cara) == {"b.txt": text}


@_of([_THREE])
@pytest.mark.parametrize("who", [0, 1, 2])
@pytest.mark.parametrize("side", ["alice", "bob", "cara"])
def test_of_three_a_preferred_side_is_by_the_one_name_that_stays(trio: _Trio, who: int, side: str) -> None:
    """LAZ-39, LAZ-42: two had it by its old name, and the order of the merge is that of hashes."""
    _decided(trio[who], _asked(trio[who]), "--prefer", side)
    assert _files(trio[who]) == {"b.txt": _with(side)}


@_of([_THREE])
def test_lines_of_three_are_chosen_though_one_renamed_the_file(trio: _Trio) -> None:
    """LAZ-39: two of three had no lines there, by the new name, so there was no region to choose for."""
    *_, cara = trio
    words = ("--path", "m.txt", "--take", "local") if "m.txt" in _paths(cara) else ()
    _decided(cara, _asked(cara), "--merged", "3.0.0", *words, "--path", "b.txt", "--region", "1", "--take", "both")
    (text,) = _files(cara).values()
    assert sorted(text.split()[:3]) == ["alice", "bob", "cara"]


def _paths(person: Person) -> list[str]:
    person.run("update")
    (conflict,) = person.lace("conflicts")["conflicts"]
    return list(conflict["paths"])


@pytest.mark.parametrize("text", [_with("both"), _BASE.replace("8\n", "both\n")])
@pytest.mark.parametrize("name", ["b.txt", "m.txt"])
@pytest.mark.parametrize("side", ["local", "bob"])
def test_a_side_is_taken_by_either_name(trio: _Trio, text: str, name: str, side: str) -> None:
    """LAZ-39: of my side by the new name, and of bob's by the old one, the file was deleted."""
    alice, *_ = trio
    conflict = _asked(alice)
    alice.write("m.txt", text)
    alice.lace("resolve", conflict, "--merged", "3.0.0", "--path", name, "--take", side)
    if side == "bob":
        assert _files(alice) == {"b.txt": _with("bob")}
    else:
        assert _files(alice) == {name: text}


def _lost_by_alice(root: Path) -> tuple[Person, Person]:
    """Let alice delete what bob renames and edits."""
    alice, bob = make_pair(root)
    alice.write("m.txt", _BASE)
    alice.lace("release", "1.1.0")
    for person in (alice, bob):
        person.run("sync", "stick")
    bob.lace("update")
    for person in (alice, bob):
        (person.folder / "m.txt").unlink()
    bob.write("b.txt", _with("bob"))
    bob.lace("release", "2.0.0")
    bob.run("sync", "stick")
    alice.lace("commit", "-m", "away")
    alice.run("sync", "stick")
    return alice, bob


@pytest.mark.parametrize("text", ["", _with("both")])
def test_what_i_deleted_stays_deleted_and_what_i_made_anew_is_the_decision(shelf: Shelf, text: str) -> None:
    """LAZ-42: made anew by its old name it went once more, as if nothing stood there."""
    alice, _ = shelf.lay(_lost_by_alice)
    conflict = _asked(alice)
    if text:
        alice.write("m.txt", text)
    alice.lace("resolve", conflict, "--merged", "3.0.0", "--yes")
    assert _files(alice) == ({"b.txt": text} if text else {})


def _moved_by_alice(root: Path, commits: bool) -> Person:
    """Let alice rename and edit what bob edits in one version, and go on with it before she prefers bob's."""
    alice, bob = make_pair(root)
    alice.write("b.txt", _BASE)
    alice.lace("release", "1.1.0")
    for person in (alice, bob):
        person.run("sync", "stick")
    bob.lace("update")
    (alice.folder / "b.txt").unlink()
    for person, name in ((bob, "b.txt"), (alice, "m.txt")):
        person.write(name, _with(person.name))
        person.lace("release", "2.0.0")
        person.run("sync", "stick")
    alice.write("m.txt", _with("newer"))
    if commits:
        alice.lace("commit", "-m", "newer")
    return alice


@pytest.mark.parametrize("commits", [False, True])
@pytest.mark.parametrize("words", [("--merged", "3.0.0"), ("--prefer", "local")])
def test_a_decision_that_renames_back_what_i_moved_takes_my_content(
    shelf: Shelf, words: tuple[str, ...], *, commits: bool
) -> None:
    """LAZ-42: the decision has it by its old name, so what I made of it since was deleted."""
    alice = shelf.lay(_moved_by_alice, commits)
    assert alice.lace("resolve", "2.0.0", "--prefer", "bob", expect=1)["conflicts"] == ["b.txt"]
    _decided(alice, _asked(alice), *words)
    assert _files(alice) == {"b.txt": _with("newer")}


@_of([("2.0.0", "2.0.0", "2.1.0")])
@pytest.mark.parametrize("commits", [False, True])
def test_what_i_renamed_myself_stays_where_i_put_it(trio: _Trio, *, commits: bool) -> None:
    """LAZ-42: the friends clash by names that my folder has not, and that I had moved the file was no deletion."""
    *_, cara = trio
    (cara.folder / "m.txt").unlink()
    cara.write("c.txt", _with("mine"))
    if commits:
        cara.lace("commit", "-m", "moved")
    _decided(cara, "2.0.0", "--merged", "3.0.0", "--yes")
    assert _files(cara) == {"c.txt": _with("mine")}


def _clash_then_moved(root: Path) -> Person:
    """Let alice and bob release one version, and cara rename and edit what they clash in."""
    alice, bob, cara = make_trio(root)
    alice.write("m.txt", _BASE)
    alice.lace("release", "1.1.0")
    for person in (alice, bob, cara):
        person.run("sync", "stick")
    for person in (bob, cara):
        person.lace("update")
    for person in (alice, bob):
        person.write("m.txt", _with(person.name))
        person.lace("release", "2.0.0")
    (cara.folder / "m.txt").unlink()
    cara.write("c.txt", _with("cara"))
    for person in (alice, bob, cara):
        person.run("sync", "stick")
    return cara


@pytest.mark.parametrize("commits", [False, True])
def test_what_friends_clash_in_by_its_old_name_is_as_i_have_it_by_my_own(shelf: Shelf, *, commits: bool) -> None:
    """LAZ-42: they both have it by the old name alone, so my folder seemed to have deleted it."""
    cara = shelf.lay(_clash_then_moved)
    if commits:
        cara.lace("commit", "-m", "moved")
    _decided(cara, "2.0.0", "--merged", "3.0.0", "--yes")
    assert _files(cara) == {"c.txt": _with("cara")}


def test_a_clash_is_named_with_the_name_before(pair: tuple[Person, Person]) -> None:
    """LAZ-39, APP-4: bob's folder has no file of the name that he was told; and who moved one deleted nothing."""
    alice, bob = pair
    alice.write("m.txt", _BASE)
    alice.write("n.txt", "".join(f"{number}\n" for number in range(50)))
    alice.lace("release", "1.1.0")
    for person in (alice, bob):
        person.run("sync", "stick")
    bob.lace("update")
    (alice.folder / "m.txt").rename(alice.folder / "moved.txt").write_text(_with("alice"))
    (alice.folder / "n.txt").rename(alice.folder / "far.txt").write_text("something else\n")
    bob.write("m.txt", _with("bob"))
    bob.write("n.txt", "bob\n" + "".join(f"{number}\n" for number in range(50)))
    for person, version in ((alice, "1.2.0"), (bob, "1.3.0")):
        person.lace("release", version)
    for person in (alice, bob, alice):
        person.run("sync", "stick")
    for person in (alice, bob):
        clashes = person.lace("update", "--dry-run", expect=1)["conflicts"]
        assert {clash["path"]: clash["renamed_from"] for clash in clashes} == {"moved.txt": "m.txt", "n.txt": None}
        told = person.text("update", "--dry-run", expect=1)
        assert (
            "  moved.txt, renamed from m.txt (content)\n  n.txt (delete/edit)\ndelete/edit: one side has it no" in told
        )
