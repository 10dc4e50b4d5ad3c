"""A group with something in it that can be taken back."""

from __future__ import annotations

from pathlib import Path

from tests.people import Person


def begin(alice: Person) -> None:
    """Let alice begin a group and commit one file."""
    alice.write("a.txt", "one\n")
    alice.lace("init", "--name", "alice", "--group", "friends")
    alice.lace("commit", "-m", "first")


def begin_together(alice: Person, bob: Person, root: Path) -> None:
    """Let alice release that, and bob take it over a stick."""
    begin(alice)
    alice.lace("release", "1.0.0")
    alice.lace("place", "add", "stick", str(root / "stick"))
    bob.lace("accept", alice.lace("invite", "bob")["invite"], "--name", "bob")
    for person in (bob, alice, bob):
        person.run("sync", "stick")
    bob.lace("update")


def files_of(person: Person) -> dict[str, str]:
    """Return path -> text of every file outside the vault."""
    found = (path for path in person.folder.rglob("*") if path.is_file() and ".vault" not in path.parts)
    return {path.relative_to(person.folder).as_posix(): path.read_text() for path in found}
