"""A conflict of three: every path and every side is named, also beyond the first two that clash (LAZ-39, LAZ-42)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import make_trio
from tests.people import Person, person_in
from tests.shelf import Shelf

_LINES = [f"{number}\n" for number in range(1, 13)]


def _song(*changed: tuple[int, str]) -> str:
    lines = list(_LINES)
    for number, text in changed:
        lines[number - 1] = f"{text}\n"
    return "".join(lines)


@pytest.fixture
def three(shelf: Shelf) -> tuple[Person, Person, Person]:
    """Alice, with two friends' releases that clash with hers in one song, and each in another one of its own."""
    return shelf.lay(_three)


def _three(root: Path) -> tuple[Person, Person, Person]:
    alice, bob, cara = people = person_in(root, "alice"), person_in(root, "bob"), person_in(root, "cara")
    alice.lace("init", "--name", "alice", "--group", "friends")
    for name in ("all.md", "bobs.md", "caras.md"):
        alice.write(name, _song())
    alice.lace("release", "1.0.0")
    alice.lace("place", "add", "stick", str(root / "stick"))
    for friend in (bob, cara):
        friend.lace("accept", alice.lace("invite", friend.name)["invite"], "--name", friend.name)
        for person in (friend, alice, friend):
            person.run("sync", "stick")
        friend.lace("update")
    for version, person in zip(("2.0.0", "2.1.0", "2.2.0"), people, strict=True):
        own = {"alice": ("bobs.md", "caras.md"), "bob": ("bobs.md",), "cara": ("caras.md",)}[person.name]
        for name in ("all.md", *own):
            person.write(name, _song((3, person.name), *([(9, "only cara")] if person is cara else [])))
        person.lace("release", version)
    for person in (*people, *people):
        person.run("sync", "stick")
    assert alice.run("update").code == 1
    return people


_CLASHING = ["all.md", "bobs.md", "caras.md"]


def test_changes_and_regions_name_every_path_and_side(three: tuple[Person, ...]) -> None:
    """LAZ-39: both stopped at the first two heads that clash, so what the third had was decided unseen."""
    alice, *_ = three
    assert alice.lace("changes")["conflicted"] == _CLASHING
    (conflict,) = alice.lace("conflicts", "--regions")["conflicts"]
    assert [one["path"] for one in conflict["regions"]] == _CLASHING
    for path, friends in zip(_CLASHING, (("bob", "cara"), ("bob",), ("cara",)), strict=True):
        assert _numbered(conflict, path) == [(1, {name: f"{name}\n" for name in ("alice", *friends)})]
    told = alice.text("conflicts", "--regions")
    assert "    caras.md region 1\n        3\n      alice> alice\n      cara> cara\n" in told


def test_a_draft_holds_what_every_side_made(three: tuple[Person, ...], tmp_path: Path) -> None:
    """LAZ-39: a draft of two sides, edited and released, would have taken back what the third did."""
    alice, *_ = three
    (conflict,) = alice.lace("conflicts", "--drafts", str(tmp_path / "merge"))["conflicts"]
    assert sorted(conflict["drafts"]) == _CLASHING
    text = (tmp_path / "merge" / "all.md").read_text()
    for line in ("alice", "bob", "cara", "only cara"):
        assert f"\n{line}\n" in text
    assert text.count("\nonly cara\n") == 1
    refused = alice.lace("resolve", conflict["id"], "--merged", "3.0.0", "--files", str(tmp_path / "merge"), expect=2)
    assert refused["error"]["code"] == "markers-left"


def test_what_would_be_taken_unedited_is_named_for_every_side(three: tuple[Person, ...]) -> None:
    """LAZ-42: a file that clashes with the third side alone was taken as it is here without a word."""
    alice, *_ = three
    (conflict,) = alice.lace("conflicts")["conflicts"]
    planned = alice.lace("resolve", conflict["id"], "--merged", "3.0.0", "--dry-run")
    assert [one["path"] for one in planned["unedited"]] == _CLASHING
    assert alice.lace("resolve", conflict["id"], "--merged", "3.0.0", "--yes")["status"] == "merged"
    assert all("alice\n" in (alice.folder / name).read_text() for name in _CLASHING)


