"""Folding index runs, and the policy that keeps few of them (LSM; architecture decision 4).

The listing of a mailbox is the fold of its runs in the order of its head: later entries win. A merged run
takes the place of the newest few and names what it covers, so that a reader that knew those learns nothing
new from it.
"""

from __future__ import annotations

import struct
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from io import BytesIO
from itertools import compress, zip_longest

from transports.index.runs import ADD, ENTRY, FRAME, BundleRef, Run, check_tables

__all__ = ["MAX_RUN_ENTRIES", "merge_runs", "runs_to_merge"]

MAX_RUN_ENTRIES = 250_000  # entries lace puts into one run: even with a frame each the tables stay in bounds
_RUN_COUNT_GOAL = 8  # runs a mailbox keeps at most, where the entry limit allows it
_PART_ENTRIES = 50_000  # what is less is folded in one go
_GROWTH = 4  # a run is merged into the newer ones while it is less than this many times as large


def merge_runs(runs: Sequence[Run], *, covers: Iterable[str] = (), is_base: bool = False) -> Run:
    """Return one run equal to the fold of several, the last of which is the newest.

    Frames and bundles that no entry uses any more fall out of the tables.

    Args:
        runs: at most 65,536, oldest first.
        covers: file names of the runs that the result replaces.
        is_base: nothing older stays beside the result, so withdrawals have nothing left to withdraw.

    Raises:
        BadRun: the result would be larger than a run may be.
    """
    if len(runs) == 1 and _is_folded(runs[0]) and tuple(covers) == runs[0].covers:
        return runs[0]
    return _repack(runs, lambda: _folded(runs, is_base=is_base), tuple(covers))


