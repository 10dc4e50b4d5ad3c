"""Writing bundles, front to back, so that any sink will do (docs/formats.md section 3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

import zstandard
from blake3 import blake3

from transports.bundles.bundle import DELTA, END, MAGIC, POINTER, SHORT, BundleIndex, Near
from transports.bundles.contents import BundleList, ListedFrame, Row
from transports.bundles.noise import as_it_is
from transports.bundles.short import Part, shortened, shortest
from transports.errors import BadBundle
from transports.index.merging import MAX_RUN_ENTRIES
from transports.index.runs import ENTRY, Location, RunBuilder
from transports.layout import BUNDLE_LIMIT, FRAME_CLOSE, FRAME_FULL, FRAME_RAW_LIMIT, FRAME_STORED
from vault.frames import MAX_BASES, MAX_PREFIX_BYTES, ZSTD, encode
from vault.records.hashes import MARKLINE_BYTES, RecordHash, is_record
from vault.write_behind import BLOCK_BYTES, WriteBehind

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

__all__ = ["BundleWriter", "ByteSink", "Given", "write_bundles"]

_SAMPLED, _SAMPLE = 4096, 2048  # bytes of records that are looked at, the smallest chunks too, and how much of them
_FRAME_LINE = 48  # bytes that a row of the frame table takes at most
_SLACK = 64 * 1024  # bytes: App table, footer, zstd's own headers
_QUICK = 3  # the level where nobody waits for a slow road
_DENSE = 0.47  # of the raw bytes: above, a level that looks for less may find more
_THREAD_AFTER = 8  # frames: what is less is compressed where it is made
_BESIDE = 1 << 20  # raw bytes of a frame that waits while the next one is filled; a large one is not held twice
_Bytes = bytes | memoryview
Given = tuple[RecordHash, str, _Bytes | None] | tuple[RecordHash, str, _Bytes | None, Near | None]
"""A record to be written: hash, App, stored bytes, which are None where they are not its own, and what it is near."""


class ByteSink(Protocol):
    """What a bundle is written to."""

    def write(self, data: bytes | memoryview, /) -> object:
        """Take all of the bytes or raise; a view changes afterwards."""


@dataclass(slots=True, eq=False, repr=False)
class _Frame:
    """The frame that is being filled, and then the one whose stored bytes are being made.

    Attributes:
        rows: hash, App, offset and bytes of each record.
        parts: their bytes, until it is closed.
        shorts: the shortest form of each, as far as it is known, until it is closed.
        raw: bytes of all of them.
        expected: how many they may come to.
        noise: how many of them no compressor makes less of.
        near: what they are like.
        is_whole: of each record, whether it is whole in the frame's own bytes.
    """

    rows: list[tuple[RecordHash, str, int, int]] = field(default_factory=list)
    parts: list[bytes | memoryview] = field(default_factory=list)
    shorts: list[Part | None] = field(default_factory=list)
    raw: int = 0
    expected: int = 0
    noise: int = 0
    near: Near | None = None
    is_whole: list[bool] = field(default_factory=list)

    @property
    def is_noise(self) -> bool:
        """Tell whether it is stored as it is."""
        return self.noise * 20 >= self.raw * 19

    @property
    def is_held(self) -> bool:
        """Tell whether it is written before the next one is filled: its bytes are many, or those of the records."""
        return self.raw > _BESIDE or self.is_noise


class BundleWriter:
    """Writes one bundle to a sink, front to back, holding two frames in memory and what waits to be written.

    Args:
        sink: where the bytes go.
        level: zstd level, 1 to 19.
        limit: bytes the file may reach.
        stored: ends the sink and returns digest and size of the file that came of it, where it is not these bytes.
        behind: writes and digests while more is being made; whoever gives it ends it before the sink.

    Attributes:
        beside: compresses a frame while the next one is being filled; one thread, which the caller ends. The bytes are
            the same with it and without.
    """

    def __init__(
        self,
        sink: ByteSink,
        *,
        level: int = _QUICK,
        limit: int = BUNDLE_LIMIT,
        stored: Callable[[], tuple[bytes, int]] | None = None,
        behind: WriteBehind | None = None,
    ) -> None:
        self._sink = sink
        self._behind = behind
        self._room = behind.room if behind is not None else memoryview(bytearray(BLOCK_BYTES))
        self._filled = 0  # bytes of it
        self._stored = stored
        self._limit = limit
        self.beside: Executor | None = None
        self._compressor = _compressor(level)
        self._taster = _compressor(level)  # a compressor serves one thread
        self._fastest = zstandard.ZstdCompressor(level=1, write_content_size=True)
        self._hasher = blake3()
        self._position = 0
        self._frame = _Frame()
        self._group: bytes | None = None  # of the short records
        self._made: tuple[_Frame, _Stored | Future[_Stored]] | None = None  # the frame before, not written yet
        self.frames = 0
        self._last = (1, 2)  # stored and raw bytes of the last frame that was written
        self._builder = RunBuilder()
        self._count = 0  # of records
        self._list = BundleList()
        self._index: BundleIndex | None = None
        self._write(MAGIC)

    def __len__(self) -> int:
        return self._count

    def has_room(self, length: int) -> bool:
        """Return whether a record of this many bytes certainly fits; an empty bundle takes any record."""
        count = self._count
        if not count:
            return True
        raw = self._frame.raw + length + (self._made[0].raw if self._made else 0)
        index = (count + 1) * ENTRY.size + (self.frames + 2) * _FRAME_LINE + _SLACK
        return count < MAX_RUN_ENTRIES and self._position + raw + raw // 128 + index <= self._limit

    def add(self, record_hash: RecordHash, app: str, record: bytes | memoryview, near: Near | None = None) -> bool:
        """Append a stored record; return False and leave it out where the bytes are not that record's (REC-5).

        Args:
            record_hash: its hash.
            app: its App value.
            record: its stored bytes, which were valid once; those of 4 KiB or more were proven as they were read.
            near: records in reach of every reader that its bytes are like.

        Raises:
            BadBundle: it is finished, or the bytes are none or too many.
        """
        if self._index is not None:
            raise BadBundle("A finished bundle takes no more records.")
        length = len(record)
        if not record or length > FRAME_RAW_LIMIT:
            raise BadBundle(f"The bytes given for {record_hash.text} are none, or too many.")
        short = shortest(bytes(record)) if length < _SAMPLED else None
        # The name of a short one is the digest of its body, and was compared with it; what else rotted there does not
        # travel. To hash all of it once more would take a tenth of the time that a first visit takes.
        is_proven = short is None or (short.group == self._group and short.body)
        if record[:MARKLINE_BYTES] != record_hash.markline or not (
            is_proven or self._proves(record_hash, record, short)
        ):
            return False
        self._count += 1
        expected, is_noise = self._expects(record)
        frame = self._frame
        is_much = frame.raw + length > FRAME_RAW_LIMIT or frame.expected + expected > FRAME_FULL
        if is_much or (frame.rows and near != frame.near):
            self._close_frame()
            frame = self._frame
        if is_noise and length >= FRAME_STORED and near is None and not frame.rows:
            self._put_alone(record_hash, app, record)
            return True
        frame.near = near
        frame.rows.append((record_hash, app, frame.raw, length))
        frame.parts.append(record)
        frame.shorts.append(short)
        frame.raw += length
        frame.expected += expected
        frame.noise += length if is_noise else 0
        if frame.raw >= FRAME_CLOSE or frame.expected >= FRAME_STORED:
            self._close_frame()
        return True

    def _proves(self, record_hash: RecordHash, record: bytes | memoryview, short: Part | None) -> bool:
        """Tell whether bytes are a record's own still, and take from one that is what the group of short ones is."""
        is_own = is_record(record_hash, record)
        if is_own and short is not None and not short.is_whole:
            self._group = short.group
        return is_own

    def _expects(self, record: bytes | memoryview) -> tuple[int, bool]:
        """Return the bytes that a record may come to, as the last ones did unless a look at it says that none goes."""
        if len(record) >= _SAMPLED:
            middle = len(record) // 2
            sample = bytes(record[middle : middle + _SAMPLE])
            # Of ASCII an eighth goes in any case, and most small files are text: they need no second compressing.
            if not sample.isascii() and len(self._taster.compress(sample)) * 10 > len(sample) * 9:
                return len(record), True
        stored, raw = self._last
        return len(record) * stored // raw, False

    def finish(self) -> BundleIndex:
        """Write the index and the footer and return what the bundle holds; a second call returns the same."""
        if self._index is None:
            self._close_frame()
            self._put_made()
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
        self._put_made()
        length = len(record)
        pieces = list(as_it_is((record,), length))
        size = sum(map(len, pieces))
        self._builder.add(record_hash, app, Location(None, self._position, size, length, 0, length))
        self._list.add(
            ListedFrame(size, length, is_named=False, rows=(Row(record_hash.kind, app, length, record_hash.digest),))
        )
        for piece in pieces:
            self._write(piece)
        self._last = (size, length)
        self.frames += 1

    def _close_frame(self) -> None:
        frame, self._frame = self._frame, _Frame()
        if not frame.rows:
            return
        self._put_made()
        self.frames += 1
        self._made = frame, self._packed(frame)
        if frame.is_held or self.frames == 1:  # the first one shows how well these records compress
            self._put_made()

    def _put_made(self) -> None:
        """Write the frame before, whose stored bytes are made by now or waited for."""
        if self._made is None:
            return
        (frame, made), self._made = self._made, None
        stored = made if isinstance(made, _Stored) else made.result()
        size = sum(map(len, stored.pieces))
        self._builder.add_frame((None, self._position, size, frame.raw), frame.rows)
        rows = (
            Row(record.kind, app, length, record.digest)
            for (record, app, _, length), whole in zip(frame.rows, frame.is_whole, strict=True)
            if whole or stored.is_delta
        )
        self._list.add(ListedFrame(size, frame.raw, stored.is_delta, tuple(rows)))
        for piece in stored.pieces:
            self._write(piece)
        self._last = (size, frame.raw)

    def _packed(self, frame: _Frame) -> _Stored | Future[_Stored]:
        """Return the frame's stored bytes, or who makes them; note of each record whether it is whole there."""
        parts, frame.parts = frame.parts, []
        known, frame.shorts = frame.shorts, []
        frame.is_whole = [True] * len(parts)
        near = frame.near if frame.near is not None and frame.near.bases else None
        if frame.is_noise or near is not None:
            parts = _made_anew(parts, known)
        whole = _joined(parts) if near is not None else b""
        if frame.is_noise:
            stored = _Stored(list(as_it_is(parts, frame.raw)))
            return stored if near is None else _or_delta(stored, whole, near)
        shorts = [each for each in known if each is not None]
        if len(shorts) < len(parts):
            shorts = [each or shortest(bytes(record)) for each, record in zip(known, parts, strict=True)]
        short = shortened(shorts)
        bodies = _joined([part.body for part in shorts]) if short else b""
        head: list[bytes] = []
        if short and bodies:
            head = [SHORT, short]
            frame.is_whole = [part.is_whole for part in shorts]
        else:
            bodies = whole or _joined(_made_anew(parts, shorts))
        if self.beside is None or frame.is_held:
            return self._compressed(head, bodies, whole, near)
        return self.beside.submit(self._compressed, head, bodies, whole, near)

    def _compressed(self, head: list[bytes], bodies: bytes, whole: bytes, near: Near | None) -> _Stored:
        stored = _Stored([*head, self._smallest(bodies)])
        return stored if near is None else _or_delta(stored, whole, near)

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


