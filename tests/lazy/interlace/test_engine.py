"""Two machines over serialised blocks: convergence, the worked examples, budgets, cursors, policies."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lazy.interlace.documents.engine import Engine, EngineSide
from lazy.interlace.errors import EvaluationFailed
from lazy.interlace.limits import Limits
from lazy.interlace.machine import InterlaceMachine
from lazy.interlace.messages import TickReached
from lazy.interlace.negotiate import FieldSchema, HelloTerms
from lazy.interlace.plan import (
    GROUP_SHARED,
    Evaluation,
    ModuleRegistry,
    Operand,
    PolicyModule,
    compile_plan,
)
from lazy.interlace.reasons import CloseReason
from lazy.interlace.states import Phase
from tests.lazy.interlace.links import TERMS, assert_invariants, config, engine, sync
from tests.lazy.interlace.stores import ALICE, BOB, START, MemoryPort, note
from vault.records import Plex, RecordHash, Seal
from vault.suite import SigningKey

NOTES = [note(str(number)) for number in range(40)]
subsets = st.sets(st.sampled_from(range(40))).map(lambda numbers: [NOTES[number] for number in sorted(numbers)])
WIDE = HelloTerms(START, schema=FieldSchema(all_fields=True))


def test_every_step_keeps_the_invariants() -> None:
    """INT-14, INT-15, INT-17."""
    run = engine(MemoryPort(NOTES[:30]), MemoryPort(NOTES[20:]), serve_bytes=400, max_requests=7)
    machines = [side.machine for side in run._sides]
    deliver = run._deliver
    steps = 0

    def watched(index: int, parcel: object) -> None:
        nonlocal steps
        deliver(index, parcel)  # type: ignore[arg-type]
        steps += 1
        for machine in machines:
            assert_invariants(machine)

    run._deliver = watched  # type: ignore[method-assign]
    one, other = run.run()
    assert steps > 20
    assert one.is_fixed_point
    assert other.is_fixed_point
    assert machines[0].agreed == machines[1].agreed


@settings(max_examples=60, deadline=None)
@given(subsets, subsets, st.integers(1, 50), st.integers(1, 2000))
def test_two_stores_converge_and_a_second_run_moves_nothing(
    mine: list[Plex], theirs: list[Plex], most: int, budget: int
) -> None:
    """INT-1, INT-2, INT-10, INT-109, INT-112, INT-121, INT-126, INT-164: whatever the sizes of the phases."""
    alice, bob = MemoryPort(mine), MemoryPort(theirs)
    one, other = sync(alice, bob, max_requests=most, serve_bytes=budget)
    assert alice.records == bob.records
    assert set(one.received) == {note.hash for note in theirs} - {note.hash for note in mine}
    assert one.closed_by is other.closed_by is CloseReason.FIXED_POINT
    assert (one.bytes_received, one.bytes_sent) == (other.bytes_sent, other.bytes_received)
    again = sync(alice, bob)
    assert [(r.received, r.bytes_received, r.loops) for r in again] == [((), 0, 1)] * 2


def test_the_result_names_link_plan_and_peer() -> None:
    """INT-131, INT-74, INT-30."""
    one, other = sync(MemoryPort(NOTES[:2]), MemoryPort())
    assert one.link_id == other.link_id != ""
    assert one.plan_id == other.plan_id
    assert (one.peer, other.peer) == (BOB.text, ALICE.text)
    assert one.cursor_updated
    assert other.cursor is not None
    assert set(other.cursor.entries) == {note.hash for note in NOTES[:2]}


def test_unproven_sides_use_labels_and_have_no_link_id() -> None:
    """INT-31, INT-61, INT-75, INT-76."""
    alice, bob = MemoryPort(NOTES[:3]), MemoryPort()
    base = replace(config(), proves=False, peer=None, label="left", peer_label="right")
    one = InterlaceMachine(base, alice)
    other = InterlaceMachine(replace(base, here=BOB, label="right", peer_label="left"), bob)
    results = Engine(EngineSide(one), EngineSide(other)).run()
    assert len(bob.records) == 3
    assert [(r.link_id, r.peer) for r in results] == [("", "")] * 2
    assert one.peer_source == "right"


def test_first_follow() -> None:
    """INT-167, INT-92, INT-100: no cursor, so every partition is listed; afterwards none is."""
    server = MemoryPort(NOTES)
    app = MemoryPort()
    first = engine(app, server)
    result, servers = first.run()
    assert set(result.received) == set(server.records)
    assert result.cursor_updated
    assert result.cursor is not None
    assert sum(summary.count for summary in result.cursor.summaries.values()) == len(NOTES)
    second = engine(app, server, cursors=(result.cursor, servers.cursor))
    again, _ = second.run()
    assert again.received == ()
    assert again.cursor == result.cursor
    third = engine(app, server)
    third.run()
    # The same state is reached with a cursor and by what is predicted; both save the listing (INT-99).
    assert second.traffic[1].fact_bytes == third.traffic[1].fact_bytes < first.traffic[1].fact_bytes


def test_a_stale_cursor_is_corrected_by_the_summaries() -> None:
    """INT-99, INT-129: what was withdrawn disappears, a cursor of another plan is not used."""
    server, app = MemoryPort(NOTES), MemoryPort()
    result, _ = sync(app, server)
    assert result.cursor is not None
    server.records.pop(NOTES[0].hash)
    server.records[note("new").hash] = note("new")
    again, _ = engine(app, server, cursors=(result.cursor, None)).run()
    assert again.received == (note("new").hash,)
    assert again.cursor is not None
    assert set(again.cursor.entries) == {record for record, _ in server.effective_send()}
    told = []
    others = replace(result.cursor, plan_id="E." + "0" * 43), replace(result.cursor, source="V.eve")
    for cursor in (None, *others, again.cursor):
        run = engine(MemoryPort(), server, cursors=(cursor, None))
        fresh, _ = run.run()
        assert fresh.cursor == again.cursor
        told.append(run.traffic[1].fact_bytes)
    assert told[0] == told[1] == told[2] > told[3]


def test_store_one_local_record() -> None:
    """INT-168, INT-135, INT-136: a push is an ordinary exchange in which only that record is selected."""
    pushed = NOTES[7]
    alice, bob = MemoryPort(NOTES[:10], exposes=lambda record: record == pushed), MemoryPort(NOTES[20:])
    one = InterlaceMachine(config(), alice)
    other = InterlaceMachine(config(alice=False, sends=False), bob)
    mine, theirs = Engine(EngineSide(one, ALICE), EngineSide(other, BOB)).run()
    assert theirs.received == (pushed.hash,)
    assert mine.received == ()
    assert set(bob.records) == {record.hash for record in [*NOTES[20:], pushed]}


def fields(evaluation: Evaluation, record: RecordHash) -> dict[str, str]:
    return {name: value for name, _, value in evaluation.advertised[record]}


MEMBERS = (
    "ActiveMember(V0) :- Have(V1), Field(V1,'App',_,'member'), Field(V1,'Name',_,V0).\n"
    "SelectAdvertised(V0,V1) :- Advertised(V0,V1), AdvertisedField(V0,V1,'App',_,'ding'),"
    " AdvertisedField(V0,V1,'Signed-By',_,V2), ActiveMember(V2).\n"
    "SelectAdvertised(V0,V1) :- Advertised(V0,V1), AdvertisedField(V0,V1,'App',_,'member').\n"
)


def evidence_module(port: MemoryPort) -> PolicyModule:
    """The seed's example, run by hand over the records of one side."""

    def select(evaluation: Evaluation) -> set[RecordHash]:
        members = {r.plex.name[2:] for r in port.records.values() if isinstance(r, Seal) and r.plex.app == "member"}
        chosen = set()
        for record in evaluation.advertised:
            claims = fields(evaluation, record)
            is_ding = claims.get("App") == "ding" and claims.get("Signed-By") in members
            if claims.get("App") == "member" or is_ding:
                chosen.add(record)
        return chosen

    return PolicyModule(MEMBERS, frozenset({"App", "Signed-By"}), select)


