"""Hypothesis strategies for programs and facts."""

from __future__ import annotations

from hypothesis import strategies as st

from vault.rules.check import Checked, check
from vault.rules.errors import RuleError
from vault.rules.predicates import BUILTINS, Base
from vault.rules.syntax import ANY, Atom, Constant, Literal, Program, Rule, Term, Variable

__all__ = ["PROFILE", "VALUES", "checked_programs", "facts", "programs"]

PROFILE = (Base("E", 2), Base("F", 1), Base("G", 3), Base("Q", 0))
DERIVED = {"A": 1, "B": 2, "C": 2, "D": 3, "Z": 0}
VALUES = ("a", "b", "c", "ab", "é", "10", "9", "-1.50", "'\\", "")
WORDS = {base.name: base.arity for base in PROFILE}
VARIABLES = ("X", "Y", "Z1", "W")


@st.composite
def programs(draw: st.DrawFn, words: dict[str, int] = WORDS, values: tuple[str, ...] = VALUES) -> Program:
    """Draw a program whose rules are safe; it may be unstratified."""
    count = draw(st.integers(1, 6))
    return Program(tuple(draw(_rules(words, values)) for _ in range(count)))


@st.composite
def _rules(draw: st.DrawFn, words: dict[str, int], values: tuple[str, ...]) -> Rule:
    every = {**words, **DERIVED}
    constants = st.sampled_from(values).map(Constant)
    loose = st.one_of(st.sampled_from(VARIABLES).map(Variable), st.just(ANY), constants)

    def atom(name: str, terms: st.SearchStrategy[Term]) -> Atom:
        return Atom(name, tuple(draw(terms) for _ in range(every[name])))

    positive = [atom(draw(st.sampled_from(sorted(every))), loose) for _ in range(draw(st.integers(0, 3)))]
    bound = sorted({name for one in positive for name in one.variables})
    tight: st.SearchStrategy[Term] = (
        constants
        if not bound
        else st.one_of(st.sampled_from(bound).map(Variable), st.sampled_from(bound).map(Variable), constants)
    )
    body = [Literal(one) for one in positive]
    if draw(st.booleans()):
        body.append(Literal(atom(draw(st.sampled_from(sorted(every))), st.one_of(tight, st.just(ANY))), negated=True))
    if bound and draw(st.booleans()):
        name = draw(st.sampled_from(sorted(BUILTINS)))
        if name in {"Prefix", "Suffix"}:
            terms: tuple[Term, ...] = (Variable(draw(st.sampled_from(bound))), draw(constants))
        else:
            terms = (draw(tight), draw(tight))
        body.append(Literal(Atom(name, terms)))
    head = draw(st.sampled_from(sorted(DERIVED)))
    return Rule(atom(head, tight), tuple(draw(st.permutations(body))))


@st.composite
def checked_programs(draw: st.DrawFn, words: dict[str, int] = WORDS, values: tuple[str, ...] = VALUES) -> Checked:
    """Draw a program that can run; what it reads and nobody defines holds of nothing."""
    program = draw(programs(words, values))
    defined = {rule.head.predicate for rule in program.rules}
    profile = (*PROFILE, *(Base(name, arity) for name, arity in DERIVED.items() if name not in defined))
    try:
        return check(program, profile)
    except RuleError:
        plain = tuple(Rule(rule.head, tuple(lit for lit in rule.body if not lit.negated)) for rule in program.rules)
        return check(Program(plain), profile)


def facts(values: tuple[str, ...] = VALUES) -> st.SearchStrategy[dict[str, set[tuple[str, ...]]]]:
    """Draw facts of the profile's predicates."""
    value = st.sampled_from(values)
    return st.fixed_dictionaries(
        {name: st.sets(st.tuples(*[value] * arity), max_size=6) for name, arity in WORDS.items()}
    )
