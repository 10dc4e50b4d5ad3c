"""From a folder on disk to a tree: what is new is read, hashed and kept (CLAY-71, LAZ-1, APP-12).

What cannot be taken becomes a `Problem`, and where the base tree has something under that name it stays, so that
trouble here never turns into a deletion for friends. How a folder is walked is `vault.desks.scan`'s.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from vault.desks.absent_paths import load_absent
from vault.desks.basetree import tee
from vault.desks.choosing import Problem
from vault.desks.diff import Change
from vault.desks.differences import differences
from vault.desks.folder import open_root
from vault.desks.memory import MemoryObjects
from vault.desks.modes import Modes
from vault.desks.ports import Objects
from vault.desks.scan import Ports, Scan, Scanning
from vault.desks.sums import keeps_sums
from vault.desks.taker import Taker
from vault.desks.untold import Untold
from vault.files import Unreadable, reason_of
from vault.records import RecordHash

__all__ = ["Snapshot", "snapshot"]


class Snapshot(NamedTuple):
    """A folder as a tree.

    Args:
        root: its root page; what it reaches is in the sink or was in the source before.
        problems: sorted by path.
        files: files and links in the tree, without those kept from the base.
        read: files whose bytes had to be read.
        unknown: paths that could not be taken; where the base has something there, it was kept.
        changes: how the tree differs from the base, if that turned out on the way.
        put_back: paths at which it has what the base has, whatever the folder holds: the trees that the scan itself
            made on the way to them and below are in no sink for long.
    """

    root: RecordHash
    problems: tuple[Problem, ...]
    files: int
    read: int
    unknown: frozenset[str]
    changes: Sequence[Change] | None = None
    put_back: frozenset[str] = frozenset()


def snapshot(root: Path, ports: Ports, base: RecordHash | None = None, how: Scanning = Scanning()) -> Snapshot:
    """Return the folder as a tree, reading only files that changed since the cache was written.

    Args:
        root: the desk's directory.
        ports: where it is read and kept.
        base: the tree the folder stands on.
        how: what may stop it, and what it leaves alone.

    Raises:
        Unreadable: the directory itself cannot be listed, or what its rules keep out cannot be told.
        Cancelled: whatever `how.cancel` raises.
        MissingObject, TreeError: the base cannot be read.
    """
    group, sink = ports.objects.group, ports.objects.sink
    pages = MemoryObjects(ports.objects.source, trees_only=True, settle=ports.settle)
    objects = Objects(pages, tee(sink, pages), group)
    taker = Taker(group, pages, sink, sink if ports.bulk is None else ports.bulk, how.cancel)
    taker.sums, taker.room = sink if keeps_sums(sink) else None, how.room
    try:
        fd = open_root(root)
        try:
            scan, found, changes = _scanned(root, fd, base, ports._replace(objects=objects), taker, how)
        finally:
            os.close(fd)
    except OSError as error:
        raise Unreadable(f"{root} cannot be read: {reason_of(error)}.") from error
    told: Sequence[Change] | None = () if found == base else None
    put_back: frozenset[str] = frozenset()
    if base is not None and found != base:
        untold = Untold(root, objects, scan.names, how.without)
        scan.names.note_shared(found, changes, pages)
        found, told, put_back = untold.keep(found, base, load_absent(ports.cache), changes)
    problems = tuple(sorted(scan.names.problems))
    return Snapshot(found, problems, scan.files, scan.read, frozenset(scan.names.unknown), told, put_back)


def _scanned(
    root: Path, fd: int, base: RecordHash | None, ports: Ports, taker: Taker, how: Scanning
) -> tuple[Scan, RecordHash, Sequence[Change]]:
    """Walk a folder; once more where what turned shows that this disk cannot have the modes that files have.

    Returned are the last walk, its root page, and how that differs from the base.
    """
    modes = Modes(fd, how.home)
    scan = Scan(ports, taker, how, modes)
    found = scan.run(root, fd, base)
    changes = differences(ports.objects.source, base, found) if base is not None and found != base else ()
    if base is not None and modes.doubt(changes):
        scan = Scan(ports, taker, how, modes)
        found = scan.run(root, fd, base)
        changes = differences(ports.objects.source, base, found)
    return scan, found, changes
