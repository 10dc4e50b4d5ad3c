"""Paths of a folder that were brought there from a commit which my line does not contain (CLAY-24, CLAY-73, FAC-20).

What stands there is a change like any other: it is committed by me, and the folder goes on standing on one commit.
Only where that commit's line comes in later, the merge has to know where it came from: what I left as it came there is
no change of mine, and against what my line had before it all of it would clash.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from vault.desks.edit import PathInTheWay, apply_changes
from vault.desks.memory import MemoryObjects
from vault.desks.pages import Entry, NamesClash
from vault.desks.ports import Source
from vault.desks.tree import lookup, read_directory
from vault.errors import DataError
from vault.folder.checked_out import Checkout, checkout_of, contained
from vault.folder.virtual_base import as_it_came
from vault.notes.folders import BROUGHT_PATHS, MOST_BROUGHT_PATHS, BroughtPath
from vault.records import RecordHash
from vault.revisions.graph import is_ancestor
from vault.revisions.history import commit_info, line_head
from vault.vault import Vault
from vault.writer import Writer

if TYPE_CHECKING:
    from vault.desks.merge import MergeOutcome

__all__ = ["as_brought", "base_with_brought", "brought_trees", "goes_on_from_brought", "note_brought"]

_CLASH = object()  # what a merge gave where it needs a person


def note_brought(w: Writer, vault: Vault, desk: str, path: str, node: str, commit: RecordHash) -> None:
    """Note that a path of the folder is from now as a node's commit has it; in the write that brings it there.

    What is mine, or not the newest of its line, was chosen before what came later: a clash is for a person then. What
    my line contains is noted too: an undo may take that back.
    """
    head = line_head(vault.store, node, desk) if node != vault.node.text else None
    now = BroughtPath(path, commit if head is not None and head.commit == commit else None, commit)
    paths = *(one for one in _brought(vault, desk) if not now.holds(one.path)), now
    w.store.set_note(BROUGHT_PATHS, paths[-MOST_BROUGHT_PATHS:], desk)


def as_brought(vault: Vault, desk: str) -> Callable[[str, Entry | None], bool]:
    """Return what tells whether what stands at a path was brought just so last, and nothing of mine is in it."""
    paths = [(one, one.commit and _tree(vault, one.commit)) for one in reversed(_brought(vault, desk))]

    def told(path: str, entry: Entry | None) -> bool:
        tree = next((tree for one, tree in paths if one.holds(path)), None)
        try:
            return tree is not None and lookup(vault.store, tree, path) == entry
        except DataError:
            return False

    return told


def brought_trees(vault: Vault, desk: str) -> list[RecordHash]:
    """Return the trees that paths of a desk's folder were brought from, whoever chose which, the last one first."""
    found = (_tree(vault, one.source) for one in reversed(_brought(vault, desk)) if one.source is not None)
    return list(dict.fromkeys(tree for tree in found if tree is not None))


def _tree(vault: Vault, commit: RecordHash) -> RecordHash | None:
    try:
        return commit_info(vault.store, commit).tree
    except DataError:
        return None


def base_with_brought(
    objects: MemoryObjects,
    vault: Vault,
    base: RecordHash | None,
    ours: RecordHash,
    merged: Collection[RecordHash] | None,
    heads: Sequence[RecordHash],
) -> RecordHash | None:
    """Return the base between what my folder holds and some heads, where paths of their lines were brought before.

    It is as a path was brought where mine is so still. What I have otherwise I mostly made of it, and may have for any
    reason, as after an undo: where a merge over what was brought gives something else than one over the base, it is for
    a person. Where there is none, it is of what a new desk has from the desk around it.

    Args:
        objects: where trees are read, and where the new pages go.
        vault: whose folder.
        base: the tree of the merge base; None when there is none.
        ours: the tree that the heads are merged with.
        merged: the commits it is made of: it has what I brought where mine is one of them; None for the folder.
        heads: of one desk.
    """
    desk = commit_info(vault.store, heads[0]).desk
    if base is None:
        base = as_it_came(objects.of(vault.group), vault, desk, ours, heads)
    mine, paths = checkout_of(vault, desk), _brought(vault, desk)
    if not paths or (merged is not None and (mine is None or mine.commit not in merged)):
        return base
    kept: dict[str, Entry | None] = {}
    edited: dict[str, Entry | None] = {}
    try:
        for at, brought in enumerate(paths):
            if brought.commit is None or not _goes_on(vault, brought.commit, mine, heads):
                continue
            there = lookup(objects, commit_info(vault.store, brought.commit).tree, brought.path)
            others = [one.path for one in paths[at + 1 :] if brought.holds(one.path)]
            for path, entry, here in _beside(objects, brought.path, there, lookup(objects, ours, brought.path), others):
                (kept if entry == here else edited)[path] = entry
        found = apply_changes(objects.of(vault.group), base, kept) if kept else base
        asked = {} if found is None else _asked(objects, vault, found, ours, heads, edited)
        return apply_changes(objects.of(vault.group), found, asked) if asked else found
    except (DataError, NamesClash, PathInTheWay):  # then what both added is asked about
        return base


