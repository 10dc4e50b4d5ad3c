"""`resolve`: a person's decision on a conflict, as records (LAZ-39 to LAZ-44; architecture, Deciding).

A version conflict gets a sealed resolution that names all sides, and one merge commit that has all sides as parents
and the chosen content. A head conflict is settled by a merge commit alone. My folder follows as in `update`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from lazy.conflict_words import update_command
from lazy.conflicts import conflict_of, note_head_conflict
from lazy.contested import Conflict, ConflictKind, Proposal, Status, status_of
from lazy.folder.following import following, with_earlier
from lazy.folder.saving import save_first
from lazy.folder.written import follow, tells_what_it_wrote
from lazy.queue import next_sync
from lazy.resolving.draft_files import forget_drafts
from lazy.resolving.earlier import refused
from lazy.resolving.kept_texts import KeptText
from lazy.resolving.own_folder import finish_for, left_to_folder, preferred, with_folder
from lazy.resolving.picks import Choices, Picks, Seen, SidesChanged, check_seen, pick_proposal, pick_side, picks_of
from lazy.resolving.sealed import Deciding, known_heads, merge_commit, seal_resolution, superseding, to_decide
from lazy.resolving.taking import merged_tree
from vault.commands import as_option
from vault.desk_folders import MAIN
from vault.desks.checkout import CheckoutResult
from vault.desks.memory import MemoryObjects
from vault.desks.merge import MergeOutcome
from vault.desks.plan import Skip
from vault.folder.checked_out import checkout_of
from vault.folder.work import adopt_commit, beside, record_commit
from vault.names import Version
from vault.records import RecordHash
from vault.releasing import Releasing, check_free, seal_release
from vault.revisions.graph import is_ancestor, newest
from vault.revisions.history import commit_info
from vault.vault import Vault
from vault.watch import Watch
from vault.writer import Writer

__all__ = ["Noted", "Resolved", "accept_resolution", "next_step"]
__all__ += ["resolve_merged", "resolve_prefer"]


class Resolved(NamedTuple):
    """What a decision made.

    Args:
        conflict: the conflict's id.
        status: its status from now.
        resolution: the sealed resolution, for a version conflict.
        release: the release that counts: the chosen one or the new one.
        commit: the merge commit.
        written: paths written in the folder.
        conflicts: paths that my own newer work and the decision both changed; the folder did not follow.
        deleted: paths deleted in the folder.
        kept: paths left as they are, since they were saved while the folder was written.
        left_out: paths that came and were not written, since no disk or not this one may hold them.
        texts: what somebody wrote for files that got something else, and where it is kept.
    """

    conflict: str
    status: Status
    resolution: RecordHash | None
    release: RecordHash | None
    commit: RecordHash
    written: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    left_out: tuple[Skip, ...] = ()
    texts: tuple[KeptText, ...] = ()


Noted = Callable[[Writer, Resolved], object]


class _Act(NamedTuple):
    """A decision that is being written.

    Args:
        w: its write.
        vault: whose decision it is.
        conflict: what is decided.
        watch: progress and cancel.
        reason: why; friends can read it.
        seen: what the choices were made between; None does not ask.
        mine: paths that shall be exactly as my folder has them.
    """

    w: Writer
    vault: Vault
    conflict: Conflict
    watch: Watch
    reason: str = ""
    seen: Seen | None = None
    mine: Collection[str] = ()


def _unnoted(_w: Writer, _done: Resolved) -> None:
    """Note nothing of a decision."""


@tells_what_it_wrote
def resolve_prefer(
    vault: Vault, name: str, side: str, reason: str = "", *, watch: Watch = Watch(), noted: Noted = _unnoted
) -> Resolved:
    """Keep one side: its release counts, for a version conflict; its content on conflicting paths, for heads.

    Inside its write, `noted` is given what was decided.

    Raises:
        NoSuchConflict: unknown, or resolved already.
        TooManySides: more is beside each other than one decision joins; nothing was changed.
        NoSuchSide: the side cannot be told.
        DecisionsClash: what was decided before cannot be kept beside it without a choice; nothing was changed.
    """
    finish_for(vault, name, watch)
    with vault.writing() as w:
        act = _Act(w, vault, to_decide(vault, name), watch, reason)
        done = _kept_side(act, side)
        noted(w, done)
    return done._replace(texts=forget_drafts(vault, done.conflict, done.commit))


def _kept_side(act: _Act, word: str) -> Resolved:
    w, vault, conflict = act.w, act.vault, act.conflict
    if conflict.kind is ConflictKind.HEAD:
        return _settle_heads(act, preferred(vault, conflict, word))
    chosen = pick_side(conflict, word)
    _save(act)
    tree = commit_info(vault.store, chosen.commit).tree
    tree = with_earlier(MemoryObjects(fallback=w), w, vault, conflict, tree, refused(conflict))
    w.flush()
    parents = newest(vault.store, known_heads(vault, conflict))
    result = merge_commit(w, vault, conflict, tree, parents, f"Resolve {conflict.version}: {chosen.name}")
    sealed = seal_resolution(w, vault, conflict, Deciding(result, act.reason, chosen=chosen.release))
    status = Status.RESOLVED_LOCAL if chosen.node == vault.node.text else Status.RESOLVED_REMOTE
    return _followed(act, Resolved(conflict.id, status, sealed, chosen.release, result))


@tells_what_it_wrote
def resolve_merged(
    vault: Vault,
    name: str,
    version: Version,
    choices: Choices = Choices(),
    reason: str = "",
    *,
    seen: Seen | None = None,
    watch: Watch = Watch(),
    noted: Noted = _unnoted,
) -> Resolved:
    """Release a merge: conflicting paths as they are in my folder or as was chosen, everything else merged.

    Args:
        vault: whose decision it is.
        name: the conflict.
        version: the version of the merged release.
        choices: what was chosen, path by path.
        reason: why; it travels in the resolution.
        seen: what the choices were made between; None does not ask.
        watch: progress and cancel.
        noted: as in `resolve_prefer`.

    Raises:
        NoSuchConflict, NoSuchSide: as `resolve_prefer`.
        SidesChanged: the heads or files are not those `seen` any more; nothing was changed.
        VersionTaken: the version exists.
        MarkersLeft, NoSuchRegion, RegionUndecided, NoSuchPath: a choice cannot be taken; nothing was changed.
    """
    finish_for(vault, name, watch)
    with vault.writing() as w:
        conflict = to_decide(vault, name)
        check_seen(vault, conflict, seen)
        check_free(vault, conflict.desk, version)
        picks = picks_of(vault, conflict, choices)
        mine = {*choices.mine, *left_to_folder(vault, conflict, choices.takes, picks)}
        act = _Act(w, vault, conflict, watch, reason, seen, mine)
        done = (_merged_heads if conflict.kind is ConflictKind.HEAD else _merged_version)(act, version, picks)
        noted(w, done)
    return done._replace(texts=forget_drafts(vault, done.conflict, done.commit))


def _merged_heads(act: _Act, version: Version, picks: Picks) -> Resolved:
    done = _settle_heads(act, picks)
    released = seal_release(act.w, act.vault, Releasing(act.conflict.desk, version, act.reason))
    return done._replace(release=released.release)


def _merged_version(act: _Act, version: Version, picks: Picks) -> Resolved:
    w, vault, conflict, reason = act.w, act.vault, act.conflict, act.reason
    tree, heads, moved = _merge(act, picks, conflict.to_merge)
    parents = newest(vault.store, [*heads, *known_heads(vault, conflict)])
    commit, _ = record_commit(w, vault, conflict.desk, tree, parents, reason or f"Resolve {conflict.version}")
    made: list[RecordHash] = []

    def together(release: RecordHash) -> list[RecordHash]:
        deciding = Deciding(commit, reason, release=release)
        made.append(seal_resolution(w, vault, conflict, deciding, is_logged=False))
        return made

    released = seal_release(w, vault, Releasing(conflict.desk, version, reason), together=together)
    done = Resolved(conflict.id, Status.MERGED, made[0], released.release, commit)
    return done._replace(written=moved.written, deleted=moved.deleted)


def _merge(act: _Act, picks: Picks, sides: Sequence[RecordHash]) -> tuple[RecordHash, list[RecordHash], CheckoutResult]:
    """Save my work, and bring the folder to what the choices make of the sides and my line.

    Returns:
        The tree, the heads that it joins, and what changes in the folder.
    """
    w, vault, conflict = act.w, act.vault, act.conflict
    _save(act)
    base = checkout_of(vault, conflict.desk)
    before, line, also = (base.tree, base.commit, base.also) if base else (None, None, ())
    heads = [*sides, *([line] if line else [])]
    picks = with_folder(w, vault, conflict, picks, before, act.mine)
    tree = merged_tree(w, vault, heads, picks, ours=line, also=also)
    return tree, heads, follow(w, vault, conflict.desk, before, tree, act.watch)


@tells_what_it_wrote
def accept_resolution(
    vault: Vault,
    name: str,
    proposal: str = "",
    takes: Mapping[str, str] | None = None,
    *,
    watch: Watch = Watch(),
    noted: Noted = _unnoted,
) -> Resolved:
    """Accept somebody else's proposed resolution: fast-forward to its result, without a second merge commit.

    Inside its write, `noted` is given what was decided. `takes` says by path what a file gets in which it clashes with
    an earlier decision: `local` for what my folder has, `both`, or a word for who made it.

    Raises:
        NoSuchConflict: there is none, or nothing is proposed.
        NoSuchSide: several are proposed and `proposal` fits more than one of them, or a word of `takes` means none.
        DecisionsClash: it clashes with an earlier decision at a path that `takes` does not name; nothing was changed.
        NoSuchPath: `takes` names a path at which it does not.
    """
    finish_for(vault, name, watch)
    with vault.writing() as w:
        conflict = to_decide(vault, name)
        decision = pick_proposal(vault, conflict, proposal)
        act = _Act(w, vault, conflict, watch)
        _save(act)
        _note_accepted(w, conflict, decision)
        result, resolution = superseding(w, vault, conflict, decision, takes or {})
        status = status_of(conflict.sides, decision.chosen, vault.node.text)
        kept = decision.chosen or decision.release
        done = _followed(act, Resolved(conflict.id, status, resolution, kept, result))
        noted(w, done)
    return done._replace(texts=forget_drafts(vault, done.conflict, done.commit))


def _save(act: _Act) -> None:
    """Commit what changed in the folder; deciding from a side that was checked out is a way of working.

    Raises:
        UncommittedChanges: the folder only looks at an older state, which would take back what came since.
        SidesChanged: it has another content of a file than that which was seen.
    """
    conflict, seen = act.conflict, act.seen
    save_first(act.w, act.vault, "resolve", desk=conflict.desk, watch=act.watch, sides=conflict.to_merge)
    if seen is not None and not seen.is_same(conflict):
        raise SidesChanged(f"The conflict {conflict.id} is not what you saw any more: a file of it was edited since.")


def _note_accepted(w: Writer, conflict: Conflict, decision: Proposal) -> None:
    w.store.run(
        "INSERT INTO conflict VALUES (?1, ?2, ?3, ?4, ?5, '') ON CONFLICT(id) DO UPDATE"
        " SET accepted = trim(accepted || ' ' || ?5)",
        conflict.id,
        conflict.desk,
        str(conflict.version),
        w.tai().text,
        decision.resolution.text,
    )
    w.audit("lazy-resolve", conflict.id, {"accepted": decision.name}, relates_to=[decision.resolution.text])


def next_step(vault: Vault, *decided: Resolved) -> str:
    """Return the command to run after decisions; empty when nobody else has to learn of them.

    Clashing heads are settled by a merge commit alone, which friends get with a release only (LAZ-4).
    """
    for done in decided:
        if done.conflicts:
            return update_command(conflict_of(vault, done.conflict))
    for done in decided:
        if done.resolution is None and done.release is None and not vault.settings.shares_commits:
            desk = conflict_of(vault, done.conflict).desk
            return "lace release" if desk == MAIN else f"lace release {as_option('--desk', desk)}"
    return next_sync(vault)


def _settle_heads(act: _Act, picks: Picks) -> Resolved:
    w, vault, conflict = act.w, act.vault, act.conflict
    tree, heads, moved = _merge(act, picks, [side.commit for side in conflict.sides])
    names = ", ".join(side.word for side in conflict.sides if not side.is_local)
    commit, _ = record_commit(w, vault, conflict.desk, tree, newest(vault.store, heads), act.reason or f"Merge {names}")
    w.audit(
        "lazy-resolve",
        conflict.id,
        {"commit": commit.text, "desk": conflict.desk},
        motivation=act.reason,
        relates_to=[h.text for h in heads],
    )
    return Resolved(conflict.id, Status.MERGED, None, None, commit, moved.written, deleted=moved.deleted)


def _followed(act: _Act, done: Resolved) -> Resolved:
    """Let the folder follow to a decision's result, with what else it holds of mine.

    A folder that holds nothing else gets exactly the result. It stays where a later state contains the sides: whatever
    the decision has otherwise was changed since, and is not to be taken back. If newer work of mine collides with the
    result, the folder stays and a head conflict against it is noted.
    """
    w, vault, conflict, result = act.w, act.vault, act.conflict, done.commit
    if conflict.is_overtaken:
        return done
    desk, store = conflict.desk, vault.store
    target = commit_info(store, result).tree
    base = checkout_of(vault, desk)
    if base is not None and is_ancestor(store, result, base.commit):
        return done
    outcome = MergeOutcome.clean(target)
    if base is not None:
        outcome = following(MemoryObjects(fallback=w), w, vault, conflict, base, base.tree, [result], target)
    if outcome.root is None:
        note_head_conflict(w, vault, desk, [result])
        return done._replace(conflicts=tuple(clash.path for clash in outcome.conflicts))
    w.flush()
    moved = follow(w, vault, desk, base.tree if base else None, outcome.root, act.watch)
    parents = newest(store, [*([base.commit] if base else []), result])
    if parents == [result] and outcome.root == target:
        adopt_commit(w, vault, desk, result, target, beside(vault, desk, parents))
    else:
        record_commit(w, vault, desk, outcome.root, parents, f"Take the decision on {conflict.version}")
    return done._replace(written=moved.written, deleted=moved.deleted)
