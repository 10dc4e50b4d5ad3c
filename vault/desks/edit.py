"""New trees from old ones: apply a change set, or take only some paths (CLAY-37 to 41)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from vault.desks.delta_bases import OldPages
from vault.desks.pages import Entry
from vault.desks.paths import folders_above, split_path
from vault.desks.ports import Objects, Source
from vault.desks.tree import build_directory, lookup, read_directory
from vault.errors import CallerError
from vault.records import RecordHash

__all__ = ["NoSuchPath", "PathInTheWay", "apply_changes", "select_paths"]


class PathInTheWay(CallerError):
    """A change puts something below a path that is a file."""

    code = "path-in-the-way"
    exit_code = 2
    hint = "Delete or rename the file in the same change."


class NoSuchPath(CallerError):
    """A path that was named is in neither of the trees."""

    code = "no-such-path"
    exit_code = 2
    hint = "See what changed with: lace changes"


class _Trees(NamedTuple):
    """Where pages are read and written, and the old ones that new ones are like."""

    objects: Objects
    old: OldPages


@dataclass(slots=True)
class _Node:
    """The changes at and below one path."""

    is_set: bool = False
    entry: Entry | None = None
    below: dict[str, _Node] = field(default_factory=dict)

    def adds(self) -> bool:
        return self.entry is not None or any(node.adds() for node in self.below.values())


def apply_changes(objects: Objects, root: RecordHash | None, changes: Mapping[str, Entry | None]) -> RecordHash:
    """Return the root of a tree with changes applied; only directories on their paths are rewritten.

    Args:
        objects: where pages of the old tree are read, and the new ones go.
        root: the old tree, or None for an empty one.
        changes: what stands at a path from now, None for nothing. A directory entry sets everything below it
            at once, and changes below it are applied on top. A directory that loses its last entry goes,
            unless it is itself set to a directory.

    Raises:
        BadPath: a path cannot be one.
        PathInTheWay: something is put below a file; nothing was changed (CLAY-41).
        NamesClash: two names of one directory cannot stand together.
        MissingObject, TreeError: the old tree cannot be read.
    """
    top = _Node()
    for path, entry in changes.items():
        node = top
        for name in split_path(path):
            node = node.below.setdefault(name, _Node())
        node.is_set, node.entry = True, entry
    if top.is_set:
        root = top.entry.hash if top.entry is not None else None
    old = read_directory(objects.source, root) if root is not None else ()
    trees = _Trees(objects, OldPages(objects.source))
    return _build(trees, _apply(trees, "", old, top), root)[0]


def _build(trees: _Trees, entries: list[Entry], old: RecordHash | None) -> tuple[RecordHash, int]:
    return build_directory(trees.objects.group, entries, trees.objects.sink, trees.old.of(old))


def _apply(trees: _Trees, where: str, old: tuple[Entry, ...], node: _Node) -> list[Entry]:
    entries = {entry.name: entry for entry in old}
    for name, change in node.below.items():
        path = f"{where}{name}"
        now = entries.pop(name, None)
        if change.is_set:
            now = change.entry.named(name) if change.entry is not None else None
        if change.below:
            now = _apply_below(trees, path, now, change)
        if now is not None:
            entries[name] = now
    return list(entries.values())


def _apply_below(trees: _Trees, path: str, now: Entry | None, change: _Node) -> Entry | None:
    adds = any(node.adds() for node in change.below.values())
    if now is not None and not now.is_dir:
        if adds:
            raise PathInTheWay(f"{path} is a file, so nothing can be put below it.")
        return now
    if now is None and not adds:
        return None
    below = read_directory(trees.objects.source, now.hash, size=now.size) if now is not None else ()
    new = _apply(trees, path + "/", below, change)
    keeps_empty = change.is_set or (now is not None and not below)
    if not new and not keeps_empty:
        return None
    root, size = _build(trees, new, now.hash if now is not None else None)
    return Entry("d", "-", size, root, path.rpartition("/")[2])


def select_paths(objects: Objects, base: RecordHash | None, new: RecordHash, paths: Iterable[str]) -> RecordHash:
    """Return `base` with everything at and below `paths` as it is in `new` (a partial commit).

    Args:
        objects: where both trees are read, and the new pages go.
        base: the old tree, or None for an empty one.
        new: the tree from which the paths are taken.
        paths: relative to the desk; the empty path is everything.

    Raises:
        NoSuchPath: a path is in neither tree.
        BadPath, MissingObject, TreeError: as `apply_changes`.
    """
    source = objects.source
    changes: dict[str, Entry | None] = {}
    for path in paths:
        names = split_path(path)
        if not names:
            return new
        found = lookup(source, new, path)
        if found is None and (base is None or lookup(source, base, path) is None):
            raise NoSuchPath(f"{path} is neither in the folder nor in what it stands on.")
        for above in folders_above(path):
            old = lookup(source, base, above) if base is not None else None
            if found is not None and old is not None and not old.is_dir:
                changes.setdefault(above, None)
        changes[path] = found
        if found is None:
            _keep_emptied(source, new, names, changes)
    return apply_changes(objects, base, changes)


def _keep_emptied(source: Source, new: RecordHash, names: tuple[str, ...], changes: dict[str, Entry | None]) -> None:
    """Let a directory stay that stands empty in the new tree after its last file was deleted."""
    above = "/".join(names[:-1])
    parent = lookup(source, new, above) if above else None
    if parent is not None and parent.is_dir and not read_directory(source, parent.hash):
        changes.setdefault(above, parent)
