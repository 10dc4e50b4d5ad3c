"""Large contents proven beside the sync that brings them: never more is shown, and nothing stays (CLAY-12, CLAY-35)."""

from __future__ import annotations

import gc
import hashlib
import os
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import lazy.receiving.proving
from lazy.folder.update import update
from lazy.receiving.proving import Proving
from tests.faults.circle import Hostile, around, befriend, found, open_stick, visit
from tests.lazy.test_large_files import noise, release_of, sum_of, visible
from tests.shelf import Shelf
from vault import releasing
from vault.desks.content import data_plex
from vault.desks.cutting import add_content
from vault.desks.memory import MemoryObjects
from vault.desks.pages import Entry
from vault.errors import Cancelled
from vault.fsck.check import check
from vault.records import RecordHash
from vault.vault import Vault
from vault.watch import Watch
from vault.worker_process import WorkerProcess

_MIB = 1 << 20


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[WorkerProcess]]:
    """Every process that was started, however little there was to prove; none may stay."""
    started: list[WorkerProcess] = []
    monkeypatch.setattr(lazy.receiving.proving, "_LEAST", 1)

    def start(*words: str) -> WorkerProcess:
        started.append(WorkerProcess(*words))
        return started[-1]

    monkeypatch.setattr(lazy.receiving.proving, "WorkerProcess", start)
    yield started
    gc.collect()
    assert not [one for one in started if one.number is not None]


@pytest.fixture
def pair(tmp_path: Path, shelf: Shelf, begun: list[WorkerProcess]) -> Iterator[tuple[Vault, Vault]]:
    """Two friends, each with a second processor."""
    for vault in (alice := shelf.lay(found), befriend(tmp_path, alice, "bob")):
        vault.close()
    del begun[:]
    opened = [Vault(tmp_path / name / "f", replace(around(tmp_path, name), processors=2)) for name in ("alice", "bob")]
    yield opened[0], opened[1]
    for vault in opened:
        vault.close()


def answered(proving: Proving, count: int) -> None:
    """Wait until so many contents were proven."""
    while len(proving._answers) < count * lazy.receiving.proving._ANSWER.size:
        assert proving._worker is not None
        assert proving._worker.wait(60)
        piece = proving._worker.read(1 << 10)
        assert piece, "it ended"
        proving._answers += piece


def chunks_of(made: MemoryObjects) -> list[RecordHash]:
    return [plex.hash for plex in made if plex.blob.data]  # a manifest has no bytes of its own


def put(vault: Vault, content: bytes, *, but: int | None = None) -> tuple[Entry, list[RecordHash]]:
    """Store a content, without one of its chunks; return its entry and its chunks."""
    made = MemoryObjects()
    record = add_content(vault.group, content, made)
    chunks = chunks_of(made)
    gone = None if but is None else chunks[but]
    with vault.store.transaction():
        vault.store.add([(plex, plex.encode()) for plex in made if plex.hash != gone])
    return Entry("f", "-", len(content), record, "large"), chunks


def test_what_a_friend_sends_is_proven_and_shown(
    pair: tuple[Vault, Vault], begun: list[WorkerProcess], monkeypatch: pytest.MonkeyPatch
) -> None:
    alice, bob = pair
    for number in range(3):
        (alice.folder / f"{number}").write_bytes(noise(3 * _MIB, number))
    (alice.folder / "again").write_bytes(noise(3 * _MIB, 0))
    releasing.release(alice, None, "large")
    visit(alice)
    told = Proving.end
    proven: list[str] = []

    def end(self: Proving, is_stopped: Callable[[], bool]) -> dict[RecordHash, str]:
        assert not bob.store.db.in_transaction, "nobody waits for a process that stands still"
        answered(self, 3)  # so that the process had its turn, however busy the machine is
        found = told(self, is_stopped)
        proven.extend(found.values())
        return found

    monkeypatch.setattr(Proving, "end", end)
    got = visit(bob)
    assert begun
    assert not got.problems
    assert not got.came.rejected
    assert len(got.came.releases) == 1
    sums = {hashlib.sha512(noise(3 * _MIB, number)).hexdigest() for number in range(3)}
    assert len(proven) == 3, "equal content is proven once"
    assert set(proven) == sums
    kept = {row[0] for row in bob.store.rows("SELECT sha512 FROM sums")}
    assert kept >= sums
    update(bob)
    assert (bob.folder / "2").read_bytes() == noise(3 * _MIB, 2)
    assert not check(bob).bad


