"""One sum for each local table, kept by the database itself, so that `fsck` notices a bit that rotted there.

Records prove themselves and derived tables are built a second time; what a person chose here (places, names, desks,
the checkout) follows from nothing. Triggers fold each row that comes or goes into a sum in the same transaction: the
exclusive or of the rows' digests, so the cost follows what changes and the order of rows does not matter.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection
from struct import Struct
from typing import Any, Final

from blake3 import blake3

__all__ = ["changed", "guard", "install"]

_SUM_BYTES: Final = 16
_LENGTH: Final = Struct("<Q")  # before a value
# The types of values, behind their lengths.
_KINDS: Final = {kind: _LENGTH.pack(len(kind)) + kind.encode() for kind in ("blob", "integer", "null", "real", "text")}
_MIXED: Final = 14  # the first version whose sums take bytes as they are
_TRIGGERS: Final = "SELECT {} FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'guard_%'"
_Add = Callable[..., bytes]
# What proves itself by hash (`body` and what says where it rests), and what follows from records.
_PROVEN: Final = frozenset({"body", "pack", "frame", "packed", "exposure", "guard"})


def install(db: sqlite3.Connection) -> None:
    """Give a connection what the triggers call; without it no local table can be written."""
    db.create_function("mix", -1, _mix, deterministic=True)
    db.create_function("fold", -1, _fold, deterministic=True)  # of a store that is brought to this form
    db.execute("PRAGMA recursive_triggers=ON")  # or the rows that a REPLACE takes away would go unnoticed


def guard(
    db: sqlite3.Connection, derived: tuple[str, ...], rotten: Collection[str] = (), version: int = _MIXED
) -> None:
    """Watch every local table from now on, as it is; inside a transaction, after the tables changed their form.

    Args:
        db: the store.
        derived: names of the tables that follow from records.
        rotten: names of tables that did not hold what was written to them: their sums stay wrong, so that `changed`
            goes on naming them.
        version: of the store from now.
    """
    name_of, add = _way(db, version)
    for (name,) in db.execute(
        "SELECT name FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'guard_%'"
    ).fetchall():
        db.execute(f"DROP TRIGGER {name}")
    db.execute("DROP TABLE IF EXISTS guard")
    db.execute("CREATE TABLE guard(name TEXT PRIMARY KEY, sum BLOB NOT NULL) WITHOUT ROWID")
    tables = db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'").fetchall()
    for table in sorted({str(row[0]) for row in tables} - _PROVEN - set(derived)):
        old, new = (_values(db, table, side) for side in ("OLD.", "NEW."))
        for when, folds in (
            ("INSERT", f"{name_of}(sum, {new})"),
            ("DELETE", f"{name_of}(sum, {old})"),
            ("UPDATE", f"{name_of}({name_of}(sum, {old}), {new})"),
        ):
            db.execute(
                f"CREATE TRIGGER guard_{table}_{when.lower()} AFTER {when} ON {table} BEGIN"  # noqa: S608 - our names
                f" UPDATE guard SET sum = {folds} WHERE name = '{table}'; END"
            )
        total = _sum(db, table, add)
        known = _xor(total, blake3(b"rotten")) if table in rotten else total
        db.execute("INSERT INTO guard VALUES (?, ?)", (table, known))


def changed(db: sqlite3.Connection, version: int = _MIXED) -> list[str]:
    """Return the local tables that do not hold what was written to them, in a store of a version."""
    _, add = _way(db, version)
    try:
        rows = db.execute("SELECT CAST(name AS BLOB), CAST(sum AS BLOB) FROM guard").fetchall()
    except sqlite3.DatabaseError:
        rows = []  # then nothing is known of any of them
    known = {bytes(name).decode("utf-8", "replace"): bytes(total) for name, total in rows}
    watched = db.execute(_TRIGGERS.format("DISTINCT tbl_name"))
    return sorted(table for (table,) in watched.fetchall() if known.get(table) != _sum_or_none(db, table, add))


def _way(db: sqlite3.Connection, version: int) -> tuple[str, _Add]:
    """Return how rows are summed in a store of a version; what its triggers say counts, for the number may rot."""
    mixes = f"{_TRIGGERS.format('1')} AND sql LIKE '%mix(%'"
    is_mixed = version >= _MIXED or db.execute(mixes).fetchone() is not None
    return ("mix", _mix) if is_mixed else ("fold", _fold)


def _values(db: sqlite3.Connection, table: str, side: str = "") -> str:
    """Return SQL for a row's values with their types, which damage cannot make unreadable."""
    names = [str(row[1]) for row in db.execute(f"PRAGMA table_info({table})")]
    return ", ".join(f"typeof({side}{name}), CAST({side}{name} AS BLOB)" for name in names)


def _sum_or_none(db: sqlite3.Connection, table: str, add: _Add) -> bytes | None:
    try:
        return _sum(db, table, add)
    except sqlite3.DatabaseError:
        return None


def _sum(db: sqlite3.Connection, table: str, add: _Add) -> bytes:
    total = bytes(_SUM_BYTES)
    for row in db.execute(f"SELECT {_values(db, table)} FROM {table}"):  # noqa: S608 - our own table names
        total = add(total, *row)
    return total


def _mix(total: bytes, *values: Any) -> bytes:
    """Take a row in or out: types and values in turn, each behind its length; nothing is as long as an empty value."""
    parts: list[bytes] = []
    for kind, value in zip(values[::2], values[1::2], strict=True):
        content = value or b""
        parts += (_KINDS[kind], _LENGTH.pack(len(content)), content)
    return _xor(total, blake3(b"".join(parts)))


def _fold(total: bytes, *values: str | bytes | None) -> bytes:
    """Do the same as stores of former versions have it, which takes long for much."""
    return _xor(total, blake3(repr(values).encode()))


def _xor(total: bytes, found: blake3) -> bytes:
    digest = found.digest(_SUM_BYTES)
    return (int.from_bytes(total, "big") ^ int.from_bytes(digest, "big")).to_bytes(_SUM_BYTES, "big")
