"""Parts of a folder that were brought there from a commit which my line does not contain (CLAY-24, CLAY-73, FAC-20).

Such a part is a change like any other: it is committed by me, and the folder goes on standing on one commit. Only where
that commit's line comes in later, the merge has to know where the part came from: what I left as it came there is no
change of mine, and against what my line had before it all of it would clash.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import NamedTuple

from vault.desks.diff import diff_trees
from vault.desks.edit import PathInTheWay, apply_changes
from vault.desks.memory import MemoryObjects
from vault.desks.ports import Source
from vault.desks.tree import Entry, lookup
from vault.errors import DataError
from vault.folder.standing import checkout_of
from vault.records import RecordHash
from vault.revisions.graph import is_ancestor
from vault.revisions.history import commit_info, line_head
from vault.vault import Vault
from vault.writer import Writer

__all__ = ["Part", "base_with_parts", "is_as_brought", "note_part"]

_KEY = "parts "  # setting of the store: what was brought into a desk's folder from where
_MOST = 64  # of one desk; of those before it is only asked more than need be


class Part(NamedTuple):
    """A path of a desk, and the commit it was brought from; None where a person chose a state that is no newest."""

    path: str
    commit: RecordHash | None

    def holds(self, path: str) -> bool:
        """Tell whether a path is this one or below it."""
        return f"{path}/".startswith(f"{self.path}/")


def note_part(w: Writer, vault: Vault, desk: str, path: str, node: str, commit: RecordHash) -> None:
    """Note that a path of the folder is from now as a node's commit has it; in the write that brings it there.

    What is not the newest of its line, or is in mine, was chosen before what came later: a clash is for a person then.
    """
    head = line_head(vault.store, node, desk)
    now = Part(path, commit if head is not None and head.commit == commit else None)
    found: list[Part] = []
    for part in (*(part for part in _parts(vault, desk) if not now.holds(part.path)), now):
        if not _is_mine(vault, desk, part.commit):
            found.append(part)
        elif any(one.holds(part.path) for one in found):
            found.append(part._replace(commit=None))
    kept = [[part.path, part.commit.text if part.commit else ""] for part in found[-_MOST:]]
    w.store.set_meta(_KEY + desk, json.dumps(kept) if kept else "")


def is_as_brought(vault: Vault, desk: str, path: str, entry: Entry | None) -> bool:
    """Tell whether what stands at a path is just what was brought there last, so that nothing of mine is in it."""
    part = next((part for part in reversed(_parts(vault, desk)) if part.holds(path)), None)
    if part is None or part.commit is None or entry is None:
        return False
    try:
        return lookup(vault.store, commit_info(vault.store, part.commit).tree, path) == entry
    except DataError:
        return False


def base_with_parts(
    objects: MemoryObjects,
    vault: Vault,
    base: RecordHash | None,
    ours: RecordHash,
    merged: Collection[RecordHash] | None,
    heads: Sequence[RecordHash],
) -> RecordHash | None:
    """Return the base between what my folder holds and some heads, where parts of their lines were brought before.

    Nothing is said of what I have not any more: that I let it lie is no wish to take it from others.

    Args:
        objects: where trees are read, and where the new pages go.
        vault: whose folder.
        base: the tree of the merge base; None when there is none.
        ours: the tree that the heads are merged with.
        merged: the commits it is made of: it has my parts where mine is one of them; None for the folder itself.
        heads: of one desk.
    """
    desk = commit_info(vault.store, heads[0]).desk
    mine = checkout_of(vault, desk)
    if merged is not None and (mine is None or mine.commit not in merged):
        return base
    changes: dict[str, Entry | None] = {}
    try:
        for part in _parts(vault, desk):
            changes = {path: entry for path, entry in changes.items() if not part.holds(path)}
            counts = part.commit is not None and is_ancestor(vault.store, part.commit, *heads)
            if part.commit is not None and counts and not _is_mine(vault, desk, part.commit):
                changes |= _brought(objects, commit_info(vault.store, part.commit).tree, base, ours, part.path)
            elif any(f"{part.path}/".startswith(f"{path}/") for path in changes):
                changes[part.path] = _at(objects, base, part.path)
        return apply_changes(objects, objects, vault.group, base, changes) if changes else base
    except (DataError, PathInTheWay):  # then what both added is asked about
        return base


def _brought(
    source: Source, tree: RecordHash, base: RecordHash | None, ours: RecordHash, path: str
) -> dict[str, Entry | None]:
    """Return what a part was, but for paths that only one of it and mine has: these are as the base has them."""
    there, here = lookup(source, tree, path), lookup(source, ours, path)
    if there is None or here is None or there.is_dir != here.is_dir:
        return {}
    found: dict[str, Entry | None] = {path: there}
    if there.is_dir:
        for change in diff_trees(source, here.hash, there.hash):
            if change.before is None or change.after is None:
                name = f"{path}/{change.path}"
                found[name] = _at(source, base, name)
    return found


def _at(source: Source, tree: RecordHash | None, path: str) -> Entry | None:
    return lookup(source, tree, path) if tree is not None else None


def _parts(vault: Vault, desk: str) -> list[Part]:
    kept = vault.store.meta(_KEY + desk)
    return [Part(path, RecordHash.parse(text) if text else None) for path, text in json.loads(kept)] if kept else []


def _is_mine(vault: Vault, desk: str, commit: RecordHash | None) -> bool:
    base = checkout_of(vault, desk)
    return commit is None or (base is not None and is_ancestor(vault.store, commit, base.commit, *base.also))
