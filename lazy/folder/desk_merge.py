"""`merge`: one desk's line into mine by a named strategy (CLAY-72 to CLAY-78).

It is `update` with the decision named beforehand: my folder follows, dirty files are committed first, and what the
strategy does not decide changes nothing, is listed by path, and is noted as a conflict for `resolve`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from lazy.address import ResolvedCommit
from lazy.conflicts import note_head_conflict
from lazy.folder.left_out import absent_now
from lazy.folder.merge_analysis import is_other_question
from lazy.folder.merging import base_of, what_went_named
from lazy.folder.moving import Moves, planned_moves
from lazy.folder.permitted import refused
from lazy.folder.saving import save_first, unsaved
from lazy.folder.update import with_unfinished
from lazy.folder.updated import HeadConflict, Updated
from lazy.folder.written import as_written, follow
from vault.commands import as_option, as_typed
from vault.desks.memory import MemoryObjects
from vault.desks.merge import MergeOutcome
from vault.desks.ports import Sink, Source
from vault.desks.strategies import Strategy, merge_by
from vault.errors import CallerError
from vault.folder.checked_out import contained
from vault.folder.checkout_journal import still_to_write
from vault.folder.parts import base_with_parts, brings_part
from vault.folder.virtual_base import as_it_came, is_all_in
from vault.folder.work import Changes, Checkout, adopt_commit, beside, checkout_of, finish_checkouts, record_commit
from vault.permits import NotPermitted
from vault.plural import few
from vault.records import RecordHash
from vault.revisions.graph import ancestors, merge_bases, newest
from vault.revisions.history import Relation, relation
from vault.vault import Vault
from vault.watch import Watch
from vault.writer import Writer

__all__ = ["DeskNotEmpty", "NoMergeBase", "NotFastForward", "Strategy", "merge_desk"]


class NoMergeBase(CallerError):
    """Two lines that have no common commit (CLAY-73)."""

    code = "no-merge-base"
    exit_code = 2
    hint = "They began on their own: take a strategy that needs no base, such as only-that or take-this."


class NotFastForward(CallerError):
    """`fine` was asked for two lines of which neither contains the other (CLAY-75)."""

    code = "not-fast-forward"
    exit_code = 2
    hint = "Both sides changed: take mate, which merges them."


class DeskNotEmpty(CallerError):
    """`init` was asked for a desk that has revisions, or whose folder holds something else (CLAY-78)."""

    code = "desk-not-empty"
    exit_code = 2
    hint = "Take only-that for its exact content as a merge, or mate to combine both."


class _Beginning(NamedTuple):
    """Whether a desk without a revision is begun from a commit, and what `as_it_came` gives for its folder."""

    is_so: bool
    came: RecordHash | None = None


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
    if dry_run:
        plan = _plan(vault, desk, that, strategy, watch)
        return with_unfinished(vault, desk, plan, watch, is_cut=still_to_write(vault, desk, watch) is not None)
    finish_checkouts(vault, watch, desk)
    before = absent_now(vault)
    done = _merged(vault, desk, that, strategy, watch)
    return replace(done, moves=as_written(vault, desk, done.moves, before))


def _merged(vault: Vault, desk: str, that: ResolvedCommit, strategy: Strategy, watch: Watch) -> Updated:
    with vault.writing() as w:
        base = checkout_of(vault, desk)
        saved, begins = None, _Beginning(is_so=False)
        if base is None:
            _check_permits(vault, desk, None, that, strategy)
            overlay = MemoryObjects(fallback=w)
            begins = _beginning(overlay, w, vault, desk, unsaved(vault, desk, watch, overlay), that, strategy)
            w.flush()
        if not begins.is_so and (base is None or _takes_in(w, vault, desk, base, that, strategy, watch)):
            saved = save_first(w, vault, "merge", desk=desk, watch=watch)
        done = _merge(w, vault, desk, that, strategy, watch, begins.came)
        if done.revision is not None:
            w.audit(
                "lace-merge",
                desk,
                {"strategy": strategy, "relation": done.relation, "commit": str(done.commit)},
                relates_to=[that.commit.text],
            )
        return done if saved is None else replace(done, saved=saved.commit)


def _beginning(
    source: Source, sink: Sink, vault: Vault, desk: str, dirty: Changes, that: ResolvedCommit, strategy: Strategy
) -> _Beginning:
    """Tell whether a desk without a revision is begun from a commit; else what its folder holds is committed first.

    Whoever names a side whose content it is to be has a side there, though nothing of it is theirs.

    Raises:
        NoMergeBase, NotFastForward, DeskNotEmpty: that commit would have none in common with it.
    """
    if not dirty.items or not _follows(strategy):
        return _Beginning(not dirty.items)
    came = as_it_came(source, sink, vault, desk, dirty.tree, [that.commit]) if that.desk == desk else None
    if is_all_in(source, came, dirty.tree, that.tree):
        return _Beginning(is_so=True, came=came)
    if strategy is Strategy.INIT:
        raise DeskNotEmpty(
            f"The folder of {desk} holds what {that.what} has otherwise or lacks, so it cannot be begun from that.",
            hint="Move those files away, or take only-that for its exact content, or take-this or take-that, which keep"
            " what one side alone has: what the folder holds is committed first.",
        )
    _refuse_apart(that, strategy, Relation.UNRELATED)
    return _Beginning(is_so=False)


def _takes_in(
    w: Writer, vault: Vault, desk: str, base: Checkout, that: ResolvedCommit, strategy: Strategy, watch: Watch
) -> bool:
    """Tell whether a merge takes something in or asks about the folder: there is news, and what is committed merges.

    Or what the folder holds ends a clash of that, or clashes beside it. Else it refuses what saving would.
    """
    found = _check(vault, base, that, strategy)
    overlay = MemoryObjects(fallback=vault.store)
    if found is Relation.SAME or (found is Relation.AHEAD and _follows(strategy)):
        unsaved(vault, desk, watch, overlay)
        return False
    if found is Relation.BEHIND and _follows(strategy):
        return True
    _check_permits(vault, desk, base.commit, that, strategy)
    outcome = _outcome(w, w, vault, base.commit, base.tree, that, strategy)
    if outcome.root is not None:
        return True
    dirty = unsaved(vault, desk, watch, overlay)
    if not dirty.items:
        return False
    now = _outcome(overlay, overlay, vault, base.commit, dirty.tree, that, strategy)
    return is_other_question(outcome.conflicts, now.conflicts)


def _merge(
    w: Writer,
    vault: Vault,
    desk: str,
    that: ResolvedCommit,
    strategy: Strategy,
    watch: Watch,
    came: RecordHash | None,
) -> Updated:
    base = checkout_of(vault, desk)
    mine = base.commit if base else None
    found = _check(vault, base, that, strategy)
    _check_permits(vault, desk, mine, that, strategy)
    if base is None or (found is Relation.BEHIND and _follows(strategy)):
        moved = follow(w, vault, desk, base.tree if base else came, that.tree, watch)
        number = adopt_commit(w, vault, desk, that.commit, that.tree, beside(vault, desk, [that.commit]))
        return Updated(Relation.BEHIND, that.commit, number, moves=Moves(moved.written, moved.deleted))
    if found is Relation.SAME or (found is Relation.AHEAD and _follows(strategy)):
        return Updated(found, mine)
    outcome = _outcome(w, w, vault, base.commit, base.tree, that, strategy)
    if outcome.root is None:
        noted = note_head_conflict(w, vault, desk, [that.commit])
        return Updated(Relation.CONFLICTING, mine, conflict=HeadConflict(outcome.conflicts, id=noted))
    w.flush()
    moved = follow(w, vault, desk, base.tree, outcome.root, watch)
    # Both parents stay even where one contains the other, so that later merges know that this one happened (CLAY-77).
    keep = {base.commit, that.commit, *newest(vault.store, [*contained(base), that.commit])}
    commit, number = record_commit(
        w, vault, desk, outcome.root, sorted(keep, key=lambda c: c.text), f"Merge {that.what} ({strategy})"
    )
    moves = Moves(moved.written, moved.deleted)
    return Updated(Relation.MERGEABLE, commit, number, moves=moves, merged=tuple(outcome.merged))


def _follows(strategy: Strategy) -> bool:
    """Tell whether a strategy fast-forwards where it can; the others make their commit in any case."""
    return strategy not in {Strategy.ONLY_THIS, Strategy.ONLY_THAT, Strategy.TAKE_THIS, Strategy.TAKE_THAT}


def _check(
    vault: Vault, base: Checkout | None, that: ResolvedCommit, strategy: Strategy, tree: RecordHash | None = None
) -> Relation:
    """Return how what the folder stands on stands to a head, if the strategy fits them.

    With the `tree` of a folder that would be committed first it is how that commit would stand to it.
    """
    if base is None:
        return Relation.BEHIND
    mine = base.commit
    if strategy is Strategy.INIT:
        raise DeskNotEmpty("This desk has revisions already, so it cannot be begun from another.")
    if mine == that.commit:
        return Relation.SAME
    if that.commit.text in ancestors(vault.store, mine):
        return Relation.AHEAD
    found = relation(vault.store, mine, that.commit)
    if mine.text in ancestors(vault.store, that.commit):
        found = Relation.BEHIND
    if tree is not None:
        bases = merge_bases(vault.store, mine, that.commit).commits
        found = Relation.SAME if tree == that.tree else Relation.MERGEABLE if bases else Relation.UNRELATED
    if found is Relation.SAME and (
        not _follows(strategy) or strategy is Strategy.FINE or brings_part(vault, that.desk, base, that.commit)
    ):
        found = Relation.MERGEABLE  # equal content is no equal history
    _refuse_apart(that, strategy, found)
    return found


def _refuse_apart(that: ResolvedCommit, strategy: Strategy, found: Relation) -> None:
    """Refuse a strategy that does not fit how two lines stand to each other."""
    if strategy is Strategy.FINE and found is not Relation.BEHIND:
        raise NotFastForward(f"Your line and {that.what} both changed, so there is no way forward without a merge.")
    if found is Relation.UNRELATED and strategy.needs_base:
        raise NoMergeBase(f"Your line and {that.what} have no commit in common.")


def _check_permits(vault: Vault, desk: str, mine: RecordHash | None, that: ResolvedCommit, strategy: Strategy) -> None:
    """Refuse what its signer may not write here, unless nothing of it is taken (CLAY-80)."""
    if strategy is Strategy.ONLY_THIS:
        return
    for out in refused(vault, desk, mine, [that.commit]):
        raise NotPermitted(
            f"{out.who} changed {few(out.paths)} and may not write there.",
            hint=f"See the rules with: {as_typed('desk permits', desk)} - and change one with: "
            + as_typed("desk permit", "PATH", options=f"--write --anyone {as_option('--desk', desk)}"),
        )


def _outcome(
    source: Source,
    sink: Sink,
    vault: Vault,
    mine: RecordHash | None,
    tree: RecordHash,
    that: ResolvedCommit,
    strategy: Strategy,
) -> MergeOutcome:
    reading = MemoryObjects(fallback=source)
    bases = merge_bases(vault.store, mine, that.commit).commits if mine and strategy.needs_base else ()
    with what_went_named(vault, bases):
        base = base_of(reading, vault, bases)
        if mine and strategy.needs_base:
            base = base_with_parts(reading, vault, base, tree, [mine], [that.commit])
        return merge_by(strategy, reading, sink, vault.group, base, tree, that.tree, ("this", that.what))


def _plan(vault: Vault, desk: str, that: ResolvedCommit, strategy: Strategy, watch: Watch) -> Updated:
    base = checkout_of(vault, desk)
    found = _check(vault, base, that, strategy)
    _check_permits(vault, desk, base.commit if base else None, that, strategy)
    overlay = MemoryObjects(fallback=vault.store)
    dirty = unsaved(vault, desk, watch, overlay)
    if base is not None and (found is Relation.SAME or (found is Relation.AHEAD and _follows(strategy))):
        return Updated(found, base.commit)
    begins = _beginning(overlay, overlay, vault, desk, dirty, that, strategy).is_so if base is None else False
    is_forward = base is not None and found is Relation.BEHIND and _follows(strategy)
    if begins or (is_forward and not dirty.items):
        moves = planned_moves(vault, desk, dirty.tree, that.tree, overlay, watch)
        return Updated(Relation.BEHIND, that.commit, moves=moves)
    mine = base.commit if base else None
    outcome = _outcome(overlay, overlay, vault, mine, dirty.tree, that, strategy)
    is_saved = base is not None and bool(dirty.items)
    if outcome.root is None and is_saved and base is not None and not is_forward:
        committed = _outcome(overlay, overlay, vault, mine, base.tree, that, strategy)
        if committed.root is None and not is_other_question(committed.conflicts, outcome.conflicts):
            outcome, is_saved = committed, False
    if is_saved and _check(vault, base, that, strategy, dirty.tree) is Relation.SAME:
        return Updated(Relation.SAME, mine)
    if outcome.root is None:
        return Updated(Relation.CONFLICTING, mine, conflict=HeadConflict(outcome.conflicts))
    moves = planned_moves(vault, desk, dirty.tree, outcome.root, overlay, watch)
    return Updated(Relation.MERGEABLE, moves=moves, merged=tuple(outcome.merged))
