"""Reading a mailbox: the reader's machine, with the peer's side played from its snapshot (H-11).

A mailbox cannot answer, so its writer published beforehand what it would have said: operand, hello, listing and
records. The reader feeds these to the same machine through the same transitions. Three things differ from a
live exchange, all by necessity: both sides' plan is the one the reader derives from the two operands, and it
stands for the hello the writer could not send; the writer asks for nothing; and publishing was the writer's
send gate, so what is listed is what it may send. Setup and listing are handed over as values, not as text
(INT-21), which is what makes a listing of a hundred thousand records cheap.

Use: make the exchange with `start`; while `requests` is not empty, read those records from the medium and give
them to `take`, in batches of any size and order; call `end_transfer` when no more can be had now. A record that
is listed but absent is simply not given, and counts as deferred. In the end `result` is set.

The byte limit of a round is the reader's to keep (`budget_left`): stop before it, end the transfer, and begin
another exchange for the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from lazy.interlace.ads import Fields
from lazy.interlace.errors import InterlaceAbort
from lazy.interlace.facts import Fact
from lazy.interlace.link import LinkConfig
from lazy.interlace.machine import InterlaceMachine
from lazy.interlace.messages import (
    Asks,
    Close,
    Effect,
    Ended,
    Fault,
    FullListing,
    HelloMessage,
    PartitionListing,
    Received,
    RequestList,
    Responses,
    Send,
    Setup,
    Start,
    Summaries,
    TransferEnd,
)
from lazy.interlace.negotiate import Hello, Negotiated
from lazy.interlace.plan import SELECTOR, Operand, Plan, operand_index
from lazy.interlace.port import RecordPort
from lazy.interlace.reasons import CloseReason
from lazy.interlace.result import InterlaceResult
from lazy.interlace.states import Phase
from vault.records import RecordHash, Verifier

__all__ = ["MailboxExchange", "PeerSnapshot"]


@dataclass(frozen=True, slots=True)
class PeerSnapshot:
    """What a snapshot head and its runs say, after seal, number and run digests were checked.

    Args:
        signer: who sealed the head; None to read it as an unproven source, under the config's peer label.
        module_id: the policy the writer presents.
        hello: its hello facts, without `HelloExchangePlan`.
        listing: every record it advertises, with the fields; equal fields should be one object.
        facet: the role of its operand.
        modules: canonical bytes of modules that lie beside it.
    """

    signer: Verifier | None
    module_id: str
    hello: tuple[Fact, ...]
    listing: Mapping[RecordHash, Fields] | Iterable[tuple[RecordHash, Fields]]
    facet: str = SELECTOR
    modules: Mapping[str, bytes] = field(default_factory=dict)


class MailboxExchange:
    """One visit to one mailbox.

    Args:
        config: the reader's side; peer and sending are set from the snapshot.
        port: the reader's records.
        snapshot: what the writer published.
    """

    def __init__(self, config: LinkConfig, port: RecordPort, snapshot: PeerSnapshot) -> None:
        listing = snapshot.listing
        entries = listing if isinstance(listing, Mapping) else dict(listing)
        self._listing = FullListing(entries, by_partition=True)
        # Nothing bounds a list that is never written down; one list spares an evaluation for each part of it.
        self._config = replace(
            config,
            peer=snapshot.signer,
            proves=config.here is not None,
            sends=False,
            retries_deferred=False,
            max_requests=max(1, len(entries)),
        )
        self._snapshot = snapshot
        self._machine = InterlaceMachine(self._config, port)

    @property
    def plan(self) -> Plan | None:
        """The derived plan, once started."""
        return self._machine.plan

    @property
    def agreed(self) -> Negotiated | None:
        """What was negotiated, once started."""
        return self._machine.agreed

    @property
    def requests(self) -> tuple[RecordHash, ...]:
        """The records to read now; empty when nothing is left to ask for."""
        return self._machine.ledger.requests if self._machine.phase is Phase.TRANSFER else ()

    @property
    def budget_left(self) -> int:
        """How many record bytes this round may still take in."""
        machine = self._machine
        return machine.limits.max_total_transferred_bytes - machine.ledger.bytes_received

    @property
    def result(self) -> InterlaceResult | None:
        """The result, once the exchange has ended; None before."""
        return self._machine.result if self._machine.phase is Phase.CLOSED else None

    def start(self) -> tuple[RecordHash, ...]:
        """Establish the plan, negotiate, reconcile, and return the first request list.

        Raises:
            InterlaceAbort: the snapshot breaks a rule (INT-140..148, INT-158).
        """
        self._play(self._machine.handle(Start()))
        return self.requests

    def take(self, batch: Iterable[tuple[RecordHash, bytes | None]]) -> None:
        """Take records that were read: their stored bytes, or None if the mailbox no longer has them.

        Raises:
            UnexpectedResponse: one was not asked for, or comes twice (INT-153).
            TransferLimitExceeded: more bytes came than a round may take (INT-152).
        """
        records: list[tuple[RecordHash, bytes]] = []
        missing: list[RecordHash] = []
        for record, data in batch:
            if data is None:
                missing.append(record)
            else:
                records.append((record, data))
        self._machine.handle(Received(Responses(tuple(records), tuple(missing))))

    def end_transfer(self) -> tuple[RecordHash, ...]:
        """End the transfer phase; what was not given is deferred. Return the next request list, if any.

        Raises:
            InterlaceAbort: the policy could not be evaluated again.
        """
        self._play(self._machine.handle(Received(TransferEnd())))
        return self.requests

    def cancel(self) -> InterlaceResult:
        """End the visit now and return what was reached; what was stored stays stored."""
        self._machine.handle(Close(CloseReason.CANCELLED))
        return self._machine.result

    def _play(self, effects: tuple[Effect, ...]) -> None:
        """Answer the machine as the writer would have, until it waits for records or has ended."""
        pending = list(effects)
        while pending:
            effect = pending.pop(0)
            if isinstance(effect, Ended):
                self._machine.handle(Close())
            elif not isinstance(effect.message, Responses | TransferEnd):
                pending += self._answer(effect)

    def _answer(self, send: Send) -> tuple[Effect, ...]:
        machine = self._machine
        try:
            match send.message:
                case Setup(_, operand):
                    answer = Received(self._their_setup(operand))
                case HelloMessage(hello):
                    answer = Received(self._their_hello(hello.plan_id), self._snapshot.signer)
                case Summaries() | FullListing():
                    answer = Received(self._listing)
                case Asks():
                    # Nothing of the reader's is listed in return: its records travel by its own mailbox.
                    answer = Received(Asks(()))
                case PartitionListing():
                    answer = Received(PartitionListing(()))
                case _:
                    answer = Received(RequestList(()))
        except InterlaceAbort as error:
            machine.handle(Fault(error))
            raise
        return machine.handle(answer)

    def _their_setup(self, mine: Operand) -> Setup:
        snapshot = self._snapshot
        theirs = Operand(snapshot.module_id, self._config.peer_source, snapshot.facet)
        return Setup(operand_index(theirs.origin, mine.origin), theirs, snapshot.modules)

    def _their_hello(self, plan_id: str) -> HelloMessage:
        # The seal of the head proves its signer; without that proof the claim must not even be heard.
        facts = (fact for fact in self._snapshot.hello if fact.predicate != "HelloSigner")
        claims = [] if self._snapshot.signer is None else [Fact("HelloSigner", (self._snapshot.signer.text,))]
        return HelloMessage(Hello.from_facts((*claims, *facts), derived_plan=plan_id))
