"""Values of another type than their column has, and texts that are no UTF-8: what one bit makes of a row (APP-13).

SQLite keeps the type of each value with the value. Where it rotted, a number is an empty text or a text cannot be read
at all, and whoever reads the row fails in a way of its own. So a check asks for such values before anything else.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final, NamedTuple

__all__ = ["TRUTH_TABLES", "Mistyped", "mistyped", "retype"]

TRUTH_TABLES: Final = ("body", "pack", "frame", "packed", "exposure")  # and where their bytes rest; nobody watches them
_COLUMNS: Final = (
    'SELECT m.name, c.name, c.type, c."notnull" OR c.pk FROM sqlite_master m JOIN pragma_table_info(m.name) c'
    " WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' ORDER BY m.name, c.cid"
)
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
        for table, columns in _tables(db).items()
        if table != "body" and _holds_any(db, table, columns)  # nearly none does, and each question is one to prepare
        for column in columns
        if _holds_any(db, table, [column])
    ]


def _holds_any(db: sqlite3.Connection, table: str, columns: Sequence[_Column]) -> bool:
    """Tell whether such a value stands in one of these columns."""
    wrong = " OR ".join(column.wrong for column in columns) or "0"
    return db.execute(f"SELECT 1 FROM {table} WHERE {wrong} LIMIT 1").fetchone() is not None  # noqa: S608 - our own names


def retype(db: sqlite3.Connection, tables: tuple[str, ...]) -> None:
    """Make of such values what their column holds, with the same bytes where it can; inside a transaction.

    A row that cannot be told from another afterwards goes, unless it is a record.

    Args:
        db: the store.
        tables: names of the tables.
    """
    _install(db)
    held = _tables(db)
    for table in tables:
        for column in held.get(table, ()):
            value = _AS_IT_CAN[column.type].format(column.name)
            db.execute(f"UPDATE OR IGNORE {table} SET {column.name} = {value} WHERE {column.wrong}")  # noqa: S608
            if table != "body":
                db.execute(f"DELETE FROM {table} WHERE {column.wrong}")  # noqa: S608


def _install(db: sqlite3.Connection) -> None:
    db.create_function("is_utf8", 1, lambda data: data == _near(data).encode(), deterministic=True)
    db.create_function("utf8_or_near", 1, _near, deterministic=True)


def _near(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _tables(db: sqlite3.Connection) -> dict[str, list[_Column]]:
    """Return the tables with their columns, in the order of their names."""
    found: dict[str, list[_Column]] = {}
    for table, name, kind, is_there in db.execute(_COLUMNS).fetchall():
        columns = found.setdefault(str(table), [])
        if str(kind) in _AS_IT_CAN:
            columns.append(_Column(str(name), str(kind), not is_there))
    return found
