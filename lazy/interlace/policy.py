"""Modules that are rule programs: what they may look at here, and how both halves run (FAC-7..19).

A module is run where the records are. What it may look at follows from its origin, which the receiver assigns and the
text never says (FAC-16): a module of this side reads the whole store; one of the peer's reads the records that this
side's exposure shows to that peer, and nothing that is only known here. Both halves run on SQLite behind the guard of
the rule engine, so time, memory and tables are bounded whoever wrote the rules.

The sending half narrows what the port offers: `MaySend(P)` is `Have(P)`, exposed to the peer, and selected by both
operands (FAC-18, FAC-19). The default policy needs no evaluation for it: the port's exposure log is its result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Final

from lazy.interlace.plan import GROUP_SHARED, Evaluation, ModuleRegistry, PolicyModule, Select
from vault.records import RecordHash
from vault.rules import FactSource, Limits, RuleModule, StoreFacts, TupleFacts, View, compile_module
from vault.rules.errors import RulesOutOfReach
from vault.rules.facts import Row

__all__ = ["LocalFacts", "local_module", "peer_limits", "registry"]

_OWN_LIMITS = Limits()
_EVALUATIONS: Final = 8  # of a peer's rules in one exchange that may run to the full time


def peer_limits(records: int) -> Limits:
    """Return the bounds of rules that a peer brings, for a store of so many records.

    Harm ends within two seconds; honest work over a large store, which grows with it, gets its time.
    """
    more = max(records, 0) / 1_000_000
    return Limits(seconds=1.5 + 5 * more, steps=int(60_000_000 + 200_000_000 * more), temp_pages=32_768)


_PEER_LIMITS = peer_limits(100_000)


@dataclass(frozen=True, slots=True)
class LocalFacts:
    """What rules may look at on this side of a link.

    Args:
        source: the record facts of this vault, with what else its own rules may know, such as `Member`.
        shown: the records that the peer's rules may see: what this side exposes to that peer.
        clock: seconds of a clock that never goes back, for the limits of time.
        limits: bounds of this side's rules.
        peer_limits: bounds of the peer's.
    """

    source: StoreFacts | TupleFacts
    shown: View
    clock: Callable[[], float] | None = field(default=None, compare=False)
    limits: Limits = _OWN_LIMITS
    peer_limits: Limits = _PEER_LIMITS

    def own(self, evaluation: Evaluation) -> FactSource:
        """Return the facts for a module of this side."""
        facts = {**self.source.rows, **_exchange_facts(evaluation)}
        return replace(self.source, rows=facts) if isinstance(self.source, StoreFacts) else TupleFacts(facts)

    def peers(self, evaluation: Evaluation) -> FactSource:
        """Return the facts for a module of the peer's: the store behind the view, and what the exchange says."""
        facts = _exchange_facts(evaluation)
        return replace(self.source, rows=facts) if isinstance(self.source, StoreFacts) else TupleFacts(facts)


def _exchange_facts(evaluation: Evaluation) -> dict[str, list[Row]]:
    """Return advertisements and runtime facts as tuples; those are all equal on both sides or about the peer."""
    source = evaluation.source
    rows: dict[str, list[Row]] = {"Advertised": [], "AdvertisedField": []}
    for fact in evaluation.runtime:
        rows.setdefault(fact.predicate, []).append(fact.args)
    for record, fields in evaluation.advertised.items():
        text = record.text
        rows["Advertised"].append((text, source))
        rows["AdvertisedField"] += [(text, source, name, str(index), value) for name, index, value in fields]
    return rows


def registry(facts: LocalFacts) -> ModuleRegistry:
    """Return the modules that can be run on a link: that which all know, and whatever the peer brings (FAC-15, FAC-16).

    The peer's module runs under this side's query view for that peer, whatever it says of itself (FAC-7).
    """

    def compiler(text: str) -> PolicyModule:
        return _policy(compile_module(text), facts, own=False)

    return ModuleRegistry((GROUP_SHARED,), compiler)


def local_module(text: str, facts: LocalFacts) -> PolicyModule:
    """Return a module of this side's own, to be presented as its operand.

    Raises:
        RuleError: the text is no program, or not in its canonical form.
    """
    return _policy(compile_module(text), facts, own=True)


class _Budget:
    """What the rules of a peer may take in one exchange, which evaluates them many times (FAC-12).

    A program that stays just inside the limits of one evaluation must not hold a vault for as many as an exchange has.
    """

    def __init__(self, facts: LocalFacts) -> None:
        self._limits, self._clock = facts.peer_limits, facts.clock
        self._left = facts.peer_limits.seconds * _EVALUATIONS

    @contextmanager
    def spending(self) -> Iterator[Limits]:
        """Give the limits of the next evaluation, and count what it takes.

        Raises:
            RulesOutOfReach: nothing is left.
        """
        if self._left <= 0:
            total = self._limits.seconds * _EVALUATIONS
            raise RulesOutOfReach(f"The rules of the peer took more than {total:g} seconds in this exchange.")
        begun = self._clock() if self._clock is not None else 0.0
        try:
            yield replace(self._limits, seconds=min(self._limits.seconds, self._left))
        finally:
            self._left -= self._clock() - begun if self._clock is not None else 0.0


def _policy(module: RuleModule, facts: LocalFacts, *, own: bool) -> PolicyModule:
    view = None if own else facts.shown
    budget = _Budget(facts)

    def select(predicate: str) -> Select:
        def run(evaluation: Evaluation) -> Set[RecordHash]:
            source = facts.own(evaluation) if own else facts.peers(evaluation)
            with nullcontext(facts.limits) if own else budget.spending() as limits:
                rows = module.tuples(predicate, source, view=view, limits=limits, clock=facts.clock)
            if predicate == "SelectHave":
                return {RecordHash.parse(row[0]) for row in rows}
            names = {record.text: record for record in evaluation.advertised}
            label = evaluation.source
            return {names[row[0]] for row in rows if row[1] == label and row[0] in names}

        return run

    return PolicyModule(module.text, module.needed_fields, select("SelectAdvertised"), select("SelectHave"))
