"""Bundles: stored records in zstd frames with an index at the end (docs/formats.md section 3).

The digest of a bundle's file names it and is checked only by who reads the whole file, with
`BundleReader.verify_all`: a reader that wants three records reads three frames. What keeps that safe is that
each record is compared with its own hash before it is handed out, so a damaged or forged frame costs the
records in it and nothing else.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO, NamedTuple

from blake3 import blake3

from transports.bundles.contents import ListedFrame, Row, read_list
from transports.bundles.noise import within
from transports.bundles.short import Parts, claimed, read_parts
from transports.errors import BadBundle
from transports.index.runfile import decode_run
from transports.index.runs import ENTRY, BundleRef, Run, RunBuilder
from transports.layout import (
    BUNDLE_LIMIT,
    FRAME_STORED_LIMIT,
    MIB,
    RUN_RAW_LIMIT,
    bundle_name,
    expand,
)
from vault.errors import DataError, LaceError
from vault.frames import MAX_BASES, MAX_PREFIX_BYTES, ZSTD, decode
from vault.records.hashes import KINDS, RecordHash, Verifier, is_record

__all__ = [
    "DELTA",
    "END",
    "MAGIC",
    "POINTER",
    "SHORT",
    "Bases",
    "BundleIndex",
    "BundleReader",
    "Fetched",
    "FrameReads",
    "Near",
    "Slice",
]

MAGIC, _FORMER = b"LACEBND1", b"LACEBND0"  # the former one holds an index run in place of a list
SHORT = b"LACESHT0"  # begins a frame of records without what follows from the rest
DELTA = b"LACEDLT0"  # begins a frame that was compressed against other records
_BASE_BYTES = 33  # kind and digest
END = b"LACEEND0"
POINTER = struct.Struct("<QI")  # offset and length of the run; the footer's digest covers them too
_FOOTER = struct.Struct("<QI32s8s")
_MOST_LISTED = RUN_RAW_LIMIT // ENTRY.size
_TOGETHER = MIB  # bytes of frames that are read at once
_new = tuple.__new__


class Slice(NamedTuple):
    """A record inside the raw bytes of a frame."""

    hash: RecordHash
    offset: int
    length: int


class FrameReads(NamedTuple):
    """One frame of a bundle and what is wanted of it, in the order of offsets."""

    offset: int
    stored: int
    raw: int
    slices: tuple[Slice, ...]


class Near(NamedTuple):
    """Records whose bytes a frame is compressed against, and these bytes; a reader must have them in reach.

    Attributes:
        bases: their hashes, in order.
        prefix: their stored bytes, one after the other.
    """

    bases: tuple[RecordHash, ...]
    prefix: bytes


Bases = Callable[[RecordHash], bytes | None]  # a record's stored bytes, proven; None when it is not in reach


class Fetched(NamedTuple):
    """A record that was wanted: its stored bytes, or None, the reason as a sentence, and its code if it has one."""

    hash: RecordHash
    record: bytes | None
    reason: str = ""
    code: str = ""


class BundleIndex(NamedTuple):
    """What a finished bundle holds.

    Args:
        run: its index; the bundle is None there.
        digest: BLAKE3 of the whole file.
        size: bytes of the file.
    """

    run: Run
    digest: bytes
    size: int

    @property
    def name(self) -> str:
        """The file name that goes with the digest."""
        return bundle_name(self.digest)

    def ref(self, mailbox: Verifier) -> BundleRef:
        """Return how runs name this bundle once it lies in a node's mailbox."""
        return BundleRef(mailbox, self.name, self.digest, self.size)


