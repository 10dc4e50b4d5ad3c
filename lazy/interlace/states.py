"""The phases of one side of an interlace, and the whole table of what each event does in each of them.

Theory of operation. Both sides run the same machine in lock-step: on entering a phase a side sends its own
message of that phase, then waits for the peer's, which the peer sent before anything later. So a message that
arrives always belongs to the phase the receiver is in, and one that does not is a fault. No side leads.

    idle        not started
    setup       my operand is sent; the peer's is awaited
    hello       the plan is made of both operands; my hello is sent; the peer's is awaited
    advertise   an iteration begins: my send set is evaluated, its summaries or its listing are sent; the
                peer's are awaited
    reconcile   I have asked for the partitions that differ from what I know; the peer's asks are awaited
    listing     I have listed or narrowed what was asked for; the peer's listing is awaited; where a side had
                something narrowed, both ask again (`reconcile`)
    request     what I lack was evaluated and asked for; the peer's request list is awaited
    transfer    I have answered the peer's list; its answers to mine are awaited, in any number of messages
    fixed       both sides asked for nothing in a fresh iteration: the fixed point (INT-10)
    closed      ended by a side, by a limit of the round, or by the person
    aborted     ended by a fault; nothing that was stored is taken back (INT-156)

After a transfer the sides ask again (`request`) until both have nothing left to ask for under the present
advertisements, and then begin another iteration (`advertise`). An iteration in which both ask for nothing at
once is the fixed point, unless something that was asked for is still without an answer. Whether an iteration
is quiet, drained or exhausted is judged by what both sides see: the two request lists, what moved, and the
negotiated limit of iterations. So both take the same branch.

An open exchange stays at its fixed point until something changes. Then a side begins another round by advertising
again (`wake`), or another epoch by a new setup (`renew`); the other side, which is at its fixed point too, follows.
If one wakes while the other renews, the new epoch holds, and what was advertised in the old one is passed over.

This file knows neither bytes nor records; `machine.py` has the work and takes each phase from `step`.
"""

from __future__ import annotations

from enum import Enum, StrEnum
from types import MappingProxyType

from lazy.interlace.errors import MachineMisuse
from lazy.interlace.reasons import AbortReason

__all__ = ["ENDED", "TRANSITIONS", "Cell", "Event", "Other", "Phase", "step"]


class Phase(StrEnum):
    """Where a machine is."""

    IDLE = "idle"
    SETUP = "setup"
    HELLO = "hello"
    ADVERTISE = "advertise"
    RECONCILE = "reconcile"
    LISTING = "listing"
    REQUEST = "request"
    TRANSFER = "transfer"
    FIXED = "fixed"
    CLOSED = "closed"
    ABORTED = "aborted"


class Event(StrEnum):
    """What can happen to a machine."""

    START = "start"  # the driver begins
    SETUP = "setup"  # the peer's operand came
    HELLO = "hello"  # the peer's hello came
    ADVERTISED = "advertised"  # the peer's summaries, or its full listing, came
    ASKS = "asks"  # the partitions the peer wants listed came
    LISTING = "listing"  # the partitions that were asked for came
    NARROWED = "narrowed"  # they came, and a side asked for narrower ones, so both ask once more
    REQUESTS = "requests"  # the peer's request list came, and it or mine asks for something
    QUIET = "quiet"  # both lists are empty at once in this iteration
    DRAINED = "drained"  # both lists are empty after something moved
    EXHAUSTED = "exhausted"  # both lists are empty, something may be left, no more iterations
    RESPONSE = "response"  # records or NotAvailable came
    TRANSFER_END = "transfer-end"  # the peer has answered what it will answer of my list
    WAKE = "wake"  # an open exchange begins another round: something changed here, or the peer says so
    RENEW = "renew"  # an open exchange begins another epoch: an operand changed, mine or the peer's
    TICK = "tick"  # a new ready time, mine or the peer's
    TIMEOUT = "timeout"  # the peer was silent for too long
    CLOSE = "close"  # a side or the person ends it
    FAULT = "fault"  # a rule was broken; the error names it


class Other(Enum):
    """What a cell may hold besides the next phase and a fault."""

    IGNORE = "late or without meaning here, and harmless"
    MISUSE = "only a wrong driver can cause it"


Cell = Phase | AbortReason | Other
"""The next phase; or the reason of an abort; or nothing."""

