"""What this side has announced in an iteration: its partitions, their narrower ones, and what a full listing costs.

The counterpart of `peerstate`, which holds what the peer announced.
"""

from __future__ import annotations

from collections.abc import Mapping

from lazy.interlace.ads import FIRST_PREFIX, Advertisement, Fields, Summary, partitions, summarise
from lazy.interlace.errors import ListingTooLarge, MalformedFactBlock
from lazy.interlace.limits import Limits
from lazy.interlace.messages import FullListing, PartitionListing, Summaries
from lazy.interlace.tiers.cost import should_list
from lazy.interlace.tiers.shelf import MemoryShelf, Shelf
from vault.records import RecordHash
from vault.records.b64a import ALPHABET

__all__ = ["Announced"]


class Announced:
    """The current send set, by partition; the budget of summaries counts over all iterations.

    Attributes:
        is_narrowing: whether a side has asked for narrower partitions in this iteration.
        predicted: what the peer's listing is if it has the same.
    """

    def __init__(self) -> None:
        self.is_narrowing = False
        self.predicted: Shelf | None = None
        self._partitions: dict[str, list[Advertisement]] = {}
        self._summaries_sent = 0

    def announce(
        self, allowed: Mapping[RecordHash, Fields], source: str, peer_source: str, limits: Limits, *, narrows: bool
    ) -> Summaries | FullListing:
        """Take a new send set, and return how it is announced (INT-91, INT-96, INT-98).

        Args:
            allowed: the records, with the fields that the schema admits.
            source: the label of this side.
            peer_source: that of the peer.
            limits: those in force.
            narrows: whether both sides agreed on narrower partitions.

        Raises:
            ListingTooLarge: a partition, or all of it, is more than may be listed.
        """
        limit = limits.max_advertisement_records
        # One character pays where narrowing would follow.
        depth = 1 if narrows and not should_list(len(allowed) // len(ALPHABET)) else FIRST_PREFIX
        ads = (Advertisement.of(record, source, fields) for record, fields in allowed.items())
        self._partitions = partitions(ads, depth)
        self.predicted = MemoryShelf(peer_source, {r: tuple(sorted(f)) for r, f in allowed.items()})
        self.is_narrowing = False
        if any(len(group) > limit for group in self._partitions.values()):
            raise ListingTooLarge(f"A partition of what is to be sent holds more than {limit} records.")
        count = self._summaries_sent + len(self._partitions)
        if count > limits.max_partition_summaries:
            # The budget of summaries is spent; the specification's full listing always remains.
            if len(allowed) > limit:
                raise ListingTooLarge(f"{len(allowed)} records are to be listed; at most {limit} may be.")
            self._partitions = {}
            return FullListing(allowed)
        self._summaries_sent = count
        return Summaries(tuple(summarise(self._partitions).values()))

    def list(
        self, prefixes: tuple[str, ...], narrows: tuple[str, ...], limits: Limits, *, may_narrow: bool
    ) -> PartitionListing:
        """Return what the peer asked for: partitions in full, and summaries of what lies below others (INT-103).

        Raises:
            MalformedFactBlock: it asks for what was not announced, or for more than is allowed.
        """
        asked = (*prefixes, *narrows)
        if len(set(asked)) != len(asked) or any(prefix not in self._partitions for prefix in asked):
            raise MalformedFactBlock("The peer asks for a partition that was not announced, or asks twice.")
        ads = tuple(ad for prefix in prefixes for ad in self._partitions[prefix])
        return PartitionListing(ads, self._narrowed(narrows, limits, may_narrow=may_narrow))

    def _narrowed(self, prefixes: tuple[str, ...], limits: Limits, *, may_narrow: bool) -> tuple[Summary, ...]:
        """Return the children of partitions; from now on those may be asked for instead of them."""
        self.is_narrowing |= bool(prefixes)
        if prefixes and not may_narrow:
            raise MalformedFactBlock("The peer asks for narrower partitions, which are not offered.")
        children: list[Summary] = []
        for prefix in prefixes:
            if len(prefix) >= limits.max_narrowing_depth:
                raise MalformedFactBlock(f"The peer asks for partitions below {prefix}, which is too deep.")
            groups = partitions(self._partitions.pop(prefix), len(prefix) + 1)
            self._partitions.update(groups)
            children += summarise(groups).values()
        self._summaries_sent += len(children)
        if self._summaries_sent > limits.max_partition_summaries:
            raise MalformedFactBlock("The peer asks for more summaries of partitions than are allowed.")
        return tuple(children)