def test_what_is_not_what_it_says_is_shown_to_nobody(tmp_path: Path, pair: tuple[Vault, Vault]) -> None:
    """FAC-30: whoever proves it, a wrong sum is a mismatch, and a hole is a hole until it is filled."""
    alice, bob = pair
    hostile = Hostile(bob, open_stick(tmp_path))
    content = noise(2 * _MIB, 4)
    made = MemoryObjects()
    record = add_content(bob.group, content, made)
    lost = chunks_of(made)[2]
    pages, sealed = release_of(hostile, {"large": (record, len(content))}, sum_of("large", content[:-1] + b"?"))
    hostile.put_records([*sealed, *pages, *(plex for plex in made if plex.hash != lost)])
    visit(alice)
    assert not visible(alice) & {sealed[2].hash}
    assert [RecordHash.parse(row[0]) for row in alice.store.rows("SELECT want FROM hole")] == [lost]
    hostile.put_records([plex for plex in made if plex.hash == lost])
    visit(alice)
    assert not visible(alice) & {sealed[2].hash}
    assert [row[0] for row in alice.store.rows("SELECT code FROM refused")] == ["content-mismatch"]


def test_a_content_waits_until_it_is_whole_and_one_that_never_is_costs_nothing(pair: tuple[Vault, Vault]) -> None:
    alice, _ = pair
    half, chunks = put(alice, noise(2 * _MIB, 5), but=3)
    whole, _ = put(alice, noise(2 * _MIB, 6))
    never = [Entry("f", "-", 2 * _MIB, RecordHash("P", bytes([number] * 32)), "never") for number in range(200)]
    proving = Proving(alice.store.path)
    proving.expect([*never, half, whole, half])
    proving.stored()
    answered(proving, 1)
    made = MemoryObjects()
    add_content(alice.group, noise(2 * _MIB, 5), made)
    with alice.store.transaction():
        alice.store.add([(plex, plex.encode()) for plex in made if plex.hash == chunks[3]])
    proving.stored()
    answered(proving, 2)
    assert list(proving.end(Watch().is_stopped).items()) == [
        (entry.hash, hashlib.sha512(noise(2 * _MIB, seed)).hexdigest()) for entry, seed in ((whole, 6), (half, 5))
    ]


def test_what_much_is_left_of_is_given_up_at_the_end(
    pair: tuple[Vault, Vault], monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Whoever stops a sync does not wait for a gigabyte that is proven just then."""
    alice, _ = pair
    entry, _ = put(alice, noise(4 * _MIB, 8))
    asked = lazy.receiving.proving._Asked()
    asked._is_over = True
    answer = entry.hash.digest + hashlib.sha512(noise(4 * _MIB, 8)).digest()
    for waited, expected in ((_MIB, b""), (4 * _MIB, answer)):
        monkeypatch.setattr(lazy.receiving.proving, "_WAITED", waited)
        lazy.receiving.proving._prove(asked, alice.store, entry)
        assert capfdbinary.readouterr().out == expected


@pytest.mark.usefixtures("begun")
def test_a_store_that_cannot_be_opened_proves_nothing(tmp_path: Path) -> None:
    proving = Proving(tmp_path / "gone")
    proving.expect([Entry("f", "-", _MIB, RecordHash("P", bytes(32)), "x")])
    proving.stored()
    assert proving._worker is not None
    assert proving._worker.wait(60)  # it ended
    proving.stored()
    assert proving.end(Watch().is_stopped) == {}
    assert Proving(tmp_path / "gone").end(Watch().is_stopped) == {}


def test_a_process_that_is_killed_changes_nothing(pair: tuple[Vault, Vault]) -> None:
    """What it proved counts, half an answer does not, and what it did not prove is left to the end of the round."""
    alice, _ = pair
    first, _ = put(alice, noise(_MIB, 5))
    second, _ = put(alice, noise(_MIB, 6))
    proving = Proving(alice.store.path)
    proving.expect([first])
    proving.stored()
    answered(proving, 1)
    assert proving._worker is not None
    assert proving._worker.number is not None
    os.kill(proving._worker.number, signal.SIGKILL)
    assert proving._worker.wait(60)
    proving.expect([second])
    proving.stored()
    proving._answers += bytes(40)
    assert proving.end(Watch().is_stopped) == {first.hash: hashlib.sha512(noise(_MIB, 5)).hexdigest()}


def test_more_is_asked_for_and_answered_than_pipes_hold(pair: tuple[Vault, Vault]) -> None:
    """Whoever takes in what comes never waits, however little the process has read, and reads what it says."""
    alice, _ = pair
    contents = [number.to_bytes(2, "big") for number in range(1_000)]
    made = [data_plex(alice.group, content) for content in contents]
    with alice.store.transaction():
        alice.store.add([(plex, plex.encode()) for plex in made])
    proving = Proving(alice.store.path)
    proving.expect(Entry("f", "-", 2, plex.hash, "x") for plex in made)
    proving.expect(Entry("f", "-", 1, RecordHash("P", number.to_bytes(32, "big")), "x") for number in range(1, 4_000))
    proving.stored()
    assert proving._tasks, "the pipe was full"
    until = time.monotonic() + 60
    while len(proving._answers) < 1_000 * lazy.receiving.proving._ANSWER.size:
        assert time.monotonic() < until, "both wait"
        proving.stored()
        assert proving._worker is not None
        proving._worker.wait(0.01)
    assert proving.end(Watch().is_stopped) == {
        plex.hash: hashlib.sha512(content).hexdigest() for plex, content in zip(made, contents, strict=True)
    }


def test_one_that_stands_still_is_left_once_the_person_stops(
    pair: tuple[Vault, Vault], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it answered till then counts."""
    alice, _ = pair
    monkeypatch.setattr(lazy.receiving.proving, "_GRACE", 0.3)
    first, _ = put(alice, noise(_MIB, 5))
    proving = Proving(alice.store.path)
    proving.expect([first])
    proving.stored()
    answered(proving, 1)
    assert proving._worker is not None
    number = proving._worker.number
    assert number is not None
    os.kill(number, signal.SIGSTOP)
    stopped = [False, False, True]

    def is_stopped() -> bool:
        return stopped.pop(0) if len(stopped) > 1 else stopped[0]

    assert proving.end(is_stopped) == {first.hash: hashlib.sha512(noise(_MIB, 5)).hexdigest()}
    assert stopped == [True], "it was asked on and on"
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)


