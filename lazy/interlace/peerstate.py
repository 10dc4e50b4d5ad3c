"""The peer's advertisement snapshot: local state, never proof of anything (INT-16, INT-92, INT-99..106)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from lazy.interlace.ads import FIRST_PREFIX, Advertisement, Fields, Summary, partitions, prefix_of, summarise
from lazy.interlace.errors import ListingTooLarge, ListRootMismatch, MalformedPartitionSummary
from lazy.interlace.limits import Limits
from lazy.interlace.result import Cursor
from vault.records import RecordHash

__all__ = ["PeerState", "check_partition_sizes"]


def check_partition_sizes(records: Iterable[RecordHash], limit: int) -> None:
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

    With summaries, a partition that did not change since it was last listed is kept as it is: the result is
    the same as that of a full listing (INT-99).

    Args:
        cursor: the state to begin with; None for none.
    """

    def __init__(self, cursor: Cursor | None) -> None:
        self.entries: Mapping[RecordHash, Fields] = {}
        self._summaries: dict[str, Summary] = {}
        self._announced: dict[str, Summary] = {}
        self._members: dict[str, dict[RecordHash, Fields]] = {}
        self._wanted: tuple[str, ...] = ()
        self._summary_count = 0
        self._is_full = False
        if cursor is not None:
            self.entries = cursor.entries
            self._summaries = dict(cursor.summaries)
            for record, fields in cursor.entries.items() if cursor.summaries else ():
                self._members.setdefault(prefix_of(record), {})[record] = fields

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
            check_partition_sizes(entries, limit)
        self.entries = entries
        self._summaries, self._members, self._announced, self._wanted = {}, {}, {}, ()
        self._is_full = True

    def announce(self, summaries: Iterable[Summary], limits: Limits) -> tuple[str, ...]:
        """Take the peer's summaries and return the partitions that must be listed.

        Raises:
            MalformedPartitionSummary: repeated, too many, or of another prefix length (INT-102, INT-148).
            ListingTooLarge: a partition is too large to be listed (INT-158).
        """
        self._announced, self._is_full = {}, False
        for summary in summaries:
            self._summary_count += 1
            if self._summary_count > limits.max_partition_summaries:
                raise MalformedPartitionSummary("The peer sends more partition summaries than are allowed.")
            if len(summary.prefix) != FIRST_PREFIX or summary.prefix in self._announced:
                raise MalformedPartitionSummary(f"Partition {summary.prefix} is repeated or not of this depth.")
            if summary.count > limits.max_advertisement_records:
                raise ListingTooLarge(f"Partition {summary.prefix} has {summary.count} records.")
            self._announced[summary.prefix] = summary
        self._wanted = tuple(
            prefix for prefix, new in sorted(self._announced.items()) if self._summaries.get(prefix) != new
        )
        return self._wanted

    def complete(self, ads: Iterable[Advertisement]) -> None:
        """Take the listing of the wanted partitions; after this the state is current.

        Raises:
            ListRootMismatch: partition, count or root is not what was announced (INT-106, INT-149).
        """
        if self._is_full:
            if any(True for _ in ads):
                raise ListRootMismatch("The peer lists records nobody asked for.")
            return
        groups = partitions(ads)
        listed = summarise(groups)
        if listed != {prefix: self._announced[prefix] for prefix in self._wanted}:
            raise ListRootMismatch("The peer's listing does not have the count and root it announced.")
        members = {prefix: self._members.get(prefix, {}) for prefix in self._announced}
        for prefix, group in groups.items():
            members[prefix] = {ad.hash: ad.fields for ad in group if ad.hash is not None}
        self._members, self._summaries = members, self._announced
        self.entries = {record: fields for group in members.values() for record, fields in group.items()}
        self._wanted = ()