def test_evidence_closure() -> None:
    """INT-169, INT-9, INT-121: one loop fetches members, the next what they signed; nothing else is fetched."""
    carol, dave = SigningKey.from_seed(bytes([7]) * 32), SigningKey.from_seed(bytes([8]) * 32)
    member = Seal.sign(note(carol.verifier.text, app="member"), carol)
    dings = [Seal.sign(note(f"ding{n}", app="ding"), carol) for n in range(3)]
    strange = Seal.sign(note("ding9", app="ding"), dave)
    server, app = MemoryPort([member, *dings, strange]), MemoryPort()
    machines = []
    for is_app, port in ((True, app), (False, server)):
        module = evidence_module(port)
        link = config(alice=is_app, terms=WIDE, module=module, registry=ModuleRegistry([module]))
        machines.append(InterlaceMachine(link, port))
    mine, _ = Engine(EngineSide(machines[0], ALICE), EngineSide(machines[1], BOB)).run()
    assert mine.received[0] == member.hash
    assert set(mine.received[1:]) == {ding.hash for ding in dings}
    assert mine.loops >= 2
    assert set(server.loads) == {member.hash, *(ding.hash for ding in dings)}


def test_only_what_is_exposed_is_advertised_and_sent() -> None:
    """INT-7, INT-47, INT-98, FAC-7: a hidden record changes no byte of what the peer sees."""
    hidden = note("hidden")
    open_only = engine(MemoryPort(NOTES[:5]), MemoryPort())
    with_hidden = engine(MemoryPort([*NOTES[:5], hidden], exposes=lambda record: record is not hidden), MemoryPort())
    open_only.run()
    with_hidden.run()
    assert open_only.traffic == with_hidden.traffic


