"""`resolve`: a person's decision on a conflict, as records (LAZ-39 to LAZ-44; architecture, Deciding).

A version conflict gets a sealed resolution that names all sides, and one merge commit that has all sides as parents
and the chosen content. A head conflict is settled by a merge commit alone. My folder follows as in `update`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from lazy.conflicts import Conflict, ConflictKind, NoSuchConflict, Proposal, Side, Status, conflict_named
from lazy.people import SELF
from lazy.update import fold, follow, take_in
from vault.desks.merge import resolve_with
from vault.errors import CallerError
from vault.history import ancestors, commit_info, newest
from vault.names import BadVersion, Version
from vault.profile import Commit, Resolution, plain_text
from vault.records import RecordHash
from vault.vault import Vault
from vault.work import VersionTaken, Watch, checkout_of, record_commit, seal_commit, seal_release
from vault.writer import Writer

__all__ = ["NoSuchSide", "Resolved", "Undecided", "accept_resolution", "resolve_merged", "resolve_prefer"]


class NoSuchSide(CallerError):
    """The side named is none of this conflict's, or the word fits several."""

    code = "no-such-side"
    exit_code = 2
    hint = "Name a side by its person or by its release: lace conflicts lists them."


class Undecided(CallerError):
    """Some paths still need a decision."""

    code = "undecided"
    exit_code = 2
    hint = "Edit the files in your folder, or take a side with: --path P --take SIDE"


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
        w.store.run(
            "UPDATE conflict SET accepted = trim(accepted || ' ' || ?) WHERE id = ?",
            found[0].resolution.text,
            conflict.id,
        )
        seal_commit(w, vault, "before resolve", desk=conflict.desk, watch=watch)
        w.audit("lazy-resolve", conflict.id, {"accepted": found[0].name}, relates_to=[found[0].resolution.text])
        status = _status(vault, conflict, found[0])
        return _followed(
            w,
            vault,
            conflict,
            status,
            found[0].resolution,
            found[0].chosen or found[0].release,
            found[0].result,
            watch,
        )


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


def parse_side_version(text: str) -> Version | None:
    """Return the version a text is, or None."""
    try:
        return Version.parse(text)
    except BadVersion:
        return None


def _merged_tree(
    w: Writer,
    vault: Vault,
    heads: Sequence[RecordHash],
    picked: Mapping[str | None, RecordHash],
    *,
    ours: RecordHash | None,
) -> RecordHash:
    """Merge heads pairwise into one tree; a conflicting path is the picked side's, else as in my folder."""
    order = sorted(newest(vault.store, heads), key=lambda head: (head != ours, head.text))
    tree = commit_info(vault.store, order[0]).tree
    done = [order[0]]
    for head in order[1:]:
        outcome, _ = fold(w, w, vault, [done[-1], head], ours=done[-1], tree=tree, merged_before=done)
        takes_theirs = {path for path, side in picked.items() if side == head}
        choices: dict[str, Literal["ours", "theirs"] | bytes] = {
            conflict.path: "theirs" if takes_theirs & {None, conflict.path} else "ours"
            for conflict in outcome.conflicts
        }
        tree = outcome.root or resolve_with(outcome, choices)
        w.flush()
        done.append(head)
    return tree


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
    tree = _merged_tree(w, vault, heads, picked, ours=base.commit if base else None)
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
    """Let the folder follow to the result; my newer work is merged, and if that needs me nothing moves yet."""
    base = checkout_of(vault, conflict.desk)
    done = take_in(
        w, vault, conflict.desk, base.commit if base else None, [result], "resolve", watch=watch, always=True
    )
    paths = tuple(c.path for c in done.conflicts)
    return Resolved(conflict.id, status, resolution, release, result, done.written, paths)


def _status(vault: Vault, conflict: Conflict, proposal: Proposal) -> Status:
    if proposal.chosen is None:
        return Status.MERGED
    owner = next((side.node for side in conflict.sides if side.release == proposal.chosen), "")
    return Status.RESOLVED_LOCAL if owner == vault.node.text else Status.RESOLVED_REMOTE
