"""Files that would be nowhere after a choice: one side moved them to where the other's was chosen (LAZ-39).

A rename is a deletion and an addition. Where a person passes the addition over, for its path clashes with what the
other side has there, the deletion is left alone, and takes away what both sides have. The file then stays where it was.
"""

from __future__ import annotations

from collections.abc import Collection

from vault.desks.diff import diff_trees
from vault.desks.moved_files import SideChanges
from vault.desks.pages import Entry
from vault.desks.paths import parents_of, twin_key
from vault.desks.ports import Source
from vault.desks.tree import lookup, read_directory
from vault.records import RecordHash

__all__ = ["left_behind"]


def left_behind(
    source: Source,
    base: RecordHash,
    sides: tuple[RecordHash, RecordHash],
    passed: tuple[Collection[str], Collection[str]],
    made: RecordHash,
) -> dict[str, Entry]:
    """Return by its old path what a side moved to a path at which it was not chosen, and the other left alone.

    Where the tree of the merge has a folder by a twin of its name, that one counts.

    Args:
        source: where trees are read.
        base: the merge base's tree.
        sides: my tree and the other side's.
        passed: of each, the paths at which something else was chosen.
        made: the tree of the merge.

    Raises:
        MissingObject, TreeError: a tree cannot be read.
    """
    mine, other = (SideChanges(diff_trees(source, base, side)) for side in sides)
    found: dict[str, Entry] = {}
    for side, rest, over in ((mine, other, passed[0]), (other, mine, passed[1])):
        if over and side.lost:
            found |= _of_side(source, side, rest, frozenset(over), made)
    spelt = {_spelt(source, made, path): entry for path, entry in sorted(found.items())}
    return {path: entry for path, entry in spelt.items() if lookup(source, made, path) is None}


def _spelt(source: Source, root: RecordHash, path: str) -> str:
    """Return a path with the names that the tree has for it, which may be twins of them."""
    names: list[str] = []
    here: RecordHash | None = root
    for name in path.split("/"):
        there = read_directory(source, here) if here is not None else ()
        twins = (entry for entry in there if twin_key(entry.name) == twin_key(name))
        found = next(twins, None)
        names.append(found.name if found is not None else name)
        here = found.hash if found is not None and found.is_dir else None
    return "/".join(names)


def _of_side(
    source: Source, side: SideChanges, rest: SideChanges, passed: frozenset[str], made: RecordHash
) -> dict[str, Entry]:
    there = {**side.new, **side.edited}
    dropped = {
        path
        for path, entry in there.items()
        if not passed.isdisjoint({path, *parents_of(path)}) and lookup(source, made, path) != entry
    }
    wanted = side.lost.keys() - rest.touched
    if not dropped or not wanted:
        return {}
    moved = side.renames(source, wanted)
    kept = {there[path].hash for path in there.keys() - dropped}
    gone = {there[path].hash for path in dropped} - kept
    return {
        path: side.lost[path].named(path.rpartition("/")[2])
        for path in wanted
        if (moved[path] in dropped if path in moved else side.lost[path].hash in gone)
    }
