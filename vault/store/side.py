"""Reading records that lie side by side: one question for some hundred, one read for each stretch of a pack.

A large file is thousands of chunks that were stored in its order. Each is still compared with its own hash.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from vault.frames import RAW
from vault.records import RecordHash
from vault.records.hashes import is_record
from vault.store.database import select_in
from vault.store.packs import PackDamaged, Packs

__all__ = ["Place", "places", "read_side_by_side"]

_WHERE: Final = f"""
SELECT b.digest, r.size, f.pack, f.at + k.at, k.size FROM body b JOIN rec r USING (p) JOIN packed k USING (p)
JOIN frame f ON f.id = k.frame WHERE f.form = {RAW} AND r.size > 0 AND b.kind = 'P' AND b.digest IN"""  # noqa: S608
_STRETCH: Final = 1 << 20  # bytes read at once
_GAP: Final = 64 << 10  # bytes between two records, such as a manifest, that are read and passed over


class Place(NamedTuple):
    """Where a bare record rests as it is: the bytes of its Blob, and pack, offset and bytes of all of it."""

    blob: int
    pack: int
    at: int
    size: int


def places(db: sqlite3.Connection, records: Sequence[RecordHash]) -> dict[bytes, Place]:
    """Return, by digest, where those of some bare records rest that have a Blob and rest in a pack as they are."""
    digests = list(dict.fromkeys(record.digest for record in records if record.kind == "P"))
    return {bytes(digest): Place(*map(int, place)) for digest, *place in select_in(db, _WHERE, digests)}


def read_side_by_side(
    packs: Packs, records: Sequence[RecordHash], found: dict[bytes, Place]
) -> Iterator[memoryview | None]:
    """Yield the Blob's bytes of each record in order, compared with its hash; None for what must be read by itself.

    At most 1 MiB and a record are in memory at once.
    """
    run: list[tuple[RecordHash, Place]] = []
    for record in records:
        place = found.get(record.digest) if record.kind == "P" else None
        if run and (place is None or not _goes_on(run[0][1], run[-1][1], place)):
            yield from _read(packs, run)
            run = []
        if place is None:
            yield None
        else:
            run.append((record, place))
    if run:
        yield from _read(packs, run)


def _goes_on(first: Place, last: Place, place: Place) -> bool:
    end = last.at + last.size
    return place.pack == first.pack and end <= place.at <= end + _GAP and place.at - first.at < _STRETCH


def _read(packs: Packs, run: Sequence[tuple[RecordHash, Place]]) -> Iterator[memoryview | None]:
    start, last = run[0][1].at, run[-1][1]
    try:
        stretch = memoryview(packs.stretch(last.pack, start, last.at + last.size - start))
    except PackDamaged:  # which of them it is shows when each is read by itself
        yield from (None for _ in run)
        return
    for record, place in run:
        stored = stretch[place.at - start : place.at - start + place.size]
        yield stored[-place.blob :] if is_record(record, stored) else None
