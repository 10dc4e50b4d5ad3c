"""Where a record rests, found again by its own hash (APP-13; docs/formats.md section 6).

Nobody watches the cells of `packed` and the bases of `frame`. Where one rotted, the bytes of a record still lie whole
in its pack: it is looked for in the room that its frame has left, and in the other frames that have room where it
stood; and for a base that is wrong others are tried. Nothing is put right but what the hash of a record proves then.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from typing import Final, NamedTuple

from vault.errors import DataError
from vault.frames import MAX_DEPTH
from vault.records import RecordHash
from vault.records.hashes import is_record
from vault.store.database import select_in
from vault.store.numbers import FURTHEST
from vault.store.packread import PackReader, numbers_of

__all__ = ["deepen", "find_again", "is_proven", "record_at"]

_NAME: Final = "SELECT CAST(kind AS BLOB), CAST(digest AS BLOB), CAST(bytes AS BLOB) FROM body WHERE p = ?"
_RESTS: Final = "SELECT frame, at, size FROM packed WHERE p = ? AND p IN (SELECT p FROM body WHERE bytes = x'')"
_BESIDE: Final = "SELECT p, at, size FROM packed WHERE frame = ? ORDER BY at"
_OTHERS: Final = (
    "SELECT id FROM frame f WHERE id <> ?1 AND raw >= ?2 + ?3"
    " AND NOT EXISTS (SELECT 1 FROM packed WHERE frame = f.id AND at < ?2 + ?3 AND at + size > ?2)"
    " ORDER BY abs(id - ?1) LIMIT ?4"
)
_MOST_FRAMES: Final = 64  # that are tried for one record; without a prune only one has room
_EARLIER: Final = "SELECT p FROM body WHERE p < ? ORDER BY p DESC LIMIT ?"
_MOST_BASES: Final = 500  # that are tried for one frame
_BITS: Final = 26  # of an offset in a frame, and of a size


class _Place(NamedTuple):
    """Where a record rests: in which frame, and where in its decoded bytes."""

    frame: int
    at: int
    size: int


def is_proven(db: sqlite3.Connection, packs: PackReader, p: int) -> bool:
    """Tell whether what is read from the packs for position `p` is the record that has it (REC-5)."""
    record = record_at(db, p)
    try:
        return record is not None and is_record(record, packs.read(p) or b"")
    except DataError:
        return False


def deepen(db: sqlite3.Connection, packs: PackReader) -> None:
    """Make each frame just deeper than those that it rests on; one that rests on itself stays too deep to be read."""
    depths: dict[int, int] = dict(db.execute("SELECT id, 0 FROM frame").fetchall())
    resting = packs.frames_below()
    for _ in range(MAX_DEPTH):
        for frame, below in resting.items():
            depths[frame] = min(MAX_DEPTH, max((depths.get(base, 0) + 1 for base in below), default=1))
    rows = [(depth, frame) for frame, depth in depths.items()]
    db.executemany("UPDATE frame SET depth = ?1 WHERE id = ?2 AND depth <> ?1", rows)
    packs.read_anew()


def find_again(db: sqlite3.Connection, packs: PackReader, doubtful: Collection[int], broken: Collection[int]) -> None:
    """Put right where these records rest, and what their frames rest on; inside a transaction.

    What is found brings back what rests on it, so it goes on while something is.

    Args:
        db: the store's connection.
        packs: its packs, with what is said of the frames put right already.
        doubtful: positions of the records that did not prove themselves.
        broken: numbers of the frames whose own bytes are not those that were written; what stands rightly in them is
            not looked for, so that many of them cost no more than few.
    """
    left = sorted(doubtful)
    for _ in range(2 * MAX_DEPTH):
        left = [p for p in left if not is_proven(db, packs, p)]
        unproven = frozenset(left)
        found = sum(_find_place(db, packs, p, unproven, broken) for p in left)
        if not found:
            frames = {int(row[0]) for p in left for row in db.execute(_RESTS, (p,)).fetchall()}.difference(broken)
            found = sum(_find_bases(db, packs, frame) for frame in sorted(frames))
        if not found:
            return


def _find_place(
    db: sqlite3.Connection, packs: PackReader, p: int, doubtful: Collection[int], broken: Collection[int]
) -> bool:
    """Look for the place of one record, and put it right; tell whether it was found."""
    row, record = db.execute(_RESTS, (p,)).fetchone(), record_at(db, p)
    if row is None or record is None:
        return False
    for place in _places(db, packs, p, _Place(*row), doubtful, broken):
        try:
            found = is_record(record, packs.part(*place))
        except DataError:
            continue
        if found:
            db.execute("UPDATE packed SET frame = ?, at = ?, size = ? WHERE p = ?", (*place, p))
            deepen(db, packs)
            return True
    return False


def _places(
    db: sqlite3.Connection,
    packs: PackReader,
    p: int,
    named: _Place,
    doubtful: Collection[int],
    broken: Collection[int],
) -> Iterator[_Place]:
    """Yield where a record may rest if at most one cell of its place is wrong."""
    beside = [(int(at), int(size), other) for other, at, size in db.execute(_BESIDE, (named.frame,)) if other != p]
    fits = all(at >= named.at + named.size or at + size <= named.at for at, size, _ in beside)
    if named.frame in broken and fits:
        return
    with suppress(DataError):  # it does not decode, or is not named
        raw = len(packs.whole(named.frame))
        taken = [(at, at + size) for at, size, other in beside if other not in doubtful]
        for at, size in _stretches(named, taken, raw):
            if 0 <= at < at + size <= raw:
                yield _Place(named.frame, at, size)
    if 0 <= named.at <= named.at + named.size < FURTHEST:
        for (frame,) in db.execute(_OTHERS, (*named, _MOST_FRAMES)).fetchall():
            yield named._replace(frame=int(frame))


def _stretches(named: _Place, taken: Sequence[tuple[int, int]], raw: int) -> Iterator[tuple[int, int]]:
    """Yield offset and size of what a record may take of its frame.

    Records lie side by side there, so it fills the room between two others. Where one of them was pruned there is more
    room than it takes, and one bit of its offset or size is wrong.
    """
    begin = 0
    for start, end in [*taken, (raw, raw)]:
        if begin < start:
            yield begin, start - begin
            yield begin, named.size
            yield start - named.size, named.size
            yield named.at, start - named.at
        begin = max(begin, end)
    for bit in range(_BITS):
        yield named.at ^ 1 << bit, named.size
        yield named.at, named.size ^ 1 << bit


def _find_bases(db: sqlite3.Connection, packs: PackReader, frame: int) -> bool:
    """Look for the base of a frame that is wrong, one in the place of another; tell whether more proves itself then."""
    named = packs.bases_of(frame)
    if not named:  # nor has a frame any that is named no more
        return False
    slots = _wrong_bases(db, packs, frame, named)
    rows = db.execute(_BESIDE, (frame,)).fetchall()
    held = [(record, int(at), int(size)) for p, at, size in rows if (record := record_at(db, int(p))) is not None]
    most, chosen = sum(is_proven(db, packs, int(row[0])) for row in rows), None
    for slot, p in _other_bases(db, named, slots, min(row[0] for row in rows)):
        bases = [*named[:slot], p, *named[slot + 1 :]]
        try:
            data = packs.decoded_on(frame, bases)
        except DataError:
            continue
        proven = sum(is_record(record, data[at : at + size]) for record, at, size in held)
        if proven > most:
            most, chosen = proven, bases
        if most == len(rows):
            break
    if chosen is not None:
        db.execute("UPDATE frame SET bases = ? WHERE id = ?", (numbers_of(chosen), frame))
        deepen(db, packs)
    return chosen is not None


def _wrong_bases(db: sqlite3.Connection, packs: PackReader, frame: int, named: Sequence[int]) -> list[int]:
    """Return which bases of a frame may be wrong: those that are not there, or else all; none if one is damaged."""
    (depth,) = db.execute("SELECT depth FROM frame WHERE id = ?", (frame,)).fetchone()
    gone = []
    for slot, p in enumerate(named):
        row = db.execute(_NAME, (p,)).fetchone() if p < FURTHEST else None
        if row is None:
            gone.append(slot)
        elif not row[2] and not is_proven(db, packs, p):
            if depth < MAX_DEPTH:  # the fault lies there
                return []
            gone.append(slot)  # the frame rests on itself
    return gone or list(range(len(named)))


def _other_bases(
    db: sqlite3.Connection, named: Sequence[int], slots: Sequence[int], first: int
) -> Iterator[tuple[int, int]]:
    """Yield what may stand in which place of the bases: one with a bit changed, then each record that came before."""
    for slot in slots:
        near = [named[slot] ^ 1 << bit for bit in range(64)]
        for (p,) in select_in(db, "SELECT p FROM body WHERE p IN", [p for p in near if p < FURTHEST]):
            yield slot, int(p)
    for slot in slots:
        for (p,) in db.execute(_EARLIER, (first, _MOST_BASES // len(slots))).fetchall():
            yield slot, int(p)


def record_at(db: sqlite3.Connection, p: int) -> RecordHash | None:
    """Return which record has a position; None where that rotted."""
    row = db.execute(_NAME, (p,)).fetchone()
    try:
        return None if row is None else RecordHash(bytes(row[0]).decode("utf-8", "replace"), bytes(row[1]))
    except DataError:
        return None
