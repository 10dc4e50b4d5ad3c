"""A node's log, read by others: how far it counts, where two vaults differ, and what its entries share.

*Counting.* A version vector says of each node the highest Seq up to which its log is here without a gap,
every entry naming the one before as `prev`, and that entry's Plex digest. Two different Plexes of one node
with the same Seq are a fork: the vector stays at the last common entry and says so, for ever; both branches
are kept. Two Seals over one Plex are one entry. All of this is a function of the set of entries, so it does
not matter in which order they come.

*Order.* The Lamport counter ticks at log entries. It gives a total order together with the node's key;
causality proper comes from the links (CYB-24). No wall clock takes part (LAZ-14, LAZ-16).

*Sharing.* `reaches` is the table "Reached by" of docs/formats.md section 1, one step of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple, Self

from vault.profile import (
    NUMBER_LIMIT,
    Commit,
    LabelRecord,
    LogEntry,
    Manifest,
    ProfileValue,
    Release,
    Resolution,
    Revision,
    Revocation,
    Tree,
)
from vault.records import RecordHash, Verifier

__all__ = [
    "Comparison",
    "LogState",
    "Range",
    "VectorEntry",
    "VersionVector",
    "compare",
    "log_order",
    "observe",
    "reaches",
    "tick",
    "vector_entry",
]


@dataclass(frozen=True, slots=True)
class VectorEntry:
    """How far one node's log counts.

    Args:
        seq: the highest contiguous Seq; 0 for none.
        plex_digest: the Plex digest of that entry, 32 bytes; empty when `seq` is 0.
        forked: whether two different entries with one Seq are known.

    Raises:
        ValueError: seq and digest do not fit each other; a fault of the program.
    """

    NONE: ClassVar[VectorEntry]

    seq: int = 0
    plex_digest: bytes = b""
    forked: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.seq < NUMBER_LIMIT or len(self.plex_digest) != (32 if self.seq else 0):
            raise ValueError(f"no vector entry has Seq {self.seq} and {len(self.plex_digest)} digest bytes")


VectorEntry.NONE = VectorEntry()


class _Slot(NamedTuple):
    """What is here of one Seq while it is not forked."""

    plex_digest: bytes
    prev: RecordHash | None
    seals: frozenset[RecordHash]


@dataclass(frozen=True, slots=True)
class LogState:
    """One node's log as far as it is known; `LogState()` knows nothing.

    Every `advance` gives a new state, at a cost linear in the entries known: give entries in batches.

    Args:
        node: whose log; None while nothing is known.
        vector: how far it counts.
        fork: the lowest Seq with two different entries; None when there is none.
    """

    node: Verifier | None = None
    vector: VectorEntry = VectorEntry.NONE
    fork: int | None = None
    _slots: Mapping[int, _Slot] = field(default_factory=dict, repr=False, hash=False)

    def advance(self, entries: Iterable[LogEntry]) -> LogState:
        """Return the state that also knows these entries, whatever their order; known ones change nothing.

        Raises:
            ValueError: an entry is of another node; a fault of the program.
        """
        node, fork, slots = self.node, self.fork, dict(self._slots)
        for entry in entries:
            if node is None:
                node = entry.signer
            elif entry.signer != node:
                raise ValueError(f"the log of {node} cannot hold an entry of {entry.signer}")
            slot = slots.get(entry.seq)
            if slot is None:
                slots[entry.seq] = _Slot(entry.plex_digest, entry.prev, frozenset((entry.hash,)))
            elif slot.plex_digest == entry.plex_digest:
                slots[entry.seq] = slot._replace(seals=slot.seals | {entry.hash})
            elif fork is None or entry.seq < fork:
                fork = entry.seq
        if fork is not None:
            # What lies on the branches decides nothing any more, and which came first must not show.
            slots = {seq: slot for seq, slot in slots.items() if seq < fork}
        seq = self.vector.seq if fork is None else min(self.vector.seq, fork - 1)
        while (slot := slots.get(seq + 1)) is not None and _follows(slot, slots.get(seq)):
            seq += 1
        digest = slots[seq].plex_digest if seq else b""
        return LogState(node, VectorEntry(seq, digest, fork is not None), fork, slots)


def _follows(slot: _Slot, before: _Slot | None) -> bool:
    if before is None:
        return slot.prev is None
    return slot.prev in before.seals


def vector_entry(entries: Iterable[LogEntry]) -> VectorEntry:
    """Return how far a node's log counts, given what is known of it in any order (LAZ-28).

    Raises:
        ValueError: the entries are of several nodes; a fault of the program.
    """
    return LogState().advance(entries).vector


# Vectors


class VersionVector(Mapping[Verifier, VectorEntry]):
    """How far the log of each node counts here (LAZ-28). Iterates in the order of the keys; never changes.

    A node that is not in it counts as 0 (LAZ-29): `of` says so, and entries that say no more are left out.
    """

    __slots__ = ("_entries",)

    def __init__(self, entries: Mapping[Verifier, VectorEntry] | None = None) -> None:
        self._entries = {node: entry for node, entry in sorted((entries or {}).items()) if entry != VectorEntry.NONE}

    def of(self, node: Verifier) -> VectorEntry:
        """Return the node's entry; `VectorEntry.NONE` for an unknown node."""
        return self._entries.get(node, VectorEntry.NONE)

    def with_entry(self, node: Verifier, entry: VectorEntry) -> Self:
        """Return a vector in which one node's entry is replaced."""
        return type(self)({**self._entries, node: entry})

    def __getitem__(self, node: Verifier) -> VectorEntry:
        return self._entries[node]

    def __iter__(self) -> Iterator[Verifier]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __hash__(self) -> int:
        return hash(tuple(self._entries.items()))

    def __repr__(self) -> str:
        return f"VersionVector({self._entries!r})"


