"""Evaluate a program once (FAC-8, FAC-12)."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from vault.rules.check import Checked
from vault.rules.engine import Engine
from vault.rules.facts import FactSource, Row, View
from vault.rules.limits import Limits

__all__ = ["evaluate"]


def evaluate(
    checked: Checked,
    facts: FactSource,
    *,
    queries: Iterable[str] | None = None,
    view: View | None = None,
    limits: Limits = Limits(),
    clock: Callable[[], float] | None = None,
    check: Callable[[], None] | None = None,
) -> dict[str, set[Row]]:
    """Return the tuples of derived predicates over one snapshot of facts.

    Args:
        checked: the program.
        facts: where base facts come from.
        queries: the predicates wanted; only what they depend on is computed. All derived ones if None.
        view: the records that a program written by a peer may see; all if None (FAC-7).
        limits: bounds; a breach fails the whole evaluation.
        clock: seconds of a clock that never goes back, for the time limit.
        check: called now and then; what it raises ends the evaluation.

    Raises:
        RulePredicateError: the program does not define a queried predicate.
        BadRuleFact: a given tuple cannot be a fact.
        RuleLimitExceeded, RulesOutOfReach: a limit is broken.
        StoreDamaged, StoreUnwritable, VaultBusy: the store cannot be read.
    """
    wanted = sorted(checked.derived if queries is None else set(queries))
    engine = Engine(checked.only(wanted), facts, view, limits, clock, check)
    try:
        engine.run()
        return {name: engine.rows(name) for name in wanted}
    finally:
        engine.close()
