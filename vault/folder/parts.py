"""Parts of a folder that were brought there from a commit which my line does not contain (CLAY-24, CLAY-73, FAC-20).

Such a part is a change like any other: it is committed by me, and the folder goes on standing on one commit. Only where
that commit's line comes in later, the merge has to know where the part came from: what I left as it came there is no
change of mine, and against what my line had before it all of it would clash.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from vault.desks.edit import PathInTheWay, apply_changes
from vault.desks.memory import MemoryObjects
from vault.desks.ports import Source
from vault.desks.tree import Entry, lookup, read_directory
from vault.errors import DataError
from vault.folder.standing import checkout_of
from vault.records import RecordHash
from vault.revisions.graph import is_ancestor
from vault.revisions.history import commit_info, line_head
from vault.vault import Vault
from vault.writer import Writer

__all__ = ["Part", "as_brought", "base_with_parts", "note_part"]

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

    What is mine, or not the newest of its line, was chosen before what came later: a clash is for a person then. What
    my line contains is noted too: an undo may take that back.
    """
    head = line_head(vault.store, node, desk) if node != vault.node.text else None
    now = Part(path, commit if head is not None and head.commit == commit else None)
    parts = [*(part for part in _parts(vault, desk) if not now.holds(part.path)), now]
    kept = [[part.path, part.commit.text if part.commit else ""] for part in parts[-_MOST:]]
    w.store.set_meta(_KEY + desk, json.dumps(kept))


def as_brought(vault: Vault, desk: str) -> Callable[[str, Entry | None], bool]:
    """Return what tells whether what stands at a path was brought just so last, and nothing of mine is in it."""
    parts = [(part, part.commit and _tree(vault, part.commit)) for part in reversed(_parts(vault, desk))]

    def told(path: str, entry: Entry | None) -> bool:
        tree = next((tree for part, tree in parts if part.holds(path)), None)
        try:
            return tree is not None and lookup(vault.store, tree, path) == entry
        except DataError:
            return False

    return told


def _tree(vault: Vault, commit: RecordHash) -> RecordHash | None:
    try:
        return commit_info(vault.store, commit).tree
    except DataError:
        return None


def base_with_parts(
    objects: MemoryObjects,
    vault: Vault,
    base: RecordHash | None,
    ours: RecordHash,
    merged: Collection[RecordHash] | None,
    heads: Sequence[RecordHash],
) -> RecordHash | None:
    """Return the base between what my folder holds and some heads, where parts of their lines were brought before.

    It is as a part was where mine is so still; of all else nothing is said, for that I have it otherwise may have any
    reason.

    Args:
        objects: where trees are read, and where the new pages go.
        vault: whose folder.
        base: the tree of the merge base; None when there is none.
        ours: the tree that the heads are merged with.
        merged: the commits it is made of: it has my parts where mine is one of them; None for the folder itself.
        heads: of one desk.
    """
    desk = commit_info(vault.store, heads[0]).desk
    mine, parts = checkout_of(vault, desk), _parts(vault, desk)
    if not parts or (merged is not None and (mine is None or mine.commit not in merged)):
        return base
    held = (mine.commit, *mine.also) if mine is not None else ()
    changes: dict[str, Entry | None] = {}
    try:
        for at, part in enumerate(parts):
            commit = part.commit
            if (
                commit is None
                or not is_ancestor(vault.store, commit, *heads)
                or is_ancestor(vault.store, commit, *held)
            ):
                continue
            there = lookup(objects, commit_info(vault.store, commit).tree, part.path)
            others = [one.path for one in parts[at + 1 :] if part.holds(one.path)]
            changes |= _same(objects, part.path, there, lookup(objects, ours, part.path), others)
        return apply_changes(objects, objects, vault.group, base, changes) if changes else base
    except (DataError, PathInTheWay):  # then what both added is asked about
        return base


def _same(
    source: Source, path: str, there: Entry | None, here: Entry | None, but: Sequence[str]
) -> dict[str, Entry | None]:
    """Return what is at and below a path in two trees alike, but for some paths, of which none is above another."""
    if there is None or here is None or path in but:
        return {}
    below = [one for one in but if one.startswith(f"{path}/")]
    if there == here and not below:
        return {path: there}
    if not (there.is_dir and here.is_dir):
        return {}
    known = {entry.name: entry for entry in read_directory(source, here.hash)}
    found: dict[str, Entry | None] = {}
    for entry in read_directory(source, there.hash):
        found |= _same(source, f"{path}/{entry.name}", entry, known.get(entry.name), below)
    return found


def _parts(vault: Vault, desk: str) -> list[Part]:
    kept = vault.store.meta(_KEY + desk)
    return [Part(path, RecordHash.parse(text) if text else None) for path, text in json.loads(kept)] if kept else []
