"""Beacons: said by whoever likes, looked up by whoever asks, kept, shown with their age, and believed by nothing."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lazy.belonging.beacon import BadBeacon, Beacon, Presence
from tests.conformance.roads import ROADS, Road, meet
from tests.live.servers import serving
from tests.people import Person
from tests.transports.web_hosts import plain_server
from vault.errors import LaceError
from vault.names import Version
from vault.records import Plex, Tai, Verifier
from vault.suite import SigningKey

_KEY = SigningKey.from_seed(bytes(range(32)))
_GROUP = "friends/0123456789abcdef"
_SAID = Beacon(_KEY.verifier, Tai(1_700_000_000, 0), "alice", 4271, Version(2, 1, 0), Presence.AVAILABLE, "when ready")


_LONG = ["bare"] if "LACE_TEST_PROFILE" in os.environ else []  # a push is slow


@pytest.fixture(params=["drop", "sealed-drop", *_LONG])
def road(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Road]:
    with ROADS[request.param](tmp_path) as made:
        yield made


def _told(person: Person, name: str) -> Any:
    """Return what status says that somebody says of themselves."""
    return next(peer["beacon"] for peer in person.lace("status")["peers"] if peer["name"] == name)


def _beside(person: Person) -> dict[str, list[Any]]:
    """Return every table of a vault but those of beacons and of the trail, and what counts changes."""
    with sqlite3.connect(person.folder / ".vault" / "store.db") as db:
        tables = [str(row[0]) for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        found = {table: sorted(db.execute(f"SELECT * FROM {table}"), key=repr) for table in tables}
    for moving in ("beacon", "guard", "body", "audit", "rec", "field", "link", "sym", "counts", "sqlite_sequence"):
        found.pop(moving, None)
    kept = {"generation", "status", "queue", "vectors", "conflicts"}
    found["meta"] = [row for row in found["meta"] if row[0] not in kept and "audit" not in row[0]]
    return found


def test_a_beacon_is_left_where_friends_look_and_kept(road: Road, alice: Person, bob: Person) -> None:
    """LAZ-18, LAZ-19, LAZ-20: all five fields; nothing lies there unless wanted; read by who pulls, known offline."""
    meet(road, alice, bob)
    assert alice.lace("beacon")["published"] is False
    assert _told(bob, "alice") is None
    alice.write("a.txt", "one\n")
    alice.lace("release", "2.1.0")
    began = time.monotonic()
    said = alice.lace("beacon", "--status", "busy", "--next", "on Sunday")
    assert {key: said[key] for key in ("status", "next_expected", "last_release")} == {
        "status": "busy",
        "next_expected": "on Sunday",
        "last_release": "2.1.0",
    }
    alice.lace("sync", "road")
    assert _told(bob, "alice") is None  # nobody was sent anything
    bob.lace("push", "road")
    assert _told(bob, "alice") is None  # and who only gives does not ask
    bob.lace("sync", "road")
    road.medium.rename(road.medium.with_name("away"))
    known = bob.lace("beacon", "alice")
    for key in ("status", "next_expected", "last_release", "lamport_time"):
        assert known[key] == said[key] == _told(bob, "alice")[key]
    assert known["place"] == "road"
    assert known["age_seconds"] in range(int(time.monotonic() - began) + 2)
    assert "'on Sunday'" in bob.text("status")
    assert "'on Sunday'" in bob.text("peers")
    assert bob.lace("peers", "alice")["beacon"]["status"] == "busy"
    road.medium.with_name("away").rename(road.medium)
    before = alice.lace("sync", "road")
    assert before["bytes_sent"] == 0  # what is said already is not written again
    alice.lace("beacon", "--off")
    alice.lace("sync", "road")
    bob.lace("sync", "road")
    assert _told(bob, "alice") is None
    assert bob.lace("beacon", "alice")["published"] is False


def test_a_server_answers_for_itself_alone(alice: Person, bob: Person, people: Callable[[str], Person]) -> None:
    """LAZ-19, LAZ-20: asked over the line it says how it is, takes no beacon and passes none on; gone, it is kept."""
    cara = people("cara")
    alice.lace("init", "--name", "alice")
    alice.lace("beacon", "--status", "available")
    with serving(alice) as server:
        alice.lace("place", "add", "home", server.uri)
        for friend in (bob, cara):
            friend.lace("accept", alice.lace("invite", friend.name)["invite"], "--name", friend.name)
            friend.lace("beacon", "--status", "away")
            friend.lace("sync", "home")
        bob.lace("sync", "home")
        assert _told(bob, "alice")["status"] == "available"
        assert _told(bob, "cara") is _told(alice, "bob") is _told(alice, "cara") is None
        assert bob.lace("sync", "home")["round_trips"] == 1
        alice.lace("beacon", "--status", "busy")
        assert bob.lace("beacon", "alice")["status"] == "available"
        before = _beside(bob), _beside(alice)
        asked = bob.lace("beacon", "alice", "--ask")
        assert (asked["status"], asked["asked"], asked["problems"]) == ("busy", ["home"], [])
        assert (_beside(bob), _beside(alice)) == before
        assert bob.lace("beacon", "cara", "--ask")["asked"] == []
    gone = bob.lace("beacon", "alice", "--ask")
    assert (gone["status"], gone["asked"]) == ("busy", [])
    assert [problem["place"] for problem in gone["problems"]] == ["home"]
    assert "cannot be reached" in bob.text("beacon", "alice", "--ask")


def test_behind_a_web_server_only_asking_costs_a_trip(alice: Person, bob: Person, tmp_path: Path) -> None:
    """LAZ-19, LAZ-20: a sync asks for no beacon there; `--ask` reads the one file."""
    drop = tmp_path / "www" / "drop"
    drop.parent.mkdir()
    alice.lace("init", "--name", "alice")
    alice.lace("place", "add", "stick", str(drop))
    bob.lace("accept", alice.lace("invite", "bob")["invite"], "--name", "bob")
    alice.lace("beacon", "--status", "away")
    for person in (alice, bob, alice):
        person.lace("sync", "stick")
    bob.lace("place", "remove", "stick")
    with plain_server(drop.parent) as (uri, log):
        bob.lace("place", "add", "site", f"{uri}drop")
        bob.lace("sync", "site")
        assert not any("beacon" in path for path, _ in log.asked)
        assert _told(bob, "alice") is None
        log.asked.clear()
        assert bob.lace("beacon", "alice", "--ask")["status"] == "away"
        assert [path.rpartition("/")[2] for path, _ in log.asked] == ["lace-drop.txt", "beacon.rec"]


def test_a_beacon_moves_nothing_however_old_or_wild(alice: Person, bob: Person, tmp_path: Path) -> None:
    """LAZ-21, LAZ-22: taken whatever its date; no vector, queue, member, clock or trust is another one by it."""
    with ROADS["drop"](tmp_path) as road:
        meet(road, alice, bob)
        node = alice.lace("id")["node"]
        (head,) = [one for one in road.medium.rglob("head.rec") if _of(one) == node]
        group = bob.lace("status")["group"]
        bob.lace("sync", "road")
        before, queue = _beside(bob), bob.lace("queue")
        for year, ns in ((2001, 978_307_200 * 10**9), (2038, 2_145_916_800 * 10**9), (2286, 9_972_374_400 * 10**9)):
            version = Version(year, 0, 0)
            wild = Beacon(
                Verifier.parse(node), Tai.of_clock(ns), "alice", 2**63 - 1, version, Presence.AWAY, "in another life"
            )
            head.with_name("beacon.rec").write_bytes(wild.encode(group))
            told = bob.lace("beacon", "alice", "--ask")
            assert told["last_release"] == f"{year}.0.0"
        assert told["age_seconds"] < 0
        assert "later than now" in bob.text("beacon", "alice")
        assert _beside(bob) == before
        assert bob.lace("queue") == queue
        assert bob.lace("status")["peers"][0]["state"] == "synced"
        bob.write("b.txt", "mine\n")
        made = bob.lace("release", "1.0.0", "-m", "mine")
        lamports = [one["lamport"] for one in bob.lace("log")["entries"] if one["hash"] == made["release"]]
        assert lamports[0] < 100


def _of(head: Path) -> str:
    return Verifier(bytes.fromhex(head.parent.name)).text


def test_a_beacon_is_the_words_of_the_seed() -> None:
    """LAZ-18: RFC-016 writes it so, byte for byte; without a release it says none, without a word of one's own this."""
    assert _SAID.body() == (
        b'(cluster-beacon (peer "alice") (lamport-time 4271) (last-release "2.1.0") (status available)'
        b' (next-expected "when ready"))\n'
    )
    assert b"(last-release none)" in replace(_SAID, last_release=None).body()


