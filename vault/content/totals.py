"""How many files a tree holds and their bytes, found from the tree that was counted last (what a release tells)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from vault.desks.diff import Change, diff_trees
from vault.desks.differences import net_of
from vault.desks.ports import Source
from vault.errors import DataError
from vault.notes.folders import TOTALS, Totals
from vault.records import RecordHash
from vault.store.store import Store

__all__ = ["Since", "desk_totals", "keep_totals", "tree_totals"]


class Since(NamedTuple):
    """How a tree differs from one before it, where somebody just compared them."""

    tree: RecordHash | None
    changes: Iterable[Change]


def tree_totals(source: Source, tree: RecordHash) -> tuple[int, int]:
    """Return how many files a tree holds and their bytes, counted one by one.

    Raises:
        MissingObject: a directory of it is not here.
    """
    return net_of(diff_trees(source, None, tree))


def desk_totals(store: Store, desk: str, tree: RecordHash, since: Since | None = None) -> tuple[int, int]:
    """Return how many files a tree of a desk holds and their bytes, from what was kept of the desk's last release.

    Args:
        store: where that is kept, and trees are read.
        desk: the desk.
        tree: the tree.
        since: how it differs from one before it, if that is known.

    Raises:
        MissingObject: a directory of the tree is not here.
    """
    kept = store.note(TOTALS, desk)
    before = None if kept is None else kept.tree
    try:
        is_told = since is not None and since.tree == before
        files, size = net_of(since.changes if since is not None and is_told else diff_trees(store, before, tree))
    except DataError:  # the tree it speaks of is gone
        return tree_totals(store, tree)
    return (files, size) if kept is None else (kept.files + files, kept.bytes + size)


def keep_totals(store: Store, desk: str, tree: RecordHash, since: Since | None = None) -> tuple[int, int]:
    """Return the totals of a desk's tree, and keep them: the next time only what differs is looked at.

    Call it inside a write; `since` as in `desk_totals`.

    Raises:
        MissingObject: a directory of the tree is not here.
    """
    files, size = desk_totals(store, desk, tree, since)
    store.set_note(TOTALS, Totals(tree, files, size), desk)
    return files, size
