"""Values of another type than their column has, and texts that are no UTF-8: what one bit makes of a row (APP-13).

SQLite keeps the type of each value with the value. Where it rotted, a number is an empty text or a text cannot be read
at all, and whoever reads the row fails in a way of its own. So a check asks for such values before anything else.
"""

from __future__ import annotations

import sqlite3
from typing import Final, NamedTuple

__all__ = ["TRUTH_TABLES", "Mistyped", "mistyped", "retype"]

TRUTH_TABLES: Final = ("body", "pack", "frame", "packed", "exposure")  # and where their bytes rest; nobody watches them
_AS_IT_CAN: Final = {
    "INTEGER": "CAST(ifnull({0}, 0) AS INTEGER)",
    "TEXT": "utf8_or_near(CAST(ifnull({0}, '') AS BLOB))",
    "BLOB": "CAST(ifnull({0}, x'') AS BLOB)",
}


class Mistyped(NamedTuple):
    """A column in which such a value stands, with the type that it has: INTEGER, TEXT or BLOB."""

    table: str
    column: str
    type: str


class _Column(NamedTuple):
    name: str
    type: str
    may_lack: bool

    @property
    def wrong(self) -> str:
        """SQL that is true of a value that the column cannot hold."""
        wrong = f"typeof({self.name}) <> '{self.type.lower()}'"
        if self.type == "TEXT":
            wrong = f"iif({wrong}, 1, NOT is_utf8(CAST({self.name} AS BLOB)))"
        return f"({self.name} IS NOT NULL AND {wrong})" if self.may_lack else f"({wrong})"


def mistyped(db: sqlite3.Connection) -> list[Mistyped]:
    """Return where such values stand, but for the records themselves, which prove that they are whole.

    Raises:
        sqlite3.DatabaseError: a table cannot be read.
    """
    _install(db)
    return [
        Mistyped(table, column.name, column.type)
        for table in _tables(db)
        if table != "body"
        for column in _columns(db, table)
        if db.execute(f"SELECT 1 FROM {table} WHERE {column.wrong} LIMIT 1").fetchone()  # noqa: S608 - our own names
    ]


def retype(db: sqlite3.Connection, tables: tuple[str, ...]) -> None:
    """Make of such values what their column holds, with the same bytes where it can; inside a transaction.

    A row that cannot be told from another afterwards goes, unless it is a record.

    Args:
        db: the store.
        tables: names of the tables.
    """
    _install(db)
    for table in tables:
        for column in _columns(db, table):
            value = _AS_IT_CAN[column.type].format(column.name)
            db.execute(f"UPDATE OR IGNORE {table} SET {column.name} = {value} WHERE {column.wrong}")  # noqa: S608
            if table != "body":
                db.execute(f"DELETE FROM {table} WHERE {column.wrong}")  # noqa: S608


def _install(db: sqlite3.Connection) -> None:
    db.create_function("is_utf8", 1, lambda data: data == _near(data).encode(), deterministic=True)
    db.create_function("utf8_or_near", 1, _near, deterministic=True)


def _near(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _tables(db: sqlite3.Connection) -> list[str]:
    rows = db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'").fetchall()
    return sorted(str(row[0]) for row in rows)


def _columns(db: sqlite3.Connection, table: str) -> list[_Column]:
    rows = db.execute(f"PRAGMA table_info({table})").fetchall()
    return [_Column(str(row[1]), str(row[2]), not (row[3] or row[5])) for row in rows if str(row[2]) in _AS_IT_CAN]
