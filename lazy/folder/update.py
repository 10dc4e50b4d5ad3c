"""`update`: bring friends' released work into my folder (architecture, One folder).

It fast-forwards, or makes one merge commit; what does not merge cleanly changes nothing on disk, is listed by path,
and waits for a person. Dirty files are committed first, never overwritten.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from lazy.conflicts import note_head_conflict
from lazy.folder.coming import Coming, coming_in, taken_in
from lazy.folder.ended import ended_since, open_in, would_end
from lazy.folder.heads import missing, with_equal, without_superseded
from lazy.folder.left_out import absent_now
from lazy.folder.merge_analysis import Analysis, analyze, analyze_folder, of_nobody_here
from lazy.folder.merging import what_went_named
from lazy.folder.moving import Moves, planned_follow
from lazy.folder.saving import save_first, unsaved
from lazy.folder.updated import Updated
from lazy.folder.written import as_written, follow
from lazy.lacking import no_sync_brings, waiting_in, waiting_releases
from lazy.parts import parts_here
from lazy.people import label_of
from vault.desk_folders import MAIN
from vault.desks.memory import MemoryObjects
from vault.desks.ports import Objects
from vault.folder.checked_out import Checkout, checkout_of, set_checkout
from vault.folder.desks_around import noted_around
from vault.folder.divergence import away
from vault.folder.finishing import Finishing, finishing
from vault.folder.unfinished import finish_checkouts
from vault.folder.work import adopt_commit, beside, record_commit
from vault.names import Version
from vault.records import RecordHash
from vault.revisions.history import Relation, commit_info
from vault.vault import Vault
from vault.watch import Watch
from vault.writer import Writer

__all__ = ["stood_on", "update", "with_finished", "with_unfinished"]


def update(
    vault: Vault,
    desk: str = MAIN,
    *,
    peer: str | None = None,
    version: Version | None = None,
    dry_run: bool = False,
    watch: Watch = Watch(),
) -> Updated:
    """Bring friends' released work into the folder.

    Without `peer` it takes all visible released heads. With `dry_run` nothing is written anywhere.

    Raises:
        NothingFrom: `peer` or `version` names nothing that is visible here.
        LetGo: content is needed that was let go here; it can be asked for.
        FolderInTheWay: a file of mine would have been overwritten.
        UncommittedChanges: the folder is only looking at another state.
        FolderEmptied: every file is gone from the folder; nothing was changed.
        FormerRulesFull: too many former rules keep something out already; nothing was changed.
        SavedMeanwhile: files that were saved during an earlier update wait for a person; nothing was changed.
    """
    late = finishing(vault, desk, watch)
    if dry_run:
        done = with_unfinished(_plan(vault, desk, peer, version, watch), late)
    else:
        finish_checkouts(vault, watch, desk)
        before, still_open = absent_now(vault), open_in(vault, desk)
        done = _update(vault, desk, peer, version, watch)
        moves = as_written(vault, desk, done.moves, before)
        done = with_finished(replace(done, moves=moves, ended=ended_since(vault, still_open)), late)
    waiting = waiting_releases(vault)
    lacking = waiting_in(vault, waiting, desk)
    parts = parts_here(vault, desk) if lacking else ()
    is_lost = bool(parts) and no_sync_brings(vault, waiting, desk)
    out = replace(done.not_taken, away=away(vault, desk), lacking=lacking, parts=parts, is_lost=is_lost)
    return replace(done, not_taken=out)


def _after(late: Finishing, moves: Moves) -> Moves:
    """Return what an update moves with what it finishes first of one that was cut off."""
    written = {*late.written, *late.merged} - {*moves.deleted, *moves.kept} | {*moves.written}
    deleted = {*late.deleted} - {*moves.written, *moves.kept} | {*moves.deleted}
    return moves._replace(written=tuple(sorted(written)), deleted=tuple(sorted(deleted)))


def _asked_now(vault: Vault, desk: str, coming: Coming, watch: Watch) -> list[RecordHash]:
    """Return the heads to take in, where they clash without those that a contested version asks about."""
    fewer = without_superseded(vault, coming.new, coming.not_taken.waiting)
    if len(fewer) == len(coming.new):
        return coming.new
    found, _ = _foreseen(MemoryObjects(fallback=vault.store), vault, desk, coming.base, coming.new, watch)
    return coming.new if found.conflict is None else fewer


def _foreseen(
    overlay: MemoryObjects, vault: Vault, desk: str, base: Checkout | None, new: Sequence[RecordHash], watch: Watch
) -> tuple[Analysis, RecordHash]:
    """Return what is to be done with heads, the folder's uncommitted changes counted in, and the folder's tree."""
    dirty = unsaved(vault, desk, watch, overlay)
    committed = partial(analyze, overlay.of(vault.group), vault, base, new)
    is_mine = bool(dirty.items)
    if is_mine and base is None:
        is_mine = not of_nobody_here(overlay.of(vault.group), vault, desk, new, dirty.tree)[0]
    if not is_mine:
        return committed(), dirty.tree
    return analyze_folder(overlay, vault, desk, base, new, dirty.tree, committed), dirty.tree


def _plan(vault: Vault, desk: str, peer: str | None, version: Version | None, watch: Watch) -> Updated:
    """Say what an update would do, from a merge in memory."""
    vault.check_plan()
    coming = coming_in(vault, desk, peer, version)
    base = coming.base
    new = coming.new if peer or version else _asked_now(vault, desk, coming, watch)
    still_open = open_in(vault, desk)
    if not new:
        ended = would_end(vault, still_open, base, ())
        stands, commit = coming.stands(vault), base.commit if base else None
        return Updated(stands, commit, not_taken=coming.not_taken, ended=ended)
    overlay = MemoryObjects(fallback=vault.store)
    found, tree = _foreseen(overlay, vault, desk, base, new, watch)
    moves = Moves() if found.tree is None else planned_follow(vault, desk, tree, found.tree, overlay, watch)
    return Updated(
        found.relation,
        stood_on(found, base),
        saves=found.saves,
        taken=taken_in(vault, desk, found.new),
        moves=moves,
        merged=found.merged,
        conflict=found.conflict,
        not_taken=coming.not_taken,
        ended=would_end(vault, still_open, base, () if found.conflict else found.new),
    )


def stood_on(found: Analysis, base: Checkout | None) -> RecordHash | None:
    """Return the commit that the folder would stand on; None where it is not made yet."""
    if found.relation is Relation.MERGEABLE:
        return None
    return found.heads[0] if found.relation is Relation.BEHIND else base.commit if base else None


def _update(vault: Vault, desk: str, peer: str | None, version: Version | None, watch: Watch) -> Updated:
    """Update inside one write; what changed in the folder is committed only where something is then taken in.

    What the folder holds may be what clashes, also beside what was committed before: then that commit is a side of the
    conflict. Or it ends a clash of what was committed.
    """
    with vault.writing() as w:
        coming = coming_in(vault, desk, peer, version)
        base = _stand(w, vault, desk, coming.base)
        new = coming.new if peer or version else _asked_now(vault, desk, coming, watch)
        if not new:
            return Updated(coming.stands(vault), base.commit if base else None, not_taken=coming.not_taken)
        is_mine, came = _may_be_mine(w, vault, desk, base, new, watch)
        objects = Objects(w, w, vault.group)
        found = analyze(objects, vault, base, new)._replace(came=came)
        saved = None
        if is_mine and (found.conflict is None or _saves(vault, desk, base, found, watch)):
            saved = save_first(w, vault, "update", desk=desk, watch=watch)
        if saved:
            base = _stand(w, vault, desk, with_equal(vault, desk, checkout_of(vault, desk), new))
            found = analyze(objects, vault, base, missing(vault, base, new))
        taken = taken_in(vault, desk, found.new)
        commit, number, moved = _take_in(w, vault, desk, base, found, watch)
        conflict = found.conflict
        if conflict is not None:
            conflict = replace(conflict, id=note_head_conflict(w, vault, desk, list(found.new)))
        if number is not None:
            w.audit(
                "lace-update",
                desk,
                {"relation": found.relation, "commit": str(commit)},
                relates_to=[head.text for head in found.new],
            )
        return Updated(
            found.relation,
            commit,
            number,
            saved=saved.commit if saved else None,
            taken=taken,
            moves=moved,
            merged=found.merged,
            conflict=conflict,
            not_taken=coming.not_taken,
        )


def _stand(w: Writer, vault: Vault, desk: str, base: Checkout | None) -> Checkout | None:
    """Let the folder stand on what has other heads beside it from now."""
    if base is not None and base != checkout_of(vault, desk):
        set_checkout(w, desk, base)
    return base


def _may_be_mine(
    w: Writer, vault: Vault, desk: str, base: Checkout | None, new: Sequence[RecordHash], watch: Watch
) -> tuple[bool, RecordHash | None]:
    """Return whether something in the folder may be mine, and what of a new desk a head changed since it came there.

    The folder is looked at only where that can say no: what is mine is looked at again as it is committed.
    """
    if base is not None or len(new) != 1 or not noted_around(vault, desk):
        return True, None
    overlay = MemoryObjects(fallback=w, trees_only=True)
    tree = unsaved(vault, desk, watch, overlay).tree
    is_nobodys, came = of_nobody_here(Objects(overlay, w, vault.group), vault, desk, new, tree)
    w.flush()
    return not is_nobodys, came


def _saves(vault: Vault, desk: str, base: Checkout | None, committed: Analysis, watch: Watch) -> bool:
    """Tell whether what the folder holds is committed though what is committed clashes; it refuses what saving would.

    Of a merge nobody asks: there the folder is saved without this second look at it.
    """
    overlay = MemoryObjects(fallback=vault.store)
    dirty = unsaved(vault, desk, watch, overlay)
    if not dirty.items:
        return False
    return analyze_folder(overlay, vault, desk, base, committed.new, dirty.tree, lambda: committed).saves


def _take_in(
    w: Writer, vault: Vault, desk: str, base: Checkout | None, found: Analysis, watch: Watch
) -> tuple[RecordHash | None, int | None, Moves]:
    """Do with heads what is to be done, inside a write; return what the folder stands on then, and what it gets.

    What stands beside my line stays there, or is named by the merge commit: it is in the folder in any case.
    """
    mine = base.commit if base else None
    if found.tree is None:
        return mine, None, Moves()
    w.flush()
    with what_went_named(vault, found.new):
        result = follow(w, vault, desk, base.tree if base else found.came, found.tree, watch)
    moves = Moves(result.written, result.deleted)
    if found.relation is Relation.BEHIND:
        target = found.heads[0]
        return target, adopt_commit(w, vault, desk, target, found.tree, beside(vault, desk, [target])), moves
    names = ", ".join(
        dict.fromkeys(label_of(vault, commit_info(vault.store, h).signer) for h in found.heads if h != mine)
    )
    commit, number = record_commit(w, vault, desk, found.tree, found.heads, f"Merge {names} (update)")
    return commit, number, moves


def with_unfinished(plan: Updated, late: Finishing | None) -> Updated:
    """Return a plan that says too what is finished before it, and which files will wait for a person then.

    Where the folder follows, none does: what kept it from that is refused.
    """
    if late is None:
        return plan
    kept = () if plan.relation in {Relation.BEHIND, Relation.MERGEABLE} else late.kept
    return replace(plan, is_unfinished=late.is_cut, moves=_after(late, plan.moves._replace(kept=kept)))


def with_finished(done: Updated, late: Finishing | None) -> Updated:
    """Return what was done, with what was finished before it."""
    return done if late is None else replace(done, is_finished=late.is_cut, moves=_after(late, done.moves))
