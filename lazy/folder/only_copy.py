"""What one commit alone holds, where its folder was edited since: to take it back would lose that (APP-4, APP-13)."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple

from vault.content.reached import held_beside
from vault.desks.diff import diff_trees
from vault.desks.memory import MemoryObjects
from vault.desks.pages import Entry
from vault.errors import DataError
from vault.files import NotWritable
from vault.folder.checkout_journal import plan_folder
from vault.folder.work import changes
from vault.records import RecordHash
from vault.revisions.history import CommitInfo
from vault.vault import Vault
from vault.watch import Watch

__all__ = ["OnlyCopy", "only_copies"]

_READ_BYTES = 8 << 20  # of what a commit changed


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
    base = before if vault.store.have([before]) else None
    made = {
        path: entry
        for path, _, _, entry in diff_trees(vault.store, base, info.tree)
        if entry is not None and not entry.is_dir and entry.size
    }
    as_made = _as_made(vault, info, base, made, watch)
    lacking = {entry.hash for entry in made.values()} - {made[path].hash for path in as_made}
    lacking -= held_beside(vault, lacking, info.hash, watch)
    if not lacking:
        return ()
    # Under another name the folder may have it yet, which a look at all of it tells.
    overlay = MemoryObjects(fallback=vault.store, trees_only=True)
    now = changes(vault, info.desk, watch, overlay=overlay, is_dry=is_dry).tree
    since = {change.path: change.after for change in diff_trees(overlay, info.tree, now)}
    lacking -= {entry.hash for entry in since.values() if entry is not None}
    lacking -= {entry.hash for path, entry in made.items() if path not in since}
    return tuple(OnlyCopy(path, since[path] is None) for path in sorted(made) if made[path].hash in lacking)


def _as_made(
    vault: Vault, info: CommitInfo, base: RecordHash | None, made: Mapping[str, Entry], watch: Watch
) -> frozenset[str]:
    """Return the files that the folder has as a commit made them; of large ones only a look at all of it tells.

    That knows them by their times, where this reads them.
    """
    if sum(entry.size for entry in made.values()) > _READ_BYTES:
        return frozenset()
    with suppress(DataError, NotWritable):  # what cannot be read is asked about by the look
        here = plan_folder(vault, info.desk, base, info.tree, vault.store, watch).here
        return frozenset(path for path in here if path in made)
    return frozenset()
