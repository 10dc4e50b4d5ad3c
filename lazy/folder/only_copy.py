"""What one commit alone holds, where its folder was edited since: to take it back would lose that (APP-4, APP-13)."""

from __future__ import annotations

from typing import NamedTuple

from vault.content.reached import held_beside
from vault.desks.diff import diff_trees
from vault.desks.memory import MemoryObjects
from vault.desks.tree import walk
from vault.folder.work import changes
from vault.records import RecordHash
from vault.revisions.history import CommitInfo
from vault.vault import Vault
from vault.watch import Watch

__all__ = ["OnlyCopy", "only_copies"]


class OnlyCopy(NamedTuple):
    """A file as a commit has it and nothing else here.

    Args:
        path: of the file, relative to the desk.
        is_gone: whether the folder has nothing there; else it was edited.
    """

    path: str
    is_gone: bool


def only_copies(
    vault: Vault, info: CommitInfo, before: RecordHash, watch: Watch, *, is_dry: bool
) -> tuple[OnlyCopy, ...]:
    """Return the files that a commit made otherwise than they were, and that nobody has just so any more, by path.

    What the folder holds is here, under whatever name, and so is what any other commit has.

    Args:
        vault: whose.
        info: the commit.
        before: the tree that it changed.
        watch: progress and cancel.
        is_dry: as in `vault.folder.work.changes`.

    Raises:
        FolderGone, Unreadable, MissingObject, TreeError, Cancelled: as `changes`.
    """
    overlay = MemoryObjects(fallback=vault.store, trees_only=True)
    now = changes(vault, info.desk, watch, overlay=overlay, is_dry=is_dry).tree
    if now == info.tree:
        return ()
    since = {change.path: change.after for change in diff_trees(overlay, info.tree, now)}
    base = before if vault.store.have([before]) else None
    found: dict[str, RecordHash] = {}
    for path, _, _, entry in diff_trees(overlay, base, info.tree):
        if path in since and entry is not None and not entry.is_dir and entry.size:
            found[path] = entry.hash
    if not found:
        return ()
    here = {entry.hash for _, entry in walk(overlay, now) if not entry.is_dir}
    here |= held_beside(vault, set(found.values()) - here, info.hash, watch)
    return tuple(OnlyCopy(path, since[path] is None) for path, content in sorted(found.items()) if content not in here)
