"""Reading records that lie side by side: one question for some hundred, one read for each stretch of a pack.

A large file is thousands of chunks that were stored in its order. Each is still compared with its own hash, unless the
reader waits for the digest of all of them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from vault.errors import DataError
from vault.frames import RAW
from vault.records import RecordHash
from vault.records.hashes import is_record
from vault.store.database import select_in
from vault.store.packread import PackDamaged, PackReader

__all__ = ["BlobSlot", "ReadAhead", "Row", "blobs", "rows_of", "slots_of"]

_WHERE: Final = f"""
SELECT b.digest, r.size, f.pack, f.at + k.at, k.size FROM body b JOIN rec r USING (p) JOIN packed k USING (p)
JOIN frame f ON f.id = k.frame WHERE f.form = {RAW} AND b.kind = 'P' AND b.digest IN"""  # noqa: S608
# What lies in its row is in no pack, so that nothing more is looked up of it.
_ROWS: Final = """
SELECT b.kind, b.digest, b.p, CASE WHEN length(b.bytes) < 4096 THEN b.bytes ELSE x'' END, k.p,
    ifnull(length(f.bases), 0), f.form, r.size, f.pack, f.at + k.at, k.size
FROM body b LEFT JOIN packed k ON k.p = b.p AND length(b.bytes) = 0 LEFT JOIN rec r ON r.p = k.p
LEFT JOIN frame f ON f.id = k.frame WHERE """
_BY_DIGEST, _BY_POSITION = f"{_ROWS} b.digest IN", f"{_ROWS} b.p IN"
_new = tuple.__new__  # what is not as it is asked for is not found
_STRETCH: Final = 1 << 20  # bytes read at once
_GAP: Final = 64 << 10  # bytes between two records, such as a manifest, that are read and passed over


class BlobSlot(NamedTuple):
    """Where a bare record rests as it is: the bytes of its Blob, and pack, offset and bytes of all of it."""

    blob: int
    pack: int
    at: int
    size: int


def slots_of(db: sqlite3.Connection, records: Sequence[RecordHash]) -> dict[bytes, BlobSlot]:
    """Return, by digest, where those of some bare records rest that lie in a pack as they are."""
    digests = list(dict.fromkeys(record.digest for record in records if record.kind == "P"))
    return {bytes(digest): BlobSlot(*map(int, place)) for digest, *place in select_in(db, _WHERE, digests)}


def blobs(
    packs: PackReader, records: Sequence[RecordHash], found: dict[bytes, BlobSlot], *, is_proven: bool = True
) -> Iterator[memoryview | None]:
    """Yield the Blob's bytes of each record in order; None for what must be read by itself.

    Each is compared with its hash, unless the caller proves it all at once (`is_proven`). At most 1 MiB and two records
    are in memory at once.
    """
    at = 0
    while at < len(records):
        record = records[at]
        place = found.get(record.digest) if record.kind == "P" else None
        if place is None or not place.blob:
            yield None
            at += 1
            continue
        for stored, lies in read_on(packs, records, at, found, is_proven=is_proven):
            yield stored[-lies.blob :] if stored is not None and lies.blob else None
            at += 1


def read_on(
    packs: PackReader, records: Sequence[RecordHash], at: int, found: dict[bytes, BlobSlot], *, is_proven: bool = True
) -> list[tuple[memoryview | None, BlobSlot]]:
    """Return the stored bytes of the record with number `at`, and of those after it that lie behind it in its pack.

    Each is compared with its hash, and None where it is not that record's; see `blobs` for `is_proven`.
    """
    first = last = found[records[at].digest]
    run = [(records[at], first)]
    for record in records[at + 1 :]:
        place = found.get(record.digest) if record.kind == "P" else None
        if place is None or not _goes_on(first, last, place):
            break
        run.append((record, place))
        last = place
    try:
        stretch = memoryview(packs.stretch(first.pack, first.at, last.at + last.size - first.at))
    except PackDamaged:  # which of them it is shows when each is read by itself
        return [(None, place) for _, place in run]
    read: list[tuple[memoryview | None, BlobSlot]] = []
    for record, place in run:
        stored = stretch[place.at - first.at : place.at - first.at + place.size]
        read.append((stored if not is_proven or is_record(record, stored) else None, place))
    return read


def _goes_on(first: BlobSlot, last: BlobSlot, place: BlobSlot) -> bool:
    end = last.at + last.size
    return place.pack == first.pack and end <= place.at <= end + _GAP and place.at - first.at < _STRETCH


class Row(NamedTuple):
    """A record here: its position, its bytes where they are few and in the row, and whether it rests on others."""

    p: int
    stored: bytes
    is_packed: bool
    rests_on_others: bool


def rows_of(
    db: sqlite3.Connection, records: Sequence[RecordHash], positions: Sequence[int] = ()
) -> tuple[dict[RecordHash, Row], dict[bytes, BlobSlot]]:
    """Return what the store says of some hundred records, and where they rest, as `slots_of` does, in one question.

    Args:
        db: the store's connection.
        records: which; those that are not here are left out.
        positions: of the records, where they are known: to seek digests takes longer than to read what is small.
    """
    if positions:
        answers = select_in(db, _BY_POSITION, positions)
    else:
        answers = select_in(db, _BY_DIGEST, list(dict.fromkeys(record.digest for record in records)))
    rows: dict[RecordHash, Row] = {}
    found: dict[bytes, BlobSlot] = {}
    for kind, digest, p, stored, packed, bases, form, blob, pack, at, size in answers:
        rows[_new(RecordHash, (kind, digest))] = _new(Row, (p, stored, packed is not None, bases > 0))
        if form == RAW and kind == "P" and blob is not None:
            found[bytes(digest)] = BlobSlot(*map(int, (blob, pack, at, size)))
    return rows, found


class ReadAhead:
    """The stored bytes of records that are asked for one after the other, read in stretches.

    Args:
        packs: where they rest.
        records: in the order in which they are asked for; one that is not asked for costs nothing more.
        here: see `rows_of`.
        found: the same.
    """

    def __init__(
        self,
        packs: PackReader,
        records: Sequence[RecordHash],
        here: dict[RecordHash, Row],
        found: dict[bytes, BlobSlot],
    ) -> None:
        self._packs = packs
        self._here = here
        self._records = records
        self._found = found
        self._numbers = {record: number for number, record in enumerate(records)}
        self._read: dict[RecordHash, memoryview] = {}

    def rests_alone(self, record: RecordHash) -> bool:
        """Tell whether a record rests on no other record."""
        row = self._here.get(record)
        return row is not None and not row.rests_on_others

    def stored(self, record: RecordHash) -> bytes | memoryview | None:
        """Return the bytes of one of the records; None when it must be read by itself.

        What is at most a few KiB and lies in its row is not proven: whoever takes much of that hashes it anyway.

        A view keeps the stretch in memory that was read at once, so it is not for keeping.
        """
        row = self._here.get(record)
        if row is not None and row.stored:
            return row.stored if type(row.stored) is bytes else None  # or its cell rotted into one of text
        stored = self._read.pop(record, None)
        if stored is None and record.kind == "P" and record.digest in self._found and record in self._numbers:
            at = self._numbers[record]
            read = read_on(self._packs, self._records, at, self._found)
            self._read = {
                each: found for each, (found, _) in zip(self._records[at:], read, strict=False) if found is not None
            }
            stored = self._read.pop(record, None)
        if stored is None and row is not None and row.is_packed:
            return self._unpacked(record, row.p)
        return stored

    def _unpacked(self, record: RecordHash, p: int) -> bytes | None:
        try:
            found = self._packs.read(p) or b""
        except DataError:  # what is wrong with it is said when it is read by itself
            return None
        return found if is_record(record, found) else None
