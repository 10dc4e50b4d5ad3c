"""`update`: bring friends' released work into my folder (architecture, One folder).

It fast-forwards, or makes one merge commit; what does not merge cleanly changes nothing on disk, is listed by path,
and waits for a person. Dirty files are committed first, never overwritten.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from lazy.conflicts import Conflict, ConflictKind, conflicts, note_head_conflict
from lazy.merging import fold, what_went_named
from lazy.people import label_of, node_of
from lazy.permitted import Refused, refused
from lazy.saving import save_first, unsaved
from vault.desks.checkout import CheckoutResult, Skip
from vault.desks.diff import diff_trees
from vault.desks.merge import PathConflict, merge_trees
from vault.desks.ports import MemoryObjects, Source
from vault.errors import CallerError
from vault.graph import ancestors, is_ancestor, newest
from vault.history import Relation, ReleaseInfo, commit_info, relation, releases, releases_of
from vault.names import Version
from vault.records import RecordHash
from vault.unfinished import in_the_way
from vault.vault import Vault
from vault.watch import Watch
from vault.work import (
    MAIN,
    Checkout,
    adopt_commit,
    checkout_of,
    checkout_tree,
    finish_checkouts,
    record_commit,
    set_checkout,
)
from vault.writer import Writer

__all__ = ["FolderInTheWay", "NothingFrom", "Updated", "ending_releases", "follow", "heads_to_update"]
__all__ += ["paths_moved", "take_in", "update"]

MAX_ALSO = 32  # equal heads remembered for the next commit


class NothingFrom(CallerError):
    """The peer has released nothing that is visible here."""

    code = "nothing-from-peer"
    exit_code = 2
    hint = "Sync first: lace sync PLACE"


class FolderInTheWay(CallerError):
    """Files in the folder stand where others have to be written."""

    code = "folder-in-the-way"
    exit_code = 2
    hint = (
        "Move those files away, or commit those that lace changes lists, then run the same command again; nothing was"
        " changed."
    )


@dataclass(frozen=True, slots=True)
class Updated:
    """What an update did, or would do.

    Args:
        relation: how my head stood to the heads taken in.
        commit: the commit my folder stands on now; None when there is none yet.
        revision: the number my line gave it, or None when nothing was made.
        written: paths written in the folder.
        merged: paths whose content was merged from several sides.
        conflicts: paths that need a person; then nothing was changed.
        conflict_id: the conflict noted for them.
        waiting: open version conflicts that keep heads out, by id.
        sources: names of the friends whose heads were taken.
        versions: their versions.
        decided: versions whose decision was taken, where no friend's release was.
        saved: the commit "before update" made of dirty files, if any.
        refused: heads that stay out because their signers may not write what they changed.
        deleted: paths deleted in the folder.
    """

    relation: Relation
    commit: RecordHash | None
    revision: int | None
    written: tuple[str, ...] = ()
    merged: tuple[str, ...] = ()
    conflicts: tuple[PathConflict, ...] = ()
    conflict_id: str = ""
    waiting: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    versions: tuple[Version, ...] = ()
    decided: tuple[Version, ...] = ()
    saved: RecordHash | None = None
    refused: tuple[Refused, ...] = ()
    deleted: tuple[str, ...] = ()


def heads_to_update(
    vault: Vault,
    desk: str = MAIN,
    *,
    peer: str | None = None,
    version: Version | None = None,
    without: Collection[RecordHash] = (),
) -> tuple[list[RecordHash], list[str]]:
    """Return the newest visible released heads to take in, and the ids of open conflicts that keep heads out.

    A head that is a side of an open version conflict waits for that decision, unless somebody released on top; what
    was agreed before it is taken meanwhile. The result of a decision that counts here stands for its sides. Commits in
    `without` count as not released.

    Raises:
        NothingFrom: `peer` or `version` names nothing that is visible here.
    """
    node = node_of(vault, peer) if peer else None
    judged = [c for c in conflicts(vault, include_settled=True) if c.desk == desk and c.version is not None]
    if not (judged or without or version or node):
        return newest(vault.store, _last_released(vault, desk).difference(without)), []
    found = releases(vault.store, desk, version=version, node=node)
    if (peer or version) and not found:
        what = f"{desk} {version}" if version else desk
        raise NothingFrom(f"{peer or 'Nobody'} has released no {what} that is visible here.")
    commits = {release.commit for release in found}
    contested: dict[RecordHash, str] = {}
    for conflict in judged:
        sides = {side.commit for side in conflict.sides}
        if conflict.is_open:
            contested.update(dict.fromkeys(sides, conflict.id))
        elif sides <= commits:
            # Decided: the decision stands for its sides, whoever took it into their line already.
            commits = (commits - sides) | set(conflict.results)
    waiting = sorted({contested[head] for head in newest(vault.store, commits) if head in contested})
    return newest(vault.store, (commits - contested.keys()).difference(without)), waiting


def ending_releases(vault: Vault, found: Sequence[Conflict]) -> dict[str, ReleaseInfo]:
    """Return by id those of the conflicts that are open and end as soon as `update` is run, with the release it takes.

    Of clashing heads that is one with both the foreign heads and my side below it: somebody merged them. Of a version
    it is one that was built on the only decision there is.
    """
    ended: dict[str, ReleaseInfo] = {}
    still_open = [conflict for conflict in found if conflict.is_open]
    for desk in sorted({conflict.desk for conflict in still_open}):
        base = checkout_of(vault, desk)
        line = ancestors(vault.store, base.commit) if base else set()
        for head in _permitted_heads(vault, desk, base.commit if base else None, None, None)[0]:
            by = next(iter(releases_of(vault.store, [head], desk)), None)
            if by is None or head.text in line:
                continue
            below = ancestors(vault.store, head)
            ended |= {one.id: by for one in still_open if one.desk == desk and _ends(vault, one, below)}
    return ended


def _ends(vault: Vault, conflict: Conflict, below: set[str]) -> bool:
    if conflict.kind is ConflictKind.VERSION:
        decided = {proposal.result.text for proposal in conflict.proposals}
        return len(decided) == 1 and not conflict.results and decided <= below
    foreign = {side.commit for side in conflict.sides if not side.is_local}
    released = releases(vault.store, conflict.desk, node=vault.node.text)
    mine = [*(side.commit for side in conflict.sides if side.is_local), *(release.commit for release in released[-1:])]
    theirs = {text for commit in foreign for text in ancestors(vault.store, commit)}
    return {commit.text for commit in foreign} <= below and any(
        commit.text in below and commit.text not in theirs for commit in mine
    )


def _permitted_heads(
    vault: Vault, desk: str, mine: RecordHash | None, peer: str | None, version: Version | None
) -> tuple[list[RecordHash], list[str], tuple[Refused, ...]]:
    """Return heads and open conflicts as `heads_to_update`, but for heads that change what they may not (CLAY-80)."""
    out: dict[RecordHash, Refused] = {}
    while True:
        heads, waiting = heads_to_update(vault, desk, peer=peer, version=version, without=out)
        more = refused(vault, desk, mine, _missing(vault, mine, heads))
        if not more:
            return heads, waiting, tuple(out.values())
        out.update((each.head, each) for each in more)


def _last_released(vault: Vault, desk: str) -> set[RecordHash]:
    """Return the commit of everybody's last visible release: a line's later commit contains the earlier (CLAY-7)."""
    rows = vault.store.rows(
        "SELECT commit_hash, max(seq) FROM release WHERE visible = 1 AND desk = ? GROUP BY node,"
        " CASE WHEN node IN (SELECT node FROM vector WHERE forked) THEN p END",  # which has several lines
        desk,
    )
    return {RecordHash.parse(str(commit)) for commit, _ in rows}


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
    """
    if dry_run:
        return _plan(vault, desk, peer, version, watch)
    finish_checkouts(vault, watch)
    with vault.writing() as w:
        base = checkout_of(vault, desk)
        heads, waiting, out = _permitted_heads(vault, desk, base.commit if base else None, peer, version)
        if not _missing(vault, base.commit if base else None, heads):
            return replace(_nothing(w, vault, desk, base, heads, waiting), refused=out)
        saved = save_first(w, vault, "update", desk=desk, watch=watch)
        base = checkout_of(vault, desk)
        mine = base.commit if base else None
        done = take_in(w, vault, desk, mine, heads, "update", watch=watch)
        result = replace(_named(vault, desk, heads, done, waiting, saved.commit if saved else None), refused=out)
        if done.conflicts:
            conflict_id = note_head_conflict(w, vault, desk, _missing(vault, mine, heads))
            return replace(result, conflict_id=conflict_id)
        if result.revision is not None:
            w.audit(
                "lace-update",
                desk,
                {"relation": result.relation, "commit": str(result.commit)},
                relates_to=[h.text for h in heads],
            )
        return result


