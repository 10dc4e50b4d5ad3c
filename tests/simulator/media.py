"""Media of a simulation: lines that carry streams, pairs in one process, pairs that stay open, and sticks."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Protocol

from lazy.interlace.ads import Advertisement, partitions, summarise
from lazy.interlace.documents.engine import Engine, EngineSide
from lazy.interlace.documents.opened import OpenExchange
from lazy.interlace.documents.stream import StreamLink
from lazy.interlace.errors import InterlaceAbort
from lazy.interlace.limits import Limits
from lazy.interlace.mailbox import MailboxExchange, PeerSnapshot
from lazy.interlace.messages import Close, TickReached, TimedOut
from lazy.interlace.negotiate import Hello
from lazy.interlace.plan import Evaluation
from lazy.interlace.reasons import AbortReason, CloseReason
from lazy.interlace.result import InterlaceResult
from lazy.interlace.states import ENDED, Phase
from tests.lazy.interlace.links import assert_invariants
from tests.simulator.world import POLICIES, Trace, Vault, WatchedMachine, WatchedOpenMachine, terms_of
from vault.records import RecordHash, Tai

__all__ = ["Line", "Medium", "Process", "Stick", "Together"]

_FAULTS = (
    "drop",
    "double",
    "reorder",
    "spoil",
    "letter",
    "claim",
    "claim",
    "letter",
    "line",
    "truncate",
    "cut",
    "delay",
    "close",
    "tick",
)
_LETTER = re.compile(rb"[A-Za-z0-9]")
_CLAIM = b",'App','0','lace/"
_PATIENCE = 20_000  # packets that one exchange may take; no sound one needs a twentieth


class Medium(Protocol):
    """Something over which vaults meet."""

    @property
    def roads(self) -> list[tuple[int, int, bool]]:
        """Who can get records from whom, and whether the receiver's policy narrows what is sent, too."""

    def visit(self, draw: random.Random, faults: float, trace: Trace) -> bool:
        """Let vaults meet once; return whether anybody received anything.

        Args:
            draw: where chance comes from.
            faults: how likely a fault is at each packet; 0 for a sound medium.
            trace: is told what happens.
        """


def _note(trace: Trace, vault: Vault, result: InterlaceResult) -> bool:
    trace.ends += 1
    trace.aborts += result.closed_by is CloseReason.ABORTED
    received = " ".join(record.text for record in result.received)
    trace.add("end", vault.number, result.closed_by, result.reason, result.loops, result.bytes_received, received)
    return bool(result.received)


def _remember(vault: Vault, other: Vault, result: InterlaceResult) -> None:
    """Keep what was learnt of a peer; it is what the verified summaries stand for (INT-99, INT-106)."""
    cursor = result.cursor
    if cursor is not None:
        ads = (Advertisement.of(record, cursor.source, fields) for record, fields in cursor.entries.items())
        assert not cursor.summaries or summarise(partitions(ads)) == cursor.summaries
        vault.cursors[other.number] = cursor


def _check_abort(error: InterlaceAbort) -> InterlaceResult:
    """An abort is one of the error table, with the partial result in it, which is returned (INT-140..153)."""
    assert isinstance(error.reason, AbortReason)
    assert isinstance(error.result, InterlaceResult)
    assert error.result.closed_by is CloseReason.ABORTED
    assert not error.result.cursor_updated
    return error.result


@dataclass(slots=True)
class _Pair:
    """Two vaults that hear each other."""

    vaults: tuple[Vault, Vault]

    @property
    def roads(self) -> list[tuple[int, int, bool]]:
        """Both ways, and both policies."""
        one, other = (vault.number for vault in self.vaults)
        return [(one, other, True), (other, one, True)]


@dataclass(slots=True)
class Line(_Pair):
    """A line between two vaults, over which each exchange is one stream each way."""

    def visit(self, draw: random.Random, faults: float, trace: Trace) -> bool:
        """Run one exchange over the line."""
        return _Call(self, draw, faults, trace).run()


