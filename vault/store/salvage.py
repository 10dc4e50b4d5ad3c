"""A store's file made anew from what SQLite can still read of it (APP-13).

A page that rotted spoils one table or index, or only the list of free pages; SQLite then refuses to write anywhere
near it, even to drop the table. What records give again need not be read at all. Rows of the other tables are copied,
past those that cannot be read. A record to which SQLite finds no way is looked for in the file (`carve`); of one whose
bytes are gone its name is kept, so that a place is asked for it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing, suppress
from filecmp import cmp
from pathlib import Path
from typing import Any, Final

from vault.files import free_name, fsync_directory, make_directory, refuse_write
from vault.store.carve import carve
from vault.store.database import kind_of
from vault.store.schema import DERIVED_TABLES, copy_whole

__all__ = ["copy_missing", "copy_readable", "keep_whole", "missing_names"]

_ROWS: Final = 512  # of a table at once
_LAST: Final = 2**62  # above every number of a row
_NOT_NOW: Final = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_INTERRUPT,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_PROTOCOL,
    }
)
_OF_DISK: Final = frozenset({sqlite3.SQLITE_IOERR_READ, sqlite3.SQLITE_IOERR_SHORT_READ})  # no sector, or no such page
_NO_ROWID: Final = "WITHOUT ROWID"
# Of a record that cannot be read: where it was, from the index over names; and what it was, from a view.
_NAMES: Final = "SELECT rowid, digest FROM body INDEXED BY sqlite_autoindex_body_1 ORDER BY digest"
_KIND: Final = "SELECT CASE WHEN signer IS NULL THEN 'P' ELSE 'S' END FROM rec WHERE p = ?"

_Rows = list[tuple[Any, ...]]


def copy_readable(live: sqlite3.Connection, made: sqlite3.Connection) -> bool:
    """Copy into an empty store what can be read of a damaged one.

    The sums over local tables are copied as they are: what lost a row is named by `guard.changed` from then on.

    Args:
        live: the damaged store. Not attached to the other one: once SQLite met damage, it writes to neither.
        made: the empty store, in a transaction of the caller.

    Returns:
        Whether SQLite could read all of it.
    """
    triggers = made.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
    for name, _ in triggers:
        made.execute(f"DROP TRIGGER {name}")
    tables = made.execute(
        "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    ).fetchall()
    is_whole = True
    before, live.text_factory = live.text_factory, _as_it_can
    try:
        for table, sql in tables:
            if table not in DERIVED_TABLES:
                made.execute(f"DELETE FROM {table}")  # noqa: S608 - our own table names
                copy = _copy_sorted if _NO_ROWID in str(sql) else _copy_numbered
                is_whole &= copy(live, made, table)
    finally:
        live.text_factory = before
    for _, sql in triggers:
        made.execute(sql)
    return is_whole


def _as_it_can(text: bytes) -> str | bytes:
    """Return a text, or the bytes of one that is no UTF-8: a repair finds those, and types them anew."""
    try:
        return text.decode()
    except UnicodeDecodeError:
        return text


def _copy_numbered(live: sqlite3.Connection, made: sqlite3.Connection, table: str) -> bool:
    """Copy the rows of a table with numbers, and go on behind those that cannot be read; then so from its end.

    Tell whether all can be read.

    A page that rotted may show numbers that are out of order: what lies behind such a one is met from the end.
    """
    columns = _columns(made, table)
    is_whole = True
    for sign in (1, -1):
        after, many = -_LAST, _ROWS
        while after < _LAST:
            rows = _read(live, _following(table, columns, sign, after, many))
            if rows is None and many == 1:
                after = _behind(live, table, columns, sign, after)
            elif rows is None:
                many, is_whole = 1, False
            elif not rows:
                break
            else:
                _write(made, table, columns, [row[1:] for row in rows])
                after, many = max(after + 1, *(int(row[0]) * sign for row in rows)), _ROWS
    return is_whole


def _following(table: str, columns: list[str], sign: int, after: int, many: int) -> str:
    """Return SQL for the rows behind a number, or before it where the direction is downwards."""
    where = f"> {after} ORDER BY rowid" if sign > 0 else f"< {-after} ORDER BY rowid DESC"
    return f"SELECT rowid, {', '.join(columns)} FROM {table} WHERE rowid {where} LIMIT {many}"  # noqa: S608 - as above


def _behind(live: sqlite3.Connection, table: str, columns: list[str], sign: int, after: int) -> int:
    """Return a number behind which a row can be read again, or none follows: the lowest, where one gap is all."""

    def reads(number: int) -> bool:
        return _read(live, _following(table, columns, sign, number, 1)) is not None

    low, step = after, 1
    while low + step < _LAST and not reads(low + step):
        low, step = low + step, step * 2
    high = min(low + step, _LAST)
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (low, middle) if reads(middle) else (middle, high)
    return high


def _copy_sorted(live: sqlite3.Connection, made: sqlite3.Connection, table: str) -> bool:
    """Copy the rows of a table without numbers: from both ends, as far as they can be read; tell whether all can."""
    columns = _columns(made, table)
    every = f"SELECT {', '.join(columns)} FROM {table}"  # noqa: S608 - our own table names
    if (rows := _read(live, every)) is not None:
        _write(made, table, columns, rows)
        return True
    keyed = sorted((int(row[5]), str(row[1])) for row in made.execute(f"PRAGMA table_info({table})") if row[5])
    keys = [key for _, key in keyed]
    for sign, order in ((">", " ASC"), ("<", " DESC")):
        by = ", ".join(key + order for key in keys)
        beyond = f"WHERE ({', '.join(keys)}) {sign} ({', '.join('?' * len(keys))})"
        last: tuple[Any, ...] = ()
        many, before = _ROWS, -1
        while made.total_changes != before:  # else it is in a circle, or met what was copied from the other end
            before = made.total_changes
            rows = _read(live, f"{every} {beyond if last else ''} ORDER BY {by} LIMIT {many}", last)
            if rows is None and many > 1:
                many, before = 1, -1
            elif rows:
                _write(made, table, columns, rows)
                last = tuple(rows[-1][columns.index(key)] for key in keys)
    return False


def _columns(made: sqlite3.Connection, table: str) -> list[str]:
    return [str(row[1]) for row in made.execute(f"PRAGMA table_info({table})")]


def _read(live: sqlite3.Connection, sql: str, values: tuple[Any, ...] = ()) -> _Rows | None:
    """Return rows; None where they cannot be read.

    Raises:
        sqlite3.DatabaseError: they could not be read just now, which says nothing of them.
    """
    for tries in (1, 2):
        try:
            return live.execute(sql, values).fetchall()
        except sqlite3.DatabaseError as fault:
            code = getattr(fault, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
            if kind_of(fault) in _NOT_NOW or (kind_of(fault) == sqlite3.SQLITE_IOERR and code not in _OF_DISK):
                raise
            if tries == 2 or code != sqlite3.SQLITE_IOERR_READ:  # a disk may fail once
                return None
    return None


def _write(made: sqlite3.Connection, table: str, columns: list[str], rows: _Rows) -> None:
    """Write rows, but for those that the table cannot have: damage made them."""
    marks = ", ".join("?" * len(columns))
    made.executemany(f"INSERT OR IGNORE INTO {table}({', '.join(columns)}) VALUES ({marks})", rows)  # noqa: S608 - as above


def missing_names(live: sqlite3.Connection, made: sqlite3.Connection) -> dict[bytes, int]:
    """Return the digests and positions of records that could not be copied, as far as their index can be read."""
    here = {int(p) for (p,) in made.execute("SELECT p FROM body")}
    return {bytes(digest): int(p) for p, digest in _read(live, _NAMES) or () if p not in here}


def copy_missing(live: sqlite3.Connection, made: sqlite3.Connection, missing: Mapping[bytes, int], whole: Path) -> None:
    """Bring records that SQLite finds no way to; of one that is not found keep the name, without bytes.

    Args:
        live: the damaged store.
        made: the new one, in a transaction of the caller.
        missing: as `missing_names` has it.
        whole: the damaged store's file, as `keep_whole` wrote it.

    Raises:
        OSError: that cannot be read.
    """
    columns = ["p", "kind", "digest", "bytes"]
    for record, stored in carve(whole, missing):
        _write(made, "body", columns, [(missing[record.digest], record.kind, record.digest, stored)])
    here = {int(p) for (p,) in made.execute("SELECT p FROM body")}
    for digest, p in missing.items():  # else holes and a sync tell what is missing
        kinds = () if p in here else _read(live, _KIND, (p,))
        _write(made, "body", columns, [(p, kind, digest, b"") for (kind,) in kinds or ()])


def keep_whole(live: sqlite3.Connection, path: Path) -> None:
    """Write a store's whole file elsewhere, page by page and whatever lies there.

    What an earlier repair kept there gets a name of its own, unless it is the same: nobody may have looked at it yet.

    Raises:
        sqlite3.DatabaseError: it cannot be written, or there is no room for it.
        NotWritable, DiskFull: its directory cannot be.
    """
    make_directory(path.parent)
    begun = path.with_name(f"{path.name}.tmp")
    remains = (begun, begun.with_name(f"{begun.name}-journal"))
    try:
        for old in remains:  # of a repair that was killed
            old.unlink(missing_ok=True)
        with closing(sqlite3.connect(begun, isolation_level=None)) as copy:
            copy_whole(live, copy)
        if path.exists() and not cmp(path, begun, shallow=False):
            path.replace(free_name(path))
        begun.replace(path)
        fsync_directory(path.parent)
    except OSError as error:
        refuse_write(path, error)
    finally:
        for old in remains:
            with suppress(OSError):
                old.unlink(missing_ok=True)