def test_what_was_edited_is_the_decision_whichever_side_it_clashes_with(three: tuple[Person, ...]) -> None:
    """LAZ-42: of a file that clashed behind the first two sides a friend's lines came, and not those edited."""
    alice, *_ = three
    (conflict,) = alice.lace("conflicts")["conflicts"]
    for name in _CLASHING:
        alice.write(name, _song((12, "neither")))
    assert alice.lace("resolve", conflict["id"], "--merged", "3.0.0")["unedited"] == []
    for name in _CLASHING:
        assert (alice.folder / name).read_text() == _song((12, "neither"))


def _numbered(conflict: dict[str, Any], path: str) -> list[tuple[int, dict[str, str]]]:
    (one,) = [one for one in conflict["regions"] if one["path"] == path]
    return [
        (region["number"], {side["side"]: side["text"] for side in region["sides"] if side["changed"]})
        for region in one["regions"]
    ]


@pytest.fixture
def unlike(shelf: Shelf) -> tuple[Person, dict[str, Any]]:
    """Alice, and a conflict of three in which the friends clash with her in unlike places of one file."""
    return shelf.lay(_unlike)


def _unlike(root: Path) -> tuple[Person, dict[str, Any]]:
    alice, bob, cara = three = _three(root)
    of_bob, of_cara = [(3, "bob"), (6, "bob six")], [(6, "cara six"), (9, "only cara")]
    of_alice = [(3, "alice"), (6, "alice six")]
    for version, (person, lines) in enumerate(((bob, of_bob), (cara, of_cara), (alice, of_alice)), 3):
        person.write("all.md", _song(*lines))
        person.lace("release", f"2.{version}.0")
    for person in (*three, *three):
        person.run("sync", "stick")
    assert alice.run("update").code == 1
    (conflict,) = alice.lace("conflicts", "--regions")["conflicts"]
    return alice, conflict


def test_regions_are_numbered_over_what_all_sides_have_in_common(unlike: tuple[Person, dict[str, Any]]) -> None:
    """LAZ-39: one number stood for a region with each side, so a file with unlike regions could not be decided."""
    alice, conflict = unlike
    assert _numbered(conflict, "all.md") == [
        (1, {"alice": "alice\n", "bob": "bob\n"}),
        (2, {"alice": "alice six\n", "bob": "bob six\n", "cara": "cara six\n"}),
    ]
    told = alice.text("conflicts", "--regions")
    of_two = told.partition("    all.md region 2\n        6\n      alice> alice six\n")[2]
    assert set(of_two.splitlines()[:2]) == {"      bob> bob six", "      cara> cara six"}
    whole = ("--path", "bobs.md", "--take", "bob", "--path", "caras.md", "--take", "cara")
    one = ("resolve", conflict["id"], "--merged", "3.0.0", *whole, "--path", "all.md", "--region", "1", "--take", "bob")
    assert alice.lace(*one, expect=2)["error"]["code"] == "region-undecided"
    three_of = (*one, "--region", "2", "--take", "alice", "--region", "3", "--take", "bob")
    assert alice.lace(*three_of, expect=2)["error"]["code"] == "region-undecided"
    words = (*one, "--region", "2", "--take", "cara")
    planned = alice.lace(*words, "--dry-run")
    assert planned["written"] == _CLASHING
    assert alice.lace(*words)["status"] == "merged"
    wanted = _song((3, "bob"), (6, "cara six"), (9, "only cara"))
    assert (alice.folder / "all.md").read_text() == wanted


@pytest.mark.parametrize(
    ("side", "lines"),
    [("both", ["alice six", "bob six", "cara six"]), ("local", ["alice six"]), ("bob", ["bob six"])],
)
def test_a_region_gets_any_side_or_all_of_them(
    unlike: tuple[Person, dict[str, Any]], side: str, lines: list[str]
) -> None:
    alice, conflict = unlike
    whole = ("--path", "bobs.md", "--take", "bob", "--path", "caras.md", "--take", "cara")
    words = ("--path", "all.md", "--region", "1", "--take", "cara", "--region", "2", "--take", side)
    alice.lace("resolve", conflict["id"], "--merged", "3.0.0", *whole, *words)
    text = (alice.folder / "all.md").read_text().splitlines()
    assert text[:5] == ["1", "2", "3", "4", "5"]
    assert sorted(text[5 : 5 + len(lines)]) == lines  # mine first, the others in the order that is listed
    assert text[5] == lines[0]
    assert text[5 + len(lines) :] == ["7", "8", "only cara", "10", "11", "12"]


