"""The cache of a store: what it answered a moment ago and would answer again. An action asks much a dozen times."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any, Final, TypeVar

from vault.notes.own import GENERATION
from vault.store.database import faults_named

__all__ = ["StoreCache"]

T = TypeVar("T")

_GET: Final = "SELECT value FROM meta WHERE key = ?"
_SET: Final = "INSERT INTO meta VALUES (?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value"
_NEXT_GENERATION: Final = (
    f"INSERT INTO meta VALUES ('{GENERATION.name}', '1')"  # noqa: S608 - our own name
    " ON CONFLICT(key) DO UPDATE SET value = CAST(value + 1 AS TEXT)"
)
_MOST: Final = 1_000  # notes
_LONGEST: Final = 4_096  # characters of one


class StoreCache:
    """The texts of notes, and answers, as they are known inside a write, where nobody else changes them.

    Outside of one everything is asked anew. Notes stay known from one write to the next if nobody else wrote
    between them, which SQLite tells.

    Args:
        db: the store's connection.
        path: its file.
    """

    def __init__(self, db: sqlite3.Connection, path: Path) -> None:
        self._db = db
        self._path = path
        self._is_writing = False
        self._version = -1
        self._notes: dict[str, str | None] = {}
        self._answers: dict[Hashable, Any] = {}
        self._changes = -1

    def begin(self) -> bool:
        """Begin a write, in its transaction; tell whether another connection committed since the last one."""
        version = int(self._db.execute("PRAGMA data_version").fetchone()[0])
        is_other = version != self._version
        if is_other:
            self.forget()
            self._version = version
        self._is_writing = True
        return is_other

    def end(self) -> None:
        """End a write: from now others write."""
        self._is_writing = False
        self._answers.clear()

    def forget(self) -> None:
        """Drop everything, after a write was rolled back."""
        self._notes.clear()
        self._answers.clear()

    def answer(self, question: Hashable, ask: Callable[[], T]) -> T:
        """Return what `ask` answers from the store's tables; inside a write once, until this connection changes one."""
        if not self._is_writing:
            return ask()
        changes = self._db.total_changes
        if changes != self._changes:
            self._answers.clear()
            self._changes = changes
        if question not in self._answers:
            self._answers[question] = ask()
        found: T = self._answers[question]
        return found

    def text(self, key: str) -> str | None:
        """Return the text of one note, or None where it was never made."""
        if self._is_writing and key in self._notes:
            return self._notes[key]
        with faults_named(self._path):
            row = self._db.execute(_GET, (key,)).fetchone()
        value = str(row[0]) if row is not None else None
        if self._is_writing and key != GENERATION.name and len(value or "") <= _LONGEST:
            if len(self._notes) >= _MOST:
                self._notes.clear()
            self._notes[key] = value
        return value

    def make(self, key: str, value: str) -> None:
        """Keep the text of one note; inside a write."""
        self._notes.pop(key, None)
        self._db.execute(_SET, (key, value))

    def unmake(self, key: str) -> None:
        """Drop one note; inside a write."""
        self._notes.pop(key, None)
        self._db.execute("DELETE FROM meta WHERE key = ?", (key,))

    def next_generation(self) -> None:
        """Say that answers kept with the number until now are out of date; at the end of a write."""
        self._db.execute(_NEXT_GENERATION)
