"""Every row of the error table as an abort, by spoiling one message of an otherwise sound exchange."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from lazy.interlace import errors as e
from lazy.interlace.ads import Advertisement, Summary, partitions, summarise
from lazy.interlace.documents.engine import Engine, EngineSide, _Parcel
from lazy.interlace.facts import Fact, format_block
from lazy.interlace.limits import Limits
from lazy.interlace.machine import InterlaceMachine
from lazy.interlace.messages import (
    Asks,
    Close,
    Fault,
    FullListing,
    PeerTick,
    Received,
    RequestList,
    Responses,
    Send,
    Start,
    TickReached,
    TimedOut,
    TransferEnd,
)
from lazy.interlace.peerstate import PeerState
from lazy.interlace.plan import GROUP_SHARED, Executable
from lazy.interlace.reasons import AbortReason, CloseReason
from lazy.interlace.states import ENDED, Phase
from tests.lazy.interlace.links import TERMS, config, sync
from tests.lazy.interlace.stores import ALICE, BOB, MemoryPort, note
from vault.errors import PeerError, all_errors
from vault.lacegram import module_id
from vault.records import RecordHash, b64a

NOTES = [note(str(number)) for number in range(6)]
Spoil = Callable[[_Parcel], _Parcel]


class Spoiling(Engine):
    """An engine on whose way to alice one message is changed."""

    def __init__(self, phase: Phase, spoil: Spoil, **changes: Any) -> None:
        self.alice = MemoryPort(NOTES[3:])
        self.machine = InterlaceMachine(config(**changes), self.alice)
        other = InterlaceMachine(config(alice=False), MemoryPort(NOTES[:4]))
        super().__init__(EngineSide(self.machine, ALICE), EngineSide(other, BOB))
        self.at, self.spoil, self.spoiled = phase, spoil, 0

    def _deliver(self, index: int, parcel: _Parcel) -> None:
        if index == 0 and self.machine.phase is self.at and not parcel.ends_transfer:
            parcel = self.spoil(parcel)
            self.spoiled += 1
        super()._deliver(index, parcel)


def text(change: Callable[[str], str]) -> Spoil:
    return lambda parcel: replace(parcel, blocks=tuple(change(b.decode()).encode() for b in parcel.blocks))


def swap(old: str, new: str) -> Spoil:
    def change(block: str) -> str:
        assert old in block
        return block.replace(old, new)

    return text(change)


def add(*facts: Fact) -> Spoil:
    return text(lambda block: block + format_block(facts).decode())


def without_module(parcel: _Parcel) -> _Parcel:
    return replace(swap(GROUP_SHARED.id, module_id("X().\n"))(parcel), modules={})


def wrong_count(block: str) -> str:
    head, _, tail = block.partition("','1','")
    return f"{head}','2','{tail}"


def wrong_root(block: str) -> str:
    first, _, rest = block.partition("\n")
    prefix = first.split("'")[1]
    return Fact("AdvertisementPartition", (prefix, "1", b64a.encode(bytes(32)))).line + "\n" + rest


NOTE = NOTES[0].hash.text
CASES: list[tuple[str, Phase, Spoil, type[e.InterlaceAbort]]] = [
    ("INT-64 a local origin", Phase.SETUP, swap(BOB.text, "local"), e.PeerVerifierMismatch),
    ("INT-64 the receiver's origin", Phase.SETUP, swap(BOB.text, ALICE.text), e.PeerVerifierMismatch),
    ("INT-64 the receiver's label", Phase.SETUP, swap(BOB.text, "here"), e.PeerVerifierMismatch),
    ("INT-37 another index", Phase.SETUP, swap("('1'", "('0'"), e.PlanMismatch),
    ("INT-37 no index", Phase.SETUP, swap("('1'", "('2'"), e.MalformedFactBlock),
    ("INT-36 no operand", Phase.SETUP, text(lambda _: ""), e.MalformedFactBlock),
    (
        "INT-54 two operands",
        Phase.SETUP,
        add(Fact("ExchangeOperand", ("0", GROUP_SHARED.id, ALICE.text, "selector"))),
        e.MalformedFactBlock,
    ),
    ("INT-56 an unknown module", Phase.SETUP, without_module, e.ModuleUnavailable),
    ("INT-57 another facet", Phase.SETUP, swap("selector", "expose"), e.MalformedModule),
    ("INT-141 another plan", Phase.HELLO, swap("E.", "E.0"), e.NegotiationFailed),
    ("INT-140 another signer", Phase.HELLO, swap(BOB.text, ALICE.text), e.PeerVerifierMismatch),
    ("INT-140 no signer", Phase.HELLO, swap(f"HelloSigner('{BOB}')\n", ""), e.PeerVerifierMismatch),
    ("INT-142 no format", Phase.HELLO, swap("'H3')\nHelloAdv", "'H4')\nHelloAdv"), e.UnsupportedRecordFormat),
    ("INT-143 no field", Phase.HELLO, swap("Field('App')", "Field('Type')"), e.UnsupportedFieldSchema),
    ("INT-66 no time", Phase.HELLO, swap("HelloTAI", "HelloTick"), e.MalformedFactBlock),
    ("INT-73 a limit", Phase.HELLO, swap("iterations','16'", "iterations','0'"), e.NegotiationFailed),
    ("INT-144 a bad line", Phase.ADVERTISE, swap("Partition(", "Partition ("), e.MalformedFactBlock),
    ("INT-144 another phase", Phase.ADVERTISE, add(Fact("MayRequest", (NOTE,))), e.MalformedFactBlock),
    ("INT-148 no root", Phase.ADVERTISE, text(lambda b: b.replace("')\n", "-')\n")), e.MalformedPartitionSummary),
    (
        "INT-148 another depth",
        Phase.ADVERTISE,
        add(Fact("AdvertisementPartition", ("aaa", "1", b64a.encode(bytes(32))))),
        e.MalformedPartitionSummary,
    ),
    ("INT-106 another count", Phase.ADVERTISE, text(wrong_count), e.ListRootMismatch),
    ("INT-149 another root", Phase.ADVERTISE, text(wrong_root), e.ListRootMismatch),
    ("INT-149 a record less", Phase.LISTING, text(lambda b: "\n".join(b.split("\n")[2:])), e.ListRootMismatch),
    ("INT-149 another field", Phase.LISTING, swap("lace/data", "lace/datb"), e.ListRootMismatch),
    ("INT-32 another source", Phase.LISTING, swap(BOB.text, ALICE.text), e.MalformedFactBlock),
    ("INT-82 a field not agreed", Phase.LISTING, swap("'App'", "'Apq'"), e.UnsupportedFieldSchema),
    (
        "INT-46 narrowing is not offered",
        Phase.RECONCILE,
        add(Fact("NarrowAdvertisementPartition", ("aa",))),
        e.MalformedFactBlock,
    ),
    (
        "INT-98 a partition never announced",
        Phase.RECONCILE,
        add(Fact("ListAdvertisementPartition", ("a",))),
        e.MalformedFactBlock,
    ),
    ("INT-49 no hash", Phase.REQUEST, add(Fact("MayRequest", ("x",))), e.MalformedFactBlock),
    (
        "INT-153 a record nobody asked for",
        Phase.TRANSFER,
        lambda parcel: replace(parcel, records=((NOTES[5].hash, NOTES[5].encode()),)),
        e.UnexpectedResponse,
    ),
    (
        "INT-117 the same record twice",
        Phase.TRANSFER,
        lambda parcel: replace(parcel, records=parcel.records + parcel.records[:1]),
        e.UnexpectedResponse,
    ),
    (
        "INT-153 not available unasked",
        Phase.TRANSFER,
        add(Fact("NotAvailable", (NOTES[5].hash.text,))),
        e.UnexpectedResponse,
    ),
    (
        "INT-87 a tick that is not aligned",
        Phase.REQUEST,
        add(Fact("TickReady", ("1640995200:000000001",))),
        e.NegotiationFailed,
    ),
]


@pytest.mark.parametrize(("what", "phase", "spoil", "error"), CASES, ids=[case[0] for case in CASES])
def test_a_spoiled_message_aborts_the_round(
    what: str, phase: Phase, spoil: Spoil, error: type[e.InterlaceAbort]
) -> None:
    """INT-32, INT-36, INT-64, INT-106, INT-140..149, INT-153: abort, named, with nothing half done."""
    del what
    run = Spoiling(phase, spoil)
    before = dict(run.alice.records)
    with pytest.raises(error) as caught:
        run.run()
    assert run.spoiled == 1
    assert run.machine.phase is Phase.ABORTED
    result = caught.value.result
    assert result is not None
    assert (result.closed_by, result.reason) == (CloseReason.ABORTED, error.reason)
    assert not result.cursor_updated
    assert run.alice.records == before
    assert not run.machine.ledger.outstanding
    assert caught.value.exit_code in range(30, 40)


def test_an_oversized_block_aborts_before_it_is_read() -> None:
    """INT-151, INT-157."""
    terms = replace(TERMS, limits=Limits(max_fact_block_bytes=4096))
    run = Spoiling(Phase.LISTING, text(lambda block: block + "x" * 4096), terms=terms)
    with pytest.raises(e.OversizedFactBlock):
        run.run()
    assert run.machine.result.reason is AbortReason.OVERSIZED_BLOCK


def test_a_peer_that_sends_too_much_is_cut_off_with_a_partial_result() -> None:
    """INT-152, INT-161: checked before the bytes are looked at."""
    run = Spoiling(Phase.TRANSFER, lambda p: replace(p, records=tuple((record, bytes(600)) for record, _ in p.records)))
    run.machine.config = replace(
        run.machine.config, terms=replace(TERMS, limits=Limits(max_total_transferred_bytes=1000))
    )
    calls = run.alice.calls
    with pytest.raises(e.TransferLimitExceeded) as caught:
        run.run()
    assert caught.value.result is not None
    assert caught.value.result.bytes_received == 0
    assert run.alice.calls == calls + 1  # the question what is here, and no validation


def test_a_peer_with_a_summary_too_many_is_cut_off() -> None:
    """INT-148, INT-159."""
    terms = replace(TERMS, limits=Limits(max_partition_summaries=4))
    extra = [Fact("AdvertisementPartition", (f"~{c}", "1", b64a.encode(bytes(32)))) for c in "abc"]
    run = Spoiling(Phase.ADVERTISE, add(*extra), terms=terms)
    with pytest.raises(e.MalformedPartitionSummary):
        run.run()
    five = [Summary(f"a{c}", 1, bytes(32)) for c in "abcde"]
    assert len(PeerState(None).announce(five[:4], terms.limits)[0]) == 4
    with pytest.raises(e.MalformedPartitionSummary, match="more partition summaries"):
        PeerState(None).announce(five, terms.limits)


def test_a_request_list_that_repeats_or_is_too_long_aborts() -> None:
    """INT-109, INT-158: it is a bounded subset of what was listed, each record once."""
    few = Limits(max_advertisement_records=2)
    long = add(*(Fact("MayRequest", (note(f"more {n}").hash.text,)) for n in range(3)))
    with pytest.raises(e.MalformedFactBlock, match="too long"):
        Spoiling(Phase.REQUEST, long, terms=replace(TERMS, limits=few)).run()
    run = Spoiling(Phase.REQUEST, lambda parcel: parcel)
    deliver = run._deliver

    def twice(index: int, parcel: _Parcel) -> None:
        if index == 0 and run.machine.phase is Phase.REQUEST:
            run.machine.handle(Received(RequestList((NOTES[3].hash, NOTES[3].hash))))
        deliver(index, parcel)

    run._deliver = twice  # type: ignore[method-assign]
    with pytest.raises(e.MalformedFactBlock, match="repeats"):
        run.run()


def test_a_plan_of_another_text_aborts() -> None:
    """INT-141."""
    other = "E." + "A" * 43

    def change(block: str) -> str:
        start = block.index("E.")
        return block[:start] + other + block[start + 45 :]

    with pytest.raises(e.PlanMismatch):
        Spoiling(Phase.HELLO, text(change)).run()


def test_a_prepared_policy_of_another_plan_aborts() -> None:
    """INT-13, INT-147."""
    machine = InterlaceMachine(config(prepared=Executable("E." + "0" * 43, (lambda _: set(),))), MemoryPort())
    other = InterlaceMachine(config(alice=False), MemoryPort())
    with pytest.raises(e.MalformedPreparedPolicy):
        Engine(EngineSide(machine, ALICE), EngineSide(other, BOB)).run()


def test_a_signer_nobody_proved_aborts() -> None:
    """INT-60, INT-62."""
    machines = [InterlaceMachine(config(alice=alice), MemoryPort()) for alice in (True, False)]
    with pytest.raises(e.NegotiationFailed):
        Engine(EngineSide(machines[0], ALICE), EngineSide(machines[1], None)).run()


def test_the_origin_is_what_was_proven_and_not_what_was_said() -> None:
    """FAC-16, INT-63, INT-64: provisional until the hello proves it."""
    alice = InterlaceMachine(config(peer=None, peer_label=BOB.text), MemoryPort())
    bob = InterlaceMachine(config(alice=False, proves=False, label=BOB.text), MemoryPort())
    Engine(EngineSide(alice, ALICE), EngineSide(bob)).run()
    pretender = InterlaceMachine(config(peer=None, peer_label="there"), MemoryPort())
    claims = InterlaceMachine(config(alice=False, proves=False, label=BOB.text), MemoryPort())
    with pytest.raises(e.PeerVerifierMismatch):
        Engine(EngineSide(pretender, ALICE), EngineSide(claims)).run()


def started() -> InterlaceMachine:
    machine = InterlaceMachine(config(), MemoryPort())
    machine.handle(Start())
    return machine


def test_silence_aborts_the_phase() -> None:
    """INT-150, INT-163."""
    machine = started()
    with pytest.raises(e.PhaseTimeout, match="30 s in the phase setup"):
        machine.handle(TimedOut())
    assert machine.phase is Phase.ABORTED
    assert machine.handle(Received(TransferEnd())) == ()


@pytest.mark.parametrize(
    ("message", "error"),
    [
        (RequestList(()), e.MalformedFactBlock),
        (Asks(()), e.MalformedFactBlock),
        (FullListing({}), e.MalformedFactBlock),
        (Responses(((NOTES[0].hash, b"x"),)), e.UnexpectedResponse),
        (TransferEnd(), e.UnexpectedResponse),
    ],
)
def test_a_message_of_a_later_phase_aborts(message: Any, error: type[e.InterlaceAbort]) -> None:
    """INT-52, INT-53, INT-144, INT-153: hello and everything after it waits for the setup."""
    machine = started()
    with pytest.raises(error, match="phase setup"):
        machine.handle(Received(message))
    assert machine.phase is Phase.ABORTED


def test_a_wrong_driver_changes_nothing() -> None:
    machine = InterlaceMachine(config(), MemoryPort())
    with pytest.raises(e.MachineMisuse):
        machine.handle(TimedOut())
    first = machine.handle(Start())
    assert isinstance(first[0], Send)
    with pytest.raises(e.MachineMisuse):
        machine.handle(Start())
    assert machine.phase is Phase.SETUP


def test_an_ended_machine_stays_ended() -> None:
    """INT-130, INT-156: a later interlace is another machine."""
    machine = started()
    machine.handle(Close(CloseReason.CANCELLED))
    assert machine.result.closed_by is CloseReason.CANCELLED
    late = (Received(TransferEnd()), Close(), Fault(e.PlanMismatch("late")), TimedOut(), PeerTick("x"))
    for event in late:
        assert machine.handle(event) == ()
    assert machine.phase in ENDED
    assert machine.result.closed_by is CloseReason.CANCELLED


def test_there_is_no_tick_before_the_negotiation() -> None:
    machine = started()
    with pytest.raises(e.NegotiationFailed):
        machine.handle(TickReached(TERMS.tai))


def test_unknown_formats_are_listed_and_never_asked_for() -> None:
    """FAC-5, INT-78, INT-79, INT-110: they count for the root of their partition, and that is all."""
    newer = Advertisement(NOTE.replace(".H3", ".H4"), BOB.text)
    state = PeerState(None)
    wanted, _ = state.announce(summarise(partitions([newer])).values(), Limits())
    assert wanted == (newer.hash_text[2:4],)
    state.complete([newer])
    assert state.entries == {}
    assert set(state.summaries) == set(wanted)


def replayed(summaries: list[Summary]) -> PeerState:
    state = PeerState(None)
    state.announce(summaries, Limits(), narrows=True)
    return state


def test_a_crowded_partition_is_narrowed_or_ends_the_round() -> None:
    """INT-48, INT-106, INT-158, INT-160: it is too large to be listed; what lies below it adds up to it.

    As many as may be listed are listed, and none more.
    """
    full = [Summary("~~", 100_000, bytes(32))]
    assert PeerState(None).announce(full, Limits()) == (("~~",), ())
    crowded = [Summary("~~", 100_001, bytes(32))]
    with pytest.raises(e.ListingTooLarge):
        PeerState(None).announce(crowded, Limits())
    state = PeerState(None)
    assert state.announce(crowded, Limits(), narrows=True) == ((), ("~~",))
    with pytest.raises(e.ListingTooLarge):
        PeerState(None).announce(crowded, Limits(max_narrowing_depth=2), narrows=True)
    for children in ([], [Summary("~~a", 100_000, bytes(32))], [Summary("~~a", 100_002, bytes(32))]):
        with pytest.raises(e.MalformedPartitionSummary, match="do not hold"):
            replayed(crowded).complete((), children)
    lists, narrower = state.complete((), [Summary("~~a", 100_000, bytes(32)), Summary("~~b", 1, bytes(32))])
    assert (lists, narrower) == (("~~b",), ("~~a",))


@pytest.mark.parametrize("by_partition", [False, True])
def test_a_listing_holds_as_many_as_are_allowed_and_none_more(by_partition: bool) -> None:
    """INT-158: of a listing in one piece, or of the partition that holds most of one that is read by partition."""
    fields = (("App", 0, "lace/data"),)
    most, other = [RecordHash("P", bytes([1, 2, n]) + bytes(29)) for n in range(3)], RecordHash("P", bytes(32))
    state = PeerState(None)
    state.replace(dict.fromkeys(most, fields), 3, by_partition=by_partition)
    assert set(state.entries) == set(most)
    beyond = RecordHash("P", bytes([1, 2, 9]) + bytes(29)) if by_partition else other
    with pytest.raises(e.ListingTooLarge):
        PeerState(None).replace(dict.fromkeys([*most, beyond], fields), 3, by_partition=by_partition)
    if by_partition:
        state.replace(dict.fromkeys([*most, other], fields), 3, by_partition=True)
        assert len(state.entries) == 4


@pytest.mark.parametrize(("prefix", "narrows"), [("a", False), ("aaa", False), ("aaa", True), ("a" * 12, True)])
def test_partitions_of_a_depth_that_was_not_agreed_abort(prefix: str, narrows: bool) -> None:
    """INT-102: two characters, or one where both sides can narrow."""
    summary = Summary(prefix, 1, bytes(32))
    with pytest.raises(e.MalformedPartitionSummary):
        PeerState(None).announce([summary], Limits(), narrows=narrows)
    for good, may_narrow in (("aa", False), ("aa", True), ("a", True)):
        assert PeerState(None).announce([replace(summary, prefix=good)], Limits(), narrows=may_narrow)[0] == (good,)


def test_every_abort_has_its_own_code_in_the_range_of_peers() -> None:
    """INT-140..153, APP-14."""
    aborts = [error for error in all_errors() if issubclass(error, e.InterlaceAbort)]
    assert len({error.code for error in aborts}) == len(aborts)
    assert {error.reason for error in aborts if error.__module__ == e.__name__} == set(AbortReason)
    assert all(issubclass(error, PeerError) and 30 <= error.exit_code <= 39 and error.hint for error in aborts)


def test_a_sound_exchange_between_the_same_sides_works() -> None:
    """So the aborts above come from what was spoiled."""
    alice, bob = MemoryPort(NOTES[3:]), MemoryPort(NOTES[:4])
    assert all(result.is_fixed_point for result in sync(alice, bob))
