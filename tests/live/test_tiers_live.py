"""Two who have no place in each other's logs and share much: what differs is found, not everything listed (INT-99)."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lazy.interlace.ads import Fields
from lazy.interlace.limits import DEFAULT_LIMITS
from lazy.interlace.tiers import MemoryShelf, Offer, answer_hints
from lazy.live import answering, offering
from lazy.live.shelves import VaultShelf, own_shelf
from lazy.live.standing import Standing
from tests.live.servers import serving as served
from tests.live.test_live_sync import records
from tests.people import Person
from vault.records import RecordHash
from vault.surroundings import Surroundings
from vault.vault import Vault

FILES = 400


def write(person: Person, folder: str, count: int) -> None:
    for number in range(count):
        person.write(f"{folder}/{number:03}.txt", f"{person.name} {folder} {number}\n")


def met_on_a_stick(alice: Person, bob: Person, tmp_path: Path) -> None:
    """Alice and bob share some hundred records, and never met on a line."""
    write(alice, "first", FILES)
    alice.lace("init", "--name", "alice", "--group", "friends")
    alice.lace("release", "1.0.0")
    alice.lace("place", "add", "stick", str(tmp_path / "stick"))
    bob.lace("accept", alice.lace("invite", "bob")["invite"], "--name", "bob")
    for person in (alice, bob, alice, bob, alice):
        person.run("sync", "stick")
    bob.lace("update")
    assert records(alice) == records(bob)
    bob.lace("place", "remove", "stick")


def moved(result: dict[str, Any]) -> int:
    return int(result["bytes_received"]) + int(result["bytes_sent"])


def test_equal_sets_take_one_trip_and_a_kilobyte(alice: Person, bob: Person, tmp_path: Path) -> None:
    """INT-99, INT-100: the prediction is right, and from then on both have a place in the other's log."""
    met_on_a_stick(alice, bob, tmp_path)
    with served(alice) as server:
        bob.lace("place", "add", "home", server.uri)
        planned = bob.lace("sync", "home", "--dry-run")
        assert (planned["received"], planned["sent"], planned["round_trips"]) == (0, 0, 1)
        first = bob.lace("sync", "home")
        assert (first["received"], first["sent"], first["round_trips"]) == (0, 0, 1)
        assert max(first["bytes_sent"], first["bytes_received"]) <= 1000
        again = bob.lace("sync", "home")
        assert max(again["bytes_sent"], again["bytes_received"]) <= 1000
        bob.write("b.txt", "one\n")
        bob.lace("release", "1.1.0")
        sent = bob.lace("sync", "home")
        assert (sent["round_trips"], 0 < sent["sent"] < 12) == (1, True)
        assert moved(sent) < 6000
    assert records(alice) == records(bob)
    assert bob.lace("queue")["entries"] == []


def test_what_differs_is_found_both_ways(alice: Person, bob: Person, tmp_path: Path) -> None:
    """INT-48, INT-101, INT-103, LAZ-25, DWN-75: both released since; neither sends what the other has, or just sent."""
    met_on_a_stick(alice, bob, tmp_path)
    write(alice, "second", 12)
    alice.lace("release", "1.1.0")
    write(bob, "third", 5)
    bob.lace("release", "1.2.0")
    theirs, mine = records(alice) - records(bob), records(bob) - records(alice)
    with served(alice) as server:
        bob.lace("place", "add", "home", server.uri)
        planned = bob.lace("sync", "home", "--dry-run")
        both = bob.run("--json", "sync", "home").json
        assert (both["received"], both["sent"]) == (len(theirs), len(mine))
        assert (planned["sent"], planned["bytes_sent"] > 0) == (len(mine), True)
        assert both["round_trips"] <= 4
        again = bob.lace("sync", "home")
        assert (again["received"], again["sent"], again["round_trips"]) == (0, 0, 1)
    assert records(alice) == records(bob)
    assert alice.lace("queue")["entries"] == bob.lace("queue")["entries"] == []