def test_a_beacon_says_how_far_its_owner_counted(alice: Person) -> None:
    """LAZ-18, LAZ-22: the Lamport time of the newest entry here, which saying so does not move."""
    alice.lace("init", "--name", "alice")
    for _ in range(2):
        said = alice.lace("beacon", "--status", "away")
        assert (said["lamport_time"], said["next_expected"], said["last_release"]) == (1, "when ready", None)
    alice.write("a.txt", "one\n")
    alice.lace("release", "1.0.0")
    assert alice.lace("beacon", "--status", "away")["lamport_time"] == 2


@pytest.mark.parametrize(
    "stored",
    [
        b"",
        b"garbage",
        _SAID.encode("other/0123456789abcdef"),
        Beacon(SigningKey.from_seed(bytes(32)).verifier, Tai.ZERO, "eve", 0, None, Presence.BUSY, "x").encode(_GROUP),
        Plex.build(group=_GROUP, app="lace/beacon", name=_KEY.verifier.text, tai=Tai.ZERO, data=b"(a)\n").encode(),
        Plex.build(
            group=_GROUP, app="lace/beacon", name=_KEY.verifier.text, tai=Tai.ZERO, data=_SAID.body() + b"\n"
        ).encode(),
        Plex.build(group=_GROUP, app="lace/beacon", name=_KEY.verifier.text, tai=Tai.ZERO, data=b"(" * 9000).encode(),
        _SAID.encode(_GROUP).replace(b"available", b"anywhere."),
    ],
)
def test_what_is_no_beacon_of_its_owner_is_refused(stored: bytes) -> None:
    """LAZ-18: strict and bounded."""
    with pytest.raises(LaceError):
        Beacon.decode(stored, _GROUP, _KEY.verifier)
    assert Beacon.decode(_SAID.encode(_GROUP), _GROUP, _KEY.verifier) == _SAID


