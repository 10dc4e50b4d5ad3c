"""The part of a file that is being written beside its place, on a medium where others may have laid a trap.

What is no plain file of one name, a link for example, is taken away and never written through (faults.md row 17), and
no two processes write one part.
"""

from __future__ import annotations

import os
import stat
from io import BufferedRandom
from pathlib import Path
from typing import BinaryIO, cast

from transports.errors import PlaceNotWritable
from transports.medium import OwnedDescriptor
from vault.lock import lock_now

__all__ = ["open_part", "take_part"]

_FLAGS = os.O_RDWR | os.O_CREAT | sum(getattr(os, name, 0) for name in ("O_CLOEXEC", "O_BINARY"))
_FLAGS |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_TRIES = 3


def take_part(path: Path, mode: int = 0o666) -> int | None:
    """Return a descriptor to read and write what lies there, or an empty file; None while another process writes it.

    Nobody else takes the file until the descriptor is closed.

    Args:
        path: of the part.
        mode: of a file that is begun.

    Raises:
        PlaceNotWritable: what is no plain file comes again when it is taken away.
        OSError: the system refuses.
    """
    for _ in range(_TRIES):
        try:
            descriptor = os.open(path, _FLAGS, mode)
        except OSError:
            if not path.is_symlink():
                raise
            path.unlink(missing_ok=True)
            continue
        try:
            is_ours = lock_now(descriptor)
            found = os.fstat(descriptor)
            is_plain = stat.S_ISREG(found.st_mode) and found.st_nlink == 1
            if is_ours and is_plain and _is_still_there(path, found):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
        if not is_ours:
            return None
        if not is_plain:
            path.unlink(missing_ok=True)
    raise PlaceNotWritable(f"{path} cannot be written: what lies there comes again when it is taken away.")


def open_part(path: Path) -> BinaryIO:
    """Open what lies there, or an empty file, for reading and writing; nobody else writes it until it is closed.

    Raises:
        PlaceNotWritable: another process writes there, or something that is no file cannot be taken away.
        OSError: the system refuses.
    """
    descriptor = take_part(path)
    if descriptor is None:
        way = "Wait until it is done, or choose another name."
        raise PlaceNotWritable(f"{path} is being written by another process.", hint=way)
    return cast(BinaryIO, BufferedRandom(_PartFile(descriptor)))


def _is_still_there(path: Path, found: os.stat_result) -> bool:
    """Tell whether the file has its name still: who held it before may have finished it."""
    try:
        return os.path.samestat(found, path.lstat())
    except FileNotFoundError:
        return False


class _PartFile(OwnedDescriptor):
    """A descriptor as a file that can be written too."""

    def fileno(self) -> int:
        return self._descriptor

    def writable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = os.read(self._descriptor, len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def write(self, data: memoryview, /) -> int:  # type: ignore[override]
        return os.write(self._descriptor, data)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return os.lseek(self._descriptor, offset, whence)

    def truncate(self, size: int | None = None) -> int:
        size = self.tell() if size is None else size
        os.ftruncate(self._descriptor, size)
        return size
