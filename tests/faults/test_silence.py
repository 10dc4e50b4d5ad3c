"""A place that shows the same for ever is no news, and nobody stands for ever as they once said (fault 19, CLAY-16)."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lazy.address import NotShared, NotYet, resolve
from lazy.status import status
from tests.live.servers import serving
from tests.people import Person
from vault.surroundings import Surroundings
from vault.vault import Vault

DAY = 86_400 * 10**9
START = (time.time_ns() // DAY - 31) * DAY + DAY // 2  # a noon; a server that is started has the machine's own clock


def day(number: int) -> str:
    """The date so many days after the beginning."""
    return datetime.fromtimestamp((START + number * DAY) // 10**9, UTC).date().isoformat()


class Clock:
    """A wall clock that tests move."""

    def __init__(self) -> None:
        self.ns = START

    def __call__(self) -> int:
        self.ns += 10**6
        return self.ns


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def met(alice: Person, bob: Person, tmp_path: Path, clock: Clock) -> tuple[Person, Person]:
    """Alice and bob, in step; then nobody of the circle writes to the stick any more."""
    for person in (alice, bob):
        person.world["now_ns"] = clock
    alice.lace("init", "--name", "alice")
    alice.lace("place", "add", "stick", str(tmp_path / "stick"))
    alice.write("notes.md", "one\n")
    alice.lace("release", "1.0.0")
    bob.lace("accept", alice.lace("invite", "bob")["invite"])
    for person in (bob, alice, bob, alice, bob):
        person.lace("sync", "stick")
    return alice, bob


@pytest.fixture
def opened(clock: Clock) -> Iterator[Callable[[Person], Vault]]:
    """Open the vaults of people, for reading."""
    found: list[Vault] = []

    def open_one(person: Person) -> Vault:
        found.append(
            Vault(person.folder, Surroundings(person.home / "lace", "ab" * 16, "desk", clock, os.urandom, time.sleep))
        )
        return found[-1]

    yield open_one
    for vault in found:
        vault.close()


def test_who_says_nothing_for_a_week_is_not_in_step(met: tuple[Person, Person], clock: Clock) -> None:
    """Fault 19: each visit to the stick was called a meeting with whoever wrote there long ago."""
    _, bob = met
    assert f"alice  in step, released 1.0.0, last sync {day(0)}" in bob.text("status")
    (before,) = bob.lace("status")["peers"]
    clock.ns = START + 6 * DAY
    bob.lace("sync", "stick")
    assert "no news since" not in bob.text("status")
    clock.ns = START + 30 * DAY
    bob.lace("sync", "stick")
    (after,) = bob.lace("status")["peers"]
    assert after["last_sync"][:10] == day(30)
    assert after["heard"] == before["heard"]
    assert after["heard"][:10] == day(0)
    assert f"alice  no news since {day(0)}" in bob.text("status")
    assert "in step" not in bob.text("status")


def test_a_word_of_theirs_is_news_again(met: tuple[Person, Person], clock: Clock) -> None:
    """Fault 19: what they lack or have is told with the day of their word, until there is a newer one."""
    alice, bob = met
    clock.ns = START + 30 * DAY
    bob.write("b.txt", "bob's\n")
    bob.lace("release", "1.1.0")
    bob.lace("sync", "stick")
    assert f"alice  lacks 1 that you have, no news since {day(0)}" in bob.text("status")
    alice.lace("sync", "stick")
    bob.lace("sync", "stick")
    (peer,) = bob.lace("status")["peers"]
    assert peer["heard"][:10] == day(30)
    assert "alice  in step" in bob.text("status")


def test_who_answers_on_a_line_speaks_now(met: tuple[Person, Person], clock: Clock) -> None:
    """Fault 19: and an older word, read on a stick afterwards, does not take that back."""
    alice, bob = met
    with serving(alice) as server:
        clock.ns = time.time_ns()
        bob.lace("place", "add", "home", server.uri)
        bob.lace("sync", "home")
    heard = bob.lace("status")["peers"][0]["heard"]
    assert heard[:10] > day(29)
    clock.ns += DAY
    bob.lace("sync", "stick")
    (peer,) = bob.lace("status")["peers"]
    assert peer["heard"] == heard
    assert peer["last_sync"] > heard
    assert "alice  in step" in bob.text("status")


def test_a_line_is_known_up_to_its_owner_s_word(
    met: tuple[Person, Person], clock: Clock, opened: Callable[[Person], Vault]
) -> None:
    """CLAY-16, CLAY-23: the same date named another revision once what she had made before came.

    It counted as known up to the reader's own visit, however old the mailbox was that lay there.
    """
    alice, bob = met
    alice.lace("config", "set", "announce-unreleased", "true")
    clock.ns = START + 20 * DAY
    alice.write("notes.md", "two\n")
    alice.lace("release", "1.1.0")  # and she is nowhere near the stick
    clock.ns = START + 30 * DAY
    bob.lace("sync", "stick")
    with pytest.raises(NotYet, match="not known up to"):
        resolve(opened(bob), f"alice/main@{day(24)}")
    alice.lace("sync", "stick")
    bob.lace("sync", "stick")
    assert resolve(opened(bob), f"alice/main@{day(24)}").number == 2
    assert not status(opened(bob)).peers[0].is_silent


@pytest.mark.parametrize("share", ["releases", "commits"])
def test_a_word_of_its_owner_says_nothing_of_what_they_hide(
    met: tuple[Person, Person], clock: Clock, opened: Callable[[Person], Vault], share: str
) -> None:
    """CLAY-16, CLAY-23: a commit that was not released yet gets its number later, and an older date named it then."""
    alice, bob = met
    alice.lace("config", "set", "share", share)
    for at, text in ((20, "two\n"), (22, "three\n")):
        clock.ns = START + at * DAY
        alice.write("notes.md", text)
        alice.lace(*(("release", "1.1.0") if at == 20 else ("commit", "-m", "hidden")))
    clock.ns = START + 30 * DAY
    alice.lace("sync", "stick")
    bob.lace("sync", "stick")
    assert resolve(opened(bob), f"alice/main@{day(20)}").number == 1
    if share == "commits":
        assert resolve(opened(bob), f"alice/main@{day(24)}").number == 3
        return
    with pytest.raises(NotYet, match="not known up to") as caught:
        resolve(opened(bob), f"alice/main@{day(24)}")
    assert "until a release" in caught.value.hint
    alice.lace("release", "--yes")
    alice.lace("sync", "stick")
    bob.lace("sync", "stick")
    found = [resolve(opened(bob), f"alice/main@{day(at)}").number for at in (20, 21, 22)]
    assert found == [1, 2, 2]


def test_a_word_of_what_waits_in_main_says_nothing_of_another_desk(
    met: tuple[Person, Person], clock: Clock, opened: Callable[[Person], Vault]
) -> None:
    """CLAY-16, CLAY-23: what is said to be unreleased is counted in main alone."""
    alice, bob = met
    alice.lace("config", "set", "announce-unreleased", "true")
    alice.lace("desk", "add", "songs", "songs")
    for at, act in ((20, ("release", "1.0.0")), (22, ("commit", "-m", "hidden"))):
        clock.ns = START + at * DAY
        alice.write("songs/one.md", f"{at}\n")
        alice.lace(*act, "--desk", "songs")
    clock.ns = START + 30 * DAY
    alice.lace("sync", "stick")
    bob.lace("sync", "stick")
    with pytest.raises(NotYet, match="not known up to"):
        resolve(opened(bob), f"alice/songs@{day(24)}")


def test_who_shared_each_commit_once_may_hide_one_now(
    met: tuple[Person, Person], clock: Clock, opened: Callable[[Person], Vault]
) -> None:
    """CLAY-16, CLAY-23: that the last commit shared is no release was taken for a word that there is no other."""
    alice, bob = met
    alice.lace("config", "set", "share", "commits")
    clock.ns = START + 20 * DAY
    alice.write("notes.md", "two\n")
    alice.lace("commit", "-m", "shared")
    alice.lace("sync", "stick")
    alice.lace("config", "set", "share", "releases")
    clock.ns = START + 22 * DAY
    alice.write("notes.md", "three\n")
    alice.lace("commit", "-m", "hidden")
    for is_shared in (False, True):
        clock.ns += 2 * DAY
        alice.lace("config", "set", "share", "commits" if is_shared else "releases")
        alice.write("other.md", "one\n")  # so that a head of that day is left
        alice.lace("sync", "stick")
        bob.lace("sync", "stick")
        assert resolve(opened(bob), f"alice/main@{day(20)}").number == 1
        with pytest.raises(NotYet, match="not known up to"):
            resolve(opened(bob), f"alice/main@{day(23)}")
    clock.ns += DAY
    alice.lace("commit", "-m", "shared again")
    alice.lace("sync", "stick")
    clock.ns += DAY
    bob.lace("sync", "stick")
    with pytest.raises(NotShared, match="alice/main@3"):  # its tree stays hers
        resolve(opened(bob), f"alice/main@{day(23)}")


def test_who_shares_each_commit_is_not_said_to_hide_any(met: tuple[Person, Person]) -> None:
    """H-30, LAZ-81: what counts as not released is told to be not shared, which of a shared commit is not so."""
    alice, bob = met
    for name, value in (("announce-unreleased", "true"), ("share", "commits")):
        alice.lace("config", "set", name, value)
    alice.write("notes.md", "two\n")
    alice.lace("commit", "-m", "shared")
    alice.lace("sync", "stick")
    assert "not shared" not in bob.text("sync", "stick")
