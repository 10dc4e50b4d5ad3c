"""Copies of sticks with encrypted mailboxes behind a plain web server (INT-122, CYB-17)."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.people import Person, person_in
from tests.shelf import Shelf
from tests.transports.web_hosts import plain_server


@pytest.fixture
def friends(shelf: Shelf) -> Path:
    return shelf.lay(_friends)


def _friends(root: Path) -> Path:
    alice, bob, drop = person_in(root, "alice"), person_in(root, "bob"), root / "stick"
    alice.lace("init", "--name", "alice")
    alice.lace("place", "add", "stick", str(drop))
    alice.write("notes.txt", "one\n")
    alice.lace("release", "1.0.0")
    bob.lace("accept", alice.lace("invite", "bob")["invite"], "--name", "bob")
    for person in (alice, bob, alice, bob):
        person.lace("sync", "stick")
    return drop


def released(alice: Person, version: str) -> str:
    """Release something new and bring it to the stick."""
    alice.write("notes.txt", f"{version}\n")
    made = str(alice.lace("release", version)["release"])
    alice.lace("sync", "stick")
    return made


def copied(drop: Path) -> Path:
    """Copy the stick to where the web server has it, anew."""
    www = drop.with_name("www")
    shutil.rmtree(www, ignore_errors=True)
    shutil.copytree(drop, www)
    return www


@pytest.mark.parametrize("tags", [True, False])
def test_a_member_reads_an_encrypted_copy_of_a_stick_they_met(
    friends: Path, alice: Person, bob: Person, tags: bool
) -> None:
    """INT-122, CYB-17: nothing of it was received, and `place add` spoke of what one puts where nothing can be put."""
    for person in (alice, bob, alice, bob):
        person.lace("place", "set", "stick", "--encrypt")
        person.lace("sync", "stick")
    made = released(alice, "1.1.0")
    with plain_server(copied(friends), tags=tags) as (uri, log):
        added = bob.run("place", "add", "web", uri)
        assert b"only members can read" not in added.out
        assert not bob.lace("places")["places"][-1]["encrypted"]
        got = bob.lace("sync", "web")
        assert [new["release"] for new in got["releases"]] == [made]
        assert (got["problems"], got["fixed_point"]) == ([], True)
        log.asked.clear()
        again = bob.lace("sync", "web")
        assert (again["received"], again["problems"]) == (0, [])
        assert len(log.asked) == 3  # the marker and two heads
        following = released(alice, "1.2.0")
        copied(friends)
        assert [new["release"] for new in bob.lace("sync", "web")["releases"]] == [following]
        bob.lace("update")
        assert (bob.folder / "notes.txt").read_text() == "1.2.0\n"


def test_a_mailbox_that_is_not_in_a_copy_any_more_is_told(friends: Path, alice: Person, bob: Person) -> None:
    """CYB-17, APP-14: a friend who began to encrypt was frozen for who reads the copy, with no word."""
    with plain_server(copied(friends)) as (uri, _):
        bob.lace("place", "remove", "stick")
        bob.lace("place", "add", "web", uri)
        assert bob.lace("sync", "web")["problems"] == []
        alice.lace("place", "set", "stick", "--encrypt")
        made = released(alice, "1.1.0")
        copied(friends)
        for _ in range(2):
            (problem,) = bob.lace("sync", "web", expect=1)["problems"]
            assert (problem["code"], problem["peer"]) == ("mailbox-gone", "alice")
            assert "sync there" in problem["hint"]
        bob.lace("place", "add", "stick", str(friends))
        assert made in [new["release"] for new in bob.lace("sync", "stick")["releases"]]
        assert bob.lace("sync", "web")["problems"] == []  # by now its name is known


def test_a_copy_that_lags_blames_nobody(friends: Path, alice: Person, bob: Person) -> None:
    """CYB-18: one that was made before a friend wrote there, or began to encrypt, is read as it is."""
    old = copied(friends)
    for person in (alice, bob, alice, bob):
        person.lace("place", "set", "stick", "--encrypt")
        person.lace("sync", "stick")
    with plain_server(old) as (uri, _):
        bob.lace("place", "add", "web", uri)
        for _ in range(2):
            assert bob.lace("sync", "web")["problems"] == []