class BundleReader:
    """Reads a bundle from a seekable file, holding one frame in memory, or a megabyte of small ones.

    Args:
        file: the bundle.
        bases: finds the records that frames were compressed against.
    """

    def __init__(self, file: BinaryIO, bases: Bases = lambda _record: None) -> None:
        self._file = file
        self._some: Callable[[int], bytes] = getattr(file, "read1", file.read)  # what one look at the medium gives
        self._bases = bases
        self._at = -1  # where the file stands, if that is known
        self._ahead = memoryview(b"")  # bytes that were read with those before them
        self._fault: Exception | None = None  # what kept more of them from being read

    def verify_all(self) -> BundleIndex:
        """Read the whole file, check the footer's digest and return what the bundle holds.

        Raises:
            BadBundle: a byte is not what the writer stored, or the format is broken.
            BadRun: the index breaks the format.
        """
        run, size, digest = self._index()
        hasher = blake3()
        self._file.seek(0)
        rest = size - _FOOTER.size + POINTER.size
        while rest:
            hasher.update(piece := self._exactly(min(MIB, rest)))
            rest -= len(piece)
        if hasher.digest() != digest:
            raise BadBundle("The bundle's bytes do not match the digest in its footer.")
        hasher.update(self._exactly(_FOOTER.size - POINTER.size))
        return BundleIndex(run, hasher.digest(), size)

    def read_frames(self, frames: Iterable[FrameReads]) -> Iterator[list[Fetched]]:
        """Yield what `read_records` returns of each frame; frames that touch are read together.

        Args:
            frames: in their order.

        Raises:
            PlaceError: the medium went away; what it gave until then was yielded.
        """
        for touching in _together(frames):
            if len(touching) > 1:
                self._read_ahead(touching[0].offset, sum(frame.stored for frame in touching))
            for frame in touching:
                yield self.read_records(frame)

    def read_records(self, frame: FrameReads) -> list[Fetched]:
        """Return each record that is wanted of a frame, or None with a reason; a damaged frame costs only its own.

        Args:
            frame: behind the one that was read before, so that a medium is read forwards.

        Records that overlap are refused before a byte is read: a frame of some kilobytes would make gigabytes of them.

        Raises:
            PlaceError: the medium went away.
        """
        if sum(wanted.length for wanted in frame.slices) > frame.raw:
            return [Fetched(wanted.hash, None, "The records of a frame overlap.") for wanted in frame.slices]
        try:
            raw, parts = self._frame(frame.offset, frame.stored, frame.raw)
        except DataError as error:
            return [Fetched(wanted.hash, None, error.message) for wanted in frame.slices]
        view = memoryview(raw)
        return [_record(view, parts, wanted) for wanted in frame.slices]

    def _frame(self, offset: int, size: int, raw_size: int) -> tuple[bytes | memoryview, Parts | None]:
        """Return what a frame holds, and how records are made of it where it does not hold them whole."""
        if size > FRAME_STORED_LIMIT:
            raise BadBundle("A frame of the bundle is larger than the format allows.")
        stored = self._stored(offset, size)
        if stored[: len(DELTA)] == DELTA:
            return self._undelta(bytes(stored), raw_size), None
        parts, most = None, raw_size
        if stored[: len(SHORT)] == SHORT:
            parts, stored = read_parts(stored[len(SHORT) :], BadBundle, raw_size)
            if parts.whole_bytes != raw_size:
                raise BadBundle("A frame of the bundle has another size than its index says.")
            most = parts.body_bytes
        raw: bytes | memoryview | None = within(stored)
        if raw is None:
            raw = expand(stored, most, BadBundle, "A frame of the bundle")  # what the index says is what was counted
        if len(raw) != most:
            raise BadBundle("A frame of the bundle has another size than its index says.")
        return raw, parts

    def _read_ahead(self, offset: int, size: int) -> None:
        """Read what several frames hold; what keeps it from being read whole is told of the frame that it hits."""
        parts = []
        try:
            self._seek(offset)
            while size and (piece := self._some(size)):
                parts.append(piece)
                size -= len(piece)
        except (LaceError, OSError) as fault:
            self._fault = fault
        self._ahead = memoryview(parts[0] if len(parts) == 1 else b"".join(parts))

    def _stored(self, offset: int, size: int) -> memoryview:
        """Return the bytes of a frame.

        Raises:
            BadBundle: the file ends before them.
            PlaceError: the medium went away.
        """
        if offset == self._at and size <= len(self._ahead):
            stored, self._ahead = self._ahead[:size], self._ahead[size:]
            self._at += size
            return stored
        if offset == self._at and (fault := self._fault) is not None:
            self._lose_place()
            raise fault
        self._seek(offset)
        stored = memoryview(self._exactly(size))
        self._at = offset + size
        return stored

    def _seek(self, offset: int) -> None:
        """Go to a frame, unless the file stands there; a jump throws away what was read ahead."""
        at = self._at + len(self._ahead)
        self._lose_place()
        if at != offset:
            self._file.seek(offset)
        self._at = offset

    def _lose_place(self) -> None:
        self._at, self._ahead, self._fault = -1, memoryview(b""), None

    def _undelta(self, stored: bytes, raw: int) -> bytes:
        """Decode a frame against its bases.

        Raises:
            BadBundle: it names too many, or one that is not in reach.
            BadFrame: it does not decode.
        """
        start = len(DELTA) + 1
        count = stored[len(DELTA)] if len(stored) > len(DELTA) else 0
        end = start + count * _BASE_BYTES
        if not 0 < count <= MAX_BASES or len(stored) <= end:
            raise BadBundle("A frame of the bundle does not say what it rests on.")
        parts: list[bytes] = []
        size = 0
        for at in range(start, end, _BASE_BYTES):
            kind = chr(stored[at])
            if kind not in KINDS:
                raise BadBundle("A frame of the bundle rests on something that is not a record.")
            base = RecordHash(kind, stored[at + 1 : at + _BASE_BYTES])
            found = self._bases(base)
            if found is None:
                raise BadBundle(f"A frame of the bundle rests on {base.text}, which is not in reach.")
            size += len(found)
            if size > MAX_PREFIX_BYTES:
                raise BadBundle("A frame of the bundle rests on more bytes than any frame may.")
            parts.append(found)
        return decode(ZSTD, stored[end:], raw, b"".join(parts))

    def _index(self) -> tuple[Run, int, bytes]:
        self._lose_place()
        size = self._file.seek(0, 2)
        if not len(MAGIC) + _FOOTER.size < size <= BUNDLE_LIMIT:
            raise BadBundle(f"A file of {size} bytes cannot be a bundle.")
        self._file.seek(0)
        magic = self._exactly(len(MAGIC))
        if magic not in {MAGIC, _FORMER}:
            raise BadBundle("The file does not start as a bundle.")
        self._file.seek(size - _FOOTER.size)
        start, length, digest, end = _FOOTER.unpack(self._exactly(_FOOTER.size))
        if end != END or length > RUN_RAW_LIMIT or start + length + _FOOTER.size != size:
            raise BadBundle("The footer of the bundle is damaged.")
        self._file.seek(start)
        data = self._exactly(length)
        run = self._listed(data, start) if magic == MAGIC else _former_index(data, start)
        self._lose_place()
        return run, size, digest

    def _listed(self, data: bytes, end: int) -> Run:
        """Return the index of a bundle, made by going through its frames."""
        builder = RunBuilder()
        position = len(MAGIC)
        for frame in read_list(data):
            if position + frame.stored > end:
                raise BadBundle("The frames of the bundle do not follow each other.")
            offset = 0
            rows: list[tuple[RecordHash, str, int, int]] = []
            for record, app, size in self._named(frame, position):
                rows.append((record, app, offset, size))
                offset += size
            builder.add_frame((None, position, frame.stored, frame.raw), rows)
            if offset != frame.raw or len(builder) > _MOST_LISTED:
                raise BadBundle("The list of the bundle does not describe exactly this bundle.")
            position += frame.stored
        if position != end:
            raise BadBundle("The frames of the bundle do not follow each other.")
        return builder.build()

    def _named(self, frame: ListedFrame, position: int) -> Iterator[tuple[RecordHash, str, int]]:
        """Yield the records of a frame in order, with Apps and sizes; proven, unless the list must be believed."""
        if frame.is_named:
            yield from ((RecordHash(row.kind, row.digest), row.app, row.length) for row in frame.rows)
            return
        raw, parts = self._frame(position, frame.stored, frame.raw)
        rows = iter(frame.rows)
        for record, hash_, app in _all_records(memoryview(raw), parts, frame.rows):
            if hash_ is not None:
                yield hash_, app, len(record)
                continue
            row = next(rows, None)
            name = claimed(record)
            if row is None or name is None or (name.kind, len(record)) != row[::2] or not is_record(name, record):
                raise BadBundle("A record in the bundle is not the one that is listed.")
            yield name, row.app, row.length
        if next(rows, None) is not None:
            raise BadBundle("The bundle lists more records than it holds.")

    def _exactly(self, size: int) -> bytes:
        parts = []
        while size:
            piece = self._file.read(size)
            if not piece:
                raise BadBundle("The bundle ends too early.")
            parts.append(piece)
            size -= len(piece)
        return parts[0] if len(parts) == 1 else b"".join(parts)


