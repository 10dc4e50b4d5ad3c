"""The write-ahead log of a store whose writer was killed, looked at before SQLite takes it in (APP-13).

SQLite takes a log up to the first frame that does not prove itself, and whoever closes the store last takes the rest
away without a word. Each commit is flushed before the next one begins, so a power cut spoils frames of the last one
alone: where two whole commits lie behind such a frame, or one bit mends it, the log has rotted.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from vault.files import AtomicFile, make_directory, refuse_write
from vault.left_log import is_left
from vault.store.alone import kept_alone
from vault.store.wal_frames import FRAME, HEAD, PAGE, Head, choose, likeness, mend_frame, mend_head, read_head, sums

__all__ = ["Flip", "Rot", "find_rot", "mend_log"]

_FRAMES: Final = 256  # read at once: 1 MiB
_MOST: Final = 16  # bits that are mended; with more it is no log that rotted
_ALIKE: Final = 0.5  # that much of a page stays as it was when it is written again, or it is of another number
_GROWN: Final = 1 << 14  # pages that a last commit may have added
_WRONG, _WHOLE, _COMMIT = range(3)  # what a frame is
_SUM: Final = slice(16, 24)  # in a frame
_BINARY = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


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


def find_rot(path: Path) -> Rot | None:
    """Tell how the log rotted that lies beside a store whose writer was killed; None where it did not.

    A log in use is not looked at. Where the system does not tell that it is, a frame that is being written may look
    wrong for a moment; it is whole before the next one is begun, so the log is read twice.

    Args:
        path: the store.
    """
    if not is_left(str(path)):
        return None
    found = _read(path)
    return found if found is not None and found == _read(path) else None


def mend_log(path: Path, aside: Path) -> Rot | None:
    """Change the bits of a log that rotted back; what cannot be mended is cut off. It is kept beside as it was.

    Under the vault's lock, and while nobody in this process has the store open; where somebody else has, nothing is
    changed, for they would go on in the log that was there. Cut off anywhere, the next repair goes
    on: bits are changed in one write of a byte each, and all else in a file that takes the place of the log.

    Args:
        path: the store.
        aside: the directory for what lay there.

    Returns:
        What was wrong; None where nothing was.

    Raises:
        NotWritable, DiskFull: it cannot be written or kept; nothing was changed.
    """
    if find_rot(path) is None or (rot := _read(path, mending=True)) is None:
        return None
    log = _log(path)
    make_directory(aside)
    _keep(log, aside / log.name)
    try:
        with kept_alone(path) as store:
            if store is None:
                return None
            _flip_back(log, rot.flips)
            if rot.unsure or rot.lost:
                _write_anew(log, rot)
    except OSError as error:
        refuse_write(log, error)
    return rot


def _flip_back(log: Path, flips: Sequence[Flip]) -> None:
    fd = os.open(log, os.O_RDWR | _BINARY)
    try:
        for flip in flips:
            os.lseek(fd, flip.at, os.SEEK_SET)
            changed = bytes([os.read(fd, 1)[0] ^ flip.bit])
            os.lseek(fd, flip.at, os.SEEK_SET)
            os.write(fd, changed)
        os.fsync(fd)
    finally:
        os.close(fd)


def _write_anew(log: Path, rot: Rot) -> None:
    """Write a log up to where it can be mended, with sums of what lies there where one bit stays wrong.

    What that bit spoiled is found and named like all that rots in the store's own file; to cut the log off there would
    cost all that was written after.

    Raises:
        OSError: it cannot be read.
        NotWritable, DiskFull: it cannot be written; it stays as it is.
    """
    first = min(rot.unsure, default=rot.frames)
    with log.open("rb") as file, AtomicFile(log, mode=stat.S_IMODE(log.stat().st_mode)) as made:
        made.write(start := file.read(HEAD))
        if (head := read_head(start)) is None:
            made.abandon()
            return
        sum_ = head.sum
        for number in range(rot.whole):
            frame = file.read(FRAME)
            sum_ = sums(frame, sum_, head.order) if number >= first and frame[8:16] == head.salts else frame[_SUM]
            made.write(frame[:16] + sum_ + frame[24:])


def _log(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def _keep(log: Path, kept: Path) -> None:
    """Copy a log; what an earlier repair kept stays under a name of its own."""
    number = 1
    while kept.exists():
        number += 1
        kept = kept.with_name(f"{log.name}.{number}")
    try:
        with log.open("rb") as file, AtomicFile(kept) as copy:
            while part := file.read(_FRAMES * FRAME):
                copy.write(part)
    except OSError as error:
        refuse_write(log, error)


def _read(path: Path, *, mending: bool = False) -> Rot | None:
    try:
        with ExitStack() as stack:
            log = stack.enter_context(_log(path).open("rb"))
            return _Look(log, stack.enter_context(path.open("rb")) if mending else None).judge()
    except OSError:  # who opens the store says so
        return None


class _Look:
    """One look at a log.

    Args:
        file: the log.
        store: the file that it belongs to, which has other states of pages; None where nothing is to be mended.
    """

    def __init__(self, file: BinaryIO, store: BinaryIO | None) -> None:
        self._file = file
        self._store = store
        self._heads: list[bytes] = []  # the number of each frame's page, and the size that it says, as they are stored

    def judge(self) -> Rot | None:
        """Return how it rotted, if it did."""
        start = self._file.read(HEAD)
        waiting: list[Flip] = []
        if (head := read_head(start)) is None:
            if (found := mend_head(start) if len(start) == HEAD else None) is None:
                return None  # whoever began it was cut off
            waiting.append(Flip(*found))
            head = read_head(bytes(_flipped(start, found)))
        return None if head is None else self._followed(head, self._what(head), waiting)

    def _what(self, head: Head) -> bytearray:
        """Tell of each frame what it is, as it proves itself by what is stored."""
        before, what = head.sum, bytearray()
        while data := self._file.read(_FRAMES * FRAME):
            frames = data[: len(data) // FRAME * FRAME]
            starts = range(0, len(frames), FRAME)
            found = bytearray(len(starts))
            is_ours = [frames[at + 8 : at + 16] == head.salts for at in starts]
            if any(is_ours):  # else they are left of the log that was here before
                right = sums(frames, before, head.order)
                for number, at in enumerate(starts):
                    if is_ours[number] and frames[at + 16 : at + 24] == right[8 * number : 8 * number + 8]:
                        found[number] = _kind(frames[at : at + 8])
            what += found
            self._heads += [frames[at : at + 8] for at in starts]
            before = frames[-FRAME:][_SUM]
        return what

    def _followed(self, head: Head, what: bytearray, waiting: list[Flip]) -> Rot | None:
        """Walk the log as SQLite does, past what can be mended, and tell what it would not take in.

        Args:
            head: of the log.
            what: each frame is.
            waiting: what is mended, and has brought back no commit yet.
        """
        flips: list[Flip] = []
        unsure: list[int] = []
        waiting_unsure: list[int] = []
        first = 0 if waiting else None
        before = {-1: head.sum}  # and the sums of what is mended
        for at in range(len(what)):
            if what[at] == _WRONG:
                first = at + 1 if first is None else first
                frame, following = self._frame(at), self._frame(at + 1)
                following = following if following[8:16] == head.salts else b""
                sum_ = before.get(at - 1) or self._frame(at - 1)[_SUM]
                found = mend_frame(frame, sum_, head, following) if len(flips) + len(waiting) < _MOST else []
                narrowed = self._narrowed(at, frame, found, what)
                if not narrowed:
                    # With salts of another log it is of that one: whoever began it was cut off.
                    is_ours = frame[8:16] in {head.salts, bytes(8)}
                    lost = _lost(what, at) if is_ours else 0
                    if found and not lost:  # one bit rotted, only which one is not clear
                        what[at] = _kind(frame)
                        lost = bytes(what[at:]).split(bytes([_WRONG]))[0].count(_COMMIT)
                    is_rot = flips or unsure or lost
                    return Rot(first, len(what), tuple(flips), tuple(unsure), at, lost) if is_rot else None
                mended = bytearray(frame)
                if (flip := choose(frame, narrowed, self._former(at, frame[:4]))) is None:
                    waiting_unsure.append(at)
                else:
                    waiting.append(Flip(HEAD + at * FRAME + flip[0], flip[1]))
                    mended = _flipped(frame, flip)
                what[at] = _kind(mended)
                before[at] = bytes(mended[_SUM])
                if following:
                    is_right = sums(following, before[at], head.order) == following[_SUM]
                    what[at + 1] = _kind(following) if is_right else _WRONG
            if what[at] == _COMMIT:
                flips, waiting = flips + waiting, []
                unsure, waiting_unsure = unsure + waiting_unsure, []
        return Rot(first or 0, len(what), tuple(flips), tuple(unsure), len(what), 0) if flips or unsure else None

    def _narrowed(
        self, at: int, frame: bytes, found: Sequence[tuple[int, int]], what: bytearray
    ) -> Sequence[tuple[int, int]]:
        """Return which of several bits may have rotted by what the frame says of itself; none where that is not clear.

        A page that went to the place of another one, or a store cut short, would cost more than the bit itself.

        Args:
            at: number of the frame.
            frame: as it lies there.
            found: by `mend_frame`.
            what: each frame is.
        """
        if len(found) < 2:
            return found
        heads = {flip: bytes(_flipped(frame[:8], flip)) for flip in found if flip[0] < 8}
        low, high = self._sizes(at, what)
        if not _is_size(frame[4:8], low, high):
            fits = [flip for flip, head in heads.items() if flip[0] >= 4 and _is_size(head[4:8], low, high)]
            return fits if len(fits) == 1 else []
        numbers = {flip: head[:4] for flip, head in heads.items() if flip[0] < 4}
        # A transaction writes its pages in their order, unless memory was short.
        before = self._heads[at - 1][:4] if at and what[at - 1] == _WHOLE else bytes(4)
        behind = self._heads[at + 1][:4] if frame[4:8] == bytes(4) and at + 1 < len(what) else b"\xff" * 4
        fits = [flip for flip, number in numbers.items() if before < number < behind]
        if not before < frame[:4] < behind and len(fits) == 1:
            return fits
        here = likeness(frame[24:], next(self._former(at, frame[:4]), b""))
        there = {flip: likeness(frame[24:], next(self._former(at, page), b"")) for flip, page in numbers.items()}
        best = max(there, key=lambda flip: there[flip], default=None)
        if best is not None and there[best] > max(here, _ALIKE):
            return [best]
        if fits and here <= max(_ALIKE, *there.values()):
            return []
        # Where the size may have rotted too, it is one of those said around it: a later commit says it again.
        return [f for f in found if f[0] >= 8 or (f not in numbers and _is_size(heads[f][4:8], low, high))]

    def _sizes(self, at: int, what: bytearray) -> tuple[int, int]:
        """Return the sizes that the commits before and behind a frame say: a store never grows smaller."""
        before, behind = what.rfind(_COMMIT, 0, at), what.find(_COMMIT, at + 1)
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

    def _frame(self, number: int) -> bytes:
        """Return a frame; nothing where there is none that is whole."""
        self._file.seek(HEAD + number * FRAME)
        frame = self._file.read(FRAME)
        return frame if len(frame) == FRAME else b""


def _lost(what: bytearray, at: int) -> int:
    """Return how many commits are lost from a frame on; none where the power may have gone before the last one was out.

    Each that failed may have left its end here, with a frame that proves nothing before it.
    """
    most = max(run.count(_COMMIT) for run in bytes(what[at + 1 :]).split(bytes([_WRONG])))
    return what.count(_COMMIT, at) if most > 1 else 0


def _kind(frame: bytes | bytearray) -> int:
    """Return what a frame is that proves itself; of the last one of a transaction it says how large the store is."""
    return _COMMIT if any(frame[4:8]) else _WHOLE


def _flipped(data: bytes, flip: tuple[int, int]) -> bytearray:
    mended = bytearray(data)
    mended[flip[0]] ^= flip[1]
    return mended


def _is_size(said: bytes, low: int, high: int) -> bool:
    """Tell whether a frame may say this size: none, or one between those that were said before and after."""
    return said == bytes(4) or low <= int.from_bytes(said, "big") <= high
