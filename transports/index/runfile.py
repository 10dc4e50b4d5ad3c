"""The file of an index run: its tables as lines, its entries in columns (docs/formats.md section 4).

Whoever reads one checks every byte; what is made of it stands in `transports.index.runs`.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from io import BytesIO
from typing import TypeVar

import zstandard
from blake3 import blake3

from transports.errors import BadRun
from transports.index.runs import ADD, ENTRY, FRAME, KINDS, WITHDRAW, BundleRef, Run, RunRef
from transports.layout import (
    BUNDLE_LIMIT,
    BUNDLE_NAME,
    FRAME_RAW_LIMIT,
    FRAME_STORED_LIMIT,
    RUN_NAME,
    RUN_RAW_LIMIT,
    RUN_TABLES_LIMIT,
    expand,
    read_digest,
    read_line,
    read_number,
)
from vault.errors import DataError
from vault.records import b64a
from vault.records.coordinates import check_app
from vault.records.hashes import Verifier

__all__ = ["decode_run", "encode_run", "joined", "planes"]

_T = TypeVar("_T")

_MAGIC = b"lace-run/1\n"
_FORMER = b"lace-run/0\n"  # its entries stand one after the other
_COUNT = rb"(0|[1-9][0-9]{0,9})"
_FRAME_LINE = re.compile(rb"frame %b %b %b %b\n" % (_COUNT, _COUNT, _COUNT, _COUNT))
_FRAMES = 3  # where these lines stand among the tables
_FIRST_FRAME = 8  # a bundle's magic stands before its first frame
_MOST_APPS = 0x10000  # App values that 16 bits can name
_MOST_BUNDLES = 0x10000  # a publishing adds one, and merging drops those that nothing lies in any more
_MOST_COVERED = 4096  # names of runs; a head has room for some dozens
_LEVEL = 6  # digests do not compress; the rest does at any level


def planes(rows: bytes, size: int) -> Iterator[bytes]:
    """Yield rows of so many bytes as columns: all first bytes, then all second ones, and so on."""
    return (rows[at::size] for at in range(size))


def joined(columns: bytes | memoryview, size: int) -> bytes:
    """Return the rows of the columns that `planes` gives; the number of bytes is a multiple of the size."""
    return bytes(_rows(columns, size))


def _rows(columns: bytes | memoryview, size: int) -> bytearray:
    count = len(columns) // size
    rows = bytearray(len(columns))
    for at in range(size):
        rows[at::size] = columns[at * count : (at + 1) * count]
    return rows


def encode_run(run: Run) -> tuple[bytes, RunRef]:
    """Return the bytes of the run's file and how a head names it.

    Raises:
        BadRun: it is larger than the format allows.
    """
    lines = [_MAGIC.decode().rstrip()]
    lines += [f"covers {name}" for name in run.covers]
    lines += [f"app {app}" for app in run.apps]
    for bundle in run.bundles:
        if bundle is None:
            lines.append("bundle - - - 0")
        else:
            digest = b64a.encode(bundle.digest)
            lines.append(f"bundle {bundle.mailbox.key.hex()} {bundle.name} {digest} {bundle.size}")
    lines += [f"frame {number} {offset} {stored} {raw}" for number, offset, stored, raw in run.frame_rows()]
    tables = ("\n".join(lines) + "\n\n").encode()
    is_long = len(run.bundles) > _MOST_BUNDLES or len(run.covers) > _MOST_COVERED
    if is_long or len(tables) > RUN_TABLES_LIMIT or len(tables) + len(run.entries) > RUN_RAW_LIMIT:
        raise BadRun(f"An index run of {len(run)} entries is larger than the format allows.")
    compressor = zstandard.ZstdCompressor(level=_LEVEL, write_content_size=True)
    stream = compressor.compressobj(size=len(tables) + len(run.entries))
    out = BytesIO()  # a large run is not in memory twice for it
    out.write(stream.compress(tables))
    for column in planes(run.entries, ENTRY.size):
        out.write(stream.compress(column))
    out.write(stream.flush())
    data = out.getvalue()
    return data, RunRef(blake3(data).digest(), len(run), len(data))


def decode_run(data: bytes, *, limit: int = RUN_RAW_LIMIT, in_bundle: bool = False) -> Run:
    """Return the run that a file holds, every byte checked.

    Args:
        data: the file, or the run's part of a bundle.
        limit: bytes it may state as its raw size.
        in_bundle: the run stands in a bundle and describes that file.

    Raises:
        BadRun: the bytes break the format; the message names the rule.
    """
    raw = expand(data, limit, BadRun, "The index run")
    end = raw.find(b"\n\n", 0, RUN_TABLES_LIMIT)
    if end < 0:
        raise BadRun(f"The tables of the index run do not end within {RUN_TABLES_LIMIT} bytes.")
    tables = _Tables(in_bundle)
    tables.read(BytesIO(raw[: end + 1]))
    rest = memoryview(raw)[end + 2 :]
    if not tables.is_former and len(rest) % ENTRY.size:
        raise BadRun("The index run ends inside an entry.")
    rows = rest if tables.is_former else _rows(rest, ENTRY.size)
    del rest, raw  # a large run is in memory twice at most
    _check_entries(rows, len(tables.apps), tables.raw_sizes)
    return Run(tuple(tables.covers), tuple(tables.apps), tuple(tables.bundles), bytes(tables.frames), bytes(rows))


class _Tables:
    """Reads the lines before the entries; they stand in the order covers, app, bundle, frame."""

    def __init__(self, in_bundle: bool) -> None:
        self.covers: dict[str, None] = {}
        self.apps: dict[str, None] = {}
        self.bundles: dict[BundleRef | None, None] = {}
        self._ends: list[int] = []  # of each bundle: where its last frame ends at the latest
        self.frames = bytearray()
        self.raw_sizes = array("L")
        self.is_former = False
        self._last_frame = (0, 0)
        self._in_bundle = in_bundle
        self._readers = (
            ("covers", self._covers),
            ("app", self._app),
            ("bundle", self._bundle),
            ("frame", self._frame),
        )

    def read(self, lines: BytesIO) -> None:
        first = lines.readline()
        if first not in {_MAGIC, _FORMER}:
            raise BadRun("The index run does not start with lace-run/1.")
        self.is_former = first == _FORMER
        stage = 0
        for line in lines:
            if (plain := _FRAME_LINE.fullmatch(line)) is not None:  # of many thousands; what is amiss is told below
                number, offset, stored, raw = map(int, plain.groups())
                if self._lies_inside(number, offset, stored, raw):
                    self._add_frame(number, offset, stored, raw)
                    stage = _FRAMES
                    continue
            word, space, rest = read_line(line[:-1], BadRun, "the index run").partition(" ")
            while stage < len(self._readers) and self._readers[stage][0] != word:
                stage += 1
            if stage == len(self._readers) or not space:
                raise BadRun(f"The line {word[:40]!r} stands where the index run does not allow it.")
            self._readers[stage][1](rest)

    def _covers(self, rest: str) -> None:
        if RUN_NAME.fullmatch(rest) is None:
            raise BadRun(f"{rest[:60]!r} is not the name of an index run.")
        _append(self.covers, rest, _MOST_COVERED)

    def _app(self, rest: str) -> None:
        try:
            check_app(rest)
        except DataError as cause:
            raise BadRun(f"{rest[:140]!r} is not an App.") from cause
        _append(self.apps, rest, _MOST_APPS)

    def _bundle(self, rest: str) -> None:
        if self._in_bundle != (rest == "- - - 0") or (self._in_bundle and self.bundles):
            raise BadRun("The bundle table of the index run does not fit the place it stands in.")
        if self._in_bundle:
            self.bundles[None] = None
            self._ends.append(BUNDLE_LIMIT)
            return
        fields = rest.split(" ")
        if len(fields) != 4 or not _is_hex_key(fields[0]) or BUNDLE_NAME.fullmatch(fields[1]) is None:
            raise BadRun(f"{rest[:160]!r} does not describe a bundle.")
        digest = read_digest(fields[2], BadRun, "a bundle")
        size = read_number(fields[3], BUNDLE_LIMIT + 1, BadRun, "a bundle's size")
        bundle = BundleRef(Verifier(bytes.fromhex(fields[0])), fields[1], digest, size)
        _append(self.bundles, bundle, _MOST_BUNDLES)
        self._ends.append(size)

    def _frame(self, rest: str) -> None:
        fields = rest.split(" ")
        if len(fields) != 4:
            raise BadRun(f"{rest[:60]!r} does not describe a frame.")
        number = read_number(fields[0], len(self.bundles), BadRun, "a bundle's number")
        offset = read_number(fields[1], BUNDLE_LIMIT, BadRun, "a frame's offset")
        stored = read_number(fields[2], FRAME_STORED_LIMIT + 1, BadRun, "a frame's stored size")
        raw = read_number(fields[3], FRAME_RAW_LIMIT + 1, BadRun, "a frame's raw size")
        if not self._lies_inside(number, offset, stored, raw):
            raise BadRun(f"The frame {rest!r} does not lie inside its bundle.")
        self._add_frame(number, offset, stored, raw)

    def _lies_inside(self, number: int, offset: int, stored: int, raw: int) -> bool:
        if number >= len(self._ends) or not 0 < raw <= FRAME_RAW_LIMIT or not 0 < stored <= FRAME_STORED_LIMIT:
            return False
        return _FIRST_FRAME <= offset <= self._ends[number] - stored

    def _add_frame(self, number: int, offset: int, stored: int, raw: int) -> None:
        if (number, offset) <= self._last_frame:
            raise BadRun("The frames of the index run are not sorted by bundle and offset.")
        self._last_frame = (number, offset)
        self.frames += FRAME.pack(number, offset, stored, raw)
        self.raw_sizes.append(raw)


def _append(table: dict[_T, None], value: _T, most: int) -> None:
    """Put a value at the end of a table; what is too much is refused before it takes memory (faults.md row 14)."""
    if value in table or len(table) == most:
        raise BadRun("A table of the index run is too long or repeats a value.")
    table[value] = None


def _is_hex_key(text: str) -> bool:
    return len(text) == 64 and not set(text) - set("0123456789abcdef")


def _check_entries(entries: memoryview | bytearray, apps: int, raw_sizes: array[int]) -> None:
    if len(entries) % ENTRY.size:
        raise BadRun("The index run ends inside an entry.")
    frames = len(raw_sizes)
    last_digest, last_kind = b"", 0
    for kind, op, app, frame, offset, length, digest in ENTRY.iter_unpack(entries):
        if digest <= last_digest and (digest < last_digest or kind <= last_kind):
            raise BadRun("The entries of the index run are not in order.")
        last_digest, last_kind = digest, kind
        if op == ADD:
            if frame >= frames or not length or offset + length > raw_sizes[frame]:
                raise BadRun("An entry of the index run does not lie inside its frame.")
        elif op != WITHDRAW or frame or offset or length:
            raise BadRun("An entry of the index run neither advertises nor withdraws a record.")
        if app >= apps or kind not in KINDS:
            raise BadRun("An entry of the index run has no App or no record type.")
