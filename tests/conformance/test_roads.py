"""Every road, every scenario: what people get does not depend on how bytes travelled (APP-6, CYB-15, CYB-17, CYB-18).

A `road` is one entry of `roads.ROADS`. A scenario speaks through commands only, so it knows nothing of the road.
"""

from __future__ import annotations

import random
import resource
import shutil
import threading
from pathlib import Path

import pytest

from tests.conformance.roads import (
    ROADS,
    Copy,
    Road,
    chosen_roads,
    mediums,
    meet,
    meet_anew,
    open_to_newcomers,
    written,
)
from tests.conformance.telling import noise, records, settle, whole
from tests.people import Person
from vault.records import RecordHash

_BIG = 3_000_000  # bytes: several frames, and pieces of git


@pytest.mark.parametrize("road", sorted({*ROADS} - {"web"} | {*chosen_roads()}), indirect=True)
def test_a_first_meeting_brings_the_folder(road: Road, alice: Person, bob: Person) -> None:
    alice.write("notes/été.txt", "one\n")
    alice.write("big.bin", noise(1, _BIG))
    meet_anew(road, alice, bob)
    made = alice.lace("release", "1.0.0", "-m", "first")
    sent = road.sync(alice)
    assert (sent["transport"], sent["sent"] > 0, sent["queued"]) == (road.kind, True, False)
    got = road.sync(bob)
    assert [(new["name"], new["release"]) for new in got["releases"]] == [("alice", made["release"])]
    assert (got["fixed_point"], got["closed_by"], got["next"]) == (True, "fixed-point", "lace update")
    bob.lace("update")
    assert (bob.folder / "big.bin").read_bytes() == noise(1, _BIG)
    settle(road, alice, bob)


def test_nothing_new_moves_nothing(road: Road, alice: Person, bob: Person) -> None:
    # INT-10
    meet(road, alice, bob)
    alice.write("a.txt", "one\n")
    alice.lace("release", "1.0.0")
    settle(road, alice, bob)
    before = {path: path.stat().st_mtime_ns for path in road.victims()}
    for person in (alice, bob):
        again = road.sync(person)
        assert (again["received"], again["sent"], again["fixed_point"], again["exchanges"]) == (0, 0, True, [])
        # Whoever answers is asked; a medium is only looked at.
        assert again["bytes_sent"] <= (1024 if road.kind in {"live", "vault"} else 0)
    assert {path: path.stat().st_mtime_ns for path in road.victims()} == before


def test_a_small_change_costs_little(road: Road, alice: Person, bob: Person) -> None:
    meet(road, alice, bob)
    alice.write("big.bin", noise(2, _BIG))
    alice.write("a.txt", "one\n")
    alice.lace("release", "1.0.0")
    settle(road, alice, bob)
    alice.write("a.txt", "two\n")
    alice.lace("release", "1.0.1")
    assert road.sync(alice)["bytes_sent"] < 64 * 1024
    got = road.sync(bob)
    assert got["received"] > 0
    assert got["bytes_received"] < 128 * 1024
    bob.lace("update")
    assert (bob.folder / "a.txt").read_text() == "two\n"


def test_a_conflict_is_told_and_settled_everywhere(road: Road, alice: Person, bob: Person) -> None:
    # DWN-11: of two releases neither counts by being newer, until a person decides
    meet(road, alice, bob)
    for person in (alice, bob):
        person.write("a.txt", f"{person.name}\n")
        person.lace("release", "1.0.0")
    road.sync(alice)
    told = road.sync(bob, expect=1)
    assert [(c["version"], len(c["sides"])) for c in told["conflicts"]] == [("1.0.0", 2)]
    assert len(road.sync(alice, expect=1)["conflicts"]) == 1
    bob.lace("resolve", told["conflicts"][0]["id"], "--prefer", "local")
    road.sync(bob)
    proposed = road.sync(alice, expect=1)
    alice.lace("resolve", proposed["conflicts"][0]["id"], "--accept")
    settle(road, alice, bob)
    assert (alice.folder / "a.txt").read_text() == "bob\n"


