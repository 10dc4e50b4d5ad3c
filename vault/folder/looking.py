"""The one way in which the folder of a desk is looked at: what stays out, what is held, and what is remembered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault.desk_folders import scanned_folder, within
from vault.desks.memory import MemoryObjects
from vault.desks.worktree import Scanning, Snapshot, snapshot
from vault.folder.held_rules import held_by

if TYPE_CHECKING:
    from vault.desks.held import Held
    from vault.folder.dir_cache import StoredDirCache
    from vault.records import RecordHash
    from vault.vault import Vault
    from vault.watch import Watch

__all__ = ["look", "scanning"]


def look(
    vault: Vault, desk: str, base: RecordHash | None, overlay: MemoryObjects, cache: StoredDirCache, watch: Watch
) -> Snapshot:
    """Return what the folder of a desk holds now; nothing is written but into `overlay` and `cache`.

    Args:
        vault: whose folder.
        desk: the desk.
        base: the tree that it is compared with.
        overlay: takes the trees, and the content too if it keeps it.
        cache: what is known of directories that did not change.
        watch: progress and cancel.
    """
    return snapshot(
        scanned_folder(vault, desk),
        group=vault.group,
        source=overlay,
        sink=overlay,
        base=base,
        bulk=MemoryObjects(trees_only=True),  # no merge reads lines of a large file
        cache=cache,
        now_ns=vault.around.now_ns,
        how=scanning(vault, desk, watch, held_by(vault, desk)),
    )


def scanning(vault: Vault, desk: str, watch: Watch, held: Held) -> Scanning:
    """Return how the folder of a desk is scanned, with former rules that hold on."""
    return Scanning(
        cancel=watch.cancelled,
        progress=watch.travelled,
        without=within(vault, desk),
        held=held,
        processes=vault.around.processors,
        probe=vault.dot / ".gitignore",
    )
