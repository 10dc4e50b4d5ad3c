"""What travels in one body of a live exchange: framed, bounded, and known to be whole (decision 7; docs/formats.md).

Each frame is a letter, a length and so many bytes. Records come in small batches, each followed by the position that
everything before it reaches, so that a cut costs less than one batch. The last frame is a digest of all before it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from typing import NamedTuple, Protocol

import zstandard
from blake3 import blake3

from transports.bundles.noise import as_it_is, within
from transports.errors import BadStream
from transports.http.solid import SolidReader, SolidWriter
from vault.records.hashes import DIGEST_BYTES, RecordHash

__all__ = ["BATCH_BYTES", "Frame", "FrameKind", "Source", "StreamReader", "StreamWriter"]

BATCH_BYTES = 64 * 1024  # of records that go together; a single record may have more
_RECORD_LIMIT = (1 << 20) + 64 * 1024  # bytes of one stored record
_RAW_LIMIT = BATCH_BYTES + _RECORD_LIMIT + 4096  # bytes of a frame of records, unpacked
_FRAME_LIMIT = 2 << 20  # bytes of one frame
_INFO_LIMIT = 1 << 20  # bytes
_TIER_BYTES = 512 * 1024  # of an answer in tiers that go into one frame
_HEADER = struct.Struct(">cI")
_LENGTH = struct.Struct(">I")
_POSITION = struct.Struct(">Q8s")
_POSITION_LIMIT = 1 << 60  # a log never comes near it, and no store keeps a larger number than 2^63
_NAME_BYTES = 1 + DIGEST_BYTES
_NAMES_A_FRAME = 4096
_LEVEL = 1  # of zstd: content is compressed or noise already, and a slow road is a reader's, not the server's

_SAMPLE = 2048  # bytes
_PAYS = 0.95  # of the raw size

# Frames are gathered to so many bytes on either side: to hash them in one go costs a third less than one by one. BLAKE3
# takes 16 chunks of 1 KiB at a time where it begins at such a step of them: cut anywhere, they cost a fifth more.
_TOGETHER = 256 * 1024
_HASH_STEP = 16 * 1024


# What every standing says, as a dictionary for zstd (raw content): what is said most stands last.
_WORDS = zstandard.ZstdCompressionDict(
    b'"as_of":["","asks_hints":true"hints":"true"beacon":""received":0,"refused":[]}'
    b'.H3",1,"",0],["V..H3",0,"",0]],"unreleased":0,"here":["{"v":0,"plan":"E.",'
    b'"operand":"R.7XsJTHMK5zwE6_TcMTmPDxA0RqsZ0Xo2zuodOium2mx","facet":"selector",'
    b'"hello":["HelloSigner(\'V..H3\')","HelloTAI(\'17:\')","HelloTickInterval(\'10000000000\')",'
    b"\"HelloRecordFormat('H3')\",\"HelloAdvertisedField('App')\","
    b"\"HelloLimit('max_advertisement_records','100000')\",\"HelloLimit('max_fact_block_bytes','67108864')\","
    b"\"HelloLimit('max_loop_iterations','16')\",\"HelloLimit('max_narrowing_depth','12')\","
    b"\"HelloLimit('max_partition_summaries','16384')\",\"HelloLimit('max_total_transferred_bytes','1073741824')\","
    b"\"HelloLimit('phase_timeout_seconds','30')\"],"
    b'"vector":[["V.","unreleased":null,"here":["",,""],"cursor":["",0,""],"after":null,'
    b'"lists":false,"quiet":false,"tiers":1}',
    dict_type=zstandard.DICT_TYPE_RAWCONTENT,
)
_SHORT_INFO = b"j"  # an info that is packed with these words
_KNOWN_INFO = b"k"  # one that is packed with them and what both sides know already
_PACKED_INFOS = frozenset({_SHORT_INFO, _KNOWN_INFO})
_KNOWN_LEVEL = 9  # of zstd: an info is small, and each of its bytes travels at every visit


class FrameKind(Enum):
    """The letters."""

    INFO = b"i"  # who I am and where I stand: JSON, first of every body
    RECORDS = b"r"  # stored records, compressed
    SHORT = b"s"  # records without what follows from the rest, in one zstd stream; read as RECORDS
    REACHED = b"c"  # the position that is reached with all before
    NAMES = b"n"  # names of records: listed by a server, wanted by a client
    TIER = b"t"  # what lies where the two sides differ: asked for by a client, answered by a server
    REQUEST = b"q"  # a sealed request to be let in, passed on to members
    OUTCOME = b"o"  # what became of records that were sent: JSON
    END = b"e"  # BLAKE3 of all before


class Frame(NamedTuple):
    """One frame, read and checked.

    Args:
        kind: its letter.
        data: bytes of an info, outcome, tier or request; the mark of a position.
        records: of a batch.
        hashes: of each of them, None where it was not computed; none at all where none was.
        names: of a list.
        position: reached.
    """

    kind: FrameKind
    data: bytes = b""
    records: tuple[bytes, ...] = ()
    hashes: tuple[RecordHash | None, ...] = ()
    names: tuple[RecordHash, ...] = ()
    position: int = 0


_SHORTER = frozenset({FrameKind.INFO, FrameKind.OUTCOME, FrameKind.REQUEST})
# What each letter begins, and how many bytes that may have.
_KINDS = {kind.value: (kind, _INFO_LIMIT if kind in _SHORTER else _FRAME_LIMIT) for kind in FrameKind} | dict.fromkeys(
    _PACKED_INFOS, (FrameKind.INFO, _INFO_LIMIT)
)


class Source(Protocol):
    """Bytes that come in."""

    def read(self, size: int, /) -> bytes:
        """Return at most so many bytes; none at the end."""

    def readinto(self, buffer: memoryview, /) -> int:
        """Put what is there, at most so many bytes, where it shall be and return how many; 0 at the end.

        It waits for the first of them only.
        """


class StreamWriter:
    """Makes frames; they are let go of some at a time, and the last of them at the `end`.

    Args:
        write: takes the bytes, in pieces of any size above none.
        knows_words: whether the reader knows the words of standings, which halves them.
        shared: what the reader knows besides, byte for byte, and packs with the words; empty for nothing.
        takes_short: whether the reader makes records anew of their bodies.
    """

    def __init__(
        self,
        write: Callable[[bytes], object],
        *,
        knows_words: bool = False,
        shared: bytes = b"",
        takes_short: bool = False,
    ) -> None:
        self._write = write
        self._knows_words = knows_words
        self._shared = shared
        self._solid = SolidWriter() if takes_short else None
        self._hasher = blake3()
        self._parts: list[bytes | memoryview] = []
        self._size = 0
        self._compress = zstandard.ZstdCompressor(level=_LEVEL, write_content_size=True).compress

    def info(self, data: bytes) -> None:
        """Say who I am and where I stand."""
        if self._shared:
            words = _known(self._shared)
            # With a checksum: other words than the writer's would give another text, and no error.
            packer = zstandard.ZstdCompressor(
                level=_KNOWN_LEVEL, write_content_size=True, write_checksum=True, dict_data=words
            )
            self._framed(_KNOWN_INFO, packer.compress(data))
        elif self._knows_words:
            packer = zstandard.ZstdCompressor(level=_LEVEL, write_content_size=True, dict_data=_WORDS)
            self._framed(_SHORT_INFO, packer.compress(data))
        else:
            self._frame(FrameKind.INFO, self._compress(data))

    def outcome(self, data: bytes) -> None:
        """Say what became of what was sent."""
        self._frame(FrameKind.OUTCOME, self._compress(data))

    def records(self, batch: Sequence[bytes | memoryview]) -> None:
        """Send stored records."""
        parts: list[bytes | memoryview] = []
        size = 0
        for stored in batch:
            parts += _LENGTH.pack(len(stored)), stored
            size += _LENGTH.size + len(stored)
        if self._pays(batch, size):
            short = self._solid.packed([bytes(stored) for stored in batch]) if self._solid is not None else None
            if short is not None:
                self._frame(FrameKind.SHORT, *short)
                return
            self._frame(FrameKind.RECORDS, self._compress(b"".join(parts)))
        else:
            self._frame(FrameKind.RECORDS, *as_it_is(parts, size))

    def reached(self, position: int, mark: bytes) -> None:
        """Say that everything up to a position has been sent, and what record stands there."""
        self._frame(FrameKind.REACHED, _POSITION.pack(position, mark))

    def request(self, record: bytes) -> None:
        """Pass on somebody's request to be let in."""
        self._frame(FrameKind.REQUEST, self._compress(record))

    def tier(self, data: bytes) -> None:
        """Ask where the two sides differ, or answer it; cut into frames where it is long."""
        for at in range(0, len(data), _TIER_BYTES):
            self._frame(FrameKind.TIER, self._compress(data[at : at + _TIER_BYTES]))

    def names(self, names: Iterable[RecordHash]) -> None:
        """Name records."""
        part: list[bytes] = []
        for name in names:
            part.append(name.kind.encode() + name.digest)
            if len(part) == _NAMES_A_FRAME:
                self._frame(FrameKind.NAMES, b"".join(part))
                part = []
        if part:
            self._frame(FrameKind.NAMES, b"".join(part))

    def end(self) -> None:
        """Finish the body."""
        self._let_go()
        self._frame(FrameKind.END, self._hasher.digest())
        self._let_go()

    def _frame(self, kind: FrameKind, *data: bytes | memoryview) -> None:
        self._framed(kind.value, *data)

    def _framed(self, letter: bytes, *data: bytes | memoryview) -> None:
        size = sum(map(len, data))
        parts = (_HEADER.pack(letter, size), *data)
        size += _HEADER.size
        if self._size + size < _TOGETHER:
            self._parts += parts
            self._size += size
        else:
            self._cut(parts)

    def _cut(self, parts: Iterable[bytes | memoryview]) -> None:
        """Take parts of which some are let go, each time as many bytes as are hashed best."""
        for part in parts:
            left = memoryview(part)
            while self._size + len(left) >= _TOGETHER:
                room = _TOGETHER - self._size
                self._parts.append(left[:room])
                left = left[room:]
                self._let_go()
            self._parts.append(left)
            self._size += len(left)

    def _let_go(self) -> None:
        # The only copy of all that travels: hashing and writing piece by piece would cost more.
        together = b"".join(self._parts)
        self._parts, self._size = [], 0
        if together:
            self._hasher.update(together)
            self._write(together)

    def _pays(self, batch: Sequence[bytes | memoryview], size: int) -> bool:
        """Whether compressing is worth it: a sample of a large batch tells noise from the rest."""
        if size < 4 * _SAMPLE:
            return True
        largest = max(batch, key=len)
        middle = max(len(largest) - _SAMPLE, 0) // 2
        sample = largest[middle : middle + _SAMPLE]
        return len(self._compress(sample)) < _PAYS * len(sample)


