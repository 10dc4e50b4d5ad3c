"""What a scan remembers of one directory, as one opaque blob (performance: scan).

An entry proves that a file was read once and which record its bytes had. It is believed only while size,
both times, inode and mode are the same, and only if the file was older than the scan: a file that is written
in the same tick of its file system's clock as it was read looks unchanged, so such entries are read again
(the racy-timestamp rule).

Names and what `stat` said stand together in the order the disk lists them, so that a directory in which nothing
changed is known by one comparison of bytes, and no entry of it becomes an object.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from blake3 import blake3

if TYPE_CHECKING:
    from vault.desks.folder import Signature

__all__ = ["Seen", "SeenDirectory", "Unchanged", "context_of", "decode", "encode", "told_by", "unchanged"]

_MAGIC = b"LSC1"
# Magic, context, written ns, tree digest, tree size, count, names' bytes, whether a look at the stats suffices,
# whether there are directories.
_HEAD = struct.Struct("<4s16sq32sQIIBB")
_LOOK = struct.Struct("<qqqQI")  # the five of a signature; zeros for a directory
_ITEM = struct.Struct("<cB32sQ")  # kind, is noticed, digest, content size
_NO_LOOK = bytes(_LOOK.size)
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


def context_of(group: str, ignore: bytes, without: frozenset[str] = frozenset()) -> bytes:
    """Return what ties cached values together: the group, which is in every hash, the ignore rules, other desks."""
    left_out = "".join(f"\0{path}" for path in sorted(without))
    return blake3(b"lace-scan/1 " + ignore + group.encode() + left_out.encode()).digest(16)


class Unchanged(NamedTuple):
    """A directory whose names and files are as the last scan saw them.

    Args:
        digest: its root page's digest, if its directories are unchanged too.
        size: sum of the sizes below it, likewise.
        has_directories: whether it has any.
    """

    digest: bytes
    size: int
    has_directories: bool


def encode(directory: SeenDirectory, context: bytes, now_ns: int) -> bytes | None:
    """Return the blob of a directory; None when a number does not fit, which only costs a re-read."""
    items = directory.items.values()
    names = b"\0".join(map(os.fsencode, directory.items))
    plain = not any(seen.is_noticed or _is_racy(seen.signature, now_ns) for seen in items)
    has_directories = any(seen.kind == b"d" for seen in items)
    head = (directory.digest, directory.size, len(items), len(names), plain, has_directories)
    try:
        parts = [_HEAD.pack(_MAGIC, context, now_ns, *head), names]
        parts += [_LOOK.pack(*seen.signature) for seen in items]
        parts += [_ITEM.pack(seen.kind, seen.is_noticed, seen.digest, seen.size) for seen in items]
    except struct.error:
        return None
    return b"".join(parts)


def _is_racy(signature: Signature, written_ns: int) -> bool:
    newest = max(signature[1], signature[2])
    return newest >= written_ns - _FINE_NS or (newest >= written_ns - _COARSE_NS and newest % _SECOND == 0 < newest)


def unchanged(
    blob: bytes | None, context: bytes, names: Sequence[str], found: Sequence[os.DirEntry[str]]
) -> Unchanged | None:
    """Compare a directory with its blob by one look; None when it has to be gone through name by name.

    Args:
        blob: what the last scan kept.
        context: as `context_of` gives it.
        names: what stands on the disk, in its order.
        found: the same as entries; each is asked for its stat.
    """
    if blob is None or len(blob) < _HEAD.size:
        return None
    magic, kept, _, digest, size, count, length, plain, has_directories = _HEAD.unpack_from(blob)
    start = _HEAD.size + length
    if magic != _MAGIC or kept != context or not plain or count != len(names):
        return None
    if blob[_HEAD.size : start] != os.fsencode("\0".join(names)):
        return None
    pack = _LOOK.pack
    try:
        looks = [
            _NO_LOOK
            if entry.is_dir(follow_symlinks=False)
            else pack(
                (status := entry.stat(follow_symlinks=False)).st_size,
                status.st_mtime_ns,
                status.st_ctime_ns,
                status.st_ino,  # where it is longer than its field the directory is gone through name by name
                status.st_mode,
            )
            for entry in found
        ]
    except (OSError, struct.error):
        return None
    if blob[start : start + count * _LOOK.size] != b"".join(looks):
        return None
    return Unchanged(digest, size, bool(has_directories))


def told_by(blob: bytes | None) -> tuple[bytes, bytes] | None:
    """Return the context and the digest that a blob names; None when it is none."""
    if blob is None or len(blob) < _HEAD.size:
        return None
    magic, context, _, digest, *_ = _HEAD.unpack_from(blob)
    return (context, digest) if magic == _MAGIC else None


def decode(blob: bytes | None, context: bytes) -> SeenDirectory | None:
    """Return what a blob holds; None when there is none, it is of another context, or it is damaged."""
    if blob is None or len(blob) < _HEAD.size:
        return None
    magic, found, written, digest, size, count, length, _, _ = _HEAD.unpack_from(blob)
    start = _HEAD.size + length
    end = start + count * _LOOK.size
    if magic != _MAGIC or found != context or end + count * _ITEM.size != len(blob):
        return None
    names = os.fsdecode(blob[_HEAD.size : start]).split("\0") if count else []
    if len(names) != count:
        return None
    looks, details = _LOOK.iter_unpack(blob[start:end]), _ITEM.iter_unpack(blob[end:])
    items = {
        name: Seen(kind, bool(noticed), look, record, content, _is_racy(look, written))
        for name, look, (kind, noticed, record, content) in zip(names, looks, details, strict=True)
    }
    return SeenDirectory(digest, size, items)
