"""Files on a medium that may vanish, fill up, lie or hold traps (faults.md rows 3 to 7 and 17)."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from io import BufferedReader, RawIOBase
from itertools import count
from pathlib import Path
from typing import BinaryIO, cast

from transports.errors import (
    ClosedFile,
    MissingFile,
    PlaceFull,
    PlaceNotWritable,
    PlaceUnreachable,
    UnreadableFile,
)
from transports.mailbox import ByteCount
from vault.errors import EnvironmentFault, LaceError
from vault.files import DISK_FULL

__all__ = [
    "Guard",
    "OwnedDescriptor",
    "counted_file",
    "fault_of",
    "is_real_directory",
    "open_plain",
    "set_aside",
]

Guard = Callable[[str], AbstractContextManager[None]]

_BUFFER = 8 * 1024  # bytes read ahead: a jump throws them away, and what is larger is read directly
_FULL = DISK_FULL | {errno.EFBIG}  # a stick of FAT ends a file at 4 GiB
_NO_RIGHT = frozenset({errno.EACCES, errno.EPERM})
_ABSENT = frozenset({errno.ENOENT, errno.ENOTDIR})
# A pipe under a file's name must not make a reader wait for ever, hence O_NONBLOCK.
_FLAGS = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))


def fault_of(error: OSError | EnvironmentFault, what: str, *, is_here: bool, is_write: bool = False) -> LaceError:
    """Return the error that says who or what is to blame for what the system reported.

    Args:
        error: the report, or the vault's error around it.
        what: the thing that was used, as the start of a sentence.
        is_here: whether the medium is still there.
        is_write: whether it was being written.
    """
    cause = error if isinstance(error, OSError) else error.__cause__
    number = cause.errno if isinstance(cause, OSError) else None
    reason = ((cause.strerror or "").lower() if isinstance(cause, OSError) else "") or str(error).rstrip(".")
    if is_write and number in _FULL:
        return PlaceFull(f"{what} cannot be written: there is no room left.")
    if not is_here:
        way = ClosedFile.hint if number in _NO_RIGHT and not is_write else ""
        return PlaceUnreachable(f"{what} cannot be reached: {reason}.", hint=way)
    if is_write:
        return PlaceNotWritable(f"{what} cannot be written: {reason}.")
    if number in _ABSENT:
        return MissingFile(f"{what} is missing.")
    kind = ClosedFile if number in _NO_RIGHT else UnreadableFile
    return kind(f"{what} cannot be read: {reason}.")


def is_real_directory(path: Path) -> bool:
    """Return whether a directory, and no link to one, stands at the path."""
    return path.is_dir() and not path.is_symlink()


def set_aside(path: Path) -> None:
    """Set a directory aside that stands where a file belongs; what is in it is nobody's to delete.

    Raises:
        OSError: it cannot be moved.
    """
    if is_real_directory(path):
        names = (f"{path.name}.aside{number or ''}" for number in count())
        path.rename(next(free for name in names if not os.path.lexists(free := path.with_name(name))))


def open_plain(path: Path) -> int:
    """Return a descriptor of a regular file, never of a link, pipe or device.

    Raises:
        UnreadableFile: it is not a regular file.
        OSError: the system refuses.
    """
    descriptor = os.open(path, _FLAGS)
    try:
        is_plain = stat.S_ISREG(os.fstat(descriptor).st_mode)
    except OSError:
        os.close(descriptor)
        raise
    if not is_plain:
        os.close(descriptor)
        raise UnreadableFile(f"{path.name} is not a plain file.")
    return descriptor


def counted_file(descriptor: int, name: str, guard: Guard, count: ByteCount) -> BinaryIO:
    """Return a reader that owns the descriptor, counts bytes and raises nothing but lace's errors."""
    return cast(BinaryIO, BufferedReader(_CountedFile(descriptor, name, guard, count), _BUFFER))


class OwnedDescriptor(RawIOBase):
    """A descriptor as a file that can be read, and that closes it.

    Args:
        descriptor: of a plain file.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def readable(self) -> bool:
        """Tell that it can be read."""
        return True

    def seekable(self) -> bool:
        """Tell that one can go anywhere in it."""
        return True

    def tell(self) -> int:
        """Return the place that is read next."""
        return self.seek(0, os.SEEK_CUR)

    def close(self) -> None:
        """Close the descriptor; who has to know that bytes last asks before."""
        if not self.closed:
            super().close()
            with suppress(OSError):
                os.close(self._descriptor)


class _CountedFile(OwnedDescriptor):
    def __init__(self, descriptor: int, name: str, guard: Guard, count: ByteCount) -> None:
        super().__init__(descriptor)
        self._what = f"The file {name}"
        self._guard = guard
        self._count = count

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        with self._guard(self._what):
            if hasattr(os, "readv"):
                size = os.readv(self._descriptor, [buffer])
            else:  # as on Windows
                data = os.read(self._descriptor, len(buffer))
                size = len(data)
                buffer[:size] = data
        self._count.read += size
        return size

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        with self._guard(self._what):
            return os.lseek(self._descriptor, offset, whence)
