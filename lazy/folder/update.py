"""`update`: bring friends' released work into my folder (architecture, One folder).

It fast-forwards, or makes one merge commit; what does not merge cleanly changes nothing on disk, is listed by path,
and waits for a person. Dirty files are committed first, never overwritten.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from lazy.conflicts import conflicts, note_head_conflict
from lazy.folder.heads import missing, permitted_heads, relation_to, with_equal, with_room, without_superseded
from lazy.folder.left_out import absent_now
from lazy.folder.merging import Folded, fold, is_past, what_went_named
from lazy.folder.moving import Moves, planned_moves
from lazy.folder.saving import save_first, unsaved
from lazy.folder.updated import HeadConflict, NotTakenIn, TakenIn, Updated
from lazy.folder.written import as_written, follow
from lazy.lacking import no_sync_brings, waiting_in, waiting_releases
from lazy.parts import parts_here
from lazy.people import label_of
from vault.desks.memory import MemoryObjects
from vault.desks.merge import MergeOutcome, merge_trees
from vault.desks.path_conflict import PathConflict
from vault.desks.ports import Source
from vault.folder.apart import away
from vault.folder.around import noted_around
from vault.folder.from_around import as_it_came, is_all_as_it_came
from vault.folder.noted import is_unfinished, still_to_write
from vault.folder.parts import base_with_parts
from vault.folder.unfinished import planned_result
from vault.folder.work import (
    MAIN,
    Checkout,
    adopt_commit,
    beside,
    checkout_of,
    finish_checkouts,
    record_commit,
    set_checkout,
)
from vault.names import Version
from vault.records import RecordHash
from vault.revisions.graph import newest
from vault.revisions.history import Relation, commit_info, releases_of
from vault.vault import Vault
from vault.watch import Watch
from vault.writer import Writer

if TYPE_CHECKING:
    from vault.desks.checkout import CheckoutResult

__all__ = ["is_other_question", "update", "with_unfinished"]


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
    late = still_to_write(vault, desk, watch)
    if dry_run:
        done = with_unfinished(vault, desk, _plan(vault, desk, peer, version, watch), watch, is_cut=late is not None)
    else:
        finish_checkouts(vault, watch, desk)
        before = absent_now(vault)
        done = _update(vault, desk, peer, version, watch)
        done = replace(done, moves=as_written(vault, desk, done.moves, before), is_finished=late is not None)
    if late is not None:
        done = replace(done, moves=_after(planned_result(late), done.moves))
    waiting = waiting_releases(vault)
    lacking = waiting_in(vault, waiting, desk)
    parts = parts_here(vault, desk) if lacking else ()
    is_lost = bool(parts) and no_sync_brings(vault, waiting, desk)
    out = replace(done.not_taken, away=away(vault, desk), lacking=lacking, parts=parts, is_lost=is_lost)
    return replace(done, not_taken=out)


def _after(late: CheckoutResult, moves: Moves) -> Moves:
    """Return what an update moves with what it finishes first of one that was cut off."""
    written = {*late.written} - {*moves.deleted, *moves.kept} | {*moves.written}
    deleted = {*late.deleted} - {*moves.written, *moves.kept} | {*moves.deleted}
    return moves._replace(written=tuple(sorted(written)), deleted=tuple(sorted(deleted)))


def _update(vault: Vault, desk: str, peer: str | None, version: Version | None, watch: Watch) -> Updated:
    """Update inside one write; what changed in the folder is committed only where something is then taken in.

    What the folder holds may be what clashes, also beside what was committed before: then that commit is a side of the
    conflict. Or it ends a clash of what was committed.
    """
    with vault.writing() as w:
        heads, waiting, out = permitted_heads(vault, desk, checkout_of(vault, desk), peer, version)
        base, new = _stand(w, vault, desk, heads)
        lacking, new = len(new), with_room(vault, desk, base, new)
        more = lacking - len(new)
        if new and not (peer or version):
            new = _asked_now(vault, desk, new, waiting, watch)
        if not new:
            return _nothing(vault, base, heads, NotTakenIn(waiting, out, more))
        folded, saved = _folded(w, vault, base, new), None
        is_mine, came = _as_it_came(w, vault, desk, base, new, watch)
        is_news = folded is None or folded.outcome.root is not None
        if is_mine and (is_news or (folded and _asks_otherwise(vault, desk, base, new, folded.outcome, watch))):
            saved = save_first(w, vault, "update", desk=desk, watch=watch)
        if saved:
            folded, (base, new) = None, _stand(w, vault, desk, new)
        done = _take_in(w, vault, desk, base, new, "update", folded=folded, came=came, watch=watch)
        if done.conflict is not None:
            done = replace(done, conflict=replace(done.conflict, id=note_head_conflict(w, vault, desk, new)))
        elif done.revision is not None:
            w.audit(
                "lace-update",
                desk,
                {"relation": done.relation, "commit": str(done.commit)},
                relates_to=[h.text for h in new],
            )
        return replace(
            done,
            saved=saved.commit if saved else None,
            taken=_taken_in(vault, desk, new),
            not_taken=NotTakenIn(waiting, out, more),
        )


def _as_it_came(
    w: Writer, vault: Vault, desk: str, base: Checkout | None, new: Sequence[RecordHash], watch: Watch
) -> tuple[bool, RecordHash | None]:
    """Return whether something in the folder may be mine, and what of a new desk a head changed since it came there."""
    if base is not None or len(new) != 1 or not noted_around(vault, desk):
        return True, None
    overlay = MemoryObjects(fallback=w, trees_only=True)
    ours = unsaved(vault, desk, watch, overlay).tree
    came = as_it_came(overlay, w, vault, desk, ours, new)
    w.flush()
    return not is_all_as_it_came(overlay, vault, came, ours, new[0]), came


def _asked_now(
    vault: Vault, desk: str, new: list[RecordHash], waiting: Sequence[str], watch: Watch
) -> list[RecordHash]:
    """Return the heads to take in, where they clash without those that a contested version asks about."""
    fewer = without_superseded(vault, new, waiting)
    if len(fewer) == len(new) or not _planned(vault, desk, checkout_of(vault, desk), new, watch).conflict:
        return new
    return fewer


def _asks_otherwise(
    vault: Vault, desk: str, base: Checkout | None, new: Sequence[RecordHash], committed: MergeOutcome, watch: Watch
) -> bool:
    """Tell whether what the folder holds changes what is asked of a clash; it refuses what saving would."""
    overlay = MemoryObjects(fallback=vault.store)
    dirty = unsaved(vault, desk, watch, overlay)
    if base is None or not dirty.items:
        return False
    everything = newest(vault.store, [base.commit, *new])
    if base.commit not in everything:
        everything = [base.commit, *everything]  # the commit "before update" would stand on it
    now = fold(overlay, overlay, vault, everything, ours=base.commit, tree=dirty.tree, also=base.also)
    return is_other_question(committed, now.outcome)


def is_other_question(committed: MergeOutcome, outcome: MergeOutcome) -> bool:
    """Tell whether a clash of what is committed is gone in what the folder holds now, or something else clashes too."""
    known = {clash.path for clash in committed.conflicts}
    return outcome.root is not None or any(clash.path not in known for clash in outcome.conflicts)


def _folded(w: Writer, vault: Vault, base: Checkout | None, new: Sequence[RecordHash]) -> Folded | None:
    """Return what comes of merging heads into my line as it is committed; None where there is nothing to merge."""
    mine = base.commit if base else None
    everything = newest(vault.store, [*([mine] if mine else []), *new])
    if len(everything) == 1:
        return None
    return fold(w, w, vault, everything, ours=mine, also=base.also if base else ())


def _stand(w: Writer, vault: Vault, desk: str, heads: Sequence[RecordHash]) -> tuple[Checkout | None, list[RecordHash]]:
    """Return what the folder stands on, with heads of its content beside it from now, and the heads it has not."""
    before = checkout_of(vault, desk)
    base = with_equal(vault, desk, before, heads)
    if base is not None and base != before:
        set_checkout(w, desk, base)
    return base, missing(vault, base, heads)


def _take_in(
    w: Writer,
    vault: Vault,
    desk: str,
    base: Checkout | None,
    new: Sequence[RecordHash],
    message: str,
    *,
    folded: Folded | None = None,
    came: RecordHash | None = None,
    watch: Watch = Watch(),
) -> Updated:
    """Bring heads that are missing into my line inside a write: fast-forward, or one merge commit with sorted parents.

    What stands beside my line stays there, or is named by the merge commit: it is in the folder in any case. `folded`
    is what comes of the merge, where that is known; `came` what the folder has where it stands on no commit yet.
    """
    mine = base.commit if base else None
    if not new:
        return Updated(Relation.AHEAD, mine)
    everything = newest(vault.store, [*([mine] if mine else []), *new])
    if len(everything) == 1:
        target = everything[0]
        tree = commit_info(vault.store, target).tree
        with what_went_named(vault, new):
            result = follow(w, vault, desk, base.tree if base else came, tree, watch)
        number = adopt_commit(w, vault, desk, target, tree, beside(vault, desk, [target]))
        return Updated(Relation.BEHIND, target, number, moves=Moves(result.written, result.deleted))
    outcome, merged = folded or fold(w, w, vault, everything, ours=mine, also=base.also if base else ())
    if outcome.root is None:
        return _clashing(w, vault, mine, outcome, everything)
    w.flush()
    with what_went_named(vault, new):
        result = follow(w, vault, desk, base.tree if base else None, outcome.root, watch)
    names = ", ".join(
        dict.fromkeys(label_of(vault, commit_info(vault.store, h).signer) for h in everything if h != mine)
    )
    commit, number = record_commit(w, vault, desk, outcome.root, everything, f"Merge {names} ({message})")
    return Updated(Relation.MERGEABLE, commit, number, moves=Moves(result.written, result.deleted), merged=merged)


def _clashing(
    source: Source,
    vault: Vault,
    mine: RecordHash | None,
    outcome: MergeOutcome,
    heads: Sequence[RecordHash],
    tree: RecordHash | None = None,
) -> Updated:
    """Return what is asked of a clash of heads; in a plan `tree` stands for that of mine, as the folder has it."""
    clashes, others = outcome.conflicts, 0 if heads[2:] else len(outcome.taken) + len(outcome.merged)
    trees = {head: commit_info(vault.store, head).tree for head in heads}
    if mine is not None and tree is not None:
        trees[mine] = tree
    is_mine = any(_is_side_of_mine(source, vault, mine, clash, trees) for clash in clashes)
    return Updated(Relation.CONFLICTING, mine, conflict=HeadConflict(clashes, is_mine, others))


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


def with_unfinished(vault: Vault, desk: str, plan: Updated, watch: Watch, *, is_cut: bool) -> Updated:
    """Return a plan that says too what is finished before it, and which files will wait for a person then."""
    if not (is_cut or is_unfinished(vault, desk)):
        return plan
    from vault.folder.meanwhile import left_if_finished  # noqa: PLC0415 - hardly any update is cut off

    moves = plan.moves._replace(kept=left_if_finished(vault, desk, watch))
    return replace(plan, is_unfinished=is_cut, moves=moves)


def _nothing(vault: Vault, base: Checkout | None, heads: Sequence[RecordHash], not_taken: NotTakenIn) -> Updated:
    if base is None:
        return Updated(Relation.SAME, not_taken=not_taken)
    ahead = all(relation_to(vault, base, head) is Relation.AHEAD for head in heads)
    found = Relation.AHEAD if heads and ahead and base.commit not in heads else Relation.SAME
    return Updated(found, base.commit, not_taken=not_taken)


def _taken_in(vault: Vault, desk: str, new: Sequence[RecordHash]) -> TakenIn:
    """Return whose work some heads are."""
    me = vault.node.text
    taken = [r for r in releases_of(vault.store, new, desk) if r.node != me]
    pairs = dict.fromkeys((label_of(vault, release.node), release.version) for release in taken)
    judged = [] if taken else [c for c in conflicts(vault, include_settled=True) if c.desk == desk and c.version]
    decided = (c.version for c in judged if c.version and not set(new).isdisjoint(c.results))
    return TakenIn(tuple(pairs), tuple(dict.fromkeys(decided)))


def _plan(vault: Vault, desk: str, peer: str | None, version: Version | None, watch: Watch) -> Updated:
    """Say what an update would do, from a merge in memory; the folder's uncommitted changes are counted in."""
    base = checkout_of(vault, desk)
    heads, waiting, out = permitted_heads(vault, desk, base, peer, version)
    base = with_equal(vault, desk, base, heads)
    lacking = missing(vault, base, heads)
    new = with_room(vault, desk, base, lacking)
    not_taken = NotTakenIn(waiting, out, len(lacking) - len(new))
    done = _planned(vault, desk, base, new, watch) if new else None
    fewer = without_superseded(vault, new, waiting) if done and done.conflict and not (peer or version) else new
    if len(fewer) < len(new):
        done = _planned(vault, desk, base, fewer, watch) if fewer else None
    return replace(done, not_taken=not_taken) if done else _nothing(vault, base, heads, not_taken)


