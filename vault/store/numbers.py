"""Numbers of rows that no lace gives: what one bit makes of the number of a record, a frame or an exposure (APP-13).

Each of them counts from 1. Whoever counts on after one that rotted comes to the end of what SQLite can number, and
fails in a way of its own. So a check asks for such numbers before anything else, and who counts on passes them over.
"""

from __future__ import annotations

import sqlite3
from typing import Final

__all__ = ["FURTHEST", "NEXT_POSITION", "beyond", "renumber"]

FURTHEST: Final = 1 << 62  # no row has this number
NEXT_POSITION: Final = f"SELECT ifnull(max(p), 0) + 1 FROM body WHERE p < {FURTHEST}"  # noqa: S608 - our own number
_KEYS: Final = {"body": "p", "exposure": "at", "frame": "id"}
_LAST_GIVEN: Final = "SELECT seq FROM sqlite_sequence WHERE name = ?"  # SQLite's own, of the one table that has it


def beyond(db: sqlite3.Connection) -> list[tuple[str, str]]:
    """Return tables, each with its column of numbers, where one stands that no lace gives.

    Raises:
        sqlite3.DatabaseError: a table cannot be read.
    """
    return [
        (table, key)
        for table, key in _KEYS.items()
        if db.execute(f"SELECT 1 FROM {table} WHERE {_odd(key)} LIMIT 1").fetchone()  # noqa: S608 - our own names
        or _last_given(db, table) >= FURTHEST
    ]


def renumber(db: sqlite3.Connection) -> None:
    """Give such rows the numbers after all others; inside a transaction.

    None that was given before is given again, since the cursors of others count by them.
    """
    for table, key in beyond(db):
        (top,) = db.execute(f"SELECT ifnull(max({key}), 0) FROM {table} WHERE NOT ({_odd(key)})").fetchone()  # noqa: S608
        last = _last_given(db, table)
        top = max(int(top), last if last < FURTHEST else 0)
        rows = db.execute(f"SELECT {key} FROM {table} WHERE {_odd(key)} ORDER BY {key}").fetchall()  # noqa: S608
        free = [(number, was) for number, (was,) in enumerate(rows, top + 1)]
        db.executemany(f"UPDATE {table} SET {key} = ? WHERE {key} = ?", free)  # noqa: S608
        db.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = ?", (top + len(rows), table))


def _odd(key: str) -> str:
    return f"{key} < 1 OR {key} >= {FURTHEST}"


def _last_given(db: sqlite3.Connection, table: str) -> int:
    row = db.execute(_LAST_GIVEN, (table,)).fetchone()
    return int(row[0]) if row is not None and isinstance(row[0], int) else 0