@pytest.mark.parametrize(
    "field", [{"peer": "a/b"}, {"lamport": -1}, {"lamport": 2**63}, {"next_expected": "a\nb"}, {"next_expected": ""}]
)
def test_a_beacon_says_only_what_a_line_can(field: dict[str, Any]) -> None:
    with pytest.raises(BadBeacon):
        replace(_SAID, **field)


def test_a_spoiled_beacon_spoils_no_sync(alice: Person, bob: Person, tmp_path: Path) -> None:
    """LAZ-22: a sync passes it over, asking names it, and its owner's next visit puts it right."""
    with ROADS["drop"](tmp_path) as road:
        meet(road, alice, bob)
        alice.lace("beacon", "--status", "busy")
        alice.lace("sync", "road")
        (file,) = road.medium.rglob("beacon.rec")
        file.write_bytes(b"\xff" * 5000)
        assert bob.lace("sync", "road")["problems"] == []
        assert _told(bob, "alice") is None
        assert bob.lace("beacon", "alice", "--ask")["problems"][0]["code"] in {"bad-beacon", "bad-record"}
        alice.lace("sync", "road")
        bob.lace("sync", "road")
        assert _told(bob, "alice")["status"] == "busy"


def test_words_that_do_not_go_together_are_refused(alice: Person) -> None:
    """LAZ-18: a name, or what to say of oneself; one short line."""
    alice.lace("init", "--name", "alice")
    for words in (
        ("alice", "--status", "busy"),
        ("--off", "--next", "x"),
        ("--ask",),
        ("--next", "a\tb"),
        ("--next", "x" * 200),
        ("nobody",),
    ):
        alice.lace("beacon", *words, expect=2)
    assert alice.lace("beacon", "--next", "tomorrow")["status"] == "available"
    assert alice.lace("beacon", "alice")["next_expected"] == "tomorrow"
