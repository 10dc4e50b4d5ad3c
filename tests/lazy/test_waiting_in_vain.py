"""Another process holds the vault for too long while records come: who waited in vain does not wait again (APP-13)."""

from __future__ import annotations

from contextlib import ExitStack, closing
from pathlib import Path

import pytest

import lazy.live.intake
import lazy.visits.transfer
import vault.vault
from lazy.live.bookmark import Bookmark
from lazy.live.cursors import known
from lazy.live.intake import Intake
from lazy.receiving.receive import Receiver
from lazy.sync import sync
from tests.vault.profiles import plex_hash
from tests.vault.vaults import found, gathered, write
from transports.http.stream import Frame, FrameKind
from vault.desks.content import tree_plex
from vault.lock import Locked
from vault.records import RecordHash
from vault.releasing import release
from vault.vault import Vault
from vault.watch import Watch


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vault.vault, "LOCK_SECONDS", 0.1)


def test_what_could_not_be_stored_is_refused_as_nobodys(tmp_path: Path) -> None:
    """LAZ-71, APP-13: a friend's records were refused as a stranger's, and told of as that, once the vault was free."""
    alice, bob = gathered(tmp_path, "bob")
    write(alice, "b.txt", "two\n")
    release(alice)
    mine = alice.store.rows("SELECT b.kind, b.digest FROM exposure e JOIN body b USING (p) WHERE b.kind = 'S'")
    names = {RecordHash(str(kind), bytes(digest)) for kind, digest in mine}
    fresh = [(name, alice.store.stored_or_none(name) or b"") for name in names - bob.store.have(names)]
    assert fresh
    receiver = Receiver(bob, "stick")
    with closing(Vault(bob.folder, bob.around)) as other, other.lock.held(0), pytest.raises(Locked):
        receiver.take(fresh)
    with bob.writing() as w:
        receiver.finish(w)
    assert receiver.refusals == []
    assert not bob.store.rows("SELECT 1 FROM refused")
    receiver.take(fresh)
    assert set(receiver.received) == {name for name, _ in fresh}
    alice.close()
    bob.close()


def test_what_a_line_brought_is_stored_in_one_try(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """APP-13, DWN-13: and the place in that log moves with what is stored, not past it."""
    alice = found(tmp_path)
    receiver = Receiver(alice, "bob", keeps_content=True)
    pages = [tree_plex(alice.group, f"lace-tree/0 0\nf - 1 {plex_hash(number)} a\n".encode()) for number in range(20)]
    records = tuple(page.encode() for page in pages)
    size = sum(map(len, records))
    monkeypatch.setattr(lazy.live.intake, "_FIRST_BATCH_BYTES", size)  # stored once the place after them comes
    intake = Intake(alice, receiver, Bookmark(alice, receiver, alice.node), "e" * 32, Watch())
    tries: list[int] = []
    alice.lock.first = lambda: tries.append(1)
    with closing(Vault(alice.folder, alice.around)) as other, other.lock.held(0), pytest.raises(Locked):
        intake.take_all([Frame(FrameKind.RECORDS, records=records), Frame(FrameKind.REACHED, bytes(8), position=20)])
    assert len(tries) == 1
    intake.keep_cursor()
    assert known(alice, alice.node).mine is None
    alice.close()


def test_what_a_mailbox_gave_is_stored_in_one_try(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """APP-13, LAZ-72: what was not stored comes with the next sync."""
    monkeypatch.setattr(lazy.visits.transfer, "_BATCH_RECORDS", 1)
    alice, bob = gathered(tmp_path, "bob")
    for number in range(20):
        write(alice, f"{number}.txt", f"content {number}\n")
    release(alice)
    sync(alice, ["stick"])
    tries: list[int] = []
    with closing(Vault(bob.folder, bob.around)) as other, ExitStack() as held:

        def moved(_done: int, _total: int, _size: int, _total_size: int, what: str) -> None:
            if what == "receive":
                held.enter_context(other.lock.held(0))
                tries.clear()

        bob.lock.first = lambda: tries.append(1)
        with pytest.raises(Locked):
            sync(bob, ["stick"], watch=Watch(moved=moved))
        assert len(tries) == 2, "for the records, and for the end of the round"
    (came,) = sync(bob, ["stick"])
    assert [str(shown.version) for shown in came.came.releases] == ["1.0.1"]
    alice.close()
    bob.close()