class _Call:
    """One exchange over a line."""

    def __init__(self, line: Line, draw: random.Random, faults: float, trace: Trace) -> None:
        self.draw, self.faults, self.trace = draw, faults, trace
        self.vaults = line.vaults
        self.machines = [
            WatchedMachine(one.config(other, terms_of(draw), **_habits(draw)), one, one.cursors.get(other.number))
            for one, other in (self.vaults, self.vaults[::-1])
        ]
        self.links = [
            StreamLink(machine, other.node) for machine, other in zip(self.machines, self.vaults[::-1], strict=True)
        ]
        self.flight: tuple[list[bytes], list[bytes]] = ([], [])  # by who is to get it
        self.is_cut = self.is_damaged = False
        self.sound = draw.choice((0, 6, 9, 12, 16, 24))  # packets before anything goes wrong, to reach every phase

    def run(self) -> bool:
        for index in (0, 1):
            self._put(1 - index, self.links[index].start())
        for _ in range(_PATIENCE):
            waiting = [index for index in (0, 1) if self.flight[index]]
            if not waiting:
                break
            self._deliver(self.draw.choice(waiting))
        else:
            raise AssertionError("The exchange does not end.")
        return self._end()

    def _put(self, receiver: int, data: bytes) -> None:
        assert not any(secret in data for secret in self.vaults[1 - receiver].secrets)
        if self.is_cut or not data:
            return
        pieces = self.draw.choice((1, 1, 1, 2, 3))
        size = len(data) // pieces + 1
        self.flight[receiver].extend(data[at : at + size] for at in range(0, len(data), size))

    def _deliver(self, index: int) -> None:
        queue = self.flight[index]
        packet = queue.pop(0)
        self.sound -= 1
        if self.sound < 0 and self.draw.random() < self.faults:
            packet = self._spoilt(index, packet)
        self.trace.add("to", index, packet)
        try:
            self._put(1 - index, self.links[index].take(packet))
        except InterlaceAbort as error:
            _check_abort(error)
        self._compare()

    def _spoilt(self, index: int, packet: bytes) -> bytes:
        """Let one thing go wrong with a packet, and return what is left to deliver now."""
        draw, queue, machine = self.draw, self.flight[index], self.machines[index]
        fault = draw.choice(_FAULTS)
        self.trace.add("fault", index, fault)
        if fault not in {"tick", "delay", "close"}:
            self.is_damaged = True
        match fault:
            case "drop":
                return b""
            case "double":
                queue.insert(0, packet)
            case "reorder" if queue:
                queue.insert(0, packet)
                return queue.pop(1)
            case "spoil":
                at = draw.randrange(len(packet))
                return packet[:at] + bytes([packet[at] ^ 1 << draw.randrange(8)]) + packet[at + 1 :]
            case "letter" if letters := list(_LETTER.finditer(packet)):  # still well-formed, as a liar's would be
                at = draw.choice(letters).start()
                return packet[:at] + draw.choice([b"a", b"Z", b"0", b"1"]) + packet[at + 1 :]
            case "claim" if _CLAIM in packet:  # a listing that says something else than its summary
                return packet.replace(_CLAIM, _CLAIM.replace(b"lace", b"lack"), 1)
            case "line":
                lines = packet.splitlines(keepends=True)
                lines.pop(draw.randrange(len(lines)))
                return b"".join(lines)
            case "truncate":
                return packet[: draw.randrange(len(packet))]
            case "cut":
                self.is_cut = True
                for waiting in self.flight:
                    waiting.clear()
                return packet[: draw.randrange(len(packet))]
            case "delay":
                half = draw.randrange(len(packet))
                queue.insert(0, packet[half:])
                return packet[:half]
            case "close":
                machine.handle(Close(CloseReason.CANCELLED))
            case "tick" if machine.agreed is not None and machine.phase not in ENDED:
                self._tick(machine)
        return packet

    def _tick(self, machine: WatchedMachine) -> None:
        agreed, ticks = machine.agreed, machine._ticks
        assert agreed is not None
        assert ticks is not None
        later = ticks.mine.total_ns + agreed.tick_interval_ns
        machine.handle(TickReached(Tai(later // 10**9, later % 10**9)))

    def _compare(self) -> None:
        """Both agreed on the same, unless a byte of it was spoilt on the way (7); buffers stay bounded (12)."""
        one, other = (machine.agreed for machine in self.machines)
        if one is not None and other is not None and not self.is_damaged:
            assert one == other
        for link in self.links:
            assert len(link._buffer) < 1 << 20

    def _end(self) -> bool:
        """Whoever still waits hears nothing more: its phase runs out (INT-150)."""
        moved = False
        for one, other, machine in zip(self.vaults, self.vaults[::-1], self.machines, strict=True):
            if machine.phase is Phase.FIXED:
                machine.handle(Close())
            if machine.phase not in ENDED:
                try:
                    machine.handle(TimedOut())
                except InterlaceAbort as error:
                    _check_abort(error)
            result = machine.result
            if not self.faults:
                assert result.closed_by in {CloseReason.FIXED_POINT, CloseReason.DEFERRED, CloseReason.LOOP_LIMIT}
            _remember(one, other, result)
            moved |= _note(self.trace, one, result)
        return moved


def _habits(draw: random.Random) -> dict[str, object]:
    """Draw how a side goes about it."""
    return {
        "max_requests": draw.choice((None, None, 1, 3)),
        "serve_bytes": draw.choice((64 << 20, 64 << 20, 700)),
        "retries_deferred": draw.random() < 0.9,
    }


@dataclass(slots=True)
class Process(_Pair):
    """Two vaults in one process, by fact blocks or handed over; nothing goes wrong there."""

    def visit(self, draw: random.Random, faults: float, trace: Trace) -> bool:
        """Run one exchange in this process."""
        del faults
        one, other = self.vaults
        machines = [
            WatchedMachine(mine.config(theirs, terms_of(draw), **_habits(draw)), mine, mine.cursors.get(theirs.number))
            for mine, theirs in ((one, other), (other, one))
        ]
        sides = EngineSide(machines[0], one.node), EngineSide(machines[1], other.node)
        results = Engine(*sides, serialised=draw.random() < 0.5).run()
        moved = False
        for mine, theirs, result in zip((one, other), (other, one), results, strict=True):
            _remember(mine, theirs, result)
            moved |= _note(trace, mine, result)
        return moved


@dataclass(slots=True)
class Together(_Pair):
    """Two vaults in one process whose exchange stays open from visit to visit, through changes of policy (INT-128)."""

    _pair: OpenExchange | None = None
    _policies: tuple[str, ...] = ()
    _withheld: tuple[frozenset[str], ...] = ()

    def visit(self, draw: random.Random, faults: float, trace: Trace) -> bool:
        """Go on where the last visit rested."""
        before = sum(len(vault.ever) for vault in self.vaults)
        withheld = tuple(vault.withheld for vault in self.vaults)
        if self._pair is None or not self._pair.is_open or withheld != self._withheld:
            # What rules of the peer may see was fixed when the exchange began.
            self._pair, self._withheld = self._opened(draw), withheld
        pair = self._pair
        results = pair.settle()
        for index, vault in enumerate(self.vaults):
            if pair.is_open and vault.policy != self._policies[index]:
                results = pair.present(index, vault.module())
        self._policies = tuple(vault.policy for vault in self.vaults)
        if faults and draw.random() < faults:
            trace.add("closes")
            pair.close()
        for vault, result in zip(self.vaults, results or (), strict=False):
            _note(trace, vault, result)
        return sum(len(vault.ever) for vault in self.vaults) != before

    def _opened(self, draw: random.Random) -> OpenExchange:
        one, other = self.vaults
        sides = [
            EngineSide(WatchedOpenMachine(mine.config(theirs, terms_of(draw), **_habits(draw)), mine), mine.node)
            for mine, theirs in ((one, other), (other, one))
        ]
        self._policies = (one.policy, other.policy)
        positions = (lambda: len(one.ever), lambda: len(other.ever))
        return OpenExchange(sides[0], sides[1], positions, serialised=draw.random() < 0.5)


@dataclass(frozen=True, slots=True)
class _Snapshot:
    writer: Vault
    said: PeerSnapshot
    bodies: dict[RecordHash, bytes]


@dataclass(slots=True)
class Stick:
    """A passive medium: each vault leaves a snapshot and reads those of the others (H-11)."""

    vaults: tuple[Vault, ...]
    left: dict[int, list[_Snapshot]] = field(default_factory=dict)

    @property
    def roads(self) -> list[tuple[int, int, bool]]:
        """From everybody to everybody; a writer knows no reader's policy."""
        numbers = [vault.number for vault in self.vaults]
        return [(one, other, False) for one in numbers for other in numbers if one != other]

    def visit(self, draw: random.Random, faults: float, trace: Trace) -> bool:
        """Let every vault publish, read the others, and publish again."""
        moved = False
        for vault in self.vaults:
            if faults and draw.random() < 0.3:
                continue  # did not come by
            self._publish(vault, draw)
            for other in self.vaults:
                if other is not vault and self.left.get(other.number):
                    moved |= self._read(vault, other, draw, faults, trace)
            if not (faults and draw.random() < 0.3):  # pulled out too early
                self._publish(vault, draw)
        return moved

    def _publish(self, vault: Vault, draw: random.Random) -> None:
        module = vault.module()
        listing = dict(vault.exposed)
        if module.send is not None:
            chosen = module.send(Evaluation("", {}))
            listing = {record: fields for record, fields in listing.items() if record in chosen}
        terms = replace(terms_of(draw), limits=Limits())
        hello = tuple(f for f in Hello("E." + "0" * 43, None, terms).to_facts() if f.predicate != "HelloExchangePlan")
        modules = {module.id: POLICIES[vault.policy].encode()}
        said = PeerSnapshot(vault.node, module.id, hello, listing, modules=modules)
        bodies = {record: vault.store.stored(record) or b"" for record in listing}
        self.left.setdefault(vault.number, []).append(_Snapshot(vault, said, bodies))

    def _read(self, vault: Vault, other: Vault, draw: random.Random, faults: float, trace: Trace) -> bool:
        kept = self.left[other.number]
        snapshot = draw.choice(kept) if draw.random() < faults else kept[-1]
        config = vault.config(other, replace(terms_of(draw), limits=Limits()))
        exchange = MailboxExchange(config, vault, snapshot.said)
        try:
            wanted = exchange.start()
            for _ in range(_PATIENCE):
                if not wanted:
                    break
                for start in range(0, len(wanted), 4):
                    exchange.take(self._batch(snapshot, wanted[start : start + 4], draw, faults))
                    assert_invariants(exchange._machine)
                if draw.random() < faults:
                    return _note(trace, vault, exchange.cancel())
                wanted = exchange.end_transfer()
                assert_invariants(exchange._machine)
        except InterlaceAbort as error:
            assert faults
            return _note(trace, vault, _check_abort(error))
        assert exchange.result is not None
        return _note(trace, vault, exchange.result)

    @staticmethod
    def _batch(
        snapshot: _Snapshot, wanted: Iterable[RecordHash], draw: random.Random, faults: float
    ) -> list[tuple[RecordHash, bytes | None]]:
        batch: list[tuple[RecordHash, bytes | None]] = []
        for record in wanted:
            data: bytes | None = snapshot.bodies[record]
            if data and draw.random() < faults:
                at = draw.randrange(len(data))
                spoilt = data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :]
                data = draw.choice((None, b"", data[:at], spoilt, draw.choice([*snapshot.bodies.values()])))
                if draw.random() < 0.2:
                    continue  # not given: deferred
            batch.append((record, data))
        if batch and draw.random() < faults / 4:
            batch.append(batch[0])  # the same twice
        return batch