def _is_folded(run: Run) -> bool:
    """Tell whether a run withdraws nothing and uses every row of its tables: it is its own fold then."""
    if set(run.entries[1 :: ENTRY.size]) - {ADD}:
        return False
    frames, apps = bytearray(len(run.frames) // FRAME.size), bytearray(len(run.apps))
    for _, _, app, frame, _, _, _ in ENTRY.iter_unpack(run.entries):
        frames[frame] = apps[app] = 1
    bundles = {bundle for bundle, _, _, _ in run.frame_rows()}
    return all(frames) and all(apps) and len(bundles) == len(run.bundles)


def _folded(runs: Sequence[Run], *, is_base: bool) -> Iterator[list[bytes]]:
    """Yield the rows that win, in order, a part of the digests at a time, so that a large listing takes little memory.

    A row is digest, kind, number of the run, and the rest of its entry.
    """
    total = sum(len(run) for run in runs)
    parts = 1 if total <= _PART_ENTRIES else 256
    starts = [_starts(run.entries, parts) for run in runs]
    for part in range(parts):
        rows: list[bytes] = []
        for number, run in enumerate(runs):
            mark, packed = struct.pack(">H", number), run.entries
            # Digest and kind first, then the run: a plain sort puts the versions of an entry together, newest
            # last.
            rows += [
                packed[i + 16 : i + 48] + packed[i : i + 1] + mark + packed[i + 1 : i + 16]
                for i in range(starts[number][part], starts[number][part + 1], ENTRY.size)
            ]
        rows.sort()
        rows = [row for row, after in zip_longest(rows, rows[1:], fillvalue=b"") if row[:33] != after[:33]]
        yield [row for row in rows if row[35] == ADD] if is_base else rows


def _starts(entries: bytes, parts: int) -> list[int]:
    """Return where the entries of each part begin, in bytes, and where the last one ends."""
    if parts == 1:
        return [0, len(entries)]
    size = ENTRY.size
    count = range(len(entries) // size)
    return [size * bisect_left(count, part, key=lambda at: entries[at * size + 16]) for part in range(parts + 1)]


_MERGED = struct.Struct("<32sBBBBHIII")  # a row: digest, kind, run as two bytes, operation, App, frame, offset, length
_Rows = Callable[[], Iterator[list[bytes]]]


def _repack(runs: Sequence[Run], parts: _Rows, covers: tuple[str, ...]) -> Run:
    """Write the rows as a run; they are gone through twice, for the tables are sorted."""
    used_apps = [bytearray(len(run.apps)) for run in runs]
    used_frames = [bytearray(len(run.frames) // FRAME.size) for run in runs]
    count = 0
    kept: list[bytes] | None = None
    for number, rows in enumerate(parts()):
        kept = rows if number == 0 else None  # a single part need not be made twice
        count += len(rows)
        for _, _, high, low, op, app, frame, _, _ in _MERGED.iter_unpack(b"".join(rows)):
            used_apps[high << 8 | low][app] = 1
            if op == ADD:
                used_frames[high << 8 | low][frame] = 1
    apps = sorted({app for run, used in zip(runs, used_apps, strict=True) for app in compress(run.apps, used)})
    check_tables(len(apps), count)
    app_order = {app: number for number, app in enumerate(apps)}
    app_numbers = [[app_order.get(app, 0) for app in run.apps] for run in runs]
    bundles, frames, frame_numbers = _tables(runs, used_frames)
    entries = BytesIO()  # a list of a million small values takes twice what they hold
    for rows in parts() if kept is None else (kept,):
        part: list[bytes] = []
        for digest, kind, high, low, op, app, frame, offset, length in _MERGED.iter_unpack(b"".join(rows)):
            run = high << 8 | low
            place = frame_numbers[run][frame] if op == ADD else 0
            part.append(ENTRY.pack(kind, op, app_numbers[run][app], place, offset, length, digest))
        entries.write(b"".join(part))
    return Run(covers, tuple(apps), bundles, frames, entries.getvalue())


def _tables(runs: Sequence[Run], used: list[bytearray]) -> tuple[tuple[BundleRef | None, ...], bytes, list[array[int]]]:
    """Return the sorted tables of bundles and frames with what is used of several, and by run each frame's new number.

    Bundles are put in order first: whole frames would compare them a hundred thousand times.
    """
    ranked = sorted({each for run in runs for each in run.bundles}, key=lambda each: (each is not None, each or ()))
    ranks = {bundle: rank for rank, bundle in enumerate(ranked)}
    places: list[list[tuple[int, int, int, int]]] = []
    for run in runs:
        here = [ranks[bundle] for bundle in run.bundles]
        places.append([(here[bundle], start, stored, raw) for bundle, start, stored, raw in run.frame_rows()])
    kept = sorted({place for rows, flags in zip(places, used, strict=True) for place in compress(rows, flags)})
    order = {place: number for number, place in enumerate(kept)}
    numbers = [array("L", [order.get(place, 0) for place in rows]) for rows in places]
    bundle_numbers = {rank: number for number, rank in enumerate(dict.fromkeys(place[0] for place in kept))}
    frames = b"".join([FRAME.pack(bundle_numbers[rank], *rest) for rank, *rest in kept])
    return tuple(ranked[rank] for rank in bundle_numbers), frames, numbers


def runs_to_merge(sizes: Sequence[int]) -> int:
    """Return how many of the newest runs become one: 0 or at least 2.

    A run joins while it is less than four times as large as all newer ones together, so each entry is
    rewritten a logarithmic number of times; and enough join that at most eight runs stay, unless the merged
    run would pass 250,000 entries.

    Args:
        sizes: entries of each run, oldest first.
    """
    count, total = 0, 0
    for index in range(len(sizes) - 1, -1, -1):
        joins = sizes[index] < _GROWTH * total or len(sizes) - count + (count > 0) > _RUN_COUNT_GOAL
        if (count and not joins) or total + sizes[index] > MAX_RUN_ENTRIES:
            break
        count, total = count + 1, total + sizes[index]
    return count if count > 1 else 0
