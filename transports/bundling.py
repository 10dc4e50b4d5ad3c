"""Writing bundles, front to back, so that any sink will do (docs/formats.md section 3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import Protocol

import zstandard
from blake3 import blake3

from transports.bundle import DELTA, END, MAGIC, POINTER, SHORT, BundleIndex, Near
from transports.contents import BundleList, ListedFrame, Row
from transports.errors import BadBundle
from transports.layout import BUNDLE_LIMIT, FRAME_CLOSE, FRAME_FULL, FRAME_RAW_LIMIT, FRAME_STORED
from transports.merging import MAX_RUN_ENTRIES
from transports.noise import as_it_is
from transports.runs import ENTRY, Location, RunBuilder
from transports.short import shortened, shortest
from vault.behind import BLOCK_BYTES, Behind
from vault.frames import MAX_BASES, MAX_PREFIX_BYTES, ZSTD, encode
from vault.records.hashes import MARKLINE_BYTES, RecordHash

__all__ = ["BundleWriter", "ByteSink", "write_bundles"]

_SAMPLED, _SAMPLE = 4096, 2048  # bytes of records that are looked at, the smallest chunks too, and how much of them
_FRAME_LINE = 48  # bytes that a row of the frame table takes at most
_SLACK = 64 * 1024  # bytes: App table, footer, zstd's own headers
_QUICK = 3  # the level where nobody waits for a slow road
_DENSE = 0.47  # of the raw bytes: above, a level that looks for less may find more
_Given = tuple[RecordHash, str, bytes | memoryview] | tuple[RecordHash, str, bytes | memoryview, Near | None]


class ByteSink(Protocol):
    """What a bundle is written to."""

    def write(self, data: bytes | memoryview, /) -> object:
        """Take all of the bytes or raise; a view changes afterwards."""


class BundleWriter:
    """Writes one bundle to a sink, front to back, holding one frame in memory and what waits to be written.

    Args:
        sink: where the bytes go.
        level: zstd level, 1 to 19.
        limit: bytes the file may reach.
        stored: ends the sink and returns digest and size of the file that came of it, where it is not these bytes.
        behind: writes and digests while more is being made; whoever gives it ends it before the sink.
    """

    def __init__(
        self,
        sink: ByteSink,
        *,
        level: int = _QUICK,
        limit: int = BUNDLE_LIMIT,
        stored: Callable[[], tuple[bytes, int]] | None = None,
        behind: Behind | None = None,
    ) -> None:
        self._sink = sink
        self._behind = behind
        self._room = behind.room if behind is not None else memoryview(bytearray(BLOCK_BYTES))
        self._filled = 0  # bytes of it
        self._stored = stored
        self._limit = limit
        self._compressor = _compressor(level)
        self._fastest = zstandard.ZstdCompressor(level=1, write_content_size=True)
        self._hasher = blake3()
        self._position = 0
        self._pending: list[tuple[RecordHash, str, int, int]] = []
        self._parts: list[bytes | memoryview] = []
        self._raw = 0
        self._frames = 0
        self._last = (1, 2)  # stored and raw bytes of the last frame
        self._expected = 0
        self._noise = 0  # bytes of this frame that no compressor makes less of
        self._near: Near | None = None
        self._builder = RunBuilder()
        self._list = BundleList()
        self._index: BundleIndex | None = None
        self._write(MAGIC)

    def __len__(self) -> int:
        return len(self._builder) + len(self._pending)

    def has_room(self, length: int) -> bool:
        """Return whether a record of this many bytes certainly fits; an empty bundle takes any record."""
        if not len(self):
            return True
        raw = self._raw + length
        index = (len(self) + 1) * ENTRY.size + (self._frames + 2) * _FRAME_LINE + _SLACK
        return len(self) < MAX_RUN_ENTRIES and self._position + raw + raw // 128 + index <= self._limit

    def add(self, record_hash: RecordHash, app: str, record: bytes | memoryview, near: Near | None = None) -> None:
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
        length = len(record)
        if record[:MARKLINE_BYTES] != record_hash.markline or length > FRAME_RAW_LIMIT:
            raise BadBundle(f"The bytes given for {record_hash.text} are not that record, or too many.")
        expected, is_noise = self._expects(record)
        is_much = self._raw + length > FRAME_RAW_LIMIT or self._expected + expected > FRAME_FULL
        if is_much or (self._pending and near != self._near):
            self._close_frame()
        if is_noise and length >= FRAME_STORED and near is None and not self._pending:
            self._put_alone(record_hash, app, record)
            return
        self._near = near
        self._pending.append((record_hash, app, self._raw, length))
        self._parts.append(record)
        self._raw += length
        self._expected += expected
        self._noise += length if is_noise else 0
        if self._raw >= FRAME_CLOSE or self._expected >= FRAME_STORED:
            self._close_frame()

    def _expects(self, record: bytes | memoryview) -> tuple[int, bool]:
        """Return the bytes that a record may come to, as the last ones did unless a look at it says that none goes."""
        if len(record) >= _SAMPLED:
            middle = len(record) // 2
            sample = bytes(record[middle : middle + _SAMPLE])
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
            self._write(POINTER.pack(start, len(data)))
            self._settle()
            self._write(self._hasher.digest() + END)
            self._settle()
            digest, size = self._stored() if self._stored is not None else (self._hasher.digest(), self._position)
            self._index = BundleIndex(run, digest, size)
        return self._index

    def _put_alone(self, record_hash: RecordHash, app: str, record: bytes | memoryview) -> None:
        """Write a frame of one record as it is: most frames of large files."""
        length = len(record)
        pieces = list(as_it_is((record,), length))
        size = sum(map(len, pieces))
        self._builder.add(record_hash, app, Location(None, self._position, size, length, 0, length))
        self._list.add(ListedFrame(size, length, False, (Row(record_hash.kind, app, length, record_hash.digest),)))
        for piece in pieces:
            self._write(piece)
        self._last = (size, length)
        self._frames += 1

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
            parts = [shortest(bytes(record)) for record in self._parts]
            short = shortened(parts)
            bodies = self._joined([part.body for part in parts]) if short else b""
            if short and bodies:
                is_whole = [part.is_whole for part in parts]
                pieces = [SHORT, short, self._smallest(bodies)]
            else:
                pieces = [self._smallest(self._joined(self._parts))]
        if self._near is not None and is_near:
            delta = _delta(self._joined(self._parts), self._near)
            if len(delta) < sum(map(len, pieces)):
                return [delta], is_whole, True
        return pieces, is_whole, False

    @staticmethod
    def _joined(parts: Sequence[bytes | memoryview]) -> bytes:
        # One large record is compressed as it is: joining would hold it twice.
        return bytes(parts[0]) if len(parts) == 1 else b"".join(parts)

    def _smallest(self, raw: bytes) -> bytes:
        stored = self._compressor.compress(raw)
        if len(stored) > len(raw) * _DENSE:
            stored = min(stored, self._fastest.compress(raw), key=len)
        return stored

    def _write(self, data: bytes | memoryview) -> None:
        self._position += len(data)
        end = self._filled + len(data)
        while end > BLOCK_BYTES:
            now = BLOCK_BYTES - self._filled
            self._room[self._filled :] = data[:now]
            data, end = memoryview(data)[now:], end - BLOCK_BYTES
            self._filled = BLOCK_BYTES
            self._flush()
        self._room[self._filled : end] = data
        self._filled = end

    def _flush(self) -> None:
        size, self._filled = self._filled, 0
        if self._behind is None:
            self._store(self._room[:size])
        else:
            self._behind.hand(self._store, size)
            self._room = self._behind.room

    def _store(self, data: memoryview) -> None:
        self._sink.write(bytes(data) if self._behind is None else data)  # a sink may keep what is no block
        self._hasher.update(data)

    def _settle(self) -> None:
        """Have all that was written so far digested and with the sink."""
        self._flush()
        if self._behind is not None:
            self._behind.wait()


def _compressor(level: int) -> zstandard.ZstdCompressor:
    """Return what compresses frames.

    For bytes between 128 and 256 KiB, as frames are, the quick level looks for matches of four bytes, and finds less in
    text than by what it does with more bytes.
    """
    if level != _QUICK:
        return zstandard.ZstdCompressor(level=level, write_content_size=True)
    large = zstandard.ZstdCompressionParameters.from_level(level, write_content_size=True)
    return zstandard.ZstdCompressor(compression_params=large)


def _delta(raw: bytes, near: Near) -> bytes:
    form, stored = encode(raw, near.prefix)
    if form != ZSTD or len(near.bases) > MAX_BASES or len(near.prefix) > MAX_PREFIX_BYTES:
        return raw + b" " * _SLACK  # longer than any other form
    names = b"".join(base.kind.encode() + base.digest for base in near.bases)
    return b"".join((DELTA, bytes([len(near.bases)]), names, stored))


def write_bundles(
    open_bundle: Callable[[], AbstractContextManager[BundleWriter]],
    records: Iterable[_Given],
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
