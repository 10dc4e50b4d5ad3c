"""What an act is about to write over in a folder, kept first: an undo goes back to it, or its name does (APP-4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from vault.desks.edit import select_paths
from vault.folder.checked_out import checkout_of
from vault.folder.dir_cache import StoredDirCache
from vault.folder.held_rules import held_by
from vault.folder.looking import take
from vault.records import RecordHash
from vault.revisions.kept_states import KeptState, keep_state
from vault.vault import Vault
from vault.watch import Watch
from vault.writer import Writer

__all__ = ["Found", "keep_found"]


class Found(NamedTuple):
    """What a folder holds at paths, on what it stands on otherwise.

    Args:
        tree: of both, which is stored.
        state: the same by its name; None where it is not to be kept.
    """

    tree: RecordHash
    state: KeptState | None


def keep_found(
    w: Writer, vault: Vault, desk: str, paths: Sequence[str], watch: Watch, *, is_to_keep: bool = True
) -> Found | None:
    """Store what a folder holds at paths, and keep it as a state; None before the first commit.

    Args:
        w: the write, of the act that writes over it.
        vault: whose folder.
        desk: the desk.
        paths: relative to it.
        watch: progress and cancel.
        is_to_keep: whether it is kept by a name; else it is stored for this write.

    Raises:
        NoSuchPath: nothing is at one, nor in what the folder stands on.
        NoRoom, FolderGone, Unreadable, Cancelled: as `vault.folder.looking.take`.
    """
    base = checkout_of(vault, desk)
    if base is None:
        return None
    snap = take(w, vault, desk, base.tree, StoredDirCache(vault, desk), watch, held_by(vault, desk))
    w.flush()
    tree = select_paths(vault.store, w, vault.group, base.tree, snap.root, paths)
    w.flush()
    node = vault.node.text
    return Found(tree, keep_state(w.store, node, desk, tree) if is_to_keep else None)
