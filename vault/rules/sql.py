"""Compile rules to SQLite SQL: one statement a rule, and one a rule and literal that gained tuples.

The order of a join is fixed by `CROSS JOIN`: the literal that gained tuples first, then whatever is expected to give
the fewest rows, judged by constants, bound variables and counts of the store. Record facts of one record that stand in
columns of one row are read together, so that Group, App and a prefix of Name become one range of an index.
Constants are always bound parameters; nothing of a program is ever part of the text of a statement.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from vault.rules.predicates import BUILTINS
from vault.rules.syntax import Atom, Constant, Literal, Rule, Term, Variable
from vault.rules.units import RECORD, SYMBOL, TEXT, Binding, Catalog, Unit, convert, is_any, unit_of

# ruff: noqa: S608 - statements are put together from our own names; what programs say is always bound
__all__ = ["Compiler", "Select", "column_kinds", "units_of"]

_COMPARE: Final = {"Lt": "<", "Le": "<="}
_ORDER: Final = (RECORD, SYMBOL, TEXT)
_COLUMN: Final = re.compile(r"a\d+\.c\d+")  # of a given or derived predicate

Estimate = Callable[[Unit, set[str]], float]


class Select(NamedTuple):
    """A compiled body: a query that gives the head's columns, and the constants it needs bound.

    Args:
        sql: the columns `... AS c0, ...` and what follows, without SELECT.
        constants: (text, representation) by parameter name.
        lookups: (table, columns) pairs for which an index pays.
    """

    sql: str
    constants: Mapping[str, tuple[str, str]]
    lookups: tuple[tuple[str, tuple[str, ...]], ...]


def units_of(rule: Rule, catalog: Catalog) -> list[Unit]:
    """Return what the positive literals of a rule read; facts in one row of one record are one unit."""
    found: list[Unit] = []
    rows: dict[Term, Unit] = {}
    for n, literal in enumerate(rule.body):
        if literal.negated or literal.atom.predicate in BUILTINS:
            continue
        unit = unit_of(literal.atom, f"a{n}", catalog)
        record = literal.atom.terms[0] if literal.atom.terms else None
        if unit.table == "main.rec" and record is not None and not is_any(record):
            if record in rows:
                rows[record].merge(unit)
                continue
            rows[record] = unit
        found.append(unit)
    return found


def column_kinds(rules: Iterable[Rule], catalog: Catalog) -> dict[str, tuple[str, ...]]:
    """Return the representation of every column of the derived predicates: the leanest that holds all its values."""
    rules = list(rules)
    kinds: dict[str, tuple[str | None, ...]] = {rule.head.predicate: (None,) * len(rule.head.terms) for rule in rules}
    reads = [_Reads(rule, catalog, kinds) for rule in rules]
    readers: dict[str, set[int]] = {}
    for n, read in enumerate(reads):
        for predicate, _, _ in read.derived:
            readers.setdefault(predicate, set()).add(n)
    waiting = list(range(len(rules)))
    while waiting:
        changed: set[str] = set()
        for n in waiting:
            variables = reads[n].variables(kinds)
            name = rules[n].head.predicate
            joined = tuple(
                _join(old, variables.get(term.name) if isinstance(term, Variable) else catalog.plain)
                for old, term in zip(kinds[name], rules[n].head.terms, strict=True)
            )
            if joined != kinds[name]:
                kinds[name] = joined
                changed.add(name)
        waiting = sorted({n for name in changed for n in readers.get(name, ())})
    return {name: tuple(kind or catalog.plain for kind in columns) for name, columns in kinds.items()}


def _join(one: str | None, other: str | None) -> str | None:
    if one is None or other is None:
        return one or other
    return one if one == other else TEXT


class _Reads:
    """What the variables of a rule are read from: base facts, whose representations are known, and derived columns."""

    def __init__(self, rule: Rule, catalog: Catalog, kinds: Mapping[str, object]) -> None:
        self._base: dict[str, str] = {}
        self.derived: list[tuple[str, int, str]] = []  # predicate, column, variable
        for literal in rule.body:
            atom = literal.atom
            if literal.negated or atom.predicate in BUILTINS:
                continue
            if atom.predicate in kinds:
                columns = enumerate(atom.terms)
                self.derived += [(atom.predicate, n, term.name) for n, term in columns if isinstance(term, Variable)]
                continue
            for binding in unit_of(atom, "a", catalog).bindings:
                if isinstance(binding.term, Variable):
                    _lean(self._base, binding.term.name, binding.kind)

    def variables(self, kinds: Mapping[str, tuple[str | None, ...]]) -> dict[str, str]:
        """Return the leanest representation that every value of a variable has, because one of its literals has it."""
        found = dict(self._base)
        for predicate, column, name in self.derived:
            kind = kinds[predicate][column]
            if kind is not None:
                _lean(found, name, kind)
        return found


def _lean(found: dict[str, str], name: str, kind: str) -> None:
    found[name] = min(found.get(name, kind), kind, key=_ORDER.index)


class Compiler:
    """Compiles the rules of one evaluation.

    Args:
        catalog: tables and representations.
        estimate: expected rows of a unit when some variables are bound.
        view_size: number of visible records, or None if all are.
    """

    def __init__(self, catalog: Catalog, estimate: Estimate, view_size: int | None) -> None:
        self._catalog = catalog
        self._estimate = estimate
        self._view_size = view_size

    def select(self, rule: Rule, gained: int | None = None, table: str = "") -> Select:
        """Compile one rule.

        Args:
            rule: the rule.
            gained: number of the unit of which only what it gained is read; None to read everything.
            table: where that unit's gained rows are, or the gained positions for record facts.
        """
        return _Statement(self._catalog, self._estimate, self._view_size).of_rule(rule, gained, table)

    def exists(self, literal: Literal, table: str) -> Select:
        """Compile the question whether a negated literal may have gained tuples, whatever its variables are."""
        statement = _Statement(self._catalog, self._estimate, None)
        unit = unit_of(literal.atom, "a", self._catalog)
        statement.add(unit, gained=table)
        where = f" WHERE {' AND '.join(statement.where)}" if statement.where else ""
        return Select(f"SELECT 1 FROM {' CROSS JOIN '.join(statement.tables)}{where} LIMIT 1", statement.constants, ())


@dataclass(slots=True)
class _Statement:
    """One statement while it is being put together."""

    catalog: Catalog
    estimate: Estimate
    view_size: int | None
    tables: list[str] = field(default_factory=list)
    where: list[str] = field(default_factory=list)
    constants: dict[str, tuple[str, str]] = field(default_factory=dict)
    bound: dict[str, dict[str, str]] = field(default_factory=dict)  # variable -> representation -> expression
    lookups: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)

    def of_rule(self, rule: Rule, gained: int | None, table: str) -> Select:
        units = units_of(rule, self.catalog)
        if gained is not None:
            self.add(units.pop(gained), gained=table)
        while units:
            unit = self._next(units)
            units.remove(unit)
            self.add(unit)
        for n, literal in enumerate(rule.body):
            if literal.atom.predicate in BUILTINS:
                self.where.append(self._comparison(literal.atom))
            elif literal.negated:
                self.where.append(self._absent(literal.atom, f"n{n}"))
        kinds = self.catalog.kinds[rule.head.predicate]
        columns = [
            f"{self._value(term, kind or self.catalog.plain)} AS c{n}"
            for n, (term, kind) in enumerate(zip(rule.head.terms, kinds, strict=True))
        ] or ["1 AS c0"]
        sql = ", ".join(columns)
        if self.tables:
            sql += f" FROM {' CROSS JOIN '.join(self.tables)}"
        if self.where:
            sql += f" WHERE {' AND '.join(self.where)}"
        return Select(sql, self.constants, tuple(self.lookups))

    def _next(self, units: list[Unit]) -> Unit:
        """Return the unit to read next: the cheapest, one that is connected with what is bound if there is any."""
        known = set(self.bound)

        def rank(unit: Unit) -> tuple[bool, float]:
            apart = bool(known) and bool(unit.variables) and not unit.variables & known
            return apart, self.estimate(unit, known) * unit.cost

        return min((unit for unit in units if not unit.keyed or _has_key(unit, known)), key=rank)

    def add(self, unit: Unit, gained: str = "") -> None:
        """Append a unit to the join."""
        is_record = bool(unit.position)
        table = gained if gained and not is_record else unit.table
        self._restrict(unit, gained)
        constant = next((b.term for b in unit.bindings[1:2] if isinstance(b.term, Constant)), None)
        self.tables.append(f"{table} AS {unit.alias}")
        for join in unit.joins:
            name = self._constant(constant.text, TEXT) if constant else "NULL"
            self.tables.append(join.replace("{constant}", name))
        self._look_up(unit, table)
        self.where += unit.conditions
        for binding in unit.bindings:
            self._bind(binding)

    def _restrict(self, unit: Unit, gained: str) -> None:
        """Let only gained or visible records through; a small set of them leads the join."""
        if not unit.position:
            return
        driver = gained
        if not driver and self.view_size is not None:
            known = set(self.bound)
            if self.estimate(unit, known) > self.view_size and not unit.variables & known:
                driver = "temp.visible"
            else:
                self.where.append(f"EXISTS (SELECT 1 FROM temp.visible AS v WHERE v.p = {unit.position})")
        if driver:
            self.tables.append(f"{driver} AS {unit.alias}f")
            self.where.append(f"{unit.alias}f.p = {unit.position}")

    def _look_up(self, unit: Unit, table: str) -> None:
        if unit.family in {"given", "derived"}:
            columns = tuple(
                binding.expression.partition(".")[2]
                for binding in unit.bindings
                if isinstance(binding.term, Constant)
                or (isinstance(binding.term, Variable) and binding.term.name in self.bound)
            )
            if columns:
                self.lookups.append((table, columns))

    def _bind(self, binding: Binding) -> None:
        term, kind, expression = binding.term, binding.kind, binding.expression
        if isinstance(term, Constant):
            self.where.append(f"{expression} = {self._constant(term.text, kind)}")
        elif isinstance(term, Variable):
            known = self._value(term, kind) if term.name in self.bound else expression
            if known != expression:
                # The order of the join stands: SQLite need not look for others through every pair of equal columns.
                plus = "+" if _COLUMN.fullmatch(known) else ""
                self.where.append(f"{expression} = {plus}{known}")
            self.bound.setdefault(term.name, {}).setdefault(kind, expression)

    def _constant(self, text: str, kind: str) -> str:
        for name, known in self.constants.items():
            if known == (text, kind):
                return f":{name}"
        name = f"k{len(self.constants)}"
        self.constants[name] = (text, kind)
        return f":{name}"

    def _value(self, term: Term, kind: str) -> str:
        """Return a bound term in a representation."""
        if isinstance(term, Constant):
            return self._constant(term.text, kind)
        known = self.bound[term.name] if isinstance(term, Variable) else {}
        if kind in known:
            return known[kind]
        source = min(known, key=(SYMBOL, TEXT, RECORD).index)  # a symbol's text is the cheapest to find
        if TEXT in known and kind != TEXT:
            source = TEXT
        return convert(known[source], source, kind)

    def _absent(self, atom: Atom, alias: str) -> str:
        unit = unit_of(atom, alias, self.catalog)
        inner = _Statement(self.catalog, self.estimate, None, constants=self.constants)
        inner.bound = {name: dict(known) for name, known in self.bound.items()}
        if unit.position and self.view_size is not None:
            inner.where.append(f"EXISTS (SELECT 1 FROM temp.visible AS v WHERE v.p = {unit.position})")
        inner.add(unit)
        self.lookups += inner.lookups
        where = f" WHERE {' AND '.join(inner.where)}" if inner.where else ""
        return f"NOT EXISTS (SELECT 1 FROM {' CROSS JOIN '.join(inner.tables)}{where})"

    def _comparison(self, atom: Atom) -> str:
        left, right = atom.terms
        name = atom.predicate
        if name in {"Eq", "Ne"}:
            kind = self._common(left, right)
            return f"{self._value(left, kind)} {'=' if name == 'Eq' else '<>'} {self._value(right, kind)}"
        one = self._value(left, TEXT)
        if name == "Prefix" and isinstance(right, Constant):
            return self._prefix(one, right.text)
        if name == "Suffix" and isinstance(right, Constant):
            if not right.text:
                return "1"
            return f"substr({one}, -{len(right.text)}) = {self._constant(right.text, TEXT)}"
        other = self._value(right, TEXT)
        if name in _COMPARE:
            return f"{one} {_COMPARE[name]} {other}"
        return f"lace_{'num_lt' if name == 'NumLt' else 'num_le'}({one}, {other})"

    def _common(self, left: Term, right: Term) -> str:
        """Return the representation in which two terms are told apart rightly and cheaply."""
        kinds = [self.bound[term.name] for term in (left, right) if isinstance(term, Variable)]
        for kind in (RECORD, SYMBOL):
            # A representation is lossless only for a term that is bound in it.
            if kinds and all(kind in known for known in kinds):
                return kind
        return TEXT

    def _prefix(self, value: str, prefix: str) -> str:
        if not prefix:
            return "1"
        lower = f"{value} >= {self._constant(prefix, TEXT)}"
        after = _after(prefix)
        return lower if after is None else f"{lower} AND {value} < {self._constant(after, TEXT)}"


def _has_key(unit: Unit, bound: set[str]) -> bool:
    """Tell whether the record of a unit is known; the check of the program saw to it that it will be."""
    key = unit.bindings[0].term
    return isinstance(key, Constant) or (isinstance(key, Variable) and key.name in bound)


def _after(prefix: str) -> str | None:
    """Return the least text above every text with this prefix, in the order of UTF-8 bytes; None if there is none."""
    for at in range(len(prefix) - 1, -1, -1):
        code = ord(prefix[at]) + 1
        if code <= 0x10FFFF:
            return prefix[:at] + chr(0xE000 if 0xD800 <= code <= 0xDFFF else code)
    return None
