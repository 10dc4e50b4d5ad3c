"""Index runs: what a mailbox holds and where each record lies (docs/formats.md section 4).

A run stays in its packed form of 48 bytes an entry, so a hundred thousand records cost 5 MB. Runs are
immutable; `transports.merging` folds them.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from io import BytesIO
from typing import NamedTuple

import zstandard
from blake3 import blake3

from transports.errors import BadRun
from transports.layout import (
    BUNDLE_LIMIT,
    BUNDLE_NAME,
    FRAME_RAW_LIMIT,
    FRAME_STORED_LIMIT,
    RUN_NAME,
    RUN_RAW_LIMIT,
    RUN_TABLES_LIMIT,
    bundle_name,
    expand,
    read_digest,
    read_line,
    read_number,
    run_name,
)
from vault.errors import DataError
from vault.records import b64a
from vault.records.coordinates import check_app
from vault.records.hashes import RecordHash, Verifier

__all__ = [
    "ADD",
    "ENTRY",
    "FRAME",
    "BundleRef",
    "Location",
    "Run",
    "RunBuilder",
    "RunEntry",
    "RunRef",
    "check_tables",
    "decode_run",
    "encode_run",
    "joined",
    "planes",
]

ENTRY = struct.Struct("<BBHIII32s")
FRAME = struct.Struct("<IQII")
_COLLECTED = struct.Struct("<BIIII")  # of an entry that is collected: operation, App, frame, offset, length
_Place = tuple["BundleRef | None", int, int, int]
_MAGIC = b"lace-run/1\n"
_FORMER = b"lace-run/0\n"  # its entries stand one after the other
_KINDS = {ord("B"): "B", ord("P"): "P", ord("S"): "S"}
ADD, WITHDRAW = ord("+"), ord("-")
_FIRST_FRAME = 8  # a bundle's magic stands before its first frame
_new = tuple.__new__
_LEVEL = 6  # digests do not compress; the rest does at any level


@dataclass(frozen=True, slots=True, order=True)
class BundleRef:
    """One bundle on a medium.

    Args:
        mailbox: the node in whose mailbox it lies.
        name: its file name, made of its digest.
        digest: BLAKE3 of the whole file.
        size: bytes of the file.
    """

    mailbox: Verifier
    name: str
    digest: bytes
    size: int

    def __post_init__(self) -> None:
        if self.name != bundle_name(self.digest) or not 0 < self.size <= BUNDLE_LIMIT:
            raise BadRun(f"{self.name[:60]!r} with {self.size} bytes cannot be a bundle of this digest.")

    def __hash__(self) -> int:
        return hash(self.digest)  # says enough, and each record of a bundle asks


class Location(NamedTuple):
    """Where one record lies: a frame of a bundle, and its offset and length in the frame's raw bytes.

    The bundle is None inside the run of a bundle, where it means that very file.
    """

    bundle: BundleRef | None
    frame_offset: int
    frame_stored: int
    frame_raw: int
    offset: int
    length: int


class RunEntry(NamedTuple):
    """One entry of a run; a withdrawn one has no location."""

    hash: RecordHash
    app: str
    location: Location | None


@dataclass(frozen=True, slots=True)
class RunRef:
    """A run as a snapshot head names it: digest of the file, number of entries, bytes of the file."""

    digest: bytes
    entries: int
    size: int

    @property
    def name(self) -> str:
        """The run's file name."""
        return run_name(self.digest)


@dataclass(frozen=True, slots=True)
class Run:
    """A validated index run; `decode_run`, `RunBuilder` and `merge_runs` make them.

    Args:
        covers: file names of the runs it replaces.
        apps: the table of App values.
        bundles: the table of bundles; None is the bundle that holds the run.
        frames: packed rows of the frame table.
        entries: packed entries, sorted by digest and kind.
    """

    covers: tuple[str, ...]
    apps: tuple[str, ...]
    bundles: tuple[BundleRef | None, ...]
    frames: bytes = field(repr=False)
    entries: bytes = field(repr=False)

    def __len__(self) -> int:
        return len(self.entries) // ENTRY.size

    def __iter__(self) -> Iterator[RunEntry]:
        for kind, op, app, frame, offset, length, digest in ENTRY.iter_unpack(self.entries):
            location = self.location(frame, offset, length) if op == ADD else None
            yield RunEntry(RecordHash(_KINDS[kind], digest), self.apps[app], location)

    def entry(self, index: int) -> RunEntry:
        """Return the entry at a position."""
        kind, op, app, frame, offset, length, digest = ENTRY.unpack_from(self.entries, index * ENTRY.size)
        location = self.location(frame, offset, length) if op == ADD else None
        # Kind and digest were checked when the run was read; a sync asks for entries by the hundred thousand.
        return _new(RunEntry, (_new(RecordHash, (_KINDS[kind], digest)), self.apps[app], location))

    def frame_rows(self) -> Iterator[tuple[int, int, int, int]]:
        """Yield the frame table: number of the bundle, offset, stored bytes, raw bytes."""
        yield from FRAME.iter_unpack(self.frames)

    def placed(self, bundle: BundleRef) -> Run:
        """Return the run of a bundle as one that names this bundle instead of "this very file"."""
        bundles = tuple(bundle if row is None else row for row in self.bundles)
        return Run(self.covers, self.apps, bundles, self.frames, self.entries)

    def location(self, frame: int, offset: int, length: int) -> Location:
        """Return the place of bytes in a frame, given by its number in the table."""
        bundle, start, stored, raw = FRAME.unpack_from(self.frames, frame * FRAME.size)
        return _new(Location, (self.bundles[bundle], start, stored, raw, offset, length))


