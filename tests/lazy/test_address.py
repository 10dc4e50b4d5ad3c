"""From an address to a commit: value, not yet, not shared, never, contested (CLAY-13 to CLAY-16, CLAY-24)."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lazy.address import Contested, Never, NotShared, NotYet, ResolvedCommit, resolve
from lazy.people import NoSuchPeer
from tests.people import Person, person_in
from tests.shelf import Shelf
from vault.desks.tree import lookup, read_entry
from vault.revisions.cases import BadCase
from vault.surroundings import Surroundings
from vault.vault import Vault

HOUR = 3600 * 10**9
START = 1_790_000_000 * 10**9  # 2026-09-21T14:13:20Z


class Clock:
    """A wall clock that tests move."""

    def __init__(self) -> None:
        self.ns = START

    def __call__(self) -> int:
        self.ns += 10**6  # two records of one person never share an instant
        return self.ns


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def opened(clock: Clock) -> Iterator[Callable[[Person], Vault]]:
    """Open the vaults of people, for reading."""
    found: list[Vault] = []

    def open_one(person: Person) -> Vault:
        around = Surroundings(person.home / "lace", "ab" * 16, "desk", clock, os.urandom, time.sleep)
        found.append(Vault(person.folder, around))
        return found[-1]

    yield open_one
    for vault in found:
        vault.close()


@pytest.fixture
def friends(shelf: Shelf, alice: Person, bob: Person, clock: Clock) -> tuple[Person, Person]:
    """Alice released revision 2, an hour after revision 1, and committed revision 3; bob has what she released."""
    clock.ns = shelf.lay(_friends).ns
    for person in (alice, bob):
        person.world["now_ns"] = clock
    return alice, bob


def _friends(root: Path) -> Clock:
    alice, bob, clock = person_in(root, "alice"), person_in(root, "bob"), Clock()
    for person in (alice, bob):
        person.world["now_ns"] = clock
    alice.lace("init", "--name", "alice")
    alice.lace("place", "add", "stick", str(root / "stick"))
    alice.write("notes.md", "one\n")
    alice.lace("commit", "-m", "one")
    clock.ns = START + HOUR
    alice.write("notes.md", "two\n")
    alice.lace("release", "1.0.0")
    bob.lace("accept", alice.lace("invite", "bob")["invite"])
    for person in (alice, bob, alice, bob):
        person.lace("sync", "stick")
    clock.ns = START + 2 * HOUR
    alice.write("notes.md", "three\n")
    alice.lace("commit", "-m", "three")
    return clock


def content(vault: Vault, found: ResolvedCommit) -> bytes:
    """Return the content of the one file."""
    entry = lookup(vault.store, found.tree, "notes.md")
    assert entry is not None
    return read_entry(vault.store, entry)


@pytest.mark.parametrize(
    ("text", "expected", "what", "number"),
    [
        ("main", b"three\n", "self/main@3", 3),
        ("self/main", b"three\n", "self/main@3", 3),
        ("alice/main", b"three\n", "self/main@3", 3),
        ("main@1", b"one\n", "self/main@1", 1),
        ("self/main@2", b"two\n", "self/main@2", 2),
        ("main@1.0.0", b"two\n", "self/main@1.0.0", None),
        ("self/main@1.0.0", b"two\n", "self/main@1.0.0", None),
        ("main@2026-09-21T15:00Z", b"one\n", "self/main@1", 1),
        ("main@2026-09-21T15:13:19Z", b"one\n", "self/main@1", 1),
        ("main@2026-09-21T15:13:21Z", b"two\n", "self/main@2", 2),
    ],
)
def test_my_own_line(
    friends: tuple[Person, Person],
    opened: Callable[[Person], Vault],
    text: str,
    expected: bytes,
    what: str,
    number: int | None,
) -> None:
    """CLAY-13, CLAY-16: each case leads to one revision, and the head is meant without one."""
    vault = opened(friends[0])
    found = resolve(vault, text)
    assert content(vault, found) == expected
    assert (found.what, found.number, found.node, found.desk) == (what, number, vault.node.text, "main")


@pytest.mark.parametrize("text", ["alice/main", "alice/main@2", "alice/main@1.0.0", "main@1.0.0"])
def test_a_friends_release(friends: tuple[Person, Person], opened: Callable[[Person], Vault], text: str) -> None:
    """A version without an owner is whoever released it."""
    alice, bob = map(opened, friends)
    found = resolve(bob, text)
    assert content(bob, found) == b"two\n"
    assert found.node == alice.node.text
    assert found.commit == resolve(alice, "main@2").commit


@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        ("alice/main@1", NotShared, "never released"),
        ("alice/main@3", NotYet, "alice/main has no revision 3 yet"),
        ("alice/main@2.0.0", NotYet, "alice has not released main 2.0.0 yet"),
        ("main@2.0.0", NotYet, "Nobody has released main 2.0.0 yet"),
        ("alice/main@draft", NotYet, "labelled 'draft' yet"),
        ("alice/main@0", Never, "empty revision"),
        ("alice/main@2026-09-01", Never, "had no revision on 2026-09-01"),
        ("alice/main@2026-09-21T15:00", NotShared, "alice/main@1"),
        ("alice/main@2030-01-01", NotYet, "not known up to 2030-01-01"),
        ("main", NotYet, "self/main has no revision yet"),
        ("main@2026-09-21", Never, "had no revision"),
        ("alice/songs", NotYet, "alice/songs has no revision yet"),
        ("eve/main", NoSuchPeer, "Nobody here is called 'eve'"),
        ("alice/main@1.2", BadCase, "1.2"),
    ],
)
def test_why_bob_cannot_read(
    friends: tuple[Person, Person],
    opened: Callable[[Person], Vault],
    text: str,
    error: type[Exception],
    says: str,
) -> None:
    """CLAY-4, CLAY-14, CLAY-15, CLAY-16, CLAY-24: three reasons, never mixed, and "not shared" beside them."""
    vault = opened(friends[1])
    with pytest.raises(error) as caught:
        resolve(vault, text)
    assert says in str(caught.value)
    assert getattr(caught.value, "exit_code", 0) == 2
    assert getattr(caught.value, "hint", "")


def test_mine_is_known_up_to_now(
    friends: tuple[Person, Person], opened: Callable[[Person], Vault], clock: Clock
) -> None:
    """CLAY-16: a date that lies ahead has no answer yet, and the same date has one later."""
    vault = opened(friends[0])
    with pytest.raises(NotYet, match="not known up to"):
        resolve(vault, "main@2026-09-22")
    clock.ns = START + 24 * HOUR
    assert resolve(vault, "main@2026-09-22").number == 3


def test_a_contested_version_needs_an_owner(friends: tuple[Person, Person], opened: Callable[[Person], Vault]) -> None:
    """LAZ-37, CYB-23: while people disagree a version alone is no name; each side stays readable by its owner."""
    alice, bob = friends
    bob.lace("update")
    for person in friends:
        person.write("notes.md", f"{person.name}'s\n")
        person.lace("release", "2.0.0")
    alice.lace("sync", "stick")
    bob.lace("sync", "stick", expect=1)
    vault = opened(bob)
    with pytest.raises(Contested) as caught:
        resolve(vault, "main@2.0.0")
    assert "alice/main@2.0.0" in caught.value.message
    assert "bob/main@2.0.0" in caught.value.message
    assert content(vault, resolve(vault, "alice/main@2.0.0")) == b"alice's\n"
    assert content(vault, resolve(vault, "bob/main@2.0.0")) == b"bob's\n"

    for side in ("local", "remote"):  # both are kept under their owners' names, and no third name is made for them
        bob.lace("release", f"2.0.0-{side}", expect=2)
    bob.lace("resolve", "2.0.0", "--prefer", "alice")
    found = resolve(vault, "main@2.0.0")
    assert content(vault, found) == b"alice's\n"
    assert found.what == "main@2.0.0 as decided"
    assert content(vault, resolve(vault, "self/main@2.0.0")) == b"bob's\n"


def test_two_releases_of_equal_content_are_no_contest(
    friends: tuple[Person, Person], opened: Callable[[Person], Vault]
) -> None:
    alice, bob = friends
    bob.lace("update")
    for person in friends:
        person.write("notes.md", "the same\n")
        person.lace("release", "2.0.0")
        person.lace("sync", "stick")
    vault = opened(bob)
    found = resolve(vault, "main@2.0.0")
    assert content(vault, found) == b"the same\n"
    assert found.node == vault.node.text
    assert resolve(vault, "alice/main@2.0.0").node == opened(alice).node.text
