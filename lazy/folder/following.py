"""What my folder becomes when it follows a decision: what was decided, and what else I made (LAZ-39, LAZ-40).

The decision is merged against what it decided. On the paths on which the sides differ it counts before what my folder
has of a side or of an earlier decision; everything else that an earlier merge of mine holds beside the sides is work
like any other, and stays. The decision's own commit has exactly what was decided, and of that other work what earlier
decisions hold on which it is built: whoever takes it has those in their line then, as if it was taken back there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lazy.contested import Conflict
from lazy.folder.merging import what_went_named
from vault.desks.diff import diff_trees
from vault.desks.edit import PathInTheWay, apply_changes
from vault.desks.memory import MemoryObjects
from vault.desks.merge import MergeOutcome, merge_trees
from vault.desks.ports import Objects, Sink
from vault.desks.tree import lookup
from vault.folder.checked_out import Checkout
from vault.folder.criss_cross import base_of
from vault.records import RecordHash
from vault.revisions.graph import covered, is_ancestor, merge_bases, newest
from vault.revisions.history import commit_info
from vault.vault import Vault

__all__ = ["following", "with_earlier"]


def following(
    reading: MemoryObjects,
    sink: Sink,
    vault: Vault,
    conflict: Conflict,
    base: Checkout,
    tree: RecordHash,
    heads: Sequence[RecordHash],
    target: RecordHash,
) -> MergeOutcome:
    """Merge a decision into my folder; one that contains all that the folder holds wins where they collide.

    Args:
        reading: where trees and content are read; takes what only the merge needs.
        sink: where merged ones go.
        vault: whose folder.
        conflict: what was decided.
        base: what the folder stands on.
        tree: what it holds.
        heads: the commits that the decision contains.
        target: the tree that was decided.

    Raises:
        MissingObject, TreeError: a content that has to be merged is not here.
    """
    store = vault.store
    sides = [side.commit for side in conflict.sides]
    line = covered(store, {commit.text for commit in (*sides, *conflict.results)}, {base.commit.text})
    held = newest(store, [commit for commit in (*sides, *conflict.results) if commit.text in line])
    if not held:
        held = newest(store, [one for head in heads for one in merge_bases(store, base.commit, head).commits])
    with what_went_named(vault, [*sides, *held]):
        origin = _origin(reading, vault, conflict, held, tree, target)
        outcome = merge_trees(Objects(reading, sink, vault.group), origin, tree, target)
    if outcome.root is None and tree == base.tree and is_ancestor(store, base.commit, *heads):
        return MergeOutcome.clean(target)  # no update would ask: it is a fast-forward
    return outcome


def with_earlier(
    reading: MemoryObjects,
    sink: Sink,
    vault: Vault,
    conflict: Conflict,
    target: RecordHash,
    decide: Callable[[MergeOutcome], RecordHash],
    known: RecordHash | None = None,
) -> RecordHash:
    """Return a tree that was decided, with what earlier decisions that count hold beside the sides of the conflict.

    Args:
        reading: as of `following`.
        sink: where merged trees and content go.
        vault: whose decision it is.
        conflict: what is decided.
        target: the tree.
        decide: returns the tree of a merge in which an earlier decision (ours) and this one (theirs) clash, or refuses.
        known: a commit that this was made of, of which and of what is below it has already what it has.

    Raises:
        MissingObject, TreeError: as `following`.
    """
    held = covered(vault.store, {one.text for one in conflict.results}, {known.text} if known else ())
    for result in newest(vault.store, [one for one in conflict.results if one.text not in held]):
        tree = commit_info(vault.store, result).tree
        with what_went_named(vault, [*(side.commit for side in conflict.sides), result]):
            origin = _origin(reading, vault, conflict, [result], tree, target)
            outcome = merge_trees(Objects(reading, sink, vault.group), origin, tree, target)
            target = outcome.root or decide(outcome)
    return target


def _origin(
    objects: MemoryObjects,
    vault: Vault,
    conflict: Conflict,
    held: Sequence[RecordHash],
    tree: RecordHash,
    target: RecordHash,
) -> RecordHash | None:
    """Return the tree against which a decision is taken into a folder that has `held` of its sides and results.

    Of what those results hold beside the sides it has what the decision has, too, and the folder has otherwise: what I
    took back of that stays so. What both have alike is not said to have been there: a name that both took away would
    be no more what each of them gave another one.
    """
    store = vault.store
    if tree in {commit_info(store, commit).tree for commit in held}:
        origin: RecordHash | None = tree
    else:
        origin = base_of(objects, vault, held)
    if origin is None or set(held).isdisjoint(conflict.results):
        return origin
    trees = [commit_info(store, side.commit).tree for side in conflict.sides]
    paths = {change.path for other in trees[1:] for change in diff_trees(objects, trees[0], other)}
    decided = {path: lookup(objects, origin, path) for path in paths}
    beside = {change.path: change.after for change in diff_trees(objects, trees[0], origin)}
    carried = {
        path: entry
        for path, entry in beside.items()
        if entry == lookup(objects, target, path) != lookup(objects, tree, path)
    }
    try:
        return apply_changes(objects.of(vault.group), trees[0], {**carried, **decided})
    except PathInTheWay:  # a folder here and a file there
        return apply_changes(objects.of(vault.group), trees[0], decided)
