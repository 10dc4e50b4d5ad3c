"""Advertisements, their digests and the Merkle roots of partitions (INT-42..48, INT-101..106).

An advertisement is a claim of one source: "I can send this record, and it has these fields". Its canonical
form is a small fact block; all digests start there. A partition holds the advertisements whose hash begins,
after the type prefix, with the same characters. Its root is taken over the record digests sorted bytewise and
then hashed to leaves in that order (H-7), padded with empty leaves to a power of two.

A root is not a function of the roots of child partitions, because the digests are sorted over the whole
partition; only counts add up.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from blake3 import blake3

from lazy.interlace.errors import MalformedFactBlock, MalformedPartitionSummary
from lazy.interlace.facts import Fact, format_block
from lazy.interlace.limits import decimal
from vault.records import RecordHash, b64a
from vault.records.errors import RecordError

__all__ = [
    "EMPTY_ROOT",
    "FIRST_PREFIX",
    "RECORD_DOMAIN",
    "Advertisement",
    "Fields",
    "Summary",
    "leaf",
    "merkle_root",
    "node",
    "partitions",
    "prefix_of",
    "read_advertisements",
    "summarise",
]

FIRST_PREFIX: Final = 2  # characters; INT-102
RECORD_DOMAIN = b"lace-advertisement-record/v1"
_LEAF = b"lace-advertisement-leaf/v1"
_NODE = b"lace-advertisement-node/v1"
EMPTY_ROOT: Final = blake3(b"lace-advertisement-empty/v1").digest()
_HASH_TEXT = re.compile(r"[BPS]\.[0-9A-Z_a-z~]{12,128}\.[A-Z][A-Z0-9]{0,7}")
_PREFIX = re.compile(r"[0-9A-Z_a-z~]{1,43}")

Fields = tuple[tuple[str, int, str], ...]
"""Advertised fields of a record: name, index among those of that name, value (as in FAC-4)."""


@dataclass(frozen=True, slots=True)
class Advertisement:
    """One source's claim about one record (INT-32, INT-42).

    Args:
        hash_text: the record's hash; its suffix may be one this program does not know (FAC-5).
        source: the advertiser's verifier text, or its label if it is not proven.
        fields: what it claims, sorted by name bytewise and then by index as a number.

    Raises:
        MalformedFactBlock: the hash has no such form, or the fields repeat or are out of order.
    """

    hash_text: str
    source: str
    fields: Fields = ()

    def __post_init__(self) -> None:
        if _HASH_TEXT.fullmatch(self.hash_text) is None:
            raise MalformedFactBlock(f"{self.hash_text[:60]!r} is not the hash of a record.")
        keys = [(name, index) for name, index, _ in self.fields]
        if any(before >= after for before, after in pairwise(keys)):
            raise MalformedFactBlock(f"The advertised fields of {self.hash_text} are not in canonical order.")

    @classmethod
    def of(cls, record: RecordHash, source: str, fields: Fields = ()) -> Advertisement:
        """Return the advertisement with its fields put in canonical order (INT-43)."""
        # Python orders text by code point, which for UTF-8 is the order of the bytes.
        return cls(record.text, source, tuple(sorted(fields)))

    @property
    def hash(self) -> RecordHash | None:
        """The record's hash, or None if its format is not supported here (INT-78)."""
        try:
            return RecordHash.parse(self.hash_text)
        except RecordError:
            return None

    def to_facts(self) -> tuple[Fact, ...]:
        """Return the facts in canonical order (INT-43)."""
        record, source = self.hash_text, self.source
        return (
            Fact("Advertised", (record, source)),
            *(Fact("AdvertisedField", (record, source, n, str(i), v)) for n, i, v in self.fields),
        )

    @property
    def block(self) -> bytes:
        """The canonical bytes (INT-43)."""
        return format_block(self.to_facts())

    @property
    def digest(self) -> bytes:
        """The digest of the canonical bytes (INT-44)."""
        return blake3(RECORD_DOMAIN + self.block).digest()


def leaf(digest: bytes) -> bytes:
    """Return the leaf of an advertisement digest (INT-104)."""
    return blake3(_LEAF + digest).digest()


def node(left: bytes, right: bytes) -> bytes:
    """Return the inner node over two nodes (INT-104)."""
    return blake3(_NODE + left + right).digest()


