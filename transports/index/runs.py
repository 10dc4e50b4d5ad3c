"""Index runs: what a mailbox holds and where each record lies (docs/formats.md section 4).

A run stays in its packed form of 48 bytes an entry, so a hundred thousand records cost 5 MB. Runs are
immutable; `transports.index.merging` folds them, and `transports.index.runfile` reads and writes their files.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from transports.errors import BadRun
from transports.layout import (
    BUNDLE_LIMIT,
    RUN_RAW_LIMIT,
    bundle_name,
    run_name,
)
from vault.records.coordinates import check_app
from vault.records.hashes import RecordHash, Verifier

__all__ = [
    "ADD",
    "ENTRY",
    "FRAME",
    "KINDS",
    "WITHDRAW",
    "BundleRef",
    "Location",
    "Run",
    "RunBuilder",
    "RunEntry",
    "RunRef",
    "bundles_named",
    "check_tables",
]

ENTRY = struct.Struct("<BBHIII32s")
FRAME = struct.Struct("<IQII")
_COLLECTED = struct.Struct("<BIIII")  # of an entry that is collected: operation, App, frame, offset, length
_Place = tuple["BundleRef | None", int, int, int]
KINDS = {ord("B"): "B", ord("P"): "P", ord("S"): "S"}
ADD, WITHDRAW = ord("+"), ord("-")
_new = tuple.__new__


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


class RunRef(NamedTuple):
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
    """A validated index run; `transports.index.runfile`, `RunBuilder` and `merge_runs` make them.

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
            yield RunEntry(RecordHash(KINDS[kind], digest), self.apps[app], location)

    def entry(self, index: int) -> RunEntry:
        """Return the entry at a position."""
        kind, op, app, frame, offset, length, digest = ENTRY.unpack_from(self.entries, index * ENTRY.size)
        location = self.location(frame, offset, length) if op == ADD else None
        # Kind and digest were checked when the run was read; a sync asks for entries by the hundred thousand.
        return _new(RunEntry, (_new(RecordHash, (KINDS[kind], digest)), self.apps[app], location))

    def frame_rows(self) -> Iterator[tuple[int, int, int, int]]:
        """Yield the frame table: number of the bundle, offset, stored bytes, raw bytes."""
        yield from FRAME.iter_unpack(self.frames)

    def named(self) -> set[BundleRef | None]:
        """Return the bundles in which its entries lie."""
        used = {frame for _, op, _, frame, _, _, _ in ENTRY.iter_unpack(self.entries) if op == ADD}
        return {self.bundles[row[0]] for number, row in enumerate(self.frame_rows()) if number in used}

    def placed(self, bundle: BundleRef) -> Run:
        """Return the run of a bundle as one that names this bundle instead of "this very file"."""
        bundles = tuple(bundle if row is None else row for row in self.bundles)
        return Run(self.covers, self.apps, bundles, self.frames, self.entries)

    def location(self, frame: int, offset: int, length: int) -> Location:
        """Return the place of bytes in a frame, given by its number in the table."""
        bundle, start, stored, raw = FRAME.unpack_from(self.frames, frame * FRAME.size)
        return _new(Location, (self.bundles[bundle], start, stored, raw, offset, length))


def bundles_named(runs: Iterable[Run]) -> set[BundleRef]:
    """Return the bundles in which entries of some runs lie, but for those that hold a run themselves."""
    return {bundle for run in runs for bundle in run.named() if bundle is not None}


class RunBuilder:
    """Collects additions and withdrawals into one run; the last word on a record counts."""

    def __init__(self) -> None:
        # Packed, since a first visit adds a hundred thousand: what goes before the digest, by digest and kind.
        self._entries: dict[bytes, bytes] = {}
        self._apps: dict[str, int] = {}
        self._places: dict[_Place, int] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, record: RecordHash, app: str, location: Location) -> None:
        """Advertise a record that lies at `location`."""
        self.add_frame(location[:4], [(record, app, location.offset, location.length)])

    def add_frame(self, place: _Place, rows: Iterable[tuple[RecordHash, str, int, int]]) -> None:
        """Advertise records that lie in one frame.

        Args:
            place: bundle, offset, stored and raw bytes of the frame, as in `Location`.
            rows: each record with its App, offset and length.
        """
        number = self._places.setdefault(place, len(self._places))
        for record, app, offset, length in rows:
            self._put(record, _COLLECTED.pack(ADD, self._app(app), number, offset, length))

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
    """Refuse more Apps or entries than a run can hold.

    Raises:
        BadRun: they are more.
    """
    if apps > 0x10000 or entries * ENTRY.size > RUN_RAW_LIMIT:
        raise BadRun(f"An index run cannot hold {entries} entries with {apps} App values.")
