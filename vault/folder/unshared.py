"""What my line of a desk holds in the folder of another desk, and nobody shared yet (CLAY-3, CLAY-80).

A folder that is mapped to a desk is no part of the desk around it any more, but what that desk had there stays in its
line. What was not shared goes out with its next release, and for it the rules of the folder's own desk hold; so they
do for what it has where that folder lay before it was moved.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from vault.commands import as_option, as_typed
from vault.desk_folders import desk_at, mapped_folder, within
from vault.desks.diff import diff_trees
from vault.desks.pages import Entry
from vault.desks.tree import lookup, walk
from vault.errors import DataError
from vault.folder.desk_moves import left_behind
from vault.records import RecordHash
from vault.revisions.history import commit_info, line_head, releases

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from vault.desks.ports import Source
    from vault.vault import Vault

_FEW = 16  # files that are looked for in each state on their own

__all__ = ["OthersPath", "paths_of_others", "unshared_at", "unshared_of", "way_back", "way_to_take_out"]


class OthersPath(NamedTuple):
    """A path of a desk for which the rules of another one hold, as far as nobody has it yet.

    Args:
        path: relative to the desk; all below it.
        owner: the desk whose folder lies there, or did.
        left: the tree of the first desk when that folder was moved away; None where it lies there now.
    """

    path: str
    owner: str
    left: RecordHash | None = None


def paths_of_others(vault: Vault, desk: str) -> list[OthersPath]:
    """Return the paths of a desk for which the rules of others hold, those that lie there now first."""
    root = mapped_folder(vault, desk)
    now = [OthersPath(path, desk_at(vault, root / path)) for path in sorted(within(vault, desk))]
    return [
        *now,
        *(OthersPath(*left) for left in left_behind(vault, desk) if OthersPath(left.path, left.owner) not in now),
    ]


def unshared_of(
    vault: Vault, desk: str, tree: RecordHash, at: OthersPath, path: str = "", source: Source | None = None
) -> list[str]:
    """Return the files at and below such a path that nothing shared has just so, relative to the desk, sorted.

    Where the folder of the other desk was moved away, what was changed there since is the first desk's own.

    Args:
        vault: whose.
        desk: the desk that has the path.
        tree: its root; `source` has its pages, else the store.
        at: the path.
        path: what of it, relative to it; empty for all.
        source: where it is read.

    Raises:
        MissingObject, TreeError: it cannot be read.
    """
    fresh = unshared_at(vault, desk, tree, f"{at.path}/{path}".rstrip("/"), source)
    if at.left is None:
        return fresh
    pages = source or vault.store
    try:
        return [name for name in fresh if lookup(vault.store, at.left, name) == lookup(pages, tree, name)]
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
    return sorted(_Known(vault, desk, path).lacks(source or vault.store, tree))


# Below what is shared, commits are shared without what they hold.
_SHARED = """SELECT r.commit_hash FROM rev r JOIN commits c ON c.hash = r.commit_hash JOIN shared s ON s.p = c.p
 WHERE r.node = ? AND r.desk = ? AND s.content = 1 ORDER BY r.number DESC"""


def _shared(vault: Vault, desk: str) -> Iterator[RecordHash]:
    """Yield the commits of a desk that friends have or get: what I shared (H-29) and what anybody released."""
    mine = (RecordHash.parse(str(text)) for (text,) in vault.store.rows(_SHARED, vault.node.text, desk))
    yield from mine
    yield from (release.commit for release in reversed(releases(vault.store, desk)))


def way_to_take_out(vault: Vault, desk: str, at: OthersPath, fresh: Sequence[str]) -> str:
    """Return what takes out of my line what is unshared at and below such a path, typed where the person is.

    It goes back there to the newest revision that has nothing unshared, the empty one where no other has (CLAY-4).

    Args:
        vault: whose.
        desk: the desk that has the path.
        at: the path.
        fresh: what is unshared of it, as `unshared_of` gave it.
    """
    path = at.path if at.left is None else _with_nothing_else(vault, desk, fresh)
    rows = vault.store.rows(
        "SELECT number, commit_hash FROM rev WHERE node = ? AND desk = ? ORDER BY number DESC", vault.node.text, desk
    )
    known = _Known(vault, desk, path)
    tried: set[Entry | None] = set()
    for number, commit in rows:
        try:
            tree = commit_info(vault.store, RecordHash.parse(str(commit))).tree
            entry = lookup(vault.store, tree, path)
            if entry not in tried and next(iter(known.lacks(vault.store, tree)), None) is None:
                return way_back(vault, desk, path, int(number))
        except DataError:
            continue
        tried.add(entry)
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


class _Known:
    """What friends have at a path of a desk, each state of it read once, and none before it is asked for."""

    def __init__(self, vault: Vault, desk: str, path: str) -> None:
        self._store, self._path = vault.store, path
        self._coming = self._entries(vault, desk)
        self._read: list[Entry] = []
        self._at: dict[str, set[Entry | None]] = {}

    def lacks(self, pages: Source, tree: RecordHash) -> Iterable[str]:
        """Return the files at and below the path that a tree has and no friend has just so, relative to the desk.

        Raises:
            MissingObject, TreeError: the tree cannot be read.
        """
        entry = lookup(pages, tree, self._path)
        if entry is None:
            return ()
        fresh: set[str] | None = None
        for there in self._each():
            apart = _apart(pages, self._path, there, entry)
            fresh = apart if fresh is None else fresh & apart
            if len(fresh) <= _FEW:  # of these alone the other states are asked: most have many more that differ
                return {name for name in fresh if lookup(pages, tree, name) not in self._known_at(name)}
        return _files(pages, self._path, entry) if fresh is None else fresh

    def _known_at(self, name: str) -> set[Entry | None]:
        """Return what friends have at the path of one file."""
        if name not in self._at:
            below = name[len(self._path) + 1 :]
            found = self._at[name] = set()
            for there in self._each():
                if there.is_dir != bool(below):
                    continue
                with suppress(DataError):  # what is not here any more says nothing
                    found.add(lookup(self._store, there.hash, below) if below else there)
        return self._at[name]

    def _each(self) -> Iterator[Entry]:
        """Yield the states of the path that friends have, each once."""
        yield from self._read
        for entry in self._coming:
            self._read.append(entry)
            yield entry

    def _entries(self, vault: Vault, desk: str) -> Iterator[Entry]:
        met: set[Entry | None] = {None}
        for commit in _shared(vault, desk):
            try:
                entry = lookup(vault.store, commit_info(vault.store, commit).tree, self._path)
            except DataError:
                continue
            if entry is not None and entry not in met:
                met.add(entry)
                yield entry


def _files(source: Source, path: str, entry: Entry) -> Iterator[str]:
    """Yield the files of an entry at a path."""
    if entry.is_dir:
        yield from (f"{path}/{name}" for name, below in walk(source, entry.hash) if not below.is_dir)
    else:
        yield path


def _apart(source: Source, path: str, there: Entry, entry: Entry) -> set[str]:
    """Return the files of an entry at a path that another has not just so."""
    if not (there.is_dir and entry.is_dir):
        return set() if there == entry else set(_files(source, path, entry))
    found = diff_trees(source, there.hash, entry.hash)
    return {f"{path}/{change.path}" for change in found if change.after is not None and not change.after.is_dir}
