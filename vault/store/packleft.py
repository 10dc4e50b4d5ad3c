"""What writers that did not come to their end left in packs, and how its room is given back (APP-13).

A pack is written before the transaction that names its frames commits. Bytes beyond what the store names are nobody's:
a writer that fails cuts them itself, and of one that was killed the next writer or the next prune does.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from vault.store.numbers import FURTHEST
from vault.store.packio import PackIO

__all__ = ["MAGIC", "Newest", "cut_tail", "highest", "newest", "tail", "take_back"]

MAGIC: Final = b"LACEPCK0"
# Numbers that no lace gives are passed over: whoever counts on after one comes to the end of all numbers.
_LAST: Final = f"SELECT id, CAST(ifnull(size, 0) AS INTEGER) FROM pack WHERE id < {FURTHEST} ORDER BY id DESC LIMIT 1"  # noqa: S608
_NEWEST: Final = (
    "SELECT CAST(ifnull(pack, 0) AS INTEGER), CAST(ifnull(at + stored, 0) AS INTEGER) FROM frame"  # noqa: S608
    f" WHERE id < {FURTHEST} ORDER BY id DESC LIMIT 1"
)
_HIGHEST: Final = (
    f"SELECT max(ifnull((SELECT max(id) FROM pack WHERE id < {FURTHEST}), 0),"  # noqa: S608
    f" ifnull((SELECT max(CAST(pack AS INTEGER)) FROM frame WHERE CAST(pack AS INTEGER) < {FURTHEST}), 0))"
)
_IS_NAMED: Final = (
    "SELECT EXISTS (SELECT 1 FROM pack WHERE id = ?1)"
    " OR EXISTS (SELECT 1 FROM frame WHERE CAST(pack AS INTEGER) = ?1 AND id IN (SELECT frame FROM packed))"
)


class Newest(NamedTuple):
    """The newest pack that the store names.

    Args:
        pack: its number; 0 where there is none.
        size: how many of its bytes are named.
        highest: number of the newest pack, or of that of the newest frame.
        is_sure: whether what is named agrees.
    """

    pack: int
    size: int
    highest: int
    is_sure: bool


def newest(db: sqlite3.Connection) -> Newest:
    """Return the newest pack as the store names it now."""
    last = db.execute(_LAST).fetchone()
    pack, size = (int(last[0]), int(last[1])) if last else (0, 0)
    # Frames are written in their order: the newest ends where its pack does, or a rotten length would be cut to.
    # It lies in the newest pack, unless nothing does, or a pack that is named no more would be written over.
    ends = db.execute(_NEWEST).fetchone() or (0, 0)
    is_empty = size <= len(MAGIC) and ends[0] < pack
    top = max(0, pack, int(ends[0]) if ends[0] < FURTHEST else 0)
    return Newest(pack, size, top, is_sure=is_empty or ends == (pack, size))


def highest(db: sqlite3.Connection) -> int:
    """Return the highest number of a pack that is named anywhere."""
    return max(0, int(db.execute(_HIGHEST).fetchone()[0]))


def tail(last: Newest, io: PackIO, path_of: Callable[[int], Path]) -> int:
    """Return how many bytes at the end of the newest pack nothing names; 0 where that is not sure."""
    if last.pack <= 0 or not last.is_sure:
        return 0
    try:
        fd = io.open_read(path_of(last.pack))
    except OSError:  # a check names it
        return 0
    try:
        return max(0, io.size(fd) - last.size)
    finally:
        io.close(fd)


def cut_tail(last: Newest, io: PackIO, path_of: Callable[[int], Path]) -> None:
    """Cut what `tail` counts; while nobody writes.

    Raises:
        OSError: it cannot be cut.
    """
    if tail(last, io, path_of):
        fd = io.open_append(path_of(last.pack))
        try:
            io.cut(fd, last.size)
        finally:
            io.close(fd)


def take_back(db: sqlite3.Connection, io: PackIO, path_of: Callable[[int], Path], touched: Mapping[int, int]) -> None:
    """Cut and remove what a transaction wrote that was rolled back; what cannot be is left to the next writer.

    It looks once more, and while nobody else may write, at what is named: so it takes nothing of a writer that came
    between.

    Args:
        db: the connection, outside of a transaction.
        io: the file calls.
        path_of: where a pack lies.
        touched: numbers of packs, and how many bytes of each were named before; 0 for one that was begun.
    """
    with suppress(sqlite3.Error, OSError):
        db.execute("BEGIN IMMEDIATE")
        try:
            for pack, size in touched.items():
                if size and db.execute("SELECT size FROM pack WHERE id = ?", (pack,)).fetchone() == (size,):
                    cut_tail(Newest(pack, size, pack, is_sure=True), io, path_of)
                elif not size and not db.execute(_IS_NAMED, (pack,)).fetchone()[0]:
                    io.remove(path_of(pack))
        finally:
            db.execute("ROLLBACK")
