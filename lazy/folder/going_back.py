"""Going back in time: the folder, or one path of it, as any revision has it; by command and in the app (CLAY-24)."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from lazy.address import ResolvedCommit
from lazy.folder.acts import RESTORED
from lazy.folder.copying_out import FolderNotMade
from lazy.folder.had_again import holds_mine, holds_something, is_in_one, is_kept, looked_there
from lazy.folder.keeping import begin, begun, end, keep_found
from lazy.folder.moving import planned_moves
from lazy.folder.saving import UncommittedChanges
from lazy.folder.undo_path import BROUGHT, FOUND
from lazy.folder.written import follow, refuse_blocked
from vault.by_kind import counted
from vault.commands import as_typed
from vault.desk_folders import folder_of, known_desk, within
from vault.desks.checkout import CheckoutResult, apply_plan
from vault.desks.diff import Change, diff_trees
from vault.desks.edit import NoSuchPath, select_paths
from vault.desks.memory import MemoryObjects
from vault.desks.pages import NamesClash
from vault.desks.plan import Skip
from vault.desks.ports import Source
from vault.desks.temporary import remove_temporary
from vault.desks.tree import lookup, walk
from vault.files import NotWritable, make_directory
from vault.folder.apart import refuse_apart
from vault.folder.checked_out import contained
from vault.folder.dir_cache import StoredDirCache
from vault.folder.held_rules import begin_look, end_look, hold_on
from vault.folder.meanwhile import keep_command, path_as_typed
from vault.folder.noted import left_as_they_are, plan_folder
from vault.folder.parts import note_part
from vault.folder.work import MAIN, Changes, Checkout, changes, checkout_of, record_commit, save_before
from vault.records import RecordHash
from vault.revisions.graph import newest
from vault.revisions.history import commit_info
from vault.space import require_room
from vault.vault import Vault
from vault.watch import Watch

__all__ = [
    "CheckedOut",
    "Foreseen",
    "bring_back",
    "check_out",
    "plan_bring_back",
    "plan_check_out",
    "require_there",
]


class CheckedOut(NamedTuple):
    """The folder follows another revision now.

    Args:
        desk: whose folder.
        result: which paths changed.
        saved: the number of the revision that keeps what was edited there; None where nothing was.
        revision: the number of the one that has what was brought over it; None where that is not committed.
        stays: whether new files stay there beside what came back, uncommitted.
        pushed_out: the address of the state that is kept no more for what the path held; empty where none is.
    """

    desk: str
    result: CheckoutResult
    saved: int | None = None
    revision: int | None = None
    stays: bool = False
    pushed_out: str = ""


class Foreseen(NamedTuple):
    """What a checkout would do to the folder as it was found.

    Args:
        before: the tree that the folder was found with; None where the desk's folder is gone.
        moved: kind (`added`, `changed`, `deleted`) and path of all that would be written or deleted.
        left_out: paths that would not be written, since no disk or not this one may hold them.
        saves: whether what was edited there would be committed first.
        commits: whether what comes over it would be committed too.
        stays: as of `CheckedOut`.
    """

    before: RecordHash | None
    moved: tuple[tuple[str, str], ...]
    left_out: tuple[Skip, ...] = ()
    saves: bool = False
    commits: bool = False
    stays: bool = False


def plan_check_out(vault: Vault, found: ResolvedCommit, watch: Watch = Watch()) -> Foreseen:
    """Say what `check_out` would do to the folder as it is; changes nothing.

    Raises:
        UncommittedChanges, FolderInTheWay: as `check_out`.
    """
    desk = known_desk(vault, found.desk)
    if desk != MAIN and not os.path.lexists(folder_of(vault, desk)):
        return Foreseen(None, tuple(("added", path) for path, at in walk(vault.store, found.tree) if not at.is_dir))
    overlay = MemoryObjects(fallback=vault.store, trees_only=True)
    _, dirty, after = _found(vault, desk, found.tree, watch, overlay, is_dry=True)
    return _foreseen(vault, desk, dirty.tree, after, overlay, watch)._replace(stays=after != found.tree)


def _foreseen(
    vault: Vault,
    desk: str,
    before: RecordHash,
    after: RecordHash,
    overlay: MemoryObjects,
    watch: Watch,
    saved: Collection[str] = (),
) -> Foreseen:
    moves = planned_moves(vault, desk, before, after, overlay, watch, saved)
    kinds = {change.path: change.kind for change in diff_trees(overlay, before, after)}
    gone = dict.fromkeys(moves.deleted, "deleted")
    moved = sorted(({path: str(kinds[path]) for path in moves.written} | gone).items())
    return Foreseen(before, tuple((kind, path) for path, kind in moved), moves.left_out)


def _found(
    vault: Vault, desk: str, tree: RecordHash, watch: Watch, overlay: MemoryObjects, *, is_dry: bool = False
) -> tuple[Checkout, Changes, RecordHash]:
    """Return what the folder stands on, how it was found, and the tree to write, where that loses nothing of it.

    It is the tree that was asked for, with new files that stay beside what comes back.

    Raises:
        UncommittedChanges: the folder holds changes, or nothing was ever committed.
    """
    base = checkout_of(vault, desk)
    if base is None:
        from lazy.conflict_words import update_desk  # noqa: PLC0415 - each verb loads what it needs

        part = as_typed("checkout", f"PEER/{desk}", "PATH")
        way = f"Take in what friends released: {update_desk(desk)} - or a part of it alone: {part}"
        raise UncommittedChanges("Nothing was committed here yet.", hint=way)
    dirty = changes(vault, desk, watch, overlay=overlay, is_dry=is_dry)
    # What a cut-off checkout of the tree itself left is no change of mine, nor what came path by path.
    can_go = dirty.tree == tree or is_kept(vault, dirty)
    if not dirty.items or can_go or (tree == base.tree and not holds_mine(vault, tree, desk, dirty.items)):
        return base, dirty, tree
    if tree == base.tree and (beside := _new_beside(vault, desk, dirty.items)):
        with suppress(NamesClash):  # with what comes back: one of them would not stay on every disk
            return base, dirty, select_paths(overlay, overlay, vault.group, tree, dirty.tree, beside)
    way = UncommittedChanges.hint.replace("lace commit -m TEXT", _commit_command(vault, desk))
    raise UncommittedChanges(f"The folder holds changes that are not committed: {counted(dirty)}.", hint=way)


def _new_beside(vault: Vault, desk: str, items: Collection[Change]) -> list[str]:
    """Return the new files that stay while those that are gone come back; none where one of them cannot stay.

    One that was edited is not new, nor has one a place where a file comes back. What a look brought goes with it.
    """
    gone = {item.path for item in items if item.before is not None and not item.before.is_dir}
    there = [item for item in items if holds_something(item)]
    above = (item.path[:at] for item in there for at, sign in enumerate(item.path) if sign == "/")
    if not gone or any(item.before is not None for item in there) or not gone.isdisjoint(above):
        return []
    looked = looked_there(vault, desk)
    return [item.path for item in there if looked is None or not is_in_one(vault, [looked], item)]


def check_out(vault: Vault, found: ResolvedCommit, watch: Watch = Watch()) -> CheckedOut:
    """Bring the folder to a revision; the line itself does not move, and nothing uncommitted is lost.

    To the revision it stands on already, files that are gone come back, and those that other states have go: that
    loses nothing, and is what was asked. What is new beside files that are gone stays as it is. From the exact content
    of another revision, as an earlier checkout left it, every way is open.

    Raises:
        UncommittedChanges: the folder holds changes, or nothing was ever committed.
        FolderInTheWay: a file that is not known stands in the way; nothing was changed.
    """
    desk = known_desk(vault, found.desk)
    if desk != MAIN and checkout_of(vault, desk) is not None and not os.path.lexists(folder_of(vault, desk)):
        _make(folder_of(vault, desk))
    overlay = MemoryObjects(fallback=vault.store, trees_only=True)
    base, dirty, after = _found(vault, desk, found.tree, watch, overlay)
    if found.tree == base.tree and not (any(map(holds_something, dirty.items)) and is_kept(vault, dirty)):
        result, _ = _write(vault, found, dirty.tree, after, overlay, "", watch)
        return CheckedOut(desk, result, stays=after != found.tree)
    before = dirty.tree if dirty.items and dirty.tree != found.tree else base.tree
    with vault.writing() as w:
        if found.tree != base.tree:
            begin_look(w, desk, found.tree)
        result = follow(w, vault, desk, before, found.tree, watch)
        if found.tree == base.tree:
            end_look(w, desk)
        if before != found.tree or result.written or result.deleted:  # else nothing was done that an undo would meet
            told = {"desk": desk, "over": base.commit.text, **({FOUND: before.text} if before != base.tree else {})}
            told |= _brought(vault, found)
            w.audit("lace-checkout", found.what, told, relates_to=[found.commit.text])
    return CheckedOut(desk, _as_written(vault, desk, result))


def _as_written(vault: Vault, desk: str, result: CheckoutResult) -> CheckoutResult:
    """Return what was done of a checkout as it was planned: without files that somebody saved while it wrote."""
    kept = left_as_they_are(vault, desk)
    written, deleted = (tuple(path for path in paths if path not in kept) for paths in (result.written, result.deleted))
    late = (Skip(path, "was changed here in the meantime", blocking=True) for path in kept)
    return CheckoutResult(written, deleted, (*result.skipped, *late))


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
    overlay = MemoryObjects(fallback=vault.store, trees_only=True)
    dirty, tree, edited = _found_at(vault, found, path, watch, overlay, keeps_edits=keeps_edits)
    if keeps_edits and _is_to_commit(dirty, tree, edited):
        return _bring_over(vault, found, path, edited, watch)
    base = checkout_of(vault, desk)
    over = base.commit if base is not None else None
    result, pushed_out = _write(vault, found, dirty.tree, tree, overlay, path, watch, over)
    return CheckedOut(desk, result, pushed_out=f"{desk}@{pushed_out}" if pushed_out else "")


def plan_bring_back(
    vault: Vault, found: ResolvedCommit, path: str, watch: Watch = Watch(), *, keeps_edits: bool = False
) -> Foreseen:
    """Say what `bring_back` would do to the folder as it is; changes nothing.

    Raises:
        NoSuchPath, UncommittedChanges, FolderInTheWay: as `bring_back`.
    """
    overlay = MemoryObjects(fallback=vault.store, trees_only=not keeps_edits)  # an edit counts as committed then
    dirty, tree, edited = _found_at(vault, found, path, watch, overlay, keeps_edits=keeps_edits, is_dry=True)
    commits = keeps_edits and _is_to_commit(dirty, tree, edited)
    saved = {item.path for item in edited} if commits else set()
    plan = _foreseen(vault, dirty.desk, dirty.tree, tree, overlay, watch, saved)
    return plan._replace(saves=bool(saved), commits=commits)


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
    tree = select_paths(overlay, overlay, vault.group, dirty.tree, found.tree, [path])
    if not keeps_edits and tree != dirty.tree and holds_mine(vault, found.tree, desk, edited):
        way = _keep_or_move(vault, found, desk, path)
        raise UncommittedChanges(f"{path} holds changes that are not committed.", hint=way)
    return dirty, tree, edited


def _is_to_commit(dirty: Changes, tree: RecordHash, edited: Sequence[Change]) -> bool:
    return tree != dirty.tree and (not edited or any(map(holds_something, edited)))


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
        after = select_paths(vault.store, w, vault.group, before, found.tree, [path])
        w.flush()
        result = follow(w, vault, desk, before, after, watch)
        parents = newest(vault.store, contained(base))
        commit, number = record_commit(w, vault, desk, after, parents, f"{path} as in {found.what}")
        note_part(w, vault, desk, path, found.node, found.commit)
        told = {"desk": desk, "path": path, "commit": commit.text, "revision": str(number)}
        w.audit("lace-checkout", found.what, told, relates_to=[found.commit.text])
    return CheckedOut(desk, _as_written(vault, desk, result), saved.revision if saved else None, number)


def require_there(vault: Vault, path: str, *found: ResolvedCommit) -> None:
    """Refuse a path that none of some revisions has; each has the folder itself.

    Raises:
        NoSuchPath: they have nothing there.
    """
    if path and all(lookup(vault.store, one.tree, path) is None for one in found):
        names = [one.what for one in found]
        said = f"{names[0]} has nothing" if len(names) == 1 else f"Neither {' nor '.join(names)} has anything"
        raise NoSuchPath(f"{said} at {path}.", hint=f"See what it has: {as_typed('read y', names[0])}")


def _write(
    vault: Vault,
    found: ResolvedCommit,
    before: RecordHash,
    after: RecordHash,
    overlay: MemoryObjects,
    path: str,
    watch: Watch,
    over: RecordHash | None = None,
) -> tuple[CheckoutResult, str]:
    """Write what differs between two trees into the desk's folder, which stands on the same commit as before.

    Returned with it is the name of the state that is kept no more for it, as `lazy.folder.keeping.Found` has it.

    With the commit `over`, which the folder stands on, an undo brings back what the path held before: what that commit
    has there, else a state that is kept. Where only what was gone comes back, as the folder stands on it, the entry
    says so: it stands in no undo's way.

    Cut off, it leaves some paths as they are to be and a temporary file, and the same command again does the rest; that
    the state before was kept is noted for it. The rules that it takes away are kept before.

    Raises:
        FolderInTheWay: a file that is not known stands in the way; nothing was changed.
    """
    folder, base = folder_of(vault, found.desk), checkout_of(vault, found.desk)
    restores = base is not None and _only_restores(overlay, base.tree, before, after, path)
    kept: RecordHash | None = None
    pushed_out = ""
    words = [over.text if over is not None else "", path, found.what, found.tree.text]
    again = begun(vault.store, found.desk, words)
    with vault.writing() as w:
        plan = plan_folder(vault, found.desk, before, after, overlay, watch)
        refuse_blocked(plan.skipped)
        require_room(vault.around, folder, plan.bytes, "Writing the folder")
        hold_on(vault, found.desk, plan, overlay, folder, within(vault, found.desk))
        if again is not None:
            kept = again.found
        elif base is not None and over is not None and not restores and before != after:
            if _is_other(overlay, base.tree, before, path):
                state = keep_found(w, vault, found.desk, [path], watch)
                kept, pushed_out = (state.tree, state.pushed_out) if state is not None else (None, "")
            begin(w, found.desk, words, kept)
    with vault.writing() as w:
        cache = StoredDirCache(vault, found.desk)
        # One path in each directory: what a run that was cut off brought back there is flushed with the rest.
        here = tuple({name.rpartition("/")[0]: name for name in _at_and_below(overlay, after, path)}.values())
        remove_temporary(folder, here)
        plan = plan._replace(here=here)
        result = apply_plan(folder, plan, source=overlay, cache=cache, durable=True, progress=watch.travelled)
        cache.keep()  # what this disk cannot carry would count as deleted at the next commit
        if not path:
            end_look(w, found.desk)
        end(w, found.desk)
        if result.written or result.deleted or again is not None:
            if path:
                note_part(w, vault, found.desk, path, found.node, found.commit)
            told = {"desk": found.desk, "path": path, **({"over": over.text} if over else {})}
            told |= {RESTORED: "yes"} if restores else {}
            told |= {FOUND: kept.text} if kept is not None else {}
            told |= _brought(vault, found)
            w.audit("lace-checkout", found.what, told, relates_to=[found.commit.text])
    return result, pushed_out


def _brought(vault: Vault, found: ResolvedCommit) -> dict[str, str]:
    """Return what an entry tells of a state that is no commit's, such as one that is kept under a name."""
    return {BROUGHT: found.tree.text} if found.tree != commit_info(vault.store, found.commit).tree else {}


