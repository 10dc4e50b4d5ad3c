"""Run a checked program on SQLite, stratum by stratum, semi-naively; go on from where a run ended (FAC-8, FAC-13).

Every derived predicate has a full table, two tables for what the last and the next round gain, and one for what it
gained since the run before. A recursive component starts with all its rules once; then each round joins what the last
one gained with everything else, until nothing is new. The rounds do not depend on the order of rules, so their number
is the same on every machine.

To go on, only what is new is joined: records that came since, given tuples, and what lower predicates gained. A
component with a negation whose predicate gained anything is computed again from nothing, with all that follow it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import chain, islice
from typing import Final

from vault.rules.check import Checked
from vault.rules.constants import Constants
from vault.rules.errors import BadRuleFact, RuleLimitExceeded
from vault.rules.facts import FactSource, Row, StoreFacts, View, check_row
from vault.rules.guard import Guard
from vault.rules.limits import Limits
from vault.rules.predicates import RECORD_FACTS
from vault.rules.sql import Compiler, Select, column_kinds, units_of
from vault.rules.statistics import Statistics
from vault.rules.syntax import Literal, Rule
from vault.rules.units import TEXT, Catalog, Unit, convert
from vault.rules.visible import VisibleRecords

# ruff: noqa: S608 - statements are put together from our own names; what programs say is always bound
__all__ = ["Engine"]

_BATCH_BYTES: Final = 128 * 1024 * 1024  # of rows that one statement may hold before it stores them
_GIVEN_BATCH: Final = 10_000
_LONG_BATCH: Final = 2_000


class Engine:
    """One program over one source of facts, with its connection and tables.

    Args:
        checked: the program.
        facts: where base facts come from.
        view: the records of the store that may be seen; all if None.
        limits: bounds of each run.
        clock: seconds of a clock that never goes back.
        check: called now and then; what it raises ends the run.

    Raises:
        ValueError: a view is given without a store.
    """

    def __init__(
        self,
        checked: Checked,
        facts: FactSource,
        view: View | None,
        limits: Limits,
        clock: Callable[[], float] | None,
        check: Callable[[], None] | None,
    ) -> None:
        if view is not None and facts.store is None:
            raise ValueError("A view restricts the records of a store, and there is none.")
        self.checked = checked
        self._facts = facts
        self._limits = limits
        self._has_store = facts.store is not None
        kept = facts.kept if isinstance(facts, StoreFacts) else None
        self._guard = Guard(facts.store, limits, clock, check, kept)
        self._db = self._guard.db
        self._given = sorted(name for name in checked.base if not (self._has_store and name in RECORD_FACTS))
        self._rules = {name: checked.rules_of(name) for name in sorted(checked.derived)}
        self._number = {name: n for n, name in enumerate((*self._given, *self._rules))}
        self._count: dict[str, int] = dict.fromkeys(self._number, 0)
        self._gain: dict[str, int] = {}
        self._constants = Constants(self._db, self._has_store)
        self._visible = VisibleRecords(self._guard, self._has_store, view, self._constants)
        self._is_sound = False
        self._added: dict[str, list[Row]] = {}  # given since the first run
        self._made: set[tuple[str, int]] = set()
        tables = {name: f"temp.t{n}" for name, n in self._number.items()}
        blank = Catalog(self._has_store, tables, {}, checked.derived)
        rules = [rule for name in self._rules for rule in self._rules[name]]
        self._kinds = column_kinds(rules, blank)
        self._catalog = Catalog(self._has_store, tables, self._kinds, checked.derived)
        self._indexes: set[tuple[str, tuple[str, ...]]] = set()
        self._statistics = Statistics(self._db, self._has_store, self._count, self._constants.value)
        try:
            self._make_tables()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the connection."""
        self._guard.close()

    # Tables

    def _make_tables(self) -> None:
        self._visible.make_table()
        recursive = {name for component in self.checked.components for name in component if self._recurs(component)}
        for name in self._number:
            self._make(name, "tde" if name in recursive else "t")

    def _make(self, name: str, tables: str) -> None:
        """Make those tables of a predicate that are not there yet; most programs never need those for gains."""
        for table in tables:
            n = self._number[name]
            if (table, n) in self._made:
                continue
            self._made.add((table, n))
            kinds = self._kinds.get(name) or (self._catalog.plain,) * self.checked.arities[name]
            columns = [f"c{i} {'TEXT' if kind == TEXT else 'INTEGER'} NOT NULL" for i, kind in enumerate(kinds)]
            keys = ", ".join(f"c{i}" for i in range(len(kinds))) or "c0"
            body = ", ".join(columns) or "c0 INTEGER NOT NULL"
            # The types must be those of the columns they are compared with, or no index is used.
            self._db.execute(f"CREATE TEMP TABLE {table}{n}({body}, PRIMARY KEY({keys})) WITHOUT ROWID")

    def _recurs(self, component: tuple[str, ...]) -> bool:
        """Tell whether a rule of these predicates reads one of them."""
        return any(
            literal.atom.predicate in component
            for name in component
            for rule in self._rules[name]
            for literal in rule.body
        )

    def _clear(self, table: str) -> None:
        self._db.execute(f"DELETE FROM {table}")

    # Runs

    def run(self) -> None:
        """Evaluate from nothing.

        Raises:
            RuleLimitExceeded, RulesOutOfReach: a limit is broken; nothing of the run counts.
            BadRuleFact: a given tuple cannot be a fact.
        """
        self._is_sound = False
        with self._guard.running():
            self._everything({})
        self._is_sound = True

    def go_on(self, given: Mapping[str, Iterable[Row]]) -> bool:
        """Take in the records that came since the last run, and further given tuples.

        Returns:
            Whether what is new sufficed; False if any predicate was computed from nothing.

        Raises:
            As `run`; what this call gave is forgotten, and the next call evaluates from nothing.
        """
        for name in given:
            if name not in self._number and name in RECORD_FACTS:
                raise BadRuleFact(f"{name} is answered by the store and cannot be given.")
        rows = {name: list(found) for name, found in given.items() if name in self._given}
        for name in self._number:
            self._make(name, "g" if name in self._given else "gde")
        self._visible.make_fresh_tables()
        was_sound, self._is_sound = self._is_sound, False
        with self._guard.running():
            if was_sound and self._visible.is_going_on():
                sufficed = self._only_new(rows)
            else:
                self._everything(rows)
                sufficed = False
        self._is_sound = True
        for name, found in rows.items():
            self._added.setdefault(name, []).extend(found)
        return sufficed

    def _everything(self, more: Mapping[str, list[Row]]) -> None:
        self._start()
        for name in self._given:
            self._clear(f"temp.t{self._number[name]}")
            self._count[name] = 0
            self._give(name, chain(self._facts.given(name), self._added.get(name, ()), more.get(name, ())))
        for component in self.checked.components:
            self._from_nothing(component)

    def _only_new(self, more: Mapping[str, list[Row]]) -> bool:
        """Take in what is new; tell whether that sufficed."""
        self._constants.forget()
        self._statistics.forget()
        self._gain = self._visible.freshen()
        for name in self._given:
            self._clear(f"temp.g{self._number[name]}")
            self._gain[name] = self._give(name, more.get(name, ()), gained=True)
        again = False
        for component in self.checked.components:
            again = again or self._negation_gained(component)
            if again:
                self._from_nothing(component)
            else:
                self._from_gains(component)
        return not again

    def rows(self, predicate: str) -> set[Row]:
        """Return the tuples of a derived predicate as texts."""
        kinds = self._kinds[predicate]
        columns = ", ".join(convert(f"t.c{n}", kind, TEXT) for n, kind in enumerate(kinds)) or "1"
        with self._guard.running():
            found = self._db.execute(f"SELECT {columns} FROM temp.t{self._number[predicate]} AS t").fetchall()
        return set(found) if kinds else {() for _ in found}

    def _start(self) -> None:
        """Forget what was, and note where the store stands."""
        self._constants.forget()
        self._statistics.forget()
        self._gain = {}
        for name in self._rules:
            self._count[name] = 0
        self._visible.start()

    def _give(self, name: str, rows: Iterable[Row], *, gained: bool = False) -> int:
        """Put given tuples into their table; return how many were new."""
        n, arity = self._number[name], self.checked.arities[name]
        marks = ", ".join("?" * arity) or "1"
        into = f"INSERT OR IGNORE INTO temp.t{n} VALUES ({marks})"
        new = 0
        rows = iter(rows)
        while batch := list(islice(rows, _GIVEN_BATCH)):
            values = self._constants.represented([check_row(name, row, arity) for row in batch])
            if gained:
                for row in values:
                    if self._db.execute(into, row).rowcount:
                        self._db.execute(f"INSERT INTO temp.g{n} VALUES ({marks})", row)
                        new += 1
            else:
                new += self._db.executemany(into, values).rowcount
            self._guard.spend()
        self._count[name] += new
        return new

    # Components

    def _from_nothing(self, component: tuple[str, ...]) -> None:
        for name in component:
            for table in "tgde":
                if (table, self._number[name]) in self._made:
                    self._clear(f"temp.{table}{self._number[name]}")
            self._count[name] = 0
        is_recursive = self._recurs(component)
        compiler = self._compiler()
        for name in component:
            for rule in self._rules[name]:
                self._insert(name, compiler.select(rule), "d" if is_recursive else "t", ("t",))
        if is_recursive:
            self._rounds(component, compiler)

    def _from_gains(self, component: tuple[str, ...]) -> None:
        compiler = self._compiler()
        for name in component:
            for table in "gde":
                self._clear(f"temp.{table}{self._number[name]}")
        for name in component:
            for rule in self._rules[name]:
                for n, unit in enumerate(units_of(rule, self._catalog)):
                    table = self._gained(unit, component)
                    if table:
                        self._insert(name, compiler.select(rule, n, table), "d", ("t",))
        before = {name: self._count[name] for name in component}
        sizes = {name: self._size(f"temp.d{self._number[name]}") for name in component}
        self._rounds(component, compiler, keep_gains=True)
        for name in component:
            self._gain[name] = self._count[name] - before[name] + sizes[name]

    def _gained(self, unit: Unit, component: tuple[str, ...]) -> str:
        """Return the table of what a unit gained since the last run; nothing if it gained nothing."""
        name = unit.predicates[0]
        if unit.family in {"store", "shared"}:
            table = "fresh" if unit.family == "store" else "fresh_shared"
            return f"temp.{table}" if self._gain.get(table) else ""
        if name in component or not self._gain.get(name):
            return ""
        return f"temp.g{self._number[name]}"

    def _negation_gained(self, component: tuple[str, ...]) -> bool:
        compiler = self._compiler()
        for name in component:
            for rule in self._rules[name]:
                for literal in rule.body:
                    if literal.negated and self._may_have_gained(literal, compiler):
                        return True
        return False

    def _may_have_gained(self, literal: Literal, compiler: Compiler) -> bool:
        name = literal.atom.predicate
        if name in self._number:
            return bool(self._gain.get(name))
        table = "fresh_shared" if name == "Shared" else "fresh"
        if not self._gain.get(table):
            return False
        select = compiler.exists(literal, f"temp.{table}")
        return self._db.execute(select.sql, self._constants.bound(select)).fetchone() is not None

    def _rounds(self, component: tuple[str, ...], compiler: Compiler, *, keep_gains: bool = False) -> None:
        """Join what the last round gained with everything, until a round gains nothing."""
        last, following = "d", "e"
        steps = [
            (name, rule, n, unit.predicates[0])
            for name in component
            for rule in self._rules[name]
            for n, unit in enumerate(units_of(rule, self._catalog))
            if unit.predicates[0] in component
        ]
        compiled: dict[tuple[Rule, int, str], Select] = {}
        gained = {name: self._size(f"temp.{last}{self._number[name]}") for name in component}
        rounds = 0
        while any(gained.values()):
            rounds += 1
            if rounds > self._limits.rounds:
                raise RuleLimitExceeded(
                    f"The recursion of {component[0]} takes more than {self._limits.rounds} rounds."
                )
            for name in component:
                n = self._number[name]
                if gained[name]:
                    self._db.execute(f"INSERT INTO temp.t{n} SELECT * FROM temp.{last}{n}")
                    if keep_gains:
                        self._db.execute(f"INSERT INTO temp.g{n} SELECT * FROM temp.{last}{n}")
            now = dict.fromkeys(component, 0)
            for name, rule, n, read in steps:
                if gained[read]:
                    key = (rule, n, last)
                    if key not in compiled:
                        compiled[key] = compiler.select(rule, n, f"temp.{last}{self._number[read]}")
                    now[name] += self._insert(name, compiled[key], following, ("t", following))
            for name in component:
                if gained[name]:
                    self._clear(f"temp.{last}{self._number[name]}")
            gained = now
            last, following = following, last
            self._guard.spend()

    def _size(self, table: str) -> int:
        return int(self._db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])

    def _compiler(self) -> Compiler:
        return Compiler(self._catalog, self._statistics.estimate, self._visible.count())

    # Statements

    def _insert(self, name: str, select: Select, target: str, known: tuple[str, ...]) -> int:
        """Put what a statement derives, and what is not known, into the target table; return how much that is.

        The statement ends when it found one tuple too many. If memory for its tuples ends before, it is run again and
        finds the rest, because known ones are left out.
        """
        self._guard.spend(0)
        self._make_indexes(select)
        n, kinds = self._number[name], self._kinds[name]
        fresh = " AND ".join(
            f"NOT EXISTS (SELECT 1 FROM temp.{table}{n} AS z WHERE "
            + " AND ".join(f"z.c{i} = s.c{i}" for i in range(max(1, len(kinds))))
            + ")"
            for table in dict.fromkeys((*known, target))
        )
        if TEXT in kinds:
            return self._insert_long(name, select, f"temp.{target}{n}", fresh)
        sql = (
            f"INSERT INTO temp.{target}{n} SELECT * FROM (SELECT DISTINCT {select.sql}) AS s WHERE {fresh} LIMIT :room"
        )
        batch = max(1, _BATCH_BYTES // (32 + 8 * len(kinds)))
        values = self._constants.bound(select)
        total = 0
        while True:
            room = min(batch, self._limits.tuples - self._derived() + 1)
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
        self._count[name] += added
        if self._derived() > self._limits.tuples:
            raise RuleLimitExceeded(f"The program derives more than {self._limits.tuples} tuples.")

    def _derived(self) -> int:
        return sum(self._count[name] for name in self._rules)

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
