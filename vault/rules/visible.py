"""Which records of the store an evaluation sees, and which came, or became shared, since the run before (FAC-13)."""

from __future__ import annotations

from typing import Final

from vault.rules.constants import Constants
from vault.rules.facts import View
from vault.rules.guard import Guard
from vault.rules.units import RECORD

# ruff: noqa: S608 - statements are put together from our own names; what programs say is always bound
__all__ = ["VisibleRecords"]

_FRESH: Final = ("fresh", "fresh_shared")
"""Tables of the positions that came, and that became shared, since the run before."""


class VisibleRecords:
    """The records of one evaluation: the table `visible` if a view restricts them, and what is fresh of them.

    Args:
        guard: the guarded connection.
        has_store: whether it has a store.
        view: the records that may be seen; all if None.
        constants: gives the positions of records that a view names.
    """

    def __init__(self, guard: Guard, has_store: bool, view: View | None, constants: Constants) -> None:
        self._guard = guard
        self._db = guard.db
        self._has_store = has_store
        self._view = view
        self._constants = constants
        self._schema = self._high = self._high_exposure = 0

    def make_table(self) -> None:
        """Make the table of what may be seen, if it is not everything."""
        if self._view is not None:
            self._db.execute("CREATE TEMP TABLE visible(p INTEGER PRIMARY KEY)")

    def make_fresh_tables(self) -> None:
        """Make the tables of what is fresh, if they are not there: most programs run once and never need them."""
        for table in _FRESH:
            self._db.execute(f"CREATE TEMP TABLE IF NOT EXISTS {table}(p INTEGER PRIMARY KEY)")

    def start(self) -> None:
        """Forget what was seen, and note where the store stands."""
        if self._view is not None:
            self._db.execute("DELETE FROM temp.visible")
        self._schema, self._high, self._high_exposure = self._stand()
        self._show("visible")

    def is_going_on(self) -> bool:
        """Tell whether the store still has the tables that it had at the start."""
        return self._stand()[0] == self._schema

    def count(self) -> int | None:
        """Return how many records may be seen; None if it is all of them."""
        if self._view is None:
            return None
        return int(self._db.execute("SELECT count(*) FROM temp.visible").fetchone()[0])

    def freshen(self) -> dict[str, int]:
        """Note which records came or became visible or shared; return how many, by table."""
        for table in _FRESH:
            self._db.execute(f"DELETE FROM temp.{table}")
        if not self._has_store:
            return {}
        run = self._db.execute
        _, position, exposure = self._stand()
        only = ""
        if self._view is None:
            run("INSERT INTO temp.fresh SELECT p FROM main.rec WHERE p > ?", (self._high,))
        else:
            self._show("fresh")
            run("INSERT INTO temp.visible SELECT p FROM temp.fresh")
            run(
                "INSERT INTO temp.fresh_shared SELECT f.p FROM temp.fresh AS f CROSS JOIN main.shared AS s"
                " WHERE s.p = f.p"
            )
            only = " AND EXISTS (SELECT 1 FROM temp.visible AS v WHERE v.p = x.p)"
        run(
            "INSERT OR IGNORE INTO temp.fresh_shared SELECT x.p FROM main.exposure AS x CROSS JOIN main.shared AS s"
            f" WHERE s.p = x.p AND x.at > ?{only}",
            (self._high_exposure,),
        )
        self._high, self._high_exposure = position, exposure
        return {name: int(run(f"SELECT count(*) FROM temp.{name}").fetchone()[0]) for name in _FRESH}

    def _show(self, table: str) -> None:
        """Put the records that may be seen, and are not yet seen, into a table."""
        view = self._view
        if view is None:
            return
        known = "" if table == "visible" else " AND NOT EXISTS (SELECT 1 FROM temp.visible AS v WHERE v.p = r.p)"
        if view.records is not None:
            wanted = [(self._constants.value(text, RECORD),) for text in view.records]
            sql = f"INSERT OR IGNORE INTO temp.{table} SELECT r.p FROM main.rec AS r WHERE r.p = ?{known}"
            self._db.executemany(sql, wanted)
            return
        shown = f"WITH shown(p) AS ({view.visible_sql}) SELECT r.p FROM shown CROSS JOIN main.rec AS r"
        with self._guard.trusted():  # our own query may read tables that rules may not
            self._db.execute(f"INSERT OR IGNORE INTO temp.{table} {shown} WHERE r.p = shown.p{known}")

    def _stand(self) -> tuple[int, int, int]:
        """Return where the store stands: its schema's count of changes, its last record and last exposure.

        Whoever makes the views anew makes their tables anew, which the schema counts; symbols then have other numbers.
        """
        if not self._has_store:
            return 0, 0, 0
        (schema,) = self._db.execute("PRAGMA main.schema_version").fetchone()
        position, exposure = self._db.execute(
            "SELECT (SELECT max(p) FROM main.rec), (SELECT max(at) FROM main.exposure)"
        ).fetchone()
        return int(schema), int(position or 0), int(exposure or 0)