def test_a_record_that_is_gone_when_asked_for_is_not_available() -> None:
    """INT-113, INT-155: reported, and the rest goes on."""

    class Forgetful(MemoryPort):
        def may_send(self, record: RecordHash) -> bool:
            return record != NOTES[0].hash and super().may_send(record)

    app = MemoryPort()
    result, _ = sync(app, Forgetful(NOTES[:4]))
    assert result.not_available == (NOTES[0].hash,)
    assert set(result.received) == {note.hash for note in NOTES[1:4]}
    assert result.is_fixed_point


def test_a_record_that_does_not_validate_is_rejected_and_the_rest_goes_on() -> None:
    """INT-119, INT-154, INT-118: other bytes, other record, no record."""

    class Liar(MemoryPort):
        def load(self, record: RecordHash) -> bytes | None:
            lies = {NOTES[0].hash: b"nonsense", NOTES[1].hash: NOTES[9].encode(), NOTES[2].hash: b""}
            return lies.get(record, super().load(record))

    app = MemoryPort()
    result, _ = sync(app, Liar(NOTES[:6]))
    assert {record for record, _ in result.rejected} == {note.hash for note in NOTES[:3]}
    assert all(code for _, code in result.rejected)
    assert set(app.records) == set(result.received) == {note.hash for note in NOTES[3:6]}
    assert result.is_fixed_point


def test_only_what_is_advertised_is_asked_for() -> None:
    """INT-6, INT-110: a policy may name any record by its hash; what nobody advertises is not asked for."""
    ghost = note("ghost")
    names = PolicyModule(
        "SelectAdvertised(V0,V1) :- Advertised(V0,V1).\n",
        frozenset(),
        lambda evaluation: {*evaluation.advertised, ghost.hash},
    )
    server = MemoryPort([*NOTES[:2], ghost], exposes=lambda record: record is not ghost)
    result, _ = sync(MemoryPort(), server, module=names, registry=ModuleRegistry([names]))
    assert set(result.received) == {record.hash for record in NOTES[:2]}
    assert result.not_available == ()


def test_what_the_policy_selects_no_more_is_not_sent() -> None:
    """INT-7, INT-113: MaySend is asked again when a record is to be sent, of the policy too."""
    asked = 0

    def send(evaluation: Evaluation) -> set[RecordHash]:
        nonlocal asked
        asked += evaluation.source == ALICE.text
        return {record.hash for record in NOTES[asked > 1 : 4]}

    offers = PolicyModule(
        "SelectAdvertised(V0,V1) :- Advertised(V0,V1).\nSelectHave(V0) :- Have(V0).\n",
        frozenset(),
        lambda evaluation: set(evaluation.advertised),
        send,
    )
    app = MemoryPort()
    result, _ = sync(app, MemoryPort(NOTES[:4]), module=offers, registry=ModuleRegistry([offers]))
    assert result.not_available == (NOTES[0].hash,)
    assert set(app.records) == {record.hash for record in NOTES[1:4]}


