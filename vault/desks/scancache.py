"""What a scan remembers of one directory, as one opaque blob (performance: scan).

An entry proves that a file was read once and which record its bytes had. It is believed only while size,
both times, inode and mode are the same, and only if the file was older than the scan: a file that is written
in the same tick of its file system's clock as it was read looks unchanged, so such entries are read again
(the racy-timestamp rule).
"""

from __future__ import annotations

import os
import struct
from typing import NamedTuple

from blake3 import blake3

from vault.desks.folder import Signature

__all__ = ["Seen", "SeenDirectory", "context_of", "decode", "encode"]

_MAGIC = b"LSC0"
_HEAD = struct.Struct("<4s16sq32sQI")  # magic, context, written ns, tree digest, tree size, count
_ITEM = struct.Struct("<cBqqqQI32sQ")  # kind, is noticed, the five of a signature, digest, content size
_FINE_NS = 20_000_000  # two ticks of the slowest kernel clock in use (100 Hz)
_COARSE_NS = 2_500_000_000  # FAT counts in two seconds
_SECOND = 1_000_000_000


class Seen(NamedTuple):
    """One name as the last scan saw it.

    Args:
        kind: b"f", b"l" or b"d".
        is_noticed: whether a notice about its name is due at every scan.
        signature: what `vault.desks.folder.signature` gave; zeros for a directory.
        digest: of the data record, or of the directory's root page.
        size: of the content, or the sum below the directory.
        is_racy: whether it must be read again though nothing seems to have changed.
    """

    kind: bytes
    is_noticed: bool
    signature: Signature
    digest: bytes
    size: int
    is_racy: bool = False


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


def context_of(group: str, ignore: bytes) -> bytes:
    """Return what ties cached values together: the group, which is in every hash, and the ignore rules."""
    return blake3(b"lace-scan/1 " + ignore + group.encode()).digest(16)


def encode(directory: SeenDirectory, context: bytes, now_ns: int) -> bytes | None:
    """Return the blob of a directory; None when a number does not fit, which only costs a re-read."""
    parts = [_HEAD.pack(_MAGIC, context, now_ns, directory.digest, directory.size, len(directory.items))]
    try:
        parts += [
            _ITEM.pack(seen.kind, seen.is_noticed, *seen.signature, seen.digest, seen.size)
            for seen in directory.items.values()
        ]
    except struct.error:
        return None
    parts.append(b"\0".join(map(os.fsencode, directory.items)))
    return b"".join(parts)


def decode(blob: bytes | None, context: bytes) -> SeenDirectory | None:
    """Return what a blob holds; None when there is none, it is of another context, or it is damaged."""
    if blob is None or len(blob) < _HEAD.size:
        return None
    magic, found, written, digest, size, count = _HEAD.unpack_from(blob)
    end = _HEAD.size + count * _ITEM.size
    if magic != _MAGIC or found != context or end > len(blob):
        return None
    names = os.fsdecode(blob[end:]).split("\0") if count else []
    if len(names) != count:
        return None
    fine, coarse = written - _FINE_NS, written - _COARSE_NS
    items = {}
    for name, (kind, noticed, bytes_, mtime, ctime, inode, mode, record, content) in zip(
        names, _ITEM.iter_unpack(blob[_HEAD.size : end]), strict=True
    ):
        newest = max(mtime, ctime)
        racy = newest >= fine or (newest >= coarse and newest % _SECOND == 0)
        items[name] = Seen(kind, bool(noticed), (bytes_, mtime, ctime, inode, mode), record, content, racy)
    return SeenDirectory(digest, size, items)
