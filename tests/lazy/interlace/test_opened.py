"""An exchange that stays open: it rests, wakes, ticks, and changes its policy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lazy.interlace.documents.engine import EngineSide
from lazy.interlace.documents.open_machine import OpenMachine
from lazy.interlace.documents.opened import OpenExchange
from lazy.interlace.documents.stream import StreamLink
from lazy.interlace.errors import InterlaceAbort, MachineMisuse, MalformedFactBlock
from lazy.interlace.machine import InterlaceMachine
from lazy.interlace.messages import Close, Received, RequestList, TickReached, Wake
from lazy.interlace.plan import GROUP_SHARED, Evaluation, ModuleRegistry, PolicyModule
from lazy.interlace.reasons import CloseReason
from lazy.interlace.states import Phase
from tests.lazy.interlace.links import TERMS, assert_invariants, config
from tests.lazy.interlace.stores import ALICE, BOB, START, MemoryPort, note
from tests.lazy.interlace.vaultport import StorePort
from tests.vault.rules.stores import add, make, open_store, share
from vault.records import Plex, Seal, Tai

NOTES = [note(str(number)) for number in range(30)]
NONE = PolicyModule("SelectHave(V0) :- Have(V0), Shared(V0).\n", frozenset(), lambda _: set())
BOTH = ModuleRegistry([GROUP_SHARED, NONE])


def opened(alice: MemoryPort, bob: MemoryPort, *, serialised: bool = True) -> OpenExchange:
    """Alice and bob, who stay together; what counts as a position is how much they hold."""
    one = OpenMachine(config(registry=BOTH), alice)
    other = OpenMachine(config(alice=False, registry=BOTH), bob)
    counts = (lambda: len(alice.records), lambda: len(bob.records))
    return OpenExchange(EngineSide(one, ALICE), EngineSide(other, BOB), counts, serialised=serialised)


def epochs(machines: Iterable[InterlaceMachine]) -> list[int]:
    return [machine.epoch for machine in machines if isinstance(machine, OpenMachine)]


def put(port: MemoryPort, *records: Plex) -> None:
    port.records.update({record.hash: record for record in records})


def test_it_rests_at_a_fixed_point_and_goes_on_when_a_record_is_stored() -> None:
    """INT-127, INT-124: what is stored afterwards takes part in the next round, whoever stores it."""
    alice, bob = MemoryPort(NOTES[:3]), MemoryPort(NOTES[2:5])
    pair = opened(alice, bob)
    assert pair.settle() is not None
    assert alice.records == bob.records
    assert pair.settle() is None
    assert pair.is_open
    put(alice, NOTES[7])
    put(bob, NOTES[8], NOTES[9])
    results = pair.settle()
    assert results is not None
    assert alice.records == bob.records
    assert len(alice.records) == 8
    assert all(result.is_fixed_point for result in results)
    assert pair.settle() is None


def test_a_round_says_little_of_what_is_known_already() -> None:
    """INT-92, INT-99, INT-127: partitions that did not change are not listed again."""
    alice, bob = MemoryPort(NOTES[:25]), MemoryPort()
    pair = opened(alice, bob)
    pair.settle()
    before = sum(traffic.fact_bytes for traffic in pair.traffic)
    put(alice, NOTES[29])
    pair.settle()
    later = sum(traffic.fact_bytes for traffic in pair.traffic) - before
    assert NOTES[29].hash in bob.records
    assert later < before


def test_another_operand_is_another_epoch_and_what_is_stored_stays() -> None:
    """INT-55, INT-128, INT-129: a new setup, a new plan, and a cursor of the old one is not used."""
    alice, bob = MemoryPort(NOTES[:4]), MemoryPort()
    pair = opened(alice, bob)
    first = pair.settle()
    assert first is not None
    machines = [side.machine for side in pair._sides]
    narrow, _ = pair.present(1, NONE)
    assert narrow.plan_id != first[0].plan_id
    assert epochs(machines) == [1, 1]
    put(alice, NOTES[20])
    pair.settle()
    assert NOTES[20].hash not in bob.records
    assert len(bob.records) == 4
    wide = pair.present(1, GROUP_SHARED)
    assert wide[0].plan_id == first[0].plan_id
    assert epochs(machines) == [2, 2]
    assert bob.records == alice.records
    again = pair.present(0, GROUP_SHARED)  # the same one: another setup, and the same epoch
    assert epochs(machines) == [2, 2]
    assert [result.received for result in again] == [(), ()]


def test_ticks_move_both_sides_and_never_go_back() -> None:
    """INT-84..89, INT-128: policies are evaluated again with the new time; a new epoch does not start before it."""
    seen: list[str] = []

    def select(evaluation: Evaluation) -> set:  # type: ignore[type-arg]
        seen.extend(fact.args[0] for fact in evaluation.runtime if fact.predicate == "TickTAI")
        return set(evaluation.advertised)

    text = "SelectAdvertised(V0,V1) :- Advertised(V0,V1), TickTAI(_).\n"
    module = PolicyModule(text, frozenset(), select)
    machines = [
        OpenMachine(config(alice=alice, module=module, registry=ModuleRegistry([module])), MemoryPort(NOTES[:1]))
        for alice in (True, False)
    ]
    pair = OpenExchange(EngineSide(machines[0], ALICE), EngineSide(machines[1], BOB), (lambda: 0, lambda: 0))
    pair.settle()
    step = TERMS.tick_interval_ns
    for n in (1, 2, 5):
        later = START.total_ns + n * step
        pair.tick(Tai(later // 10**9, later % 10**9))
        assert [machine.tick for machine in machines] == [Tai(later // 10**9, later % 10**9)] * 2
    pair.present(0, module)
    assert [machine.tick.text for machine in machines if machine.tick is not None] == [max(seen)] * 2
    assert seen == sorted(seen)
    assert len(set(seen)) == 4


def test_a_ready_time_that_nobody_was_told_ends_with_its_epoch() -> None:
    """INT-87, INT-128: the next one begins at the later of both, and there a time before it would go back."""
    pair = opened(MemoryPort(NOTES[:1]), MemoryPort())
    pair.settle()
    alice, bob = (side.machine for side in pair._sides)
    step = TERMS.tick_interval_ns
    alice.handle(TickReached(START.later(step)))
    bob.handle(TickReached(START.later(5 * step)))
    pair.present(0, NONE)
    assert pair.is_open
    assert [machine.tick for machine in (alice, bob)] == [START.later(5 * step)] * 2


def test_both_may_wake_and_one_may_renew_at_the_same_time() -> None:
    """INT-127, INT-128: what crosses on the way belongs to one of both, and they end alike."""
    for serialised in (True, False):
        alice, bob = MemoryPort(NOTES[:2]), MemoryPort()
        pair = opened(alice, bob, serialised=serialised)
        pair.settle()
        put(alice, NOTES[5])
        put(bob, NOTES[6])
        for index, wake in ((0, Wake(GROUP_SHARED)), (1, Wake())):
            pair._queue(index, pair._sides[index].machine.handle(wake))
        pair.settle()
        assert alice.records == bob.records
        assert {NOTES[5].hash, NOTES[6].hash} <= set(alice.records)
        for side in pair._sides:
            assert side.machine.phase is Phase.FIXED
            assert_invariants(side.machine)


def test_a_bounded_exchange_does_not_go_on() -> None:
    """INT-122, INT-130: it ends at its fixed point; so does an open one that is closed."""
    machine = InterlaceMachine(config(), MemoryPort())
    with pytest.raises(MachineMisuse):
        machine.handle(Wake())
    alice = MemoryPort(NOTES[:1])
    pair = opened(alice, MemoryPort())
    pair.settle()
    pair.close()
    assert not pair.is_open
    put(alice, NOTES[1])
    assert pair.settle() is None
    assert pair._sides[0].machine.result.closed_by in {CloseReason.CLOSED, CloseReason.FIXED_POINT}
    assert pair._sides[0].machine.handle(Close()) == ()


def test_what_belongs_to_no_beginning_ends_a_resting_exchange() -> None:
    """INT-144: at rest the peer may begin a round or an epoch, and nothing else."""
    pair = opened(MemoryPort(NOTES[:1]), MemoryPort())
    pair.settle()
    with pytest.raises(MalformedFactBlock):
        pair._sides[0].machine.handle(Received(RequestList(())))
    other = opened(MemoryPort(NOTES[:1]), MemoryPort())
    other.settle()
    unknown = replace(NONE, text="SelectHave(V0) :- Have(V0).\n")  # bob cannot run it, and lacks a compiler
    with pytest.raises(InterlaceAbort):
        other.present(0, unknown)
    assert not other.is_open


def test_it_stays_open_over_a_stream() -> None:
    """FAC-23, INT-127, INT-128: rounds and epochs follow each other in the same two streams."""
    alice, bob = MemoryPort(NOTES[:3]), MemoryPort(NOTES[10:11])
    ends = (
        StreamLink(OpenMachine(config(registry=BOTH), alice), BOB),
        StreamLink(OpenMachine(config(alice=False, registry=BOTH), bob), ALICE),
    )

    def move(first: tuple[bytes, bytes]) -> None:
        waiting = list(first)
        while any(waiting):
            now, waiting = waiting, [b"", b""]
            for index, data in enumerate(now):
                waiting[1 - index] = ends[index].take(data)

    move((ends[1].start(), ends[0].start()))
    assert alice.records == bob.records
    put(bob, NOTES[12])
    move((ends[1].wake(), b""))
    assert NOTES[12].hash in alice.records
    put(alice, NOTES[13])
    move((b"", ends[0].wake(NONE)))
    assert NOTES[13].hash not in bob.records
    move((ends[1].wake(), ends[0].wake(GROUP_SHARED)))
    assert alice.records == bob.records
    assert epochs([end.machine for end in ends]) == [2, 2]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 29), st.booleans()), max_size=12), st.booleans())
def test_after_any_changes_both_hold_what_a_fresh_exchange_gives(
    steps: list[tuple[int, int, bool]], serialised: bool
) -> None:
    """INT-10, INT-121, INT-127, INT-164: an open exchange loses nothing that a bounded one would bring."""
    ports = (MemoryPort(NOTES[:2]), MemoryPort(NOTES[1:4]))
    pair = opened(*ports, serialised=serialised)
    for index, number, settles in steps:
        put(ports[index], NOTES[number])
        if settles:
            pair.settle()
    pair.settle()
    assert ports[0].records == ports[1].records


@pytest.fixture
def ports(tmp_path: Path) -> Iterator[tuple[StorePort, StorePort]]:
    """Two stores."""
    stores = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        stores.append(open_store(tmp_path / name))
    yield StorePort(stores[0]), StorePort(stores[1])
    for store in stores:
        store.close()


def test_real_stores_wake_by_the_number_of_their_last_record(ports: tuple[StorePort, StorePort]) -> None:
    """INT-125, INT-127: the number wakes, and decides nothing about what may be seen."""
    machines = [OpenMachine(config(alice=alice), port) for alice, port in zip((True, False), ports, strict=True)]

    def last(port: StorePort) -> int:
        return int(port.store.rows("SELECT ifnull(max(p), 0) FROM body")[0][0])

    pair = OpenExchange(
        EngineSide(machines[0], ALICE), EngineSide(machines[1], BOB), (lambda: last(ports[0]), lambda: last(ports[1]))
    )
    pair.settle()
    shown: list[Plex | Seal] = [make("lace/a", "shown", 1)]
    add(ports[0].store, shown)
    share(ports[0].store, [record.hash for record in shown])
    pair.settle()
    assert ports[1].store.have([shown[0].hash])
    hidden: list[Plex | Seal] = [make("lace/a", "hidden", 2)]
    add(ports[0].store, hidden)
    before = [traffic.record_bytes for traffic in pair.traffic]
    assert pair.settle() is not None
    assert [traffic.record_bytes for traffic in pair.traffic] == before
    assert not ports[1].store.have([hidden[0].hash])
