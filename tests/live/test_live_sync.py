"""Sync with a friend who serves: the same results as on every other road, in a trip or two (CYB-15, CYB-17, LAZ-25)."""

from __future__ import annotations

import itertools
import random
import shutil
import sqlite3
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.live.servers import Server, serving
from tests.people import Person
from transports.http.client import LiveConnection
from transports.http.solid import SolidReader
from vault.records import RecordHash
from vault.store.store import Store


def records(person: Person) -> set[RecordHash]:
    """Return what a vault shares."""
    with Store(person.folder / ".vault" / "store.db") as store:
        rows = store.rows("SELECT b.kind, b.digest FROM shared JOIN body b USING (p)")
        return {RecordHash(str(kind), bytes(digest)) for kind, digest in rows}


def begin(alice: Person, server: Server, *others: Person) -> None:
    """Let alice invite others; her server's address travels in the invitation."""
    alice.lace("place", "add", "home", server.uri)
    for other in others:
        other.lace("accept", alice.lace("invite", other.name)["invite"], "--name", other.name)


def found(alice: Person) -> None:
    alice.write("a.txt", "one\n")
    alice.lace("init", "--name", "alice", "--group", "friends")
    alice.lace("release", "1.0.0", "-m", "first")


def test_from_an_invitation_to_a_shared_folder_and_back(alice: Person, bob: Person) -> None:
    """INT-131: the result says the same as on a stick."""
    found(alice)
    with serving(alice) as server:
        begin(alice, server, bob)
        planned = bob.run("--json", "sync", "home", "--dry-run").json
        assert (planned["planned"], [problem["code"] for problem in planned["problems"]]) == (True, ["stranger"])
        assert [member["name"] for member in alice.lace("members")["members"]] == ["alice"]  # LAZ-13: nobody knocked
        came = bob.lace("sync", "home")
        assert [release["version"] for release in came["releases"]] == ["1.0.0"]
        assert (came["transport"], came["fixed_point"], came["next"]) == ("live", True, "lace update")
        assert came["exchange_plan_id"].startswith("E.")
        assert came["link_id"]
        assert came["round_trips"] <= 4
        bob.lace("update")
        assert (bob.folder / "a.txt").read_text() == "one\n"
        bob.write("b.txt", "two\n")
        bob.lace("release", "1.1.0")
        planned = bob.lace("sync", "home", "--dry-run")
        assert (planned["planned"], planned["received"], planned["sent"] > 0) == (True, 0, True)
        gone = bob.lace("sync", "home")
        assert (gone["sent"], gone["round_trips"]) == (planned["sent"], 1)
        (exchange,) = gone["exchanges"]  # INT-131: whoever only gives had an exchange too
        assert (exchange["sent"], exchange["received"], exchange["closed_by"]) == (gone["sent"], 0, "fixed-point")
        assert gone["peer_verifier"] == exchange["peer_verifier"] == alice.lace("id")["node"]
        assert bob.lace("queue")["entries"] == []
    alice.lace("update")
    assert (alice.folder / "b.txt").read_text() == "two\n"
    assert records(alice) == records(bob)
    assert alice.lace("queue")["entries"] == []


def test_who_only_serves_goes_on_serving(alice: Person, bob: Person) -> None:
    """LAZ-46: friends who come to a vault need no place where it leaves what it shares, and none is asked for."""
    found(alice)
    alice.write("c.txt", "three\n")
    assert alice.lace("release", "1.1.0")["next"] == "lace place add NAME DIR"
    with serving(alice) as server:
        begin(alice, server, bob)
        bob.lace("sync", "home")
    alice.write("c.txt", "3\n")
    made = alice.lace("release", "1.2.0")
    assert made["next"] == "lace serve"
    (entry,) = alice.lace("queue")["entries"]
    assert entry["reason"] == "local, not pushed; no place serves bob: lace serve"
    assert alice.text("queue").strip().endswith("no place serves bob: lace serve")
    alice.lace("place", "remove", "home")  # her own address, which the invitation carried
    assert alice.lace("release", "1.2.1", "-m", "again")["next"] == "lace serve"


