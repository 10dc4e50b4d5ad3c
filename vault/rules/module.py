"""A policy module made of canonical text: what an exchange runs of its own and of a peer's (FAC-11, FAC-17)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from vault.rules.check import Checked, check
from vault.rules.errors import RuleSyntaxError
from vault.rules.evaluate import evaluate
from vault.rules.facts import FactSource, Row, View
from vault.rules.limits import Limits
from vault.rules.parse import parse_program
from vault.rules.predicates import Base
from vault.rules.syntax import Constant

__all__ = ["RuleModule", "compile_module"]

_ADVERTISED_FIELD = "AdvertisedField"
_NAME = 2  # its term that is the header's name


class RuleModule(NamedTuple):
    """A checked program with what a plan must know of it.

    Args:
        checked: the program.
        text: its canonical text.
        id: its identifier `R.<43>`.
        needed_fields: the advertised fields it reads; None if it may read any.
    """

    checked: Checked
    text: str
    id: str
    needed_fields: frozenset[str] | None

    def tuples(
        self,
        predicate: str,
        facts: FactSource,
        *,
        view: View | None = None,
        limits: Limits = Limits(),
        clock: Callable[[], float] | None = None,
    ) -> set[Row]:
        """Return what a predicate derives; nothing if the module does not define it.

        Raises:
            RuleLimitExceeded, RulesOutOfReach: a limit is broken.
            BadRuleFact: a given tuple cannot be a fact.
        """
        if predicate not in self.checked.derived:
            return set()
        found = evaluate(self.checked, facts, queries=[predicate], view=view, limits=limits, clock=clock)
        return found[predicate]


def compile_module(text: str, profile: Iterable[Base] = ()) -> RuleModule:
    """Return the module that a canonical text means.

    Args:
        text: canonical text, as it came or was made here.
        profile: base predicates that are declared besides the known ones.

    Raises:
        RuleError: the text is no program, or not in its canonical form.
    """
    checked = check(parse_program(text), profile)
    if checked.text != text:
        raise RuleSyntaxError("The program is not in its canonical form.", _first_difference(checked.text, text), 1)
    return RuleModule(checked, text, checked.id, _needed_fields(checked))


def _first_difference(one: str, other: str) -> int:
    pairs = zip(one.split("\n"), other.split("\n"), strict=False)
    return next((number for number, (a, b) in enumerate(pairs, 1) if a != b), 1)


def _needed_fields(checked: Checked) -> frozenset[str] | None:
    names = set()
    for rule in checked.program.rules:
        for literal in rule.body:
            if literal.atom.predicate == _ADVERTISED_FIELD:
                name = literal.atom.terms[_NAME]
                if not isinstance(name, Constant):
                    return None
                names.add(name.text)
    return frozenset(names)
