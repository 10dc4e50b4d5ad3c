"""Evaluation gives what the rules say, and so does going on with new facts (FAC-8, FAC-13)."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.vault.rules.naive import naive
from tests.vault.rules.programs import checked_programs, facts
from vault.rules import Incremental, TupleFacts, evaluate
from vault.rules.check import Checked

Facts = dict[str, set[tuple[str, ...]]]


@settings(deadline=None, max_examples=300)
@given(checked_programs(), facts())
def test_equals_a_naive_evaluation(checked: Checked, known: Facts) -> None:
    """FAC-8: the result follows from the facts and the rules alone."""
    assert evaluate(checked, TupleFacts(known)) == naive(checked, known)


@settings(deadline=None, max_examples=200)
@given(checked_programs(), st.lists(facts(), min_size=2, max_size=4))
def test_going_on_equals_a_fresh_evaluation(checked: Checked, parts: list[Facts]) -> None:
    """FAC-13: after any sequence of insertions the tables are those of a fresh evaluation."""
    total: Facts = {name: set(rows) for name, rows in parts[0].items()}
    with Incremental(checked, TupleFacts(parts[0])) as kept:
        for part in parts[1:]:
            kept.refresh({name: rows for name, rows in part.items() if name in checked.base})
            for name, rows in part.items():
                total[name] |= rows
            assert {name: kept.tuples(name) for name in checked.derived} == naive(checked, total)