def test_little_is_left_to_the_end_of_the_round(
    pair: tuple[Vault, Vault], begun: list[WorkerProcess], monkeypatch: pytest.MonkeyPatch
) -> None:
    """To start another Python takes longer than to prove a few megabytes."""
    alice, bob = pair
    monkeypatch.setattr(lazy.receiving.proving, "_LEAST", 3 * _MIB + 1)
    (alice.folder / "large").write_bytes(noise(3 * _MIB, 7))
    releasing.release(alice, None, "large")
    visit(alice)
    assert len(visit(bob).came.releases) == 1
    assert not begun


def test_what_was_proven_before_is_not_again(pair: tuple[Vault, Vault], begun: list[WorkerProcess]) -> None:
    """A note beside large files is another page that names them all; nothing is waited for then."""
    alice, bob = pair
    (alice.folder / "large").write_bytes(noise(2 * _MIB, 7))
    releasing.release(alice, None, "large")
    visit(alice)
    visit(bob)
    assert len(begun) == 1
    (alice.folder / "note").write_text("small")
    releasing.release(alice, None, "small")
    visit(alice)
    assert len(visit(bob).came.releases) == 1
    assert len(begun) == 1


def test_one_that_is_forgotten_ends(pair: tuple[Vault, Vault]) -> None:
    """A round that was refused forgets its receiver, a cycle."""
    alice, _ = pair
    whole, _ = put(alice, noise(_MIB, 8))
    proving = Proving(alice.store.path)
    cycle: list[object] = [proving]
    cycle.append(cycle)
    proving.expect([whole])
    proving.stored()
    assert proving._worker is not None
    number = proving._worker.number
    assert number is not None
    del proving, cycle
    gc.collect()
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)


def test_a_sync_that_is_stopped_leaves_no_process(
    pair: tuple[Vault, Vault], begun: list[WorkerProcess], monkeypatch: pytest.MonkeyPatch
) -> None:
    """LAZ-72: stopped after much came; the process ends, and the next sync goes on."""
    alice, bob = pair
    (alice.folder / "large").write_bytes(noise(12 * _MIB, 7))
    releasing.release(alice, None, "large")
    visit(alice)
    started = Proving.stored
    told: list[int | None] = []

    def stored(self: Proving) -> None:
        started(self)
        told.append(self._worker.number if self._worker is not None else None)
        if len(told) == 2:
            raise Cancelled("Stopped.")

    monkeypatch.setattr(Proving, "stored", stored)
    with pytest.raises(Cancelled):
        visit(bob)
    assert len(begun) == 1
    assert told[-1] is not None
    gc.collect()
    assert begun[0].number is None
    monkeypatch.setattr(Proving, "stored", started)
    assert not visit(bob).problems
    update(bob)
    assert (bob.folder / "large").read_bytes() == noise(12 * _MIB, 7)
