"""Content-SHA512 of a directory: names, modes and bytes, not pages (docs/formats.md section 2)."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha512
from itertools import islice
from threading import Thread
from types import MappingProxyType
from typing import Protocol, runtime_checkable

from blake3 import blake3

from vault.desks.chunks import check_content
from vault.desks.ports import Source, SumCache
from vault.desks.tree import Entry, check_depth, read_directory
from vault.records import RecordHash

__all__ = ["SUM_AT_ONCE_BYTES", "SumSink", "Summing", "content_sha512"]

SUM_AT_ONCE_BYTES = 8_192  # a larger content is summed while it is read from the folder, not when it is released
_ASKED = 500  # entries of a directory whose values are asked for together
_TOGETHER = 1 << 20  # bytes of one turn; as few as show nothing in memory, and let a file of some MiB overlap itself


Fresh = Mapping[RecordHash, tuple[int, str]]
_NONE: Fresh = MappingProxyType({})


def content_sha512(source: Source, root: RecordHash, cache: SumCache, fresh: Fresh = _NONE) -> str:
    """Return the Content-SHA512 of a tree as 128 hex digits.

    Values are kept per data record and per directory, so the second tree costs what is new in it. A
    directory is kept under a key derived from its hash: a hostile entry may call the same record a file and
    a directory.

    Args:
        source: where pages and content are read.
        root: the tree.
        cache: values already known.
        fresh: size and value of small contents that were stored a moment ago, so that they are not read again.

    Raises:
        MissingObject: a page or content is not here.
        TreeError: a page is broken, sums or sizes are wrong, or content is not cut as it must be.
    """
    return _directory(source, root, None, cache, fresh, 0)


def _directory(source: Source, root: RecordHash, size: int | None, cache: SumCache, fresh: Fresh, depth: int) -> str:
    check_depth("", depth)
    key = RecordHash("P", blake3(b"lace-tree-sum/0 " + root.digest).digest())
    known = cache.get(key)
    if known is not None:
        return known
    total = sha512()
    entries = iter(read_directory(source, root, size=size))
    while part := list(islice(entries, _ASKED)):
        cache.expect([entry.hash for entry in part if not entry.is_dir])
        for entry in part:
            value = (
                _directory(source, entry.hash, entry.size, cache, fresh, depth + 1)
                if entry.is_dir
                else _content(source, entry, cache, fresh)
            )
            total.update(f"{entry.kind} {entry.mode} {entry.size} {value} {entry.name}\n".encode())
    value = total.hexdigest()
    cache.put(key, value)
    return value


def _content(source: Source, entry: Entry, cache: SumCache, fresh: Fresh) -> str:
    known = cache.get(entry.hash)
    size, value = fresh.get(entry.hash, (-1, ""))
    if known is None and size == entry.size:  # of another size it is not what the entry says, and refused below
        known = value
        cache.put(entry.hash, known)
    if known is None:
        total = Summing()
        check_content(source, entry, total.add)
        known = total.finish()
        cache.put(entry.hash, known)
    return known


@runtime_checkable
class SumSink(Protocol):
    """A sink that keeps the SHA-512 of a content beside its record, so that no release reads it all again."""

    def add_sum(self, record: RecordHash, sha512: str, /) -> object:
        """Take the value, 128 hex digits, of the content that a record stands for."""


class Summing:
    """The SHA-512 of a stream, worked out beside whatever else is done with the bytes.

    It is the slowest digest of all; another thread of it costs the reader no time where there are two cores.
    """

    def __init__(self) -> None:
        self._sum = sha512()
        self._pieces: list[bytes] = []
        self._bytes = 0
        self._turn: Thread | None = None

    def add(self, piece: bytes) -> None:
        """Take the next bytes."""
        self._pieces.append(piece)
        self._bytes += len(piece)
        if self._bytes >= _TOGETHER:
            self._join()
            self._turn = Thread(target=self._update, args=(self._pieces,), daemon=True)
            self._turn.start()
            self._pieces, self._bytes = [], 0

    def finish(self) -> str:
        """Return the value of all of it, as 128 hex digits."""
        self._join()
        self._update(self._pieces)
        return self._sum.hexdigest()

    def _join(self) -> None:
        if self._turn is not None:
            self._turn.join()

    def _update(self, pieces: list[bytes]) -> None:
        for piece in pieces:
            self._sum.update(piece)
