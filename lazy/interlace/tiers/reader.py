"""The side that learns what a peer advertises: predictions, asks, and the proof at the end (INT-99, INT-106).

The reader has shelves that predict the peer's state: what it accepted from the peer the last time, and what it holds
itself, both under the peer's name. A partition whose announced count and root are those of a prediction is the
predicted one. Everything else is narrowed or listed. In the end the digest of the whole, put together from predictions
and lists, must be the one that the peer named: so the result is that of the full listing, whichever way it took.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from lazy.interlace.ads import EMPTY_ROOT, Fields, Summary
from lazy.interlace.errors import (
    InterlaceAbort,
    ListingTooLarge,
    ListRootMismatch,
    MachineMisuse,
    MalformedPartitionSummary,
)
from lazy.interlace.limits import DEFAULT_LIMITS, Limits
from lazy.interlace.tiers.cost import should_list
from lazy.interlace.tiers.offer import Asks, Listing, Narrowed, Offer
from lazy.interlace.tiers.phases import ReaderEvent, ReaderPhase, next_phase
from lazy.interlace.tiers.shelf import STATE_DEPTH, Entry, Shelf, divided, state_digest, summary_of
from vault.records import RecordHash
from vault.records.b64a import ALPHABET

__all__ = ["Difference", "TierReader"]


class Difference(NamedTuple):
    """How the peer's state differs from the first prediction.

    Args:
        added: what the peer advertises and the prediction has not, or has with other fields; sorted by digest.
        missing: what the prediction has and the peer does not advertise.
    """

    added: tuple[Entry, ...]
    missing: tuple[RecordHash, ...]


class TierReader:
    """Learns the state of one source.

    Args:
        predictions: shelves with the source's name; the first makes the hints.
        limits: the negotiated ones.

    Raises:
        MachineMisuse: there is no prediction, or one of another source.
    """

    def __init__(self, predictions: Sequence[Shelf], limits: Limits = DEFAULT_LIMITS) -> None:
        if not predictions or len({shelf.source for shelf in predictions}) != 1:
            raise MachineMisuse("A peer's state is predicted by shelves of that one peer.")
        self.phase = ReaderPhase.IDLE
        self._shelves = tuple(predictions)
        self._first = predictions[0]
        self._limits = limits
        self._state = b""
        self._summaries_left = limits.max_partition_summaries
        self._asked = Asks()
        self._announced: dict[str, Summary] = {}  # of the partitions that were asked for
        self._found: dict[str, tuple[Entry, ...]] = {}  # partitions that are not as first predicted
        self._inner: set[str] = set()
        self._above_of = 0

    def begin(self) -> bytes:
        """Return the hints to tell the peer."""
        self.phase = next_phase(self.phase, ReaderEvent.BEGIN)
        return self._first.hints()

    def take(self, offer: Offer) -> Asks:
        """Take an answer; return what to ask for next, which is nothing when the state is known.

        Raises:
            MalformedPartitionSummary, ListRootMismatch, ListingTooLarge: the answer breaks a rule (INT-106, INT-158).
        """
        try:
            asks = self._take(offer)
            if not asks and self._digest() != self._state:
                raise ListRootMismatch("What the peer told of its records is not the state it named.")
        except InterlaceAbort:
            self.phase = next_phase(self.phase, ReaderEvent.FAULT)
            raise
        self.phase = next_phase(self.phase, ReaderEvent.OPEN if asks else ReaderEvent.CLOSED)
        self._asked = asks
        return asks

    def difference(self) -> Difference:
        """Return how the peer's state differs from the first prediction."""
        self._need_known()
        added: list[Entry] = []
        missing: list[RecordHash] = []
        for prefix, theirs in sorted(self._found.items()):
            mine: dict[RecordHash, Fields] = dict(self._first.entries(prefix))
            added += [entry for entry in theirs if mine.get(entry[0]) != entry[1]]
            listed = {record for record, _ in theirs}
            missing += [record for record in mine if record not in listed]
        return Difference(tuple(added), tuple(missing))

    def entries(self) -> dict[RecordHash, Fields]:
        """Return the peer's whole state, as its full listing would have given it (INT-99)."""
        self._need_known()
        return {record: fields for name in ALPHABET for record, fields in self._under(name)}

    def _need_known(self) -> None:
        if self.phase is not ReaderPhase.KNOWN:
            raise MachineMisuse(f"The peer's state is asked for in the phase {self.phase}.")

    # Taking

    def _take(self, offer: Offer) -> Asks:
        if self.phase is ReaderPhase.HINTED:
            self._check_first(offer)
        elif (
            offer.state
            or tuple(each.prefix for each in offer.narrowed) != self._asked.narrows
            or tuple(each.prefix for each in offer.listings) != self._asked.lists
        ):
            raise MalformedPartitionSummary("The peer answers something else than it was asked for.")
        for listing in offer.listings:
            self._take_listing(listing)
        lists: list[str] = []
        narrows: list[str] = []
        differing = [each for narrowed in offer.narrowed for each in self._differing(narrowed)]
        for prefix, count in differing:
            is_deep = len(prefix) >= self._limits.max_narrowing_depth or self._summaries_left < len(ALPHABET)
            if is_deep or should_list(count):
                lists.append(prefix)
            else:
                self._summaries_left -= len(ALPHABET)
                narrows.append(prefix)
        return Asks(tuple(sorted(lists)), tuple(sorted(narrows)))

    def _check_first(self, offer: Offer) -> None:
        if len(offer.state) != len(EMPTY_ROOT):
            raise MalformedPartitionSummary("The peer does not name the digest of its state.")
        self._state = offer.state
        told = [each.prefix for each in offer.narrowed] + [each.prefix for each in offer.listings]
        if len(set(told)) != len(told) or any(len(prefix) != 1 for prefix in told):
            raise MalformedPartitionSummary("The peer tells of a partition twice, or of one that is too small.")
        self._summaries_left -= sum(len(each.children) for each in offer.narrowed)
        if self._summaries_left < 0:
            raise MalformedPartitionSummary("The peer sends more partition summaries than are allowed.")

    def _take_listing(self, listing: Listing) -> None:
        prefix, entries = listing.prefix, listing.entries
        if len(entries) > self._limits.max_advertisement_records:
            raise ListingTooLarge(f"The peer lists {len(entries)} records in partition {prefix}.")
        announced = self._announced.pop(prefix, None)
        if announced is not None and (not entries or summary_of(self._first.source, prefix, entries) != announced):
            raise ListRootMismatch("The peer's listing does not have the count and root it announced.")
        self._found[prefix] = entries

    def _differing(self, narrowed: Narrowed) -> Iterator[tuple[str, int]]:
        """Yield the children that no prediction has, with their counts; settle the others."""
        if len(narrowed.prefix) > 1:
            self._check_sum(narrowed)
        told = {child.prefix: child for child in narrowed.children}
        for character in ALPHABET:
            name = narrowed.prefix + character
            theirs, mine = told.get(name), self._first.summary(name)
            if theirs == mine:
                continue
            if theirs is None:
                self._found[name] = ()
                continue
            shelf = next((other for other in self._shelves[1:] if other.summary(name) == theirs), None)
            if shelf is not None:
                self._found[name] = tuple(shelf.entries(name))
                continue
            if theirs.count > self._limits.max_advertisement_records and len(name) >= self._limits.max_narrowing_depth:
                raise ListingTooLarge(f"Partition {name} has {theirs.count} records.")
            self._announced[name] = theirs
            yield name, theirs.count

    def _check_sum(self, narrowed: Narrowed) -> None:
        """Check that children have together what their parent was said to have; only that can be checked of them."""
        announced = self._announced.pop(narrowed.prefix, None)
        if announced is None or announced.count != sum(child.count for child in narrowed.children):
            raise MalformedPartitionSummary(f"Partition {narrowed.prefix} has not the records it was said to have.")

    # The whole

    def _under(self, prefix: str) -> Iterator[Entry]:
        """Yield what is known to lie under a prefix, in order."""
        if prefix in self._found:
            yield from self._found[prefix]
        elif prefix in self._above:
            for character in ALPHABET:
                yield from self._under(prefix + character)
        else:
            yield from self._first.entries(prefix)

    @property
    def _above(self) -> set[str]:
        """The partitions that hold partitions which are not as predicted."""
        if self._above_of != len(self._found):  # nothing is ever taken out of what was found
            self._above_of = len(self._found)
            self._inner = {prefix[:length] for prefix in self._found for length in range(1, len(prefix))}
        return self._inner

    def _digest(self) -> bytes:
        return state_digest(summary for name in ALPHABET for summary in self._summaries_under(name))

    def _summaries_under(self, name: str) -> Iterator[Summary]:
        """Yield the summaries that the digest is made of; where nothing differs they are the predicted ones."""
        if name not in self._found and name not in self._above:
            yield from self._first.children(name)
            return
        for child, entries in divided(self._under(name), STATE_DEPTH):
            if self._is_changed(child):
                yield summary_of(self._first.source, child, entries)
            else:
                found = self._first.summary(child)
                assert found is not None  # noqa: S101 - it has entries, and all of them are the shelf's
                yield found

    def _is_changed(self, prefix: str) -> bool:
        return any(prefix[:length] in self._found for length in range(1, len(prefix) + 1)) or prefix in self._above
