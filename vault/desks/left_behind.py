"""Files that would be nowhere after a choice: one side moved them to where the other's was chosen (LAZ-39).

A rename is a deletion and an addition. Where a person passes the addition over, for its path clashes with what the
other side has there, the deletion is left alone, and takes away what both sides have. The file then stays where it was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import NamedTuple

from vault.desks.diff import diff_trees
from vault.desks.moved_files import SideChanges
from vault.desks.pages import Entry
from vault.desks.paths import folders_above
from vault.desks.ports import Source
from vault.desks.tree import lookup
from vault.records import RecordHash

__all__ = ["PassedOver", "left_behind"]


class PassedOver(NamedTuple):
    """A side, and the paths at which something else was chosen."""

    tree: RecordHash
    paths: Collection[str]


def left_behind(
    source: Source, base: RecordHash, mine: PassedOver, other: PassedOver, made: RecordHash
) -> dict[str, Entry]:
    """Return by its old path what a side moved to a path at which it was not chosen, and the other left alone.

    Of files that are alike, so that nobody can say which went where, as many as came there.

    Args:
        source: where trees are read.
        base: the merge base's tree.
        mine: my side.
        other: the other one.
        made: the tree of the merge.

    Raises:
        MissingObject, TreeError: a tree cannot be read.
    """
    by_me, by_them = (SideChanges(diff_trees(source, base, side.tree)) for side in (mine, other))
    found: dict[str, Entry] = {}
    for side, rest, over in ((by_me, by_them, mine.paths), (by_them, by_me, other.paths)):
        if over and side.lost:
            found |= _of_side(source, side, side.lost.keys() - rest.touched, frozenset(over), made)
    return found


def _of_side(
    source: Source, side: SideChanges, lost: set[str], passed: frozenset[str], made: RecordHash
) -> dict[str, Entry]:
    there = {**side.new, **side.edited}
    dropped = {
        path
        for path, entry in there.items()
        if not passed.isdisjoint({path, *folders_above(path)}) and lookup(source, made, path) != entry
    }
    if not dropped or not lost:
        return {}
    moved = side.renames(source, lost)
    found = {old for old, new in moved.items() if new in dropped}
    kept = {_content(path, there[path]) for path in there.keys() - dropped}
    left = Counter(_content(path, there[path]) for path in dropped - {moved[old] for old in found})
    for path in sorted(lost - moved.keys()):
        content = _content(path, side.lost[path])
        if left[content] > 0 and content not in kept:
            left[content] -= 1
            found.add(path)
    return {path: side.lost[path].named(path.rpartition("/")[2]) for path in found}


def _content(path: str, entry: Entry) -> tuple[str, RecordHash, str]:
    """Return by what two files are alike: empty ones all are, so that only the name tells one from another."""
    return entry.kind, entry.hash, "" if entry.size else path.rpartition("/")[2]
