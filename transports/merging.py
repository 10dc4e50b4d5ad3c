"""Folding index runs, and the policy that keeps few of them (LSM; architecture decision 4).

The listing of a mailbox is the fold of its runs in the order of its head: later entries win. A merged run
takes the place of the newest few and names what it covers, so that a reader that knew those learns nothing
new from it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from itertools import zip_longest

from transports.runs import ADD, ENTRY, FRAME, BundleRef, Run, check_tables

__all__ = ["MAX_RUN_ENTRIES", "merge_runs", "runs_to_merge"]

MAX_RUN_ENTRIES = 250_000  # entries lace puts into one run: even with a frame each the tables stay in bounds
_RUN_COUNT_GOAL = 8  # runs a mailbox keeps at most, where the entry limit allows it
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
    rows: list[bytes] = []
    for number, run in enumerate(runs):
        mark, packed = struct.pack(">H", number), run.entries
        # Digest and kind first, then the run: a plain sort puts the versions of an entry together, newest
        # last.
        rows += [
            packed[i + 16 : i + 48] + packed[i : i + 1] + mark + packed[i + 1 : i + 16]
            for i in range(0, len(packed), ENTRY.size)
        ]
    rows.sort()
    rows = [row for row, after in zip_longest(rows, rows[1:], fillvalue=b"") if row[:33] != after[:33]]
    if is_base:
        rows = [row for row in rows if row[35] == ADD]
    return _repack(runs, rows, tuple(covers))


_MERGED = struct.Struct("<BHIII")


def _repack(runs: Sequence[Run], rows: list[bytes], covers: tuple[str, ...]) -> Run:
    used_apps: dict[tuple[int, int], str] = {}
    used_frames: dict[tuple[int, int], tuple[BundleRef | None, int, int, int]] = {}
    for row in rows:
        number = row[33] << 8 | row[34]
        op, app, frame, _, _ = _MERGED.unpack_from(row, 35)
        if (number, app) not in used_apps:
            used_apps[number, app] = runs[number].apps[app]
        if op == ADD and (number, frame) not in used_frames:
            used_frames[number, frame] = runs[number].location(frame, 0, 0)[:4]
    apps = sorted(set(used_apps.values()))
    places = sorted(set(used_frames.values()), key=lambda place: (place[0] is not None, place[0] or (), place[1:]))
    check_tables(len(apps), len(rows))
    app_order = {app: number for number, app in enumerate(apps)}
    frame_order = {place: number for number, place in enumerate(places)}
    app_numbers = {old: app_order[app] for old, app in used_apps.items()}
    frame_numbers = {old: frame_order[place] for old, place in used_frames.items()}
    bundles = list(dict.fromkeys(place[0] for place in places))
    bundle_numbers = {bundle: number for number, bundle in enumerate(bundles)}
    entries = bytearray(len(rows) * ENTRY.size)
    for position, row in enumerate(rows):
        number = row[33] << 8 | row[34]
        op, app, frame, offset, length = _MERGED.unpack_from(row, 35)
        ENTRY.pack_into(
            entries,
            position * ENTRY.size,
            row[32],
            op,
            app_numbers[number, app],
            frame_numbers[number, frame] if op == ADD else 0,
            offset,
            length,
            row[:32],
        )
    frames = b"".join(FRAME.pack(bundle_numbers[place[0]], *place[1:]) for place in places)
    return Run(covers, tuple(apps), tuple(bundles), frames, bytes(entries))


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