def test_what_was_refused_before_is_not_fetched_again() -> None:
    """INT-6: not requestable."""
    app, server = MemoryPort(), MemoryPort(NOTES[:3])
    app.refusals = {NOTES[1].hash}
    result, _ = sync(app, server)
    assert set(result.received) == {NOTES[0].hash, NOTES[2].hash}
    assert NOTES[1].hash not in server.loads


@pytest.mark.parametrize("spare", [0, 5])
def test_a_sender_never_exceeds_the_byte_limit_and_the_rest_is_deferred(spare: int) -> None:
    """INT-114, INT-115, INT-126, INT-161: no fixed point is claimed; the next round goes on."""
    size = len(NOTES[0].encode())
    terms = replace(TERMS, limits=Limits(max_total_transferred_bytes=size * 3 + spare))
    app, server = MemoryPort(), MemoryPort(NOTES[:8])
    got: list[int] = []
    for _ in range(3):
        result, _ = sync(app, server, terms=terms)
        got.append(len(result.received))
        assert result.bytes_received <= size * 3 + spare
        assert result.is_fixed_point == (len(app.records) == 8)
        assert result.closed_by in (CloseReason.DEFERRED, CloseReason.FIXED_POINT)
    assert got == [3, 3, 2]


def test_the_loop_limit_closes_without_a_fixed_point() -> None:
    """INT-122, INT-123, INT-162, INT-132: a store that grows with every look never converges."""

    class Growing(MemoryPort):
        def effective_send(self):  # type: ignore[no-untyped-def]
            fresh = note(f"grown {len(self.records)}")
            self.records[fresh.hash] = fresh
            return super().effective_send()

    terms = replace(TERMS, limits=Limits(max_loop_iterations=4))
    app = MemoryPort()
    result, other = sync(app, Growing(), terms=terms)
    assert result.closed_by is other.closed_by is CloseReason.LOOP_LIMIT
    assert result.loops == 4
    assert len(app.records) == 4


def test_records_stored_meanwhile_take_part_in_a_later_loop() -> None:
    """INT-93, INT-95, INT-124: nothing is pinned; what comes after the last evaluation waits."""
    late = note("late")

    class Busy(MemoryPort):
        def load(self, record: RecordHash) -> bytes | None:
            self.records[late.hash] = late
            return super().load(record)

    app = MemoryPort()
    result, _ = sync(app, Busy(NOTES[:1]))
    assert set(app.records) == {NOTES[0].hash, late.hash}
    assert result.loops == 3


def test_without_a_budget_of_summaries_the_full_listing_remains() -> None:
    """INT-45, INT-99, INT-159: the same state by either way."""
    terms = replace(TERMS, limits=Limits(max_partition_summaries=1))
    app, server = MemoryPort(), MemoryPort(NOTES)
    listed = engine(app, server, terms=terms)
    result, _ = listed.run()
    assert set(app.records) == set(server.records)
    assert result.cursor is not None
    assert not result.cursor.summaries
    summarised, _ = sync(MemoryPort(), server)
    assert summarised.cursor is not None
    assert summarised.cursor.entries == result.cursor.entries


@pytest.mark.parametrize("summaries", [1, 16_384])
def test_messages_are_cut_into_blocks_of_the_agreed_size(summaries: int) -> None:
    """INT-151, INT-157, H-10: listings, summaries, asks and request lists."""
    many = [note(f"cut {n}") for n in range(120)]
    terms = replace(TERMS, limits=Limits(max_fact_block_bytes=4096, max_partition_summaries=summaries))
    app = MemoryPort()
    run = engine(app, MemoryPort(many), terms=terms)
    run.run()
    assert len(app.records) == 120
    assert run.traffic[1].blocks > 12


