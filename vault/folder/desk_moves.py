"""What a desk has where the folder of another one lay before it was moved: it stays in its tree (CLAY-3, APP-12).

It is noted, too: the rules of the desk whose folder it was go on to hold for it (CLAY-80).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from vault.desks.absent import add_absent
from vault.desks.tree import lookup, walk
from vault.folder.dir_cache import StoredDirCache
from vault.records import RecordHash

if TYPE_CHECKING:
    from vault.vault import Vault

__all__ = ["Left", "keep_left_behind", "left_behind"]

_KEY = "left behind "  # setting of the store, with a desk: path, owner and tree of each


class Left(NamedTuple):
    """Where a desk has what lay in the folder of another one.

    Args:
        path: of the folder before it was moved, relative to the desk that has it.
        owner: the desk whose folder it was.
        tree: on what the first one stood then: what is there and otherwise by now is its own.
    """

    path: str
    owner: str
    tree: RecordHash


def left_behind(vault: Vault, desk: str) -> tuple[Left, ...]:
    """Return where a desk has what lay in the folders of others before they were moved, the earliest first."""
    kept = json.loads(vault.store.meta(_KEY + desk) or "[]")
    return tuple(Left(str(path), str(owner), RecordHash.parse(str(tree))) for path, owner, tree in kept)


def keep_left_behind(vault: Vault, before: Mapping[str, str], now: Mapping[str, str]) -> None:
    """Note what lies in no folder any more since others were moved, so that no scan takes it for deleted.

    Inside a write.

    Args:
        vault: whose folder.
        before: the folder of each desk, relative to the shared one, before some were moved.
        now: the same as they are from now.

    Raises:
        MissingObject, TreeError: a tree cannot be read; nothing was noted.
        TooManyAbsent: there is no room for all of it; nothing was noted.
    """
    for desk, root in before.items():
        within = {other: _inside(root, folder) for other, folder in before.items() if other != desk}
        left = {other: path for other, path in within.items() if path and path != _inside(now[desk], now[other])}
        row = vault.store.rows("SELECT tree FROM checkout WHERE desk = ?", desk) if left else ()
        for (text,) in row:
            tree = RecordHash.parse(str(text))
            names = {other: set(_at_and_below(vault, tree, path)) for other, path in left.items()}
            cache = StoredDirCache(vault, desk)
            add_absent(cache, vault.store, tree, {name for found in names.values() for name in found})
            cache.keep()
            _note(vault, desk, [Left(path, other, tree) for other, path in left.items() if names[other]])


def _note(vault: Vault, desk: str, left: list[Left]) -> None:
    kept = dict.fromkeys([*left_behind(vault, desk), *left])
    text = json.dumps([[each.path, each.owner, each.tree.text] for each in kept], ensure_ascii=False)
    vault.store.set_meta(_KEY + desk, text if kept else "")


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