def test_a_third_person_relays(road: Road, alice: Person, bob: Person, cara: Person, tmp_path: Path) -> None:
    # Cara never meets Alice: Bob carries what he took from the road to a stick of theirs.
    # DEL-3, DEL-6: what he relays counts as Alice's, by her own seals.
    meet(road, alice, bob)
    alice.write("a.txt", "one\n")
    made = alice.lace("release", "1.0.0")
    settle(road, alice, bob)
    bob.lace("place", "add", "stick", str(tmp_path / "stick"))
    line = bob.lace("invite", "cara")["invite"]
    cara.lace("accept", line, "--name", "cara")
    for name in ("road", "stick"):
        if name in {place["place"] for place in cara.lace("places")["places"]} - {"stick"}:
            cara.lace("place", "remove", name)
    for person in (cara, bob, cara, bob):
        person.lace("sync", "stick")
    got = {entry["hash"] for entry in cara.lace("log", "-n", "50")["entries"]}
    assert made["release"] in got
    cara.lace("update")
    assert (cara.folder / "a.txt").read_text() == "one\n"
    assert records(cara) == records(bob)


@pytest.mark.parametrize("road", open_to_newcomers(), indirect=True)
def test_somebody_who_comes_late_gets_all(road: Road, alice: Person, bob: Person, cara: Person) -> None:
    meet(road, alice, bob)
    for number in range(3):
        for person in (alice, bob):
            person.write(f"{person.name}.txt", f"{number}\n")
            road.sync(person)
            if number or person is bob:
                person.lace("update")
            person.lace("release", "--yes")
            road.sync(person)
    settle(road, alice, bob)
    cara.lace("accept", bob.lace("invite", "cara")["invite"], "--name", "cara")
    first = road.sync(cara)
    road.sync(bob)  # Alice, who wrote most of it, is not there
    second = road.sync(cara)
    assert len(first["releases"]) + len(second["releases"]) == 6
    settle(road, cara, alice, bob)


def test_what_is_stopped_goes_on_where_it_was(
    road: Road, alice: Person, bob: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    # INT-120, LAZ-27: what was read before the cut counts
    from lazy.receiving.receive import Receiver  # only here

    meet(road, alice, bob)
    for number in range(40):
        alice.write(f"{number}.bin", noise(number, 100_000))
    alice.lace("release", "1.0.0")
    road.sync(alice)
    take = Receiver.take
    calls = []

    def stopping(self: Receiver, batch: list[tuple[RecordHash, bytes]], *, carried: bool) -> None:
        take(self, batch, carried=carried)
        calls.append(len(batch))
        if len(calls) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(Receiver, "take", stopping)
    assert road.stop(bob) == 130
    monkeypatch.undo()
    assert whole(bob)
    got = road.sync(bob)
    assert got["fixed_point"]
    settle(road, alice, bob)
    bob.lace("update")
    assert (bob.folder / "39.bin").read_bytes() == noise(39, 100_000)


@pytest.mark.parametrize("road", open_to_newcomers(), indirect=True)
def test_a_stranger_gets_in_nothing(road: Road, alice: Person, bob: Person, cara: Person) -> None:
    # LAZ-71: Cara has a line for the group, and nobody knows it
    meet(road, alice, bob)
    line = alice.lace("invite", "cara")["invite"]
    cara.lace("accept", line, "--name", "cara")
    alice.write("a.txt", "one\n")
    alice.lace("release", "1.0.0")
    road.sync(cara)
    got = road.sync(bob)  # Bob did not invite her, so only Alice can know that she may come in
    assert not got["admitted"]
    assert "cara" not in {member["name"] for member in bob.lace("members")["members"]}
    assert road.sync(alice)["admitted"] == ["cara"]
    settle(road, cara, alice, bob)


@pytest.mark.parametrize("road", mediums(), indirect=True)
def test_a_medium_that_goes_back_in_time_is_noticed(road: Road, alice: Person, bob: Person, tmp_path: Path) -> None:
    # CYB-18: nothing is deleted, nothing goes down, and the owner brings the medium up again
    meet(road, alice, bob)
    alice.write("a.txt", "one\n")
    alice.lace("release", "1.0.0")
    settle(road, alice, bob)
    old = Copy(road, tmp_path / "old")
    alice.write("a.txt", "two\n")
    alice.lace("release", "1.0.1")
    settle(road, alice, bob)
    before = records(bob)
    vector = bob.lace("vectors")["vectors"]["self"]
    old.bring_back()
    told = road.sync(bob, expect=1)
    # His own went back too where he had written there since, and he is told.
    of_mine = {"branch-set-back", "mailbox-set-back"}
    assert {problem["code"] for problem in told["problems"]} - of_mine == {"rolled-back"}
    assert records(bob) == before
    assert bob.lace("vectors")["vectors"]["self"] == vector
    road.sync(alice)
    settle(road, alice, bob)


@pytest.mark.parametrize("road", mediums(), indirect=True)
def test_a_rotten_byte_is_never_believed(road: Road, alice: Person, bob: Person, tmp_path: Path) -> None:
    # CYB-17, faults.md row 7: one byte of each file in turn
    meet(road, alice, bob)
    alice.write("a.txt", "one\n")
    alice.write("b.bin", noise(5, 200_000))
    alice.lace("release", "1.0.0")
    road.sync(alice)
    good, hers = Copy(road, tmp_path / "good"), records(alice)
    state = tmp_path / "state"
    shutil.copytree(bob.folder, state, symlinks=True)
    shutil.copytree(bob.home, tmp_path / "keys", symlinks=True)
    chance = random.Random(7)
    victims = road.victims()
    for victim in victims if len(victims) < 8 else chance.sample(victims, 8):
        good.bring_back()
        data = bytearray(victim.read_bytes())
        at = chance.randrange(len(data))
        data[at] ^= 1 << chance.randrange(8)
        victim.chmod(0o644)
        victim.write_bytes(data)
        done = bob.run("--json", "sync", "road")
        assert done.code in {0, 1} or 20 <= done.code < 50, (victim, done.err)
        assert whole(bob)
        good.bring_back()
        got = bob.run("--json", "sync", "road")
        assert got.code == 0, (victim, got.err)
        assert records(bob) == hers
        for folder, kept in ((bob.folder, state), (bob.home, tmp_path / "keys")):
            shutil.rmtree(folder)
            shutil.copytree(kept, folder, symlinks=True)


@pytest.mark.parametrize("road", written(), indirect=True)
def test_a_full_disk_loses_nothing(road: Road, alice: Person, bob: Person) -> None:
    # faults.md row 3
    meet(road, alice, bob)
    alice.write("big.bin", noise(6, _BIG))
    alice.lace("release", "1.0.0")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (700_000, hard))
    try:
        full = alice.run("--json", "sync", "road")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert 10 <= full.code < 30, full.err
    assert full.json["error"]["hint"]
    assert road.sync(bob)["releases"] == []
    assert whole(alice)
    settle(road, alice, bob)
    bob.lace("update")
    assert (bob.folder / "big.bin").read_bytes() == noise(6, _BIG)


