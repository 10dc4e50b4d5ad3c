"""What a bundle lists of itself: its frames, and what reading a frame does not tell (docs/formats.md section 3).

The digests of the records are not listed: whoever goes through a whole bundle computes them. Only records of frames
that rest on others are named, since what they rest on may be out of reach.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from io import BytesIO
from typing import Final, NamedTuple

import zstandard

from transports.errors import BadBundle
from transports.index.runfile import joined, planes
from transports.index.runs import ENTRY
from transports.layout import (
    BUNDLE_LIMIT,
    FRAME_CLOSE,
    FRAME_RAW_LIMIT,
    FRAME_STORED_LIMIT,
    RUN_RAW_LIMIT,
    RUN_TABLES_LIMIT,
    expand,
    read_line,
    read_number,
)
from vault.errors import DataError
from vault.records.coordinates import check_app
from vault.records.hashes import DIGEST_BYTES, KINDS, MARKLINE_BYTES

__all__ = ["BundleList", "ListedFrame", "Row", "read_list"]

_MAGIC: Final = b"lace-list/0\n"
_ROW: Final = struct.Struct("<BHI")  # kind, App, length
_LEVEL: Final = 6  # of zstd
_APPS: Final = 0x10000  # App values that 16 bits can name
_LINE: Final = struct.Struct("<II?I")  # of a frame, while the list is read: stored, raw, named, rows
_MOST_ROWS: Final = RUN_RAW_LIMIT // ENTRY.size  # of a bundle; its index run names no more records
_MOST_OF_FRAME: Final = FRAME_CLOSE // MARKLINE_BYTES + 1  # rows: a frame closes before another record


class Row(NamedTuple):
    """A record that its frame does not tell of: kind, App, bytes, and its digest where the frame rests on others."""

    kind: str
    app: str
    length: int
    digest: bytes = b""


class ListedFrame(NamedTuple):
    """A frame: stored and raw bytes, whether its records are named here, and the rows of those that need one."""

    stored: int
    raw: int
    is_named: bool
    rows: tuple[Row, ...]


class BundleList:
    """The frames of a bundle in order, while it is written."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._apps: dict[str, int] = {}
        self._rows = bytearray()
        self._digests: list[bytes] = []

    def add(self, frame: ListedFrame) -> None:
        """Append a frame."""
        word = "named" if frame.is_named else "frame"
        self._lines.append(f"{word} {frame.stored} {frame.raw} {len(frame.rows)}")
        for row in frame.rows:
            app = self._apps.setdefault(row.app, len(self._apps))
            self._rows += _ROW.pack(ord(row.kind), app, row.length)
            if frame.is_named:
                self._digests.append(row.digest)

    def encode(self) -> bytes:
        """Return it as it stands in the bundle."""
        for app in self._apps:
            check_app(app)
        lines = [_MAGIC.decode().rstrip(), *(f"app {app}" for app in self._apps), *self._lines]
        tables = ("\n".join(lines) + "\n\n").encode()
        raw = b"".join((tables, *planes(bytes(self._rows), _ROW.size), *self._digests))
        return zstandard.ZstdCompressor(level=_LEVEL, write_content_size=True).compress(raw)


def read_list(data: bytes) -> Iterator[ListedFrame]:
    """Yield the frames that a list names, every line of it checked first.

    A list of some kilobytes unpacks to millions of rows, so these become records a frame at a time (faults.md row 14).

    Raises:
        BadBundle: it breaks the format.
    """
    raw = expand(data, RUN_RAW_LIMIT, BadBundle, "The list of the bundle")
    end = raw.find(b"\n\n", 0, RUN_TABLES_LIMIT)
    if end < 0 or not raw.startswith(_MAGIC):
        raise BadBundle("The list of the bundle does not start with lace-list/0, or its lines do not end.")
    apps: dict[str, None] = {}
    frames = bytearray()
    count = named = 0
    for line in BytesIO(raw[len(_MAGIC) : end + 1]):
        word, _, rest = read_line(line[:-1], BadBundle, "the list of the bundle").partition(" ")
        if word == "app" and not frames:
            if rest in apps or len(apps) == _APPS:
                raise BadBundle("The list of the bundle names an App twice, or too many.")
            apps[_app(rest)] = None
        elif word in {"frame", "named"}:
            stored, size, rows = _frame(rest)
            count += rows
            named += rows if word == "named" else 0
            if count > _MOST_ROWS:
                raise BadBundle("The list of the bundle has more rows than a bundle may hold records.")
            frames += _LINE.pack(stored, size, word == "named", rows)
        else:
            raise BadBundle(f"The line {word[:40]!r} stands where the list of the bundle does not allow it.")
    start = end + 2
    digests_at = start + count * _ROW.size
    if digests_at + named * DIGEST_BYTES != len(raw):
        raise BadBundle("The list of the bundle has another length than its lines say.")
    view = memoryview(raw)
    return _frames(frames, tuple(apps), joined(view[start:digests_at], _ROW.size), view[digests_at:])


def _frames(frames: bytearray, apps: tuple[str, ...], rows: bytes, digests: memoryview) -> Iterator[ListedFrame]:
    at = named = 0
    for stored, raw, is_named, count in _LINE.iter_unpack(frames):
        found = []
        for kind, app, length in _ROW.iter_unpack(rows[at * _ROW.size : (at + count) * _ROW.size]):
            if chr(kind) not in KINDS or app >= len(apps) or not length:
                raise BadBundle("A row in the list of the bundle is of no record.")
            digest = bytes(digests[named : named + DIGEST_BYTES]) if is_named else b""
            named += len(digest)
            found.append(Row(chr(kind), apps[app], length, digest))
        at += count
        yield ListedFrame(stored, raw, is_named, tuple(found))


def _app(rest: str) -> str:
    try:
        check_app(rest)
    except DataError as cause:
        raise BadBundle(f"{rest[:140]!r} is not an App.") from cause
    return rest


def _frame(rest: str) -> tuple[int, int, int]:
    """Return stored and raw bytes of a frame, and its number of rows."""
    fields = rest.split(" ")
    if len(fields) != 3:
        raise BadBundle(f"{rest[:60]!r} does not describe a frame.")
    stored = read_number(fields[0], min(FRAME_STORED_LIMIT, BUNDLE_LIMIT) + 1, BadBundle, "a frame's stored size")
    raw = read_number(fields[1], FRAME_RAW_LIMIT + 1, BadBundle, "a frame's raw size")
    rows = read_number(fields[2], _MOST_OF_FRAME + 1, BadBundle, "a number of rows")
    if not stored or not raw or rows > raw:
        raise BadBundle(f"{rest[:60]!r} does not describe a frame.")
    return stored, raw, rows