def _planned(vault: Vault, desk: str, base: Checkout | None, new: list[RecordHash], watch: Watch) -> Updated:
    overlay = MemoryObjects(fallback=vault.store)
    dirty = unsaved(vault, desk, watch, overlay)
    mine = base.commit if base else None
    everything = newest(vault.store, [*([mine] if mine else []), *new])
    target = commit_info(vault.store, everything[0]).tree
    is_mine = bool(dirty.items)
    if base is None and is_mine:
        came = as_it_came(overlay, overlay, vault, desk, dirty.tree, everything)
        is_mine = not is_all_as_it_came(overlay, vault, came, dirty.tree, everything[0])
    if len(everything) == 1 and not is_mine:
        moves = planned_moves(vault, desk, dirty.tree, target, overlay, watch)
        return Updated(Relation.BEHIND, everything[0], taken=_taken_in(vault, desk, new), moves=moves)
    together = everything
    if mine and dirty.items and mine not in everything:
        everything = [mine, *everything]  # the commit "before update" would stand on it
    also = base.also if base else ()
    tree = dirty.tree if dirty.items and mine else None
    outcome, merged = fold(overlay, overlay, vault, everything, ours=mine, tree=tree, also=also)
    if outcome.root is None and tree is not None:
        committed = fold(overlay, overlay, vault, together, ours=mine, also=also).outcome
        if committed.root is None and not is_other_question(committed, outcome):
            outcome, everything, tree = committed, together, None  # then nothing is committed before
    is_beside = False
    if mine is None and dirty.items and outcome.root is not None:
        is_beside = True
        origin = base_with_parts(overlay, vault, None, dirty.tree, None, everything)
        outcome = merge_trees(overlay, overlay, vault.group, origin, dirty.tree, outcome.root)
    if outcome.root is None:
        done = _clashing(overlay, vault, mine, outcome, everything, tree)
        if is_beside and done.conflict:
            done = replace(done, conflict=replace(done.conflict, is_mine=True))
    else:
        moves = planned_moves(vault, desk, dirty.tree, outcome.root, overlay, watch)
        done = Updated(Relation.MERGEABLE, moves=moves, merged=merged)
    return replace(done, taken=_taken_in(vault, desk, new))
