"""The first bytes of a store's file, by which SQLite knows how to read all others (APP-13).

Most of them are the same in every store. Where one rotted SQLite opens the file not at all, or for reading only.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import Final

from vault.files import make_directory, refuse_write, write_atomic

__all__ = ["mend_head"]

_BYTES: Final = 100
_PAGE: Final = 4096  # bytes; SQLite's own choice, which no lace changed
_PAGE_AT, _PAGE_SIZES = 16, frozenset(1 << bits for bits in range(9, 16))
_NO_LOG_AT, _NO_LOG = 18, b"\1\1"  # on a disk where SQLite can have none
_MOST: Final = 8  # bytes that are wrong; with more it is no head that rotted
# Where they begin, and what each store has there: magic, page size, log, fractions; form of the schema; no vacuum, text
# as UTF-8; no vacuum of steps, no application, nothing.
_SAME: Final = (
    (0, b"SQLite format 3\x00" + struct.pack(">H", _PAGE) + bytes([2, 2, 0, 64, 32, 32])),
    (44, struct.pack(">I", 4)),
    (52, struct.pack(">II", 0, 1)),
    (64, bytes(28)),
)
_PAGES: Final = 28  # where it says how many pages the file has


def mend_head(path: Path, aside: Path) -> bool:
    """Write what every store has at the head of its file where that rotted; how it was is kept beside.

    Only while nobody in this process has it open, for to close a file gives up the locks of all who have; and under the
    vault's lock.

    Args:
        path: the store.
        aside: the directory for what lay there.

    Returns:
        Whether anything was wrong.

    Raises:
        NotWritable, DiskFull: it cannot be written.
    """
    # Asked first: whoever only reads and is the last to close brings the log into the file, and takes it away.
    is_all = not any(_holds_something(path.with_name(f"{path.name}-{end}")) for end in ("wal", "journal"))
    try:
        with path.open("rb") as file:
            before = file.read(_BYTES)
            size = os.fstat(file.fileno()).st_size
    except OSError:  # who opens it says so
        return False
    if len(before) < _BYTES:
        return False
    head = bytearray(before)
    for at, same in _SAME:
        head[at : at + len(same)] = same
    if before[_NO_LOG_AT:][:2] == _NO_LOG:
        head[_NO_LOG_AT : _NO_LOG_AT + 2] = _NO_LOG
    if (page := int.from_bytes(before[_PAGE_AT:][:2], "big")) != _PAGE and page in _PAGE_SIZES:
        return False  # one bit makes no such size of ours
    told = int.from_bytes(before[_PAGES:][:4], "big")
    if is_all and told != size // _PAGE:  # else the log says how many there are, or what is behind them is no page
        head[_PAGES : _PAGES + 4] = struct.pack(">I", -(-size // _PAGE))  # as SQLite counts one that was cut off
    if not 0 < sum(one != other for one, other in zip(before, head, strict=True)) <= _MOST:
        return False
    make_directory(aside)
    write_atomic(aside / f"{path.name}.head", before)
    try:
        with path.open("r+b") as file:
            file.write(head)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        refuse_write(path, error)
    return True


def _holds_something(path: Path) -> bool:
    return path.exists() and path.stat().st_size > 0
