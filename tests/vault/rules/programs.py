"""Hypothesis strategies for programs and facts."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import strategies as st

from vault.rules.check import Checked, check
from vault.rules.errors import RuleError
from vault.rules.predicates import BUILTINS, Base
from vault.rules.syntax import ANY, Atom, Constant, Literal, Program, Rule, Term, Variable

__all__ = ["PROFILE", "VALUES", "Menu", "checked_programs", "facts", "programs"]

PROFILE = (Base("E", 2), Base("F", 1), Base("G", 3), Base("Q", 0))
DERIVED = {"A": 1, "B": 2, "C": 2, "D": 3, "Z": 0}
VALUES = ("a", "b", "c", "ab", "é", "10", "9", "-1.50", "'\\", "")
WORDS = {base.name: base.arity for base in PROFILE}
COIN = st.booleans()
Menu = Mapping[tuple[str, int], tuple[str, ...]]
VARIABLES = ("X", "Y", "Z1", "W")


NO_MENU: Menu = {}


@st.composite
def programs(
    draw: st.DrawFn, words: dict[str, int] = WORDS, menu: Menu = NO_MENU, rules: int = 6, literals: int = 3
) -> Program:
    """Draw a program whose rules are safe; it may be unstratified.

    Args:
        draw: Hypothesis's.
        words: base predicates with their arities.
        menu: the constants that make sense at a term of a predicate.
        rules: the most rules.
        literals: the most positive literals of a rule.
    """
    count = draw(st.integers(1, rules))
    return Program(tuple(draw(_rules(words, menu, literals)) for _ in range(count)))


@st.composite
def _rules(draw: st.DrawFn, words: dict[str, int], menu: Menu, literals: int) -> Rule:
    every = {**words, **DERIVED}
    values = tuple(dict.fromkeys((*VALUES[:3], *(value for row in menu.values() for value in row)))) if menu else VALUES
    free = [Variable(name) for name in VARIABLES]

    def atom(name: str, others: list[Term], constant_of: int) -> Atom:
        """Draw an atom; each term is one of the others, or a constant once in so many draws."""
        terms: list[Term] = []
        for n in range(every[name]):
            fitting = menu.get((name, n), values)
            if not others or draw(st.sampled_from(range(constant_of + 1))) == 0:
                terms.append(Constant(draw(st.sampled_from(fitting))))
            else:
                terms.append(draw(st.sampled_from(others)))
        return Atom(name, tuple(terms))

    names = sorted((*words, *words, *DERIVED))
    positive = [atom(draw(st.sampled_from(names)), [*free, ANY], 2) for _ in range(draw(st.integers(0, literals)))]
    bound: list[Term] = [Variable(name) for name in sorted({name for one in positive for name in one.variables})]
    body = [Literal(one) for one in positive]
    if draw(COIN):
        body.append(Literal(atom(draw(st.sampled_from(names)), [*bound, ANY], 3), negated=True))
    if draw(COIN) and bound:
        name = draw(st.sampled_from(sorted(BUILTINS)))
        left = draw(st.sampled_from(bound))
        right: Term = Constant(draw(st.sampled_from(values)))
        if name not in {"Prefix", "Suffix"} and draw(COIN):
            right = draw(st.sampled_from(bound))
        elif isinstance(right, Constant) and draw(COIN):
            right = Constant(right.text[:2])
        body.append(Literal(Atom(name, (left, right))))
    head = draw(st.sampled_from(sorted(DERIVED)))
    return Rule(atom(head, bound, 6), tuple(draw(st.permutations(body))))


@st.composite
def checked_programs(
    draw: st.DrawFn, words: dict[str, int] = WORDS, menu: Menu = NO_MENU, rules: int = 6, literals: int = 3
) -> Checked:
    """Draw a program that can run; what it reads and nobody defines holds of nothing."""
    program = draw(programs(words, menu, rules, literals))
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
