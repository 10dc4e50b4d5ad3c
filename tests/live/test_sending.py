"""What is sent over a line is read from the packs by stretches, and is byte for byte what the store holds (INT)."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from lazy.live.cursors import ExposureCursor, mark_at
from lazy.live.sending import send_after, send_named
from tests.vault.vaults import found
from transports.http.stream import FrameKind, StreamReader, StreamWriter
from vault.folder.work import commit
from vault.notes.own import EPOCH
from vault.records import RecordHash
from vault.records.hashes import is_record
from vault.releasing import release
from vault.store.packread import PackDamaged
from vault.store.packs import Packs
from vault.vault import Vault
from vault.watch import Watch


@pytest.fixture
def alice(tmp_path: Path) -> Iterator[Vault]:
    """A vault that shares noise in packs, text in compressed frames, and small records in rows."""
    with found(tmp_path) as vault:
        for number in range(2):
            (vault.folder / f"noise-{number}").write_bytes(Random(number).randbytes(400_000))
        (vault.folder / "text").write_text("a line like all the others\n" * 3_000)
        (vault.folder / "note").write_text("small")
        commit(vault, "all of it")
        release(vault)
        yield vault


def _shared(vault: Vault) -> list[tuple[RecordHash, bytes]]:
    rows = vault.store.rows(
        "SELECT b.kind, b.digest, stored(b.p, b.bytes) FROM exposure JOIN body b USING (p) ORDER BY at"
    )
    return [(RecordHash(str(kind), bytes(digest)), bytes(stored)) for kind, digest, stored in rows]


def _top(vault: Vault) -> ExposureCursor:
    at = int(vault.store.rows("SELECT max(at) FROM exposure")[0][0])
    return ExposureCursor(vault.store.note(EPOCH), at, mark_at(vault, at))


def _after(
    vault: Vault,
    after: int = 0,
    leave_out: frozenset[RecordHash] = frozenset(),
    damaged: set[RecordHash] | None = None,
) -> tuple[list[bytes], int]:
    """Return the records that are sent, and the position that is reached with them."""
    body = io.BytesIO()
    writer = StreamWriter(body.write)
    found: set[RecordHash] = set() if damaged is None else damaged
    sent = sum(send_after(vault, writer, after, _top(vault), leave_out, Watch(), found))
    writer.end()
    body.seek(0)
    records: list[bytes] = []
    reached = 0
    for frame in StreamReader(body):
        records += frame.records
        reached = frame.position if frame.kind is FrameKind.REACHED else reached
    assert sent == len(records)
    return records, reached


def test_what_follows_a_position_is_sent_whole_and_in_order(alice: Vault) -> None:
    """DWN-50: a push reads the log from the place that the reader has."""
    everything = _shared(alice)
    assert any(len(stored) > 4096 for _, stored in everything)
    assert _after(alice) == ([stored for _, stored in everything], len(everything))
    assert _after(alice, 20)[0] == [stored for _, stored in everything[20:]]


def test_what_the_reader_sent_is_left_out_of_the_middle_of_stretches(alice: Vault) -> None:
    everything = _shared(alice)
    draw = Random(5)
    left = frozenset(record for record, _ in everything if draw.random() < 0.4)
    assert left
    wanted = [stored for record, stored in everything if record not in left]
    assert _after(alice, leave_out=left) == (wanted, len(everything))


def test_records_are_sent_by_name_and_none_that_is_not_shared(alice: Vault) -> None:
    (alice.folder / "noise-3").write_bytes(Random(9).randbytes(300_000))
    before = {record for record, _ in _shared(alice)}
    commit(alice, "not shared yet")
    rows = alice.store.rows("SELECT kind, digest FROM body")
    names = [RecordHash(str(kind), bytes(digest)) for kind, digest in rows]
    assert len(names) > len(before)
    sent, damaged = _named(alice, names)
    assert (len(sent), damaged) == (len(before), set())
    assert set(sent) == {stored for _, stored in _shared(alice)}


def _named(vault: Vault, names: list[RecordHash]) -> tuple[list[bytes], set[RecordHash]]:
    """Return the records that are sent for names, and the names of those that are damaged."""
    body = io.BytesIO()
    writer = StreamWriter(body.write)
    damaged: set[RecordHash] = set()
    sent = sum(send_named(vault, writer, names, Watch(), damaged))
    writer.end()
    body.seek(0)
    records = [record for frame in StreamReader(body) for record in frame.records]
    assert sent == len(records)
    return records, damaged


def test_a_damaged_byte_costs_one_record_and_what_is_lost_is_left_out(alice: Vault) -> None:
    """The rest of the stretch, and of the exchange, comes all the same."""
    everything = _shared(alice)
    (path,) = (alice.dot / "packs").iterdir()
    whole = path.read_bytes()
    data = bytearray(whole)
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    sent, _ = _after(alice)
    wrong = [record for (record, _), stored in zip(everything, sent, strict=True) if not is_record(record, stored)]
    assert len(wrong) == 1
    named, damaged = _named(alice, [record for record, _ in everything])
    assert (set(named), damaged) == (set(sent), set(wrong))
    path.write_bytes(whole[: len(whole) // 2])
    damaged = set()
    sent, reached = _after(alice, damaged=damaged)
    assert damaged == {record for record, stored in _shared(alice) if not stored}
    assert sent == [stored for _, stored in _shared(alice) if stored]
    assert len(everything) // 4 < len(sent) < len(everything)
    assert reached <= [not stored for _, stored in _shared(alice)].index(True), "else nobody asks for the rest again"


def test_what_begins_as_no_record_is_left_out_and_named(alice: Vault) -> None:
    """Whoever got it could read nothing that follows it, at every sync."""
    everything = _shared(alice)
    (path,) = (alice.dot / "packs").iterdir()
    data = bytearray(path.read_bytes())
    bad = next(record for record, _ in everything if record.markline in data)
    data[data.index(bad.markline)] ^= 1
    path.write_bytes(data)
    damaged: set[RecordHash] = set()
    sent, reached = _after(alice, damaged=damaged)
    assert sent == [stored for record, stored in everything if record != bad]
    assert reached <= [record for record, _ in everything].index(bad)
    assert damaged == {bad}
    assert _named(alice, [bad]) == ([], {bad})


@pytest.mark.parametrize("by_name", [False, True])
def test_what_is_let_go_of_while_it_is_sent_is_left_out(
    alice: Vault, monkeypatch: pytest.MonkeyPatch, by_name: bool
) -> None:
    """LAZ-63, APP-13: a prune beside a slow line ended it with a traceback; the rest is asked for elsewhere."""
    everything = _shared(alice)
    gone = [(name, stored) for name, stored in everything if len(stored) > 4096][-1]
    (p,) = alice.store.rows("SELECT p FROM body WHERE digest = ?", gone[0].digest)[0]

    def pruned(*_: object) -> bytes:
        with alice.writing() as w:
            w.store.forget(p)
        raise PackDamaged("The pack is gone.")

    monkeypatch.setattr(Packs, "stretch", pruned)
    names = [name for name, _ in everything]
    left = {name for name, stored in everything if stored != gone[1]}
    damaged: set[RecordHash] = set()
    if by_name:
        got, damaged = _named(alice, names)
    else:
        got = _after(alice, damaged=damaged)[0]
    assert {name for name in left if any(is_record(name, stored) for stored in got)} == left
    assert len(got) == len(left)
    assert not damaged
