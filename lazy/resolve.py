"""`resolve`: a person's decision on a conflict, as records (LAZ-39 to LAZ-44; architecture, Deciding).

A version conflict gets a sealed resolution that names all sides, and one merge commit that has all sides as parents
and the chosen content. A head conflict is settled by a merge commit alone. My folder follows as in `update`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from lazy.conflicts import (
    Conflict,
    ConflictKind,
    NoSuchConflict,
    Proposal,
    Side,
    Status,
    conflict_named,
    note_head_conflict,
)
from lazy.merging import base_of, fold
from lazy.people import SELF
from lazy.update import follow
from vault.desks.edit import NoSuchPath, apply_changes
from vault.desks.merge import merge_trees, resolve_with
from vault.desks.ports import MemoryObjects
from vault.desks.tree import Entry, lookup
from vault.errors import CallerError
from vault.graph import ancestors, merge_bases, newest
from vault.history import commit_info
from vault.names import Version
from vault.profile import Commit, Resolution, plain_text
from vault.records import RecordHash
from vault.vault import Vault
from vault.work import (
    VersionTaken,
    Watch,
    adopt_commit,
    checkout_of,
    finish_checkouts,
    record_commit,
    seal_commit,
    seal_release,
)
from vault.writer import Writer

__all__ = ["NoSuchSide", "Resolved", "accept_resolution", "resolve_merged", "resolve_prefer"]


class NoSuchSide(CallerError):
    """The side named is none of this conflict's, or the word fits several."""

    code = "no-such-side"
    exit_code = 2
    hint = "Name a side by its person or by its release: lace conflicts lists them."


@dataclass(frozen=True, slots=True)
class Resolved:
    """What a decision made.

    Args:
        conflict: the conflict's id.
        status: its status from now.
        resolution: the sealed resolution, for a version conflict.
        release: the release that counts: the chosen one or the new one.
        commit: the merge commit.
        written: paths that changed in the folder.
        conflicts: paths that my own newer work and the decision both changed; the folder did not follow.
    """

    conflict: str
    status: Status
    resolution: RecordHash | None
    release: RecordHash | None
    commit: RecordHash
    written: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()


def resolve_prefer(vault: Vault, name: str, side: str, reason: str = "", *, watch: Watch = Watch()) -> Resolved:
    """Keep one side: its release counts, for a version conflict; its content on conflicting paths, for heads.

    Raises:
        NoSuchConflict: unknown, or resolved already.
        NoSuchSide: the side cannot be told.
    """
    finish_checkouts(vault, watch)
    with vault.writing() as w:
        conflict = conflict_named(vault, name)
        chosen = pick_side(vault, conflict, side)
        seal_commit(w, vault, "before resolve", desk=conflict.desk, watch=watch)
        if conflict.kind is ConflictKind.HEAD:
            return _settle_heads(w, vault, conflict, {None: chosen.commit}, "", watch)
        tree = commit_info(vault.store, chosen.commit).tree
        parents = newest(vault.store, [*(s.commit for s in conflict.sides), *conflict.results])
        result = _merge_commit(w, vault, conflict, tree, parents, f"Resolve {conflict.version}: {chosen.name}")
        sealed = _resolution(w, vault, conflict, result, reason, chosen=chosen.release)
        local = chosen.node == vault.node.text
        status = Status.RESOLVED_LOCAL if local else Status.RESOLVED_REMOTE
        return _followed(w, vault, conflict, status, sealed, chosen.release, result, watch)


