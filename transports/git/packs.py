"""Packs of whole objects, as git writes them: made to be sent, or to lie in a repository with their index.

Nothing in them is compressed or a delta, for what lace stores is compressed already.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from hashlib import sha1
from itertools import accumulate, chain, starmap
from pathlib import Path
from typing import Final

from vault.files import AtomicFile

__all__ = ["KINDS", "NAME_BYTES", "ends_of", "index_names", "index_offset", "index_row", "pack_path", "packed"]
__all__ += ["write_pack"]

KINDS: Final = {"commit": 1, "tree": 2, "blob": 3}
NAME_BYTES = 20  # of an object in an index
_PACK = struct.Struct(">4sII")
_NUMBER = struct.Struct(">I")
_SUM = 20  # bytes of a SHA-1
_INDEX = b"\xfftOc\0\0\0\x02"  # what an index of version 2 begins with
_LETTERS = 256  # first bytes of a name
_ROWS_AT = len(_INDEX) + 4 * _LETTERS
_ROW = _SUM + 4 + 4  # bytes of a name, its checksum and its offset


def packed(count: int, objects: Iterable[tuple[str, bytes]]) -> Iterator[bytes]:
    """Yield the parts of a pack of so many whole objects, kind and bytes of each, as they are."""
    digest = sha1(usedforsecurity=False)
    for part in chain((_PACK.pack(b"PACK", 2, count),), chain.from_iterable(starmap(_entry, objects))):
        digest.update(part)
        yield part
    yield digest.digest()


def _entry(kind: str, data: bytes) -> tuple[bytes, bytes]:
    """Return the head of an object in a pack, and what follows it."""
    size = len(data)
    first, size = KINDS[kind] << 4 | size & 15, size >> 4
    head = bytearray()
    while size:
        head.append(first | 128)
        first, size = size & 127, size >> 7
    head.append(first)
    return bytes(head), zlib.compress(data, 0)


def pack_path(directory: Path, oids: Sequence[str]) -> Path:
    """Return where `write_pack` puts a pack of some objects."""
    name = sha1("\n".join(oids).encode(), usedforsecurity=False).hexdigest()
    return directory / f"pack-{name}.pack"


def write_pack(directory: Path, oids: Sequence[str], objects: Iterable[tuple[str, bytes]]) -> Path:
    """Write a pack and its index into a directory, both to outlive a power cut, and return the pack.

    Args:
        directory: where git looks for packs.
        oids: the ids of the objects.
        objects: kind and bytes of each, in the same order.

    Raises:
        NotWritable, DiskFull: it cannot be written.
    """
    file = pack_path(directory, oids)
    sizes, sums = [_PACK.size], list[int]()
    total = b""
    with AtomicFile(file, 0o444, named_later=True) as pack:  # its index comes into the same directory
        parts = packed(len(oids), objects)
        pack.write(next(parts))
        for first, second in _in_pairs(parts):
            pack.write(first)
            pack.write(second)
            if second:
                sizes.append(len(first) + len(second))
                sums.append(zlib.crc32(second, zlib.crc32(first)))
            else:
                total = first
    offsets = list(accumulate(sizes))[:-1] if oids else []
    lists = file.with_suffix(".idx")
    try:
        with AtomicFile(lists, 0o444) as index:
            index.write(_index(oids, sums, offsets, total))
    except BaseException:
        if not lists.exists():  # nobody could read it; of one that was here before the index stands
            with suppress(OSError):
                file.unlink()
        raise
    return file


def _in_pairs(parts: Iterator[bytes]) -> Iterator[tuple[bytes, bytes]]:
    for first in parts:
        yield first, next(parts, b"")


def _index(oids: Sequence[str], sums: Sequence[int], offsets: Sequence[int], total: bytes) -> bytes:
    """Return the index of a pack of less than 2 GiB."""
    rows = sorted(zip(map(bytes.fromhex, oids), sums, offsets, strict=True))
    counts = [0] * _LETTERS
    for name, _, _ in rows:
        counts[name[0]] += 1
    parts = [
        _INDEX,
        struct.pack(f">{_LETTERS}I", *accumulate(counts)),
        *(name for name, _, _ in rows),
        struct.pack(f">{len(rows)}I", *(crc for _, crc, _ in rows)),
        struct.pack(f">{len(rows)}I", *(offset for _, _, offset in rows)),
        total,
    ]
    data = b"".join(parts)
    return data + sha1(data, usedforsecurity=False).digest()


def index_names(data: bytes) -> bytes | None:
    """Return the names in an index of a pack, 20 bytes each; None where it is damaged, or of another version."""
    if len(data) < _ROWS_AT + 2 * _SUM or not data.startswith(_INDEX):
        return None
    (count,) = _NUMBER.unpack_from(data, _ROWS_AT - 4)
    if (
        len(data) != _ROWS_AT + count * _ROW + 2 * _SUM
        or sha1(data[:-_SUM], usedforsecurity=False).digest() != data[-_SUM:]
    ):
        return None
    return data[_ROWS_AT : _ROWS_AT + count * _SUM]


def index_row(data: bytes, name: bytes) -> int | None:
    """Return the row of a name in a sound index, as git looks for it; None where git would find none."""
    (count,) = _NUMBER.unpack_from(data, _ROWS_AT - 4)
    at = len(_INDEX) + 4 * name[0]
    low = _NUMBER.unpack_from(data, at - 4)[0] if name[0] else 0
    high = min(_NUMBER.unpack_from(data, at)[0], count)  # its sum is right, and whoever wrote it may not be
    while low < high:
        row = (low + high) // 2
        there = data[_ROWS_AT + row * NAME_BYTES : _ROWS_AT + (row + 1) * NAME_BYTES]
        if there == name:
            return int(row)
        low, high = (row + 1, high) if there < name else (low, row)
    return None


def index_offset(data: bytes, row: int) -> int:
    """Return where in its pack an object lies, by its row in a sound index."""
    (count,) = _NUMBER.unpack_from(data, _ROWS_AT - 4)
    (offset,) = _NUMBER.unpack_from(data, _ROWS_AT + count * (_SUM + 4) + row * 4)
    return int(offset)


def ends_of(index: bytes) -> tuple[set[bytes], bytes]:
    """Return what the pack of a sound index begins with, in either of the versions that git takes, and ends with."""
    (count,) = _NUMBER.unpack_from(index, _ROWS_AT - 4)
    return {_PACK.pack(b"PACK", version, count) for version in (2, 3)}, index[-2 * _SUM : -_SUM]
