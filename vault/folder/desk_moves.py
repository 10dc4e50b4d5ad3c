"""What a desk has where the folder of another one lay before it was moved: it stays in its tree (CLAY-3, APP-12).

It is noted, too: the rules of the desk whose folder it was go on to hold for it (CLAY-80).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from vault.audit.entries import AuditEntry, read_audit
from vault.desks.absent_paths import add_absent
from vault.desks.tree import lookup, walk
from vault.errors import DataError
from vault.folder.dir_cache import StoredDirCache
from vault.kept_rows import kept_rows
from vault.notes.folders import LEFT_BEHIND
from vault.records import RecordHash

if TYPE_CHECKING:
    from vault.vault import Vault

__all__ = ["Left", "keep_left_behind", "left_behind", "tell_left_behind_again"]


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
    """Return where a desk has what lay in the folders of others before they were moved, the earliest first.

    Raises:
        RulesDamaged: that rotted (APP-13); it is never taken for nothing, by which what others may not read goes out.
    """
    owners = {str(name) for (name,) in vault.store.rows("SELECT name FROM desk")}

    def as_kept(path: str, owner: str, tree: RecordHash) -> Left:
        if owner not in owners:
            raise ValueError(owner)
        return Left(path, owner, tree)

    return kept_rows(vault.store, LEFT_BEHIND, desk, as_kept, f"What the desk {desk} has of folders that were moved")


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
        RulesDamaged: what was noted before cannot be read; nothing was noted.
    """
    noted = {desk: left_behind(vault, desk) for desk in before}
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
            _note(vault, desk, [*noted[desk], *(Left(at, other, tree) for other, at in left.items() if names[other])])


def tell_left_behind_again(vault: Vault, desk: str, folders: Mapping[str, str]) -> None:
    """Note in place of what rotted where a desk has what lies in folders that the audit trail says others had.

    Inside a transaction. It may be more than was noted, and so keeps in more: the tree is the newest of the line that
    has something there, and what the desk itself put there since counts as the other's.

    Args:
        vault: whose folder.
        desk: the desk.
        folders: of each desk, relative to the shared one, as they are now.
    """
    known: dict[str, str] = {desk: ""} if not folders[desk] else {}
    met: dict[tuple[str, str], None] = {}
    for entry in _mappings(vault):
        known[entry.object] = dict(entry.parameters).get("folder", "")
        if desk in known:
            met |= {(_inside(known[desk], folder), other): None for other, folder in known.items() if other in folders}
    now = {(_inside(folders[desk], folder), other) for other, folder in folders.items()}
    trees = _trees(vault, desk)
    left = [
        Left(path, other, tree)
        for path, other in met
        if path and other != desk and (path, other) not in now and (tree := _newest_with(vault, trees, path))
    ]
    _note(vault, desk, left)


def _mappings(vault: Vault) -> Iterator[AuditEntry]:
    """Yield the entries of the trail that map a desk, the first first, but for those that cannot be read."""
    from vault.audit.trail import entries_of  # most vaults have one desk, which moves nowhere

    for seal in entries_of(vault, "lace-desk"):
        with suppress(DataError):
            yield read_audit(seal)


def _trees(vault: Vault, desk: str) -> list[RecordHash]:
    """Return on what a desk's folder stands, then what the revisions of its line hold, the newest first."""
    rows = vault.store.rows(
        "SELECT tree FROM checkout WHERE desk = ?1 UNION ALL SELECT * FROM (SELECT c.tree FROM rev r JOIN commits c"
        " ON c.hash = r.commit_hash WHERE r.desk = ?1 AND r.node = ?2 ORDER BY r.number DESC)",
        desk,
        vault.node.text,
    )
    return list(dict.fromkeys(RecordHash.parse(str(tree)) for (tree,) in rows))


def _newest_with(vault: Vault, trees: list[RecordHash], path: str) -> RecordHash | None:
    for tree in trees:
        with suppress(DataError):  # what is not here any more goes out to nobody
            if lookup(vault.store, tree, path) is not None:
                return tree
    return None


def _note(vault: Vault, desk: str, left: list[Left]) -> None:
    vault.store.set_note(LEFT_BEHIND, tuple(dict.fromkeys(left)), desk)


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
