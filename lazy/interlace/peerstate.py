"""The peer's advertisement snapshot: local state, never proof of anything (INT-16, INT-92, INT-99..106)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from lazy.interlace.ads import FIRST_PREFIX, Advertisement, Fields, Summary, summarise
from lazy.interlace.errors import ListingTooLarge, ListRootMismatch, MalformedPartitionSummary
from lazy.interlace.limits import DEFAULT_LIMITS, Limits
from lazy.interlace.result import Cursor
from lazy.interlace.tiers.cost import should_list
from lazy.interlace.tiers.shelf import Entry, MemoryShelf, Shelf
from vault.records import RecordHash
from vault.records.b64a import ALPHABET

__all__ = ["PeerState"]


def _check_partition_sizes(records: Iterable[RecordHash], limit: int) -> None:
    """Check that no partition of a listing holds more records than allowed (INT-158).

    Raises:
        ListingTooLarge: one does.
    """
    # The first two characters are the first twelve bits; counting those is far cheaper than writing text.
    counts = Counter([digest[0] << 4 | digest[1] >> 4 for _, digest in records])
    if counts and counts.most_common(1)[0][1] > limit:
        raise ListingTooLarge(f"A partition of the peer's listing holds more than {limit} records.")


class PeerState:
    """What a peer advertises at present.

    A partition whose summary is the one that was last verified, or that of what this side predicts, is not listed;
    one that differs is listed or narrowed. The result is the same as that of a full listing (INT-99).

    Args:
        cursor: the state to begin with; None for none.
        source: the peer's source label.
    """

    def __init__(self, cursor: Cursor | None, source: str = "") -> None:
        self._source = source
        self.entries: Mapping[RecordHash, Fields] = {}
        self._summaries: Mapping[str, Summary] = {}
        self._before: MemoryShelf | None = None
        self._predicted: Shelf | None = None
        self._cover: dict[str, Iterable[Entry]] = {}  # partitions that are known, with what lies there
        self._told: dict[str, Summary] = {}  # their summaries
        self._open: dict[str, Summary] = {}  # partitions that are to be listed
        self._narrowing: dict[str, Summary] = {}  # and those to be narrowed
        self._summary_count = 0
        self._is_full = False
        self._is_current = True
        if cursor is not None:
            self.entries = cursor.entries
            self._summaries = cursor.summaries

    @property
    def summaries(self) -> Mapping[str, Summary]:
        """The verified summaries behind the entries; empty after a full listing."""
        return self._summaries

    def replace(self, entries: Mapping[RecordHash, Fields], limit: int, *, by_partition: bool) -> None:
        """Take a full listing.

        Raises:
            ListingTooLarge: it holds too many records (INT-158).
        """
        if entries is not self.entries and len(entries) > limit:
            if not by_partition:
                raise ListingTooLarge(f"The peer lists {len(entries)} records; at most {limit} are taken.")
            _check_partition_sizes(entries, limit)
        self.entries = entries
        self._summaries, self._before = {}, None
        self._cover, self._told, self._open, self._narrowing = {}, {}, {}, {}
        self._is_full = True

    def announce(
        self, summaries: Iterable[Summary], limits: Limits, predicted: Shelf | None = None, *, narrows: bool = False
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Take the peer's summaries and return the partitions that must be listed, and those to be narrowed.

        Args:
            summaries: as they came.
            limits: the negotiated ones.
            predicted: what this side thinks that the peer advertises.
            narrows: whether narrowing was negotiated.

        Raises:
            MalformedPartitionSummary: repeated, too many, or of another prefix length (INT-102, INT-148).
            ListingTooLarge: a partition is too large to be listed (INT-158).
        """
        self._cover, self._told, self._open, self._narrowing = {}, {}, {}, {}
        self._is_full = self._is_current = False
        self._predicted = predicted
        found = list(summaries)
        depth = len(found[0].prefix) if found and narrows else FIRST_PREFIX
        if depth not in {1, FIRST_PREFIX} or any(len(summary.prefix) != depth for summary in found):
            raise MalformedPartitionSummary("The peer's partitions are not of a depth that was agreed.")
        self._take(found, limits, narrows=narrows)
        return self._asks()

    def complete(
        self,
        ads: Iterable[Advertisement],
        children: Iterable[Summary] = (),
        limits: Limits = DEFAULT_LIMITS,
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Take what was asked for, and return what must be asked next; when that is nothing the state is current.

        Raises:
            ListRootMismatch: partition, count or root is not what was announced (INT-106, INT-149).
            MalformedPartitionSummary: the children are not those of what was to be narrowed (INT-148).
            ListingTooLarge: a partition is too large to be listed (INT-158).
        """
        if self._is_full:
            if any(True for _ in ads) or any(True for _ in children):
                raise ListRootMismatch("The peer lists records nobody asked for.")
            return (), ()
        self._take_lists(tuple(ads))
        self._take_children(list(children), limits)
        if not (self._open or self._narrowing or self._is_current):
            self._settle()
        return self._asks()

    def _asks(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        return tuple(sorted(self._open)), tuple(sorted(self._narrowing))

    def _take(self, summaries: list[Summary], limits: Limits, *, narrows: bool) -> None:
        """Settle what is known already, and open the rest."""
        self._summary_count += len(summaries)
        if self._summary_count > limits.max_partition_summaries:
            raise MalformedPartitionSummary("The peer sends more partition summaries than are allowed.")
        for summary in summaries:
            prefix = summary.prefix
            if prefix in self._told or prefix in self._open or prefix in self._narrowing:
                raise MalformedPartitionSummary(f"Partition {prefix} is repeated.")
            shelf = self._shelf_with(summary)
            left = limits.max_partition_summaries - self._summary_count - len(ALPHABET) * len(self._narrowing)
            if shelf is not None:
                self._cover[prefix], self._told[prefix] = shelf.entries(prefix), summary
            elif (
                narrows
                and not should_list(summary.count)
                and len(prefix) < limits.max_narrowing_depth
                and left >= len(ALPHABET)
            ):
                self._narrowing[prefix] = summary
            elif summary.count > limits.max_advertisement_records:
                raise ListingTooLarge(f"Partition {prefix} has {summary.count} records.")
            else:
                self._open[prefix] = summary

    def _shelf_with(self, summary: Summary) -> Shelf | None:
        """Return what has just this partition: the state that was last verified, or what is predicted."""
        if self._summaries:
            before = self._before = self._before or MemoryShelf(self._source, self.entries)
            if self._summaries.get(summary.prefix) == summary or before.summary(summary.prefix) == summary:
                return before
        predicted = self._predicted
        return predicted if predicted is not None and predicted.summary(summary.prefix) == summary else None

    def _take_lists(self, ads: tuple[Advertisement, ...]) -> None:
        depths = sorted({len(prefix) for prefix in self._open})
        groups: dict[str, list[Advertisement]] = {}
        for ad in ads:
            inside = (ad.hash_text[2 : 2 + depth] for depth in depths)
            groups.setdefault(next((name for name in inside if name in self._open), ""), []).append(ad)
        if summarise(groups) != self._open:
            raise ListRootMismatch("The peer's listing does not have the count and root it announced.")
        for prefix, group in groups.items():
            self._cover[prefix] = [(ad.hash, ad.fields) for ad in group if ad.hash is not None]
        self._told.update(self._open)
        self._open = {}

    def _take_children(self, children: list[Summary], limits: Limits) -> None:
        parents, self._narrowing = self._narrowing, {}
        counts: Counter[str] = Counter()
        for child in children:
            counts[child.prefix[:-1]] += child.count
        # Their roots cannot be checked against the root above them; only counts add up.
        if dict(counts) != {prefix: parent.count for prefix, parent in parents.items()}:
            raise MalformedPartitionSummary("The narrower partitions do not hold what the wider ones were said to.")
        self._take(children, limits, narrows=True)

    def _settle(self) -> None:
        self.entries = {record: fields for _, group in sorted(self._cover.items()) for record, fields in group}
        self._summaries = self._told
        self._is_current = True  # the other side may still have something narrowed
        self._before = None
        self._cover, self._predicted = {}, None
