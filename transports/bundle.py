"""Bundles: stored records in zstd frames with an index at the end (docs/formats.md section 3).

The digest of a bundle's file names it and is checked only by who reads the whole file, with
`BundleReader.verify_all`: a reader that wants three records reads three frames. What keeps that safe is that
each record is compared with its own hash before it is handed out, so a damaged or forged frame costs the
records in it and nothing else.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple, Protocol

import zstandard
from blake3 import blake3

from transports.contents import BundleList, ListedFrame, Row, read_list
from transports.errors import BadBundle
from transports.layout import (
    BUNDLE_LIMIT,
    FRAME_CLOSE,
    FRAME_FULL,
    FRAME_RAW_LIMIT,
    FRAME_STORED,
    FRAME_STORED_LIMIT,
    MIB,
    RUN_RAW_LIMIT,
    bundle_name,
    expand,
)
from transports.merging import MAX_RUN_ENTRIES
from transports.noise import as_it_is, within
from transports.runs import ENTRY, BundleRef, Location, Run, RunBuilder, decode_run
from transports.short import Parts, claimed, read_parts, shortened, shortest
from vault.errors import DataError
from vault.frames import MAX_BASES, MAX_PREFIX_BYTES, ZSTD, decode, encode
from vault.records.hashes import KINDS, RecordHash, Verifier, is_record

__all__ = [
    "Bases",
    "BundleIndex",
    "BundleReader",
    "BundleWriter",
    "ByteSink",
    "Fetched",
    "FrameReads",
    "Near",
    "Slice",
    "write_bundles",
]

_MAGIC, _FORMER = b"LACEBND1", b"LACEBND0"  # the former one holds an index run in place of a list
_SHORT = b"LACESHT0"  # begins a frame of records without what follows from the rest
_DELTA = b"LACEDLT0"  # begins a frame that was compressed against other records
_BASE_BYTES = 33  # kind and digest
_END = b"LACEEND0"
_POINTER = struct.Struct("<QI")  # offset and length of the run; the footer's digest covers them too
_FOOTER = struct.Struct("<QI32s8s")
_SAMPLED, _SAMPLE = 4096, 2048  # bytes of records that are looked at, the smallest chunks too, and how much of them
_WRITTEN_TOGETHER = 256 * 1024  # bytes that are handed to the sink at once
_FRAME_LINE = 48  # bytes that a row of the frame table takes at most
_SLACK = 64 * 1024  # bytes: App table, footer, zstd's own headers
_MOST_LISTED = RUN_RAW_LIMIT // ENTRY.size
_QUICK = 3  # the level where nobody waits for a slow road
_DENSE = 0.47  # of the raw bytes: above, a level that looks for less may find more


class ByteSink(Protocol):
    """What a bundle is written to."""

    def write(self, data: bytes, /) -> object:
        """Take all of the bytes or raise."""


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


@dataclass(frozen=True, slots=True)
class BundleIndex:
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


class BundleWriter:
    """Writes one bundle to a sink, front to back, holding one frame and 256 KiB in memory.

    Args:
        sink: where the bytes go.
        level: zstd level, 1 to 19.
        limit: bytes the file may reach.
        stored: ends the sink and returns digest and size of the file that came of it, where it is not these bytes.
    """

    def __init__(
        self,
        sink: ByteSink,
        *,
        level: int = _QUICK,
        limit: int = BUNDLE_LIMIT,
        stored: Callable[[], tuple[bytes, int]] | None = None,
    ) -> None:
        self._sink = sink
        self._stored = stored
        self._limit = limit
        self._compressor = _compressor(level)
        self._fastest = zstandard.ZstdCompressor(level=1, write_content_size=True)
        self._hasher = blake3()
        self._position = 0
        self._pending: list[tuple[RecordHash, str, int, int]] = []
        self._parts: list[bytes] = []
        self._raw = 0
        self._frames = 0
        self._last = (1, 2)  # stored and raw bytes of the last frame
        self._expected = 0
        self._noise = 0  # bytes of this frame that no compressor makes less of
        self._near: Near | None = None
        self._builder = RunBuilder()
        self._list = BundleList()
        self._index: BundleIndex | None = None
        self._waiting: list[bytes | memoryview] = []
        self._waiting_bytes = 0
        self._write(_MAGIC)

    def __len__(self) -> int:
        return len(self._builder) + len(self._pending)

    def has_room(self, length: int) -> bool:
        """Return whether a record of this many bytes certainly fits; an empty bundle takes any record."""
        if not len(self):
            return True
        raw = self._raw + length
        index = (len(self) + 1) * ENTRY.size + (self._frames + 2) * _FRAME_LINE + _SLACK
        return len(self) < MAX_RUN_ENTRIES and self._position + raw + raw // 128 + index <= self._limit

    def add(self, record_hash: RecordHash, app: str, record: bytes, near: Near | None = None) -> None:
        """Append a stored record.

        Args:
            record_hash: its hash; only the markline is compared, the rest was validated when it was stored.
            app: its App value.
            record: its stored bytes.
            near: records in reach of every reader that its bytes are like.

        Raises:
            BadBundle: the bytes are not that record's, or too many.
        """
        if self._index is not None:
            raise BadBundle("A finished bundle takes no more records.")
        if not record.startswith(record_hash.markline) or len(record) > FRAME_RAW_LIMIT:
            raise BadBundle(f"The bytes given for {record_hash.text} are not that record, or too many.")
        expected, is_noise = self._expects(record)
        is_much = self._raw + len(record) > FRAME_RAW_LIMIT or self._expected + expected > FRAME_FULL
        if is_much or (self._pending and near != self._near):
            self._close_frame()
        self._near = near
        self._pending.append((record_hash, app, self._raw, len(record)))
        self._parts.append(record)
        self._raw += len(record)
        self._expected += expected
        self._noise += len(record) if is_noise else 0
        if self._raw >= FRAME_CLOSE or self._expected >= FRAME_STORED:
            self._close_frame()

    def _expects(self, record: bytes) -> tuple[int, bool]:
        """Return the bytes that a record may come to, as the last ones did unless a look at it says that none goes."""
        if len(record) >= _SAMPLED:
            middle = len(record) // 2
            sample = record[middle : middle + _SAMPLE]
            # Of ASCII an eighth goes in any case, and most small files are text: they need no second compressing.
            if not sample.isascii() and len(self._compressor.compress(sample)) * 10 > len(sample) * 9:
                return len(record), True
        stored, raw = self._last
        return len(record) * stored // raw, False

    def finish(self) -> BundleIndex:
        """Write the index and the footer and return what the bundle holds; a second call returns the same."""
        if self._index is None:
            self._close_frame()
            run = self._builder.build()
            data = self._list.encode()
            start = self._position
            self._write(data)
            self._write(_POINTER.pack(start, len(data)))
            self._flush()
            self._write(self._hasher.digest() + _END)
            self._flush()
            digest, size = self._stored() if self._stored is not None else (self._hasher.digest(), self._position)
            self._index = BundleIndex(run, digest, size)
        return self._index

    def _close_frame(self) -> None:
        if not self._pending:
            return
        pieces, is_whole, is_delta = self._packed()
        size = sum(map(len, pieces))
        for number, (record_hash, app, offset, length) in enumerate(self._pending):
            location = Location(None, self._position, size, self._raw, offset, length)
            self._builder.add(record_hash, app, location)
            is_whole[number] = is_whole[number] or is_delta
        rows = (
            Row(record.kind, app, length, record.digest)
            for (record, app, _, length), whole in zip(self._pending, is_whole, strict=True)
            if whole
        )
        self._list.add(ListedFrame(size, self._raw, is_delta, tuple(rows)))
        self._parts, self._near = [], None
        for piece in pieces:
            self._write(piece)
        self._last = (size, self._raw)
        self._pending, self._raw, self._expected, self._noise = [], 0, 0, 0
        self._frames += 1

    def _packed(self) -> tuple[list[bytes | memoryview], list[bool], bool]:
        """Return the frame's stored bytes, of each record whether it is whole there, and if it rests on others."""
        is_whole = [True] * len(self._parts)
        is_near = self._near is not None and bool(self._near.bases)
        pieces: list[bytes | memoryview]
        if self._noise * 20 >= self._raw * 19:
            pieces = list(as_it_is(self._parts, self._raw))
        else:
            parts = [shortest(record) for record in self._parts]
            short = shortened(parts)
            bodies = self._joined([part.body for part in parts]) if short else b""
            if short and bodies:
                is_whole = [part.is_whole for part in parts]
                pieces = [_SHORT, short, self._smallest(bodies)]
            else:
                pieces = [self._smallest(self._joined(self._parts))]
        if self._near is not None and is_near:
            delta = _delta(self._joined(self._parts), self._near)
            if len(delta) < sum(map(len, pieces)):
                return [delta], is_whole, True
        return pieces, is_whole, False

    @staticmethod
    def _joined(parts: list[bytes]) -> bytes:
        # One large record is compressed as it is: joining would hold it twice.
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _smallest(self, raw: bytes) -> bytes:
        stored = self._compressor.compress(raw)
        if len(stored) > len(raw) * _DENSE:
            stored = min(stored, self._fastest.compress(raw), key=len)
        return stored

    def _write(self, data: bytes | memoryview) -> None:
        self._waiting.append(data)
        self._waiting_bytes += len(data)
        self._position += len(data)
        if self._waiting_bytes >= _WRITTEN_TOGETHER:
            self._flush()

    def _flush(self) -> None:
        data = self._waiting[0] if len(self._waiting) == 1 else b"".join(self._waiting)
        self._waiting, self._waiting_bytes = [], 0
        self._sink.write(bytes(data))
        self._hasher.update(data)