def test_a_path_that_one_side_deleted_is_not_decided_by_lines(three: tuple[Person, ...]) -> None:
    """LAZ-39: it says so, and the whole file can be chosen."""
    alice, bob, cara = three
    (cara.folder / "all.md").unlink()
    cara.lace("release", "--yes")
    for person in (cara, bob, alice):
        person.run("sync", "stick")
    alice.run("update")
    (conflict,) = alice.lace("conflicts", "--regions")["conflicts"]
    assert "all.md" not in [one["path"] for one in conflict["regions"]]
    told = alice.text("conflicts", "--regions")
    assert "    all.md with cara: no lines to choose (delete/edit); take a side of it, or edit it\n" in told
    words = ("--path", "all.md", "--region", "1", "--take", "bob")
    refused = alice.lace("resolve", conflict["id"], "--merged", "3.0.0", *words, expect=2)["error"]
    assert refused["code"] == "no-such-region"
    assert "--take SIDE" in refused["hint"]


def test_each_release_is_named_with_its_version(three: tuple[Person, ...]) -> None:
    """LAZ-54: it said `bob, cara 2.1.0, 2.2.0`."""
    alice, *_ = three
    (line,) = [line for line in alice.text("update", expect=1).splitlines() if "the same places" in line]
    assert {"bob 2.1.0", "cara 2.2.0"} == set(line.removeprefix("! ").partition(" and you changed")[0].split(", "))


@pytest.mark.parametrize("words", [("--region", "1"), ()])
def test_who_has_nothing_of_their_own_there_is_no_side(
    trio: tuple[Person, Person, Person], words: tuple[str, ...]
) -> None:
    """LAZ-42: it took the lines of one friend, as the hashes fell, and of a whole file what both had changed."""
    alice, bob, cara = trio
    for person in (alice, bob):
        person.write("list.md", f"{person.name}\n")
        person.lace("release", "2.0.0")
    for person in (alice, bob, cara):
        person.run("sync", "stick")
    (conflict,) = cara.lace("conflicts")["conflicts"]
    decide = ("resolve", conflict["id"], "--merged", "3.0.0", "--path", "list.md", *words, "--take", "local")
    assert cara.lace(*decide, expect=2)["error"]["code"] == "no-such-side"
    assert (cara.folder / "list.md").read_text() == "milk\n"


def test_two_choices_for_one_region_contradict_each_other(unlike: tuple[Person, dict[str, Any]]) -> None:
    """LAZ-39: the last one counted; regions of one path may be named one by one, each with its path."""
    alice, conflict = unlike
    whole = ("--path", "bobs.md", "--take", "bob", "--path", "caras.md", "--take", "cara", "--path", "all.md")
    decide = ("resolve", conflict["id"], "--merged", "3.0.0", *whole)
    first, second = ("--region", "1", "--take", "bob"), ("--region", "2", "--take", "cara")
    for wrong in (
        ("--region", "1", "--take", "alice", *first, *second),
        ("--region", "1", "--take", "alice", *second, "--path", "all.md", *first),
        ("--take", "alice", "--take", "bob"),
        ("--take", "alice", "--path", "all.md", *first),
    ):
        assert alice.lace(*decide, *wrong, expect=2)["error"]["code"] == "picks-contradict", wrong
    assert alice.lace(*decide, *first, "--path", "all.md", *second)["status"] == "merged"
    assert (alice.folder / "all.md").read_text() == _song((3, "bob"), (6, "cara six"), (9, "only cara"))


