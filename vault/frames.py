"""Encodings below records: the bytes of some records as they are, compressed, or compressed against others' bytes.

The same encodings serve packs and bundles. Nobody is told of them: decoding gives the exact bytes back or fails, and
what was decoded is compared with the records' own hashes by whoever asked (architecture, Encodings; CLAY-37).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from threading import local
from types import ModuleType
from typing import TYPE_CHECKING, Final

from vault.errors import DataError

if TYPE_CHECKING:
    from zstandard import ZstdCompressor, ZstdDecompressor

__all__ = [
    "MAX_BASES",
    "MAX_DEPTH",
    "MAX_FRAME_BYTES",
    "MAX_PREFIX_BYTES",
    "RAW",
    "ZSTD",
    "BadFrame",
    "decode",
    "decode_beginning",
    "encode",
    "shown_form",
    "shown_length",
]

RAW: Final = 0
ZSTD: Final = 1
MAX_FRAME_BYTES: Final = 33 << 20  # raw: room for the largest record
MAX_PREFIX_BYTES: Final = 1 << 20
MAX_BASES: Final = 64  # records one frame may be compressed against
MAX_DEPTH: Final = 8  # frames read for one record: a frame's bases lie in frames that are less deep
_LEVEL: Final = 3  # of zstd
_BEGINNING: Final = bytes.fromhex("28b52ffd")  # of what zstd wrote; no record begins so
_BLOCK_HEAD: Final = 3  # bytes before each block of what zstd wrote: the last one, its kind, and its size (RFC 8878)
_REPEATED: Final = 1  # kind of a block that is one byte, however large
_SAMPLE: Final = 16 << 10  # bytes
_PAYS: Final = 0.95  # of the raw size; above, the bytes rest as they are
# A prefix as long as a megabyte needs this much hash table, or zstd silently finds nothing in it.
_HASH_LOG: Final = 20
_HASH_LOG_MIN: Final = 12
_WINDOW_LOG: Final = 21
_MAX_WINDOW_BYTES: Final = 1 << 26
_own = local()


class BadFrame(DataError):
    """A frame does not decode to what is said of it."""

    code = "frame-damaged"
    exit_code = 41
    hint = "Run: lace fsck --repair, and sync."


@cache
def _zstd() -> ModuleType:
    import zstandard  # three milliseconds that a vault of small records never needs

    return zstandard


def _compressor() -> ZstdCompressor:
    """Return this thread's compressor: to make one takes longer than to see that noise is noise."""
    found: ZstdCompressor | None = getattr(_own, "compressor", None)
    if found is None:
        found = _own.compressor = _zstd().ZstdCompressor(level=_LEVEL, write_content_size=True)
    return found


def _decompressor(prefix: bytes) -> ZstdDecompressor:
    """Return what decompresses what was compressed against these bytes; for none it is this thread's, as above."""
    found: ZstdDecompressor | None = getattr(_own, "decompressor", None)
    if prefix or found is None:
        zstandard = _zstd()
        base = zstandard.ZstdCompressionDict(prefix, dict_type=zstandard.DICT_TYPE_RAWCONTENT) if prefix else None
        found = zstandard.ZstdDecompressor(dict_data=base, max_window_size=_MAX_WINDOW_BYTES)
        if not prefix:
            _own.decompressor = found
    return found