def merkle_root(digests: Iterable[bytes]) -> bytes:
    """Return the root over advertisement digests, in whatever order they come (INT-105)."""
    row = [leaf(digest) for digest in sorted(digests)]
    if not row:
        return EMPTY_ROOT
    row += [EMPTY_ROOT] * ((1 << (len(row) - 1).bit_length()) - len(row))
    while len(row) > 1:
        row = [node(row[i], row[i + 1]) for i in range(0, len(row), 2)]
    return row[0]


def prefix_of(record: RecordHash | str, length: int = FIRST_PREFIX) -> str:
    """Return the partition of a record: the first characters of its hash without the type (INT-101)."""
    if isinstance(record, str):
        return record[2 : 2 + length]
    return b64a.encode(record.digest[: (length * 6 + 7) // 8])[:length]


@dataclass(frozen=True, slots=True)
class Summary:
    """What a partition holds, without listing it (INT-46..48).

    Args:
        prefix: 1 to 43 characters of B64A.
        count: how many advertisements; a partition without any has no summary.
        root: 32 bytes.

    Raises:
        MalformedPartitionSummary: a value breaks its form (INT-148).
    """

    prefix: str
    count: int
    root: bytes

    def __post_init__(self) -> None:
        if _PREFIX.fullmatch(self.prefix) is None:
            raise MalformedPartitionSummary(f"{self.prefix[:60]!r} is not the prefix of a partition.")
        if self.count < 1 or len(self.root) != len(EMPTY_ROOT):
            raise MalformedPartitionSummary(f"The summary of partition {self.prefix} has no count or root.")

    def to_fact(self) -> Fact:
        """Return the summary as an `AdvertisementPartition` fact."""
        return Fact("AdvertisementPartition", (self.prefix, str(self.count), b64a.encode(self.root)))

    @classmethod
    def from_fact(cls, fact: Fact) -> Summary:
        """Read an `AdvertisementPartition` fact.

        Raises:
            MalformedPartitionSummary: a value breaks its form (INT-148).
        """
        prefix, count_text, root_text = fact.args
        count = decimal(count_text)
        try:
            root = b64a.decode(root_text)
        except RecordError as error:
            raise MalformedPartitionSummary(f"The root of partition {prefix[:43]} is not B64A.") from error
        return cls(prefix, 0 if count is None else count, root)


def partitions(ads: Iterable[Advertisement], length: int = FIRST_PREFIX) -> dict[str, list[Advertisement]]:
    """Group advertisements by partition, sorted by prefix."""
    groups: dict[str, list[Advertisement]] = {}
    for ad in ads:
        groups.setdefault(prefix_of(ad.hash_text, length), []).append(ad)
    return dict(sorted(groups.items()))


def summarise(groups: Mapping[str, Iterable[Advertisement]]) -> dict[str, Summary]:
    """Return the summary of each partition that holds anything."""
    digests = {prefix: [ad.digest for ad in group] for prefix, group in groups.items()}
    return {prefix: Summary(prefix, len(d), merkle_root(d)) for prefix, d in digests.items() if d}


def read_advertisements(facts: Iterable[Fact]) -> Iterator[Advertisement]:
    """Read the advertisement records of a listing: each `Advertised` fact and the fields after it (INT-42).

    Raises:
        MalformedFactBlock: a field stands apart from its advertisement, an index is no number, a record is
            listed twice, or the order is not canonical.
    """
    seen: set[str] = set()
    record, source = "", ""
    claims: list[tuple[str, int, str]] = []
    for fact in facts:
        if fact.predicate == "Advertised":
            if record:
                yield Advertisement(record, source, tuple(claims))
            record, source = fact.args
            claims = []
            if record in seen:
                raise MalformedFactBlock(f"{record[:60]} is advertised twice.")
            seen.add(record)
        elif fact.predicate != "AdvertisedField":
            raise MalformedFactBlock("A listing holds a partition's summary behind an advertisement.")
        else:
            index = decimal(fact.args[3])
            if fact.args[:2] != (record, source) or index is None:
                raise MalformedFactBlock(f"A field of {fact.args[0][:60]} stands apart or has no index.")
            claims.append((fact.args[2], index, fact.args[4]))
    if record:
        yield Advertisement(record, source, tuple(claims))
