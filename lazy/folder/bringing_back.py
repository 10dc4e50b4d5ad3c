"""One path of the folder as any revision has it, over what was edited there or not (CLAY-24, CYB-8)."""

from __future__ import annotations

from collections.abc import Sequence

from lazy.address import ResolvedCommit
from lazy.folder.checkout_files import CheckedOut, Foreseen, Rewriting, as_planned, foreseen, write_state
from lazy.folder.had_again import holds_mine, holds_something
from lazy.folder.moving import planned_follow, planned_moves
from lazy.folder.saving import UncommittedChanges
from lazy.folder.written import follow
from vault.commands import as_typed
from vault.desk_folders import known_desk
from vault.desks.diff import Change
from vault.desks.edit import NoSuchPath, select_paths
from vault.desks.memory import MemoryObjects
from vault.desks.ports import Objects
from vault.desks.tree import lookup
from vault.folder.brought_paths import note_brought
from vault.folder.checked_out import checkout_of, contained
from vault.folder.divergence import check_apart, refuse_apart
from vault.folder.finishing import is_cut
from vault.folder.meanwhile import keep_command, path_as_typed
from vault.folder.unnamed import refuse_unnamed
from vault.folder.work import Changes, changes, record_commit, save_before
from vault.records import RecordHash
from vault.revisions.graph import newest
from vault.vault import Vault
from vault.watch import Watch

__all__ = ["bring_back", "plan_bring_back", "require_there"]


def bring_back(
    vault: Vault, found: ResolvedCommit, path: str, watch: Watch = Watch(), *, keeps_edits: bool = False
) -> CheckedOut:
    """Write a file or sub-folder into the folder as a revision has it; a change that waits to be committed.

    With `keeps_edits` what was edited there is no hindrance: it is committed first, and what comes over it after it, so
    that either can be had at any time (CYB-8). Where files there are only gone, nothing is committed.

    Raises:
        NoSuchPath: the revision has nothing there.
        UncommittedChanges: something there holds changes; nothing was changed.
        FolderInTheWay: a file that is not known stands in the way; nothing was changed.
        OwnWorkApart, SavedMeanwhile, RulesUnclear, FolderGone: with `keeps_edits`, as `vault.folder.work.commit`.
    """
    desk = known_desk(vault, found.desk)
    is_finished = is_cut(vault, desk, watch)
    overlay = MemoryObjects(fallback=vault.store, trees_only=True)
    dirty, tree, edited = _found_at(vault, found, path, watch, overlay, keeps_edits=keeps_edits)
    if keeps_edits and _is_to_commit(dirty, tree, edited):
        return _bring_over(vault, found, path, edited, watch)._replace(is_finished=is_finished)
    base = checkout_of(vault, desk)
    over = base.commit if base is not None else None
    done = write_state(vault, Rewriting(found, dirty.tree, tree, path, over), overlay, watch)
    gone = f"{desk}@{done.pushed_out}" if done.pushed_out else ""
    return CheckedOut(desk, done.result, pushed_out=gone, is_finished=is_finished)


def plan_bring_back(
    vault: Vault, found: ResolvedCommit, path: str, watch: Watch = Watch(), *, keeps_edits: bool = False
) -> Foreseen:
    """Say what `bring_back` would do to the folder as it is; changes nothing.

    Raises:
        As `bring_back`.
    """
    overlay = MemoryObjects(fallback=vault.store, trees_only=not keeps_edits)  # an edit counts as committed then
    dirty, tree, edited = _found_at(vault, found, path, watch, overlay, keeps_edits=keeps_edits, is_dry=True)
    vault.check_plan()
    commits = keeps_edits and _is_to_commit(dirty, tree, edited)
    saved = {item.path for item in edited} if commits else set()
    if commits:
        _check_over(vault, dirty, edited)
        moves = planned_follow(vault, dirty.desk, dirty.tree, tree, overlay, watch, saved, named=saved)
    else:
        moves = planned_moves(vault, dirty.desk, dirty.tree, tree, overlay, watch)
    plan = foreseen(overlay, dirty.tree, tree, moves)._replace(saves=bool(saved), commits=commits)
    return plan._replace(is_unfinished=is_cut(vault, dirty.desk, watch))