class BundleReader:
    """Reads a bundle from a seekable file, holding one frame in memory.

    Args:
        file: the bundle.
        bases: finds the records that frames were compressed against.
    """

    def __init__(self, file: BinaryIO, bases: Bases = lambda _record: None) -> None:
        self._file = file
        self._bases = bases
        self._at = -1  # where the file stands, if that is known

    def verify_all(self) -> BundleIndex:
        """Read the whole file, check the footer's digest and return what the bundle holds.

        Raises:
            BadBundle: a byte is not what the writer stored, or the format is broken.
            BadRun: the index breaks the format.
        """
        run, size, digest = self._index()
        hasher = blake3()
        self._file.seek(0)
        rest = size - _FOOTER.size + _POINTER.size
        while rest:
            hasher.update(piece := self._exactly(min(MIB, rest)))
            rest -= len(piece)
        if hasher.digest() != digest:
            raise BadBundle("The bundle's bytes do not match the digest in its footer.")
        hasher.update(self._exactly(_FOOTER.size - _POINTER.size))
        return BundleIndex(run, hasher.digest(), size)

    def read_records(self, frames: Iterable[FrameReads]) -> Iterator[Fetched]:
        """Yield each wanted record, or None with a reason; a damaged frame never stops the others.

        Args:
            frames: in ascending order of offset, so that a medium is read forwards.

        Raises:
            PlaceError: the medium went away.
        """
        for frame in frames:
            try:
                raw, parts = self._frame(frame.offset, frame.stored, frame.raw)
            except DataError as error:
                yield from (Fetched(wanted.hash, None, error.message) for wanted in frame.slices)
                continue
            view = memoryview(raw)
            for wanted in frame.slices:
                found = _record(view, parts, wanted)
                if found is not None:
                    yield Fetched(*found)
                else:
                    reason = f"The bytes stored for {wanted.hash.text} are not that record."
                    yield Fetched(wanted.hash, None, reason)

    def _frame(self, offset: int, size: int, raw_size: int) -> tuple[bytes | memoryview, Parts | None]:
        """Return what a frame holds, and how records are made of it where it does not hold them whole."""
        if size > FRAME_STORED_LIMIT:
            raise BadBundle("A frame of the bundle is larger than the format allows.")
        at, self._at = self._at, -1
        if at != offset:  # a jump throws away what was read ahead
            self._file.seek(offset)
        stored = self._exactly(size)
        self._at = offset + size
        if stored.startswith(_DELTA):
            return self._undelta(stored, raw_size), None
        parts = None
        if stored.startswith(_SHORT):
            parts, rest = read_parts(memoryview(stored)[len(_SHORT) :], BadBundle, FRAME_RAW_LIMIT)
            stored = bytes(rest)
        most = parts.body_bytes if parts is not None else FRAME_RAW_LIMIT
        raw: bytes | memoryview | None = within(memoryview(stored))
        if raw is None:
            raw = expand(stored, most, BadBundle, "A frame of the bundle")
        if (len(raw), raw_size) != (
            (parts.body_bytes, parts.whole_bytes) if parts is not None else (raw_size, len(raw))
        ):
            raise BadBundle("A frame of the bundle has another size than its index says.")
        return raw, parts

    def _undelta(self, stored: bytes, raw: int) -> bytes:
        """Decode a frame against its bases.

        Raises:
            BadBundle: it names too many, or one that is not in reach.
            BadFrame: it does not decode.
        """
        start = len(_DELTA) + 1
        count = stored[len(_DELTA)] if len(stored) > len(_DELTA) else 0
        end = start + count * _BASE_BYTES
        if not 0 < count <= MAX_BASES or len(stored) <= end:
            raise BadBundle("A frame of the bundle does not say what it rests on.")
        parts: list[bytes] = []
        size = 0
        for at in range(start, end, _BASE_BYTES):
            kind = chr(stored[at])
            if kind not in KINDS:
                raise BadBundle("A frame of the bundle rests on something that is no record.")
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
        self._at = -1
        size = self._file.seek(0, 2)
        if not len(_MAGIC) + _FOOTER.size < size <= BUNDLE_LIMIT:
            raise BadBundle(f"A file of {size} bytes cannot be a bundle.")
        self._file.seek(0)
        magic = self._exactly(len(_MAGIC))
        if magic not in {_MAGIC, _FORMER}:
            raise BadBundle("The file does not start as a bundle.")
        self._file.seek(size - _FOOTER.size)
        start, length, digest, end = _FOOTER.unpack(self._exactly(_FOOTER.size))
        if end != _END or length > RUN_RAW_LIMIT or start + length + _FOOTER.size != size:
            raise BadBundle("The footer of the bundle is damaged.")
        self._file.seek(start)
        data = self._exactly(length)
        run = self._listed(data, start) if magic == _MAGIC else _former_index(data, start)
        self._at = -1
        return run, size, digest

    def _listed(self, data: bytes, end: int) -> Run:
        """Return the index of a bundle, made by going through its frames."""
        builder = RunBuilder()
        position = len(_MAGIC)
        for frame in read_list(data):
            if position + frame.stored > end:
                raise BadBundle("The frames of the bundle do not follow each other.")
            offset = 0
            for record, app, size in self._named(frame, position):
                builder.add(record, app, Location(None, position, frame.stored, frame.raw, offset, size))
                offset += size
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


