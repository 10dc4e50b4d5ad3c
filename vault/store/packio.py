"""The file calls that packs make, and no others: one class, so that they can be counted, cut short and killed."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from vault.files import flush_if_new, fsync_directory

__all__ = ["PackIO"]

_AT_ONCE = getattr(os, "O_NONBLOCK", 0)  # or a pipe waits for somebody at its other end
_FLAGS = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


class PackIO:
    """Append, flush, cut and read; paths and descriptors only, no knowledge of what the bytes mean.

    Raises (all methods): `OSError`, for the caller to name.
    """

    def make_directory(self, path: Path) -> None:
        """Make a directory and the name of it durable; one that holds something is left."""
        if not path.is_dir():
            path.mkdir()
        flush_if_new(path)

    def create(self, path: Path) -> int:
        """Open a new, empty file for reading and appending; what had its name before is named nowhere in the store."""
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | _FLAGS, 0o644)

    def open_append(self, path: Path) -> int:
        """Open an existing file for reading and appending; what is no file counts as missing."""
        return _open_file(path, os.O_RDWR)

    def open_read(self, path: Path) -> int:
        """Open an existing file for reading; what is no file counts as missing."""
        return _open_file(path, os.O_RDONLY)

    def size(self, fd: int) -> int:
        """Return the bytes of an open file."""
        return os.fstat(fd).st_size

    def cut(self, fd: int, size: int) -> None:
        """Cut an open file down to `size` bytes."""
        os.ftruncate(fd, size)

    def append(self, fd: int, at: int, data: bytes) -> None:
        """Write all of `data` at offset `at`, which is the end."""
        view = memoryview(data)
        os.lseek(fd, at, os.SEEK_SET)
        while view:
            view = view[os.write(fd, view) :]

    def sync(self, fd: int) -> None:
        """Make the bytes of an open file durable."""
        os.fsync(fd)

    def sync_directory(self, path: Path) -> None:
        """Make the names in a directory durable."""
        fsync_directory(path)

    def read(self, fd: int, at: int, size: int) -> bytes:
        """Return up to `size` bytes at an offset; fewer where the file ends."""
        if hasattr(os, "pread"):
            return os.pread(fd, size, at)
        os.lseek(fd, at, os.SEEK_SET)
        return os.read(fd, size)

    def remove(self, path: Path) -> None:
        """Remove a file; one that is gone is no error."""
        path.unlink(missing_ok=True)

    def close(self, fd: int) -> None:
        """Close an open file."""
        os.close(fd)


def _open_file(path: Path, flags: int) -> int:
    try:
        fd = os.open(path, flags | _FLAGS | _AT_ONCE)
    except OSError as error:
        if error.errno in {errno.EISDIR, errno.ENXIO}:  # a directory is not opened to write, nor a socket at all
            raise _no_file(path) from error
        raise
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise _no_file(path)
    return fd


def _no_file(path: Path) -> FileNotFoundError:
    return FileNotFoundError(errno.ENOENT, "what stands there is no file", str(path))
