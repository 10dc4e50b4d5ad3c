"""What main holds where the folder of a private desk lay before it was moved: that desk's rules hold for it."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.cli.conftest import make_pair
from tests.people import Person
from tests.shelf import Shelf
from vault.permits import NotPermitted


@pytest.fixture
def writer(shelf: Shelf) -> Person:
    """Alice, whose main has a file of a desk that bob may not read, and whose folder was moved since."""
    return shelf.lay(_writer)


def _writer(root: Path) -> Person:
    alice, _ = make_pair(root)
    alice.write("notes/n.txt", "secret\n")
    alice.lace("commit", "-m", "wip")
    alice.lace("desk", "add", "notes", "notes")
    alice.lace("desk", "permit", ".", "--read", "--not", "bob", "--desk", "notes")
    (alice.folder / "notes").rename(alice.folder / "diary")
    return alice


def test_what_main_holds_of_a_moved_desk_is_not_given_away(writer: Person) -> None:
    """CLAY-80, CLAY-3: with the move of its folder the guard of a private desk was off; it is told at the move."""
    told = writer.text("desk", "add", "notes", "diary")
    assert "main still holds notes/n.txt, where it lay before, which goes with its next release." in told
    assert "Take it out of that: lace diff" in told
    assert writer.lace("desk", "add", "notes", "diary")["unshared"] == ["notes/n.txt"]
    writer.write("a.txt", "for all\n")
    for words in (["--yes", "--dry-run"], ["--yes"]):
        error = writer.lace("release", *words, expect=2)["error"]
        assert error["code"] == NotPermitted.code
        assert "bob may not read what main still holds of the desk notes: notes/n.txt" in error["message"]
        assert "lace desk permit . --read --anyone --desk notes" in error["hint"]
    diff, commit = (shlex.split(part)[1:] for part in error["hint"].partition("take it out of main: ")[2].split("|"))
    assert writer.lace(*commit, stdin=writer.run(*diff).out)["deleted"] == ["notes/n.txt"]
    assert (writer.folder / "diary/n.txt").read_text() == "secret\n"
    assert writer.lace("release", "--yes")["added"] == ["a.txt"]
    assert writer.lace("desk", "add", "notes", "diary")["unshared"] == []


def test_what_is_new_where_it_lay_is_mains_own(writer: Person) -> None:
    """CLAY-80, CLAY-3: only what was the desk's is for its rules, and the way out takes nothing else out of main."""
    writer.lace("desk", "add", "notes", "diary")
    writer.write("notes/own.txt", "for all\n")
    writer.lace("commit", "-m", "a new folder of main")
    error = writer.lace("release", "--yes", expect=2)["error"]
    assert "of the desk notes: notes/n.txt." in error["message"]
    diff, commit = (shlex.split(part)[1:] for part in error["hint"].partition("take it out of main: ")[2].split("|"))
    assert writer.lace(*commit, stdin=writer.run(*diff).out)["deleted"] == ["notes/n.txt"]
    assert (writer.folder / "notes/own.txt").read_text() == "for all\n"
    assert writer.lace("release", "--yes")["files"] == 3


def test_what_friends_may_read_goes_on_after_a_move(writer: Person) -> None:
    """CLAY-80: where the rule is taken back, main is released as ever; so it is for what the rule is not about."""
    writer.lace("desk", "add", "notes", "diary")
    writer.lace("desk", "permit", ".", "--read", "--anyone", "--desk", "notes")
    writer.lace("desk", "permit", "other.txt", "--read", "--not", "bob", "--desk", "notes")
    writer.write("a.txt", "for all\n")
    assert writer.lace("release", "--yes")["files"] == 4


def test_a_desk_that_moved_along_keeps_its_guard_too(pair: tuple[Person, Person]) -> None:
    """CLAY-80, CLAY-3: its own rules hold for what main has where it lay, also after a second move and one back."""
    alice, _ = pair
    alice.write("p/y/n.txt", "secret\n")
    alice.lace("commit", "-m", "wip")
    alice.lace("desk", "add", "outer", "p")
    alice.lace("desk", "add", "inner", "p/y")
    alice.lace("desk", "permit", ".", "--read", "--not", "bob", "--desk", "inner")
    for former, now in (("p", "q"), ("q", "r"), ("r", "p")):
        (alice.folder / former).rename(alice.folder / now)
        assert alice.lace("desk", "add", "outer", now)["unshared"] == ["p/y/n.txt"]
        alice.write("a.txt", f"{now}\n")
        error = alice.lace("release", "--yes", expect=2)["error"]
        assert "what main still holds of the desk inner: p/y/n.txt" in error["message"]
