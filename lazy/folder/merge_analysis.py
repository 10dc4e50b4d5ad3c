"""What is to be done with heads: nothing, a fast-forward, a merge, or a question to a person (LAZ-1, LAZ-29, LAZ-42).

An update decides it here and carries it out; its plan decides it here and stops. What may differ between the two is
where trees are read and written, and whether what the folder holds is committed already or only would be.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from lazy.folder.heads import missing, with_equal
from lazy.folder.merging import fold, is_past
from lazy.folder.updated import HeadConflict
from vault.desks.memory import MemoryObjects
from vault.desks.merge import MergeOutcome
from vault.desks.path_conflict import PathConflict, beside
from vault.desks.ports import Objects, Source
from vault.folder.checked_out import Checkout
from vault.folder.virtual_base import as_it_came, is_all_as_it_came
from vault.records import RecordHash
from vault.revisions.graph import newest
from vault.revisions.history import Relation, commit_info
from vault.vault import Vault

__all__ = ["Analysis", "analyze", "analyze_folder", "is_other_question", "of_nobody_here"]

_PAIR = 2  # sides of which each has all that the other has not


class Analysis(NamedTuple):
    """What is to be done with heads.

    Args:
        relation: ahead: nothing; behind: a fast-forward; mergeable: one merge commit; conflicting: a person decides.
        new: the heads that come in.
        heads: the commits that are made one, none an ancestor of another; mine may be one of them.
        tree: what the folder comes to; None where nothing comes, or heads clash.
        merged: paths that are neither side's.
        conflict: what clashes.
        saves: whether what the folder holds is a side, and so is committed before.
        came: the tree of what a head changed in a folder that is nobody's here, before its first commit: the files that
            it stands on, while it stands on no commit.
    """

    relation: Relation
    new: Sequence[RecordHash]
    heads: Sequence[RecordHash] = ()
    tree: RecordHash | None = None
    merged: tuple[str, ...] = ()
    conflict: HeadConflict | None = None
    saves: bool = False
    came: RecordHash | None = None


def analyze(
    objects: Objects,
    vault: Vault,
    base: Checkout | None,
    new: Sequence[RecordHash],
    *,
    tree: RecordHash | None = None,
) -> Analysis:
    """Return what is to be done with heads that my line has not.

    Args:
        objects: where trees and content are read, and merged ones go; its source sees what goes into the sink.
        vault: whose line.
        base: what the folder stands on; None where nothing was committed yet.
        new: the heads.
        tree: of the folder, where that is my side as it is; the commit that it would be stands on `base`.

    Raises:
        LetGo, MissingObject, TreeError: as `fold`.
    """
    mine, saves = base.commit if base else None, tree is not None
    if not new:
        return Analysis(Relation.AHEAD, new, saves=saves)
    heads = newest(vault.store, [*([mine] if mine else []), *new])
    if len(heads) == 1 and tree is None:
        return Analysis(Relation.BEHIND, new, heads, commit_info(vault.store, heads[0]).tree)
    if mine and tree is not None and mine not in heads:
        heads = [mine, *heads]  # the commit of what the folder holds would be a head
    outcome, merged = fold(objects, vault, heads, ours=mine, tree=tree, also=base.also if base else ())
    if outcome.root is not None:
        return Analysis(Relation.MERGEABLE, new, heads, outcome.root, merged, saves=saves)
    conflict = _conflict(objects.source, vault, mine, outcome, heads, tree)
    return Analysis(Relation.CONFLICTING, new, heads, conflict=conflict, saves=saves)


def analyze_folder(
    objects: MemoryObjects,
    vault: Vault,
    desk: str,
    base: Checkout | None,
    new: Sequence[RecordHash],
    tree: RecordHash,
    committed: Callable[[], Analysis],
) -> Analysis:
    """Return the same where the folder holds what is not committed: mostly that is my side then.

    Heads that it is equal to stand beside its commit, and do not come in. It stays out where what is committed clashes
    and the folder neither ends that nor clashes beside it: then nothing is taken in, and nothing need be committed.

    Args:
        objects: where the folder's trees and content are read, and merged ones go.
        vault: whose line.
        desk: of the folder.
        base: what it stands on.
        new: the heads.
        tree: of the folder.
        committed: what `analyze` gives without it; asked for only where heads clash.
    """
    would = base and with_equal(vault, desk, base._replace(tree=tree), new)
    found = analyze(objects.of(vault.group), vault, would, missing(vault, would, new, tree), tree=tree)
    if found.conflict is None:
        return found
    first = committed()
    if first.conflict is None:
        return found
    # Before a first commit all of the folder is new: friends who clash without it are asked about by themselves.
    is_other = base is not None and is_other_question(first.conflict.paths, found.conflict.paths)
    return found if is_other else first


def of_nobody_here(
    objects: Objects, vault: Vault, desk: str, new: Sequence[RecordHash], tree: RecordHash
) -> tuple[bool, RecordHash | None]:
    """Return whether a folder before its first commit holds nothing of mine, and what of it a head changed.

    Such a folder follows the head, and nothing of it is committed before (CLAY-3, CLAY-24).

    Args:
        objects: where trees are read, and new pages go.
        vault: whose folder.
        desk: the desk.
        new: the heads that come in; beside several the folder is a side of its own.
        tree: of the folder.
    """
    if len(new) != 1:
        return False, None
    came = as_it_came(objects, vault, desk, tree, new)
    return is_all_as_it_came(objects.source, vault, came, tree, new[0]), came


def is_other_question(committed: Sequence[PathConflict], now: Sequence[PathConflict]) -> bool:
    """Tell whether a clash of what is committed is gone in what the folder holds now, or something else clashes too."""
    known = {clash.path for clash in committed}
    return not now or any(clash.path not in known for clash in now)


def _conflict(
    source: Source,
    vault: Vault,
    mine: RecordHash | None,
    outcome: MergeOutcome,
    heads: Sequence[RecordHash],
    tree: RecordHash | None,
) -> HeadConflict:
    """Return what is asked of a clash of heads; `tree` stands for that of mine, or is mine before a first commit."""
    is_first = mine is None and tree is not None
    others = 0 if len(heads) + is_first > _PAIR else len(beside([*outcome.taken, *outcome.merged], outcome.conflicts))
    trees = {head: commit_info(vault.store, head).tree for head in heads}
    if mine is not None and tree is not None:
        trees[mine] = tree
    is_mine = is_first or any(_is_side_of_mine(source, vault, mine, clash, trees) for clash in outcome.conflicts)
    return HeadConflict(outcome.conflicts, is_mine, others)


def _is_side_of_mine(
    source: Source,
    vault: Vault,
    mine: RecordHash | None,
    clash: PathConflict,
    trees: Mapping[RecordHash, RecordHash],
) -> bool:
    """Tell whether my line is one of two that did different things at a path; of two names it may be."""
    if mine is None or mine not in trees or len(trees) == 2 or clash.has_two_names:
        return mine is not None and mine in trees
    return not is_past(source, vault, mine, trees, clash)
