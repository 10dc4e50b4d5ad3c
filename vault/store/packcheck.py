"""What `lace fsck` asks of the packs, and how it puts right what the store says of them (docs/formats.md section 7)."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from blake3 import blake3

from vault.errors import DataError
from vault.files import Unreadable, reason_of
from vault.frames import RAW
from vault.store.packs import MAGIC, SUM_BYTES, Packs

__all__ = ["damaged", "misfits", "put_right", "require_readable"]

_ODD: Final = f"length(bases) = 0 AND (depth <> 0 OR (form = {RAW} AND raw <> stored))"
_NOT_NOW: Final = frozenset({errno.EACCES, errno.EPERM, errno.EMFILE, errno.ENFILE, errno.ENOMEM})


def require_readable(db: sqlite3.Connection, packs: Packs) -> None:
    """Refuse to judge packs that this person may not read now: nothing says that they are damaged.

    Raises:
        Unreadable: a pack is there, and the system does not let it be opened.
    """
    for pack in _named(db):
        try:
            packs.open_once(pack)
        except OSError as error:
            if error.errno in _NOT_NOW:
                raise Unreadable(f"{packs.path(pack)} cannot be read: {reason_of(error)}.") from error


def misfits(db: sqlite3.Connection, packs: Packs) -> Iterator[tuple[str, str]]:
    """Yield the packs whose first bytes or named length are wrong, or what is said of a frame, with a sentence."""
    for (pack,) in db.execute(f"SELECT DISTINCT pack FROM frame WHERE {_ODD}").fetchall():  # noqa: S608
        name = packs.path(int(pack)).name
        yield name, f"What is said of the raw size or depth of a frame of {name} cannot be."
    for pack, size, end in db.execute(
        "SELECT p.id, p.size, (SELECT max(at + stored) FROM frame WHERE pack = p.id) FROM pack p"
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
    db.execute("UPDATE pack SET size = max(size, ifnull((SELECT max(at + stored) FROM frame WHERE pack = pack.id), 0))")
    db.execute(f"UPDATE frame SET depth = 0, raw = iif(form = {RAW}, stored, raw) WHERE {_ODD}")  # noqa: S608
    for pack in _named(db):
        if packs.path(pack).name in wrong:
            packs.begin_right(pack)


def damaged(db: sqlite3.Connection, packs: Packs) -> Iterator[tuple[str, list[int]]]:
    """Yield what is wrong with the packs as they rest, with the positions of the records that lie there."""
    for frame, pack, at, stored, known in db.execute(
        "SELECT id, pack, at, stored, sum FROM frame f WHERE EXISTS (SELECT 1 FROM packed WHERE frame = f.id)"
        " ORDER BY id"
    ).fetchall():
        name = packs.path(int(pack)).name
        try:
            same = blake3(packs.stretch(int(pack), int(at), int(stored))).digest()[:SUM_BYTES] == bytes(known)
            problem = f"the bytes of {name} from {at} on are not those that were written"
        except DataError as error:
            same, problem = False, error.message.rstrip(".")
        if not same:
            rows = db.execute("SELECT p FROM packed WHERE frame = ?", (frame,))
            yield problem, [int(row[0]) for row in rows]


def _named(db: sqlite3.Connection) -> list[int]:
    return [int(row[0]) for row in db.execute("SELECT id FROM pack")]
