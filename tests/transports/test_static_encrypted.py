"""Copies of sticks with encrypted mailboxes behind a plain web server (INT-122, CYB-17)."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.circle.world import open_vault
from tests.people import Person, person_in
from tests.shelf import Shelf
from tests.transports.web_hosts import Log, plain_server
from vault.records import Verifier


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


def joined_after_bob_left(alice: Person, bob: Person, cara: Person) -> str:
    """Encrypt the stick, and let cara join and release there while bob is elsewhere; alice knows of it."""
    for person in (alice, bob, alice, bob):
        person.lace("place", "set", "stick", "--encrypt")
        person.lace("sync", "stick")
    cara.lace("accept", alice.lace("invite", "cara")["invite"], "--name", "cara")
    for person in (cara, alice, cara):
        person.lace("sync", "stick")
    made = released(cara, "2.0.0")
    alice.lace("sync", "stick")
    return made


def told_keys(log: Log, *people: Person) -> set[str]:
    """Return whose keys stood in what the server was asked for."""
    keys = {person.name: Verifier.parse(person.lace("id")["node"]).key.hex() for person in people}
    return {name for name, key in keys.items() if any(key in path for path, _ in log.asked)}


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
    plainly = f"{Verifier.parse(alice.lace('id')['node']).key.hex()}/head.rec"
    for person in (alice, bob, alice, bob):
        person.lace("place", "set", "stick", "--encrypt")
        person.lace("sync", "stick")
    with plain_server(old) as (uri, log):
        bob.lace("place", "add", "web", uri)
        for status in (200, 304):
            log.asked.clear()
            assert bob.lace("sync", "web")["problems"] == []
            assert [code for path, code in log.asked if path.endswith(plainly)] == [status]


def test_who_wrote_since_is_not_taken_for_damage_of_the_copy(
    friends: Path, alice: Person, bob: Person, cara: Person
) -> None:
    """INT-122, CYB-17: alice's whole mailbox was called damaged at each visit, and the copy was to be made anew."""
    made = joined_after_bob_left(alice, bob, cara)
    with plain_server(copied(friends)) as (uri, _):
        bob.lace("place", "add", "web", uri)
        for _ in range(2):
            got = bob.lace("sync", "web")
            assert [(one["code"], one["peer"]) for one in got["problems"]] == [("sealed-to-others", "alice")]
            assert "sync once where it is written" in got["problems"][0]["hint"]
            assert got["releases"] == []
        assert "anew" not in bob.text("sync", "web")
        assert [new["release"] for new in bob.lace("sync", "stick")["releases"]] == [made]
        assert bob.lace("sync", "web")["problems"] == []  # by now cara's name is known
        made = released(cara, "2.1.0")
        alice.lace("sync", "stick")
        copied(friends)
        got = bob.lace("sync", "web")
        assert ([new["release"] for new in got["releases"]], got["problems"]) == ([made], [])


def test_a_web_server_is_not_told_who_the_members_are(
    friends: Path, alice: Person, bob: Person, cara: Person, tmp_path: Path
) -> None:
    """CYB-17: keys of members stood in what was asked for where everything is encrypted."""
    shutil.rmtree(friends)  # they begin anew, with nothing in the clear
    for person in (alice, bob):
        person.lace("place", "remove", "stick")
        person.lace("place", "add", "stick", str(tmp_path / "another"), "--encrypt")
        person.lace("sync", "stick")
    drop = tmp_path / "another"
    joined_after_bob_left(alice, bob, cara)
    with plain_server(drop) as (uri, log):
        bob.lace("place", "add", "web", uri)
        for place in ("web", "web", "stick", "web"):
            bob.lace("sync", place)
        assert any(code == 206 for _, code in log.asked)
        assert [path for path, code in log.asked if code == 404] == []
        assert told_keys(log, alice, bob, cara) == set()


def test_a_plain_mailbox_that_an_earlier_version_read_is_asked_for(friends: Path, alice: Person, bob: Person) -> None:
    """INT-122, CYB-17: it noted which heads the copy showed, and not that they were plain."""
    with plain_server(copied(friends)) as (uri, log):
        bob.lace("place", "add", "web", uri)
        assert bob.lace("sync", "web")["problems"] == []
        bob.lace("place", "set", "stick", "--encrypt")
        bob.lace("sync", "stick")
        with open_vault(bob) as vault, vault.writing() as w:
            w.store.run("DELETE FROM meta WHERE key LIKE 'seen in plain %'")
        log.asked.clear()
        assert bob.lace("sync", "web")["problems"] == []
        assert told_keys(log, alice, bob) == {"alice"}
