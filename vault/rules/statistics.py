"""How many rows a literal is expected to give, so that a join begins with the fewest.

Estimates choose the order of a join and nothing else: a wrong one costs time, never a result.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from typing import Final

from vault.rules.syntax import Constant, Variable
from vault.rules.units import SYMBOL, Unit

__all__ = ["Statistics"]

_ENOUGH: Final = 5_000  # rows after which counting stops
_PER_RECORD: Final = {"main.rec": 1.0, "main.shared": 1.0, "main.body": 1.0, "main.field": 1.5, "main.link": 3.0}


class Statistics:
    """Counts of one store and of the tables of one evaluation.

    Args:
        db: the guarded connection.
        has_store: whether it has a store.
        counts: rows of the given and derived predicates, kept up to date by their owner.
        constant: gives a constant's number by text and representation.
    """

    def __init__(
        self,
        db: sqlite3.Connection,
        has_store: bool,
        counts: Mapping[str, int],
        constant: Callable[[str, str], object],
    ) -> None:
        self._db = db
        self._has_store = has_store
        self._counts = counts
        self._constant = constant
        self._known: dict[tuple[object, ...], float] = {}

    def forget(self) -> None:
        """Count anew: the store may have grown."""
        self._known.clear()

    def estimate(self, unit: Unit, bound: set[str]) -> float:
        """Return the rows a unit gives for one row of what is already joined."""
        fixed = [
            binding
            for binding in unit.bindings
            if isinstance(binding.term, Constant) or (isinstance(binding.term, Variable) and binding.term.name in bound)
        ]
        if not unit.position:
            rows = float(self._counts.get(unit.predicates[0], 0))
            if len(fixed) == len(unit.bindings):
                return min(rows, 1.0)
            return rows / 100.0 ** len(fixed)
        if any(binding.expression == unit.position for binding in fixed):
            return _PER_RECORD[unit.table]
        total = self._count("total", "SELECT max(p) FROM main.rec")
        constants = {
            binding.expression.partition(".")[2]: self._constant(binding.term.text, SYMBOL)
            for binding in fixed
            if isinstance(binding.term, Constant) and binding.kind == SYMBOL
        }
        columns = {binding.expression.partition(".")[2] for binding in fixed}
        return self._of_table(unit, columns, constants, total)

    def _of_table(self, unit: Unit, columns: set[str], constants: Mapping[str, object], total: float) -> float:
        match unit.table:
            case "main.rec":
                rows = total
                if "app" in constants:
                    rows = self._count("app", "SELECT records FROM main.counts WHERE app = ?", constants["app"])
                return rows / 50 if "name" in columns and "app" in constants else rows
            case "main.field":
                if "name" in constants and "val" in constants:
                    sql = "SELECT count(*) FROM (SELECT 1 FROM main.field WHERE name = ? AND val = ? LIMIT 5000)"
                    rows = self._count("value", sql, constants["name"], constants["val"])
                    return total if rows >= _ENOUGH else rows
                return 20.0 if "name" in constants and "val" in columns else total
            case "main.link":
                return 3.0 if "t" in columns else 2 * total
            case _:
                return total

    def _count(self, what: str, sql: str, *values: object) -> float:
        key = (what, *values)
        if key not in self._known:
            row = self._db.execute(sql, values).fetchone()
            self._known[key] = float(row[0] or 0) if row else 0.0
        return self._known[key]
