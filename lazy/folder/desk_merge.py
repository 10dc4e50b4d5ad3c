"""`merge`: one desk's line into mine by a named strategy (CLAY-72 to CLAY-78).

It is `update` with the decision named beforehand: my folder follows, dirty files are committed first, and what the
strategy does not decide changes nothing, is listed by path, and is noted as a conflict for `resolve`.
"""

from __future__ import annotations

from dataclasses import replace

from lazy.address import ResolvedCommit
from lazy.conflicts import note_head_conflict
from lazy.folder.ended import ended_since, open_in, would_end
from lazy.folder.left_out import absent_now
from lazy.folder.merge_analysis import Analysis
from lazy.folder.moving import Moves, planned_follow
from lazy.folder.saving import save_first, unsaved
from lazy.folder.strategy_analysis import Merging, analyze_by, analyze_folder_by
from lazy.folder.update import stood_on, with_finished, with_unfinished
from lazy.folder.updated import Updated
from lazy.folder.written import as_written, follow
from vault.desks.memory import MemoryObjects
from vault.desks.ports import Objects
from vault.desks.strategies import Strategy
from vault.folder.checked_out import Checkout, checkout_of, contained
from vault.folder.finishing import finishing
from vault.folder.unfinished import finish_checkouts
from vault.folder.work import adopt_commit, beside, record_commit
from vault.records import RecordHash
from vault.revisions.graph import newest
from vault.revisions.history import Relation
from vault.vault import Vault
from vault.watch import Watch
from vault.writer import Writer

__all__ = ["merge_desk"]


def merge_desk(
    vault: Vault,
    desk: str,
    that: ResolvedCommit,
    strategy: Strategy,
    *,
    dry_run: bool = False,
    watch: Watch = Watch(),
) -> Updated:
    """Merge a commit of any line into my line of a desk.

    A desk without a revision whose folder holds nothing of mine is begun from it (CLAY-78). What is mine there is
    committed first, and has no commit in common with it. A line that has it already stays as it is, and one that it
    contains takes it over, by every strategy but those whose result is a side's content.

    Args:
        vault: whose desk.
        desk: the desk merged into; its folder follows.
        that: what is merged.
        strategy: how.
        dry_run: say what would happen from a merge in memory, and write nothing.
        watch: progress and cancel.

    Raises:
        NoMergeBase, NotFastForward, DeskNotEmpty: the strategy does not fit the two histories.
        NotPermitted: its signer may not write what would be taken in.
        LetGo: content of a common ancestor is needed that was let go here.
        FolderInTheWay: a file of mine would have been overwritten.
        UncommittedChanges: the folder is only looking at another state.
    """
    merging = Merging(that, strategy)
    late = finishing(vault, desk, watch)
    if dry_run:
        return with_unfinished(_plan(vault, desk, merging, watch), late)
    finish_checkouts(vault, watch, desk)
    before, still_open = absent_now(vault), open_in(vault, desk)
    done = _merge(vault, desk, merging, watch)
    moves = as_written(vault, desk, done.moves, before)
    return with_finished(replace(done, moves=moves, ended=ended_since(vault, still_open)), late)


def _plan(vault: Vault, desk: str, merging: Merging, watch: Watch) -> Updated:
    """Say what a merge would do, from a merge in memory."""
    vault.check_plan()
    base = checkout_of(vault, desk)
    overlay = MemoryObjects(fallback=vault.store)
    # What does not fit the two histories is refused before the folder is looked at, as the merge does.
    committed = analyze_by(overlay.of(vault.group), vault, desk, base, merging) if base is not None else None
    dirty = unsaved(vault, desk, watch, overlay)
    found = analyze_folder_by(overlay, overlay, vault, base, merging, dirty, committed)
    moves = Moves() if found.tree is None else planned_follow(vault, desk, dirty.tree, found.tree, overlay, watch)
    return Updated(
        found.relation,
        stood_on(found, base),
        saves=found.saves,
        moves=moves,
        merged=found.merged,
        conflict=found.conflict,
        ended=would_end(vault, open_in(vault, desk), base, () if found.conflict else [merging.that.commit]),
    )


def _merge(vault: Vault, desk: str, merging: Merging, watch: Watch) -> Updated:
    """Merge inside one write; what changed in the folder is committed only where that is a side then."""
    with vault.writing() as w:
        objects = Objects(w, w, vault.group)
        base = checkout_of(vault, desk)
        found = analyze_by(objects, vault, desk, base, merging) if base is not None else None
        is_mine = found is not None and found.tree is not None  # then the look that saves is the only one
        if found is None or found.tree is None:
            overlay = MemoryObjects(fallback=w)
            dirty = unsaved(vault, desk, watch, overlay)
            found = analyze_folder_by(overlay, w, vault, base, merging, dirty, found)
            is_mine = found.saves
            w.flush()
        saved = save_first(w, vault, "merge", desk=desk, watch=watch) if is_mine else None
        if saved is not None:
            base = checkout_of(vault, desk)
            found = analyze_by(objects, vault, desk, base, merging)
        commit, number, moves = _take_in(w, vault, desk, base, found, merging, watch)
        conflict = found.conflict
        if conflict is not None:
            conflict = replace(conflict, id=note_head_conflict(w, vault, desk, [merging.that.commit]))
        if number is not None:
            w.audit(
                "lace-merge",
                desk,
                {"strategy": merging.strategy, "relation": found.relation, "commit": str(commit)},
                relates_to=[merging.that.commit.text],
            )
        return Updated(
            found.relation,
            commit,
            number,
            saved=saved.commit if saved is not None else None,
            moves=moves,
            merged=found.merged,
            conflict=conflict,
        )


def _take_in(
    w: Writer,
    vault: Vault,
    desk: str,
    base: Checkout | None,
    found: Analysis,
    merging: Merging,
    watch: Watch,
) -> tuple[RecordHash | None, int | None, Moves]:
    """Do with a commit what is to be done, inside a write; return what the folder stands on then, and what it gets."""
    that = merging.that
    if found.tree is None:
        return base.commit if base else None, None, Moves()
    w.flush()
    result = follow(w, vault, desk, base.tree if base else found.came, found.tree, watch)
    moves = Moves(result.written, result.deleted)
    if found.relation is Relation.BEHIND:
        number = adopt_commit(w, vault, desk, that.commit, found.tree, beside(vault, desk, [that.commit]))
        return that.commit, number, moves
    # Both parents stay even where one contains the other, so that later merges know that this one happened (CLAY-77).
    keep = {*found.heads, *newest(vault.store, [*contained(base), that.commit])}
    parents = sorted(keep, key=lambda commit: commit.text)
    commit, number = record_commit(w, vault, desk, found.tree, parents, f"Merge {that.what} ({merging.strategy})")
    return commit, number, moves