def take_in(
    w: Writer,
    vault: Vault,
    desk: str,
    mine: RecordHash | None,
    heads: Sequence[RecordHash],
    message: str,
    *,
    watch: Watch = Watch(),
) -> Updated:
    """Bring heads into my line inside a write: fast-forward, or one merge commit with sorted parents."""
    base = checkout_of(vault, desk)
    missing = _missing(vault, mine, heads)
    if not missing:
        return Updated(Relation.AHEAD, mine, None)
    everything = newest(vault.store, [*([mine] if mine else []), *missing])
    if len(everything) == 1:
        target = everything[0]
        tree = commit_info(vault.store, target).tree
        with what_went_named(vault, missing):
            result = follow(w, vault, desk, base.tree if base else None, tree, watch)
        number = adopt_commit(w, vault, desk, target, tree)
        return Updated(Relation.BEHIND, target, number, written=result.written, deleted=result.deleted)
    outcome, merged = fold(w, w, vault, everything, ours=mine, also=base.also if base else ())
    if outcome.root is None:
        return Updated(Relation.CONFLICTING, mine, None, conflicts=outcome.conflicts)
    w.flush()
    with what_went_named(vault, missing):
        result = follow(w, vault, desk, base.tree if base else None, outcome.root, watch)
    names = ", ".join(
        dict.fromkeys(label_of(vault, commit_info(vault.store, h).signer) for h in everything if h != mine)
    )
    commit, number = record_commit(w, vault, desk, outcome.root, everything, f"Merge {names} ({message})")
    return Updated(
        Relation.MERGEABLE, commit, number, written=result.written, merged=tuple(merged), deleted=result.deleted
    )


