"""The snapshot head: one sealed record that says what a mailbox holds (docs/formats.md section 4; H-11).

It carries the writer's side of an exchange: operand, hello facts, vector. Its number rises with every head
the node writes to a drop, which is how a reader notices that a medium went back in time (CYB-18).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple, TypeVar

from blake3 import blake3

from transports.errors import BadSnapshot, FalseSnapshot, RolledBack, TwoStates
from transports.index.runs import RunRef
from transports.layout import DROP_ID, RUN_RAW_LIMIT, read_digest, read_line, read_number
from vault.errors import DataError
from vault.records import b64a
from vault.records.hashes import RecordHash, Verifier
from vault.records.model import Plex, Seal
from vault.records.tai import Tai

__all__ = ["APP", "BODY_LIMIT", "LISTING_LIMIT", "LogReach", "SnapshotHead", "check_number"]

APP = "lace/snapshot"
BODY_LIMIT = 1 << 20  # bytes of the whole body
_FIXED_LIMIT = 4096  # bytes of the body without its vector lines
LISTING_LIMIT = 2_000_000  # entries of all runs together: what a reader is ready to fold in memory
_NUMBER_LIMIT = 1 << 63
_RUN_FILE_LIMIT = RUN_RAW_LIMIT + (1 << 20)  # bytes
_MAGIC = "lace-snapshot/0"
_NUMBER = "Number"
_OPERAND = re.compile(r"R\.[0-9A-Z_a-z~]{43}", re.ASCII)
_FACET = re.compile(r"[A-Za-z][A-Za-z0-9._/-]{0,63}", re.ASCII)
_HELLO = re.compile(r"(Hello[A-Za-z]+)\([^\n]*\)")
_DERIVED = "HelloExchangePlan"
_T = TypeVar("_T")


class LogReach(NamedTuple):
    """How far a node's log is known: its highest contiguous `Seq` and that log entry's Plex digest."""

    node: Verifier
    seq: int
    digest: bytes
    is_forked: bool = False

    @classmethod
    def parse(cls, text: str) -> LogReach:
        """Return what a line says, as `text` writes it.

        Raises:
            BadSnapshot: it is not written so.
        """
        fields = text.split(" ")
        if len(fields) not in {3, 4} or fields[3:] not in ([], ["forked"]):
            raise BadSnapshot(f"{text[:120]!r} is not an entry of a vector.")
        node = _parsed(Verifier.parse, fields[0])
        digest = read_digest(fields[2], BadSnapshot, "a log entry")
        return cls(node, _number(fields[1]), digest, len(fields) == 4)

    @property
    def text(self) -> str:
        """Its line in the vector of a head and in what a file needs: node, number, digest, and `forked` if it did."""
        return f"{self.node.text} {self.seq} {b64a.encode(self.digest)}{' forked' if self.is_forked else ''}"


@dataclass(frozen=True, slots=True)
class SnapshotHead:
    """What a node says about its mailbox on one drop.

    Args:
        node: the writer; its seal is the proof.
        number: higher than that of every head it wrote to this drop before.
        tai: when it was written; the HelloTAI of the exchange.
        drop: id of the drop, so that a head cannot be moved to another.
        founding: the founding record of the group.
        operand: identifier `R.<43>` of the writer's selector operand.
        facet: the facet role of that operand.
        hello: hello facts as text, without the plan.
        runs: index runs in folding order.
        vector: one entry a node, sorted by verifier.
        unreleased: advisory count of commits kept to oneself, if the writer tells it.

    Raises:
        BadSnapshot: a field breaks the format or a limit.
    """

    node: Verifier
    number: int
    tai: Tai
    drop: str
    founding: RecordHash
    operand: str
    facet: str
    hello: tuple[str, ...] = ()
    runs: tuple[RunRef, ...] = ()
    vector: tuple[LogReach, ...] = field(default=(), repr=False)
    unreleased: int | None = None

    def __post_init__(self) -> None:
        if not 0 < self.number < _NUMBER_LIMIT or not 0 <= (self.unreleased or 0) < _NUMBER_LIMIT:
            raise BadSnapshot("A number of the snapshot head is out of range.")
        if DROP_ID.fullmatch(self.drop) is None or self.founding.kind != "S":
            raise BadSnapshot("The snapshot head does not name its drop and its group's founding record.")
        if _OPERAND.fullmatch(self.operand) is None or _FACET.fullmatch(self.facet) is None:
            raise BadSnapshot("The snapshot head does not name an operand and its facet.")
        read_digest(self.operand[2:], BadSnapshot, "an operand")
        for fact in self.hello:
            match = _HELLO.fullmatch(read_line(fact.encode("utf-8", "replace"), BadSnapshot, "the snapshot head"))
            if match is None or match[1] == _DERIVED:
                raise BadSnapshot(f"{fact[:60]!r} is not a hello fact that a snapshot head may carry.")
        self._check_runs()
        self._check_vector()
        fixed = sum(len(line.encode()) + 1 for line in self._fixed_lines())
        if fixed > _FIXED_LIMIT or len(self.body()) > BODY_LIMIT:
            raise BadSnapshot("The snapshot head is larger than the format allows.")

    def _check_runs(self) -> None:
        if len({run.digest for run in self.runs}) != len(self.runs):
            raise BadSnapshot("The snapshot head names an index run twice.")
        if sum(run.entries for run in self.runs) > LISTING_LIMIT:
            raise BadSnapshot(f"The snapshot head lists more than {LISTING_LIMIT} records.")

    def _check_vector(self) -> None:
        nodes = [entry.node for entry in self.vector]
        if any(a >= b for a, b in pairwise(nodes)):
            raise BadSnapshot("The vector of the snapshot head is not sorted by verifier.")
        if any(not 0 < entry.seq < _NUMBER_LIMIT or len(entry.digest) != 32 for entry in self.vector):
            raise BadSnapshot("An entry of the snapshot head's vector is out of range.")

    @property
    def runs_digest(self) -> bytes:
        """BLAKE3 over the digests of the runs, in folding order."""
        return blake3(b"".join(run.digest for run in self.runs)).digest()

    def body(self) -> bytes:
        """Return the body of the record."""
        lines = self._fixed_lines()
        lines += [f"vector {entry.text}" for entry in self.vector]
        return "".join(f"{line}\n" for line in lines).encode()

    def _fixed_lines(self) -> list[str]:
        lines = [_MAGIC, f"drop {self.drop}", f"founding {self.founding.text}"]
        lines.append(f"operand {self.operand} {self.facet}")
        lines += [f"hello {fact}" for fact in self.hello]
        if self.unreleased is not None:
            lines.append(f"unreleased {self.unreleased}")
        lines += [f"run {run.name} {b64a.encode(run.digest)} {run.entries} {run.size}" for run in self.runs]
        lines.append(f"runs {b64a.encode(self.runs_digest)}")
        return lines

    def to_plex(self, group: str) -> Plex:
        """Return the record to seal with the node's key.

        Raises:
            RecordError: the group id is malformed.
        """
        extras = [(_NUMBER, str(self.number))]
        return Plex.build(group=group, app=APP, name=self.node.text, tai=self.tai, extras=extras, data=self.body())

    @classmethod
    def read(cls, record: Seal, group: str) -> SnapshotHead:
        """Return what a sealed record says as a snapshot head.

        Args:
            record: as `vault.records.parse_record` gave it, so its seal is verified.
            group: the group id that it must belong to.

        Raises:
            BadSnapshot: it is not a snapshot head of this group.
            FalseSnapshot: it breaks the format.
        """
        plex = record.plex
        if plex.app != APP or plex.group != group or plex.name != record.signer.text:
            raise BadSnapshot(f"{record.hash.text} is not a snapshot head of its signer in this group.")
        try:
            return cls._of(record)
        except BadSnapshot as error:
            raise FalseSnapshot(error.message) from error

    @classmethod
    def _of(cls, record: Seal) -> SnapshotHead:
        plex = record.plex
        if len(plex.blob.data) > BODY_LIMIT:
            raise BadSnapshot("The snapshot head is larger than the format allows.")
        numbers = plex.all(_NUMBER)
        if len(numbers) != 1:
            raise BadSnapshot("The snapshot head has no number.")
        lines = _Lines(plex.blob.data)
        lines.exactly(_MAGIC)
        drop = lines.one("drop")
        founding = _hash(lines.one("founding"))
        operand, _, facet = lines.one("operand").partition(" ")
        hello = lines.many("hello")
        unreleased = lines.many("unreleased")
        if len(unreleased) > 1:
            raise BadSnapshot("The snapshot head counts unreleased commits twice.")
        runs = tuple(_run(text) for text in lines.many("run"))
        digest = lines.one("runs")
        vector = tuple(LogReach.parse(text) for text in lines.many("vector"))
        lines.end()
        head = cls(
            node=record.signer,
            number=_number(numbers[0]),
            tai=plex.tai,
            drop=drop,
            founding=founding,
            operand=operand,
            facet=facet,
            hello=tuple(hello),
            runs=runs,
            vector=vector,
            unreleased=_number(unreleased[0]) if unreleased else None,
        )
        if read_digest(digest, BadSnapshot, "the runs") != head.runs_digest:
            raise BadSnapshot("The runs of the snapshot head do not match the digest over them.")
        if head.body() != plex.blob.data:
            raise BadSnapshot("The snapshot head is not written in the one way its content allows.")
        return head


class _Lines:
    """The lines of a body, taken in the order the format gives."""

    def __init__(self, body: bytes) -> None:
        if not body.endswith(b"\n"):
            raise BadSnapshot("The snapshot head does not end with a line feed.")
        self._lines = [read_line(line, BadSnapshot, "the snapshot head") for line in body[:-1].split(b"\n")]
        self._next = 0

    def exactly(self, text: str) -> None:
        if self._lines[0] != text:
            raise BadSnapshot(f"The snapshot head does not start with {text}.")
        self._next = 1

    def many(self, word: str) -> list[str]:
        start = self._next
        while self._next < len(self._lines) and self._lines[self._next].startswith(f"{word} "):
            self._next += 1
        return [line[len(word) + 1 :] for line in self._lines[start : self._next]]

    def one(self, word: str) -> str:
        found = self.many(word)
        if len(found) != 1:
            raise BadSnapshot(f"The snapshot head does not have exactly one line {word!r} in its place.")
        return found[0]

    def end(self) -> None:
        if self._next != len(self._lines):
            raise BadSnapshot(f"{self._lines[self._next][:60]!r} stands where the snapshot head does not allow it.")


def _number(text: str) -> int:
    return read_number(text, _NUMBER_LIMIT, BadSnapshot, "a number of the snapshot head")


def _hash(text: str) -> RecordHash:
    return _parsed(RecordHash.parse, text)


def _parsed(parse: Callable[[str], _T], text: str) -> _T:
    try:
        return parse(text)
    except DataError as cause:
        raise BadSnapshot(f"{text[:60]!r} in the snapshot head is malformed.") from cause


def _run(text: str) -> RunRef:
    fields = text.split(" ")
    if len(fields) != 4:
        raise BadSnapshot(f"{text[:120]!r} does not name an index run.")
    digest = read_digest(fields[1], BadSnapshot, "an index run")
    entries = read_number(fields[2], LISTING_LIMIT + 1, BadSnapshot, "a number of entries")
    run = RunRef(digest, entries, read_number(fields[3], _RUN_FILE_LIMIT, BadSnapshot, "the size of a run"))
    if run.name != fields[0]:
        raise BadSnapshot(f"{fields[0][:60]!r} is not the name of the run with that digest.")
    return run


def check_number(previous: tuple[int, RecordHash] | None, current: tuple[int, RecordHash]) -> bool:
    """Return whether a head is newer than the last one seen of its node on its drop.

    Args:
        previous: number and hash of that one, or None at the first visit.
        current: number and hash of the head now there.

    Raises:
        RolledBack: the number went down.
        TwoStates: it stayed while the bytes changed.
    """
    if previous is None or current[0] > previous[0]:
        return True
    if current == previous:
        return False
    if current[0] == previous[0]:
        raise TwoStates(f"Two different snapshot heads carry the number {current[0]}.")
    raise RolledBack(
        f"The medium was set back: this mailbox is older than it was seen there before, number {current[0]} after"
        f" {previous[0]}."
    )
