"""Copies of a tree outside of the vault's folder: they are written once and looked at no more."""

from __future__ import annotations

from pathlib import Path

from vault.desks.checkout import CheckoutResult, apply_tree
from vault.desks.memory import MemoryCache
from vault.desks.temporary import remove_temporary
from vault.desks.tree import tree_size, walk
from vault.files import make_directory
from vault.records import RecordHash
from vault.space import require_room
from vault.vault import Vault
from vault.watch import Watch

__all__ = ["export_tree", "is_directory"]


def is_directory(path: Path) -> bool:
    """Tell whether a directory is there, as far as one may look."""
    try:
        return path.is_dir()
    except OSError:
        return False


def export_tree(vault: Vault, tree: RecordHash, to: Path, watch: Watch = Watch()) -> CheckoutResult:
    """Write a tree into another directory, which must hold nothing that would be overwritten.

    What was written survives a power cut once this returns. Cut off, the same call goes on: what lies there and is as
    it is to be counts as written.

    Raises:
        NoRoom: its files do not fit on the disk; nothing was written.
        NotWritable, DiskFull: the directory cannot be made, or not be written.
        MissingObject, TreeError: something of the tree is not here, or is broken; what was written stays.
        Cancelled: the person stopped it; what was written stays.
    """
    there = next((path for path in (to, *to.absolute().parents) if is_directory(path)), to)
    require_room(vault.around, there, tree_size(vault.store, tree), "Writing the copy")
    if is_directory(to):
        remove_temporary(to, (path for path, _ in walk(vault.store, tree)))
    make_directory(to)
    return apply_tree(
        to,
        before=None,
        after=tree,
        source=vault.store,
        cache=MemoryCache(),
        durable=True,
        cancel=watch.cancelled,
        progress=watch.travelled,
    )