@pytest.mark.parametrize("version", [2, 3])
def test_only_who_says_so_is_sent_content_without_its_headers(
    alice: Person, bob: Person, monkeypatch: pytest.MonkeyPatch, version: int
) -> None:
    """Between two versions of lace the former form is spoken, with the same result."""
    for number in range(20):
        alice.write(f"{number}.txt", f"file {number}\n")
    found(alice)
    unpacked, batches = SolidReader.unpacked, [0]

    def counting(self: SolidReader, data: memoryview, limit: int) -> Any:
        batches[0] += 1
        return unpacked(self, data, limit)

    monkeypatch.setattr(SolidReader, "unpacked", counting)
    monkeypatch.setattr("lazy.live.visiting.TIERS", version)
    with serving(alice) as server:
        begin(alice, server, bob)
        bob.lace("sync", "home")
        bob.lace("update")
    assert (batches[0] > 0) == (version > 2)
    assert records(alice) == records(bob)
    assert (bob.folder / "7.txt").read_text() == "file 7\n"


def test_trips_do_not_grow_with_history(alice: Person, bob: Person) -> None:
    """Architecture, decision 7: nothing new takes one trip, something small two, however much there was before."""
    found(alice)
    with serving(alice) as server:
        begin(alice, server, bob)
        bob.lace("sync", "home")
        sizes = set()
        for number in range(1, 25):
            alice.write("a.txt", f"{number}\n")
            alice.lace("release", f"1.{number}.0")
            if number % 8 == 0:
                some = bob.lace("sync", "home")
                assert some["received"] > 0
                assert some["round_trips"] <= 2
                none = bob.lace("sync", "home")
                assert (none["received"], none["sent"], none["round_trips"]) == (0, 0, 1)
                sizes.add((none["bytes_received"] + none["bytes_sent"]) // 256)
        assert max(sizes) <= min(sizes) + 1
    assert records(alice) == records(bob)


def test_nothing_new_costs_the_same_however_many_belong(alice: Person, bob: Person, tmp_path: Path) -> None:
    """Performance W4: one trip and a few hundred bytes, and no more of them in a larger circle."""
    found(alice)
    with serving(alice) as server:
        begin(alice, server, bob)
        sizes = []
        for number in range(3):
            bob.lace("sync", "home")
            none = bob.lace("sync", "home")
            assert (none["received"], none["sent"], none["round_trips"]) == (0, 0, 1)
            sizes.append(none["bytes_received"] + none["bytes_sent"])
            other = Person(f"friend{number}", tmp_path / "homes" / str(number), tmp_path / str(number))
            other.lace("accept", alice.lace("invite", other.name)["invite"], "--name", other.name)
            other.lace("sync", "home")
        assert max(sizes) < 400
        assert max(sizes) - min(sizes) < 40
        assert bob.lace("sync", "home")["round_trips"] <= 2
    assert records(alice) == records(bob)


def test_who_has_another_vector_than_was_thought_says_so_whole(alice: Person, bob: Person) -> None:
    """LAZ-32, LAZ-47: a digest that fits nothing moves no queue; the next turn tells the vector itself."""
    found(alice)
    with serving(alice) as server:
        begin(alice, server, bob)
        bob.lace("sync", "home")
        assert bob.lace("sync", "home")["round_trips"] == 1
        alice.lace("release", "1.1.0")  # bob last heard of what he has himself
        assert alice.lace("queue")["entries"]
        came = bob.lace("sync", "home")
        assert ([release["version"] for release in came["releases"]], came["round_trips"]) == (["1.1.0"], 2)
        assert alice.lace("queue")["entries"] == []
    assert records(alice) == records(bob)


@pytest.mark.parametrize(("step", "connections"), [(0, 1), (100, 2)])
def test_what_takes_minutes_to_come_is_followed_by_a_new_connection(
    alice: Person, bob: Person, monkeypatch: pytest.MonkeyPatch, step: int, connections: int
) -> None:
    """A server on a thin line has said all long before all came, and lets go of who seems to have no more to ask."""
    made = []
    connect = LiveConnection.__enter__

    def connected(self: LiveConnection) -> LiveConnection:
        made.append(self)
        return connect(self)

    found(alice)
    with serving(alice) as server:
        begin(alice, server, bob)
        bob.lace("sync", "home")
        alice.lace("release", "1.1.0")
        ticks = itertools.count(0, step)
        monkeypatch.setattr("lazy.live.reaching.monotonic", lambda: float(next(ticks)))
        monkeypatch.setattr(LiveConnection, "__enter__", connected)
        came = bob.lace("sync", "home")
        assert (came["round_trips"], len(made)) == (2, connections)
    assert records(alice) == records(bob)


def test_a_conflict_and_a_third_person(alice: Person, bob: Person, cara: Person) -> None:
    """LAZ-31: what bob released reaches cara through alice; the conflict is the same on every screen."""
    found(alice)
    with serving(alice) as server:
        begin(alice, server, bob, cara)
        for person in (bob, cara):
            person.lace("sync", "home")
            person.lace("update")
        bob.write("a.txt", "bob\n")
        bob.lace("release", "2.0.0")
        alice.write("a.txt", "alice\n")
        alice.lace("release", "2.0.0")
        bob.lace("sync", "home", expect=1)
        cara.lace("sync", "home", expect=1)
        seen = {person.lace("conflicts")["conflicts"][0]["id"] for person in (alice, bob, cara)}
        assert len(seen) == 1
        cara.lace("resolve", "2.0.0", "--prefer", "bob")
        cara.lace("sync", "home")
        assert alice.lace("conflicts")["conflicts"][0]["status"] != "resolved"
        bob.lace("sync", "home", expect=1)
    assert records(alice) == records(bob) == records(cara)


def test_who_met_on_a_stick_sends_names_before_records(alice: Person, bob: Person, tmp_path: Path) -> None:
    """A first live visit of two who know each other's history moves only what is missing."""
    noise = random.Random(1).randbytes(600_000)
    (alice.folder / "big.bin").write_bytes(noise)
    found(alice)
    alice.lace("place", "add", "stick", str(tmp_path / "stick"))
    bob.lace("accept", alice.lace("invite", "bob")["invite"], "--name", "bob")
    for person in (alice, bob, alice, bob):
        person.run("sync", "stick")
    alice.write("c.txt", "three\n")
    alice.lace("release", "1.1.0")
    with serving(alice) as server:
        bob.lace("place", "add", "home", server.uri)
        came = bob.lace("sync", "home")
        assert [release["version"] for release in came["releases"]] == ["1.1.0"]
        assert came["bytes_received"] < 50_000
        assert (came["sent"], came["bytes_sent"] < 20_000) == (0, True)
        assert came["round_trips"] <= 4
        again = bob.lace("sync", "home")
        assert (again["received"], again["round_trips"]) == (0, 1)
    assert records(alice) == records(bob)


def test_pull_takes_and_push_gives(alice: Person, bob: Person) -> None:
    """LAZ-23, LAZ-25, DEL-23: alice, who syncs nothing by herself, takes what is brought to her server."""
    found(alice)
    with serving(alice) as server:
        begin(alice, server, bob)
        bob.lace("sync", "home")
        bob.write("b.txt", "two\n")
        bob.lace("release", "1.1.0")
        alice.write("a.txt", "1.0.1\n")
        alice.lace("release", "1.0.1")
        pulled = bob.lace("pull", "home")
        assert (len(pulled["releases"]), pulled["sent"]) == (1, 0)
        pushed = bob.lace("push", "home")
        assert (pushed["received"], pushed["sent"] > 0) == (0, True)
    assert records(alice) == records(bob)


def test_nothing_of_a_friend_who_was_left_is_taken_until_they_are_joined_again(alice: Person, bob: Person) -> None:
    """LAZ-53: what they brought to the server came in all the same, and stood in the folder after an update."""
    found(alice)
    with serving(alice) as server:
        begin(alice, server, bob)
        bob.lace("sync", "home")
        alice.lace("leave", "bob")
        bob.write("b.txt", "bob's\n")
        bob.lace("release", "1.1.0")
        alice.write("a.txt", "alice's\n")
        alice.lace("release", "1.2.0")
        bob.lace("sync", "home")
        assert "1.2.0" in bob.text("log"), "they may read"
        assert "1.1.0" not in alice.text("log")
        alice.lace("join", "bob", str(bob.folder), "--key", bob.lace("id")["node"])
        bob.lace("sync", "home")
    told = [str(visit["problem"]) for visit in server.told]
    assert sum("you left them: of 6 records that they brought none was taken." in one for one in told) == 1
    assert "1.1.0" in alice.text("log")


def test_somebody_else_at_the_address_is_told_nothing(alice: Person, bob: Person, cara: Person) -> None:
    """CYB-17: a wrong pin is refused before anything is sent."""
    found(alice)
    with serving(alice) as server:
        begin(alice, server, bob)
        bob.lace("sync", "home")
    cara.write("x.txt", "x\n")
    cara.lace("init", "--name", "cara", "--group", "friends")
    cara.lace("release", "1.0.0")
    with serving(cara) as server:
        key = bob.lace("places")["places"][0]["uri"].split("#")[1]
        bob.lace("place", "remove", "home")
        bob.lace("place", "add", "home", f"https://127.0.0.1:{server.port}/#{key}")
        refused = bob.lace("sync", "home", expect=33)
        assert refused["error"]["code"] == "wrong-server"
        other = cara.lace("id")["node"][:10]
        assert refused["error"]["message"] == f"{other} answers at https://127.0.0.1:{server.port}, and not alice."
        keyless = bob.lace("place", "add", "keyless", f"https://127.0.0.1:{server.port}/", expect=20)["error"]
        assert keyless["code"] == "certificate-untrusted"
        assert "add the whole line that it printed, with # and the key" in keyless["hint"]
        assert server.process.poll() is None


def test_a_stranger_with_the_address_is_refused(alice: Person, bob: Person, cara: Person) -> None:
    """CYB-17: neither a used invitation nor another group's member is answered."""
    found(alice)
    with serving(alice) as server:
        begin(alice, server, bob)
        bob.lace("sync", "home")
        line = alice.lace("invite", "cara")["invite"]
        cara.lace("accept", line, "--name", "cara")
        cara.lace("sync", "home")
        mallory = Person("mallory", cara.home.parent / "mallory-home", cara.home.parent / "mallory")
        mallory.lace("accept", line, "--name", "mallory")
        refused = mallory.lace("sync", "home", expect=34)
        assert refused["error"]["code"] == "refused-there"
        assert "invitation" in refused["error"]["message"]
    assert {member["name"] for member in alice.lace("members")["members"]} == {"alice", "bob", "cara"}


def test_a_server_that_is_gone_leaves_the_queue_as_it_was(alice: Person, bob: Person) -> None:
    """LAZ-24, LAZ-47."""
    found(alice)
    with serving(alice) as server:
        begin(alice, server, bob)
        bob.lace("sync", "home")
    bob.lace("update")
    bob.write("b.txt", "two\n")
    bob.lace("release", "1.1.0")
    gone = bob.lace("sync", "home", expect=20)
    assert gone["error"]["code"] == "place-unreachable"
    assert bob.lace("push", "home")["queued"]
    assert len(bob.lace("queue")["entries"]) == 1


@pytest.mark.parametrize(
    ("uri", "what"),
    [
        ("http://127.0.0.1:7/#V.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA.H3", "TLS"),
        ("https://127.0.0.1:7/#V.AAAA", "key"),
        ("https://me@127.0.0.1:7/#V.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA.H3", "live server"),
        ("https://127.0.0.1:99999/#V.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA.H3", "live server"),
    ],
)
def test_an_address_that_is_none_is_refused_by_name(alice: Person, uri: str, what: str) -> None:
    """CYB-16: a downgrade to plain HTTP is refused with a sentence."""
    found(alice)
    refused = alice.lace("place", "add", "home", uri, expect=2)
    assert refused["error"]["code"] == "unknown-place-kind"
    assert what in refused["error"]["message"]


def test_my_own_address_is_for_others(alice: Person) -> None:
    found(alice)
    with serving(alice) as server:
        alice.lace("place", "add", "home", server.uri)
        assert alice.lace("sync", "home", expect=2)["error"]["code"] == "no-such-place"
        busy = alice.real("--json", "serve", "--listen", f"127.0.0.1:{server.port}")
        assert (busy.code, busy.json["error"]["code"]) == (19, "address-in-use")
        assert busy.json["error"]["message"].endswith(": address already in use.")


def test_an_address_that_this_machine_has_not_is_no_busy_port(alice: Person) -> None:
    """APP-14: another port would not help."""
    found(alice)
    for address, reason in (("192.0.2.1", "cannot assign requested address."), ("no.invalid", "not known.")):
        refused = alice.lace("serve", "--listen", f"{address}:0", expect=19)["error"]
        assert refused["message"].endswith(reason)
        assert refused["hint"].startswith("Name an address of this machine")


def test_a_request_waits_with_a_friend_for_whoever_invited(alice: Person, bob: Person, cara: Person) -> None:
    """A friend who serves passes requests on; only who gave the invitation can grant it, and no dry run does."""
    found(alice)
    with serving(alice) as server:
        begin(alice, server, bob)
        bob.lace("sync", "home")
    alice.lace("place", "remove", "home")
    with serving(bob) as server:
        alice.lace("place", "add", "bobs", server.uri)
        line = alice.lace("invite", "cara")["invite"]
        cara.lace("accept", line, "--name", "cara")
        waits = cara.lace("sync", "bobs")
        assert [problem["code"] for problem in waits["problems"]] == ["stranger"]
        assert "cara" not in {member["name"] for member in bob.lace("members")["members"]}
        before = records(alice)
        assert alice.lace("sync", "bobs", "--dry-run")["admitted"] == []
        assert (records(alice), len(alice.lace("members")["members"])) == (before, 2)  # LAZ-13: it signs nothing
        assert alice.lace("sync", "bobs")["admitted"] == ["cara"]
        assert cara.lace("sync", "bobs")["received"] > 0
        alice.lace("sync", "bobs")
    assert records(alice) == records(bob) == records(cara)


def test_a_server_that_was_restored_is_told_and_brought_up_again(alice: Person, bob: Person, tmp_path: Path) -> None:
    """CYB-18: whoever has less than before is named, and gets again what it lost."""
    found(alice)
    with serving(alice) as server:
        begin(alice, server, bob)
        bob.lace("sync", "home")
    alice.lace("place", "remove", "home")
    old = tmp_path / "old"
    shutil.copytree(bob.folder, old, symlinks=True)
    with serving(bob) as server:
        alice.lace("place", "add", "bobs", server.uri)
        for number in range(1, 4):
            alice.write("a.txt", f"{number}\n")
            alice.lace("release", f"1.{number}.0")
            alice.lace("sync", "bobs")
    everything = records(alice)
    shutil.rmtree(bob.folder)
    shutil.copytree(old, bob.folder, symlinks=True)
    with serving(bob) as server:
        alice.lace("place", "remove", "bobs")
        alice.lace("place", "add", "bobs", server.uri)
        told = alice.lace("sync", "bobs", expect=1)
        assert "rolled-back" in {problem["code"] for problem in told["problems"]}
        again = alice.lace("sync", "bobs")
        assert (again["received"], again["problems"]) == (0, [])
    assert records(bob) == everything == records(alice)


def test_who_revokes_somebody_is_not_called_restored(alice: Person, bob: Person, cara: Person) -> None:
    """CYB-18, LAZ-69: the cut of a log was taken for hiding it, by whoever heard of the revocation in that visit."""
    found(alice)
    with serving(alice) as server:
        begin(alice, server, bob, cara)
        bob.lace("sync", "home")
        bob.lace("update")
        bob.write("b.txt", "two\n")
        bob.lace("release", "1.1.0")
        bob.lace("sync", "home")
        assert cara.lace("sync", "home")["problems"] == []
        alice.lace("revoke", "bob", "--last", "1", "--yes")
        for words in (("sync", "home", "--dry-run"), ("push", "home"), ("sync", "home")):
            assert cara.lace(*words)["problems"] == [], words
    assert [one["name"] for one in cara.lace("members")["revoked"]] == ["bob"]
    assert cara.lace("peers", "alice")["evidence"] == []


def test_a_friend_who_was_restored_gets_again_what_is_lost_and_once(alice: Person, bob: Person, tmp_path: Path) -> None:
    """CYB-18: their place in my log and the names they ask for lead to the same records, which came twice."""
    found(alice)
    with serving(alice) as server:
        begin(alice, server, bob)
        bob.lace("sync", "home")
        bob.lace("sync", "home")
        alice.write("large", random.Random(1).randbytes(3 << 20))
        alice.lace("release", "1.1.0")
        for kept, there in (("folder", bob.folder), ("home", bob.home)):
            shutil.copytree(there, tmp_path / "kept" / kept, symlinks=True)
        first = bob.lace("sync", "home")
        for kept, there in (("folder", bob.folder), ("home", bob.home)):
            shutil.rmtree(there)
            shutil.copytree(tmp_path / "kept" / kept, there, symlinks=True)
        again = bob.lace("sync", "home")
    assert again["received"] == first["received"]
    assert again["bytes_received"] < 1.1 * first["bytes_received"]
    assert records(bob) == records(alice)


def test_what_rotted_at_the_server_is_not_refused_for_ever(alice: Person, bob: Person) -> None:
    """CYB-17, faults.md row 7: damage there is told, and the good record is taken when it is there again."""
    found(alice)
    alice.write("big.bin", "x" * 10_000)
    with serving(alice) as server:
        begin(alice, server, bob)
        bob.lace("sync", "home")
        alice.write("b.txt", "two\n")
        alice.lace("release", "1.1.0", "-m", "a needle in a store")
        path = alice.folder / ".vault" / "store.db"
        with sqlite3.connect(path) as db:
            db.create_function("mix", -1, lambda *_: b"")
            found_at = "SELECT p, bytes FROM body WHERE instr(bytes, CAST(? AS BLOB)) ORDER BY p"
            (p, good) = db.execute(found_at, ("a needle",)).fetchone()
            db.execute("UPDATE body SET bytes = ? WHERE p = ?", (bytes(good).replace(b"needle", b"noodle"), p))
        told = bob.lace("sync", "home", expect=1)
        assert "not-available" in {problem["code"] for problem in told["problems"]}
        assert told["rejected_hashes"] == []
        with sqlite3.connect(path) as db:
            db.execute("UPDATE body SET bytes = ? WHERE p = ?", (good, p))
        assert bob.lace("sync", "home")["received"] > 0
    assert records(alice) == records(bob)
    bob.lace("update")
    assert (bob.folder / "b.txt").read_text() == "two\n"


def test_whoever_serves_hears_of_what_rotted_in_their_packs(alice: Person, bob: Person) -> None:
    """faults.md row 7: else it is sent at every sync, refused every time, and its owner never knows."""
    found(alice)
    with serving(alice) as server:
        begin(alice, server, bob)
        bob.lace("sync", "home")
        (alice.folder / "noise").write_bytes(Random(4).randbytes(100_000))
        alice.lace("release", "1.1.0")
        (path,) = (alice.folder / ".vault" / "packs").iterdir()
        whole = path.read_bytes()
        path.write_bytes(bytes([*whole[:-9], whole[-9] ^ 1, *whole[-8:]]))
        for _ in range(2):
            (problem,) = bob.lace("sync", "home", expect=1)["problems"]
            assert problem["code"] == "not-available"
        path.write_bytes(whole)
        assert bob.lace("sync", "home")["problems"] == []
    problems = [str(told["problem"]) for told in server.told if told["problem"]]
    assert len(problems) == 2
    assert all("1 record is damaged here" in problem and "lace fsck --repair" in problem for problem in problems)
    bob.lace("update")
    assert (bob.folder / "noise").read_bytes() == (alice.folder / "noise").read_bytes()


def _rot(person: Person, needle: bytes) -> None:
    """Change one byte of a shared record where it rests."""
    with sqlite3.connect(person.folder / ".vault" / "store.db") as db:
        db.create_function("mix", -1, lambda *_: b"")
        found_at = "SELECT b.p, b.bytes FROM body b JOIN shared USING (p) WHERE instr(b.bytes, CAST(? AS BLOB))"
        p, good = db.execute(found_at, (needle.decode(),)).fetchone()
        db.execute("UPDATE body SET bytes = ? WHERE p = ?", (bytes(good).replace(needle, needle[::-1]), p))


def test_what_rotted_here_comes_back_from_a_friend_who_serves(alice: Person, bob: Person) -> None:
    """APP-13, CYB-11: the good copy of a named record, from a live place, and nothing else moves."""
    found(alice)
    with serving(alice) as server:
        begin(alice, server, bob)
        bob.lace("sync", "home")
        everything = records(bob)
        alice.write("b.txt", "two\n")
        alice.lace("release", "1.1.0")
        _rot(bob, b"first")
        assert bob.lace("fsck", expect=1)["ok"] is False
        healed = bob.lace("fsck", "--repair")
        assert (healed["ok"], healed["bad"]) == (True, [])
        assert records(bob) == everything
        assert bob.lace("sync", "home")["received"] > 0
    assert records(alice) == records(bob)
    _rot(bob, b"first")
    lost = bob.lace("fsck", "--repair", expect=1)
    assert [bad["code"] for bad in lost["bad"]] == ["lost"]


def test_whoever_pushes_what_rotted_is_told_that_it_was_not_taken(alice: Person, bob: Person) -> None:
    """faults.md row 7: nothing is stored of it there, and both hear of it."""
    found(alice)
    with serving(alice) as server:
        begin(alice, server, bob)
        bob.lace("sync", "home")
        bob.write("b.txt", "two\n")
        bob.lace("release", "1.1.0", "-m", "a needle in a store")
        _rot(bob, b"needle")
        (problem,) = bob.lace("sync", "home", expect=1)["problems"]
        assert problem["code"] == "refused-there"
        assert "its bytes are not what its name says" in problem["message"]
        assert "lace fsck --repair" in problem["message"]
    assert [told["refused"] for told in server.told if told["refused"]] == [1]
    assert alice.lace("peers", "bob")["evidence"] == [], "what rots is nobody's doing"


def test_what_rotted_here_comes_back_from_the_vault_beside(alice: Person) -> None:
    """APP-13: as from a friend who serves, whether or not the key of the other vault lies here."""
    found(alice)
    desk = Person("desk", alice.home, alice.folder.parent / "desk")
    desk.lace("accept", alice.lace("invite", "desk")["invite"], "--name", "desk")
    desk.lace("place", "add", "laptop", str(alice.folder))
    desk.lace("sync", "laptop")
    _rot(desk, b"first")
    assert desk.lace("fsck", "--repair")["ok"] is True
    assert records(desk) == records(alice)