def _together(frames: Iterable[FrameReads]) -> Iterator[list[FrameReads]]:
    """Yield frames that touch, as many as are read at once."""
    touching: list[FrameReads] = []
    size = end = 0
    for frame in frames:
        if touching and (frame.offset != end or size + frame.stored > _TOGETHER):
            yield touching
            touching, size = [], 0
        touching.append(frame)
        size += frame.stored
        end = frame.offset + frame.stored
    if touching:
        yield touching


def _record(view: memoryview, parts: Parts | None, wanted: Slice) -> Fetched:
    """Return a record that lies in a frame, under the hash that was worked out, if it is the one that is wanted."""
    name, offset, length = wanted
    record, made = (bytes(view[offset : offset + length]), None) if parts is None else parts.one(view, offset, length)
    if made == name or (made is None and is_record(name, record)):
        return _new(Fetched, (made or name, record, "", ""))
    return Fetched(name, None, f"The bytes stored for {name.text} are not that record.")


def _all_records(
    view: memoryview, parts: Parts | None, rows: tuple[Row, ...]
) -> Iterator[tuple[bytes, RecordHash | None, str]]:
    """Yield every record of a frame, with hash and App where it was made anew."""
    if parts is not None:
        for (record, hash_), app in zip(parts.all(view), parts.apps(), strict=True):
            yield record, hash_, app
        return
    at = 0
    for row in rows:
        yield bytes(view[at : at + row.length]), None, ""
        at += row.length


def _former_index(data: bytes, end: int) -> Run:
    """Return the index run that stands in a bundle of the former form."""
    run = decode_run(data, in_bundle=True)
    position = len(_FORMER)
    for _, offset, stored, _ in run.frame_rows():
        if offset != position:
            raise BadBundle("The frames of the bundle do not follow each other.")
        position += stored
    if position != end or run.covers or any(entry.location is None for entry in run):
        raise BadBundle("The index of the bundle does not describe exactly this bundle.")
    return run
