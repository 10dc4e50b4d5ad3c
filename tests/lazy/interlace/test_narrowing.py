"""The machine finds what differs by narrowing where that pays, and predicts the peer's state from its own (INT-99)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lazy.interlace import announced as announced_module
from lazy.interlace import peerstate as peerstate_module
from lazy.interlace.announced import Announced
from lazy.interlace.documents.engine import Engine, EngineSide
from lazy.interlace.errors import ListingTooLarge, MalformedFactBlock
from lazy.interlace.limits import Limits
from lazy.interlace.machine import InterlaceMachine
from lazy.interlace.messages import Asks, FullListing, Received, Summaries
from lazy.interlace.negotiate import HelloTerms
from lazy.interlace.result import Cursor
from lazy.interlace.states import Phase
from tests.lazy.interlace.links import TERMS, config, engine
from tests.lazy.interlace.stores import ALICE, BOB, MemoryPort, note
from vault.records import Plex

NOTES = [note(str(number)) for number in range(300)]
STEADY = replace(TERMS, narrows=False)
numbers = st.sets(st.integers(0, 299), max_size=30)


def run(mine: list[Plex], theirs: list[Plex], *cursors: Cursor | None, **changes: Any) -> tuple[Engine, Any, Any]:
    exchange = engine(MemoryPort(mine), MemoryPort(theirs), cursors or (None, None), **changes)  # type: ignore[arg-type]
    one, other = exchange.run()
    return exchange, one, other


def state(result: Any) -> set[Any]:
    return set(result.cursor.entries.items())


@settings(max_examples=15, deadline=None)
@given(numbers, numbers, st.sampled_from([0, 1, 2, 5]), st.sampled_from([40, 70, 200, 16_384]), st.booleans())
def test_whatever_way_it_goes_the_state_is_that_of_the_listing(
    mine: set[int], theirs: set[int], crowd: int, budget: int, both: bool
) -> None:
    """INT-99, INT-102, INT-103, INT-159: with narrowing on both sides, on one, on none; with little to spend."""
    left = [one for number, one in enumerate(NOTES) if number not in mine]
    right = [one for number, one in enumerate(NOTES) if number not in theirs]
    limits = Limits(max_partition_summaries=budget)
    with pytest.MonkeyPatch.context() as patch:
        # Few records: narrowing pays from so many on.
        for module in (announced_module, peerstate_module):
            patch.setattr(module, "should_list", lambda count: count <= crowd)
        terms = replace(TERMS, limits=limits)
        one = InterlaceMachine(config(terms=terms), alice := MemoryPort(left))
        other = InterlaceMachine(
            config(alice=False, terms=terms if both else replace(terms, narrows=False)), bob := MemoryPort(right)
        )
        first, second = Engine(EngineSide(one, ALICE), EngineSide(other, BOB)).run()
        assert alice.records == bob.records
        again = engine(alice, bob, (first.cursor, second.cursor), terms=terms).run()
    plain = engine(MemoryPort(list(alice.records.values())), MemoryPort(list(bob.records.values())), terms=STEADY).run()
    assert state(again[0]) == state(plain[0])
    assert state(again[1]) == state(plain[1])
    assert [(each.received, each.loops) for each in again] == [((), 1)] * 2


def test_who_holds_the_same_lists_nothing() -> None:
    """INT-100, INT-165: without a cursor, the prediction stands for what was listed once."""
    same, one, _ = run(NOTES, NOTES)
    most = run(NOTES, [])[0].traffic[0].fact_bytes
    assert len(one.cursor.entries) == len(NOTES)
    assert same.traffic[0].fact_bytes < most
    few, _, _ = run(NOTES[:-2], NOTES)
    assert few.traffic[1].fact_bytes < 2 * same.traffic[1].fact_bytes + 1200  # each iteration has its summaries


def test_narrowing_costs_less_where_it_pays() -> None:
    """INT-46, INT-48, INT-101, INT-102: five thousand records and a few that differ."""
    many = [note(f"m{number}") for number in range(5000)]
    costs = []
    for terms in (TERMS, STEADY):
        exchange, one, other = run(many[3:], many[:-3], terms=terms)
        assert (len(one.received), len(other.received)) == (3, 3)
        costs.append(sum(traffic.fact_bytes for traffic in exchange.traffic))
    assert costs[0] * 2 < costs[1]


@pytest.mark.parametrize(("terms", "times"), [(STEADY, 1), (TERMS, 2)])
def test_what_was_not_offered_is_not_narrowed(terms: HelloTerms, times: int) -> None:
    """INT-102, INT-144: without the capability on both sides, or twice, it is a fault."""
    exchange = engine(MemoryPort(NOTES), MemoryPort(NOTES[5:]), terms=terms)
    deliver, target = exchange._deliver, exchange._sides[0].machine
    faults: list[MalformedFactBlock] = []

    def bent(index: int, parcel: Any) -> None:
        if index or target.phase is not Phase.RECONCILE or faults:
            deliver(index, parcel)
            return
        prefix = next(iter(target._own._partitions))
        with pytest.raises(MalformedFactBlock) as caught:
            target.handle(Received(Asks((), (prefix,) * times)))
        faults.append(caught.value)

    exchange._deliver = bent  # type: ignore[method-assign]
    exchange.run()
    assert len(faults) == 1


def announced(limits: Limits) -> tuple[Announced, Summaries | FullListing]:
    own = Announced()
    return own, own.announce({one.hash: () for one in NOTES}, ALICE.text, BOB.text, limits, narrows=True)


def test_what_a_side_tells_of_its_own_keeps_the_limits() -> None:
    """INT-158, INT-159, INT-160: partitions and listings of its own, summaries, and how deep it narrows."""
    _, told = announced(Limits())
    assert isinstance(told, Summaries)
    fullest = max(summary.count for summary in told.summaries)
    assert fullest > 1
    announced(Limits(max_advertisement_records=fullest))
    with pytest.raises(ListingTooLarge, match="partition of what is to be sent"):
        announced(Limits(max_advertisement_records=fullest - 1))
    few = Limits(max_partition_summaries=len(told.summaries) - 1, max_advertisement_records=len(NOTES))
    assert isinstance(announced(few)[1], FullListing)
    with pytest.raises(ListingTooLarge, match="300 records are to be listed"):
        announced(replace(few, max_advertisement_records=len(NOTES) - 1))
    prefix = told.summaries[0].prefix
    scarce = Limits(max_partition_summaries=len(told.summaries))
    with pytest.raises(MalformedFactBlock, match="more summaries"):
        announced(scarce)[0].list((), (prefix,), scarce, may_narrow=True)
    deep = Limits(max_narrowing_depth=3)
    own, _ = announced(deep)
    children = own.list((), (prefix,), deep, may_narrow=True).children
    assert {len(child.prefix) for child in children} == {3}
    with pytest.raises(MalformedFactBlock, match="too deep"):
        own.list((), (children[0].prefix,), deep, may_narrow=True)
    assert own.list((children[0].prefix,), (), deep, may_narrow=True).ads