class _Stored(NamedTuple):
    """A frame's stored bytes, and whether they rest on other records."""

    pieces: list[bytes | memoryview]
    is_delta: bool = False


def _made_anew(parts: list[bytes | memoryview], known: Sequence[Part | None]) -> list[bytes | memoryview]:
    """Return records that travel whole: of a short one no more than what it is made of was proven."""
    return [part if short is None or short.is_whole else short.made() for part, short in zip(parts, known, strict=True)]


def _joined(parts: Sequence[bytes | memoryview]) -> bytes:
    # One large record is compressed as it is: joining would hold it twice.
    return bytes(parts[0]) if len(parts) == 1 else b"".join(parts)


def _or_delta(stored: _Stored, whole: bytes, near: Near) -> _Stored:
    """Return a frame's bytes as a difference from what they are like, where that is shorter."""
    delta = _delta(whole, near)
    return _Stored([delta], is_delta=True) if len(delta) < sum(map(len, stored.pieces)) else stored


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


def _one_thread() -> Executor:
    from concurrent.futures import ThreadPoolExecutor  # only much content needs it

    return ThreadPoolExecutor(1, thread_name_prefix="lace-frames")


def write_bundles(
    open_bundle: Callable[[], AbstractContextManager[BundleWriter]],
    records: Iterable[Given],
    damaged: set[RecordHash],
) -> list[BundleIndex]:
    """Write records into as many bundles as their limit demands; no records, no bundle.

    Args:
        open_bundle: begins a bundle; leaving its context finishes it.
        records: see `Given`.
        damaged: takes the names of those that are left out, for the bytes are not theirs.

    Raises:
        BadBundle: a record has no bytes, or too many.
        PlaceError: the medium refuses.
    """
    done: list[BundleIndex] = []
    writer: BundleWriter | None = None
    pool: Executor | None = None
    with ExitStack() as thread, ExitStack() as stack:
        for record_hash, app, record, *near in records:
            if record is None or (record and writer is None and not is_record(record_hash, record)):
                damaged.add(record_hash)  # and no bundle is begun for it
                continue
            if writer is not None and not writer.has_room(len(record)):
                done.append(writer.finish())
                stack.pop_all().close()
                writer = None
            if writer is None:
                writer = stack.enter_context(open_bundle())
            if not writer.add(record_hash, app, record, near[0] if near else None):
                damaged.add(record_hash)
            if writer.frames > _THREAD_AFTER and writer.beside is None:
                writer.beside = pool = pool or thread.enter_context(_one_thread())
        if writer is not None:
            done.append(writer.finish())
    return done
