"""Whether what a folder holds otherwise than it stands on can be had again: then it may be written over (CYB-8)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from itertools import accumulate

from lazy.folder.saving import commits_with
from vault.desks.chunks import check_here
from vault.desks.diff import Change, diff_trees
from vault.desks.tree import lookup
from vault.errors import DataError
from vault.folder.brought_paths import brought_trees
from vault.folder.held_rules import looked_at
from vault.folder.work import Changes
from vault.records import RecordHash
from vault.vault import Vault

__all__ = ["holds_mine", "holds_something", "is_in_one", "is_kept", "looked_there", "mine_of", "written_over"]

_ASKED = 64  # of my last revisions, whether they have a file that is found in the folder


def holds_something(item: Change) -> bool:
    """Tell whether a change could be lost: not where something is gone, or where a directory is empty now."""
    return item.after is not None and not item.after.is_dir


def holds_mine(vault: Vault, tree: RecordHash, desk: str, edited: Sequence[Change]) -> bool:
    """Tell whether one of some changes of the folder has what no state has that can be brought back again."""
    return bool(mine_of(vault, tree, desk, edited))


def mine_of(vault: Vault, tree: RecordHash, desk: str, edited: Sequence[Change]) -> tuple[Change, ...]:
    """Return those of some changes of the folder that have what no state has that can be brought back again.

    Args:
        vault: whose folder.
        tree: that is to be written there.
        desk: the desk.
        edited: the changes.
    """
    # What is as the tree has it already, a cut-off run of this very command brought back: it is no change of mine.
    there = [item for item in edited if holds_something(item) and item.after != lookup(vault.store, tree, item.path)]
    trees = _states_here(vault, desk) if there else []
    return tuple(item for item in there if not is_in_one(vault, trees, item))


def _states_here(vault: Vault, desk: str) -> list[RecordHash]:
    """Return the trees of which the folder may hold a file untouched: brought by path, looked at, last committed."""
    looked = looked_there(vault, desk)
    last = vault.store.rows(
        "SELECT c.tree FROM rev r JOIN commits c ON c.hash = r.commit_hash WHERE r.node = ? AND r.desk = ?"
        " ORDER BY r.number DESC LIMIT ?",
        vault.node.text,
        desk,
        _ASKED,
    )
    known = [*brought_trees(vault, desk), *((looked,) if looked else ()), *(RecordHash.parse(str(t)) for (t,) in last)]
    return list(dict.fromkeys(known))


def looked_there(vault: Vault, desk: str) -> RecordHash | None:
    """Return the tree that the folder looks at, where a revision or a release has it.

    After an undo of a commit it looks at what that held, which no revision has any more: there it is work of mine.
    """
    looked = looked_at(vault, desk)
    return looked if looked is not None and commits_with(vault, desk, looked) else None


def is_in_one(vault: Vault, trees: list[RecordHash], item: Change) -> bool:
    """Tell whether one of some trees has just what the folder has at a path, and all of it is here.

    The tree that has it comes first from then: of many files most are from one.
    """
    for at, tree in enumerate(trees):
        with suppress(DataError):  # a state that is not whole here
            entry = lookup(vault.store, tree, item.path)
            if entry is not None and entry == item.after:
                check_here(vault.store, entry)
                trees.insert(0, trees.pop(at))
                return True
    return False


def is_kept(vault: Vault, dirty: Changes) -> bool:
    """Tell whether a folder holds exactly what a revision of mine or a friend's release holds, all of it still here."""
    wanted = {item.after.hash for item in dirty.items if item.after is not None and not item.after.is_dir}
    known = commits_with(vault, dirty.desk, dirty.tree)
    return bool(known) and vault.store.have(wanted) == wanted and vault.store.is_closed(dirty.tree)


def written_over(vault: Vault, before: RecordHash, after: RecordHash, items: Sequence[Change]) -> tuple[Change, ...]:
    """Return those changes of a folder that lie where two trees differ, above or below; others are in no way."""
    moved = {change.path for change in diff_trees(vault.store, before, after)} if items else set()
    above = {way for path in moved for way in accumulate(path.split("/"), "{}/{}".format)}

    def is_met(path: str) -> bool:
        return path in above or not moved.isdisjoint(accumulate(path.split("/"), "{}/{}".format))

    return tuple(item for item in items if is_met(item.path))
