"""The write-ahead log of a store whose writer was killed, looked at before SQLite takes it in (APP-13).

SQLite takes a log up to the first frame that does not prove itself, and whoever closes the store last takes the rest
away without a word. Each commit is flushed before the next one begins, so a power cut spoils frames of the last one
alone: where two whole commits lie behind such a frame, or one bit mends it, the log has rotted.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from vault.files import AtomicFile, free_name, make_directory, refuse_write, remove_leftovers
from vault.left_log import is_left
from vault.store.alone import kept_alone
from vault.store.wal_frames import FRAME, HEAD, read_head, sums
from vault.store.wal_look import FRAMES, SUM, Flip, Look, Rot

__all__ = ["find_rot", "mend_log"]

_BINARY = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


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
    try:
        with kept_alone(path) as store:
            if store is None:
                return None
            make_directory(aside)
            for directory in (path.parent, aside):
                remove_leftovers(directory, log.name)  # of a repair that was killed
            _keep(log, aside / log.name)
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
        if (head := read_head(start := file.read(HEAD))) is None:
            return  # nothing of it can be taken in
        made.write(start)
        sum_ = head.sum
        for number in range(rot.whole):
            frame = file.read(FRAME)
            sum_ = sums(frame, sum_, head.order) if number >= first and frame[8:16] == head.salts else frame[SUM]
            made.write(frame[:16] + sum_ + frame[24:])


def _log(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def _keep(log: Path, kept: Path) -> None:
    """Copy a log; what an earlier repair kept stays under a name of its own."""
    try:
        with log.open("rb") as file, AtomicFile(free_name(kept)) as copy:
            while part := file.read(FRAMES * FRAME):
                copy.write(part)
    except OSError as error:
        refuse_write(log, error)


def _read(path: Path, *, mending: bool = False) -> Rot | None:
    try:
        with ExitStack() as stack:
            log = stack.enter_context(_log(path).open("rb"))
            return Look(log, stack.enter_context(path.open("rb")) if mending else None).judge()
    except OSError:  # who opens the store says so
        return None
