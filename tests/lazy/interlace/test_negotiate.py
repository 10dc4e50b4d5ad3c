"""Hellos, what two of them agree on, runtime facts and ticks."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lazy.interlace.errors import (
    NegotiationFailed,
    PeerVerifierMismatch,
    PlanMismatch,
    UnsupportedFieldSchema,
    UnsupportedRecordFormat,
)
from lazy.interlace.facts import Fact
from lazy.interlace.limits import Limits
from lazy.interlace.negotiate import (
    FieldSchema,
    Hello,
    HelloTerms,
    Negotiated,
    check_tick_ready,
    negotiate,
    runtime_facts,
)
from lazy.interlace.plan import GROUP_SHARED, Operand, Plan, link_id
from tests.lazy.interlace.stores import ALICE, BOB, START
from vault.records import Tai

PLAN = Plan.of(Operand(GROUP_SHARED.id, ALICE.text), Operand(GROUP_SHARED.id, BOB.text), frozenset({"App"}))
ALL = FieldSchema(all_fields=True)
MINE = Hello(PLAN.id, ALICE, HelloTerms(START))
THEIRS = Hello(PLAN.id, BOB, HelloTerms(START.later(7_999_999_999)))
tais = st.builds(Tai, st.integers(0, 9_999_999_999), st.integers(0, 999_999_999))
names = st.frozensets(st.sampled_from(["App", "Group", "Name", "Type", "+Link"]))
schemas = st.one_of(st.just(ALL), names.map(FieldSchema))
terms = st.builds(HelloTerms, tais, st.integers(1, 10**12), st.just(frozenset({"H3"})), schemas, st.just(Limits()))


@given(terms)
def test_a_hello_survives_its_facts(brought: HelloTerms) -> None:
    """INT-41, INT-66."""
    hello = Hello(PLAN.id, ALICE, brought)
    assert Hello.from_facts(hello.to_facts()) == hello


@given(terms, terms)
def test_both_sides_agree_on_the_same_values(one: HelloTerms, other: HelloTerms) -> None:
    """INT-28, INT-67, INT-68, INT-69, INT-80; invariant 7."""
    mine, theirs = Hello(PLAN.id, ALICE, one), Hello(PLAN.id, BOB, other)
    anything = replace(PLAN, needed_fields=frozenset())
    mine, theirs = replace(mine, plan_id=anything.id), replace(theirs, plan_id=anything.id)
    agreed = negotiate(mine, theirs, anything, proven=BOB)
    assert agreed == negotiate(theirs, mine, anything, proven=ALICE)
    assert agreed.start.text == max(one.tai.text, other.tai.text)
    assert agreed.skew_seconds == abs(one.tai.total_ns - other.tai.total_ns) // 10**9
    assert agreed.tick_interval_ns == max(one.tick_interval_ns, other.tick_interval_ns)
    assert agreed.link_id == link_id(ALICE.text, BOB.text, anything.id)


def test_the_skew_is_floored_whole_seconds() -> None:
    """INT-68."""
    assert negotiate(MINE, THEIRS, PLAN, proven=BOB).skew_seconds == 7


def test_the_schema_table() -> None:
    """INT-80, INT-81, INT-82, INT-83, INT-34, INT-35."""
    app, both = FieldSchema(frozenset({"App"})), FieldSchema(frozenset({"App", "Type"}))
    assert ALL.intersect(ALL) == ALL
    assert ALL.intersect(app) == app == app.intersect(ALL)
    assert both.intersect(app) == app
    assert both.satisfies(frozenset({"App"}))
    assert not app.satisfies(frozenset({"App", "Type"}))
    assert not both.satisfies(None)
    assert ALL.satisfies(None)
    assert ALL.allows("X")
    assert not app.allows("app")


def test_a_signer_without_proof_is_no_peer() -> None:
    """INT-24, INT-60, INT-61, INT-62, INT-140."""
    with pytest.raises(NegotiationFailed):
        negotiate(MINE, THEIRS, PLAN, proven=None)
    with pytest.raises(PeerVerifierMismatch):
        negotiate(MINE, THEIRS, PLAN, proven=ALICE)


def test_without_both_signers_there_is_no_link_id() -> None:
    """INT-75, INT-76."""
    nameless = replace(THEIRS, signer=None)
    assert negotiate(MINE, nameless, PLAN, proven=BOB).link_id == ""
    assert negotiate(replace(MINE, signer=None), THEIRS, PLAN, proven=BOB).link_id == ""


def test_another_plan_aborts() -> None:
    """INT-65, INT-141."""
    with pytest.raises(PlanMismatch):
        negotiate(MINE, replace(THEIRS, plan_id="E." + "0" * 43), PLAN, proven=BOB)


def test_no_common_format_aborts() -> None:
    """INT-77, INT-142."""
    other = replace(THEIRS, terms=replace(THEIRS.terms, formats=frozenset({"H4"})))
    with pytest.raises(UnsupportedRecordFormat):
        negotiate(MINE, other, PLAN, proven=BOB)


def test_a_schema_too_narrow_for_the_plan_aborts() -> None:
    """INT-82, INT-83, INT-143."""
    narrow = replace(THEIRS, terms=replace(THEIRS.terms, schema=FieldSchema(frozenset({"Type"}))))
    with pytest.raises(UnsupportedFieldSchema):
        negotiate(MINE, narrow, PLAN, proven=BOB)
    needs_all = replace(PLAN, needed_fields=None)
    mine, theirs = replace(MINE, plan_id=needs_all.id), replace(THEIRS, plan_id=needs_all.id)
    with pytest.raises(UnsupportedFieldSchema):
        negotiate(replace(mine, terms=replace(mine.terms, schema=ALL)), theirs, needs_all, proven=BOB)


def without(predicate: str) -> list[Fact]:
    return [fact for fact in MINE.to_facts() if fact.predicate != predicate]


@pytest.mark.parametrize(
    "facts",
    [
        without("HelloTAI"),
        without("HelloTickInterval"),
        without("HelloExchangePlan"),
        [*MINE.to_facts(), Fact("HelloTAI", ("1640995201:000000000",))],
        [*MINE.to_facts(), Fact("HelloSigner", (BOB.text,))],
        [*without("HelloTAI"), Fact("HelloTAI", ("1640995201",))],
        [*without("HelloSigner"), Fact("HelloSigner", ("V.bob.H3",))],
        [*without("HelloTickInterval"), Fact("HelloTickInterval", ("0",))],
        [*without("HelloTickInterval"), Fact("HelloTickInterval", ("010",))],
        [*without("HelloTickInterval"), Fact("HelloTickInterval", ("9" * 18,))],
        [*MINE.to_facts(), Fact("HelloLimit", ("max_loop_iterations", "many"))],
    ],
)
def test_an_incomplete_or_malformed_hello_fails(facts: list[Fact]) -> None:
    """INT-66, INT-69, INT-73."""
    with pytest.raises(NegotiationFailed):
        Hello.from_facts(facts)


def test_the_readers_plan_stands_for_the_one_a_mailbox_cannot_name() -> None:
    """INT-65, H-11."""
    assert Hello.from_facts(without("HelloExchangePlan"), derived_plan=PLAN.id).plan_id == PLAN.id


def agreed() -> Negotiated:
    return negotiate(MINE, THEIRS, PLAN, proven=BOB)


def test_runtime_facts_say_only_what_is_proven() -> None:
    """INT-22, INT-23, INT-24, INT-25, INT-26, INT-70."""
    bare = runtime_facts(agreed(), here=None, peer=None, tick=agreed().start)
    assert {fact.predicate for fact in bare} == {"StartTAI", "TickTAI", "ClockSkewSeconds"}
    assert {fact.args[0] for fact in bare if fact.predicate != "ClockSkewSeconds"} == {agreed().start.text}
    full = runtime_facts(agreed(), here=ALICE, peer=BOB, tick=START, transport="tcp:example.org:4790", encrypted=True)
    assert {fact.predicate: fact.args for fact in full} == {
        "StartTAI": (agreed().start.text,),
        "TickTAI": (START.text,),
        "ClockSkewSeconds": ("7",),
        "Here": (ALICE.text,),
        "Peer": (BOB.text,),
        "Transport": ("tcp:example.org:4790",),
        "TransportEncrypted": (),
    }


def test_only_the_own_verifier_differs_between_the_sides() -> None:
    """INT-27, INT-28: Here is a parameter of the evaluation."""
    mine = runtime_facts(agreed(), here=ALICE, peer=BOB, tick=START)
    theirs = runtime_facts(agreed(), here=BOB, peer=ALICE, tick=START)
    shared = {"StartTAI", "TickTAI", "ClockSkewSeconds"}
    assert [f for f in mine if f.predicate in shared] == [f for f in theirs if f.predicate in shared]


def test_a_valid_tick_is_aligned_and_never_goes_back() -> None:
    """INT-87."""
    start, interval = agreed().start, agreed().tick_interval_ns
    assert check_tick_ready(start.text, agreed(), start) == start
    later = start.later(3 * interval)
    assert check_tick_ready(later.text, agreed(), start) == later
    for bad, last in (
        (start.later(-interval), start),
        (start.later(1), start),
        (start.later(interval - 1), start),
        (start.later(interval), later),
    ):
        with pytest.raises(NegotiationFailed):
            check_tick_ready(bad.text, agreed(), last)
    with pytest.raises(NegotiationFailed):
        check_tick_ready("soon", agreed(), start)
