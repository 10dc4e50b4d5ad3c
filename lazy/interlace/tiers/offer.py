"""What the two sides of a reconciliation tell each other, and how a source answers (INT-46..48, INT-98).

A source answers from its shelf alone and keeps nothing between two answers; whoever asks names the state by which it
asks. Only what is on the shelf, which is what the source would send, is ever told.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from lazy.interlace.ads import EMPTY_ROOT, Summary
from lazy.interlace.errors import ListingTooLarge, MalformedFactBlock, MalformedPartitionSummary
from lazy.interlace.limits import Limits
from lazy.interlace.tiers.cost import DEPTH_LIMIT, should_list
from lazy.interlace.tiers.shelf import HINT_BYTES, Entry, Shelf
from vault.records.b64a import ALPHABET

__all__ = ["Asks", "Listing", "Narrowed", "Offer", "answer", "answer_hints"]


def check_prefix(prefix: str) -> None:
    """Check the prefix of a partition.

    Raises:
        MalformedPartitionSummary: it is none, or too deep (INT-160).
    """
    if not 1 <= len(prefix) <= DEPTH_LIMIT or any(character not in ALPHABET for character in prefix):
        raise MalformedPartitionSummary(f"{prefix[:60]!r} is not the prefix of a partition.")


@dataclass(frozen=True, slots=True)
class Asks:
    """The partitions that a reader wants listed or narrowed (INT-47, INT-48).

    Args:
        lists: sorted prefixes.
        narrows: sorted prefixes.

    Raises:
        MalformedPartitionSummary: a prefix is none.
        MalformedFactBlock: they repeat, lie in each other, or are out of order.
    """

    lists: tuple[str, ...] = ()
    narrows: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for prefix in (*self.lists, *self.narrows):
            check_prefix(prefix)
        for names in (self.lists, self.narrows):
            if any(before >= after for before, after in pairwise(names)):
                raise MalformedFactBlock("The partitions that are asked for are not in their order.")
        # One that lies in another stands right behind it, or behind others that lie in it as well.
        if any(after.startswith(before) for before, after in pairwise(sorted((*self.lists, *self.narrows)))):
            raise MalformedFactBlock("A partition is asked for twice.")

    def __bool__(self) -> bool:
        return bool(self.lists or self.narrows)


@dataclass(frozen=True, slots=True)
class Narrowed:
    """The partitions one character below another; those that are not named are empty.

    Args:
        prefix: the partition that was narrowed.
        children: sorted.

    Raises:
        MalformedPartitionSummary: a child lies elsewhere, or they are out of order (INT-148).
    """

    prefix: str
    children: tuple[Summary, ...]

    def __post_init__(self) -> None:
        check_prefix(self.prefix)
        names = [child.prefix for child in self.children]
        if any(before >= after for before, after in pairwise(names)):
            raise MalformedPartitionSummary(f"The partitions below {self.prefix} are not in their order.")
        if any(len(name) != len(self.prefix) + 1 or not name.startswith(self.prefix) for name in names):
            raise MalformedPartitionSummary(f"A partition is said to lie below {self.prefix} and does not.")


@dataclass(frozen=True, slots=True)
class Listing:
    """All advertisements of a partition.

    Args:
        prefix: the partition.
        entries: sorted by digest.

    Raises:
        MalformedPartitionSummary: the prefix is none.
        MalformedFactBlock: an entry lies elsewhere, or they are out of order.
    """

    prefix: str
    entries: tuple[Entry, ...]

    def __post_init__(self) -> None:
        check_prefix(self.prefix)
        digests = [record.digest for record, _ in self.entries]
        if any(before >= after for before, after in pairwise(digests)):
            raise MalformedFactBlock(f"The listing of partition {self.prefix} is not in its order.")
        ends = (self.entries[0], self.entries[-1]) if self.entries else ()
        if any(record.text[2 : 2 + len(self.prefix)] != self.prefix for record, _ in ends):
            raise MalformedFactBlock(f"A listing names a record outside of partition {self.prefix}.")


class Offer(NamedTuple):
    """What a source answers.

    Args:
        narrowed: partitions whose children are named.
        listings: partitions that are listed.
        state: the digest of the whole state, in the first answer; empty in the others.
    """

    narrowed: tuple[Narrowed, ...] = ()
    listings: tuple[Listing, ...] = ()
    state: bytes = b""


def answer_hints(shelf: Shelf, hints: bytes, limits: Limits) -> Offer:
    """Answer what a reader predicts: say at once what lies where it is wrong, and the digest of it all.

    Raises:
        MalformedPartitionSummary: there is another number of hints than partitions.
        ListingTooLarge: more summaries would be needed than may be sent (INT-159).
    """
    if len(hints) != HINT_BYTES * len(ALPHABET):
        raise MalformedPartitionSummary(f"{len(hints)} bytes of hints came.")
    found = {summary.prefix: summary for summary in shelf.children("")}
    narrows: list[str] = []
    lists: list[str] = []
    for number, name in enumerate(ALPHABET):
        known = found.get(name)
        root = known.root if known is not None else EMPTY_ROOT
        if root[:HINT_BYTES] != hints[number * HINT_BYTES :][:HINT_BYTES]:
            (lists if should_list(known.count if known is not None else 0) else narrows).append(name)
    said = answer(shelf, Asks(tuple(lists), tuple(narrows)), limits)
    return Offer(said.narrowed, said.listings, shelf.state())


def answer(shelf: Shelf, asks: Asks, limits: Limits) -> Offer:
    """Answer what a reader asks.

    Raises:
        ListingTooLarge: it asks for more than may be listed at once, or for too many summaries (INT-158, INT-159).
    """
    return Offer(tuple(_narrowed(shelf, asks, limits)), tuple(_listed(shelf, asks, limits)))


def _narrowed(shelf: Shelf, asks: Asks, limits: Limits) -> Iterator[Narrowed]:
    left = limits.max_partition_summaries
    for prefix in asks.narrows:
        children = shelf.children(prefix)
        left -= len(children)
        if left < 0 or len(prefix) + 1 > limits.max_narrowing_depth:
            raise ListingTooLarge("More summaries of partitions are asked for than may be sent.")
        yield Narrowed(prefix, children)


def _listed(shelf: Shelf, asks: Asks, limits: Limits) -> Iterator[Listing]:
    left = limits.max_advertisement_records  # of all partitions together: the answer is made whole before it goes
    for prefix in asks.lists:
        entries = tuple(shelf.entries(prefix))
        left -= len(entries)
        if left < 0:
            raise ListingTooLarge(f"With partition {prefix} too many records would be listed at once.")
        yield Listing(prefix, entries)
