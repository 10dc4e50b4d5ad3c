"""What was read from a medium in a visit and compared with its hash, so that it is not read again to be named."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from struct import Struct

from transports.bundles.bundle import FrameReads, Slice
from transports.index.runs import BundleRef, Location
from vault.records import RecordHash, Verifier

__all__ = ["Proven"]

_LIES = Struct("<QQQ")  # offset of the frame, offset in it, length


class Proven:
    """Where records lie on a medium that were read from there in this visit, each compared with its hash.

    What a large file has a million of is kept in 8 bytes each: Python's keyed sum of the hash and of the place, whose
    key it draws when it starts, so that nobody makes another pair with it.
    """

    def __init__(self) -> None:
        self._bundles: dict[BundleRef, _Sums] = {}
        self._last: tuple[BundleRef, _Sums] | None = None
        self._asked: tuple[BundleRef | None, _Sums | None] = (None, None)

    def add(self, bundle: BundleRef, frame: FrameReads, record: Slice) -> None:
        """Remember one that was read whole."""
        if self._last is None or self._last[0] is not bundle:  # one is read to its end before the next
            self._last = (bundle, self._bundles.setdefault(bundle, _Sums()))
        self._last[1].add(record.hash, frame.offset, record.offset, record.length)

    def has_read(self, node: Verifier) -> bool:
        """Tell whether something was read from a bundle of a node."""
        return any(bundle.mailbox == node for bundle in self._bundles)

    def holds(self, record: RecordHash, at: Location) -> bool:
        """Tell whether a record was read from exactly there."""
        if at.bundle is None:
            return False
        bundle, known = self._asked
        if at.bundle is not bundle or known is None:  # one is asked for to its end before the next
            known = self._bundles.get(at.bundle)
            self._asked = at.bundle, known
        return known is not None and known.has(record, at.frame_offset, at.offset, at.length)


class _Sums:
    """Sums of records with where they lie in one bundle: many are added, and then many are asked for."""

    def __init__(self) -> None:
        self._sums = array("q")
        self._sorted = 0  # of them, at the beginning

    def add(self, record: RecordHash, *lies: int) -> None:
        self._sums.append(self._sum(record, lies))

    def has(self, record: RecordHash, *lies: int) -> bool:
        if self._sorted < len(self._sums):
            self._sums = array("q", sorted(self._sums))
            self._sorted = len(self._sums)
        wanted = self._sum(record, lies)
        at = bisect_left(self._sums, wanted)
        return at < len(self._sums) and self._sums[at] == wanted

    @staticmethod
    def _sum(record: RecordHash, lies: tuple[int, ...]) -> int:
        return hash(record.kind.encode() + record.digest + _LIES.pack(*lies))  # Python's keyed sum of bytes