def follow(
    w: Writer, vault: Vault, desk: str, before: RecordHash | None, after: RecordHash, watch: Watch = Watch()
) -> CheckoutResult:
    """Bring the folder to a tree once this write has committed, and say what that will change.

    Raises:
        FolderInTheWay: a file that is neither the old nor the new content stands in the way; nothing was changed.
    """
    result = checkout_tree(w, vault, desk, before, after, watch)
    _refuse_blocked(result.skipped)
    return result


def _refuse_blocked(skipped: Sequence[Skip]) -> None:
    blocking = [f"{skip.path} ({skip.reason})" for skip in skipped if skip.blocking]
    if blocking:
        shown = ", ".join(blocking[:5]) + (f" and {len(blocking) - 5} more" if len(blocking) > 5 else "")
        raise FolderInTheWay(f"These files are in the way: {shown}.")


def paths_moved(source: Source, before: RecordHash, after: RecordHash) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the paths that a folder gets, and those it loses, between two trees."""
    found = list(diff_trees(source, before, after))
    gone = tuple(change.path for change in found if change.kind == "deleted")
    return tuple(change.path for change in found if change.kind != "deleted"), gone


def _missing(vault: Vault, mine: RecordHash | None, heads: Sequence[RecordHash]) -> list[RecordHash]:
    """Return the heads that are neither in my line nor equal to it in content."""
    if mine is None:
        return list(heads)
    tree = commit_info(vault.store, mine).tree
    return [
        head
        for head in heads
        if not is_ancestor(vault.store, head, mine) and commit_info(vault.store, head).tree != tree
    ]


def _nothing(
    w: Writer,
    vault: Vault,
    desk: str,
    base: Checkout | None,
    heads: Sequence[RecordHash],
    waiting: Sequence[str],
) -> Updated:
    """Nothing to bring in; remember equal heads, so that my next commit names them and crossing merges die out."""
    if base is None:
        return Updated(Relation.SAME, None, None, waiting=tuple(waiting))
    equal = [head for head in heads if head not in base.also and not is_ancestor(vault.store, head, base.commit)]
    if equal:
        # Only the newest of one line, and few: a commit has at most 64 parents.
        also = newest(vault.store, [*base.also, *equal])[:MAX_ALSO]
        set_checkout(w, desk, Checkout(base.commit, base.tree, tuple(also)))
    ahead = all(relation(vault.store, base.commit, head) is Relation.AHEAD for head in heads)
    return Updated(
        Relation.AHEAD if heads and ahead and base.commit not in heads else Relation.SAME,
        base.commit,
        None,
        waiting=tuple(waiting),
    )


def _named(
    vault: Vault,
    desk: str,
    heads: Sequence[RecordHash],
    done: Updated,
    waiting: Sequence[str],
    saved: RecordHash | None,
) -> Updated:
    me = vault.node.text
    taken = [r for r in releases_of(vault.store, heads, desk) if r.node != me]
    names = (label_of(vault, release.node) for release in taken)
    judged = [] if taken else [c for c in conflicts(vault, include_settled=True) if c.desk == desk and c.version]
    decided = (c.version for c in judged if c.version and not set(heads).isdisjoint(c.results))
    return replace(
        done,
        decided=tuple(dict.fromkeys(decided)),
        waiting=tuple(waiting),
        sources=tuple(dict.fromkeys(names)),
        versions=tuple(dict.fromkeys(release.version for release in taken)),
        saved=saved,
    )


def _plan(vault: Vault, desk: str, peer: str | None, version: Version | None, watch: Watch) -> Updated:
    """Say what an update would do, from a merge in memory; the folder's uncommitted changes are counted in."""
    base = checkout_of(vault, desk)
    heads, waiting, out = _permitted_heads(vault, desk, base.commit if base else None, peer, version)
    return replace(_planned(vault, desk, base, heads, waiting, watch), refused=out)


