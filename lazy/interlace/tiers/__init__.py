"""Reconciliation in tiers: learning what a peer advertises at less than the cost of its whole listing (INT-99).

Every tier ends with the state that the full listing would have given, and proves it: the whole state has a digest,
over the summaries of all its partitions, and a reader that comes to another one has nothing (INT-106).

| tier | what travels | trips |
|---|---|---|
| equal | hints of the state that the reader predicts; the digest of the true one | 1 |
| cursor | records past a position in the exposure log (`lazy.live`), or the runs not yet read (a mailbox) | 1 |
| narrowed | summaries of the partitions whose hints differ; then lists of those that differ | 2 or 3 |
| listed | lists at once, where a partition is so small that its summaries would cost more | 1 |
| whole | every name: for a peer that knows none of this, and whenever a proof fails | 1 |

A reader predicts the peer's state from what it holds itself: whoever holds the same records advertises the same, but
for the source. So two friends who met over a stick find at their first meeting on a line that nothing is missing, for
the price of 64 hints of three bytes.

| module | what it knows |
|---|---|
| `shelf` | the advertisements of one source by partition; their counts, roots and the digest of all |
| `cost` | what a summary and an advertisement cost, and so whether to list or to narrow |
| `offer` | what the two sides tell each other, as values; how a source answers |
| `reader`, `phases` | the side that learns, and the table of its phases |
| `packed` | the values as tuples in bytes, strictly read |
"""

from __future__ import annotations

from lazy.interlace.tiers.offer import Asks, Listing, Offer, answer, answer_hints
from lazy.interlace.tiers.packed import pack_asks, pack_offer, read_asks, read_offer
from lazy.interlace.tiers.reader import Difference, TierReader
from lazy.interlace.tiers.shelf import Entry, MemoryShelf, Shelf

__all__ = [
    "Asks",
    "Difference",
    "Entry",
    "Listing",
    "MemoryShelf",
    "Offer",
    "Shelf",
    "TierReader",
    "answer",
    "answer_hints",
    "pack_asks",
    "pack_offer",
    "read_asks",
    "read_offer",
]
