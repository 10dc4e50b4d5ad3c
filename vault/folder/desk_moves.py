"""What a desk has where the folder of another one lay before it was moved: it stays in its tree (CLAY-3, APP-12)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from vault.desks.absent import add_absent
from vault.desks.tree import lookup, walk
from vault.folder.dir_cache import StoredDirCache
from vault.records import RecordHash

if TYPE_CHECKING:
    from vault.vault import Vault

__all__ = ["keep_left_behind"]


def keep_left_behind(vault: Vault, before: Mapping[str, str], now: Mapping[str, str]) -> None:
    """Note what lies in no folder any more since others were moved, so that no scan takes it for deleted.

    Inside a write.

    Args:
        vault: whose folder.
        before: the folder of each desk, relative to the shared one, before some were moved.
        now: the same as they are from now.

    Raises:
        MissingObject, TreeError: a tree cannot be read; nothing was noted.
    """
    for desk, root in before.items():
        within = {other: _inside(root, folder) for other, folder in before.items() if other != desk}
        left = {path for other, path in within.items() if path and path != _inside(now[desk], now[other])}
        row = vault.store.rows("SELECT tree FROM checkout WHERE desk = ?", desk) if left else ()
        for (text,) in row:
            tree = RecordHash.parse(str(text))
            cache = StoredDirCache(vault, desk)
            add_absent(cache, vault.store, tree, {name for path in left for name in _at_and_below(vault, tree, path)})
            cache.keep()


def _inside(root: str, folder: str) -> str:
    """Return a folder relative to one that it lies in; empty for any other."""
    if not root:
        return folder
    return folder[len(root) + 1 :] if folder.startswith(f"{root}/") else ""


def _at_and_below(vault: Vault, tree: RecordHash, path: str) -> Iterator[str]:
    top = lookup(vault.store, tree, path)
    if top is not None:
        yield path
        if top.is_dir:
            yield from (f"{path}/{name}" for name, _ in walk(vault.store, top.hash))
