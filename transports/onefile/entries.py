"""What lies in a one-file mailbox: a header, entries, an end and a digest (docs/formats.md section 4, "One file")."""

from __future__ import annotations

import struct
from io import SEEK_END
from typing import BinaryIO, NamedTuple

from blake3 import blake3

from transports.layout import DROP_ID, MIB, bundle_name, run_name

__all__ = ["BUNDLE", "ENTRY_BYTES", "HEAD", "NEEDS", "NO_NAME", "RUN", "Entry", "Header"]
__all__ += ["begin", "close_off", "has_its_digest", "salvage", "scan", "start_of"]

_MAGIC, _END = b"LACEFIL0", b"LACEFEND"
_HEADER = struct.Struct(">8s16s8s32s")  # magic, id, group directory, mailbox
_ENTRY = struct.Struct(">cQ16s")  # kind, size, first half of the digest that names it
_FOOTER = struct.Struct(">32s8s")
ENTRY_BYTES = _ENTRY.size
BUNDLE, RUN, HEAD, NEEDS, _DONE = b"b", b"r", b"h", b"n", b"E"
NO_NAME = bytes(16)
_ENTRIES_LIMIT = 100_000


class Header(NamedTuple):
    """Whose file it is: its id, group directory and mailbox, of 16, 8 and 32 bytes."""

    id: bytes
    group: bytes
    mailbox: bytes


class Entry(NamedTuple):
    """Where something lies in the file."""

    kind: bytes
    name: bytes
    offset: int
    size: int

    @property
    def file_name(self) -> str:
        """The name it would have on a drop."""
        return (bundle_name if self.kind == BUNDLE else run_name)(self.name)


def begin(file: BinaryIO, header: Header) -> None:
    """Let a file hold a header and nothing else."""
    file.seek(0)
    file.truncate()
    file.write(_HEADER.pack(_MAGIC, *header))
    file.flush()


def start_of(kind: bytes, size: int, name: bytes = NO_NAME) -> bytes:
    """Return the `ENTRY_BYTES` that stand before what an entry holds."""
    return _ENTRY.pack(kind, size, name)


def close_off(file: BinaryIO) -> None:
    """Write the end and the digest of all before it."""
    at = file.seek(0, SEEK_END)
    file.write(start_of(_DONE, 0))
    digest, _ = _summed(file, 0, at + ENTRY_BYTES)
    file.write(_FOOTER.pack(digest, _END))
    file.flush()


def has_its_digest(file: BinaryIO, size: int, end: int) -> bool | None:
    """Tell whether a file of this size, with its end mark at an offset, is as it was closed off; None if it is cut."""
    if end + ENTRY_BYTES + _FOOTER.size != size:
        return None
    digest, _ = _summed(file, 0, end + ENTRY_BYTES)
    return file.read(_FOOTER.size) == _FOOTER.pack(digest, _END)  # shorter where it shrank


def scan(file: BinaryIO, size: int) -> tuple[Header | None, list[Entry], int | None]:
    """Return header, whole entries and the offset of the end mark, as far as they can be made out."""
    file.seek(0)
    data = file.read(_HEADER.size)
    if len(data) < _HEADER.size:
        return None, [], None
    magic, *fields = _HEADER.unpack(data)
    header = Header(*fields)
    if magic != _MAGIC or DROP_ID.fullmatch(header.id.hex()) is None:
        return None, [], None
    entries: list[Entry] = []
    at = _HEADER.size
    while at + ENTRY_BYTES <= size and len(entries) < _ENTRIES_LIMIT:
        file.seek(at)
        data = file.read(ENTRY_BYTES)
        if len(data) < ENTRY_BYTES:
            break  # the file shrank since it was measured
        kind, length, name = _ENTRY.unpack(data)
        if kind == _DONE and not length:
            return header, entries, at
        if kind not in {BUNDLE, RUN, HEAD, NEEDS} or length > size - at - ENTRY_BYTES:
            break
        entries.append(Entry(kind, name, at + ENTRY_BYTES, length))
        at += ENTRY_BYTES + length
    return header, entries, None


def salvage(file: BinaryIO) -> tuple[Header | None, list[Entry]]:
    """Return what a part holds that is worth keeping, whole bundles from the start, and cut the rest off."""
    header, entries, _ = scan(file, file.seek(0, SEEK_END))
    kept = []
    for entry in entries:
        if entry.kind != BUNDLE or not _is_whole(file, entry):
            break
        kept.append(entry)
    if header is not None:
        file.truncate(kept[-1].offset + kept[-1].size if kept else _HEADER.size)
    return header, kept


def _is_whole(file: BinaryIO, entry: Entry) -> bool:
    digest, left = _summed(file, entry.offset, entry.size)
    return not left and digest[:16] == entry.name


def _summed(file: BinaryIO, start: int, size: int) -> tuple[bytes, int]:
    """Return the digest of bytes from a start on, and how many of them are not there."""
    hasher = blake3()
    file.seek(start)
    while size and (piece := file.read(min(MIB, size))):
        hasher.update(piece)
        size -= len(piece)
    return hasher.digest(), size
