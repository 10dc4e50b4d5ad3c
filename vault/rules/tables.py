"""The tables of one evaluation: made when they are needed, and filled as far as its limits allow (FAC-8, FAC-12).

A predicate's tables are told apart by a letter, and what each is for is the engine's business. Here is what a statement
derives put into one of them, without what is known already, and every tuple is counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Final

from vault.rules.constants import Constants
from vault.rules.errors import RuleLimitExceeded
from vault.rules.facts import Row, check_row
from vault.rules.guard import Guard
from vault.rules.limits import Limits
from vault.rules.sql import Select
from vault.rules.units import TEXT, convert

# ruff: noqa: S608 - statements are put together from our own names; what programs say is always bound
__all__ = ["Tables"]

_BATCH_BYTES: Final = 128 * 1024 * 1024  # of rows that one statement may hold before it stores them
_GIVEN_BATCH: Final = 10_000  # rows put in at once
_LONG_BATCH: Final = 2_000  # rows read at once


class Tables:
    """The tables of the given and derived predicates of one program.

    Args:
        guard: of the connection that they lie in.
        limits: bounds of a run.
        constants: how values are represented.
        number: by predicate the number in the names of its tables.
        kinds: by predicate how each column is represented.
        derived: the predicates whose tuples the limits count.

    Attributes:
        count: tuples of each predicate's full table, or on their way there.
    """

    def __init__(
        self,
        guard: Guard,
        limits: Limits,
        constants: Constants,
        number: Mapping[str, int],
        kinds: Mapping[str, tuple[str, ...]],
        derived: frozenset[str],
    ) -> None:
        self._guard = guard
        self._db = guard.db
        self._limits = limits
        self._constants = constants
        self._number = number
        self._kinds = kinds
        self._derived = derived
        self.count: dict[str, int] = dict.fromkeys(number, 0)
        self._made: set[tuple[str, str]] = set()
        self._indexes: set[tuple[str, tuple[str, ...]]] = set()

    def __contains__(self, name: str) -> bool:
        return name in self._number

    def __iter__(self) -> Iterator[str]:
        return iter(self._number)

    def named(self, name: str, letter: str) -> str:
        """Return what statements call a table of a predicate."""
        return f"temp.{letter}{self._number[name]}"

    def make(self, name: str, letters: str) -> None:
        """Make those tables of a predicate that are not there yet; most programs never need those for gains."""
        for letter in letters:
            if (name, letter) in self._made:
                continue
            self._made.add((name, letter))
            kinds = self._kinds[name]
            columns = [f"c{i} {'TEXT' if kind == TEXT else 'INTEGER'} NOT NULL" for i, kind in enumerate(kinds)]
            keys = ", ".join(f"c{i}" for i in range(len(kinds))) or "c0"
            body = ", ".join(columns) or "c0 INTEGER NOT NULL"
            # The types must be those of the columns they are compared with, or no index is used.
            table = f"{letter}{self._number[name]}"
            self._db.execute(f"CREATE TEMP TABLE {table}({body}, PRIMARY KEY({keys})) WITHOUT ROWID")

    def clear(self, name: str, letters: str) -> None:
        """Empty those tables of a predicate that are there; `count` is the caller's."""
        for letter in letters:
            if (name, letter) in self._made:
                self._db.execute(f"DELETE FROM {self.named(name, letter)}")

    def size(self, name: str, letter: str) -> int:
        """Count the tuples of one table."""
        return int(self._db.execute(f"SELECT count(*) FROM {self.named(name, letter)}").fetchone()[0])

    def keep(self, name: str, letter: str, into: str) -> None:
        """Put the tuples of one table, which are new, into others of the predicate too."""
        for other in into:
            self._db.execute(f"INSERT INTO {self.named(name, other)} SELECT * FROM {self.named(name, letter)}")

    def rows(self, name: str) -> set[Row]:
        """Return the tuples of a predicate as texts."""
        kinds = self._kinds[name]
        columns = ", ".join(convert(f"t.c{n}", kind, TEXT) for n, kind in enumerate(kinds)) or "1"
        found = self._db.execute(f"SELECT {columns} FROM {self.named(name, 't')} AS t").fetchall()
        return set(found) if kinds else {() for _ in found}

    def give(self, name: str, rows: Iterable[Row], *, gained: bool = False) -> int:
        """Put given tuples into their table; return how many were new.

        Raises:
            BadRuleFact: one cannot be a fact.
        """
        arity = len(self._kinds[name])
        marks = ", ".join("?" * arity) or "1"
        into = f"INSERT OR IGNORE INTO {self.named(name, 't')} VALUES ({marks})"
        new = 0
        rows = iter(rows)
        while batch := list(islice(rows, _GIVEN_BATCH)):
            values = self._constants.represented([check_row(name, row, arity) for row in batch])
            if gained:
                for row in values:
                    if self._db.execute(into, row).rowcount:
                        self._db.execute(f"INSERT INTO {self.named(name, 'g')} VALUES ({marks})", row)
                        new += 1
            else:
                new += self._db.executemany(into, values).rowcount
            self._guard.spend()
        self.count[name] += new
        return new

    def insert(self, name: str, select: Select, target: str, known: tuple[str, ...]) -> int:
        """Put what a statement derives, and what is not known, into the target table; return how much that is.

        The statement ends when it found one tuple too many. If memory for its tuples ends before, it is run again and
        finds the rest, because known ones are left out.

        Raises:
            RuleLimitExceeded, RulesOutOfReach: a limit is broken.
        """
        self._guard.spend(0)
        self._make_indexes(select)
        kinds = self._kinds[name]
        fresh = " AND ".join(
            f"NOT EXISTS (SELECT 1 FROM {self.named(name, letter)} AS z WHERE "
            + " AND ".join(f"z.c{i} = s.c{i}" for i in range(max(1, len(kinds))))
            + ")"
            for letter in dict.fromkeys((*known, target))
        )
        table = self.named(name, target)
        if TEXT in kinds:
            return self._insert_long(name, select, table, fresh)
        sql = f"INSERT INTO {table} SELECT * FROM (SELECT DISTINCT {select.sql}) AS s WHERE {fresh} LIMIT :room"
        batch = max(1, _BATCH_BYTES // (32 + 8 * len(kinds)))
        values = self._constants.bound(select)
        total = 0
        while True:
            room = min(batch, self._limits.tuples - self._all_derived() + 1)
            added = self._db.execute(sql, {**values, "room": room}).rowcount
            total += added
            self._add(name, added)
            if added < room:
                return total

    def _insert_long(self, name: str, select: Select, table: str, fresh: str) -> int:
        """Insert tuples that hold texts, a few at a time.

        Such tuples may be a hundred times as large as others, so SQLite must not collect them before it stores them:
        the statement is read like a file and sees what was stored of it. The inner limit is none; it keeps SQLite from
        computing a column again wherever it is named.
        """
        sql = f"SELECT * FROM (SELECT {select.sql} LIMIT -1) AS s WHERE {fresh}"
        into = f"INSERT OR IGNORE INTO {table} VALUES ({', '.join('?' * len(self._kinds[name]))})"
        total = 0
        cursor = self._db.execute(sql, self._constants.bound(select))
        try:
            while rows := cursor.fetchmany(_LONG_BATCH):
                added = self._db.executemany(into, rows).rowcount
                total += added
                self._add(name, added)
        finally:
            cursor.close()
        return total

    def _add(self, name: str, added: int) -> None:
        """Count new tuples.

        Raises:
            RuleLimitExceeded: they are too many.
        """
        self.count[name] += added
        if self._all_derived() > self._limits.tuples:
            raise RuleLimitExceeded(f"The program derives more than {self._limits.tuples} tuples.")

    def _all_derived(self) -> int:
        return sum(self.count[name] for name in self._derived)

    def _make_indexes(self, select: Select) -> None:
        for table, columns in select.lookups:
            wanted = tuple(sorted(columns, key=lambda column: int(column[1:])))
            if all(column == f"c{n}" for n, column in enumerate(wanted)) or (table, wanted) in self._indexes:
                continue  # the primary key serves a prefix of the columns
            self._indexes.add((table, wanted))
            name = f"{table.removeprefix('temp.')}_{'_'.join(wanted)}"
            with self._guard.trusted():
                self._db.execute(
                    f"CREATE INDEX IF NOT EXISTS temp.{name} ON {table.removeprefix('temp.')}({', '.join(wanted)})"
                )