def test_whoever_only_pushes_sends_what_is_lacking(alice: Person, bob: Person, tmp_path: Path) -> None:
    """LAZ-23: a push learns what is there, and takes nothing."""
    met_on_a_stick(alice, bob, tmp_path)
    write(alice, "second", 3)
    alice.lace("release", "1.1.0")
    write(bob, "third", 5)
    bob.lace("release", "1.2.0")
    mine, theirs = records(bob), records(alice)
    with served(alice) as server:
        bob.lace("place", "add", "home", server.uri)
        pushed = bob.run("--json", "push", "home").json
        assert (pushed["sent"], pushed["received"]) == (len(mine - theirs), 0)
        assert (records(bob), records(alice)) == (mine, mine | theirs)
        pulled = bob.run("--json", "pull", "home").json
        assert (pulled["received"], pulled["sent"]) == (len(theirs - mine), 0)
    assert records(alice) == records(bob)


@pytest.mark.parametrize("how", ["knows-none", "lies", "forgets", "may-list-little", "may-say-little"])
def test_a_peer_that_does_not_answer_in_tiers_lists(
    alice: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """INT-99, INT-106, INT-149: the full listing gives the same, whatever is wrong with the short way."""
    bob = Person("bob", alice.home, tmp_path / "bobs")
    met_on_a_stick(alice, bob, tmp_path)
    write(alice, "second", 70)
    alice.lace("release", "1.1.0")
    write(bob, "third", 3)
    bob.lace("release", "1.2.0")

    def knows_none(self: object, theirs: Standing) -> None:
        del self, theirs

    def lies(*args: Any) -> Offer:
        offer = answer_hints(*args)
        return offer._replace(state=bytes(31) + b"x")

    def forgets(vault: Vault, theirs: Standing, asks: bytes, *, may_write: bool) -> offering.TierAnswer | None:
        return None if theirs.as_of else offering.tell(vault, theirs, asks, may_write=may_write)

    if how == "knows-none":
        monkeypatch.setattr(answering.Exchange, "_told", knows_none)
    elif how == "lies":
        monkeypatch.setattr(offering, "answer_hints", lies)
    elif how == "forgets":
        monkeypatch.setattr(answering, "tell", forgets)
    elif how == "may-list-little":
        monkeypatch.setattr(offering, "DEFAULT_LIMITS", replace(DEFAULT_LIMITS, max_advertisement_records=3))
    else:
        monkeypatch.setattr(offering, "DEFAULT_LIMITS", replace(DEFAULT_LIMITS, max_partition_summaries=3))
    bob.lace("place", "add", "beside", str(alice.folder))
    bob.lace("sync", "beside")
    assert records(alice) == records(bob)
    assert bob.lace("sync", "beside")["round_trips"] == 1


def test_kept_summaries_follow_what_changed(alice: Person, bob: Person, tmp_path: Path) -> None:
    """INT-104, INT-105: what is kept is what would be made anew; lost, damaged or old, it makes no difference."""
    met_on_a_stick(alice, bob, tmp_path)
    kept = alice.folder / ".vault" / "roots"

    def seen(folder: Path) -> tuple[bytes, bytes]:
        with Vault(folder, around) as vault:
            top = int(vault.store.rows("SELECT max(at) FROM exposure")[0][0])
            shelf = own_shelf(vault, may_write=True)
            assert shelf is not None
            rows = vault.store.rows(
                "SELECT b.kind, b.digest, s.s FROM exposure JOIN body b USING (p) JOIN rec USING (p)"
                " JOIN sym s ON s.id = app"
            )
            entries: dict[RecordHash, Fields] = {RecordHash(k, bytes(d)): (("App", 0, str(a)),) for k, d, a in rows}
            plain = MemoryShelf(vault.node.text, entries)
            assert VaultShelf(vault, vault.node.text, top).state() == plain.state() == shelf.state()
            assert shelf.children("") == plain.children("")
            assert shelf.hints() == plain.hints()
            return shelf.state(), kept.read_bytes()

    around = Surroundings(alice.home / "lace", "ab" * 16, "desk", time.time_ns, os.urandom, time.sleep)
    first = seen(alice.folder)
    assert seen(alice.folder) == first
    write(alice, "second", 3)
    alice.lace("release", "1.1.0")
    second = seen(alice.folder)
    assert second[0] != first[0]
    kept.write_bytes(first[1])
    assert seen(alice.folder) == second
    kept.write_bytes(second[1][:-1] + b"\0")
    assert seen(alice.folder) == second
    kept.unlink()
    assert seen(alice.folder) == second
