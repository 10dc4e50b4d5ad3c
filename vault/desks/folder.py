"""A folder by descriptors: nothing here follows a symbolic link, so nothing planted leads outside (APP-12).

Every name is looked up in a directory that is held open, and only in it. The functions raise `OSError`; the
two sides that use them, `scan` and `checkout`, turn that into a problem or an error a person can read.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

__all__ = [
    "DIRECTORY_FLAGS",
    "FileChanging",
    "FileTooLarge",
    "Signature",
    "open_directory",
    "open_root",
    "read_file",
    "read_link",
    "same_content",
    "signature",
    "stream_file",
]

DIRECTORY_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without O_NONBLOCK a pipe under the name would be waited for.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_PIECE = 1 << 20  # bytes of one read

Signature = tuple[int, int, int, int, int]


class FileChanging(Exception):
    """A file was written while it was read, or is larger than it may be."""


class FileTooLarge(FileChanging):
    """A file has more bytes than are read in one piece."""


def open_root(root: Path) -> int:
    """Return a descriptor of the desk's own directory; its path is the person's and may hold links."""
    return os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


@contextlib.contextmanager
def open_directory(fd: int, names: tuple[str, ...]) -> Iterator[int]:
    """Hold the directory at `names` below `fd` open; each name must be a real directory."""
    here = os.dup(fd)
    try:
        for name in names:
            deeper = os.open(name, DIRECTORY_FLAGS, dir_fd=here)
            os.close(here)
            here = deeper
        yield here
    finally:
        os.close(here)


def signature(status: os.stat_result) -> Signature:
    """Return what changes when a file is written: size, both times in ns, inode, mode bits."""
    return (
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
        status.st_ino & 0xFFFF_FFFF_FFFF_FFFF,
        status.st_mode,
    )


def read_file(fd: int, name: str, limit: int) -> tuple[bytes, Signature]:
    """Return the bytes of a regular file and the signature they have.

    Raises:
        OSError: it cannot be read.
        FileTooLarge: it has more than `limit` bytes.
        FileChanging: it was written while it was read, or is no regular file.
    """
    file = os.open(name, _FILE, dir_fd=fd)  # without `_opened`: a commit of small files is mostly this
    try:
        before = os.fstat(file)
        if not stat.S_ISREG(before.st_mode):
            raise FileChanging
        if before.st_size > limit:
            raise FileTooLarge
        content = _read(file, before.st_size, limit)
        after = os.fstat(file)
    finally:
        os.close(file)
    seen = signature(after)
    if signature(before) != seen or len(content) != after.st_size:
        raise FileChanging
    return content, seen


def stream_file(fd: int, name: str, take: Callable[[bytes], object]) -> Signature:
    """Hand the bytes of a regular file to `take` in pieces and return the signature they have.

    Raises:
        OSError: it cannot be read.
        FileChanging: it was written while it was read, or is no regular file; what was taken counts for nothing.
    """
    with _opened(fd, name) as (file, before):
        left = before.st_size
        while piece := os.read(file, _PIECE):
            left -= len(piece)
            if left < 0:  # it grows while it is read, perhaps for ever
                raise FileChanging
            take(piece)
        after = os.fstat(file)
    if left or signature(before) != signature(after):
        raise FileChanging
    return signature(after)


def same_content(fd: int, name: str, pieces: Iterable[bytes]) -> Signature | None:
    """Return the signature of a regular file if its bytes are these pieces, else None.

    Raises:
        OSError: it cannot be read.
        FileChanging: it was written while it was read, or is no regular file.
    """
    with _opened(fd, name) as (file, before):
        for piece in pieces:
            if _read_up_to(file, len(piece)) != piece:
                return None
        is_end = not os.read(file, 1)
        after = os.fstat(file)
    if signature(before) != signature(after):
        raise FileChanging
    return signature(after) if is_end else None


@contextlib.contextmanager
def _opened(fd: int, name: str) -> Iterator[tuple[int, os.stat_result]]:
    file = os.open(name, _FILE, dir_fd=fd)
    try:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode):
            raise FileChanging
        yield file, status
    finally:
        os.close(file)


def _read_up_to(file: int, size: int) -> bytes:
    first = os.read(file, size)
    if len(first) in {0, size}:
        return first
    parts = [first]
    left = size - len(first)
    while left and (part := os.read(file, left)):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def _read(file: int, size: int, limit: int) -> bytes:
    first = os.read(file, size + 1)
    if len(first) == size:  # the usual case: one call, and the extra byte proves that this is the end
        return first
    parts = [first]
    total = len(first)
    while part := os.read(file, _PIECE):
        parts.append(part)
        total += len(part)
        if total > limit:
            raise FileChanging
    return b"".join(parts)


def read_link(fd: int, name: str) -> bytes:
    """Return the target text of a symbolic link as bytes."""
    return os.fsencode(os.readlink(name, dir_fd=fd))