def resolve_merged(
    vault: Vault,
    name: str,
    version: Version,
    takes: Mapping[str, str] | None = None,
    reason: str = "",
    *,
    watch: Watch = Watch(),
) -> Resolved:
    """Release a merge: conflicting paths as they are in my folder or as `takes` says, everything else merged.

    Args:
        vault: whose decision it is.
        name: the conflict.
        version: the version of the merged release.
        takes: path -> side, for paths that shall be one side's.
        reason: why; it travels in the resolution.
        watch: progress and cancel.

    Raises:
        NoSuchConflict, NoSuchSide: as `resolve_prefer`.
        VersionTaken: the version exists.
    """
    finish_checkouts(vault, watch)
    with vault.writing() as w:
        conflict = conflict_named(vault, name)
        check_free(vault, conflict.desk, version)
        picked: dict[str | None, RecordHash] = {
            path: pick_side(vault, conflict, side).commit for path, side in (takes or {}).items()
        }
        if conflict.kind is ConflictKind.HEAD:
            done = _settle_heads(w, vault, conflict, picked, reason, watch)
            released = seal_release(w, vault, version, reason, desk=conflict.desk)
            return Resolved(done.conflict, Status.MERGED, None, released.release, done.commit, done.written)
        seal_commit(w, vault, "before resolve", desk=conflict.desk, watch=watch)
        base = checkout_of(vault, conflict.desk)
        heads = [
            *(side.commit for side in conflict.sides),
            *conflict.results,
            *([base.commit] if base else []),
        ]
        tree = _merged_tree(w, vault, heads, picked, ours=base.commit if base else None)
        before = base.tree if base else None
        result = follow(w, vault, conflict.desk, before, tree, watch)
        parents = newest(vault.store, heads)
        message = reason or f"Resolve {conflict.version}"
        commit, _ = record_commit(w, vault, conflict.desk, tree, parents, message)
        made: list[RecordHash] = []

        def together(release: RecordHash) -> list[RecordHash]:
            made.append(_resolution(w, vault, conflict, commit, reason, release=release))
            return made

        released = seal_release(w, vault, version, reason, desk=conflict.desk, together=together)
        return Resolved(
            conflict.id, Status.MERGED, made[0], released.release, commit, (*result.written, *result.deleted)
        )


def accept_resolution(vault: Vault, name: str, proposal: str = "", *, watch: Watch = Watch()) -> Resolved:
    """Accept somebody else's proposed resolution: fast-forward to its result, without a second merge commit.

    Raises:
        NoSuchConflict: there is none, or nothing is proposed.
        NoSuchSide: several are proposed and `proposal` names none of them.
    """
    finish_checkouts(vault, watch)
    with vault.writing() as w:
        conflict = conflict_named(vault, name)
        found = [p for p in conflict.proposals if not proposal or proposal in {p.name, p.node, p.resolution.text}]
        if not found:
            raise NoSuchConflict(
                f"Nothing is proposed for the conflict {conflict.id}.", hint="Decide it with: lace resolve"
            )
        if len({p.result for p in found}) > 1:
            raise NoSuchSide(
                "Several resolutions are proposed.", hint="Name whose: " + ", ".join(p.name for p in found)
            )
        decision = found[0]
        seal_commit(w, vault, "before resolve", desk=conflict.desk, watch=watch)
        _note_accepted(w, conflict, decision)
        result, resolution = _superseding(w, vault, conflict, decision)
        release = decision.chosen or decision.release
        return _followed(w, vault, conflict, _status(vault, conflict, decision), resolution, release, result, watch)


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


def _superseding(w: Writer, vault: Vault, conflict: Conflict, decision: Proposal) -> tuple[RecordHash, RecordHash]:
    """Return the result and resolution that count after accepting.

    Where another decision with different content counted here until now, accepting is a new decision that includes
    both: else two would count, and the conflict would never end.
    """
    tree = commit_info(vault.store, decision.result).tree
    if all(commit_info(vault.store, result).tree == tree for result in conflict.results):
        return decision.result, decision.resolution
    everything = [*(side.commit for side in conflict.sides), *conflict.results, decision.result]
    parents = newest(vault.store, everything)
    result = _merge_commit(w, vault, conflict, tree, parents, f"Accept the decision of {decision.name}")
    return result, _resolution(w, vault, conflict, result, "", chosen=decision.chosen, release=decision.release)


