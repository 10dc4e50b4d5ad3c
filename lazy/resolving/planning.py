"""What a decision would do to my folder, clashing and refused as the act itself; it writes nothing (LAZ-39, APP-12)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from lazy.contested import Conflict, ConflictKind
from lazy.folder.following import following, with_earlier
from lazy.folder.moving import Moves, planned_moves
from lazy.folder.saving import unsaved
from lazy.resolving.earlier import Accepting, refused
from lazy.resolving.own_folder import left_to_folder, preferred, with_folder
from lazy.resolving.picks import Choices, Picks, pick_proposal, pick_side, picks_of
from lazy.resolving.sealed import accepted_tree, known_heads, require_counted, to_decide
from lazy.resolving.taking import merged_tree
from vault.desks.memory import MemoryObjects
from vault.desks.merge import Choice, merge_trees, resolve_with
from vault.folder.checked_out import checkout_of
from vault.names import Version
from vault.records import RecordHash
from vault.releasing import check_free
from vault.revisions.graph import newest
from vault.revisions.history import commit_info
from vault.vault import Vault
from vault.watch import Watch

__all__ = ["Planned", "plan_accept", "plan_merged", "plan_prefer"]


class Planned(NamedTuple):
    """What a decision would do.

    Args:
        conflict: what it is about.
        moves: what the folder would get and lose.
        clashes: paths that my newer work and the decision both changed: the folder would not follow.
    """

    conflict: Conflict
    moves: Moves
    clashes: tuple[str, ...] = ()


def plan_prefer(vault: Vault, name: str, side: str, *, watch: Watch = Watch()) -> Planned:
    """Return what keeping a side would do.

    Raises:
        As `resolve_prefer`.
    """
    vault.check_plan()
    conflict = to_decide(vault, name)
    if conflict.kind is ConflictKind.HEAD:
        return _merged(vault, conflict, Choices(), preferred(vault, conflict, side), watch)
    chosen = pick_side(conflict, side)
    overlay = MemoryObjects(fallback=vault.store)
    folder = unsaved(vault, conflict.desk, watch, overlay, conflict.to_merge).tree
    tree = commit_info(vault.store, chosen.commit).tree
    tree = with_earlier(overlay, overlay, vault, conflict, tree, refused(conflict))
    require_counted(vault, conflict, tree)
    return _followed(vault, conflict, overlay, folder, newest(vault.store, known_heads(vault, conflict)), tree, watch)


def plan_merged(
    vault: Vault, name: str, version: Version, choices: Choices = Choices(), *, watch: Watch = Watch()
) -> Planned:
    """Return what the release of a merge would do.

    Raises:
        As `resolve_merged`.
    """
    vault.check_plan()
    conflict = to_decide(vault, name)
    check_free(vault, conflict.desk, version)
    return _merged(vault, conflict, choices, picks_of(vault, conflict, choices), watch)


def plan_accept(
    vault: Vault, name: str, proposal: str = "", takes: Mapping[str, str] | None = None, *, watch: Watch = Watch()
) -> Planned:
    """Return what accepting somebody else's decision would do.

    Raises:
        As `accept_resolution`.
    """
    vault.check_plan()
    conflict = to_decide(vault, name)
    decision = pick_proposal(vault, conflict, proposal)
    overlay = MemoryObjects(fallback=vault.store)
    folder = unsaved(vault, conflict.desk, watch, overlay, conflict.to_merge).tree
    mine = folder if checkout_of(vault, conflict.desk) is not None else None
    accepting = Accepting(vault, conflict, decision, takes or {}, mine)
    tree, parents = accepted_tree(accepting, overlay, overlay)
    if parents:
        require_counted(vault, conflict, tree, is_accepting=True)
    return _followed(vault, conflict, overlay, folder, parents or [decision.result], tree, watch)


def _merged(vault: Vault, conflict: Conflict, choices: Choices, picks: Picks, watch: Watch) -> Planned:
    overlay = MemoryObjects(fallback=vault.store)
    dirty = unsaved(vault, conflict.desk, watch, overlay, conflict.to_merge)
    base = checkout_of(vault, conflict.desk)
    heads = [*conflict.to_merge, *([base.commit] if base else [])]
    mine = base.commit if base and (dirty.items or base.commit in newest(vault.store, heads)) else None
    also = base.also if base else ()
    of_folder = left_to_folder(vault, conflict, choices.takes, picks)
    picks = with_folder(overlay, vault, conflict, picks, dirty.tree, of_folder)
    tree = merged_tree(overlay, vault, heads, picks, ours=mine, tree=dirty.tree if mine else None, also=also)
    if base is None:
        tree = _beside_own(overlay, vault, dirty.tree, tree, picks)
    require_counted(vault, conflict, tree)
    return Planned(conflict, planned_moves(vault, conflict.desk, dirty.tree, tree, overlay, watch))


def _beside_own(overlay: MemoryObjects, vault: Vault, folder: RecordHash, tree: RecordHash, picks: Picks) -> RecordHash:
    """Return a merge with what a folder holds that took nothing before: it would be committed first, on nothing."""
    outcome = merge_trees(overlay.of(vault.group), None, folder, tree)

    def choice(path: str) -> Choice:
        is_all = picks.all is not None and (picks.named is None or path in picks.named)
        is_chosen = is_all or path in picks.paths or path in picks.regions
        return "theirs" if is_chosen or picks.edited(path) is not None else "ours"

    return outcome.root or resolve_with(outcome, {clash.path: choice(clash.path) for clash in outcome.conflicts})


def _followed(
    vault: Vault,
    conflict: Conflict,
    overlay: MemoryObjects,
    folder: RecordHash,
    heads: Sequence[RecordHash],
    target: RecordHash,
    watch: Watch,
) -> Planned:
    """Return what a folder would do that follows to what was decided.

    Args:
        vault: whose folder.
        conflict: what is decided.
        overlay: where trees are read and written.
        folder: the tree of what the folder holds.
        heads: the commits that the decision contains.
        target: the tree that was decided.
        watch: progress and cancel.
    """
    base = checkout_of(vault, conflict.desk)
    if conflict.is_overtaken:
        return Planned(conflict, Moves((), ()))
    if base is not None:
        outcome = following(overlay, overlay, vault, conflict, base, folder, heads, target)
    else:  # what the folder holds would be committed first, on nothing
        outcome = merge_trees(overlay.of(vault.group), None, folder, target)
    if outcome.root is None:
        return Planned(conflict, Moves((), ()), tuple(clash.path for clash in outcome.conflicts))
    return Planned(conflict, planned_moves(vault, conflict.desk, folder, outcome.root, overlay, watch))
