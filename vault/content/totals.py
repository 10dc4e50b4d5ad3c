"""How many files a tree holds and their bytes, found from the tree that was counted last (what a release tells)."""

from __future__ import annotations

from vault.desks.diff import diff_trees
from vault.desks.ports import Source
from vault.errors import DataError
from vault.records import RecordHash
from vault.store.store import Store

__all__ = ["desk_totals", "keep_totals", "tree_totals"]

_KEY = "totals "  # setting of the store: what a desk's tree came to that was counted last


def tree_totals(source: Source, tree: RecordHash, before: RecordHash | None = None) -> tuple[int, int]:
    """Return by how many files, and by how many of their bytes, a tree holds more than another, or than none.

    Raises:
        MissingObject: a directory of one of them is not here.
    """
    files = size = 0
    for change in diff_trees(source, before, tree):
        for entry, sign in ((change.after, 1), (change.before, -1)):
            if entry is not None and entry.kind != "d":
                files += sign
                size += sign * entry.size
    return files, size


def desk_totals(store: Store, desk: str, tree: RecordHash) -> tuple[int, int]:
    """Return how many files a tree of a desk holds and their bytes, from what was kept of the desk's last release.

    Raises:
        MissingObject: a directory of the tree is not here.
    """
    try:
        before, files, size = store.meta(_KEY + desk).split(" ")
        more = tree_totals(store, tree, RecordHash.parse(before))
        return int(files) + more[0], int(size) + more[1]
    except (ValueError, DataError):  # nothing is kept, or the tree it speaks of is gone
        return tree_totals(store, tree)


def keep_totals(store: Store, desk: str, tree: RecordHash) -> tuple[int, int]:
    """Return the totals of a desk's tree, and keep them: the next time only what differs is looked at.

    Call it inside a write.

    Raises:
        MissingObject: a directory of the tree is not here.
    """
    files, size = desk_totals(store, desk, tree)
    store.set_meta(_KEY + desk, f"{tree.text} {files} {size}")
    return files, size
