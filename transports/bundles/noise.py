"""zstd frames that hold bytes as they are, for what no compressor makes less of (RFC 8878, raw blocks).

Any reader of zstd understands them; making and reading them costs nothing but copies.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

__all__ = ["as_it_is", "within"]

_ZSTD_HEAD = b"\x28\xb5\x2f\xfd\xa0"  # magic; one segment, four bytes of size follow
_ZSTD_BLOCK = 128 * 1024  # bytes
_BLOCK_HEAD_BYTES = 3
_HEAD_BYTES = len(_ZSTD_HEAD) + 4 + _BLOCK_HEAD_BYTES


def as_it_is(parts: Sequence[bytes | memoryview], size: int) -> Iterator[bytes | memoryview]:
    """Yield the pieces of a frame that holds these parts of so many bytes, one after the other."""
    head = _ZSTD_HEAD + size.to_bytes(4, "little")
    if size <= _ZSTD_BLOCK:
        yield head + _block_head(size, is_last=True)
        yield from parts
        return
    yield head
    raw = memoryview(parts[0] if len(parts) == 1 else b"".join(parts))
    for at in range(0, size, _ZSTD_BLOCK):
        block = raw[at : at + _ZSTD_BLOCK]
        yield _block_head(len(block), is_last=at + _ZSTD_BLOCK >= size)
        yield block


def _block_head(size: int, *, is_last: bool) -> bytes:
    return (size << 3 | is_last).to_bytes(_BLOCK_HEAD_BYTES, "little")


def within(data: memoryview) -> memoryview | None:
    """Return what a zstd frame holds as it is, in one block; None for every other frame, which zstd itself judges."""
    size = len(data) - _HEAD_BYTES
    if not 0 < size <= _ZSTD_BLOCK:
        return None
    head = _ZSTD_HEAD + size.to_bytes(4, "little") + _block_head(size, is_last=True)
    return data[_HEAD_BYTES:] if data[:_HEAD_BYTES] == head else None