class RunBuilder:
    """Collects additions and withdrawals into one run; the last word on a record counts."""

    def __init__(self) -> None:
        # Packed, since a first visit adds a hundred thousand: what goes before the digest, by digest and kind.
        self._entries: dict[bytes, bytes] = {}
        self._apps: dict[str, int] = {}
        self._places: dict[_Place, int] = {}
        self._last: tuple[_Place | None, int] = (None, 0)  # where the record before lies

    def __len__(self) -> int:
        return len(self._entries)

    def adds(self, record: RecordHash) -> bool:
        """Tell whether the last word on a record is that it is advertised."""
        packed = self._entries.get(record.digest + record.kind.encode())
        return packed is not None and _COLLECTED.unpack(packed)[0] == ADD

    def add(self, record: RecordHash, app: str, location: Location) -> None:
        """Advertise a record that lies at `location`."""
        frame = location[:4]
        if frame != self._last[0]:  # a frame holds several, which come one after the other
            self._last = frame, self._places.setdefault(frame, len(self._places))
        self._put(record, _COLLECTED.pack(ADD, self._app(app), self._last[1], location.offset, location.length))

    def withdraw(self, record: RecordHash, app: str) -> None:
        """Withdraw a record that was advertised before."""
        self._put(record, _COLLECTED.pack(WITHDRAW, self._app(app), 0, 0, 0))

    def build(self, covers: Iterable[str] = ()) -> Run:
        """Return the run.

        Raises:
            DataError: an App is not one, or a table would overflow.
        """
        used_apps: set[int] = set()
        used_places: set[int] = set()
        for op, app_number, place, _, _ in map(_COLLECTED.unpack, self._entries.values()):
            used_apps.add(app_number)
            if op == ADD:
                used_places.add(place)
        apps = sorted(app for app, number in self._apps.items() if number in used_apps)
        for app in apps:
            check_app(app)
        places = sorted(
            (place for place, number in self._places.items() if number in used_places),
            key=lambda place: (place[0] is not None, place[0] or (), place[1]),
        )
        bundles = list(dict.fromkeys(place[0] for place in places))
        bundle_numbers = {bundle: number for number, bundle in enumerate(bundles)}
        frames = b"".join(FRAME.pack(bundle_numbers[place[0]], *place[1:]) for place in places)
        check_tables(len(apps), len(self._entries))
        app_numbers = {self._apps[app]: number for number, app in enumerate(apps)}
        frame_numbers = {self._places[place]: number for number, place in enumerate(places)}
        entries = bytearray(len(self._entries) * ENTRY.size)
        for position, key in enumerate(sorted(self._entries)):
            op, app_number, place, offset, length = _COLLECTED.unpack(self._entries[key])
            frame = frame_numbers[place] if op == ADD else 0
            ENTRY.pack_into(
                entries, position * ENTRY.size, key[32], op, app_numbers[app_number], frame, offset, length, key[:32]
            )
        return Run(tuple(covers), tuple(apps), tuple(bundles), frames, bytes(entries))

    def _app(self, app: str) -> int:
        return self._apps.setdefault(app, len(self._apps))

    def _put(self, record: RecordHash, packed: bytes) -> None:
        self._entries[record.digest + record.kind.encode()] = packed


def check_tables(apps: int, entries: int) -> None:
    """Refuse more Apps or entries than a run can hold."""
    if apps > 0x10000 or entries * ENTRY.size > RUN_RAW_LIMIT:
        raise BadRun(f"An index run cannot hold {entries} entries with {apps} App values.")


def planes(rows: bytes, size: int) -> bytes:
    """Return rows of so many bytes as columns: all first bytes, then all second ones, and so on."""
    return b"".join(rows[at::size] for at in range(size))