def pick_side(vault: Vault, conflict: Conflict, word: str) -> Side:
    """Return the side that `local`, `remote`, a person's name or a release's hash means.

    Raises:
        NoSuchSide: none, or several.
    """
    me = vault.node.text
    base = checkout_of(vault, conflict.desk)
    mine = ancestors(vault.store, base.commit) if base else set()
    local = [side for side in conflict.sides if side.node == me] or [
        side for side in conflict.sides if side.commit.text in mine
    ]
    if word in {"local", SELF}:
        found = local
    elif word == "remote":
        found = [side for side in conflict.sides if side not in local]
    else:
        found = [
            side
            for side in conflict.sides
            if word in {side.name, side.node} or word in {str(side.release), str(side.commit)}
        ]
    if len({side.content_sha512 or side.commit.text for side in found}) != 1:
        names = ", ".join(f"{side.name} ({side.release or side.commit})" for side in conflict.sides)
        problem = "fits several sides" if found else "is no side"
        raise NoSuchSide(f"{word!r} {problem} of the conflict {conflict.id}.", hint=f"The sides are: {names}.")
    return found[0]


def check_free(vault: Vault, desk: str, version: Version) -> None:
    """Refuse a version that is released already (CYB-5).

    Raises:
        VersionTaken: it is.
    """
    if vault.store.rows("SELECT 1 FROM release WHERE desk = ? AND version = ?", desk, str(version)):
        raise VersionTaken(f"{desk} {version} is already released.")


def _merged_tree(
    w: Writer,
    vault: Vault,
    heads: Sequence[RecordHash],
    picked: Mapping[str | None, RecordHash],
    *,
    ours: RecordHash | None,
    also: Sequence[RecordHash] = (),
) -> RecordHash:
    """Merge heads pairwise into one tree; a conflicting path is the picked side's, else as in my folder.

    A path that was picked by name is that side's, whether it was in conflict or not; `picked[None]` stands for every
    conflicting path.
    """
    order = sorted(newest(vault.store, heads), key=lambda head: (head != ours, head.text))
    tree = commit_info(vault.store, order[0]).tree
    done = [*also, order[0]]
    for head in order[1:]:
        outcome, _ = fold(w, w, vault, [done[-1], head], ours=done[-1], tree=tree, also=done)
        side: Literal["ours", "theirs"] = "theirs" if picked.get(None) == head else "ours"
        tree = outcome.root or resolve_with(outcome, {conflict.path: side for conflict in outcome.conflicts})
        w.flush()
        done.append(head)
    entries = {path: _entry(w, vault, head, path) for path, head in picked.items() if path is not None}
    for path, entry in entries.items():
        if entry is None and all(_entry(w, vault, head, path) is None for head in order):
            raise NoSuchPath(f"{path} is in none of the sides.")
    tree = apply_changes(w, w, vault.group, tree, entries) if entries else tree
    w.flush()
    return tree


def _entry(w: Writer, vault: Vault, head: RecordHash, path: str) -> Entry | None:
    return lookup(w, commit_info(vault.store, head).tree, path)


def _settle_heads(
    w: Writer,
    vault: Vault,
    conflict: Conflict,
    picked: Mapping[str | None, RecordHash],
    reason: str,
    watch: Watch,
) -> Resolved:
    seal_commit(w, vault, "before resolve", desk=conflict.desk, watch=watch)
    base = checkout_of(vault, conflict.desk)
    heads = [*(side.commit for side in conflict.sides), *([base.commit] if base else [])]
    tree = _merged_tree(w, vault, heads, picked, ours=base.commit if base else None, also=base.also if base else ())
    result = follow(w, vault, conflict.desk, base.tree if base else None, tree, watch)
    names = ", ".join(side.name for side in conflict.sides if side.node != vault.node.text)
    commit, _ = record_commit(w, vault, conflict.desk, tree, newest(vault.store, heads), reason or f"Merge {names}")
    w.audit(
        "lazy-resolve",
        conflict.id,
        {"commit": commit.text},
        motivation=reason,
        relates_to=[h.text for h in heads],
    )
    return Resolved(conflict.id, Status.MERGED, None, None, commit, (*result.written, *result.deleted))


