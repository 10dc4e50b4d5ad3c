"""Names that some disks take for one, decided to the end whatever the order of the sides' hashes (APP-12, LAZ-39)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.looking import tree_of
from tests.people import Person, person_in
from tests.shelf import Shelf

_CAFE = "caf\u00e9.txt"


def _commit_until(person: Person, path: str, fits: Callable[[str], bool]) -> str:
    """Commit until the head's hash fits, and return it: the sides are merged in the order of their hashes."""
    for number in range(200):
        person.write(path, f"{number}\n")
        commit: str = person.lace("commit", "-m", f"more {number}")["commit"]
        if fits(commit):
            return commit
    raise AssertionError("no such hash")


def _two_heads(alice: Person, bob: Person, *, is_lower: bool) -> None:
    """Let alice release, and bob have a head whose hash is lower than hers, or higher."""
    theirs = _commit_until(alice, "alices.txt", lambda commit: "S.G" < commit < "S.d")  # none near an end
    alice.lace("release", "1.0.0")
    _commit_until(bob, "more.txt", lambda commit: (commit < theirs) == is_lower)


@pytest.fixture
def filled(shelf: Shelf) -> tuple[Person, Person]:
    """Alice's release, and bob in a folder of his own that spells her names otherwise."""
    return shelf.lay(_filled)


def _filled(root: Path) -> tuple[Person, Person]:
    alice, bob = person_in(root, "alice"), person_in(root, "bob")
    alice.write("readme.md", "alice\n")
    alice.write("Songs/a.txt", "a\n")
    alice.write(_CAFE, "alice\n")
    bob.write("README.md", "bob\n")
    bob.write("songs/b.txt", "b\n")
    bob.write("cafe\u0301.txt", "bob\n")
    alice.lace("init", "--name", "alice")
    alice.lace("place", "add", "stick", str(root / "stick"))
    bob.lace("accept", alice.lace("invite", "bob")["invite"])
    for person in (alice, bob, alice, bob):
        person.run("sync", "stick")
    return alice, bob


@pytest.mark.parametrize("is_lower", [True, False])
@pytest.mark.parametrize("name", ["readme.md", "README.md"])
def test_clashing_names_are_decided_by_either_of_them(filled: tuple[Person, Person], is_lower: bool, name: str) -> None:
    """LAZ-39: where the friend's hash was lower, the own name came back beside theirs, which no tree can hold."""
    alice, bob = filled
    _two_heads(alice, bob, is_lower=is_lower)
    for person in (alice, bob):
        person.run("sync", "stick")
    conflict = bob.lace("update", expect=1)["conflict"]
    (listed,) = bob.lace("conflicts")["conflicts"]
    assert listed["paths"] == ["Songs", _CAFE, "readme.md"]
    bob.lace("resolve", conflict, "--merged", "2.0.0", "--path", name, "--take", "alice")
    found = {path: text for path, text in tree_of(bob.folder).items() if path not in {"more.txt", "alices.txt"}}
    assert found.pop("readme.md") == b"alice\n"
    assert sorted(found.values()) == [b"b\n", b"bob\n"]
    assert bob.lace("conflicts")["conflicts"] == []
    for person in (bob, alice):
        person.run("sync", "stick")
    alice.lace("update")
    assert sorted(tree_of(alice.folder).values()) == sorted(tree_of(bob.folder).values())


@pytest.mark.parametrize("is_lower", [True, False])
@pytest.mark.parametrize("name", ["readme.md", "README.md"])
def test_clashing_names_of_a_contested_version_too(filled: tuple[Person, Person], is_lower: bool, name: str) -> None:
    """LAZ-39: beside a line that went on the sides came in the order of their hashes, and a name meant nothing then."""
    alice, bob = filled
    _two_heads(alice, bob, is_lower=is_lower)
    bob.lace("release", "1.0.0")
    for person in (alice, bob):
        person.run("sync", "stick")
    bob.write("more.txt", "and on\n")
    bob.lace("commit", "-m", "and on")
    (listed,) = bob.lace("conflicts")["conflicts"]
    assert listed["paths"] == ["Songs", _CAFE, "readme.md"]
    planned = bob.lace("resolve", "1.0.0", "--merged", "2.0.0", "--path", name, "--take", "alice", "--dry-run")
    assert (planned["written"], planned["deleted"]) == (["alices.txt", "readme.md"], ["README.md"])
    assert "readme.md" not in [one["path"] for one in planned["unedited"]]
    bob.lace("resolve", "1.0.0", "--merged", "2.0.0", "--path", name, "--take", "alice")
    found = tree_of(bob.folder)
    assert found["readme.md"] == b"alice\n"
    assert "README.md" not in found
    assert "songs/b.txt" in found
    assert found["more.txt"] == b"and on\n"


def test_equal_content_under_two_names_lacks_nobodys_work(filled: tuple[Person, Person]) -> None:
    """LAZ-42: it said that the friend's is not in it."""
    alice, bob = filled
    for person, name in ((alice, "Same.txt"), (bob, "same.txt")):
        person.write(name, "same\n")
    alice.lace("release", "1.0.0")
    for person in (alice, bob):
        person.run("sync", "stick")
    conflict = bob.lace("update", expect=1)["conflict"]
    (bob.folder / "same.txt").rename(bob.folder / "Same.txt")
    planned = bob.lace("resolve", conflict, "--merged", "2.0.0", "--dry-run")
    assert [one["path"] for one in planned["unedited"]] == ["Songs", _CAFE, "readme.md"]


@pytest.mark.parametrize("names", [("readme.md", "README.md"), ("README.md", "readme.md"), ("readme.md", "readme.md")])
def test_two_sides_for_clashing_names_contradict_each_other(
    filled: tuple[Person, Person], names: tuple[str, str]
) -> None:
    """LAZ-39, LAZ-42: one of the two choices was dropped without a word."""
    alice, bob = filled
    alice.lace("release", "1.0.0")
    for person in (alice, bob):
        person.run("sync", "stick")
    conflict = bob.lace("update", expect=1)["conflict"]
    before = tree_of(bob.folder)
    words = ("--path", names[0], "--take", "alice", "--path", names[1], "--take", "local")
    for more in ((), ("--dry-run",)):
        error = bob.lace("resolve", conflict, "--merged", "2.0.0", *words, *more, expect=2)["error"]
        assert error["code"] == "picks-contradict"
        assert all(name in error["message"] for name in names)
    assert tree_of(bob.folder) == before
    assert bob.lace("conflicts")["conflicts"]
    same = ("--path", names[0], "--take", "alice", "--path", names[1], "--take", "alice")
    bob.lace("resolve", conflict, "--merged", "2.0.0", *same)
    assert tree_of(bob.folder)["readme.md"] == b"alice\n"


def test_what_would_put_clashing_names_together_is_no_damage(filled: tuple[Person, Person]) -> None:
    """CLAY-74, APP-12, APP-14: who asks for it is told so, with both names, and nothing is changed."""
    alice, _ = filled
    alice.lace("commit", "-m", "hers")
    alice.write("readme.md.new", "more\n").replace(alice.folder / "README.MD")
    (alice.folder / "readme.md").unlink()
    alice.lace("commit", "-m", "renamed")
    before = tree_of(alice.folder)
    merging = ("merge", "main", "--from", "main@1", "--strategy", "take-that")
    for words in (("checkout", "main@1", "readme.md"), merging):
        refused = alice.lace(*words, expect=2)["error"]
        assert refused["code"] == "names-clash", words
        assert "'README.MD' and 'readme.md'" in refused["message"]
        assert tree_of(alice.folder) == before
