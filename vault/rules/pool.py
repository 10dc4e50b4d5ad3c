"""A pool of one connection to a store, which stays open between evaluations.

Opening a store and reading its schema costs more than a small program does: a scope of some hundred records is answered
in half the time where the connection is at hand. It reads only, holds no snapshot between evaluations, and belongs to
one thread. Whoever makes a pool closes it.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Final, Self

from vault.store.database import file_at

__all__ = ["ConnectionPool"]

_TEMP_PAGES: Final = 1_024  # beyond this a connection is closed, so that nobody keeps what one evaluation took


class ConnectionPool:
    """A pool of one connection; an evaluation that begins while another has it opens its own."""

    def __init__(self) -> None:
        self._db: sqlite3.Connection | None = None
        self._file: tuple[int, int] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; the pool may be used again."""
        db, self._db = self._db, None
        if db is not None:
            db.close()

    def take(self, store: Path) -> sqlite3.Connection | None:
        """Return the connection to this store, which is the caller's now; None if there is none."""
        db, self._db = self._db, None
        if db is not None and self._file != file_at(store):  # another store, or one that was restored meanwhile
            db.close()
            return None
        return db

    def give_back(self, store: Path, db: sqlite3.Connection) -> None:
        """Take a connection back after an evaluation that ended well; its temporary tables go."""
        file = file_at(store)
        if self._db is not None or file is None or not _cleared(db):
            db.close()
            return
        self._db, self._file = db, file


def _cleared(db: sqlite3.Connection) -> bool:
    try:
        if int(db.execute("PRAGMA temp.page_count").fetchone()[0]) > _TEMP_PAGES:
            return False
        for (name,) in db.execute("SELECT name FROM temp.sqlite_master WHERE type = 'table'").fetchall():
            db.execute(f'DROP TABLE temp."{name}"')
    except sqlite3.Error:
        return False
    return True