def test_a_prepared_policy_serves_again() -> None:
    """INT-12, INT-59: the same plan, the same result."""
    port = MemoryPort(NOTES[:3])
    sides = Operand(GROUP_SHARED.id, ALICE.text), Operand(GROUP_SHARED.id, BOB.text)
    plan, prepared = compile_plan(sides[0], GROUP_SHARED, sides[1], GROUP_SHARED)
    result, _ = sync(MemoryPort(), port, prepared=prepared)
    assert result.plan_id == plan.id
    assert len(result.received) == 3


def test_a_tick_rides_on_the_next_block_and_moves_both_sides() -> None:
    """INT-84, INT-85, INT-86, INT-88, INT-89, INT-70, INT-90."""
    seen: list[tuple[str, ...]] = []

    def select(evaluation: Evaluation) -> set[RecordHash]:
        seen.append(tuple(f.args[0] for f in evaluation.runtime if f.predicate == "TickTAI"))
        return set(evaluation.advertised)

    module = PolicyModule("SelectAdvertised(V0,V1) :- Advertised(V0,V1).\n", frozenset(), select)
    run = engine(MemoryPort(NOTES[:4]), MemoryPort(NOTES[4:8]), module=module, registry=ModuleRegistry([module]))
    machines = [side.machine for side in run._sides]
    deliver = run._deliver
    later = START.later(TERMS.tick_interval_ns)
    ready: set[int] = set()

    def with_ticks(index: int, parcel: object) -> None:
        deliver(index, parcel)  # type: ignore[arg-type]
        if machines[index].phase is Phase.ADVERTISE and index not in ready:
            ready.add(index)
            assert machines[index].tick == START
            machines[index].handle(TickReached(later))

    run._deliver = with_ticks  # type: ignore[method-assign]
    run.run()
    assert [machine.tick for machine in machines] == [later, later]
    assert seen[-1] == (later.text,)
    assert {tick for (tick,) in seen} <= {START.text, later.text}


def test_the_shared_tick_is_the_later_start_and_then_the_earlier_of_both() -> None:
    """INT-67, INT-70, INT-84, INT-88: whoever is ready first waits for the other."""
    ahead = START.later(5 * 10**9)
    one = InterlaceMachine(config(), MemoryPort(NOTES[:4]))
    other = InterlaceMachine(config(alice=False, terms=replace(TERMS, tai=ahead)), MemoryPort(NOTES[4:8]))
    run = Engine(EngineSide(one, ALICE), EngineSide(other, BOB))
    deliver = run._deliver
    ticks: list[tuple[object, object]] = []

    def with_a_tick(index: int, parcel: object) -> None:
        deliver(index, parcel)  # type: ignore[arg-type]
        if index == 0 and one.phase is Phase.ADVERTISE and not ticks:
            ticks.append((one.tick, other.tick))
            one.handle(TickReached(ahead.later(TERMS.tick_interval_ns)))
        elif ticks:
            ticks.append((one.tick, other.tick))

    run._deliver = with_a_tick  # type: ignore[method-assign]
    run.run()
    assert len(ticks) > 4
    assert {tick for both in ticks for tick in both if tick is not None} == {ahead}
    assert other._ticks is not None
    assert other._ticks.theirs == ahead.later(TERMS.tick_interval_ns)


def test_a_later_run_after_an_abort_starts_from_the_negotiation_and_keeps_what_came() -> None:
    """INT-156: stored records stay."""

    class Broken(MemoryPort):
        def accept_many(self, records):  # type: ignore[no-untyped-def]
            verdicts = super().accept_many(records)
            bob.exposes = fail
            return verdicts

    def fail(_: object) -> bool:
        raise EvaluationFailed("The policy of the other side ran out of its budget.")

    alice, bob = Broken(), MemoryPort(NOTES[:5])
    with pytest.raises(EvaluationFailed) as caught:
        sync(alice, bob, max_requests=2)
    assert caught.value.result is not None
    assert caught.value.result.closed_by is CloseReason.ABORTED
    assert len(alice.records) == 2
    bob.exposes = lambda _: True
    result, _ = sync(MemoryPort(alice.records.values()), bob)
    assert len(result.received) == 3