def _merge_commit(
    w: Writer, vault: Vault, conflict: Conflict, tree: RecordHash, parents: Sequence[RecordHash], message: str
) -> RecordHash:
    known = [commit_info(vault.store, parent).tai for parent in parents]
    return w.seal(
        Commit.to_plex(
            group=vault.group,
            desk=conflict.desk,
            parents=tuple(parents),
            tree=tree,
            message=plain_text(message),
            tai=w.tai(*known),
        )
    ).hash


def _resolution(
    w: Writer,
    vault: Vault,
    conflict: Conflict,
    result: RecordHash,
    reason: str,
    *,
    chosen: RecordHash | None = None,
    release: RecordHash | None = None,
) -> RecordHash:
    """Seal a resolution, and share it unless it goes into the log entry of the merged `release`."""
    sides = sorted((side.release for side in conflict.sides if side.release), key=str)
    if conflict.version is None:
        raise NoSuchConflict(f"The conflict {conflict.id} has no version.")
    sealed = w.seal(
        Resolution.to_plex(
            group=vault.group,
            desk=conflict.desk,
            version=conflict.version,
            sides=tuple(sides),
            chosen=chosen,
            release=release,
            result=result,
            reason=plain_text(reason),
            tai=w.tai(),
        )
    )
    if release is None:
        w.log([sealed.hash])
    w.audit(
        "lazy-resolve",
        f"{conflict.desk}@{conflict.version}",
        {"conflict": conflict.id, "chosen": str(chosen or release)},
        motivation=reason,
        relates_to=[side.text for side in sides],
    )
    return sealed.hash


def _followed(
    w: Writer,
    vault: Vault,
    conflict: Conflict,
    status: Status,
    resolution: RecordHash,
    release: RecordHash | None,
    result: RecordHash,
    watch: Watch,
) -> Resolved:
    """Let the folder follow to a decision's result.

    The decision is taken against what it decided: a folder that holds one of the sides, or an earlier decision, gets
    exactly the result. Only newer work of mine is merged, and if that collides the folder stays and a head conflict
    against the result is noted.
    """
    desk, store = conflict.desk, vault.store
    target = commit_info(store, result).tree
    base = checkout_of(vault, desk)
    line = ancestors(store, base.commit) if base else set()
    done = Resolved(conflict.id, status, resolution, release, result)
    if result.text in line:
        return done
    if base is None or base.commit.text in ancestors(store, result):
        moved = follow(w, vault, desk, base.tree if base else None, target, watch)
        adopt_commit(w, vault, desk, result, target)
        return replace(done, written=(*moved.written, *moved.deleted))
    known = [c for c in (*(side.commit for side in conflict.sides), *conflict.results) if c.text in line]
    decided = newest(store, known) or list(merge_bases(store, base.commit, result).commits)
    reading = MemoryObjects(fallback=w)
    if base.tree in {commit_info(store, commit).tree for commit in decided}:
        origin: RecordHash | None = base.tree
    else:
        origin = base_of(reading, vault, decided)
    outcome = merge_trees(reading, w, vault.group, origin, base.tree, target)
    if outcome.root is None:
        note_head_conflict(w, vault, desk, [result])
        return replace(done, conflicts=tuple(clash.path for clash in outcome.conflicts))
    w.flush()
    moved = follow(w, vault, desk, base.tree, outcome.root, watch)
    parents = newest(store, [base.commit, result])
    record_commit(w, vault, desk, outcome.root, parents, f"Take the decision on {conflict.version}")
    return replace(done, written=(*moved.written, *moved.deleted))


def _status(vault: Vault, conflict: Conflict, proposal: Proposal) -> Status:
    if proposal.chosen is None:
        return Status.MERGED
    owner = next((side.node for side in conflict.sides if side.release == proposal.chosen), "")
    return Status.RESOLVED_LOCAL if owner == vault.node.text else Status.RESOLVED_REMOTE
