"""Streams of stored records: one after the other, from any binary file object, in bounded memory.

`iter_records` gives the records themselves and holds one at a time. `iter_verdicts` judges without keeping
the data: the digests of Seal, Plex and Blob run over the same pieces at once, so 32 MiB cost no more memory
than 32 bytes.

After a record that is not valid, `iter_verdicts` goes on where the next one must start, if that is known: the
head could be read, so the length is known; or the head breaks a rule, but the embedded Blob at its end is
whole and has the digest it claims, which proves its length. Otherwise it stops, and the last verdict says so.
It never searches for a markline, because Blob data may hold any bytes, whole records too (REC-28).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple, Protocol

from blake3 import blake3

from vault.records.errors import BlobTooLargeError, DataTruncatedError, RecordError
from vault.records.head import BLANK, MAX_HEAD_BYTES, Head, build, judge, read_head
from vault.records.model import MAX_BLOB_BYTES, Record

__all__ = ["Readable", "Verdict", "iter_records", "iter_verdicts"]

_PIECE = 256 * 1024  # bytes asked of the file at once; large enough for BLAKE3, small beside the memory limit
_CLAIM = re.compile(r"🖧: (([BPS])\.[0-9A-Z_a-z~]{43}\.H3)\n".encode())
_EMBEDDED = re.compile(r"\n🖧: B\.[0-9A-Z_a-z~]{43}\.H3\nData-Length: (?:0|[1-9][0-9]{0,8})\n\n\Z".encode())


class Readable(Protocol):
    """A binary file object: `read(n)` returns at most n bytes, and none only at the end."""

    def read(self, size: int, /) -> bytes:
        """Return at most `size` bytes; empty at the end."""


class Verdict(NamedTuple):
    """What was found about one record of a stream.

    Args:
        hash: the hash text its markline claims; empty if there is none.
        type: "B", "P" or "S" as claimed; empty if there is none.
        offset: where it starts in the stream, in bytes.
        length: how many bytes of the stream were judged.
        error: why it is not valid; None if it is.
        stopped: the stream cannot be read on from here.
    """

    hash: str
    type: str
    offset: int
    length: int
    error: RecordError | None = None
    stopped: bool = False

    @property
    def ok(self) -> bool:
        """Whether the record is valid, digests and signature included."""
        return self.error is None

    @property
    def code(self) -> str:
        """The error's code; empty for a valid record."""
        return self.error.code if self.error else ""

    @property
    def message(self) -> str:
        """The error's sentence; empty for a valid record."""
        return self.error.message if self.error else ""


class _Source:
    """Bytes of a stream with a little look-ahead."""

    __slots__ = ("_buffer", "_fp", "offset")

    def __init__(self, fp: Readable) -> None:
        self._fp = fp
        self._buffer = bytearray()
        self.offset = 0

    def _fill(self) -> bool:
        piece = self._fp.read(_PIECE)
        self._buffer += piece
        return bool(piece)

    def at_end(self) -> bool:
        return not self._buffer and not self._fill()

    def head_block(self) -> tuple[bytes, bool]:
        """Return the bytes of the next head and whether they end with its blank line; nothing is consumed."""
        searched = 0
        while True:
            end = self._buffer.find(BLANK, searched, MAX_HEAD_BYTES)
            if end >= 0:
                return bytes(self._buffer[: end + len(BLANK)]), True
            if len(self._buffer) >= MAX_HEAD_BYTES:
                break
            searched = max(0, len(self._buffer) - 1)
            if not self._fill():
                break
        return bytes(self._buffer[:MAX_HEAD_BYTES]), False

    def skip(self, count: int) -> None:
        """Consume bytes that `head_block` returned."""
        del self._buffer[:count]
        self.offset += count

    def pieces(self, count: int) -> Iterator[bytes]:
        """Consume `count` bytes piece by piece; fewer if the stream ends."""
        while count:
            if not self._buffer and not self._fill():
                return
            piece = bytes(self._buffer[:count])
            del self._buffer[: len(piece)]
            self.offset += len(piece)
            count -= len(piece)
            yield piece


def iter_records(fp: Readable, *, max_data: int = MAX_BLOB_BYTES, verify: bool = True) -> Iterator[Record]:
    """Yield the records of a stream, each fully verified.

    Args:
        fp: where the stored records come from; it is read to its end.
        max_data: refuse records with more data bytes than this before reading them.
        verify: False leaves out the signatures, for bytes this vault verified before.

    Raises:
        RecordError: at the first record that is not valid; its `offset` says where that record starts.
    """
    source = _Source(fp)
    while not source.at_end():
        start = source.offset
        try:
            block, is_whole = source.head_block()
            head = read_head(block, is_whole=is_whole)
            source.skip(head.size)
            if head.length > max_data:
                raise BlobTooLargeError(f"{head.claimed[0].text} has {head.length} data bytes; {max_data} are taken")
            data = b"".join(source.pieces(head.length))
            _check_whole(head, len(data))
            digests = []
            for offset in head.offsets:
                hasher = blake3(block[offset:])
                hasher.update(data)
                digests.append(hasher.digest())
            judge(head, digests, verify=verify)
        except RecordError as error:
            error.offset = start
            raise
        yield build(head, data)


def iter_verdicts(fp: Readable) -> Iterator[Verdict]:
    """Yield a verdict on each record of a stream, never holding the data of one.

    The module's docstring says when it goes on after an invalid record. No RecordError is raised.

    Args:
        fp: where the stored records come from.
    """
    source = _Source(fp)
    while not source.at_end():
        start = source.offset
        block, is_whole = source.head_block()
        error: RecordError | None = None
        stopped = False
        try:
            head = read_head(block, is_whole=is_whole)
        except RecordError as fault:
            error = fault
            source.skip(len(block))
            stopped = not (is_whole and _ends_in_whole_blob(block, source))
        else:
            source.skip(head.size)
            digests, length = _digests(block, head.offsets, source, head.length)
            try:
                _check_whole(head, length)
                judge(head, digests)
            except RecordError as fault:
                error = fault
                stopped = length < head.length
        claim = _CLAIM.match(block)
        claimed, kind = (claim[1].decode(), claim[2].decode()) if claim else ("", "")
        if error is not None:
            error.offset = start
        yield Verdict(claimed, kind, start, source.offset - start, error, stopped)
        if stopped:
            return


def _check_whole(head: Head, length: int) -> None:
    missing = head.length - length
    if missing:
        raise DataTruncatedError(f"{missing} of the {head.length} data bytes of {head.claimed[0].text} are missing")


def _digests(block: bytes, offsets: tuple[int, ...], source: _Source, count: int) -> tuple[list[bytes], int]:
    """Return the digests from each offset over head and data, and how many data bytes there were."""
    hashers = [blake3(block[offset:]) for offset in offsets]
    length = 0
    for piece in source.pieces(count):
        for hasher in hashers:
            hasher.update(piece)
        length += len(piece)
    return [hasher.digest() for hasher in hashers], length


def _ends_in_whole_blob(block: bytes, source: _Source) -> bool:
    """Consume the data after a faulty head; return whether the embedded Blob there proves its own length."""
    match = _EMBEDDED.search(block)
    if match is None:
        return False
    start = match.start() + 1
    try:
        head = read_head(block[start:], is_whole=True)
    except RecordError:
        return False
    digests, _ = _digests(block[start:], head.offsets, source, head.length)
    return digests[0] == head.claimed[0].digest