def _compressor(level: int) -> zstandard.ZstdCompressor:
    """Return what compresses frames.

    For bytes between 128 and 256 KiB, as frames are, the quick level looks for matches of four bytes, and finds less in
    text than by what it does with more bytes.
    """
    if level != _QUICK:
        return zstandard.ZstdCompressor(level=level, write_content_size=True)
    large = zstandard.ZstdCompressionParameters.from_level(level, write_content_size=True)
    return zstandard.ZstdCompressor(compression_params=large)


def _record(view: memoryview, parts: Parts | None, wanted: Slice) -> tuple[RecordHash, bytes] | None:
    """Return a record that lies in a frame, under the hash that was worked out, if it is the one that is wanted."""
    whole = view[wanted.offset : wanted.offset + wanted.length]
    made = (bytes(whole), None) if parts is None else parts.one(view, wanted.offset, wanted.length)
    if made is None:
        return None
    record, computed = made
    if computed is None:
        return (wanted.hash, record) if is_record(wanted.hash, record) else None
    return (computed, record) if computed == wanted.hash else None


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


def _delta(raw: bytes, near: Near) -> bytes:
    form, stored = encode(raw, near.prefix)
    if form != ZSTD or len(near.bases) > MAX_BASES or len(near.prefix) > MAX_PREFIX_BYTES:
        return raw + b" " * _SLACK  # longer than any other form
    names = b"".join(base.kind.encode() + base.digest for base in near.bases)
    return b"".join((_DELTA, bytes([len(near.bases)]), names, stored))


def write_bundles(
    open_bundle: Callable[[], AbstractContextManager[BundleWriter]],
    records: Iterable[tuple[RecordHash, str, bytes] | tuple[RecordHash, str, bytes, Near | None]],
) -> list[BundleIndex]:
    """Write records into as many bundles as their limit demands; no records, no bundle.

    Args:
        open_bundle: begins a bundle; leaving its context finishes it.
        records: hash, App and stored bytes of each, and what it is near.

    Raises:
        BadBundle: the bytes of a record are not that record's.
        PlaceError: the medium refuses.
    """
    done: list[BundleIndex] = []
    writer: BundleWriter | None = None
    with ExitStack() as stack:
        for record_hash, app, record, *near in records:
            if writer is not None and not writer.has_room(len(record)):
                done.append(writer.finish())
                stack.pop_all().close()
                writer = None
            if writer is None:
                writer = stack.enter_context(open_bundle())
            writer.add(record_hash, app, record, near[0] if near else None)
        if writer is not None:
            done.append(writer.finish())
    return done
