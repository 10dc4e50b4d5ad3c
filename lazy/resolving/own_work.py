"""What a decision would release of mine that was not released before: nobody asked for it by name (LAZ-39)."""

from __future__ import annotations

from lazy.contested import Conflict
from vault.desks.diff import diff_trees
from vault.desks.paths import FolderPath
from vault.desks.ports import Source
from vault.folder.checked_out import checkout_of
from vault.records import RecordHash
from vault.revisions.history import commit_info, last_shared
from vault.since_release import since_release
from vault.vault import Vault

__all__ = ["own_work"]


def own_work(vault: Vault, conflict: Conflict, source: Source, folder: RecordHash) -> set[str]:
    """Return the paths that a merge would give friends of what my folder holds.

    Of a folder before its first commit a file may be among them that sides have otherwise: `unedited` tells of it.

    Args:
        vault: whose folder.
        conflict: that is decided.
        source: where trees are read.
        folder: the tree of what the folder holds.

    Raises:
        MissingObject, TreeError: a directory is not here or broken.
    """
    desk = conflict.desk
    base, last = checkout_of(vault, desk), last_shared(vault, desk)
    if base is None or last is None:
        found = {change.path for change in diff_trees(source, None, folder)}
    else:
        since = since_release(vault, desk, last, folder, source, base.commit)
        found = {change.path for change in since.items} if since is not None else set()
    for side in conflict.sides:
        if side.node != vault.node.text and found:
            theirs = commit_info(vault.store, side.commit).tree
            found &= {change.path for change in diff_trees(source, theirs, folder)}
    return {path for path in found if not isinstance(path, FolderPath)}