def test_of_sides_without_one_base_no_lines_are_offered(pair: tuple[Person, Person], cara: Person) -> None:
    """LAZ-39: a number would mean lines of another text with each of them; whole files can be chosen."""
    alice, bob = pair
    cara.lace("accept", alice.lace("invite", "cara")["invite"], "--name", "cara")
    alice.write("notes.md", "first\ntwo\nthree\nfour\nfive\n")
    alice.lace("release", "1.1.0")
    for person in (cara, alice, cara, bob):
        person.run("sync", "stick")
    cara.lace("update")  # and bob goes on from 1.0.0
    for version, person in (("2.0.0", bob), ("2.1.0", cara), ("2.2.0", alice)):
        top = "one" if person is bob else "first"
        person.write("notes.md", f"{top}\ntwo\n{person.name}\nfour\nfive\n")
        person.lace("release", version)
    for person in (bob, cara, alice):
        person.run("sync", "stick")
    assert alice.run("update").code == 1
    (conflict,) = alice.lace("conflicts", "--regions")["conflicts"]
    assert (conflict["paths"], conflict["regions"]) == (["notes.md"], [])
    told = alice.text("conflicts", "--regions")
    for friend in ("bob", "cara"):
        assert f"    notes.md with {friend}: no lines to choose (content); take a side of it, or edit it\n" in told
    words = ("resolve", conflict["id"], "--merged", "3.0.0", "--path", "notes.md")
    refused = alice.lace(*words, "--region", "1", "--take", "bob", expect=2)["error"]
    assert refused["code"] == "no-such-region"
    alice.lace(*words, "--take", "cara")
    assert (alice.folder / "notes.md").read_text() == "first\ntwo\ncara\nfour\nfive\n"


@pytest.fixture
def apart(shelf: Shelf) -> tuple[Person, dict[str, Any]]:
    """Alice, and a conflict of three who changed other lines, which clash as they are merged one after the other."""
    return shelf.lay(_apart)


def _apart(root: Path) -> tuple[Person, dict[str, Any]]:
    alice, bob, cara = person_in(root, "alice"), person_in(root, "bob"), person_in(root, "cara")
    alice.lace("init", "--name", "alice", "--group", "friends")
    alice.write("all.md", "b\na\n")
    alice.lace("release", "1.0.0")
    alice.lace("place", "add", "stick", str(root / "stick"))
    for friend in (bob, cara):
        friend.lace("accept", alice.lace("invite", friend.name)["invite"], "--name", friend.name)
        for person in (friend, alice, friend):
            person.run("sync", "stick")
        friend.lace("update")
    for version, person, text in (
        ("2.0.0", alice, "b\nb\na\n"),
        ("2.1.0", bob, "b\nc\na\n"),
        ("2.2.0", cara, "b\nc\na\nx\n"),
    ):
        person.write("all.md", text)
        person.lace("release", version)
    for person in (alice, bob, cara, alice, bob, cara):
        person.run("sync", "stick")
    assert alice.run("update").code == 1
    (conflict,) = alice.lace("conflicts", "--regions")["conflicts"]
    return alice, conflict


def test_what_all_sides_did_can_be_taken_where_no_region_is_left_to_choose(
    apart: tuple[Person, dict[str, Any]],
) -> None:
    """LAZ-39: the list of regions was empty, and only one side's whole file could be taken."""
    alice, conflict = apart
    assert [(one["path"], one["regions"]) for one in conflict["regions"]] == [("all.md", [])]
    told = alice.text("conflicts", "--regions")
    assert "    all.md: each side changed other lines; to have what all did: --path P --take both\n" in told
    words = ("resolve", conflict["id"], "--merged", "3.0.0", "--path", "all.md", "--take", "both")
    assert alice.lace(*words, "--dry-run")["written"] == ["all.md"]
    assert alice.lace(*words)["status"] == "merged"
    assert sorted((alice.folder / "all.md").read_text().split()) == ["a", "b", "b", "c", "x"]


def test_both_of_a_whole_path_is_both_of_its_every_region(unlike: tuple[Person, dict[str, Any]]) -> None:
    alice, conflict = unlike
    whole = ("--path", "bobs.md", "--take", "both", "--path", "caras.md", "--take", "both")
    alice.lace("resolve", conflict["id"], "--merged", "3.0.0", *whole, "--path", "all.md", "--take", "both")
    for name, words in (("bobs.md", ["alice", "bob"]), ("caras.md", ["alice", "cara"]), ("all.md", ["alice six"])):
        assert set(words) <= set((alice.folder / name).read_text().splitlines())


