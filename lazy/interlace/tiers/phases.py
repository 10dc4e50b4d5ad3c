"""The phases of a side that learns a peer's state, and the whole table of what leads from one to the next.

    idle      nothing was said
    hinted    what I predict was told; the peer's first answer is awaited
    asking    some partitions differ; their summaries or lists are awaited
    known     every partition is accounted for and the whole has the digest that the peer named
    failed    what came breaks a rule or proves something else; nothing of it is used

From `failed` the driver goes on with the whole listing, which every peer can give.
"""

from __future__ import annotations

from enum import StrEnum
from types import MappingProxyType
from typing import Final

from lazy.interlace.errors import MachineMisuse

__all__ = ["TABLE", "ReaderEvent", "ReaderPhase", "next_phase"]


class ReaderPhase(StrEnum):
    """Where a reader is."""

    IDLE = "idle"
    HINTED = "hinted"
    ASKING = "asking"
    KNOWN = "known"
    FAILED = "failed"


class ReaderEvent(StrEnum):
    """What can happen to it."""

    BEGIN = "begin"  # the driver wants its prediction
    OPEN = "open"  # an answer came, and some partitions still differ
    CLOSED = "closed"  # an answer came, nothing is open, and the digest of the whole is right
    FAULT = "fault"  # an answer came that breaks a rule


_I, _H, _A, _K, _F = ReaderPhase
TABLE: Final = MappingProxyType(
    {
        #                   idle hinted asking known failed; None is a wrong driver's doing
        ReaderEvent.BEGIN: (_H, None, None, None, None),
        ReaderEvent.OPEN: (None, _A, _A, None, None),
        ReaderEvent.CLOSED: (None, _K, _K, None, None),
        ReaderEvent.FAULT: (None, _F, _F, None, None),
    }
)


def next_phase(phase: ReaderPhase, event: ReaderEvent) -> ReaderPhase:
    """Return the phase that follows.

    Raises:
        MachineMisuse: the driver made a mistake.
    """
    target = TABLE[event][list(ReaderPhase).index(phase)]
    if target is None:
        raise MachineMisuse(f"A reader of a peer's state meets {event} in the phase {phase}.")
    return target
