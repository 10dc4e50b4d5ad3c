"""Large contents proven beside the sync that brings them: never more is shown, and nothing stays (CLAY-12, CLAY-35)."""

from __future__ import annotations

import gc
import hashlib
import threading
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
from vault.desks.chunks import check_content
from vault.desks.cutting import add_content
from vault.desks.memory import MemoryObjects
from vault.desks.tree import Entry
from vault.errors import Cancelled
from vault.fsck.check import check
from vault.records import RecordHash
from vault.vault import Vault

_MIB = 1 << 20


@pytest.fixture
def pair(tmp_path: Path, shelf: Shelf) -> Iterator[tuple[Vault, Vault]]:
    """Two friends, each with a second processor."""
    for vault in (alice := shelf.lay(found), befriend(tmp_path, alice, "bob")):
        vault.close()
    opened = [Vault(tmp_path / name / "f", replace(around(tmp_path, name), processors=2)) for name in ("alice", "bob")]
    yield opened[0], opened[1]
    for vault in opened:
        vault.close()
    assert "lace-prove" not in {thread.name for thread in threading.enumerate()}


@pytest.fixture
def proven(monkeypatch: pytest.MonkeyPatch) -> list[RecordHash]:
    """What was proven by the thread, in order."""
    names: list[RecordHash] = []

    def checked(source: object, entry: Entry, take: Callable[[bytes], object]) -> None:
        assert threading.current_thread().name == "lace-prove"
        check_content(source, entry, take)  # type: ignore[arg-type]
        names.append(entry.hash)

    monkeypatch.setattr(lazy.receiving.proving, "check_content", checked)
    return names


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
    pair: tuple[Vault, Vault], proven: list[RecordHash], monkeypatch: pytest.MonkeyPatch
) -> None:
    alice, bob = pair
    for number in range(3):
        (alice.folder / f"{number}").write_bytes(noise(3 * _MIB, number))
    (alice.folder / "again").write_bytes(noise(3 * _MIB, 0))
    releasing.release(alice, None, "large")
    visit(alice)
    told = Proving.end

    def end(self: Proving) -> dict[RecordHash, str]:
        shared = self._shared
        with shared.changed:  # so that the thread had its turn, however busy the machine is
            while len(proven) < 3 and self._thread is not None and self._thread.is_alive():
                shared.changed.wait(0.01)
        return told(self)

    monkeypatch.setattr(Proving, "end", end)
    got = visit(bob)
    assert not got.problems
    assert not got.rejected
    assert len(got.releases) == 1
    assert len(proven) == len(set(proven)) == 3, "equal content is proven once"
    kept = {row[0] for row in bob.store.rows("SELECT sha512 FROM sums")}
    assert kept >= {hashlib.sha512(noise(3 * _MIB, number)).hexdigest() for number in range(3)}
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


def test_a_content_waits_until_it_is_whole_and_one_that_never_is_costs_nothing(
    pair: tuple[Vault, Vault], proven: list[RecordHash], monkeypatch: pytest.MonkeyPatch
) -> None:
    alice, _ = pair
    looked = threading.Semaphore(0)
    look = lazy.receiving.proving._try

    def told(*args: object) -> RecordHash | None:
        try:
            return look(*args)  # type: ignore[arg-type]
        finally:
            looked.release()

    monkeypatch.setattr(lazy.receiving.proving, "_try", told)
    half, chunks = put(alice, noise(2 * _MIB, 5), but=3)
    whole, _ = put(alice, noise(2 * _MIB, 6))
    never = Entry("f", "-", 2 * _MIB, RecordHash("P", bytes(32)), "never")
    proving = Proving(alice.store.path)
    proving.expect([never, half, whole, half])
    proving.stored()
    for _ in range(3):
        assert looked.acquire(timeout=60)
    assert proven == [whole.hash]
    made = MemoryObjects()
    add_content(alice.group, noise(2 * _MIB, 5), made)
    with alice.store.transaction():
        alice.store.add([(plex, plex.encode()) for plex in made if plex.hash == chunks[3]])
    proving.stored()
    for _ in range(2):
        assert looked.acquire(timeout=60)
    assert proving.end() == {
        entry.hash: hashlib.sha512(noise(2 * _MIB, seed)).hexdigest() for entry, seed in ((whole, 6), (half, 5))
    }
    assert proven == [whole.hash, half.hash]


def test_what_much_is_left_of_is_given_up_at_the_end(
    pair: tuple[Vault, Vault], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever stops a sync does not wait for a gigabyte that is proven just then."""
    alice, _ = pair
    entry, _ = put(alice, noise(4 * _MIB, 8))
    begun, ended = threading.Event(), threading.Event()

    def checked(source: object, entry: Entry, take: Callable[[bytes], object]) -> None:
        begun.set()
        assert ended.wait(60)
        check_content(source, entry, take)  # type: ignore[arg-type]

    monkeypatch.setattr(lazy.receiving.proving, "check_content", checked)
    for waited, proved in ((_MIB, set()), (4 * _MIB, {entry.hash})):
        monkeypatch.setattr(lazy.receiving.proving, "_WAITED", waited)
        begun.clear()
        ended.clear()
        proving = Proving(alice.store.path)
        proving.expect([entry])
        proving.stored()
        assert begun.wait(60)
        proving._shared.is_over = True
        ended.set()
        assert proving.end().keys() == proved


def test_a_store_that_cannot_be_opened_proves_nothing(tmp_path: Path) -> None:
    proving = Proving(tmp_path / "gone")
    proving.expect([Entry("f", "-", _MIB, RecordHash("P", bytes(32)), "x")])
    proving.stored()
    assert proving.end() == {}
    assert Proving(tmp_path / "gone").end() == {}


@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
def test_an_owner_that_its_own_thread_collects_ends_it(
    pair: tuple[Vault, Vault], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A round that was refused forgets its receiver, a cycle, and any thread may be the one that collects it."""
    alice, _ = pair
    whole, _ = put(alice, noise(_MIB, 8))
    is_forgotten, is_collected = threading.Event(), threading.Event()

    def collect(*_: object) -> None:
        is_forgotten.wait(60)
        gc.collect()
        is_collected.set()

    monkeypatch.setattr(lazy.receiving.proving, "_try", collect)

    def forget() -> threading.Thread | None:
        proving = Proving(alice.store.path)
        cycle: list[object] = [proving]
        cycle.append(cycle)
        proving.expect([whole])
        proving.stored()
        return proving._thread

    gc.disable()
    try:
        thread = forget()
        is_forgotten.set()
        assert thread is not None
        assert is_collected.wait(60)
        thread.join(60)
        assert not thread.is_alive()
    finally:
        gc.enable()


def test_a_sync_that_is_stopped_leaves_no_thread(pair: tuple[Vault, Vault], monkeypatch: pytest.MonkeyPatch) -> None:
    """LAZ-72: stopped after much came; the fixture looks for the thread, and the next sync goes on."""
    alice, bob = pair
    (alice.folder / "large").write_bytes(noise(12 * _MIB, 7))
    releasing.release(alice, None, "large")
    visit(alice)
    started = Proving.stored
    begun: list[Proving] = []

    def stored(self: Proving) -> None:
        started(self)
        begun.append(self)
        if len(begun) == 2:
            raise Cancelled("Stopped.")

    monkeypatch.setattr(Proving, "stored", stored)
    with pytest.raises(Cancelled):
        visit(bob)
    assert begun[0]._thread is None
    monkeypatch.undo()
    assert not visit(bob).problems
    update(bob)
    assert (bob.folder / "large").read_bytes() == noise(12 * _MIB, 7)
