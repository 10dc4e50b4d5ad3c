"""Folders whose name one side spelt otherwise, in capitals or accents, while the other worked in them (CLAY-74).

Two such names cannot stand together (APP-12), so what the other side did below the old one would clash with the whole
folder. That is plain enough to be followed as the rename of a file is: on all sides the folder gets its new name first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from vault.desks.diff import diff_trees
from vault.desks.edit import apply_changes
from vault.desks.moved_files import SideChanges
from vault.desks.pages import Entry
from vault.desks.paths import MAX_DEPTH, folders_above, twin_key
from vault.desks.ports import Objects, Source
from vault.desks.tree import lookup
from vault.records import RecordHash

__all__ = ["Recased", "follow_recased"]


class Recased(NamedTuple):
    """The three trees with folders by their new names.

    Args:
        base: the merge base's tree.
        ours: my tree.
        theirs: the other side's tree.
        mine: what I did to the base.
        other: what the other side did.
        moved: by its new path, the old one of what the other side touched below these folders.
    """

    base: RecordHash
    ours: RecordHash
    theirs: RecordHash
    mine: SideChanges
    other: SideChanges
    moved: dict[str, str]


def follow_recased(objects: Objects, base: RecordHash, ours: RecordHash, theirs: RecordHash) -> Recased:
    """Bring folders that one side spelt otherwise to their new name on all three sides, the outermost first.

    Raises:
        MissingObject, TreeError: a tree cannot be read.
    """
    found = _compared(objects.source, base, ours, theirs, {})
    for _ in range(MAX_DEPTH):
        folders = {**_folders(objects.source, found, is_mine=True), **_folders(objects.source, found, is_mine=False)}
        if not folders:
            break
        found = _followed(objects, found, folders)
    return found


def _compared(source: Source, base: RecordHash, ours: RecordHash, theirs: RecordHash, moved: dict[str, str]) -> Recased:
    mine, other = (SideChanges(diff_trees(source, base, side)) for side in (ours, theirs))
    return Recased(base, ours, theirs, mine, other, moved)


def _respelt(side: SideChanges) -> Iterator[tuple[str, str]]:
    """Yield the old and the new path of each folder out of which a side lost a file that it has in a twin of it."""
    new = {twin_key(path): path for path in side.new} if side.lost else {}
    for path in side.lost if new else ():
        there = new.get(twin_key(path), path)
        for old, now in zip(folders_above(path), folders_above(there), strict=True):
            if old != now:
                yield old, now
                break


def _folders(source: Source, trees: Recased, *, is_mine: bool) -> dict[str, tuple[str, bool]]:
    """Return by its old path the new one of each folder that a side spelt otherwise and the other touched."""
    side, rest = (trees.ours, trees.theirs) if is_mine else (trees.theirs, trees.ours)
    found = {}
    for old, new in sorted(set(_respelt(trees.mine if is_mine else trees.other))):
        before, there = (lookup(source, tree, old) for tree in (trees.base, rest))
        if before == there or not all(entry is not None and entry.is_dir for entry in (before, there)):
            continue
        if lookup(source, side, old) is None and all(lookup(source, tree, new) is None for tree in (trees.base, rest)):
            found[old] = new, is_mine
    return found


def _followed(objects: Objects, trees: Recased, folders: dict[str, tuple[str, bool]]) -> Recased:
    """Return the trees with some folders by their new names; of those that lie in another one later."""
    outer = {old: new for old, new in folders.items() if folders.keys().isdisjoint(folders_above(old))}
    by_me = {old: new for old, (new, is_mine) in outer.items() if is_mine}
    by_them = {old: new for old, (new, is_mine) in outer.items() if not is_mine}
    base = _renamed(objects, trees.base, by_me | by_them)
    ours, theirs = _renamed(objects, trees.ours, by_them), _renamed(objects, trees.theirs, by_me)
    moved = {**trees.moved, **_old_names(trees, by_me, trees.other), **_old_names(trees, by_them, trees.mine)}
    return _compared(objects.source, base, ours, theirs, moved)


def _old_names(trees: Recased, folders: dict[str, str], rest: SideChanges) -> dict[str, str]:
    """Return by its new path what the other side touched below renamed folders, files and folders, was called first."""
    touched = {one for path in rest.touched for one in (path, *folders_above(path))} if folders else set()
    below = ((old, path) for path in touched for old in folders.keys() & set(folders_above(path)))
    return {folders[old] + path[len(old) :]: trees.moved.get(path, path) for old, path in below}


def _renamed(objects: Objects, tree: RecordHash, folders: dict[str, str]) -> RecordHash:
    moves: dict[str, Entry | None] = {}
    for old, new in folders.items():
        moves |= {old: None, new: lookup(objects.source, tree, old)}
    return apply_changes(objects, tree, moves) if moves else tree
