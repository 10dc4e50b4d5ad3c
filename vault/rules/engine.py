"""Run a checked program on SQLite, stratum by stratum, semi-naively; go on from where a run ended (FAC-8, FAC-13).

Every derived predicate has a full table (`t`), two tables for what the last and the next round gain (`d`, `e`), and one
for what it gained since the run before (`g`); `vault.rules.tables` keeps them. A recursive component starts with all
its rules once; then each round joins what the last one gained with everything else, until nothing is new. The rounds do
not depend on the order of rules, so their number is the same on every machine.

To go on, only what is new is joined: records that came since, given tuples, and what lower predicates gained. A
component with a negation whose predicate gained anything is computed again from nothing, with all that follow it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import chain

from vault.rules.check import Checked
from vault.rules.constants import Constants
from vault.rules.errors import BadRuleFact, RuleLimitExceeded
from vault.rules.facts import FactSource, Row, StoreFacts, View
from vault.rules.guard import Guard
from vault.rules.limits import Limits
from vault.rules.predicates import RECORD_FACTS
from vault.rules.sql import Compiler, Select, column_kinds, units_of
from vault.rules.statistics import Statistics
from vault.rules.syntax import Literal, Rule
from vault.rules.tables import Tables
from vault.rules.units import Catalog, Unit
from vault.rules.visible import VisibleRecords

__all__ = ["Engine"]


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
        pool = facts.pool if isinstance(facts, StoreFacts) else None
        self._guard = Guard(facts.store, limits, clock, check, pool)
        self._db = self._guard.db
        self._given = sorted(name for name in checked.base if not (self._has_store and name in RECORD_FACTS))
        self._rules = {name: checked.rules_of(name) for name in sorted(checked.derived)}
        self._gain: dict[str, int] = {}
        self._constants = Constants(self._db, self._has_store)
        self._visible = VisibleRecords(self._guard, self._has_store, view, self._constants)
        self._is_sound = False
        self._added: dict[str, list[Row]] = {}  # given since the first run
        number = {name: n for n, name in enumerate((*self._given, *self._rules))}
        whole = {name: f"temp.t{n}" for name, n in number.items()}
        rules = [rule for name in self._rules for rule in self._rules[name]]
        kinds = column_kinds(rules, Catalog(self._has_store, whole, {}, checked.derived))
        self._catalog = Catalog(self._has_store, whole, kinds, checked.derived)
        columns = {name: kinds.get(name) or (self._catalog.plain,) * checked.arities[name] for name in number}
        self._tables = Tables(self._guard, limits, self._constants, number, columns, frozenset(self._rules))
        self._statistics = Statistics(self._db, self._has_store, self._tables.count, self._constants.value)
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
        for name in self._tables:
            self._tables.make(name, "tde" if name in recursive else "t")

    def _recurs(self, component: tuple[str, ...]) -> bool:
        """Tell whether a rule of these predicates reads one of them."""
        return any(
            literal.atom.predicate in component
            for name in component
            for rule in self._rules[name]
            for literal in rule.body
        )

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
            BadRuleFact: a record fact is given, which only the store can answer.
            As `run`; what this call gave is forgotten, and the next call evaluates from nothing.
        """
        for name in given:
            if name not in self._tables and name in RECORD_FACTS:
                raise BadRuleFact(f"{name} is answered by the store and cannot be given.")
        rows = {name: list(found) for name, found in given.items() if name in self._given}
        for name in self._tables:
            self._tables.make(name, "g" if name in self._given else "gde")
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
            self._tables.clear(name, "t")
            self._tables.count[name] = 0
            self._tables.give(name, chain(self._facts.given(name), self._added.get(name, ()), more.get(name, ())))
        for component in self.checked.components:
            self._from_nothing(component)

    def _only_new(self, more: Mapping[str, list[Row]]) -> bool:
        """Take in what is new; tell whether that sufficed."""
        self._constants.forget()
        self._statistics.forget()
        self._gain = self._visible.freshen()
        for name in self._given:
            self._tables.clear(name, "g")
            self._gain[name] = self._tables.give(name, more.get(name, ()), gained=True)
        again = False
        for component in self.checked.components:
            again = again or self._negation_gained(component)
            if again:
                self._from_nothing(component)
            else:
                self._from_gains(component)
        return not again

    def rows(self, predicate: str) -> set[Row]:
        """Return the tuples of a derived predicate as texts.

        Raises:
            KeyError: the program does not define it.
        """
        if predicate not in self._rules:
            raise KeyError(predicate)
        with self._guard.running():
            return self._tables.rows(predicate)

    def _start(self) -> None:
        """Forget what was, and note where the store stands."""
        self._constants.forget()
        self._statistics.forget()
        self._gain = {}
        for name in self._rules:
            self._tables.count[name] = 0
        self._visible.start()

    # Components

    def _from_nothing(self, component: tuple[str, ...]) -> None:
        for name in component:
            self._tables.clear(name, "tgde")
            self._tables.count[name] = 0
        is_recursive = self._recurs(component)
        compiler = self._compiler()
        for name in component:
            for rule in self._rules[name]:
                self._tables.insert(name, compiler.select(rule), "d" if is_recursive else "t", ("t",))
        if is_recursive:
            self._rounds(component, compiler)

    def _from_gains(self, component: tuple[str, ...]) -> None:
        compiler = self._compiler()
        for name in component:
            self._tables.clear(name, "gde")
        for name in component:
            for rule in self._rules[name]:
                for n, unit in enumerate(units_of(rule, self._catalog)):
                    table = self._gained(unit, component)
                    if table:
                        self._tables.insert(name, compiler.select(rule, n, table), "d", ("t",))
        before = {name: self._tables.count[name] for name in component}
        sizes = {name: self._tables.size(name, "d") for name in component}
        self._rounds(component, compiler, keep_gains=True)
        for name in component:
            self._gain[name] = self._tables.count[name] - before[name] + sizes[name]

    def _gained(self, unit: Unit, component: tuple[str, ...]) -> str:
        """Return the table of what a unit gained since the last run; nothing if it gained nothing."""
        name = unit.predicates[0]
        if unit.family in {"store", "shared"}:
            table = "fresh" if unit.family == "store" else "fresh_shared"
            return f"temp.{table}" if self._gain.get(table) else ""
        if name in component or not self._gain.get(name):
            return ""
        return self._tables.named(name, "g")

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
        if name in self._tables:
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
        gained = {name: self._tables.size(name, last) for name in component}
        rounds = 0
        while any(gained.values()):
            rounds += 1
            if rounds > self._limits.rounds:
                raise RuleLimitExceeded(
                    f"The recursion of {component[0]} takes more than {self._limits.rounds} rounds."
                )
            for name in component:
                if gained[name]:
                    self._tables.keep(name, last, "tg" if keep_gains else "t")
            now = dict.fromkeys(component, 0)
            for name, rule, n, read in steps:
                if gained[read]:
                    key = (rule, n, last)
                    if key not in compiled:
                        compiled[key] = compiler.select(rule, n, self._tables.named(read, last))
                    now[name] += self._tables.insert(name, compiled[key], following, ("t", following))
            for name in component:
                if gained[name]:
                    self._tables.clear(name, last)
            gained = now
            last, following = following, last
            self._guard.spend()

    def _compiler(self) -> Compiler:
        return Compiler(self._catalog, self._statistics.estimate, self._visible.count())
