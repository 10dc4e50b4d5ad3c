"""Both sides of an exchange in one process (INT-2, INT-164).

The two machines meet as strangers would, each on its own port, so neither store sees the other. What goes from one to
the other is either fact blocks and record bytes, read under the receiver's own limits, or the messages themselves,
handed over as they are: the same transitions with the same results, without the cost of writing and reading.

Who drives an exchange may look on. What it is told stays here: no store calls it, no rule and no peer sees it
(INT-137).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from lazy.interlace.documents.wire import decode, encode
from lazy.interlace.errors import InterlaceAbort
from lazy.interlace.machine import InterlaceMachine
from lazy.interlace.messages import (
    Close,
    Effect,
    Fault,
    Input,
    Message,
    PeerTick,
    Received,
    Responses,
    Send,
    Setup,
    Start,
    TransferEnd,
)
from lazy.interlace.reasons import CloseReason
from lazy.interlace.result import InterlaceResult
from lazy.interlace.states import ENDED, Phase
from vault.records import RecordHash, Tai, Verifier

__all__ = ["Engine", "EngineSide", "Notice", "Traffic"]


class EngineSide(NamedTuple):
    """One side of an exchange in one process.

    Args:
        machine: its machine, not started.
        proven: the verifier this process can prove that side to be, because it holds the key.
    """

    machine: InterlaceMachine
    proven: Verifier | None = None


class Notice(NamedTuple):
    """What whoever looks on is told after each message (INT-137).

    Args:
        side: 0 or 1, the side that has just taken a message.
        phase: where it is now.
        loops: which iteration it is in.
        received: the records it has validated and stored so far.
    """

    side: int
    phase: Phase
    loops: int
    received: int


@dataclass(frozen=True, slots=True)
class _Parcel:
    """What travels: fact blocks, and beside them modules or records; or the mark that ends a transfer.

    A message that is handed over as it is stands in `direct`, with the tick that rides on it.
    """

    blocks: tuple[bytes, ...] = ()
    modules: Mapping[str, bytes] = field(default_factory=dict)
    records: tuple[tuple[RecordHash, bytes], ...] = ()
    ends_transfer: bool = False
    direct: Message | None = None
    tick: Tai | None = None


@dataclass(slots=True)
class Traffic:
    """What went one way: blocks and bytes of facts, and bytes of records."""

    blocks: int = 0
    fact_bytes: int = 0
    record_bytes: int = 0


class Engine:
    """Drives two machines, a parcel at a time.

    Args:
        one: a side.
        other: the other side.
        serialised: whether messages go as fact blocks; else they are handed over as they are (INT-164).
        notice: is told after each message; what it raises ends both machines and is raised again.
    """

    def __init__(
        self,
        one: EngineSide,
        other: EngineSide,
        *,
        serialised: bool = True,
        notice: Callable[[Notice], None] | None = None,
    ) -> None:
        self._sides = (one, other)
        self._serialised = serialised
        self._notice = notice
        self._queues: tuple[deque[_Parcel], deque[_Parcel]] = (deque(), deque())
        self.traffic = (Traffic(), Traffic())

    def run(self) -> tuple[InterlaceResult, InterlaceResult]:
        """Run to the fixed point or a limit and return both results (INT-120..122).

        Raises:
            InterlaceAbort: a side broke a rule; both machines are over.
        """
        self._move(Start(), (0, 1))
        self._close_both(CloseReason.CLOSED)
        return self._sides[0].machine.result, self._sides[1].machine.result

    def _move(self, first: Input, sides: Iterable[int]) -> None:
        """Give some sides an input, and deliver until nothing is under way."""
        try:
            for index in sides:
                self._queue(index, self._sides[index].machine.handle(first))
            while any(self._queues):
                for index in (0, 1):
                    if self._queues[index]:
                        self._deliver(index, self._queues[index].popleft())
                        self._tell(index)
        except BaseException:
            self._close_both(CloseReason.CLOSED)
            raise

    def _tell(self, index: int) -> None:
        if self._notice is not None:
            machine = self._sides[index].machine
            self._notice(Notice(index, machine.phase, machine.loops, len(machine.ledger.received)))

    def _close_both(self, reason: CloseReason) -> None:
        for side in self._sides:
            if side.machine.phase not in ENDED:
                side.machine.handle(Close(reason))

    def _queue(self, sender: int, effects: Iterable[Effect]) -> None:
        """Put what a side sends into the queue of the other."""
        machine = self._sides[sender].machine
        for effect in effects:
            if isinstance(effect, Send):
                if not self._serialised:
                    self._queues[1 - sender].append(_Parcel(direct=effect.message, tick=effect.tick))
                    continue
                parcel = self._parcel(machine, effect)
                traffic = self.traffic[sender]
                traffic.blocks += len(parcel.blocks)
                traffic.fact_bytes += sum(map(len, parcel.blocks))
                traffic.record_bytes += sum(len(data) for _, data in parcel.records)
                self._queues[1 - sender].append(parcel)

    @staticmethod
    def _parcel(machine: InterlaceMachine, send: Send) -> _Parcel:
        message = send.message
        if isinstance(message, TransferEnd):
            return _Parcel(ends_transfer=True)
        limit = machine.limits.max_fact_block_bytes
        blocks = encode(send, source=machine.config.source, limit=limit)
        return _Parcel(
            blocks,
            modules=message.modules if isinstance(message, Setup) else {},
            records=message.records if isinstance(message, Responses) else (),
        )

    def _deliver(self, index: int, parcel: _Parcel) -> None:
        machine, sender = self._sides[index].machine, self._sides[1 - index]
        if machine.phase in ENDED:
            return
        if parcel.ends_transfer:
            self._queue(index, machine.handle(Received(TransferEnd())))
            return
        proven = sender.proven if machine.phase is Phase.HELLO else None
        if parcel.direct is not None:
            if parcel.tick is not None:
                machine.handle(PeerTick(parcel.tick.text))
            self._queue(index, machine.handle(Received(parcel.direct, proven)))
            return
        try:
            decoded = decode(machine, parcel.blocks, parcel.modules)
        except InterlaceAbort as error:
            machine.handle(Fault(error))
            raise
        message = decoded.message
        if isinstance(message, Responses):
            message = Responses(parcel.records, message.not_available)
        for tick in decoded.ticks:
            machine.handle(PeerTick(tick))
        self._queue(index, machine.handle(Received(message, proven)))
