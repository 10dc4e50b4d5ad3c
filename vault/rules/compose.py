"""Compose several programs into one whose heads hold what all of them say (FAC-20).

Each program keeps its own predicates: they are renamed `M0...`, `M1...`, in the order of the programs' texts, so that
no two meet by chance and the order in which programs are given does not matter. A head that a program does not define
holds of nothing, as it does when that program runs alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from vault.rules.canonical import canonical_text
from vault.rules.check import check
from vault.rules.parse import parse_program
from vault.rules.syntax import Atom, Literal, Program, Rule, Variable

__all__ = ["compose"]

_SELECTOR_HEADS: Final[Mapping[str, int]] = MappingProxyType({"SelectAdvertised": 2, "SelectHave": 1})
"""What a selector module says, with the number of terms."""


def compose(texts: Iterable[str]) -> str:
    """Return the canonical text of the program that selects what every one of these selects.

    Args:
        texts: programs; equal ones count once, and one alone stays as it is.

    Raises:
        RuleError: a text is no program, or all together break a limit.
    """
    programs = {}
    for text in texts:
        checked = check(parse_program(text))
        programs[checked.text] = checked
    ordered = [programs[text] for text in sorted(programs)]
    if len(ordered) == 1:
        return ordered[0].text
    rules: list[Rule] = []
    for number, checked in enumerate(ordered):
        names = {name: f"M{number}{name}" for name in checked.derived}
        rules += [_renamed(rule, names) for rule in checked.program.rules]
    for head, arity in _SELECTOR_HEADS.items():
        if ordered and all(head in checked.derived for checked in ordered):
            terms = tuple(Variable(f"V{n}") for n in range(arity))
            body = tuple(Literal(Atom(f"M{number}{head}", terms)) for number in range(len(ordered)))
            rules.append(Rule(Atom(head, terms), body))
    text = canonical_text(Program(tuple(rules)))
    return check(parse_program(text)).text


def _renamed(rule: Rule, names: Mapping[str, str]) -> Rule:
    def atom(old: Atom) -> Atom:
        return Atom(names.get(old.predicate, old.predicate), old.terms, old.place)

    return Rule(atom(rule.head), tuple(Literal(atom(lit.atom), lit.negated) for lit in rule.body))
