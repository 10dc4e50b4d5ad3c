"""One side of one link: events in, effects out, records only through a port (INT-2, INT-14, INT-15).

The phases and what leads from one to the other stand in `states.py`; this module has the work of each
transition. `handle` takes one input and returns what must be done about it. If the peer broke a rule it raises
the abort, with the partial result in it, and the machine is over; what was stored stays stored (INT-156).

What holds after each call, in the words of the invariants of Lace-050: advertisements are kept apart from
records and become records only through `accept_many` (1, 2); what is sent met MaySend and Have when it was
sent (3); what is outstanding was asked for in this phase and is empty between transfer phases (4, 5); what
both sides agreed on does not change (7); what is advertised comes from the current send set (8); TickTAI never
goes back (9).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

from lazy.interlace.ads import Advertisement, Summary
from lazy.interlace.announced import Announced
from lazy.interlace.errors import (
    InterlaceAbort,
    MachineMisuse,
    MalformedFactBlock,
    MalformedPartitionSummary,
    NegotiationFailed,
    PhaseTimeout,
    UnexpectedResponse,
    UnsupportedFieldSchema,
)
from lazy.interlace.establish import establish, identify, my_setup
from lazy.interlace.ledger import Ledger
from lazy.interlace.limits import Limits
from lazy.interlace.link import LinkConfig
from lazy.interlace.messages import (
    Asks,
    Close,
    Effect,
    Ended,
    Fault,
    FullListing,
    HelloMessage,
    Input,
    Message,
    PartitionListing,
    PeerTick,
    Received,
    RequestList,
    Responses,
    Send,
    Setup,
    Start,
    Summaries,
    TickReached,
    TimedOut,
    TransferEnd,
    Wake,
)
from lazy.interlace.negotiate import Hello, Negotiated, runtime_facts
from lazy.interlace.peerstate import PeerState
from lazy.interlace.plan import Evaluation, Plan, PolicyModule
from lazy.interlace.port import RecordPort
from lazy.interlace.reasons import AbortReason, CloseReason
from lazy.interlace.result import Cursor, InterlaceResult
from lazy.interlace.selection import Selection
from lazy.interlace.states import ENDED, Event, Phase, step
from lazy.interlace.ticks import Ticks
from vault.records import RecordHash, Tai, Verifier

__all__ = ["InterlaceMachine"]

_EVENT_OF: Final[Mapping[type[Message], Event]] = {
    Setup: Event.SETUP,
    HelloMessage: Event.HELLO,
    Summaries: Event.ADVERTISED,
    FullListing: Event.ADVERTISED,
    Asks: Event.ASKS,
    PartitionListing: Event.LISTING,
    RequestList: Event.REQUESTS,
    Responses: Event.RESPONSE,
    TransferEnd: Event.TRANSFER_END,
}


class InterlaceMachine:
    """One side of one link, which ends at a fixed point; `OpenMachine` goes on.

    Args:
        config: this side and its link.
        port: the vault's records.
        cursor: the peer's advertisement state from an earlier exchange (INT-92).
    """

    stays_open: ClassVar[bool] = False
    """Whether the exchange goes on after a fixed point, when something changes (INT-127)."""
    is_renewing: bool = False
    """Whether this side began another epoch, and the peer has not heard of it yet."""

    def __init__(self, config: LinkConfig, port: RecordPort, cursor: Cursor | None = None) -> None:
        self.config = config
        self.phase = Phase.IDLE
        self.plan: Plan | None = None
        self.agreed: Negotiated | None = None
        self.ledger = Ledger()
        self._port = port
        self._cursor = cursor
        self._selection: Selection | None = None
        self._peer: Verifier | None = None
        self._peer_source = config.peer_source
        self._peer_state = PeerState(None)
        self._listed = False
        self._their_origin = ""
        self._own = Announced()
        self._ticks: Ticks | None = None
        self._closed_by: CloseReason | None = None
        self._reason: AbortReason | None = None

    # What can be seen of it

    @property
    def limits(self) -> Limits:
        """The limits in force: the negotiated ones, before that the local ones."""
        return self.agreed.limits if self.agreed is not None else self.config.terms.limits

    @property
    def tick(self) -> Tai | None:
        """TickTAI (INT-88); None before the negotiation."""
        return self._ticks.now if self._ticks is not None else None

    @property
    def may_begin_anew(self) -> bool:
        """Whether the peer may begin another round or another epoch now."""
        return False

    @property
    def loops(self) -> int:
        """How many iterations of this round were begun."""
        return self.ledger.loops

    @property
    def peer_source(self) -> str:
        """The source label of the peer (INT-30)."""
        return self._peer_source

    @property
    def result(self) -> InterlaceResult:
        """What was reached so far, or in the end (INT-131)."""
        plan_id = self.agreed.plan_id if self.agreed is not None else ""
        complete = self._listed and self.phase is not Phase.ABORTED
        cursor = None
        if complete:
            state = self._peer_state
            cursor = Cursor(plan_id, self._peer_source, state.entries, state.summaries)
        return InterlaceResult(
            link_id=self.agreed.link_id if self.agreed is not None else "",
            plan_id=plan_id,
            peer=self._peer.text if self._peer is not None else "",
            received=tuple(self.ledger.received),
            rejected=tuple(self.ledger.rejected.items()),
            not_available=tuple(self.ledger.not_available),
            deferred=tuple(self.ledger.deferred),
            bytes_received=self.ledger.bytes_received,
            bytes_sent=self.ledger.bytes_sent,
            loops=self.loops,
            closed_by=self._closed_by or CloseReason.CLOSED,
            cursor_updated=complete,
            reason=self._reason,
            cursor=cursor,
        )

    # Events

    def handle(self, event: Input) -> tuple[Effect, ...]:
        """Take one input and return what must be done, in order.

        Raises:
            InterlaceAbort: a rule was broken; the machine is over and `error.result` holds what was reached.
            MachineMisuse: the driver's mistake; nothing has changed.
        """
        try:
            return self._dispatch(event)
        except InterlaceAbort as error:
            target = step(self.phase, Event.FAULT)
            if target is not None:
                self.phase = Phase.ABORTED
                self.ledger.outstanding.clear()
                self._closed_by, self._reason = CloseReason.ABORTED, error.reason
            error.result = self.result
            raise

    def _dispatch(self, event: Input) -> tuple[Effect, ...]:  # noqa: PLR0911 - one for each input
        match event:
            case Received(message, proven):
                return self._receive(message, proven)
            case Start():
                self._enter(Event.START)
                return (self._send(my_setup(self.config)),)
            case Wake(module):
                return self._wake(module)
            case PeerTick(text):
                return self._take_peer_tick(text)
            case TickReached(tai):
                return self._take_own_tick(tai)
            case TimedOut():
                self._enter(Event.TIMEOUT)
                return ()
            case Close(reason):
                return self._close(reason)
            case Fault(error):
                if self.phase in ENDED:
                    return ()
                raise error

    def _enter(self, event: Event) -> bool:
        """Go where the table says; return whether the event is to be worked on."""
        target = step(self.phase, event)
        if isinstance(target, AbortReason):
            raise self._fault(target, event)
        if target is not None:
            self.phase = target
        return target is not None

    def _fault(self, reason: AbortReason, event: Event) -> InterlaceAbort:
        if reason is AbortReason.PHASE_TIMEOUT:
            seconds = self.limits.phase_timeout_seconds
            return PhaseTimeout(f"The peer was silent for {seconds} s in the phase {self.phase}.")
        if reason is AbortReason.UNEXPECTED_RESPONSE:
            return UnexpectedResponse(f"The peer sent records in the phase {self.phase}.")
        return MalformedFactBlock(f"The peer sent {event} in the phase {self.phase}.")

    def _wake(self, module: PolicyModule | None) -> tuple[Effect, ...]:
        """Begin another round, or another epoch, of an exchange that stays open.

        Raises:
            MachineMisuse: the exchange is bounded.
        """
        del module
        raise MachineMisuse("A bounded exchange ends at its fixed point.")

    def _receive(self, message: Message, proven: Verifier | None) -> tuple[Effect, ...]:
        event = _EVENT_OF[type(message)]
        if isinstance(message, RequestList) and self.phase is Phase.REQUEST:
            event = self.ledger.meaning_of(message, self.limits.max_loop_iterations)
        elif isinstance(message, PartitionListing) and self.phase is Phase.LISTING and self._own.is_narrowing:
            event = Event.NARROWED
        before = self.phase
        if not self._enter(event):
            return ()
        try:
            return self._work(message, proven, event)
        except InterlaceAbort:
            self.phase = before
            raise

    def _work(  # noqa: PLR0911 - one for each message
        self, message: Message, proven: Verifier | None, event: Event
    ) -> tuple[Effect, ...]:
        match message:
            case Setup():
                return self._establish(message)
            case HelloMessage(hello):
                return self._negotiate(hello, proven)
            case Summaries(summaries):
                narrows = self._need_agreed().narrows
                asks = self._peer_state.announce(summaries, self.limits, self._own.predicted, narrows=narrows)
                return (self._asks(*asks),)
            case FullListing(entries, by_partition):
                limit = self.limits.max_advertisement_records
                self._peer_state.replace(entries, limit, by_partition=by_partition)
                return (self._send(Asks(())),)
            case Asks(prefixes, narrows):
                listing = self._own.list(prefixes, narrows, self.limits, may_narrow=self._need_agreed().narrows)
                return (self._send(listing),)
            case PartitionListing(ads, children):
                return self._reconcile(ads, children)
            case RequestList(hashes):
                return self._after_requests(hashes, event)
            case Responses():
                return self._take(message)
            case TransferEnd():
                return self._end_transfer()

    # Plan and negotiation

    def _establish(self, setup: Setup) -> tuple[Effect, ...]:
        config = self.config
        self.plan, executable = establish(config, setup)
        self._selection = Selection(config, self._port, executable)
        self._their_origin = setup.operand.origin
        return (self._send(HelloMessage(Hello(self.plan.id, config.signer, config.terms))),)

    def _negotiate(self, theirs: Hello, proven: Verifier | None) -> tuple[Effect, ...]:
        plan = self._need_plan()
        self.agreed, source = identify(self.config, plan, self._their_origin, theirs, proven)
        self._peer, self._peer_source = theirs.signer, source
        self._ticks = Ticks(self.agreed)
        cursor = self._cursor
        if cursor is not None and (cursor.plan_id, cursor.source) == (plan.id, source):
            self._peer_state = PeerState(cursor, source)
        else:
            self._peer_state = PeerState(None, source)
        return (self._advertise(),)

    def _need_plan(self) -> Plan:
        assert self.plan is not None  # noqa: S101 - the table lets no hello in before the setup
        return self.plan

    def _need_agreed(self) -> Negotiated:
        assert self.agreed is not None  # noqa: S101 - the table lets nothing in before the hello
        return self.agreed

    def _need_selection(self) -> Selection:
        assert self._selection is not None  # noqa: S101 - made together with the plan
        return self._selection

    def _need_ticks(self) -> Ticks:
        assert self._ticks is not None  # noqa: S101 - begun with what was agreed
        return self._ticks

    # Send set and advertisement

    def _advertise(self) -> Send:
        """Begin an iteration: evaluate the send set and announce it (INT-91, INT-96, INT-98)."""
        self.ledger.begin_iteration()
        agreed = self._need_agreed()
        allowed = self._need_selection().to_announce(self._snapshot(), agreed.schema)
        return self._send(
            self._own.announce(allowed, self.config.source, self._peer_source, self.limits, narrows=agreed.narrows)
        )

    def _asks(self, lists: tuple[str, ...], narrows: tuple[str, ...]) -> Send:
        self._own.is_narrowing = bool(narrows)
        return self._send(Asks(lists, narrows))

    def _reconcile(self, ads: tuple[Advertisement, ...], children: tuple[Summary, ...]) -> tuple[Effect, ...]:
        schema = self._need_agreed().schema
        for ad in ads:
            if ad.source != self._peer_source:
                raise MalformedFactBlock(f"The peer advertises {ad.hash_text} in the name of another source.")
            if any(not schema.allows(name) for name, _, _ in ad.fields):
                raise UnsupportedFieldSchema(f"A field of {ad.hash_text} is outside the agreed schema.")
        asks = self._peer_state.complete(ads, children, self.limits)
        if self.phase is Phase.RECONCILE:
            return (self._asks(*asks),)
        if any(asks):
            raise MalformedPartitionSummary("The peer tells of narrower partitions that nobody asked for.")
        self._listed = True
        return (self._ask(),)

    # Request

    def _ask(self) -> Send:
        """Evaluate what may be requested and make the request list (INT-6, INT-107..110)."""
        ledger, most = self.ledger, self.config.max_requests or self.limits.max_advertisement_records
        if ledger.has_stalled:
            ledger.requests = ()
        else:
            ledger.requests = self._need_selection().to_request(self._snapshot(), ledger, most)
        return self._send(RequestList(ledger.requests))

    def _snapshot(self) -> Evaluation:
        """Return the finite snapshot that a policy may look at (INT-93)."""
        agreed, config = self._need_agreed(), self.config
        runtime = runtime_facts(
            agreed,
            here=config.here,
            peer=self._peer,
            tick=self._need_ticks().now,
            transport=config.transport,
            encrypted=config.encrypted,
        )
        return Evaluation(self._peer_source, self._peer_state.entries, runtime)

    def _after_requests(self, theirs: tuple[RecordHash, ...], event: Event) -> tuple[Effect, ...]:
        if event is Event.QUIET:
            self._closed_by = CloseReason.FIXED_POINT
            return (Ended(self.result),)
        if event is Event.EXHAUSTED:
            at_limit = self.ledger.has_asked and self.ledger.has_moved
            self._closed_by = CloseReason.LOOP_LIMIT if at_limit else CloseReason.DEFERRED
            return (Ended(self.result),)
        if event is Event.DRAINED:
            return (self._advertise(),)
        if len(set(theirs)) != len(theirs) or len(theirs) > self.limits.max_advertisement_records:
            raise MalformedFactBlock("The peer's request list repeats a record or is too long.")
        self.ledger.begin_transfer()
        served = self._need_selection().to_serve(self._snapshot(), theirs, self.ledger, self.limits)
        return (self._send(served), self._send(TransferEnd()))

    # Transfer and validation

    def _take(self, responses: Responses) -> tuple[Effect, ...]:
        self.ledger.check(responses, self.limits.max_total_transferred_bytes)
        refused = self._port.accept_many(responses.records) if responses.records else {}
        self.ledger.settle(responses, refused)
        return ()

    def _end_transfer(self) -> tuple[Effect, ...]:
        self.ledger.end_transfer()
        return (self._ask(),)

    # Ticks and closing

    def _take_peer_tick(self, text: str) -> tuple[Effect, ...]:
        if self._enter(Event.TICK):
            self._need_ticks().take_theirs(text)
        return ()

    def _take_own_tick(self, tai: Tai) -> tuple[Effect, ...]:
        if self.agreed is None:
            raise NegotiationFailed("There is no tick before the negotiation.")
        if self._enter(Event.TICK):
            self._need_ticks().take_mine(tai)
        return ()

    def _close(self, reason: CloseReason) -> tuple[Effect, ...]:
        if not self._enter(Event.CLOSE):
            return ()
        self.ledger.end_transfer()
        self._closed_by = self._closed_by or reason
        return (Ended(self.result),)

    def _send(self, message: Message) -> Send:
        carries = isinstance(message, Summaries | FullListing | Asks | PartitionListing | RequestList)
        return Send(message, self._need_ticks().to_tell() if carries else None)
