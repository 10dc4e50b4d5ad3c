"""Reading a mailbox: the same result as a live exchange, the same aborts, and a bounded price."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lazy.interlace.errors import (
    ListingTooLarge,
    MalformedModule,
    ModuleUnavailable,
    NegotiationFailed,
    TransferLimitExceeded,
    UnexpectedResponse,
    UnsupportedFieldSchema,
)
from lazy.interlace.limits import Limits
from lazy.interlace.mailbox import MailboxExchange
from lazy.interlace.negotiate import FieldSchema
from lazy.interlace.plan import GROUP_SHARED
from lazy.interlace.reasons import CloseReason
from tests.lazy.interlace.links import TERMS, config, hello_facts, snapshot, sync, visit
from tests.lazy.interlace.stores import ALICE, BOB, MemoryPort, note
from vault.lacegram import module_id
from vault.records import Plex, RecordHash

NOTES = [note(str(number)) for number in range(30)]
CHAT = [note(f"chat {number}", app="chat") for number in range(5)]
subsets = st.sets(st.sampled_from(range(35))).map(lambda ns: [(NOTES + CHAT)[n] for n in sorted(ns)])


@settings(max_examples=40, deadline=None)
@given(subsets, subsets)
def test_a_visit_gives_what_a_live_exchange_gives(mine: list[Plex], theirs: list[Plex]) -> None:
    """INT-21, INT-99, H-11: same plan, same transitions, same records."""
    live_port, visit_port = MemoryPort(mine), MemoryPort(mine)
    live, _ = sync(live_port, MemoryPort(theirs))
    visited = visit(visit_port, MemoryPort(theirs))
    assert set(visited.received) == set(live.received)
    assert visit_port.records == live_port.records
    assert (visited.plan_id, visited.link_id, visited.peer) == (live.plan_id, live.link_id, live.peer)
    assert visited.bytes_received == live.bytes_received
    assert visited.closed_by is CloseReason.FIXED_POINT
    assert visit(visit_port, MemoryPort(theirs)).received == ()


def test_nothing_of_the_readers_is_sent() -> None:
    """H-13: reading is a pull; publishing is the writer's own act."""
    alice = MemoryPort(NOTES[:5])
    result = visit(alice, MemoryPort(NOTES[3:8]))
    assert result.bytes_sent == 0
    assert alice.loads == []


def test_listed_but_absent_is_deferred_and_not_asked_for_twice() -> None:
    """INT-114, INT-115, INT-126: deferred is neither a failure nor a fixed point."""
    exchange = MailboxExchange(config(), MemoryPort(), snapshot(MemoryPort(NOTES[:4])))
    wanted = exchange.start()
    present = [record for record in wanted if record != NOTES[0].hash]
    exchange.take([(record, next(n for n in NOTES if n.hash == record).encode()) for record in present])
    assert exchange.end_transfer() == ()
    assert exchange.result is not None
    assert exchange.result.deferred == (NOTES[0].hash,)
    assert exchange.result.closed_by is CloseReason.DEFERRED
    assert len(exchange.result.received) == 3


def test_what_the_mailbox_lost_is_not_available() -> None:
    """INT-155."""
    exchange = MailboxExchange(config(), MemoryPort(), snapshot(MemoryPort(NOTES[:2])))
    exchange.take([(record, None) for record in exchange.start()])
    assert exchange.end_transfer() == ()
    assert exchange.result is not None
    assert set(exchange.result.not_available) == {NOTES[0].hash, NOTES[1].hash}
    assert exchange.result.is_fixed_point


def test_the_byte_limit_of_a_round_is_the_readers_to_keep() -> None:
    """INT-152, INT-161: within it the next visit goes on; beyond it the round is aborted."""
    size = len(NOTES[0].encode())
    terms = replace(TERMS, limits=Limits(max_total_transferred_bytes=size * 2 + 3))
    alice, bob = MemoryPort(), MemoryPort(NOTES[:5])
    exchange = MailboxExchange(config(terms=terms), alice, snapshot(bob))
    wanted = exchange.start()
    assert exchange.budget_left == size * 2 + 3
    exchange.take([(record, bob.load(record)) for record in wanted[:2]])
    assert exchange.budget_left < size
    with pytest.raises(TransferLimitExceeded) as caught:
        exchange.take([(wanted[2], bob.load(wanted[2]))])
    assert caught.value.result is not None
    assert set(caught.value.result.received) == set(wanted[:2]) == set(alice.records)


def test_only_what_was_asked_for_is_taken() -> None:
    """INT-52, INT-117, INT-153: nothing of such a batch is stored."""
    alice = MemoryPort()
    exchange = MailboxExchange(config(), alice, snapshot(MemoryPort(NOTES[:2])))
    exchange.start()
    with pytest.raises(UnexpectedResponse):
        exchange.take([(NOTES[0].hash, NOTES[0].encode()), (NOTES[5].hash, NOTES[5].encode())])
    assert alice.records == {}
    assert exchange.result is None


