"""One look at a write-ahead log: where SQLite would stop in it, and what brings it further (APP-13).

SQLite walks a log from its head to the first frame that does not prove itself. Here the walk goes on past what one bit
spoiled, and tells by what lies behind the rest whether a power cut left it or it rotted. Nothing here writes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import BinaryIO, Final, NamedTuple

from vault.store.wal_frames import (
    FRAME,
    HEAD,
    ORDERS,
    PAGE,
    Head,
    begins_as_head,
    choose,
    likeness,
    mend_frame,
    mend_head,
    read_head,
    sums,
)

__all__ = ["FRAMES", "SUM", "Flip", "Look", "Rot"]

FRAMES: Final = 256  # read at once: 1 MiB
SUM: Final = slice(16, 24)  # in a frame

_MOST: Final = 16  # bits that are mended; with more it is no log that rotted
_ALIKE: Final = 0.5  # that much of a page stays as it was when it is written again, or it is of another number
_GROWN: Final = 1 << 14  # pages that a last commit may have added
_BEGUN: Final = 16  # logs that were begun in this file after the one that its head is of
_TRIED: Final = 2  # salts, where no head says them
_WRONG, _WHOLE, _COMMIT = range(3)  # what a frame is
_SALTS: Final = slice(8, 16)  # in a frame
_Bit = tuple[int, int]  # its byte in a frame, and what to change there


class Flip(NamedTuple):
    """One bit that rotted.

    Args:
        at: its byte in the log.
        bit: what to change there.
    """

    at: int
    bit: int


class Rot(NamedTuple):
    """How a log rotted.

    Args:
        frame: the first one that did, from 1 on; 0 for the head.
        frames: how many the log has.
        flips: bits whose change makes frames whole that did not prove themselves.
        unsure: frames, from 0 on, in which one bit rotted, and their sum does not tell which of some.
        whole: frames up to the first one that cannot be mended.
        lost: commits that lie behind those.
    """

    frame: int
    frames: int
    flips: tuple[Flip, ...]
    unsure: tuple[int, ...]
    whole: int
    lost: int


class _Mended:
    """What brings frames back that did not prove themselves; it counts once a commit behind them is whole."""

    def __init__(self) -> None:
        self.flips: list[Flip] = []
        self.unsure: list[int] = []
        self.count = 0
        """Of the bits, also of those that have brought back no commit."""
        self._flips: list[Flip] = []
        self._unsure: list[int] = []

    def flip(self, flip: Flip) -> None:
        """Take a bit that rotted."""
        self._flips.append(flip)
        self.count += 1

    def pass_over(self, frame: int) -> None:
        """Take a frame of which it is not clear which of its bits rotted."""
        self._unsure.append(frame)

    def commit(self) -> None:
        """Let all that was taken count."""
        self.flips += self._flips
        self.unsure += self._unsure
        self._flips, self._unsure = [], []

    def rot(self, frame: int, frames: int, whole: int, lost: int) -> Rot | None:
        """Return how the log rotted; None where nothing is lost, and nothing comes back."""
        if not (self.flips or self.unsure or lost):
            return None
        return Rot(frame, frames, tuple(self.flips), tuple(self.unsure), whole, lost)


class Look:
    """One look at a log.

    Args:
        file: the log.
        store: the file that it belongs to, which has other states of pages; None where nothing is to be mended.
    """

    def __init__(self, file: BinaryIO, store: BinaryIO | None) -> None:
        self._file = file
        self._store = store
        self._heads: list[bytes] = []  # the number of each frame's page, and the size that it says, as they are stored
        self._what = bytearray()  # what each frame is
        self._sums: dict[int, bytes] = {}  # of frames that were mended, and of the head as -1
        self._mended = _Mended()

    def judge(self) -> Rot | None:
        """Return how it rotted, if it did."""
        start = self._file.read(HEAD)
        head, first = read_head(start), None
        if head is None:
            if (found := mend_head(start) if len(start) == HEAD else None) is None:
                return self._headless(start)
            self._mended.flip(Flip(*found))
            head, first = read_head(bytes(_flipped(start, found))), 0
        if head is None:
            return None
        self._prove(head)
        return self._walk(head, first)

    def _headless(self, start: bytes) -> Rot | None:
        """Tell what is lost of a log whose head is not there; None where whoever began it was cut off.

        A head that was written in part has what each head begins with, and what lies behind it was taken in before.
        """
        if len(start) < HEAD or begins_as_head(start):
            return None
        for order, salts in product(ORDERS, self._salts()):
            self._what, self._heads = bytearray(), []
            self._file.seek(HEAD)
            self._prove(Head(order, salts, bytes(8)))
            if lost := _lost(self._what, 0):
                return Rot(0, len(self._what), (), (), 0, lost)
        return None

    def _salts(self) -> list[bytes]:
        """Return the first two salts in the log: a frame may hold something else, and with it other ones."""
        found: dict[bytes, None] = {}
        for number in range((self._file.seek(0, os.SEEK_END) - HEAD) // FRAME):
            if any(salts := self._frame(number)[_SALTS]):
                found[salts] = None
            if len(found) == _TRIED:
                break
        return list(found)

    def _prove(self, head: Head) -> None:
        """Tell of each frame what it is, as it proves itself by what is stored."""
        before = head.sum
        while data := self._file.read(FRAMES * FRAME):
            frames = data[: len(data) // FRAME * FRAME]
            starts = range(0, len(frames), FRAME)
            found = bytearray(len(starts))
            is_ours = [frames[at + 8 : at + 16] == head.salts for at in starts]
            if any(is_ours):  # else they are left of the log that was here before
                right = sums(frames, before, head.order)
                for number, at in enumerate(starts):
                    if is_ours[number] and frames[at + 16 : at + 24] == right[8 * number : 8 * number + 8]:
                        found[number] = _kind(frames[at : at + 8])
            self._what += found
            self._heads += [frames[at : at + 8] for at in starts]
            before = frames[-FRAME:][SUM]

    def _walk(self, head: Head, first: int | None) -> Rot | None:
        """Walk the log as SQLite does, past what can be mended, and tell what it would not take in.

        Args:
            head: of the log.
            first: the first frame that rotted, if that is known: 0 for the head.
        """
        what, mended = self._what, self._mended
        self._sums[-1] = head.sum
        for at in range(len(what)):
            if what[at] == _WRONG:
                first = at + 1 if first is None else first
                found = self._found(head, at)
                narrowed = self._narrowed(at, self._frame(at), found)
                if not narrowed:
                    return mended.rot(first, len(what), at, self._behind(head, at, is_one_bit=bool(found)))
                self._mend(head, at, narrowed)
            if what[at] == _COMMIT:
                mended.commit()
        return mended.rot(first or 0, len(what), len(what), 0)

    def _found(self, head: Head, at: int) -> Sequence[_Bit]:
        """Return the bits by any of which a frame proves itself."""
        if self._mended.count >= _MOST:
            return []
        before = self._sums.get(at - 1) or self._frame(at - 1)[SUM]
        return mend_frame(self._frame(at), before, head, self._following(head, at))

    def _behind(self, head: Head, at: int, *, is_one_bit: bool) -> int:
        """Return how many commits are lost from a frame on that cannot be mended; none where the power went.

        Args:
            head: of the log.
            at: number of the frame.
            is_one_bit: whether one bit of it rotted, only which one is not clear.
        """
        frame = self._frame(at)
        lost = 0 if _is_of_later(frame[_SALTS], head.salts) else _lost(self._what, at)
        if is_one_bit and not lost:
            self._what[at] = _kind(frame)
            lost = bytes(self._what[at:]).split(bytes([_WRONG]))[0].count(_COMMIT)
        return lost

    def _mend(self, head: Head, at: int, narrowed: Sequence[_Bit]) -> None:
        """Take a frame for whole in which one of some bits rotted, and see whether the next one follows on it."""
        frame = self._frame(at)
        mended = bytearray(frame)
        if (flip := choose(frame, narrowed, self._former(at, frame[:4]))) is None:
            self._mended.pass_over(at)
        else:
            self._mended.flip(Flip(HEAD + at * FRAME + flip[0], flip[1]))
            mended = _flipped(frame, flip)
        self._what[at] = _kind(mended)
        self._sums[at] = bytes(mended[SUM])
        if following := self._following(head, at):
            is_right = sums(following, self._sums[at], head.order) == following[SUM]
            self._what[at + 1] = _kind(following) if is_right else _WRONG

    def _narrowed(self, at: int, frame: bytes, found: Sequence[_Bit]) -> Sequence[_Bit]:
        """Return which of several bits may have rotted by what the frame says of itself; none where that is not clear.

        A page that went to the place of another one, or a store cut short, would cost more than the bit itself.
        """
        if len(found) < 2:
            return found
        heads = {flip: bytes(_flipped(frame[:8], flip)) for flip in found if flip[0] < 8}
        low, high = self._sizes(at)
        if not _is_size(frame[4:8], low, high):
            fits = [flip for flip, head in heads.items() if flip[0] >= 4 and _is_size(head[4:8], low, high)]
            return fits if len(fits) == 1 else []
        numbers = {flip: head[:4] for flip, head in heads.items() if flip[0] < 4}
        if (of_number := self._of_number(at, frame, numbers)) is not None:
            return of_number
        # Where the size may have rotted too, it is one of those said around it: a later commit says it again.
        return [f for f in found if f[0] >= 8 or (f not in numbers and _is_size(heads[f][4:8], low, high))]

    def _of_number(self, at: int, frame: bytes, numbers: Mapping[_Bit, bytes]) -> Sequence[_Bit] | None:
        """Return the bit of the page's number that rotted, or none where that is not clear; None where none did.

        Args:
            at: number of the frame.
            frame: as it lies there.
            numbers: by the bits that may have rotted, what number the page has without each.
        """
        # A transaction writes its pages in their order, unless memory was short.
        before = self._heads[at - 1][:4] if at and self._what[at - 1] == _WHOLE else bytes(4)
        behind = self._heads[at + 1][:4] if frame[4:8] == bytes(4) and at + 1 < len(self._what) else b"\xff" * 4
        fits = [flip for flip, number in numbers.items() if before < number < behind]
        if not before < frame[:4] < behind and len(fits) == 1:
            return fits
        here = likeness(frame[24:], next(self._former(at, frame[:4]), b""))
        there = {flip: likeness(frame[24:], next(self._former(at, page), b"")) for flip, page in numbers.items()}
        best = max(there, key=lambda flip: there[flip], default=None)
        if best is not None and there[best] > max(here, _ALIKE):
            return [best]
        return [] if fits and here <= max(_ALIKE, *there.values()) else None

    def _sizes(self, at: int) -> tuple[int, int]:
        """Return the sizes that the commits before and behind a frame say: a store never grows smaller."""
        before, behind = self._what.rfind(_COMMIT, 0, at), self._what.find(_COMMIT, at + 1)
        low = int.from_bytes(self._heads[before][4:], "big") if before >= 0 else 1
        return low, int.from_bytes(self._heads[behind][4:], "big") if behind >= 0 else low + _GROWN

    def _former(self, at: int, page: bytes) -> Iterator[bytes]:
        """Yield other states of a page: those before a frame, the newest first, that of the file, later ones."""
        for number in range(at - 1, -1, -1):
            if self._heads[number][:4] == page:
                yield self._frame(number)[24:]
        if self._store is not None and page != bytes(4):
            self._store.seek((int.from_bytes(page, "big") - 1) * PAGE)
            if len(data := self._store.read(PAGE)) == PAGE:
                yield data
        for number in range(at + 1, len(self._heads)):
            if self._heads[number][:4] == page:
                yield self._frame(number)[24:]

    def _following(self, head: Head, at: int) -> bytes:
        """Return the frame behind one; nothing where it is of another log, or there is none."""
        frame = self._frame(at + 1)
        return frame if frame[_SALTS] == head.salts else b""

    def _frame(self, number: int) -> bytes:
        """Return a frame; nothing where there is none that is whole."""
        self._file.seek(HEAD + number * FRAME)
        frame = self._file.read(FRAME)
        return frame if len(frame) == FRAME else b""


def _is_of_later(salts: bytes, ours: bytes) -> bool:
    """Tell whether a frame is of a log that was begun in the same file later, whose head the power kept from it.

    Of each log the first salt is one more than that of the one before; what rotted has any other.
    """
    ahead = int.from_bytes(salts[:4], "big") - int.from_bytes(ours[:4], "big") & 0xFFFFFFFF
    return 0 < ahead <= _BEGUN


def _lost(what: bytearray, at: int) -> int:
    """Return how many commits are lost from a frame on; none where the power may have gone before the last one was out.

    Each that failed may have left its end here, with a frame that proves nothing before it.
    """
    most = max(run.count(_COMMIT) for run in bytes(what[at + 1 :]).split(bytes([_WRONG])))
    return what.count(_COMMIT, at) if most > 1 else 0


def _kind(frame: bytes | bytearray) -> int:
    """Return what a frame is that proves itself; of the last one of a transaction it says how large the store is."""
    return _COMMIT if any(frame[4:8]) else _WHOLE


def _flipped(data: bytes, flip: _Bit) -> bytearray:
    mended = bytearray(data)
    mended[flip[0]] ^= flip[1]
    return mended


def _is_size(said: bytes, low: int, high: int) -> bool:
    """Tell whether a frame may say this size: none, or one between those that were said before and after."""
    return said == bytes(4) or low <= int.from_bytes(said, "big") <= high
