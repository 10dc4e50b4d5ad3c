"""What `lace fsck` asks of the packs, and how it puts right what the store says of them (docs/formats.md section 7)."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from vault.errors import DataError
from vault.files import Unreadable, reason_of
from vault.frames import RAW
from vault.store.packfind import is_proven
from vault.store.packleft import MAGIC
from vault.store.packmend import sum_of
from vault.store.packs import Packs

__all__ = ["damaged", "misfits", "put_right", "remains", "require_readable"]

_ODD: Final = f"length(bases) = 0 AND (depth <> 0 OR (form = {RAW} AND raw <> stored))"
_HOLDS: Final = "id IN (SELECT frame FROM packed)"  # something rests in the frame
_END: Final = f"SELECT max(at + stored) FROM frame WHERE {_HOLDS}"  # noqa: S608
_UNLISTED: Final = f"SELECT DISTINCT pack FROM frame WHERE {_HOLDS} AND pack NOT IN (SELECT id FROM pack)"  # noqa: S608
_FRAME: Final = (
    "SELECT f.id, f.pack, f.at, f.stored, f.pack IN (SELECT id FROM pack)"
    " FROM packed k JOIN frame f ON f.id = k.frame WHERE k.p = ?"
    " AND k.p IN (SELECT p FROM body WHERE bytes = x'')"
)
_NOT_NOW: Final = frozenset({errno.EACCES, errno.EPERM, errno.EMFILE, errno.ENFILE, errno.ENOMEM})


def require_readable(packs: Packs) -> None:
    """Refuse to judge packs that this person may not read now: nothing says that they are damaged.

    Raises:
        Unreadable: a pack is there, and the system does not let it be opened.
    """
    for pack in packs.named():
        try:
            packs.open_once(pack)
        except OSError as error:
            if error.errno in _NOT_NOW:
                raise Unreadable(f"{packs.path(pack)} cannot be read: {reason_of(error)}.") from error


def misfits(db: sqlite3.Connection, packs: Packs) -> Iterator[tuple[str, str]]:
    """Yield the packs whose first bytes, number or length are wrong, or what is said of a frame, with a sentence."""
    for (pack,) in db.execute(f"SELECT DISTINCT pack FROM frame WHERE {_ODD}").fetchall():  # noqa: S608
        name = packs.path(int(pack)).name
        yield name, f"What is said of the raw size or depth of a frame of {name} cannot be."
    for (pack,) in db.execute(_UNLISTED).fetchall():
        name = packs.path(int(pack)).name
        # Believed, its file would be removed, or written over.
        yield name, f"Content rests in the pack {name}, which the store does not list."
    for pack in _of_nothing(db, packs):
        name = packs.path(pack).name
        yield name, f"The store lists the pack {name}, which is not there, and in which nothing rests."
    for pack, size, end in db.execute(
        f"SELECT p.id, p.size, ({_END} AND pack = p.id) FROM pack p"  # noqa: S608
    ).fetchall():
        name = packs.path(int(pack)).name
        if end is not None and int(size) < int(end):
            # Believed, the next writer would cut off what lies beyond.
            yield name, f"The pack {name} is named with {size} bytes, and what rests in it takes {end}."
        with suppress(DataError):  # one that cannot be read is named with its frames
            if end is not None and packs.stretch(int(pack), 0, len(MAGIC)) != MAGIC:
                yield name, f"The pack {name} does not begin as packs do."


def put_right(db: sqlite3.Connection, packs: Packs) -> None:
    """Mend what `misfits` names; inside a transaction.

    Raises:
        NotWritable, DiskFull: a pack cannot be written.
    """
    wrong = {name for name, _ in misfits(db, packs)}
    listed = [(int(row[0]), 0) for row in db.execute(_UNLISTED) if packs.path(int(row[0])).is_file()]
    db.executemany("INSERT INTO pack VALUES (?, ?)", listed)
    db.executemany("DELETE FROM pack WHERE id = ?", [(pack,) for pack in _of_nothing(db, packs)])
    db.execute(f"UPDATE pack SET size = max(size, ifnull(({_END} AND frame.pack = pack.id), 0))")  # noqa: S608
    db.execute(f"UPDATE frame SET depth = 0, raw = iif(form = {RAW}, stored, raw) WHERE {_ODD}")  # noqa: S608
    _sum_anew(db, packs)
    for pack in packs.named():
        if packs.path(pack).name in wrong and packs.path(pack).is_file():
            packs.begin_right(pack)


def damaged(db: sqlite3.Connection, packs: Packs) -> Iterator[tuple[str, str, list[int]]]:
    """Yield the packs that are not as they were written, with what is wrong and the positions of what is lost by it.

    A record that proves itself is not lost: then what rotted is what is said of its frame.
    """
    for frame, place, problem in _unlike(db, packs):
        name = packs.path(place[0]).name
        rows = db.execute("SELECT p FROM packed WHERE frame = ?", (frame,)).fetchall()
        lost = [int(row[0]) for row in rows if not is_proven(db, packs, int(row[0]))]
        yield name, problem if lost else f"what is said of the bytes of {name} from {place[1]} on is not so", lost


def remains(db: sqlite3.Connection, packs: Packs, p: int) -> Iterator[tuple[str, bytes]]:
    """Yield what is there of the frame in which a record rests, unproven, each with a name for a file of it.

    That is its stored bytes, as far as the pack goes, and those that it was compressed against, without which they are
    of no use. Where the store lists no such pack its number rotted, and it may be what lies at that offset of any.
    """
    for frame, pack, at, stored, is_listed in db.execute(_FRAME, (p,)).fetchall():
        with suppress(DataError):
            yield f"frame-{frame}.bin", packs.remainder(pack, at, stored)
        for other in () if is_listed else packs.there():
            with suppress(DataError):
                yield f"frame-{frame}-pack-{other}.bin", packs.stretch(other, at, stored)
        with suppress(DataError):
            yield f"frame-{frame}-base.bin", packs.prefix_of(int(frame))


def _unlike(db: sqlite3.Connection, packs: Packs) -> Iterator[tuple[int, tuple[int, int, int], str]]:
    """Yield the frames in which something rests and whose stored bytes have another sum, with pack, place and why."""
    for frame, pack, at, stored, known in db.execute(
        "SELECT id, pack, at, stored, sum FROM frame f WHERE EXISTS (SELECT 1 FROM packed WHERE frame = f.id)"
        " ORDER BY id"
    ).fetchall():
        place = int(pack), int(at), int(stored)
        try:
            same = sum_of(packs, *place) == bytes(known)
            problem = f"the bytes of {packs.path(place[0]).name} from {at} on are not those that were written"
        except DataError as error:
            same, problem = False, error.message.rstrip(".")
        if not same:
            yield int(frame), place, problem


def _sum_anew(db: sqlite3.Connection, packs: Packs) -> None:
    """Write the sums anew of frames of which everything that rests there proves itself."""
    for frame, place, _ in list(_unlike(db, packs)):
        rows = db.execute("SELECT p FROM packed WHERE frame = ?", (frame,)).fetchall()
        with suppress(DataError):
            if all(is_proven(db, packs, int(row[0])) for row in rows):
                db.execute("UPDATE frame SET sum = ? WHERE id = ?", (sum_of(packs, *place), frame))


def _of_nothing(db: sqlite3.Connection, packs: Packs) -> list[int]:
    """Return the numbers that no pack has and that are listed all the same; what is let go of is not listed."""
    rows = db.execute("SELECT id FROM pack WHERE id NOT IN (SELECT pack FROM frame)").fetchall()
    return [int(row[0]) for row in rows if int(row[0]) < 1 or not packs.path(int(row[0])).is_file()]
