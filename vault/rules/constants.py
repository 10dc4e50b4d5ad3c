"""The constants of a program and what is given to it, as the numbers or texts that stand in the tables.

Beside a store a symbol has the number that the store gave it, a record its position, and anything else is a text.
Without one every text is a symbol, numbered as it comes.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from vault.rules.facts import Row
from vault.rules.headers import digest_of
from vault.rules.sql import Select
from vault.rules.units import SYMBOL, TEXT

__all__ = ["Constants"]


class Constants:
    """What constants stand for in one evaluation.

    Args:
        db: the guarded connection.
        has_store: whether it has a store.
    """

    def __init__(self, db: sqlite3.Connection, has_store: bool) -> None:
        self._db = db
        self._has_store = has_store
        self._known: dict[tuple[str, str], object] = {}
        self._symbols: dict[str, int] = {}

    def forget(self) -> None:
        """Ask the store anew: it may have grown."""
        self._known.clear()

    def bound(self, select: Select) -> dict[str, object]:
        """Return the constants of a statement by the names of its parameters."""
        return {name: self.value(text, kind) for name, (text, kind) in select.constants.items()}

    def value(self, text: str, kind: str) -> object:
        """Return a constant in a representation; -1, which equals nothing, if it has none."""
        if kind == TEXT:
            return text
        if not self._has_store:
            return self._symbol(text)
        key = (text, kind)
        if key not in self._known:
            if kind == SYMBOL:
                row = self._db.execute("SELECT id FROM main.sym WHERE s = ?", (text,)).fetchone()
            else:
                sql = "SELECT p FROM main.body WHERE digest = ? AND kind = ?"
                row = self._db.execute(sql, (digest_of(text), text[:1])).fetchone()
            self._known[key] = row[0] if row else -1
        return self._known[key]

    def represented(self, rows: list[Row]) -> Sequence[Sequence[object]]:
        """Return given tuples as they stand in tables: texts beside a store, else symbols."""
        if self._has_store:
            return rows
        symbol = self._symbol
        return [[symbol(value) for value in row] for row in rows]

    def _symbol(self, text: str) -> int:
        """Return the number of a text, giving it the next one when it is new."""
        number = self._symbols.get(text)
        if number is None:
            number = self._symbols[text] = len(self._symbols) + 1
            self._db.execute("INSERT INTO main.sym VALUES (?, ?)", (number, text))
        return number