_SE, _HE, _AD, _RC, _LI = Phase.SETUP, Phase.HELLO, Phase.ADVERTISE, Phase.RECONCILE, Phase.LISTING
_RQ, _TR, _FX, _CL, _AB = Phase.REQUEST, Phase.TRANSFER, Phase.FIXED, Phase.CLOSED, Phase.ABORTED
_oo, _xx = Other.IGNORE, Other.MISUSE
_fb, _ur, _to = AbortReason.FACT_BLOCK, AbortReason.UNEXPECTED_RESPONSE, AbortReason.PHASE_TIMEOUT

# fmt: off
_ROWS: dict[Event, tuple[Cell, ...]] = {
    #                   idle setup hello adver recon listi reque trans fixed close abort
    Event.START:        (_SE, _xx,  _xx,  _xx,  _xx,  _xx,  _xx,  _xx,  _xx,  _xx,  _xx),
    Event.SETUP:        (_xx, _HE,  _fb,  _fb,  _fb,  _fb,  _fb,  _fb,  _fb,  _oo,  _oo),
    Event.HELLO:        (_xx, _fb,  _AD,  _fb,  _fb,  _fb,  _fb,  _fb,  _fb,  _oo,  _oo),
    Event.ADVERTISED:   (_xx, _fb,  _fb,  _RC,  _fb,  _fb,  _fb,  _fb,  _fb,  _oo,  _oo),
    Event.ASKS:         (_xx, _fb,  _fb,  _fb,  _LI,  _fb,  _fb,  _fb,  _fb,  _oo,  _oo),
    Event.LISTING:      (_xx, _fb,  _fb,  _fb,  _fb,  _RQ,  _fb,  _fb,  _fb,  _oo,  _oo),
    Event.NARROWED:     (_xx, _fb,  _fb,  _fb,  _fb,  _RC,  _fb,  _fb,  _fb,  _oo,  _oo),
    Event.REQUESTS:     (_xx, _fb,  _fb,  _fb,  _fb,  _fb,  _TR,  _fb,  _fb,  _oo,  _oo),
    Event.QUIET:        (_xx, _fb,  _fb,  _fb,  _fb,  _fb,  _FX,  _fb,  _fb,  _oo,  _oo),
    Event.DRAINED:      (_xx, _fb,  _fb,  _fb,  _fb,  _fb,  _AD,  _fb,  _fb,  _oo,  _oo),
    Event.EXHAUSTED:    (_xx, _fb,  _fb,  _fb,  _fb,  _fb,  _CL,  _fb,  _fb,  _oo,  _oo),
    Event.RESPONSE:     (_xx, _ur,  _ur,  _ur,  _ur,  _ur,  _ur,  _TR,  _ur,  _oo,  _oo),
    Event.TRANSFER_END: (_xx, _ur,  _ur,  _ur,  _ur,  _ur,  _ur,  _RQ,  _ur,  _oo,  _oo),
    Event.WAKE:         (_xx, _oo,  _oo,  _oo,  _oo,  _oo,  _oo,  _oo,  _AD,  _oo,  _oo),
    Event.RENEW:        (_xx, _xx,  _xx,  _SE,  _xx,  _xx,  _xx,  _xx,  _SE,  _oo,  _oo),
    Event.TICK:         (_xx, _fb,  _fb,  _AD,  _RC,  _LI,  _RQ,  _TR,  _FX,  _oo,  _oo),
    Event.TIMEOUT:      (_xx, _to,  _to,  _to,  _to,  _to,  _to,  _to,  _oo,  _oo,  _oo),
    Event.CLOSE:        (_CL, _CL,  _CL,  _CL,  _CL,  _CL,  _CL,  _CL,  _CL,  _oo,  _oo),
    Event.FAULT:        (_AB, _AB,  _AB,  _AB,  _AB,  _AB,  _AB,  _AB,  _AB,  _oo,  _oo),
}
# fmt: on

TRANSITIONS: MappingProxyType[Phase, MappingProxyType[Event, Cell]] = MappingProxyType(
    {
        phase: MappingProxyType({event: row[column] for event, row in _ROWS.items()})
        for column, phase in enumerate(Phase)
    }
)

ENDED = frozenset({Phase.CLOSED, Phase.ABORTED})
"""The phases that are never left."""


def step(phase: Phase, event: Event) -> Phase | AbortReason | None:
    """Return what an event leads to: the next phase, the reason of an abort, or None if it is ignored.

    Raises:
        MachineMisuse: only a wrong driver can cause this event here; nothing has changed.
    """
    cell = TRANSITIONS[phase][event]
    if cell is Other.MISUSE:
        raise MachineMisuse(f"The event {event} has no meaning in the phase {phase}.")
    return None if isinstance(cell, Other) else cell