def test_both_of_two_sides_too(pair: tuple[Person, Person]) -> None:
    alice, bob = pair
    for person, version in ((alice, "2.0.0"), (bob, "2.1.0")):
        person.write("notes.md", f"{person.name}\ntwo\nthree\nfour\n{person.name}\n")
        person.lace("release", version)
    alice.lace("sync", "stick")
    bob.lace("sync", "stick")
    conflict = bob.lace("update", expect=1)["conflict"]
    bob.lace("resolve", conflict, "--merged", "3.0.0", "--path", "notes.md", "--take", "both")
    assert (bob.folder / "notes.md").read_text() == "bob\nalice\ntwo\nthree\nfour\nbob\nalice\n"
    unchanged = ("resolve", conflict, "--merged", "4.0.0", "--path", "list.md", "--take", "both")
    assert bob.lace(*unchanged, expect=2)["error"]["code"] == "no-such-conflict"


@pytest.fixture
def crossed(shelf: Shelf) -> tuple[Person, Person, Person]:
    """Cara, alice and bob: of each two of them one file clashes, in which the third changed another line."""
    return shelf.lay(_crossed)


_CROSSED = {"cara": "friends.md", "alice": "bobs.md", "bob": "alices.md"}  # what each changed another line of


def _crossed(root: Path) -> tuple[Person, Person, Person]:
    alice, bob, cara = make_trio(root)
    for name in _CROSSED.values():
        alice.write(name, _song())
    alice.lace("release", "1.1.0")
    for person in (alice, bob, cara):
        person.run("sync", "stick")
        person.lace("update")
    for version, person in (("2.0.0", alice), ("2.1.0", bob), ("2.2.0", cara)):
        for other, name in _CROSSED.items():
            person.write(name, _song((9 if other == person.name else 3, person.name)))
        person.lace("release", version)
    for person in (alice, bob, cara):
        person.run("sync", "stick")
    assert cara.run("update").code == 1
    return cara, alice, bob


@pytest.mark.parametrize("side", ["local", "cara", "alice", "bob"])
@pytest.mark.parametrize("words", ["prefer", "take"])
def test_a_side_is_taken_whole_whichever_head_it_clashes_with(
    crossed: tuple[Person, Person, Person], side: str, words: str
) -> None:
    """LAZ-39: where the others clashed it gave what was merged so far: one friend's lines, under another's name."""
    cara, *friends = crossed
    (conflict,) = cara.lace("conflicts")["conflicts"]
    assert conflict["paths"] == sorted(_CROSSED.values())
    whose = next((person for person in friends if person.name == side), cara)
    wanted = {name: (whose.folder / name).read_text() for name in _CROSSED.values()}
    takes = [word for name in _CROSSED.values() for word in ("--path", name, "--take", side)]
    decide = ("--prefer", side) if words == "prefer" else ("--merged", "3.0.0", *takes)
    cara.lace("resolve", conflict["id"], *decide)
    assert {name: (cara.folder / name).read_text() for name in _CROSSED.values()} == wanted


@pytest.mark.parametrize("words", ["prefer", "take"])
def test_my_side_is_what_my_folder_holds(crossed: tuple[Person, Person, Person], words: str) -> None:
    """LAZ-39: what was edited since the conflict came is mine too, in the plan as in the act."""
    cara, *_ = crossed
    (conflict,) = cara.lace("conflicts")["conflicts"]
    for name in _CROSSED.values():
        cara.write(name, _song((3, "edited since")))
    takes = [word for name in _CROSSED.values() for word in ("--path", name, "--take", "local")]
    decide = ("--prefer", "local") if words == "prefer" else ("--merged", "3.0.0", *takes)
    assert cara.lace("resolve", conflict["id"], *decide, "--dry-run")["written"] == []
    assert cara.lace("resolve", conflict["id"], *decide)["written"] == []
    assert {(cara.folder / name).read_text() for name in _CROSSED.values()} == {_song((3, "edited since"))}