def encode(data: bytes, prefix: bytes = b"") -> tuple[int, bytes]:
    """Return the form and the stored bytes of a frame: compressed only where that pays.

    Args:
        data: the raw bytes.
        prefix: bytes that a reader will have too, and that these are like.
    """
    zstandard = _zstd()
    if prefix:
        table = min(_HASH_LOG, max(_HASH_LOG_MIN, (len(prefix) + len(data)).bit_length()))  # small ones start sooner
        parameters = zstandard.ZstdCompressionParameters.from_level(
            _LEVEL, window_log=_WINDOW_LOG, hash_log=table, write_content_size=True
        )
        base = zstandard.ZstdCompressionDict(prefix, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
        stored = zstandard.ZstdCompressor(dict_data=base, compression_params=parameters).compress(data)
        return (ZSTD, stored) if len(stored) <= len(data) * _PAYS else (RAW, data)
    compressor = _compressor()
    if len(data) > 2 * _SAMPLE:
        middle = len(data) // 2
        sample = data[middle : middle + _SAMPLE]
        if len(compressor.compress(sample)) > len(sample) * _PAYS:
            return RAW, data
    stored = compressor.compress(data)
    return (ZSTD, stored) if len(stored) <= len(data) * _PAYS else (RAW, data)


def decode(form: int, stored: bytes, raw: int, prefix: bytes = b"") -> bytes:
    """Return the raw bytes of a frame.

    Args:
        form: `RAW` or `ZSTD`.
        stored: its bytes as they rest.
        raw: how many bytes it decodes to.
        prefix: what it was compressed against.

    Raises:
        BadFrame: it does not decode to exactly that many bytes; no more memory than that was taken.
    """
    if not 0 <= raw <= MAX_FRAME_BYTES or len(prefix) > MAX_PREFIX_BYTES:
        raise BadFrame("A frame is said to be larger than any frame may be.")
    if form == RAW:
        if len(stored) != raw:
            raise BadFrame(f"A frame has {len(stored)} bytes where {raw} are said.")
        return stored
    if form != ZSTD:
        raise BadFrame(f"A frame has the unknown form {form}.")
    zstandard = _zstd()
    try:
        if zstandard.frame_content_size(stored) != raw:
            raise BadFrame("A frame states another size than is said of it.")
        data: bytes = _decompressor(prefix).decompress(stored, max_output_size=raw, allow_extra_data=False)
    except zstandard.ZstdError as error:
        raise BadFrame(f"A frame does not decode: {error}.") from error
    if len(data) != raw:
        raise BadFrame("A frame decodes to another size than is said of it.")
    return data


def decode_beginning(form: int, stored: bytes, raw: int, prefix: bytes = b"") -> bytes:
    """Return the raw bytes of a frame before the place where it was cut off or rotted, unproven (APP-13).

    Args:
        form: `RAW` or `ZSTD`; of another nothing is returned.
        stored: what is left of its bytes as they rest.
        raw: how many bytes it decodes to where it is whole; no more are returned.
        prefix: what it was compressed against.
    """
    if not 0 <= raw <= MAX_FRAME_BYTES or len(prefix) > MAX_PREFIX_BYTES or form not in {RAW, ZSTD}:
        return b""
    if form == RAW:
        return stored[:raw]
    zstandard = _zstd()
    found = bytearray()
    # Block by block, since what fails gives nothing of the blocks that were handed over together with it.
    with suppress(zstandard.ZstdError):
        base = zstandard.ZstdCompressionDict(prefix, dict_type=zstandard.DICT_TYPE_RAWCONTENT) if prefix else None
        tool = zstandard.ZstdDecompressor(dict_data=base, max_window_size=_MAX_WINDOW_BYTES).decompressobj()
        begin = 0
        for end, _ in _blocks(stored):
            if len(found) >= raw or begin >= len(stored):
                break
            found += tool.decompress(stored[begin:end])
            begin = end
    return bytes(found[:raw])


def shown_form(stored: bytes) -> tuple[int, int]:
    """Return the form of a frame and how many bytes it decodes to, as its stored bytes show by themselves.

    Raises:
        BadFrame: they begin as compressed bytes do, and do not say their size.
    """
    if not stored.startswith(_BEGINNING):
        return RAW, len(stored)
    zstandard = _zstd()
    try:
        size = int(zstandard.frame_content_size(stored))
    except zstandard.ZstdError as error:
        raise BadFrame(f"A frame does not decode: {error}.") from error
    if not 0 <= size <= MAX_FRAME_BYTES:
        raise BadFrame("A frame does not say its size.")
    return ZSTD, size


def shown_length(stored: bytes) -> int:
    """Return how many of these bytes a compressed frame at their beginning takes, as its blocks show by themselves.

    Raises:
        BadFrame: none begins there, or it does not end within them.
    """
    zstandard = _zstd()
    try:
        tail = 4 if zstandard.get_frame_parameters(stored).has_checksum else 0
        at, is_last = 0, False
        for at, is_last in _blocks(stored):  # noqa: B007 - the last of them
            pass
    except zstandard.ZstdError as error:
        raise BadFrame(f"No frame begins here: {error}.") from error
    if not is_last or at + tail > len(stored):
        raise BadFrame("A frame does not end where its pack does.")
    return at + tail


def _blocks(stored: bytes) -> Iterator[tuple[int, bool]]:
    """Yield where each block ends of what zstd wrote, as its head says, and whether it is the last one."""
    at, is_last = int(_zstd().frame_header_size(stored)), False
    while not is_last and at + _BLOCK_HEAD <= len(stored):
        head = int.from_bytes(stored[at : at + _BLOCK_HEAD], "little")
        is_last = bool(head & 1)
        at += _BLOCK_HEAD + (1 if head >> 1 & 3 == _REPEATED else head >> 3)
        yield at, is_last
