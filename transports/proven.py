"""What was read from a medium in a visit and compared with its hash, so that it is not read again to be named."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from struct import Struct

from transports.bundles.bundle import FrameReads
from transports.index.runs import BundleRef
from vault.records import Verifier

__all__ = ["Proven"]

_LIES = Struct("<QQQc32s")  # offset of the frame, offset in it, length, kind and digest


class Proven:
    """Where records lie on a medium that were read from there in this visit, each compared with its hash.

    What a large file has a million of is kept in 8 bytes each: Python's keyed sum of the hash and of the place, whose
    key it draws when it starts, so that nobody makes another pair with it.
    """

    def __init__(self) -> None:
        self._bundles: dict[BundleRef, _Sums] = {}

    def add(self, bundle: BundleRef, frame: FrameReads) -> None:
        """Remember what is wanted of a frame, all of which was read whole."""
        if frame.slices:
            self._bundles.setdefault(bundle, _Sums()).add(frame)

    def has_read(self, node: Verifier) -> bool:
        """Tell whether something was read from a bundle of a node."""
        return any(bundle.mailbox == node for bundle in self._bundles)

    def holds(self, bundle: BundleRef, frame: FrameReads) -> list[bool]:
        """Tell of each record that is wanted of a frame whether it was read from exactly there."""
        known = self._bundles.get(bundle)
        return known.holds(frame) if known is not None else [False] * len(frame.slices)


class _Sums:
    """Sums of records with where they lie in one bundle: many are added, and then many are asked for."""

    def __init__(self) -> None:
        self._sums = array("q")
        self._sorted = 0  # of them, at the beginning

    def add(self, frame: FrameReads) -> None:
        self._sums.extend(_sums(frame))

    def holds(self, frame: FrameReads) -> list[bool]:
        if self._sorted < len(self._sums):
            self._sums = array("q", sorted(self._sums))
            self._sorted = len(self._sums)
        sums, count = self._sums, self._sorted
        return [(at := bisect_left(sums, wanted)) < count and sums[at] == wanted for wanted in _sums(frame)]


def _sums(frame: FrameReads) -> list[int]:
    """Return Python's keyed sum of what is wanted of a frame, and where."""
    pack, start = _LIES.pack, frame.offset
    return [hash(pack(start, offset, length, kind.encode(), digest)) for (kind, digest), offset, length in frame.slices]