def test_a_visit_can_be_cancelled() -> None:
    """INT-122: what came stays."""
    alice = MemoryPort()
    exchange = MailboxExchange(config(), alice, snapshot(MemoryPort(NOTES[:3])))
    exchange.start()
    exchange.take([(NOTES[0].hash, NOTES[0].encode())])
    result = exchange.cancel()
    assert result.closed_by is CloseReason.CANCELLED
    assert set(result.deferred) == {NOTES[1].hash, NOTES[2].hash}
    assert set(alice.records) == {NOTES[0].hash}
    assert exchange.result == result


def test_a_source_that_is_not_proven_has_a_label_and_no_link() -> None:
    """INT-24, INT-31, INT-61, INT-76."""
    exchange = MailboxExchange(config(peer_label="cut-off"), MemoryPort(), snapshot(MemoryPort(NOTES[:1]), signer=None))
    exchange.start()
    assert exchange.plan is not None
    assert {operand.origin for operand in exchange.plan.operands} == {ALICE.text, "cut-off"}
    result = exchange.cancel()
    assert (result.peer, result.link_id) == ("", "")


def test_the_plan_is_derived_from_both_operands_before_anything_is_listed() -> None:
    """INT-58, INT-65, H-12: a large skew is normal for a mailbox."""
    terms = replace(TERMS, tai=TERMS.tai.later(40 * 86_400 * 10**9))
    exchange = MailboxExchange(config(terms=terms), MemoryPort(), snapshot(MemoryPort()))
    assert exchange.start() == ()
    assert exchange.plan is not None
    assert exchange.agreed is not None
    assert [operand.origin for operand in exchange.plan.operands] == sorted([ALICE.text, BOB.text])
    assert exchange.agreed.plan_id == exchange.plan.id
    assert exchange.agreed.skew_seconds == 40 * 86_400
    assert exchange.result is not None
    assert exchange.result.is_fixed_point


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"module_id": module_id("X().\n")}, ModuleUnavailable),
        ({"module_id": module_id("X().\n"), "modules": {module_id("X().\n"): b"Y().\n"}}, MalformedModule),
        ({"module_id": "R.x"}, MalformedModule),
        ({"facet": "expose"}, MalformedModule),
        ({"hello": ()}, NegotiationFailed),
        ({"hello": hello_facts(replace(TERMS, schema=FieldSchema()))}, UnsupportedFieldSchema),
    ],
)
def test_a_bad_snapshot_aborts(changes: dict[str, object], error: type[Exception]) -> None:
    """INT-56, INT-57, INT-66, INT-82, INT-143, INT-145."""
    exchange = MailboxExchange(config(), MemoryPort(), snapshot(MemoryPort(NOTES[:1]), **changes))
    with pytest.raises(error):
        exchange.start()


def digest(number: int, head: int = 0) -> bytes:
    return head.to_bytes(2, "big") + number.to_bytes(30, "big")


def test_the_limit_of_records_holds_for_each_partition() -> None:
    """INT-158: above the limit a listing is taken by partition, and one partition above it is refused."""
    apps = (("App", 0, "lace/data"),)
    terms = replace(TERMS, limits=Limits(max_advertisement_records=100))
    spread = {RecordHash("P", digest(n, head=n * 64)): apps for n in range(1000)}
    exchange = MailboxExchange(config(terms=terms), MemoryPort(), snapshot(MemoryPort(), listing=spread))
    assert len(exchange.start()) == 1000
    crowded = {RecordHash("P", digest(n, head=77)): apps for n in range(101)}
    with pytest.raises(ListingTooLarge):
        MailboxExchange(config(terms=terms), MemoryPort(), snapshot(MemoryPort(), listing=crowded)).start()


def test_a_large_listing_costs_a_handful_of_calls() -> None:
    """INT-21, INT-158: 100,000 records of which half are here; calls do not grow with records."""

    class Half(MemoryPort):
        def have(self, hashes):  # type: ignore[no-untyped-def]
            self.calls += 1
            return {record for record in hashes if record.digest[-1] & 1}

    apps = [(("App", 0, f"lace/{word}"),) for word in ("data", "tree", "commit", "log")]
    listing = [(RecordHash("P", digest(n, head=n * 64 % 65_536)), apps[n % 4]) for n in range(100_000)]
    port = Half()
    began = time.process_time()
    exchange = MailboxExchange(config(), port, snapshot(MemoryPort(), listing=listing))
    wanted = exchange.start()
    for start in range(0, len(wanted), 10_000):
        exchange.take([(record, None) for record in wanted[start : start + 10_000]])
    exchange.end_transfer()
    spent = time.process_time() - began
    assert len(wanted) == 50_000
    assert exchange.result is not None
    assert exchange.result.is_fixed_point
    assert port.calls <= 4
    # Far above what it takes; something quadratic would need minutes.
    assert spent < 10


def test_the_reader_uses_the_policy_of_both() -> None:
    """FAC-18, INT-107: what the policy does not select is not asked for."""
    result = visit(MemoryPort(), MemoryPort([*NOTES[:2], *CHAT]))
    assert set(result.received) == {NOTES[0].hash, NOTES[1].hash}
    assert GROUP_SHARED.id.startswith("R.")
