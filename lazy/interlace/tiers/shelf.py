"""The advertisements of one source, by partition: counts, roots, hints, and the digest of the whole (INT-101..105).

The digest of an advertisement is made here without making the advertisement: a state of a hundred thousand records
has a dozen different sets of fields, so the text around the hash is made once for each. The result is the same.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final

from blake3 import blake3

from lazy.interlace.ads import EMPTY_ROOT, RECORD_DOMAIN, Advertisement, Fields, Summary, merkle_root
from lazy.interlace.facts import Fact
from vault.records import RecordHash
from vault.records.b64a import ALPHABET

__all__ = [
    "HINT_BYTES",
    "STATE_DEPTH",
    "Entry",
    "MemoryShelf",
    "Shelf",
    "digests_of",
    "divided",
    "span",
    "state_digest",
    "summary_of",
]

STATE_DEPTH: Final = 2  # characters of the prefixes whose summaries make the digest of a state (INT-102)
HINT_BYTES: Final = 3  # of a root: says where to look, and proves nothing
_STATE = b"lace-advertisement-state/v1"
_DIGEST_BITS: Final = 256

Entry = tuple[RecordHash, Fields]
"""A record and the fields that are advertised of it."""


def span(prefix: str) -> tuple[bytes, bytes | None]:
    """Return the least digest under a prefix, and the least above all of them; None where there is none above."""
    value = 0
    for character in prefix:
        value = value << 6 | ALPHABET.index(character)
    shift = _DIGEST_BITS - 6 * len(prefix)
    low, high = value << shift, value + 1 << shift
    return low.to_bytes(32, "big"), None if high >> _DIGEST_BITS else high.to_bytes(32, "big")


class _Digester:
    """Makes digests of advertisements of one source."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._texts: dict[Fields, tuple[str, ...]] = {}

    def __call__(self, entry: Entry) -> bytes:
        record, fields = entry
        parts = self._texts.get(fields)
        if parts is None:
            parts = self._texts[fields] = self._around(fields)
        return blake3(RECORD_DOMAIN + record.text.join(parts).encode()).digest()

    def _around(self, fields: Fields) -> tuple[str, ...]:
        """Return the text between which the hash stands, once for each fact."""
        facts = Advertisement("P." + "0" * 43 + ".H3", self._source, fields).to_facts()
        lines = [(fact.predicate, Fact(fact.predicate, ("", *fact.args[1:])).line) for fact in facts]
        text, parts = "", []
        for predicate, line in lines:
            cut = len(predicate) + 2  # behind the first quote
            parts.append(text + line[:cut])
            text = line[cut:] + "\n"
        return (*parts, text)


def digests_of(source: str, entries: Iterable[Entry]) -> list[bytes]:
    """Return the digests of the advertisements of these entries by a source (INT-43, INT-44)."""
    return list(map(_Digester(source), entries))


def _summary(prefix: str, digests: Sequence[bytes]) -> Summary | None:
    return Summary(prefix, len(digests), merkle_root(digests)) if digests else None


def summary_of(source: str, prefix: str, entries: Sequence[Entry]) -> Summary:
    """Return the summary of a partition that holds something."""
    return Summary(prefix, len(entries), merkle_root(digests_of(source, entries)))


def state_digest(summaries: Iterable[Summary]) -> bytes:
    """Return the digest of a whole state: over the summaries of its partitions of depth 2, in order.

    A root is not a function of the roots below it, so the root of everything would have to be made of all leaves
    again whenever one changes; this digest follows what changed.
    """
    hasher = blake3(_STATE)
    for summary in summaries:
        hasher.update(f"{summary.prefix}{summary.count}\n".encode() + summary.root)
    return hasher.digest()


class Shelf(ABC):
    """What one source advertises.

    Args:
        source: its verifier's text or its label.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self._summaries: dict[str, Summary | None] = {}
        self._digest = _Digester(source)

    @abstractmethod
    def entries(self, prefix: str) -> Sequence[Entry]:
        """Return what lies under a prefix, which may be empty, sorted by the digest of the record."""

    def summary(self, prefix: str) -> Summary | None:
        """Return the summary of a partition; None when it is empty."""
        if prefix not in self._summaries:
            self._learn(prefix, self.entries(prefix), has_children=len(prefix) < STATE_DEPTH)
        return self._summaries[prefix]

    def children(self, prefix: str) -> tuple[Summary, ...]:
        """Return the summaries of the partitions one character below, but for the empty ones (INT-103)."""
        names = [prefix + character for character in ALPHABET]
        if prefix and any(name not in self._summaries for name in names):
            self._learn(prefix, self.entries(prefix), has_children=True)
        return tuple(found for name in names if (found := self.summary(name)) is not None)

    def recall(self, summaries: Mapping[str, Summary | None]) -> None:
        """Take summaries that were made before, of partitions that did not change; None for empty ones."""
        self._summaries.update(summaries)

    def _learn(self, prefix: str, entries: Sequence[Entry], *, has_children: bool) -> None:
        """Make the summaries of a partition and of those one character below it: what is read is read once."""
        digests = list(map(self._digest, entries))
        self._summaries[prefix] = _summary(prefix, digests)
        if not has_children:
            return
        self._summaries.update(dict.fromkeys(prefix + character for character in ALPHABET))
        first = 0
        for name, group in divided(entries, len(prefix) + 1):
            self._summaries[name] = _summary(name, digests[first : first + len(group)])
            first += len(group)

    def hints(self) -> bytes:
        """Return, for each partition of one character, the first bytes of its root."""
        found = {summary.prefix: summary.root for summary in self.children("")}
        return b"".join(found.get(name, EMPTY_ROOT)[:HINT_BYTES] for name in ALPHABET)

    def state(self) -> bytes:
        """Return the digest of everything."""
        return state_digest(child for name in ALPHABET for child in self.children(name))


def divided(entries: Iterable[Entry], depth: int) -> Iterator[tuple[str, list[Entry]]]:
    """Yield sorted entries by the partition of a depth that they lie in."""
    for name, group in groupby(entries, key=lambda entry: entry[0].text[2 : 2 + depth]):
        yield name, list(group)


class MemoryShelf(Shelf):
    """A shelf over entries in memory.

    Args:
        source: its verifier's text or its label.
        entries: all of them.
    """

    def __init__(self, source: str, entries: Mapping[RecordHash, Fields]) -> None:
        super().__init__(source)
        self._entries = sorted(entries.items(), key=lambda entry: (entry[0].digest, entry[0].kind))
        self._digests = [record.digest for record, _ in self._entries]

    def entries(self, prefix: str) -> Sequence[Entry]:
        """Return what lies under a prefix."""
        low, high = span(prefix)
        first = bisect_left(self._digests, low)
        return self._entries[first : len(self._digests) if high is None else bisect_left(self._digests, high)]
