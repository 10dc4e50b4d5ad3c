"""What goes into a machine and what comes out, as frozen values (INT-2, INT-21).

A message is what one side tells the other in one phase. A binding may move it as fact blocks (`documents/wire.py`) or
hand over the value itself, with the same meaning.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from lazy.interlace.ads import Advertisement, Fields, Summary
from lazy.interlace.errors import InterlaceAbort
from lazy.interlace.negotiate import Hello
from lazy.interlace.plan import Operand, PolicyModule
from lazy.interlace.reasons import CloseReason
from lazy.interlace.result import InterlaceResult
from vault.records import RecordHash, Tai, Verifier

__all__ = [
    "Asks",
    "Close",
    "Effect",
    "Ended",
    "Fault",
    "FullListing",
    "HelloMessage",
    "Input",
    "Message",
    "PartitionListing",
    "PeerTick",
    "Received",
    "RequestList",
    "Responses",
    "Send",
    "Setup",
    "Start",
    "Summaries",
    "TickReached",
    "TimedOut",
    "TransferEnd",
    "Wake",
]


@dataclass(frozen=True, slots=True)
class Setup:
    """A side's complete operand for the epoch (INT-36, INT-53..55).

    Args:
        index: the operand's place in the plan, as its sender computed it (INT-37).
        operand: the operand; its origin is only a claim until the hello is proven (INT-63).
        modules: canonical bytes of modules the other side may lack, by identifier (INT-39).
    """

    index: int
    operand: Operand
    modules: Mapping[str, bytes] = field(default_factory=dict)


class HelloMessage(NamedTuple):
    """A side's hello."""

    hello: Hello


class Summaries(NamedTuple):
    """The partitions of the current effective send set, sorted by prefix (INT-46, INT-47)."""

    summaries: tuple[Summary, ...]


class FullListing(NamedTuple):
    """Every advertisement of the current effective send set (INT-45).

    Args:
        entries: fields by record; formats unknown here are left out (INT-78).
        by_partition: whether the limit of records holds for each partition instead of the whole (INT-158).
    """

    entries: Mapping[RecordHash, Fields]
    by_partition: bool = False


class Asks(NamedTuple):
    """The partitions a side wants listed, and those it wants narrowed (INT-47, INT-48)."""

    prefixes: tuple[str, ...]
    narrows: tuple[str, ...] = ()


class PartitionListing(NamedTuple):
    """The advertisements of the partitions that were to be listed, the children of those to be narrowed (INT-103)."""

    ads: tuple[Advertisement, ...]
    children: tuple[Summary, ...] = ()


class RequestList(NamedTuple):
    """The records a side asks for in this transfer phase (INT-49, INT-109)."""

    hashes: tuple[RecordHash, ...]


class Responses(NamedTuple):
    """Answers to a request list; a phase may have any number of these (INT-49, INT-51, INT-112).

    Args:
        records: stored bytes with the requested hash they answer.
        not_available: requested hashes that can no longer be sent.
    """

    records: tuple[tuple[RecordHash, bytes], ...] = ()
    not_available: tuple[RecordHash, ...] = ()


@dataclass(frozen=True, slots=True)
class TransferEnd:
    """A side has answered what it will answer in this phase; the rest is deferred (INT-114)."""


Message = (
    Setup | HelloMessage | Summaries | FullListing | Asks | PartitionListing | RequestList | Responses | TransferEnd
)


@dataclass(frozen=True, slots=True)
class Start:
    """Begin."""


class Received(NamedTuple):
    """A message of the peer.

    Args:
        message: the message.
        proven: with a hello: the verifier whose control the binding proved, if any (INT-60).
    """

    message: Message
    proven: Verifier | None = None


class PeerTick(NamedTuple):
    """The constant of a `TickReady` fact that came with a message (INT-86)."""

    text: str


class TickReached(NamedTuple):
    """The local clock has reached an aligned tick (INT-85)."""

    tai: Tai


class Wake(NamedTuple):
    """Something changed here since the fixed point of an open exchange (INT-127).

    Args:
        module: the policy that this side presents from now on, if that changed (INT-128).
    """

    module: PolicyModule | None = None


@dataclass(frozen=True, slots=True)
class TimedOut:
    """The peer was silent for `phase_timeout_seconds` (INT-150)."""


class Close(NamedTuple):
    """A side, or the person, ends the exchange (INT-122, INT-130)."""

    reason: CloseReason = CloseReason.CLOSED


class Fault(NamedTuple):
    """The binding found that the peer broke a rule, for example while it read a block."""

    error: InterlaceAbort


Input = Start | Received | Wake | PeerTick | TickReached | TimedOut | Close | Fault


class Send(NamedTuple):
    """Give this message to the peer, with my ready time if it is new (INT-86)."""

    message: Message
    tick: Tai | None = None


class Ended(NamedTuple):
    """The machine is at its fixed point, or closed."""

    result: InterlaceResult


Effect = Send | Ended
