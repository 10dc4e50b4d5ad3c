"""The bodies of all short records of one exchange as one zstd stream: each is compressed with what went before it.

Small files are like one another, and alone each has too little for a compressor to learn from. The stream is flushed
after each batch, so that what came before a cut is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO, Final, cast

import zstandard

from transports.bundles.short import read_parts, shortened, shortest
from transports.errors import BadStream
from vault.records.hashes import RecordHash

__all__ = ["SolidReader", "SolidWriter"]

_WINDOW_LOG: Final = 21  # 2 MiB of memory on either side
_LEVEL: Final = 5  # half as fast as the fastest, a sixth smaller, and still faster than most lines
_EMPTY_BLOCK: Final = bytes(3)
_MIN_MATCH: Final = 6  # shorter ones are found by chance in what is nearly noise, and cost more than they save


class SolidWriter:
    """Packs batches of records of one body."""

    def __init__(self) -> None:
        self._stream: zstandard.ZstdCompressionObj | None = None

    def packed(self, batch: Sequence[bytes]) -> tuple[bytes, bytes] | None:
        """Return a batch in two pieces; None when there is no record in it that can be short."""
        parts = [shortest(stored) for stored in batch]
        said = shortened(parts)
        bodies = b"".join([part.body for part in parts]) if said is not None else b""
        if said is None or not bodies:
            return None
        if self._stream is None:
            parameters = zstandard.ZstdCompressionParameters.from_level(
                _LEVEL, window_log=_WINDOW_LOG, min_match=_MIN_MATCH
            )
            self._stream = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
        return said, self._stream.compress(bodies) + self._stream.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)


class SolidReader:
    """Reads what a `SolidWriter` packed."""

    def __init__(self) -> None:
        self._input = _Input()
        self._stream: zstandard.ZstdDecompressionReader | None = None

    def unpacked(self, data: memoryview, limit: int) -> tuple[tuple[bytes, ...], tuple[RecordHash | None, ...]]:
        """Return the records of a batch, and the hash of each that was made anew.

        Args:
            data: as `SolidWriter` packed it.
            limit: bytes that they may have together.

        Raises:
            BadStream: it is no such batch; no more memory than the limit and the window was taken.
        """
        parts, rest = read_parts(data, BadStream, limit)
        if self._stream is None:
            unpacker = zstandard.ZstdDecompressor(max_window_size=1 << _WINDOW_LOG)
            self._stream = unpacker.stream_reader(cast(IO[bytes], self._input))
        self._input.piece = bytes(rest)
        try:
            bodies = self._stream.read(parts.body_bytes) if parts.body_bytes else b""
        except zstandard.ZstdError as error:
            raise BadStream("A batch of short records cannot be unpacked.") from error
        if len(bodies) != parts.body_bytes or self._input.piece:
            raise BadStream("A batch of short records holds another number of bytes than it says.")
        made = list(parts.all(memoryview(bodies)))
        return tuple(record for record, _ in made), tuple(hash_ for _, hash_ in made)

    def end(self) -> None:
        """Make sure that nothing is left.

        Raises:
            BadStream: a batch held more than its records.
        """
        self._input.is_at_end = True
        self._input.piece = _EMPTY_BLOCK  # what the decompressor still holds comes out with the next block only
        try:
            is_left = self._stream is not None and bool(self._stream.read(1))
        except zstandard.ZstdError:
            is_left = True
        if is_left:
            raise BadStream("A batch of short records holds more than it says.")


class _Input:
    """Gives the decompressor one piece at a time."""

    def __init__(self) -> None:
        self.piece = b""
        self.is_at_end = False

    def read(self, size: int, /) -> bytes:
        """Return up to so many bytes of the piece."""
        if not self.piece and not self.is_at_end:
            raise BadStream("A batch of short records ends too early.")
        part, self.piece = self.piece[:size], self.piece[size:]
        return part
