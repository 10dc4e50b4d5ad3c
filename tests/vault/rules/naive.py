"""A second evaluator, slow and plain: tuples in sets, all rules applied until nothing is new, stratum by stratum."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from re import fullmatch

from vault.rules.check import Checked
from vault.rules.predicates import BUILTINS
from vault.rules.syntax import Atom, Constant, Rule, Variable

__all__ = ["naive"]

Row = tuple[str, ...]


def naive(checked: Checked, facts: Mapping[str, set[Row]]) -> dict[str, set[Row]]:
    """Return the tuples of every derived predicate."""
    known: dict[str, set[Row]] = {name: set(rows) for name, rows in facts.items()}
    for stratum in checked.strata:
        rules = [rule for rule in checked.program.rules if rule.head.predicate in stratum]
        while True:
            new = [(rule.head.predicate, row) for rule in rules for row in consequences(rule, known)]
            before = sum(map(len, known.values()))
            for name, row in new:
                known.setdefault(name, set()).add(row)
            if sum(map(len, known.values())) == before:
                break
    return {name: known.get(name, set()) for name in checked.derived}


def consequences(rule: Rule, known: Mapping[str, set[Row]]) -> Iterator[Row]:
    """Yield the heads of all ways in which a body holds."""
    positive = [lit.atom for lit in rule.body if not lit.negated and lit.atom.predicate not in BUILTINS]
    others = [lit for lit in rule.body if lit.negated or lit.atom.predicate in BUILTINS]
    values: list[dict[str, str]] = [{}]
    for atom in positive:
        values = [more for value in values for row in known.get(atom.predicate, ()) for more in match(atom, row, value)]
    for value in values:
        if all(holds(lit.atom, value, known) != lit.negated for lit in others):
            yield tuple(text(term, value) for term in rule.head.terms)


def match(atom: Atom, row: Row, value: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Yield the values extended so that the atom is the row, if they can be."""
    more = dict(value)
    for term, part in zip(atom.terms, row, strict=True):
        if isinstance(term, Constant) and term.text != part:
            return
        if isinstance(term, Variable) and more.setdefault(term.name, part) != part:
            return
    yield more


def text(term: object, value: Mapping[str, str]) -> str:
    return term.text if isinstance(term, Constant) else value[term.name]  # type: ignore[attr-defined]


def holds(atom: Atom, value: Mapping[str, str], known: Mapping[str, set[Row]]) -> bool:
    """Tell whether a comparison or an atom holds."""
    if atom.predicate not in BUILTINS:
        return any(True for row in known.get(atom.predicate, ()) for _ in match(atom, row, value))
    one, other = (text(term, value) for term in atom.terms)
    low, high = one.encode(), other.encode()
    match atom.predicate:
        case "Prefix":
            return low.startswith(high)
        case "Suffix":
            return low.endswith(high)
        case "Eq":
            return low == high
        case "Ne":
            return low != high
        case "Lt":
            return low < high
        case "Le":
            return low <= high
    if not all(fullmatch(r"-?[0-9]+(\.[0-9]+)?", part, 16 * 16) for part in (one, other)):
        return False
    return Decimal(one) < Decimal(other) if atom.predicate == "NumLt" else Decimal(one) <= Decimal(other)
