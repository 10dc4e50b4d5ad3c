"""What a scan remembers of one directory, as one opaque blob (performance: scan).

An entry proves that a file was read once and which record its bytes had. It is believed only while size,
both times, inode and mode are the same, and only if the file was older than the scan: a file that is written
in the same tick of its file system's clock as it was read looks unchanged, so such entries are read again
(the racy-timestamp rule).

A directory in which nothing changed is known by its look (`vault.desks.glance`), and its blob is not even loaded.
"""

from __future__ import annotations

import os
import struct
from typing import TYPE_CHECKING, NamedTuple

from blake3 import blake3

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vault.desks.folder import Signature

__all__ = ["Seen", "SeenDirectory", "context_of", "decode", "encode", "is_plain"]

_MAGIC = b"LSC2"
_HEAD = struct.Struct("<4s16sq32sQII")  # magic, context, written ns, tree digest, tree size, count, names' bytes
_LOOK = struct.Struct("<qqqQI")  # the five of a signature; zeros for a directory
_ITEM = struct.Struct("<cB32sQ")  # kind, is noticed (1) and is hollow (2), digest, content size
_FINE_NS = 20_000_000  # two ticks of the slowest kernel clock in use (100 Hz)
_COARSE_NS = 2_500_000_000  # FAT counts in two seconds
_SECOND = 1_000_000_000
_new = tuple.__new__


class Seen(NamedTuple):
    """One name as the last scan saw it.

    Args:
        kind: b"f", b"l" or b"d".
        is_noticed: whether a notice about its name is due at every scan.
        signature: what `vault.desks.folder.signature` gave; zeros for a directory.
        digest: of the data record, or of the directory's root page.
        size: of the content, or the sum below the directory.
        is_racy: whether it must be read again though nothing seems to have changed.
        is_hollow: whether it is a directory that is in no tree, since nothing that it holds is taken.
    """

    kind: bytes
    is_noticed: bool
    signature: Signature
    digest: bytes
    size: int
    is_racy: bool = False
    is_hollow: bool = False


class SeenDirectory(NamedTuple):
    """One directory as the last scan saw it, names as they stand on the disk.

    Args:
        digest: its root page's digest.
        size: sum of the sizes below it.
        items: by name on the disk.
    """

    digest: bytes
    size: int
    items: dict[str, Seen]


def context_of(group: str, ignore: bytes, without: frozenset[str] = frozenset()) -> bytes:
    """Return what ties cached values together: the group, which is in every hash, the ignore rules, other desks."""
    left_out = "".join(f"\0{path}" for path in sorted(without))
    return blake3(b"lace-scan/2 " + ignore + group.encode() + left_out.encode()).digest(16)


def encode(directory: SeenDirectory, context: bytes, now_ns: int) -> bytes | None:
    """Return the blob of a directory; None when a number does not fit, which only costs a re-read."""
    items = directory.items.values()
    names = os.fsencode("\0".join(directory.items))
    head = (directory.digest, directory.size, len(items), len(names))
    try:
        parts = [_HEAD.pack(_MAGIC, context, now_ns, *head), names]
        parts += [_LOOK.pack(*seen[2]) for seen in items]
        parts += [
            _ITEM.pack(kind, is_noticed + 2 * is_hollow, digest, size)
            for kind, is_noticed, _, digest, size, _, is_hollow in items
        ]
    except struct.error:
        return None
    return b"".join(parts)


def is_plain(items: Iterable[Seen], now_ns: int) -> bool:
    """Tell whether names and stats alone prove next time that nothing changed, and nothing has to be said of them.

    Args:
        items: as this scan saw them.
        now_ns: wall time before the scan, as `encode` is given it.
    """
    seen = [*items]
    return not any(item.is_noticed for item in seen) and not any(_racy([item.signature for item in seen], now_ns))


def _racy(signatures: Iterable[Signature], written_ns: int) -> list[bool]:
    """Tell of each signature whether it is racy; most are older than any clock's tick, which shows at once."""
    coarse = written_ns - _COARSE_NS
    return [(one[1] >= coarse or one[2] >= coarse) and _is_racy(one, written_ns) for one in signatures]


def _is_racy(signature: Signature, written_ns: int) -> bool:
    newest = max(signature[1], signature[2])
    return newest >= written_ns - _FINE_NS or (newest >= written_ns - _COARSE_NS and newest % _SECOND == 0 < newest)


def decode(blob: bytes | None, context: bytes) -> SeenDirectory | None:
    """Return what a blob holds; None when there is none, it is of another context, or it is damaged."""
    if blob is None or len(blob) < _HEAD.size:
        return None
    magic, found, written, digest, size, count, length = _HEAD.unpack_from(blob)
    start = _HEAD.size + length
    end = start + count * _LOOK.size
    if magic != _MAGIC or found != context or end + count * _ITEM.size != len(blob):
        return None
    names = os.fsdecode(blob[_HEAD.size : start]).split("\0") if count else []
    if len(names) != count:
        return None
    looks, details = [*_LOOK.iter_unpack(blob[start:end])], _ITEM.iter_unpack(blob[end:])
    racy = _racy(looks, written)
    items = {
        name: _new(Seen, (kind, flag & 1 == 1, look, record, content, is_racy, flag & 2 == 2))
        for name, look, is_racy, (kind, flag, record, content) in zip(names, looks, racy, details, strict=True)
    }
    return SeenDirectory(digest, size, items)
