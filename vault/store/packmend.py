"""What the store says of frames, put right by what proves itself (APP-13; docs/formats.md section 6).

Nobody watches the cells of `frame` and `packed`, and one that rotted must not cost the records that rest there. The
stored bytes of a frame prove themselves by their sum and say of themselves how they decode, how deep a frame is follows
from its bases, and each record is its own hash.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator
from contextlib import suppress
from typing import Final, NamedTuple

from blake3 import blake3

from vault.errors import DataError
from vault.frames import MAX_DEPTH, shown_form, shown_length
from vault.records.hashes import is_record
from vault.store.numbers import FURTHEST
from vault.store.packfind import deepen, find_again, is_proven, record_at
from vault.store.packleft import MAGIC
from vault.store.packread import PackReader
from vault.store.packs import SUM_BYTES

__all__ = ["mend_frames", "sum_of"]

_HELD: Final = (
    "SELECT id, pack, at, stored, raw, form, sum FROM frame WHERE id IN (SELECT frame FROM packed) ORDER BY id"
)
_BEFORE: Final = "SELECT pack, at + stored FROM frame WHERE id < ? ORDER BY id DESC LIMIT 1"
_AFTER: Final = "SELECT pack, at FROM frame WHERE id > ? ORDER BY id LIMIT 1"
_END: Final = "SELECT size FROM pack WHERE id = ?"
_RESTING: Final = "SELECT p, at, size FROM packed WHERE frame = ? AND p IN (SELECT p FROM body WHERE bytes = x'')"
_BODIES: Final = "SELECT p FROM body WHERE bytes = x'' AND p NOT IN (SELECT p FROM packed)"
_PLACES: Final = "SELECT p FROM packed WHERE p NOT IN (SELECT p FROM body WHERE bytes = x'')"
_UNNAMED: Final = "SELECT frame, min(p), at, size FROM packed WHERE frame NOT IN (SELECT id FROM frame) GROUP BY frame"
# Frames with room at an offset where no record begins, and whether nothing rests in them at all.
_FREE: Final = (
    "SELECT id, id NOT IN (SELECT frame FROM packed) FROM frame f WHERE raw - ? >= ?"
    " AND NOT EXISTS (SELECT 1 FROM packed WHERE frame = f.id AND at = ?)"
)


class _Place(NamedTuple):
    """Where the stored bytes of a frame lie."""

    pack: int
    at: int
    stored: int


def sum_of(packs: PackReader, pack: int, at: int, stored: int) -> bytes:
    """Return the sum over a stretch of a pack, as a frame keeps it.

    Raises:
        PackDamaged: it is not all there.
    """
    return blake3(packs.stretch(pack, at, stored)).digest()[:SUM_BYTES]


def mend_frames(db: sqlite3.Connection, packs: PackReader, doubtful: Collection[int]) -> None:
    """Put right what is said of frames in which something rests, and of where it rests there; inside a transaction.

    A frame is taken to lie where its sum says so: where it is named, or, if one cell of that rotted, in any pack that
    is there, or between those that were written before and after it. Nothing is put right that is not proven, but for
    depths, which are only bounds. Of a frame that is not whole the records before the damage are brought into rows.

    Args:
        db: the store's connection.
        packs: its packs.
        doubtful: positions of the records that did not prove themselves.
    """
    broken = {int(row[0]) for row in db.execute(_HELD).fetchall() if not _mend_frame(db, packs, *row)}
    deepen(db, packs)
    _reunite(db, packs)
    deepen(db, packs)
    for _ in range(MAX_DEPTH):  # what was brought out may be what another one rests on
        if not sum(_bring_out(db, packs, frame) for frame in sorted(broken)):
            break
        deepen(db, packs)
    find_again(db, packs, doubtful, broken)


def _mend_frame(
    db: sqlite3.Connection,
    packs: PackReader,
    frame: int,
    pack: int,
    at: int,
    stored: int,
    raw: int,
    form: int,
    known: bytes,
) -> bool:
    """Put right where a frame lies and how it decodes; tell whether its sum proves that."""
    for place in _places(db, packs, frame, _Place(pack, at, stored), raw):
        with suppress(DataError):
            if sum_of(packs, *place) == bytes(known):
                now = (*place, *shown_form(packs.stretch(*place)))
                if now != (pack, at, stored, form, raw):
                    db.execute(
                        "UPDATE frame SET pack = ?, at = ?, stored = ?, form = ?, raw = ? WHERE id = ?", (*now, frame)
                    )
                return True
    return False


def _bring_out(db: sqlite3.Connection, packs: PackReader, frame: int) -> int:
    """Bring records of a frame that is not whole into rows of their own, each that proves itself; return how many."""
    with suppress(DataError):
        packs.whole(frame)
        return 0  # it is there; each record of it is proven by itself
    found = 0
    with suppress(DataError):
        data = packs.beginning(frame)
        for p, at, size in db.execute(_RESTING, (frame,)).fetchall() if data else ():
            record, stored = record_at(db, p), data[at : at + size] if 0 <= at <= at + size <= len(data) else b""
            if record is not None and is_record(record, stored):
                db.execute("UPDATE body SET bytes = ? WHERE p = ?", (stored, p))
                db.execute("DELETE FROM packed WHERE p = ?", (p,))
                found += 1
    return found


def _places(db: sqlite3.Connection, packs: PackReader, frame: int, named: _Place, raw: int) -> Iterator[_Place]:
    """Yield where the stored bytes of a frame may lie if at most one cell of that is wrong."""
    yield named
    before, after = db.execute(_BEFORE, (frame,)).fetchone(), db.execute(_AFTER, (frame,)).fetchone()
    there = packs.there()
    for pack in there.keys() - {named.pack}:
        yield named._replace(pack=pack)
    yield named._replace(at=before[1] if before is not None and before[0] == named.pack else len(MAGIC))
    yield named._replace(stored=raw)
    with suppress(DataError):  # it was not compressed, or is not there
        most = min(raw, there.get(named.pack, 0) - named.at)
        yield named._replace(stored=shown_length(packs.stretch(named.pack, named.at, most)))
    end = db.execute(_END, (named.pack,)).fetchone()
    for limit in ([after[1]] if after is not None and after[0] == named.pack else []) + ([end[0]] if end else []):
        yield named._replace(at=limit - named.stored)
        yield named._replace(stored=limit - named.at)


def _reunite(db: sqlite3.Connection, packs: PackReader) -> None:
    """Bring a frame and a record together again with what rests there, where the number of one of them rotted."""
    for frame, p, at, size in db.execute(_UNNAMED).fetchall():
        for other, is_empty in db.execute(_FREE, (at, size, at)).fetchall():
            if is_empty and 0 < frame < FURTHEST:
                change = "UPDATE frame SET id = ? WHERE id = ?", frame, other
            else:
                change = "UPDATE packed SET frame = ? WHERE frame = ?", other, frame
            if _proves(db, packs, change, int(p)):
                break
    for (place,) in db.execute(_PLACES).fetchall():
        for (body,) in db.execute(_BODIES).fetchall():
            if _is_old(db, place):
                change, p = ("UPDATE body SET p = ? WHERE p = ?", place, body), place
            else:
                change, p = ("UPDATE packed SET p = ? WHERE p = ?", body, place), body
            if _proves(db, packs, change, int(p)):
                break


def _is_old(db: sqlite3.Connection, p: int) -> bool:
    """Tell whether a record had this position when the views were written, so that it is the record's that rotted."""
    try:
        row = db.execute("SELECT p IN (SELECT p FROM body) FROM rec WHERE p = ?", (p,)).fetchone()
        return row is not None and not row[0]  # one that is there has bytes of its own
    except sqlite3.DatabaseError:
        return False  # the view is gone


def _proves(db: sqlite3.Connection, packs: PackReader, change: tuple[str, int, int], p: int) -> bool:
    """Make a change, and take it back unless the record at position `p` then proves itself."""
    db.execute("SAVEPOINT change")
    db.execute(change[0], change[1:])
    packs.read_anew()
    proven = is_proven(db, packs, p)
    if not proven:
        db.execute("ROLLBACK TO change")
    db.execute("RELEASE change")
    return proven
