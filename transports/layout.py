"""Names and small text forms shared by drops, runs, bundles and heads (docs/formats.md sections 3 and 4).

Everything here is lower-case, FAT-legal and free of user text.
"""

from __future__ import annotations

import re
import unicodedata
from threading import local

import zstandard
from blake3 import blake3

from vault.errors import DataError
from vault.records import b64a
from vault.records.hashes import DIGEST_BYTES

__all__ = [
    "BEACON_NAME",
    "BUNDLE_LIMIT",
    "BUNDLE_NAME",
    "DROP_ID",
    "FRAME_CLOSE",
    "FRAME_FULL",
    "FRAME_RAW_LIMIT",
    "FRAME_STORED",
    "FRAME_STORED_LIMIT",
    "HEAD_NAME",
    "MIB",
    "NODES_LIMIT",
    "ONE_FILE",
    "RATE_FLOOR",
    "REQUEST_NAME",
    "RUN_NAME",
    "RUN_RAW_LIMIT",
    "RUN_TABLES_LIMIT",
    "bundle_name",
    "expand",
    "group_directory",
    "read_digest",
    "read_line",
    "read_number",
    "run_name",
]

MIB = 1 << 20
ONE_FILE = "file"
"""The kind of a bundle in a file of its own, where a place's kind stands: it is visited once."""
FRAME_CLOSE = MIB  # raw bytes at which a frame closes at the latest: what one record may cost to unpack
FRAME_STORED = 48 * 1024  # stored bytes a writer aims at: what a cut costs twice, and what one record costs to fetch
FRAME_FULL = 64 * 1024  # stored bytes of a frame of several records: with one of 60 KiB more a cut would cost too much
FRAME_RAW_LIMIT = 33 * MIB  # raw bytes: the largest record is 32 MiB of data and some 0.5 MiB of headers
FRAME_STORED_LIMIT = FRAME_RAW_LIMIT + MIB // 2  # what zstd may need for incompressible bytes
RATE_FLOOR = 256  # bytes a second: who sends fewer over a whole window is not waited for, on any road
NODES_LIMIT = 4096  # mailboxes of one group at a place: a circle of friends is far smaller
BUNDLE_LIMIT = 2 << 30  # bytes: FAT32 ends at 4 GiB, and some tools at 2
RUN_RAW_LIMIT = 48 * MIB  # raw bytes, about a million entries; keeps a lying frame under 64 MiB of memory
RUN_TABLES_LIMIT = 16 * MIB  # raw bytes of the tables before the entries
_WINDOW_LIMIT = 8 * MIB  # the window every zstd decoder must support
_own = local()

HEAD_NAME = "head.rec"
REQUEST_NAME = "request.rec"
BEACON_NAME = "beacon.rec"
RUN_NAME = re.compile(r"r-[0-9a-f]{32}\.run", re.ASCII)
BUNDLE_NAME = re.compile(r"b-[0-9a-f]{32}\.bnd", re.ASCII)
DROP_ID = re.compile(r"[0-9a-f]{32}", re.ASCII)
_NUMBER = re.compile(r"0|[1-9][0-9]{0,18}", re.ASCII)
_DIGEST_CHARACTERS = 43
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"  # excludes skippable frames, which carry no size


def group_directory(group: str) -> str:
    """Return the name of a group's directory: it tells members apart and strangers nothing."""
    return blake3(group.encode()).hexdigest()[:16]


def run_name(digest: bytes) -> str:
    """Return the file name of the index run with this BLAKE3."""
    return f"r-{digest.hex()[:32]}.run"


def bundle_name(digest: bytes) -> str:
    """Return the file name of the bundle with this BLAKE3."""
    return f"b-{digest.hex()[:32]}.bnd"


def read_number(text: str, limit: int, error: type[DataError], what: str) -> int:
    """Return a plain decimal number below `limit`, or raise `error` naming `what`."""
    if _NUMBER.fullmatch(text) is None or int(text) >= limit:
        raise error(f"{text[:40]!r} is not {what} below {limit}.")
    return int(text)


def read_digest(text: str, error: type[DataError], what: str) -> bytes:
    """Return the 32 bytes that 43 B64A characters stand for, or raise `error` naming `what`."""
    if len(text) == _DIGEST_CHARACTERS:
        try:
            digest = b64a.decode(text)
        except DataError as cause:
            raise error(f"{text!r} is not the digest of {what}.") from cause
        if len(digest) == DIGEST_BYTES:
            return digest
    raise error(f"{text[:60]!r} is not the digest of {what}.")


def read_line(line: bytes, error: type[DataError], what: str) -> str:
    """Return one line as text; it must be UTF-8 in NFC without control characters."""
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as cause:
        raise error(f"A line of {what} is not UTF-8.") from cause
    if not text.isascii() and not unicodedata.is_normalized("NFC", text):
        raise error(f"A line of {what} is not in Unicode NFC form.")
    is_plain = text.isascii() and text.isprintable()
    if not is_plain and any(ord(character) < 0x20 or ord(character) == 0x7F for character in text):
        raise error(f"A line of {what} holds a control character.")
    return text


def _decompressor() -> zstandard.ZstdDecompressor:
    """Return this thread's: to make one takes as long as to copy what does not compress."""
    found: zstandard.ZstdDecompressor | None = getattr(_own, "decompressor", None)
    if found is None:
        found = _own.decompressor = zstandard.ZstdDecompressor()
    return found


def expand(data: bytes | memoryview, limit: int, error: type[DataError], what: str) -> bytes:
    """Return the content of exactly one zstd frame whose stated size is at most `limit` bytes.

    The stated size is checked before any memory is taken for it, so a bomb costs nothing (faults.md row 14).
    """
    if data[:4] != _ZSTD_MAGIC:
        raise error(f"{what} does not start a zstd frame.")
    try:
        frame = zstandard.get_frame_parameters(data)
        if frame.content_size == 0 or frame.content_size > limit:
            raise error(f"{what} states no size, or one above {limit} bytes.")
        if frame.dict_id or frame.window_size > max(_WINDOW_LIMIT, frame.content_size):
            raise error(f"{what} wants a dictionary or a window that lace does not grant.")
        raw: bytes = _decompressor().decompress(data, max_output_size=frame.content_size, allow_extra_data=False)
    except zstandard.ZstdError as cause:
        raise error(f"{what} cannot be decompressed.") from cause
    if len(raw) != frame.content_size:
        raise error(f"{what} is shorter than it states.")
    return raw