@pytest.mark.parametrize("road", written(), indirect=True)
def test_a_medium_that_is_gone_leaves_the_work_queued(road: Road, alice: Person, bob: Person, tmp_path: Path) -> None:
    # LAZ-24, DEL-28, faults.md row 4; DWN-52: what may be tried again stays pending
    meet(road, alice, bob)
    alice.write("a.txt", "one\n")
    alice.lace("release", "1.0.0")
    away = tmp_path / "away"
    road.medium.rename(away)
    assert alice.lace("push", "road")["queued"]
    assert 20 <= alice.run("sync", "road").code < 30
    away.rename(road.medium)
    settle(road, alice, bob)


def test_three_people_use_one_medium(road: Road, alice: Person, bob: Person, cara: Person) -> None:
    meet(road, alice, bob, cara)
    for number in range(2):
        for person in (alice, bob, cara):
            road.sync(person)
            person.lace("update")
            person.write(f"{person.name}.txt", f"{number}\n")
            person.lace("release", "--yes")
            road.sync(person)
    settle(road, alice, bob, cara)
    for person in (alice, bob, cara):
        person.lace("update")
        assert {path.name for path in person.folder.glob("*.txt")} == {"alice.txt", "bob.txt", "cara.txt"}


def test_two_write_at_once(road: Road, alice: Person, bob: Person) -> None:
    # Decision 4: without locks, each in a mailbox of its own
    meet(road, alice, bob)
    for person in (alice, bob):
        person.write(f"{person.name}.bin", noise(len(person.name), 1_500_000))
        person.lace("release", {"alice": "1.0.0", "bob": "1.1.0"}[person.name])
    codes: list[int] = []
    threads = [
        threading.Thread(target=lambda person=person: codes.append(person.real("sync", "road").code))
        for person in (alice, bob)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert codes == [0, 0]
    settle(road, alice, bob)