def _planned(
    vault: Vault, desk: str, base: Checkout | None, heads: list[RecordHash], waiting: list[str], watch: Watch
) -> Updated:
    missing = _missing(vault, base.commit if base else None, heads)
    if not missing:
        return Updated(Relation.SAME, base.commit if base else None, None, waiting=tuple(waiting))
    overlay = MemoryObjects(fallback=vault.store)
    dirty = unsaved(vault, desk, watch, overlay)
    mine = base.commit if base else None
    everything = newest(vault.store, [*([mine] if mine else []), *missing])
    if len(everything) == 1 and not dirty.items:
        target = commit_info(vault.store, everything[0]).tree
        _refuse_blocked(in_the_way(vault, desk, dirty.tree, target, overlay, watch))
        written, deleted = paths_moved(overlay, dirty.tree, target)
        done = Updated(Relation.BEHIND, everything[0], None, written=written, deleted=deleted)
        return _named(vault, desk, heads, done, waiting, None)
    if mine and dirty.items and mine not in everything:
        everything = [mine, *everything]  # the commit "before update" would stand on it
    outcome, merged = fold(
        overlay,
        overlay,
        vault,
        everything,
        ours=mine,
        tree=dirty.tree if dirty.items and mine else None,
        also=base.also if base else (),
    )
    if mine is None and dirty.items and outcome.root is not None:
        outcome = merge_trees(overlay, overlay, vault.group, None, dirty.tree, outcome.root)
    if outcome.root is None:
        done = Updated(Relation.CONFLICTING, mine, None, conflicts=outcome.conflicts)
    else:
        _refuse_blocked(in_the_way(vault, desk, dirty.tree, outcome.root, overlay, watch))
        written, deleted = paths_moved(overlay, dirty.tree, outcome.root)
        done = Updated(Relation.MERGEABLE, None, None, written=written, merged=tuple(merged), deleted=deleted)
    return _named(vault, desk, heads, done, waiting, None)