def goes_on_from_brought(vault: Vault, desk: str, base: Checkout | None, head: RecordHash) -> bool:
    """Tell whether a head goes on from where a path was brought from, and what the folder stands on contains neither.

    Such a head says something of the folder even where it has the content that this stands on: it went back to that.
    """
    return any(one.commit and _goes_on(vault, one.commit, base, [head]) for one in _brought(vault, desk))


def _goes_on(vault: Vault, commit: RecordHash, base: Checkout | None, heads: Sequence[RecordHash]) -> bool:
    return is_ancestor(vault.store, commit, *heads) and not is_ancestor(vault.store, commit, *contained(base))


def _beside(
    source: Source, path: str, there: Entry | None, here: Entry | None, but: Sequence[str]
) -> Iterator[tuple[str, Entry, Entry | None]]:
    """Yield what a tree has at and below a path, and what another has there, but for some paths.

    Args:
        source: where both are read.
        path: relative to the desk.
        there: what the tree has.
        here: what the other has.
        but: paths that are left out, of which none is above another.
    """
    if there is None or path in but:
        return
    below = [one for one in but if one.startswith(f"{path}/")]
    if below or (there != here and there.is_dir and here is not None and here.is_dir):
        if not there.is_dir or here is None or not here.is_dir:
            return
        known = {entry.name: entry for entry in read_directory(source, here.hash)}
        for entry in read_directory(source, there.hash):
            yield from _beside(source, f"{path}/{entry.name}", entry, known.get(entry.name), below)
    else:
        yield path, there, here


def _asked(
    objects: MemoryObjects,
    vault: Vault,
    base: RecordHash,
    ours: RecordHash,
    heads: Sequence[RecordHash],
    edited: Mapping[str, Entry | None],
) -> dict[str, Entry | None]:
    """Return what a base has to have at brought paths so that a merge asks about them, where it must not decide."""
    doubtful = {
        path: there for path, there in edited.items() if lookup(objects, base, path) != lookup(objects, ours, path)
    }
    asked: dict[str, Entry | None] = {}
    if not doubtful:
        return asked
    from vault.desks.merge import merge_trees  # hardly anything brought by path is in doubt

    other = apply_changes(objects.of(vault.group), base, doubtful)
    for head in heads:
        tree = commit_info(vault.store, head).tree
        first, second = (merge_trees(objects.of(vault.group), one, ours, tree) for one in (base, other))
        for path, there in doubtful.items():
            given, over = _given(objects, first, path), _given(objects, second, path)
            if given is not _CLASH and over != given:
                asked[path] = there if over is _CLASH else None
    return asked


def _given(source: Source, outcome: MergeOutcome, path: str) -> object:
    """Return the entry that a merge gave at a path, or None, or `_CLASH`."""
    names = [name for clash in outcome.conflicts for name in (clash.path, clash.twin) if name]
    if any(f"{path}/".startswith(f"{name}/") or name.startswith(f"{path}/") for name in names):
        return _CLASH
    from vault.desks.merge import resolve_with  # as in `_asked`, which alone asks for it

    root = outcome.root or resolve_with(outcome, {clash.path: "ours" for clash in outcome.conflicts})
    return lookup(source, root, path)


def _brought(vault: Vault, desk: str) -> tuple[BroughtPath, ...]:
    """Return what was brought; of a note that rotted nothing, and more is asked than need be."""
    return vault.store.note(BROUGHT_PATHS, desk)