class Range(NamedTuple):
    """Log entries `first` to `last` of one node, both included."""

    node: Verifier
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """What two vaults lack of each other, by nodes in the order of their keys.

    Args:
        ahead: what I have and they lack (LAZ-30: send).
        behind: what they have and I lack (LAZ-30: receive).
        forks: nodes of which branches must be exchanged: one of us says so, or we stand at equal Seq with
            unequal digests, which proves a fork that neither saw.
    """

    ahead: tuple[Range, ...] = ()
    behind: tuple[Range, ...] = ()
    forks: tuple[Verifier, ...] = ()

    @property
    def is_equal(self) -> bool:
        """Whether neither has anything to give, as far as vectors tell."""
        return not (self.ahead or self.behind or self.forks)


def compare(mine: Mapping[Verifier, VectorEntry], theirs: Mapping[Verifier, VectorEntry]) -> Comparison:
    """Return what to send and receive, over the union of nodes, third parties included (LAZ-29 to LAZ-31)."""
    ahead, behind, forks = [], [], []
    for node in sorted(mine.keys() | theirs.keys()):
        here, there = mine.get(node, VectorEntry.NONE), theirs.get(node, VectorEntry.NONE)
        if here.seq > there.seq:
            ahead.append(Range(node, there.seq + 1, here.seq))
        elif here.seq < there.seq:
            behind.append(Range(node, here.seq + 1, there.seq))
        is_split = here.seq == there.seq and here.plex_digest != there.plex_digest
        if here.forked or there.forked or is_split:
            forks.append(node)
    return Comparison(tuple(ahead), tuple(behind), tuple(forks))


# Order


def tick(local: int) -> int:
    """Return the Lamport counter for the next local event (LAZ-14).

    The counter stops at the largest number a record can carry: a friend who shares that number may spoil the
    order of what follows, but can keep nobody from writing.
    """
    return min(local + 1, NUMBER_LIMIT - 1)


def observe(local: int, seen: int) -> int:
    """Return the Lamport counter after receiving an event that carries `seen` (LAZ-14: max + 1)."""
    return tick(max(local, seen))


def log_order(entry: LogEntry) -> tuple[int, Verifier]:
    """Return the key of the total order: counter, then node (CYB-24); equal counters are concurrent."""
    return entry.lamport, entry.signer


# Sharing


def reaches(
    value: ProfileValue, with_content: bool, tree_items: Iterable[RecordHash] | None = None
) -> list[tuple[RecordHash, bool]]:
    """Return what a shared record shares in turn, one step: (record, whether with its content).

    Args:
        value: the shared record.
        with_content: whether it is shared with its content; only commits differ by it.
        tree_items: the records that a tree page lists; required for a tree and ignored for all others.

    Raises:
        ValueError: a tree without its items; a fault of the program, since guessing would share too little.
    """
    reached: list[tuple[RecordHash, bool]] = []
    match value:
        case LogEntry():
            reached = [(entry, True) for entry in value.entries]
        case Release():
            reached = [(value.commit, True), (value.rev, False)]
        case Revision():
            reached = [(link, False) for link in (value.commit, value.prev) if link is not None]
        case LabelRecord():
            reached = [(value.rev, False)]
        case Commit():
            reached = [(parent, False) for parent in value.parents]
            if with_content:
                reached.append((value.tree, True))
        case Resolution():
            decided = [release for release in (value.chosen, value.release) if release is not None]
            releases = dict.fromkeys((*value.sides, *decided))
            reached = [*((release, True) for release in releases), (value.result, True)]
        case Revocation():
            reached = [(admission, False) for admission in value.kept]
        case Manifest():
            reached = [(chunk.target, True) for chunk in value.chunks]
        case Tree():
            if tree_items is None:
                raise ValueError(f"what the tree {value.hash} reaches stands in its items")
            reached = [(item, True) for item in tree_items]
        case _:
            pass
    return reached
