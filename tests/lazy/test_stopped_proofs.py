"""A few records that stand for very much content: proving it can be stopped, and stays stopped (CLAY-35, LAZ-72)."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

import lazy.live.reaching
import lazy.visits.rounds
import vault.store.sums
from lazy.folder.update import update
from lazy.places.adding import add_place
from lazy.sync import sync
from tests.faults.circle import PLACE, Hostile, befriended, open_stick, visit
from tests.lazy.test_large_files import release_of, visible
from tests.shelf import Shelf
from vault import releasing
from vault.desks.cutting import ContentWriter
from vault.desks.memory import MemoryObjects
from vault.errors import Cancelled
from vault.folder import work
from vault.fsck.check import check
from vault.records import RecordHash
from vault.vault import Vault
from vault.watch import Watch

_MIB = 1 << 20
_SIZE = 16 * _MIB


@pytest.fixture
def alice_and_release(
    tmp_path: Path, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Vault, RecordHash]]:
    """Somebody, and what a friend released on the stick: many zeros in a few KB, as a sparse file has them."""
    alice, bob = shelf.lay(befriended, "bob")
    monkeypatch.setattr(lazy.visits.rounds, "_LITTLE", _MIB)
    monkeypatch.setattr(vault.store.sums, "UNWATCHED_BYTES", _MIB)
    hostile = Hostile(bob, open_stick(tmp_path))
    made = MemoryObjects()
    writer = ContentWriter(bob.group, made)
    whole = hashlib.sha512()
    for _ in range(_SIZE // _MIB):
        writer.add(bytes(_MIB))
        whole.update(bytes(_MIB))
    top = writer.finish()
    line = f"f - {_SIZE} {whole.hexdigest()} zeros\n"
    sha512 = f"sha512:{hashlib.sha512(line.encode()).hexdigest()}"
    pages, sealed = release_of(hostile, {"zeros": (top, _SIZE)}, sha512)
    assert sum(len(plex.encode()) for plex in made) < _MIB, "it is named by little"
    hostile.put_records([*sealed, *pages, *made])
    yield alice, sealed[2].hash
    alice.close()
    bob.close()


class _Impatient:
    """Stops a sync as soon as it says that it proves something, and keeps how much was read."""

    def __init__(self) -> None:
        self.read = 0

    def moved(self, _done: int, _total: int, size: int, _total_size: int, what: str) -> None:
        if what == "prove":
            self.read = size

    def cancelled(self) -> None:
        if self.read:
            raise Cancelled("Stopped.")

    def watch(self) -> Watch:
        return Watch(cancelled=self.cancelled, moved=self.moved)


def test_a_person_stops_what_would_be_read_for_long(alice_and_release: tuple[Vault, RecordHash]) -> None:
    alice, release = alice_and_release
    impatient = _Impatient()
    with pytest.raises(Cancelled):
        sync(alice, [PLACE], watch=impatient.watch())
    assert _MIB < impatient.read < 8 * _MIB, "bytes were told, and it stopped soon"
    assert release not in visible(alice)
    assert not alice.store.rows("SELECT 1 FROM hole"), "what came is kept"
    assert not alice.store.rows("SELECT 1 FROM refused"), "and nobody is blamed"


def test_what_was_stopped_holds_up_nothing_else_and_is_proven_by_the_next_sync(
    alice_and_release: tuple[Vault, RecordHash], monkeypatch: pytest.MonkeyPatch
) -> None:
    alice, release = alice_and_release
    with pytest.raises(Cancelled):
        sync(alice, [PLACE], watch=_Impatient().watch())
    read: list[int] = []
    ask = vault.store.sums.Leave.__call__

    def asked(self: vault.store.sums.Leave, size: int) -> None:
        read.append(size)
        ask(self, size)

    monkeypatch.setattr(vault.store.sums.Leave, "__call__", asked)
    (alice.folder / "mine").write_text("mine\n")
    work.commit(alice, "mine")
    assert sum(read) < 8 * _MIB, "a commit does not read it all"
    assert release not in visible(alice)
    assert not visit(alice).problems
    assert sum(read) >= _SIZE
    assert release in visible(alice), "an honest file of many equal parts is refused nowhere"
    assert not check(alice).bad


@pytest.fixture
def alice_bob_and_release(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Vault, Vault, RecordHash]]:
    """Alice, who stopped the proving of what bob released, bob, and that: many small files in one directory."""
    alice, bob = shelf.lay(befriended, "bob")
    monkeypatch.setattr(lazy.visits.rounds, "_LITTLE", _MIB)
    monkeypatch.setattr(vault.store.sums, "UNWATCHED_BYTES", _MIB)
    update(bob)
    for number in range(32):
        (bob.folder / f"{number}.bin").write_bytes(random.Random(number).randbytes(200_000))
    release = releasing.release(bob).release
    visit(bob)
    with pytest.raises(Cancelled):
        sync(alice, [PLACE], watch=_Impatient().watch())
    assert release not in visible(alice)
    yield alice, bob, release
    alice.close()
    bob.close()


def test_what_nobody_watches_goes_on_a_little_with_each_action(
    alice_bob_and_release: tuple[Vault, Vault, RecordHash],
) -> None:
    alice, _, release = alice_bob_and_release
    for number in range(8):
        (alice.folder / "mine").write_text(f"{number}\n")
        work.commit(alice, "mine")
    assert release in visible(alice), "the files that ended are not read again"
    assert not check(alice).bad


def test_who_only_serves_proves_it_at_the_next_visit(
    alice_bob_and_release: tuple[Vault, Vault, RecordHash], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing comes with that visit, and there is no place to sync with."""
    alice, bob, release = alice_bob_and_release
    # Two accounts are one here, so that the vault beside bob's takes in what he brings, as a server does.
    monkeypatch.setattr(lazy.live.reaching, "open_local_vault", lambda *_: (Vault(alice.folder, alice.around), True))
    add_place(bob, "alices", str(alice.folder), cwd=alice.folder)
    sync(bob, ["alices"])
    sync(bob, ["alices"])
    assert release in visible(alice)


def test_who_visits_a_vault_beside_stops_what_that_one_proves(
    alice_bob_and_release: tuple[Vault, Vault, RecordHash], monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-3, INT-164: this process works for both; what was stopped goes on with the next visit."""
    alice, bob, release = alice_bob_and_release
    monkeypatch.setattr(lazy.live.reaching, "open_local_vault", lambda *_: (Vault(alice.folder, alice.around), True))
    add_place(bob, "alices", str(alice.folder), cwd=alice.folder)
    impatient = _Impatient()
    with pytest.raises(Cancelled):
        sync(bob, ["alices"], watch=impatient.watch())
    assert _MIB < impatient.read < 3 * _MIB, "it stopped soon"
    assert release not in visible(alice)
    sync(bob, ["alices"])
    assert release in visible(alice)
    assert not check(alice).bad
    assert not check(bob).bad


def test_a_check_proves_it_all_and_can_be_stopped(alice_and_release: tuple[Vault, RecordHash]) -> None:
    alice, _ = alice_and_release
    visit(alice)
    assert not check(alice).bad, "it is proven beside, however much it is"
    calls: list[int] = []

    def cancelled() -> None:
        calls.append(len(alice.store.rows("SELECT 1 FROM body")))
        if len(calls) > calls[0]:  # after the records were looked at, while the views are built
            raise Cancelled("Stopped.")

    with pytest.raises(Cancelled):
        check(alice, watch=Watch(cancelled=cancelled))
