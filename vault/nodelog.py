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
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from vault import profile
from vault.errors import DataError
from vault.profile import NUMBER_LIMIT, read
from vault.records import Record, RecordHash, Seal, Verifier, parse_record

__all__ = [
    "Comparison",
    "ForkProof",
    "LogStep",
    "NoFork",
    "Range",
    "VectorEntry",
    "VersionVector",
    "compare",
    "count",
    "proofs_in",
    "reaches",
    "tick",
]


class NoFork(DataError):
    """Two records do not prove that a log forked."""

    code = "no-fork"
    exit_code = 44
    hint = "A proof is two different valid log entries that one node sealed under one Seq."


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


class LogStep(NamedTuple):
    """What counting needs of one log entry: its number, its Plex digest, and the Seals it is and follows.

    `hash` and `prev` are hash texts or hashes, of one kind within a log.
    """

    seq: int
    plex_digest: bytes
    prev: object
    hash: object


def count(steps: Iterable[LogStep], known: VectorEntry = VectorEntry.NONE, fork: int | None = None) -> VectorEntry:
    """Return how far a node's log counts (LAZ-28, LAZ-64).

    Args:
        steps: its entries from `known.seq` on, the Seals of that one included, ordered by Seq.
        known: up to where it is known to count; before any fork.
        fork: the lowest Seq with two different entries; the vector stays before it for ever.
    """
    seq, digest = known.seq, known.plex_digest
    before: set[object] = set() if seq else {None}
    for step in steps:
        if seq and step.seq == seq:
            before.add(step.hash)  # a second Seal over the same Plex
        elif step.seq != seq + 1 or (fork is not None and step.seq >= fork) or step.prev not in before:
            break
        else:
            seq, digest, before = step.seq, step.plex_digest, {step.hash}
    return VectorEntry(seq, digest, fork is not None)


@dataclass(frozen=True, slots=True)
class ForkProof:
    """Two entries of one node's log under one Seq: whoever has both Seals can check it alone (LAZ-65, LAZ-73).

    A node signs one entry under each Seq. Two that differ show that two devices wrote under one key, or that their
    owner told two friends two different things; which of these, no record can say.

    Args:
        first: the Seal with the smaller hash text.
        second: the other one.

    Raises:
        NoFork: they prove nothing: another node, group or Seq, or one and the same entry.
    """

    first: Seal
    second: Seal

    def __post_init__(self) -> None:
        mine, other = _entry_of(self.first), _entry_of(self.second)
        if mine.signer != other.signer or mine.group != other.group or mine.seq != other.seq:
            raise NoFork("The two log entries are not of one node, one group and one Seq.")
        if mine.plex_digest == other.plex_digest:
            raise NoFork("The two records are one and the same log entry.")

    @classmethod
    def of(cls, one: bytes, other: bytes) -> ForkProof:
        """Check two stored records, their signatures included.

        Raises:
            NoFork: they are valid and prove no fork.
            RecordError: one is not valid.
        """
        found = [parse_record(stored) for stored in (one, other)]
        seals = sorted((record for record in found if isinstance(record, Seal)), key=lambda seal: seal.hash.text)
        if len(seals) < len(found):
            raise NoFork("Only sealed log entries prove a fork.")
        return cls(*seals)

    @property
    def node(self) -> Verifier:
        """Whose log forked."""
        return self.first.signer

    @property
    def seq(self) -> int:
        """The Seq that two entries have."""
        return _entry_of(self.first).seq

    def encode(self) -> bytes:
        """Return the proof as bytes: the two stored records, one after the other."""
        return self.first.encode() + self.second.encode()


def proofs_in(records: Iterable[Record]) -> Iterator[ForkProof]:
    """Yield the proofs that a stream of verified records holds, each as soon as its second entry was read."""
    first: dict[tuple[str, Verifier, int], Seal] = {}
    for record in records:
        value = read(record) if isinstance(record, Seal) else None
        if not isinstance(record, Seal) or not isinstance(value, profile.LogEntry):
            continue
        known = first.setdefault((value.group, value.signer, value.seq), record)
        if known.plex.hash != record.plex.hash:
            yield ForkProof(*sorted((known, record), key=lambda seal: seal.hash.text))


def _entry_of(seal: Seal) -> profile.LogEntry:
    value = read(seal)
    if not isinstance(value, profile.LogEntry):
        raise NoFork("Only sealed log entries prove a fork.")
    return value


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


class Comparison(NamedTuple):
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


# Sharing


def reaches(value: profile.ProfileValue, *, with_content: bool) -> list[tuple[RecordHash, bool]]:
    """Return what a shared record shares in turn, one step: (record, whether with its content).

    Args:
        value: the shared record.
        with_content: whether it is shared with its content; only commits differ by it.

    Raises:
        ValueError: it is a tree, whose items `vault.desks.pages.listed` reads; a fault of the program.
    """
    reached: list[tuple[RecordHash, bool]] = []
    match value:
        case profile.LogEntry():
            reached = [(entry, True) for entry in value.entries]
        case profile.Release():
            reached = [(value.commit, True), (value.rev, False)]
        case profile.Revision():
            reached = [(link, False) for link in (value.commit, value.prev) if link is not None]
        case profile.LabelRecord():
            reached = [(value.rev, False)]
        case profile.Commit():
            reached = [(parent, False) for parent in value.parents]
            if with_content:
                reached.append((value.tree, True))
        case profile.Resolution():
            decided = [release for release in (value.chosen, value.release) if release is not None]
            releases = dict.fromkeys((*value.sides, *decided))
            reached = [*((release, True) for release in releases), (value.result, True)]
        case profile.Revocation():
            reached = [(admission, False) for admission in value.kept]
        case profile.Manifest():
            reached = [(chunk.target, True) for chunk in value.chunks]
        case profile.Tree():
            raise ValueError(f"what the tree {value.hash} reaches stands in its items")
        case _:
            pass
    return reached
