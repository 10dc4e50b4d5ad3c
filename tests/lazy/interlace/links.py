"""Two machines that know of each other, for the tests of interlace."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lazy.interlace.documents.engine import Engine, EngineSide
from lazy.interlace.facts import Fact
from lazy.interlace.link import LinkConfig
from lazy.interlace.machine import InterlaceMachine
from lazy.interlace.mailbox import MailboxExchange, PeerSnapshot
from lazy.interlace.negotiate import FieldSchema, Hello, HelloTerms
from lazy.interlace.plan import GROUP_SHARED
from lazy.interlace.port import RecordPort
from lazy.interlace.result import Cursor, InterlaceResult
from lazy.interlace.states import Phase
from tests.lazy.interlace.stores import ALICE, BOB, START, MemoryPort

TERMS = HelloTerms(START, schema=FieldSchema(frozenset({"App"})))


def config(*, alice: bool = True, **changes: Any) -> LinkConfig:
    """One proven side of a link between alice and bob."""
    here, peer = (ALICE, BOB) if alice else (BOB, ALICE)
    return replace(LinkConfig(TERMS, here=here, proves=True, peer=peer), **changes)


def engine(
    alice: RecordPort, bob: RecordPort, cursors: tuple[Cursor | None, Cursor | None] = (None, None), **changes: Any
) -> Engine:
    """Both sides of that link, with the same changes of configuration."""
    one = InterlaceMachine(config(**changes), alice, cursors[0])
    other = InterlaceMachine(config(alice=False, **changes), bob, cursors[1])
    return Engine(EngineSide(one, ALICE), EngineSide(other, BOB))


def sync(alice: RecordPort, bob: RecordPort, **changes: Any) -> tuple[InterlaceResult, InterlaceResult]:
    """Run both sides to the end."""
    return engine(alice, bob, **changes).run()


def hello_facts(terms: HelloTerms = TERMS) -> tuple[Fact, ...]:
    """The hello facts of a snapshot head."""
    facts = Hello("E." + "0" * 43, None, terms).to_facts()
    return tuple(fact for fact in facts if fact.predicate != "HelloExchangePlan")


def snapshot(port: MemoryPort, **changes: Any) -> PeerSnapshot:
    """What bob would publish of his records."""
    listing = {record: fields[:1] for record, fields in port.effective_send()}
    return replace(PeerSnapshot(BOB, GROUP_SHARED.id, hello_facts(), listing), **changes)


def visit(alice: MemoryPort, bob: MemoryPort, **changes: Any) -> InterlaceResult:
    """Alice reads bob's mailbox to the end, three records at a time."""
    exchange = MailboxExchange(config(), alice, snapshot(bob, **changes))
    wanted = exchange.start()
    while wanted:
        for start in range(0, len(wanted), 3):
            exchange.take([(record, bob.load(record)) for record in wanted[start : start + 3]])
        wanted = exchange.end_transfer()
    assert exchange.result is not None
    return exchange.result


def assert_invariants(machine: InterlaceMachine) -> None:
    """The invariants that can be seen from outside (INT-17)."""
    ledger = machine.ledger
    if machine.phase is not Phase.TRANSFER:
        assert not ledger.outstanding
    assert ledger.outstanding <= set(ledger.requests)
    assert not ledger.outstanding & (set(ledger.received) | ledger.rejected.keys() | ledger.not_available.keys())
    assert not set(ledger.received) & ledger.rejected.keys()
    assert len(set(ledger.received)) == len(ledger.received)
    limits = machine.limits
    assert ledger.bytes_received <= limits.max_total_transferred_bytes
    assert ledger.bytes_sent <= limits.max_total_transferred_bytes
    assert machine.loops <= limits.max_loop_iterations
    if machine.agreed is not None:
        assert machine.plan is not None
        assert machine.agreed.plan_id == machine.plan.id
        assert machine.tick is not None
        assert machine.tick >= machine.agreed.start