def _is_other(source: Source, base: RecordHash, before: RecordHash, path: str) -> bool:
    """Tell whether a path was found otherwise than the folder stands on it."""
    return lookup(source, before, path) != lookup(source, base, path)


def _only_restores(source: Source, base: RecordHash, before: RecordHash, after: RecordHash, path: str) -> bool:
    """Tell whether a path is as the folder stands on it again, and nothing that the folder held is written over."""
    is_as_base = lookup(source, after, path) == lookup(source, base, path) if path else after == base
    return is_as_base and not any(map(holds_something, diff_trees(source, after, before)))


def _at_and_below(source: Source, tree: RecordHash, path: str) -> Iterator[str]:
    """Yield a path of a tree and all that is below it."""
    top = lookup(source, tree, path) if path else None
    yield path
    if top is None or top.is_dir:
        below = walk(source, top.hash if top is not None else tree)
        yield from (f"{path}/{name}" if path else name for name, _ in below)


def _keep_or_move(vault: Vault, found: ResolvedCommit, desk: str, path: str) -> str:
    over = as_typed("checkout", found.what, path_as_typed(vault, desk, path), options="--keep-edits")
    return (
        f"Keep it: {keep_command(vault, desk, [path])} - or bring that over it, with what was edited kept in a"
        f" revision of its own: {over} - or move it away, and run the same command again."
    )


def _commit_command(vault: Vault, desk: str) -> str:
    """Return the command that commits all that changed in a desk, as it is typed where the person is."""
    return keep_command(vault, desk, ()).removesuffix(" PATH")


def _make(folder: Path) -> None:
    """Make the folder of a desk again: what is gone as a whole was not deleted file by file."""
    try:
        make_directory(folder)
    except NotWritable as error:
        raise FolderNotMade(f"{folder} cannot be made: {error}") from error
