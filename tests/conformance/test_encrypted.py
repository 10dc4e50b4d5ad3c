"""Media on which only members can read (decision 5): what lies there, who can read it, and for how long."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conformance.roads import ROADS, Road, meet, road_in
from tests.conformance.telling import noise, records, settle, whole
from tests.people import Person
from tests.shelf import Shelf
from tests.transports.git_hosts import git
from vault.records import Verifier

_MESSAGE = "the message nobody may read"
_CONTENT = "the content of a file that nobody may read\n"


@pytest.fixture(params=["sealed-drop", "sealed-bare"])
def road(request: pytest.FixtureRequest, tmp_path: Path, shelf: Shelf) -> Iterator[Road]:
    with road_in(tmp_path, request.param, shelf) as made:
        yield made


def everything(road: Road) -> bytes:
    """Return every byte that rests on the road, names and what git compressed included."""
    parts = [str(path.relative_to(road.medium)).encode() for path in road.medium.rglob("*")]
    parts += [path.read_bytes() for path in road.medium.rglob("*") if path.is_file()]
    if road.kind == "git":
        for oid in git(road.medium, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split():
            kind = git(road.medium, "cat-file", "-t", oid)
            path = road.medium / "objects" / oid[:2] / oid[2:]
            loose = zlib.decompress(path.read_bytes()) if path.is_file() else b""
            parts.append(loose or git(road.medium, "cat-file", kind, oid).encode("utf-8", "surrogateescape"))
    return b"\0".join(parts)


def secrets(*people: Person) -> list[bytes]:
    """Return what must not be found: words of content and names, and keys in every form they are written in."""
    words = [
        _MESSAGE,
        _CONTENT[:20],
        "geheim",
        "17.3.9",
        "friends",
        "lace/release",
        "lace/log",
        "lace/request",
        "label-x",
    ]
    keys = []
    for person in people:
        known = person.lace("id")
        key = Verifier.parse(known["node"]).key
        keys.append(key)
        words += [known["node"], known["group"], person.name, known["node"][2:30], key.hex()]
    # Three bytes stand in a megabyte of noise by chance.
    return [word.encode() for word in words if len(word) > 4] + keys


def test_nothing_lies_there_in_the_clear(road: Road, alice: Person, bob: Person) -> None:
    meet(road, alice, bob)
    alice.write("geheim/notiz.txt", _CONTENT)
    alice.write("big.bin", _CONTENT * 50_000)
    alice.lace("release", "17.3.9", "-m", _MESSAGE)
    alice.lace("label", "label-x")
    settle(road, alice, bob)
    bob.lace("update")
    assert (bob.folder / "geheim" / "notiz.txt").read_text() == _CONTENT
    found = everything(road)
    assert len(found) > 1000
    for secret in secrets(alice, bob):
        assert secret not in found, secret


def test_a_request_on_an_encrypted_medium_tells_nobody_who_asks(road: Road, alice: Person, bob: Person) -> None:
    alice.lace("init", "--name", "alice")
    alice.lace("place", "add", "road", road.uri, "--encrypt")
    road.sync(alice)
    bob.lace("accept", alice.lace("invite", "bob")["invite"], "--name", "bob")
    road.sync(bob)
    found = everything(road)
    for secret in secrets(alice, bob):
        assert secret not in found, secret
    assert road.sync(alice)["admitted"] == ["bob"]
    settle(road, bob, alice)
    assert all(place["encrypted"] for place in alice.lace("places")["places"])


def test_who_was_admitted_later_and_by_another_reads_what_lies_there(
    road: Road, alice: Person, bob: Person, cara: Person
) -> None:
    # Alice wrote, and is not there any more; Bob admits Cara and seals her the key that Alice used.
    # CLO-24: the keys of what lies there come with what lies there.
    meet(road, alice, bob)
    alice.write("a.bin", noise(1, 300_000))
    made = alice.lace("release", "1.0.0")
    road.sync(alice)
    road.sync(bob)
    cara.lace("accept", bob.lace("invite", "cara")["invite"], "--name", "cara")
    assert road.sync(cara)["releases"] == []
    assert road.sync(bob)["admitted"] == ["cara"]
    got = road.sync(cara)
    assert [new["release"] for new in got["releases"]] == [made["release"]]
    cara.lace("update")
    assert (cara.folder / "a.bin").read_bytes() == noise(1, 300_000)
    settle(road, cara, alice, bob)


def test_who_is_no_member_reads_nothing(road: Road, alice: Person, bob: Person, cara: Person) -> None:
    meet(road, alice, bob)
    alice.write("a.txt", _CONTENT)
    alice.lace("release", "1.0.0")
    settle(road, alice, bob)
    cara.lace("init", "--name", "cara")
    cara.lace("place", "add", "road", road.uri)
    got = road.sync(cara)
    assert (got["received"], got["exchanges"]) == (0, [])
    assert got["problems"] == []  # another group's mailboxes are none of hers
    settle(road, alice, bob)


def test_a_mailbox_that_rotted_is_named(alice: Person, bob: Person, tmp_path: Path) -> None:
    with ROADS["sealed-drop"](tmp_path) as road:
        meet(road, alice, bob)
        settle(road, alice, bob)
        heads = [path for path in road.victims() if path.name == "head.rec"]
        for head in heads:
            data = bytearray(head.read_bytes())
            data[-20] ^= 1
            head.write_bytes(data)
        told = road.sync(bob, expect=1)
        named = [(p["code"], p["peer"]) for p in told["problems"]]
        assert named == [("bad-envelope", "alice"), ("mailbox-set-back", "")], "the second is bob's own"
        assert whole(bob)
        alice.run("sync", "road")
        settle(road, bob, alice)


def test_a_plain_mailbox_is_taken_away_when_its_owner_encrypts(alice: Person, bob: Person, tmp_path: Path) -> None:
    with ROADS["drop"](tmp_path) as road:
        meet(road, alice, bob)
        alice.write("a.txt", _CONTENT)
        alice.lace("release", "17.3.9", "-m", _MESSAGE)
        settle(road, alice, bob)
        alice.lace("place", "set", "road", "--encrypt")
        for person in (alice, bob, alice, bob):  # Bob did not ask for it: what a friend hides, nobody shows
            road.sync(person)
        found = everything(road)
        for secret in secrets(alice, bob):
            assert secret not in found, secret
        settle(road, alice, bob)
        assert records(alice) == records(bob)


@pytest.mark.parametrize("name", ["drop", "bare"])
def test_what_a_friend_hides_is_not_called_damaged(
    alice: Person, bob: Person, cara: Person, name: str, tmp_path: Path
) -> None:
    """Decision 4: what a plain mailbox names and lies in an encrypted one since is deferred, and needs nobody."""
    with ROADS[name](tmp_path) as road:
        meet(road, alice, bob)
        alice.write("a.bin", noise(4, 200_000))
        made = alice.lace("release", "1.0.0")
        settle(road, alice, bob)
        alice.lace("place", "set", "road", "--encrypt")
        road.sync(alice)  # and Bob, whose mailbox names what was in hers, does not come
        cara.lace("accept", alice.lace("invite", "cara")["invite"], "--name", "cara")
        told = road.sync(cara)
        assert {problem["code"] for problem in told["problems"]} == {"sealed-to-others"}
        assert "bob" in {problem["peer"] for problem in told["problems"]}
        said = {problem["message"].partition(" encrypted to ")[2] for problem in told["problems"]}
        assert "the members, and you are none yet: once your friend has synced here, sync again." in said
        assert told["not_available_hashes"] == 0
        road.sync(alice)
        assert [new["release"] for new in road.sync(cara)["releases"]] == [made["release"]]
        settle(road, alice, bob, cara)


def test_rebase_writes_all_of_it_anew(alice: Person, bob: Person, tmp_path: Path) -> None:
    with ROADS["sealed-drop"](tmp_path) as road:
        meet(road, alice, bob)
        alice.write("a.bin", noise(3, 200_000))
        alice.lace("release", "1.0.0")
        settle(road, alice, bob)
        before = {path.name for path in road.victims() if path.suffix in {".bnd", ".run"}}
        for person in (alice, bob):
            person.lace("place", "set", "road", "--rebase")
            road.sync(person)
        assert not before & {path.name for path in road.victims()}
        assert road.sync(alice)["received"] == 0
        settle(road, alice, bob)
