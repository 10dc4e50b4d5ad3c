"""The folder of a desk and what a friend's `main` puts on the way to it: nothing redirects it (APP-12, CLAY-3)."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.cli.conftest import make_pair
from tests.people import Person
from tests.shelf import Shelf
from vault.desk_folders import FolderGone

_SECRET = "my password\n"


@pytest.fixture
def singer(shelf: Shelf) -> tuple[Person, Person]:
    """Alice, who released a desk m, and bob, who maps it to a/m and keeps secrets/m out of `main`."""
    return shelf.lay(_singer)


def _singer(root: Path) -> tuple[Person, Person]:
    alice, bob = make_pair(root)
    alice.write("m/song.txt", "la\n")
    alice.lace("desk", "add", "m", "m")
    alice.lace("release", "0.1.0", "--desk", "m")
    bob.write(".laceignore", "secrets/\n")
    bob.write("secrets/m/passwords.txt", _SECRET)
    bob.lace("commit", "-m", "rules")
    _meet(alice, bob)
    bob.lace("desk", "add", "m", "a/m")
    return alice, bob


def _meet(alice: Person, bob: Person) -> None:
    for person in (alice, bob, alice):
        person.lace("sync", "stick")


@pytest.mark.parametrize("is_empty", [True, False])
@pytest.mark.parametrize("is_link", [True, False])
def test_nothing_of_a_friends_takes_the_place_of_a_folder_that_holds_a_desk(
    singer: tuple[Person, Person], is_link: bool, is_empty: bool
) -> None:
    """APP-12, CLAY-3: by a link there the desk was read from another folder of bob's, and gave away what lay there."""
    alice, bob = singer
    if not is_empty:
        bob.lace("update", "m")
    if is_link:
        (alice.folder / "a").symlink_to("secrets")
    else:
        alice.write("a", "a file\n")
    alice.lace("release", "1.1.0")
    _meet(alice, bob)
    for more in (("--dry-run",), ()):
        told = bob.lace("update", *more, expect=2)["error"]
        assert "a (cannot be written: it is a folder here that holds the folder of another desk)" in told["message"]
        assert "lace desk add DESK DIR" in told["hint"]
    assert (bob.folder / "a/m").is_dir()
    bob.lace("update", "m")
    assert (bob.folder / "a/m/song.txt").read_text() == "la\n"
    assert not (bob.folder / "secrets/m/song.txt").exists()
    (bob.folder / "a/m").rename(bob.folder / "mine")
    bob.lace("desk", "add", "m", "mine")
    (bob.folder / "a").rmdir()
    assert bob.lace("update")["written"] == ["a"]
    assert bob.lace("changes", "m")["added"] == []


def test_no_desk_is_opened_through_a_link_on_the_way_to_its_folder(singer: tuple[Person, Person]) -> None:
    """APP-12: what the rules of `main` keep out was committed to the desk, and went out with its next release."""
    alice, bob = singer
    bob.lace("update", "m")
    (bob.folder / "a").rename(bob.folder.parent / "away")
    alice.write("m/song.txt", "la la\n")
    alice.lace("release", "0.2.0", "--desk", "m")
    (alice.folder / "a").symlink_to("secrets")
    alice.lace("release", "1.1.0")
    _meet(alice, bob)
    assert bob.lace("update")["written"] == ["a"]
    for words in (
        ["update", "m"],
        ["update", "m", "--dry-run"],
        ["changes", "m"],
        ["commit", "-m", "x", "--desk", "m"],
        ["release", "--yes", "--desk", "m"],
        ["checkout", "m@1"],
        ["checkout", "m@1", "song.txt"],
    ):
        told = bob.lace(*words, expect=13)["error"]
        assert (told["code"], "a is one" in told["message"]) == (FolderGone.code, True), words
    assert [row["desk"] for row in bob.lace("desks")["desks"]] == ["main", "m"]
    bob.lace("status", "--tree")
    assert (bob.folder / "secrets/m/passwords.txt").read_text() == _SECRET
    assert [path.name for path in (bob.folder / "secrets/m").iterdir()] == ["passwords.txt"]
    shown = bob.lace("changes", "m", expect=13)["error"]["hint"].partition(": lace ")[2].partition(" - ")[0]
    (bob.folder.parent / "away/m").rename(bob.folder / "mine")
    assert bob.lace(*shlex.split(shown.replace("DIR", "mine")))["folder"] == str(bob.folder / "mine")
    assert bob.lace("changes", "m")["added"] == []