def joined(columns: bytes | memoryview, size: int) -> bytes:
    """Return the rows that `planes` made columns of; the number of bytes is a multiple of the size."""
    count = len(columns) // size
    rows = bytearray(len(columns))
    for at in range(size):
        rows[at::size] = columns[at * count : (at + 1) * count]
    return bytes(rows)


def encode_run(run: Run) -> tuple[bytes, RunRef]:
    """Return the bytes of the run's file and how a head names it."""
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
    if len(tables) > RUN_TABLES_LIMIT or len(tables) + len(run.entries) > RUN_RAW_LIMIT:
        raise BadRun(f"An index run of {len(run)} entries is larger than the format allows.")
    compressor = zstandard.ZstdCompressor(level=_LEVEL, write_content_size=True)
    data = compressor.compress(tables + planes(run.entries, ENTRY.size))
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
    entries = memoryview(raw)[end + 2 :]
    if not tables.is_former:
        if len(entries) % ENTRY.size:
            raise BadRun("The index run ends inside an entry.")
        entries = memoryview(joined(entries, ENTRY.size))
    _check_entries(entries, len(tables.apps), tables.raw_sizes)
    return Run(tuple(tables.covers), tuple(tables.apps), tuple(tables.bundles), bytes(tables.frames), bytes(entries))


class _Tables:
    """Reads the lines before the entries; they stand in the order covers, app, bundle, frame."""

    def __init__(self, in_bundle: bool) -> None:
        self.covers: list[str] = []
        self.apps: list[str] = []
        self.bundles: list[BundleRef | None] = []
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
            word, space, rest = read_line(line[:-1], BadRun, "the index run").partition(" ")
            while stage < len(self._readers) and self._readers[stage][0] != word:
                stage += 1
            if stage == len(self._readers) or not space:
                raise BadRun(f"The line {word[:40]!r} stands where the index run does not allow it.")
            self._readers[stage][1](rest)
        if len(set(self.apps)) != len(self.apps) or len(self.apps) > 0x10000:
            raise BadRun("The App table of the index run is too long or repeats a value.")
        if len(set(self.bundles)) != len(self.bundles) or len(set(self.covers)) != len(self.covers):
            raise BadRun("A table of the index run repeats a value.")

    def _covers(self, rest: str) -> None:
        if RUN_NAME.fullmatch(rest) is None:
            raise BadRun(f"{rest[:60]!r} is not the name of an index run.")
        self.covers.append(rest)

    def _app(self, rest: str) -> None:
        try:
            check_app(rest)
        except DataError as cause:
            raise BadRun(f"{rest[:140]!r} is not an App.") from cause
        self.apps.append(rest)

    def _bundle(self, rest: str) -> None:
        if self._in_bundle != (rest == "- - - 0") or (self._in_bundle and self.bundles):
            raise BadRun("The bundle table of the index run does not fit the place it stands in.")
        if self._in_bundle:
            self.bundles.append(None)
            return
        fields = rest.split(" ")
        if len(fields) != 4 or not _is_hex_key(fields[0]) or BUNDLE_NAME.fullmatch(fields[1]) is None:
            raise BadRun(f"{rest[:160]!r} does not describe a bundle.")
        digest = read_digest(fields[2], BadRun, "a bundle")
        size = read_number(fields[3], BUNDLE_LIMIT + 1, BadRun, "a bundle's size")
        self.bundles.append(BundleRef(Verifier(bytes.fromhex(fields[0])), fields[1], digest, size))

    def _frame(self, rest: str) -> None:
        fields = rest.split(" ")
        if len(fields) != 4:
            raise BadRun(f"{rest[:60]!r} does not describe a frame.")
        number = read_number(fields[0], len(self.bundles), BadRun, "a bundle's number")
        offset = read_number(fields[1], BUNDLE_LIMIT, BadRun, "a frame's offset")
        stored = read_number(fields[2], FRAME_STORED_LIMIT + 1, BadRun, "a frame's stored size")
        raw = read_number(fields[3], FRAME_RAW_LIMIT + 1, BadRun, "a frame's raw size")
        bundle = self.bundles[number]
        end = BUNDLE_LIMIT if bundle is None else bundle.size
        if offset < _FIRST_FRAME or not stored or not raw or offset + stored > end:
            raise BadRun(f"The frame {rest!r} does not lie inside its bundle.")
        if (number, offset) <= self._last_frame:
            raise BadRun("The frames of the index run are not sorted by bundle and offset.")
        self._last_frame = (number, offset)
        self.frames += FRAME.pack(number, offset, stored, raw)
        self.raw_sizes.append(raw)


def _is_hex_key(text: str) -> bool:
    return len(text) == 64 and not set(text) - set("0123456789abcdef")


def _check_entries(entries: memoryview, apps: int, raw_sizes: array[int]) -> None:
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
        if app >= apps or kind not in _KINDS:
            raise BadRun("An entry of the index run has no App or no record type.")
