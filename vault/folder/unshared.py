"""What my line of a desk holds in the folder of another desk, and nobody shared yet (CLAY-3, CLAY-80).

A folder that is mapped to a desk is no part of the desk around it any more, but what that desk had there stays in its
line. What was not shared goes out with its next release, and for it the rules of the folder's own desk hold; so they
do for what it has where that folder lay before it was moved.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from vault.commands import as_option, as_typed
from vault.desk_folders import desk_at, mapped_folder, within
from vault.desks.diff import diff_trees
from vault.desks.tree import Entry, lookup, walk
from vault.errors import DataError
from vault.folder.desk_moves import left_behind
from vault.records import RecordHash
from vault.revisions.history import commit_info, line_head, releases

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vault.desks.ports import Source
    from vault.vault import Vault

__all__ = ["Part", "parts_of_others", "unshared_at", "unshared_of", "way_back", "way_to_take_out"]


class Part(NamedTuple):
    """A part of a desk for which the rules of another one hold, as far as nobody has it yet.

    Args:
        path: relative to the desk; all below it.
        owner: the desk whose folder lies there, or did.
        left: the tree of the first desk when that folder was moved away; None where it lies there now.
    """

    path: str
    owner: str
    left: RecordHash | None = None


def parts_of_others(vault: Vault, desk: str) -> list[Part]:
    """Return the parts of a desk for which the rules of others hold, those that lie there now first."""
    root = mapped_folder(vault, desk)
    now = [Part(path, desk_at(vault, root / path)) for path in sorted(within(vault, desk))]
    return [*now, *(Part(*left) for left in left_behind(vault, desk) if Part(left.path, left.owner) not in now)]


def unshared_of(
    vault: Vault, desk: str, tree: RecordHash, part: Part, path: str = "", source: Source | None = None
) -> list[str]:
    """Return the files of a part that nothing shared has just so, relative to the desk, sorted.

    Where the folder of the other desk was moved away, what was changed there since is the first desk's own.

    Args:
        vault: whose.
        desk: the desk that has the part.
        tree: its root; `source` has its pages, else the store.
        part: the part.
        path: what of it, relative to it; empty for all.
        source: where it is read.

    Raises:
        MissingObject, TreeError: it cannot be read.
    """
    fresh = unshared_at(vault, desk, tree, f"{part.path}/{path}".rstrip("/"), source)
    if part.left is None:
        return fresh
    pages = source or vault.store
    try:
        return [name for name in fresh if lookup(vault.store, part.left, name) == lookup(pages, tree, name)]
    except DataError:  # then nobody can tell what is its own
        return fresh


def unshared_at(vault: Vault, desk: str, tree: RecordHash, path: str, source: Source | None = None) -> list[str]:
    """Return the files at and below a path of a tree that nothing shared has just so, sorted.

    Args:
        vault: whose.
        desk: the desk of the tree.
        tree: its root; `source` has its pages, else the store.
        path: relative to the desk.
        source: where it is read.

    Raises:
        MissingObject, TreeError: it cannot be read.
    """
    pages = source or vault.store
    entry = lookup(pages, tree, path)
    if entry is None:
        return []
    fresh = _files(pages, path, entry)
    for commit in _shared(vault, desk):
        if not fresh:
            break
        try:
            there = lookup(vault.store, commit_info(vault.store, commit).tree, path)
        except DataError:  # what is not here any more says nothing
            continue
        if there is not None:
            fresh &= _apart(pages, path, there, entry)
    return sorted(fresh)


# Below what is shared, commits are shared without what they hold.
_SHARED = """SELECT r.commit_hash FROM rev r JOIN commits c ON c.hash = r.commit_hash JOIN shared s ON s.p = c.p
 WHERE r.node = ? AND r.desk = ? AND s.content = 1 ORDER BY r.number DESC"""


def _shared(vault: Vault, desk: str) -> Iterator[RecordHash]:
    """Yield the commits of a desk that friends have or get: what I shared (H-29) and what anybody released."""
    mine = (RecordHash.parse(str(text)) for (text,) in vault.store.rows(_SHARED, vault.node.text, desk))
    yield from mine
    yield from (release.commit for release in reversed(releases(vault.store, desk)))


def way_to_take_out(vault: Vault, desk: str, part: Part, fresh: Sequence[str]) -> str:
    """Return what takes out of my line what is unshared of a part, typed where the person is.

    It goes back there to the newest revision that has nothing unshared, the empty one where no other has (CLAY-4).

    Args:
        vault: whose.
        desk: the desk that has the part.
        part: the part.
        fresh: what is unshared of it, as `unshared_of` gave it.
    """
    path = part.path if part.left is None else _with_nothing_else(vault, desk, fresh)
    rows = vault.store.rows(
        "SELECT number, commit_hash FROM rev WHERE node = ? AND desk = ? ORDER BY number DESC", vault.node.text, desk
    )
    mine = [(int(number), RecordHash.parse(str(commit))) for number, commit in rows]
    for number, commit in mine:
        try:
            if unshared_at(vault, desk, commit_info(vault.store, commit).tree, path):
                continue
        except DataError:
            continue
        return way_back(vault, desk, path, number)
    return way_back(vault, desk, path)


def way_back(vault: Vault, desk: str, path: str, number: int = 0) -> str:
    """Return what brings my line back to one of its revisions at a path, typed where the person is.

    The folder of another desk is left alone.
    """
    here = vault.around.here or vault.folder
    name = os.path.relpath(mapped_folder(vault, desk) / path, here)
    where = "" if desk_at(vault, here) == desk else f" {as_option('--desk', desk)}"
    back = as_typed("diff", desk, f"{desk}@{number}", name, options="--changes")
    return f"{back} | lace commit -m TEXT --changes -{where}"


def _with_nothing_else(vault: Vault, desk: str, fresh: Sequence[str]) -> str:
    """Return the folder of some files where my line has nothing else that is unshared, else the first of them."""
    head = line_head(vault.store, vault.node.text, desk)
    common = os.path.commonpath(fresh)
    if head is None or unshared_at(vault, desk, commit_info(vault.store, head.commit).tree, common) != [*fresh]:
        return fresh[0]
    return common


def _files(source: Source, path: str, entry: Entry) -> set[str]:
    if not entry.is_dir:
        return {path}
    return {f"{path}/{name}" for name, below in walk(source, entry.hash) if not below.is_dir}


def _apart(source: Source, path: str, there: Entry, entry: Entry) -> set[str]:
    """Return the files of an entry at a path that another has not just so."""
    if not (there.is_dir and entry.is_dir):
        return set() if there == entry else _files(source, path, entry)
    found = diff_trees(source, there.hash, entry.hash)
    return {f"{path}/{change.path}" for change in found if change.after is not None}
