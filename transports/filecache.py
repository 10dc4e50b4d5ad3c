"""The small files of a medium as they lay there last: one that did not change is not read again (W4).

A head, a request and a beacon are read whole once. From then on their size, their time and both their ends are
compared: the name by digest of a record that lies in the clear stands at its beginning, and an encrypted one ends with
the tag over a salt that no other file has. So whatever anybody else writes there, an older head or that of another
mailbox included, is another file and is read. What is cached is trusted no more than the medium: it is handed on as if
it had been read, and every check of it is made again.
"""

from __future__ import annotations

import os
import struct
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from blake3 import blake3

from vault.errors import EnvironmentFault, LaceError
from vault.files import AtomicFile, read_bounded

__all__ = ["BEGINNING", "END", "FileCache", "cached_name"]

BEGINNING = 56  # bytes compared: `🖧: S.<43>.H3` and LF, the name of a record
END = 24  # bytes compared: the tag of an encrypted file is its last 16
_MAGIC = b"lace-kept/0\n"
_ENTRY = struct.Struct(">32sqI")  # which file, its time in ns, how many bytes follow
_SUM = 32  # bytes of a BLAKE3
_FILE_LIMIT = 128 << 10  # bytes of a file that is cached
_LIMIT = 1 << 20  # bytes of all: a medium may hold any number of mailboxes


def cached_name(path: Path) -> str:
    """Return how a small file of a medium is called here: group, mailbox, file."""
    return "/".join(path.parts[-3:])


class _Cached(NamedTuple):
    mtime: int
    data: bytes


class FileCache:
    """The cache of one medium. Losing it costs a second look and nothing else.

    Args:
        home: the directory of the caches of all media.
        medium: name of this one, such as its id.
    """

    def __init__(self, home: Path, medium: str) -> None:
        self._path = home / medium
        self._files: dict[bytes, _Cached] | None = None
        self._used: set[bytes] = set()
        self._is_changed = False

    def known(self, name: str, found: os.stat_result) -> bytes | None:
        """Return the bytes that a file had when its size and time were these; only its ends are to be compared."""
        key = _key(name)
        cached = self._all().get(key)
        if cached is None or cached.mtime != found.st_mtime_ns or len(cached.data) != found.st_size:
            return None
        self._used.add(key)
        return cached.data

    def keep(self, name: str, found: os.stat_result, data: bytes) -> None:
        """Remember the bytes of a file that was read; `close` writes them down."""
        key = _key(name)
        self._used.add(key)
        if len(data) == found.st_size <= _FILE_LIMIT:
            self._all()[key] = _Cached(found.st_mtime_ns, data)
            self._is_changed = True

    def close(self) -> None:
        """Write down what is known, if that is not what is written there."""
        if not self._is_changed:
            return
        self._is_changed = False
        parts, size = [_MAGIC], len(_MAGIC)
        files = self._all()
        for key in sorted(files, key=lambda key: (key not in self._used, key)):
            cached = files[key]
            size += _ENTRY.size + len(cached.data)
            if size > _LIMIT:
                break
            parts += [_ENTRY.pack(key, cached.mtime, len(cached.data)), cached.data]
        whole = b"".join(parts)
        with suppress(OSError, EnvironmentFault):  # without it the next visit reads everything anew
            self._path.parent.mkdir(exist_ok=True)
            with AtomicFile(self._path, named_later=True) as file:
                file.write(whole + blake3(whole).digest())

    def _all(self) -> dict[bytes, _Cached]:
        if self._files is None:
            try:
                self._files = _read(read_bounded(self._path, _LIMIT + _SUM))
            except LaceError:
                self._files = {}
        return self._files


def _read(data: bytes) -> dict[bytes, _Cached]:
    """Return what was written down, or nothing where a byte of it is another."""
    whole = data[:-_SUM]
    if not whole.startswith(_MAGIC) or blake3(whole).digest() != data[-_SUM:]:
        return {}
    found: dict[bytes, _Cached] = {}
    at = len(_MAGIC)
    while at + _ENTRY.size <= len(whole):
        key, mtime, size = _ENTRY.unpack_from(whole, at)
        at += _ENTRY.size
        found[key] = _Cached(mtime, whole[at : at + size])
        at += size
    return found


def _key(name: str) -> bytes:
    return blake3(name.encode()).digest()