class StreamReader:
    """Reads frames from a body that nobody vouches for.

    Args:
        source: the bytes.
        shared: what the writer and I both know, as `StreamWriter` takes it; empty where nothing was agreed on.
    """

    def __init__(self, source: Source, *, shared: bytes = b"") -> None:
        self._source = source
        self._shared = shared
        self._hasher = blake3()
        self._room = memoryview(bytearray(_TOGETHER))  # frames lie here one after the other, to be hashed together
        self._at = self._end = 0  # in that room: taken and come up to there
        self._hashed = 0  # bytes before that room
        self._decompress = zstandard.ZstdDecompressor(max_window_size=1 << 27)
        self._solid = SolidReader()

    def __iter__(self) -> Iterator[Frame]:
        """Yield every frame but the last, which is checked.

        Raises:
            BadStream: a frame breaks the format, or the body ends early or late.
        """
        while True:
            letter, size = _HEADER.unpack(self._take(_HEADER.size))
            kind, limit = _KINDS.get(letter, (None, 0))
            if kind is None:
                raise BadStream("A frame is of an unknown kind.")
            if size > limit:
                raise BadStream(f"A frame of {size} bytes is longer than one may be.")
            if kind is FrameKind.END:
                self._at -= _HEADER.size
                self._hash(self._at)
                self._at = _HEADER.size
                self._solid.end()
                self._check_end(size)
                return
            data = self._take(size)
            yield self._packed_info(letter, data) if letter in _PACKED_INFOS else self._frame(kind, data)

    def _check_end(self, size: int) -> None:
        digest = self._hasher.digest()
        if size != len(digest) or self._take(size) != digest or self._at < self._end or self._source.read(1):
            raise BadStream("The body is not what was sent.")

    def _hash(self, size: int) -> None:
        """Hash so many of the bytes that were taken, and begin after them at the front again."""
        self._hasher.update(self._room[:size])
        self._hashed += size
        left = self._end - size
        self._room[:left] = self._room[size : self._end]
        self._at, self._end = self._at - size, left

    def _packed_info(self, letter: bytes, data: memoryview) -> Frame:
        if letter == _KNOWN_INFO and not self._shared:
            raise BadStream("A frame rests on what was not said here.")
        words = _WORDS if letter == _SHORT_INFO else _known(self._shared)
        return Frame(FrameKind.INFO, self._unpacked(data, _INFO_LIMIT, zstandard.ZstdDecompressor(dict_data=words)))

    def _frame(self, kind: FrameKind, data: memoryview) -> Frame:
        if kind is FrameKind.RECORDS:
            return Frame(kind, records=self._records(data))
        if kind is FrameKind.SHORT:
            records, hashes = self._solid.unpacked(data, _RAW_LIMIT)
            return Frame(FrameKind.RECORDS, records=records, hashes=hashes)
        if kind is FrameKind.NAMES:
            return Frame(kind, names=_names(bytes(data)))
        if kind is FrameKind.REACHED:
            if len(data) != _POSITION.size:
                raise BadStream("A position has another length than positions have.")
            position, mark = _POSITION.unpack(data)
            if position >= _POSITION_LIMIT:
                raise BadStream("A position is beyond all that a log can reach.")
            return Frame(kind, mark, position=position)
        return Frame(kind, self._unpacked(data, _INFO_LIMIT))

    def _take(self, size: int) -> memoryview:
        """Return the next bytes, which are counted for the digest; they hold until more are taken."""
        if self._at + size > _TOGETHER:
            if size > _TOGETHER - _HASH_STEP:
                self._hash(self._at)
                return self._alone(size)
            self._hash(max(0, self._at - (self._hashed + self._at) % _HASH_STEP))
        at, self._at = self._at, self._at + size
        while self._end < self._at:
            self._end += self._come(self._room[self._end :])
        return self._room[at : self._at]

    def _alone(self, size: int) -> memoryview:
        """Return the next bytes, which are too many for the room."""
        alone, came = memoryview(bytearray(size)), self._end
        alone[:came] = self._room[:came]
        self._end = 0
        while came < size:
            came += self._come(alone[came:])
        self._hasher.update(alone)
        self._hashed += size
        return alone

    def _come(self, room: memoryview) -> int:
        """Let some bytes come; whoever waited for as many as there is room for would lose what came before a cut."""
        came = self._source.readinto(room)
        if not came:
            raise BadStream("The body ends in the middle.")
        return came

    def _unpacked(self, data: memoryview, limit: int, unpacker: zstandard.ZstdDecompressor | None = None) -> bytes:
        try:
            size = zstandard.get_frame_parameters(data).content_size
            if not 0 < size <= limit:  # unknown sizes are far above
                raise BadStream("A frame holds more than it may, or nothing.")
            raw = (unpacker or self._decompress).decompress(data, max_output_size=size)
        except zstandard.ZstdError as error:
            raise BadStream("A frame cannot be unpacked.") from error
        if len(raw) != size:
            raise BadStream("A frame holds another number of bytes than it says.")
        return raw

    def _records(self, data: memoryview) -> tuple[bytes, ...]:
        raw = within(data)
        if raw is None:
            raw = memoryview(self._unpacked(data, _RAW_LIMIT))
        size = len(raw)
        found, at = [], 0
        while at < size:
            end = at + _LENGTH.size
            length = _LENGTH.unpack_from(raw, at)[0] if end <= size else _RAW_LIMIT
            if not 0 < length <= min(_RECORD_LIMIT, size - end):
                raise BadStream("A record is longer than its batch, or than a record may be.")
            found.append(raw[end : end + length].tobytes())
            at = end + length
        return tuple(found)


def _known(shared: bytes) -> zstandard.ZstdCompressionDict:
    return zstandard.ZstdCompressionDict(_WORDS.as_bytes() + shared, dict_type=zstandard.DICT_TYPE_RAWCONTENT)


def _names(data: bytes) -> tuple[RecordHash, ...]:
    if not data or len(data) % _NAME_BYTES or len(data) > _NAMES_A_FRAME * _NAME_BYTES:
        raise BadStream("A list of names has another length than such lists have.")
    found = []
    for at in range(0, len(data), _NAME_BYTES):
        kind = data[at : at + 1]
        if kind not in {b"S", b"P"}:
            raise BadStream("A list names something that is not a record.")
        found.append(RecordHash(kind.decode(), data[at + 1 : at + _NAME_BYTES]))
    return tuple(found)