def _found_at(
    vault: Vault,
    found: ResolvedCommit,
    path: str,
    watch: Watch,
    overlay: MemoryObjects,
    *,
    keeps_edits: bool,
    is_dry: bool = False,
) -> tuple[Changes, RecordHash, list[Change]]:
    """Return how the folder was found, its tree with a path as a revision has that, and what changed at the path.

    Raises:
        NoSuchPath, UncommittedChanges: as `bring_back`.
    """
    desk = known_desk(vault, found.desk)
    require_there(vault, path, found)
    dirty = changes(vault, desk, watch, overlay=overlay, is_dry=is_dry)
    edited = [item for item in dirty.items if f"{item.path}/".startswith(f"{path}/")]
    tree = select_paths(overlay.of(vault.group), dirty.tree, found.tree, [path])
    if not keeps_edits and tree != dirty.tree and holds_mine(vault, found.tree, desk, edited):
        way = _keep_or_move(vault, found, desk, path)
        raise UncommittedChanges(f"{path} holds changes that are not committed.", hint=way)
    return dirty, tree, edited


def _is_to_commit(dirty: Changes, tree: RecordHash, edited: Sequence[Change]) -> bool:
    return tree != dirty.tree and (not edited or any(map(holds_something, edited)))


def _check_over(vault: Vault, dirty: Changes, edited: Sequence[Change]) -> None:
    """Refuse what the commits of `_bring_over` refuse."""
    check_apart(vault, dirty.desk, is_unshared=True)
    base = checkout_of(vault, dirty.desk)
    if names := [item.path for item in edited]:
        refuse_unnamed(vault, dirty.desk, base.tree if base is not None else None, edited, dirty.problems, names)


def _bring_over(vault: Vault, found: ResolvedCommit, path: str, edited: Sequence[Change], watch: Watch) -> CheckedOut:
    """Commit what changed at a path, and over it the same path as a revision has it, in one write.

    Both are my line's before a file is written: cut off, the same command finds it done, or nothing of it.
    """
    desk = known_desk(vault, found.desk)
    with vault.writing() as w:
        refuse_apart(w, vault, desk, is_unshared=True)
        names = [item.path for item in edited]
        saved = save_before(w, vault, "checkout", names, desk=desk, watch=watch) if names else None
        w.flush()
        base = checkout_of(vault, desk)
        before = base.tree if base is not None else None
        after = select_paths(Objects(vault.store, w, vault.group), before, found.tree, [path])
        w.flush()
        result = follow(w, vault, desk, before, after, watch)
        parents = newest(vault.store, contained(base))
        commit, number = record_commit(w, vault, desk, after, parents, f"{path} as in {found.what}")
        note_brought(w, vault, desk, path, found.node, found.commit)
        told = {"desk": desk, "path": path, "commit": commit.text, "revision": str(number)}
        w.audit("lace-checkout", found.what, told, relates_to=[found.commit.text])
    return CheckedOut(desk, as_planned(vault, desk, result), saved.revision if saved else None, number)


def require_there(vault: Vault, path: str, *found: ResolvedCommit) -> None:
    """Refuse a path that none of some revisions has; each has the folder itself.

    Raises:
        NoSuchPath: they have nothing there.
    """
    if path and all(lookup(vault.store, one.tree, path) is None for one in found):
        names = [one.what for one in found]
        said = f"{names[0]} has nothing" if len(names) == 1 else f"Neither {' nor '.join(names)} has anything"
        raise NoSuchPath(f"{said} at {path}.", hint=f"See what it has: {as_typed('read y', names[0])}")


def _keep_or_move(vault: Vault, found: ResolvedCommit, desk: str, path: str) -> str:
    over = as_typed("checkout", found.what, path_as_typed(vault, desk, path), options="--keep-edits")
    return (
        f"Keep it: {keep_command(vault, desk, [path])} - or bring that over it, with what was edited kept in a"
        f" revision of its own: {over} - or move it away, and run the same command again."
    )
