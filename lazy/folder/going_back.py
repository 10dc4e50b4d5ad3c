"""Going back in time: the folder as any revision has it; by command and in the app (CLAY-24)."""

from __future__ import annotations

import os
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from lazy.address import ResolvedCommit
from lazy.folder.checkout_files import CheckedOut, Foreseen, Rewriting, as_planned, brought_by, foreseen, write_state
from lazy.folder.copying_out import FolderNotMade
from lazy.folder.had_again import holds_mine, holds_something, is_in_one, is_kept, looked_there
from lazy.folder.moving import planned_follow, planned_moves
from lazy.folder.saving import UncommittedChanges
from lazy.folder.undo_path import FOUND
from lazy.folder.written import follow
from vault.by_kind import counted
from vault.commands import as_typed
from vault.desk_folders import MAIN, folder_of, known_desk
from vault.desks.diff import Change
from vault.desks.edit import select_paths
from vault.desks.memory import MemoryObjects
from vault.desks.pages import NamesClash
from vault.desks.tree import walk
from vault.files import NotWritable, make_directory
from vault.folder.checked_out import Checkout, checkout_of
from vault.folder.finishing import finish_or_go_back, is_cut
from vault.folder.held_rules import begin_look, end_look
from vault.folder.meanwhile import keep_command
from vault.folder.work import Changes, changes
from vault.records import RecordHash
from vault.vault import Vault
from vault.watch import Watch

__all__ = ["check_out", "plan_check_out"]


def plan_check_out(vault: Vault, found: ResolvedCommit, watch: Watch = Watch()) -> Foreseen:
    """Say what `check_out` would do to the folder as it is; changes nothing.

    Raises:
        UncommittedChanges, FolderInTheWay, SavedMeanwhile: as `check_out`.
    """
    desk = known_desk(vault, found.desk)
    if desk != MAIN and not os.path.lexists(folder_of(vault, desk)):
        vault.check_plan()
        return Foreseen(None, tuple(("added", path) for path, at in walk(vault.store, found.tree) if not at.is_dir))
    overlay = MemoryObjects(fallback=vault.store, trees_only=True)
    base, dirty, after = _found(vault, desk, found.tree, watch, overlay, is_dry=True)
    vault.check_plan()
    planned = planned_moves if _is_put_back(vault, found.tree, base, dirty) else planned_follow
    moves = planned(vault, desk, dirty.tree, after, overlay, watch)
    plan = foreseen(overlay, dirty.tree, after, moves)
    return plan._replace(stays=after != found.tree, is_unfinished=is_cut(vault, desk, watch))


def _is_put_back(vault: Vault, tree: RecordHash, base: Checkout, dirty: Changes) -> bool:
    """Tell whether a folder only gets back what it stands on, which it does not follow anew."""
    return tree == base.tree and not (any(map(holds_something, dirty.items)) and is_kept(vault, dirty))


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
        from lazy.conflict_words import update_desk  # each verb loads what it needs

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
            return base, dirty, select_paths(overlay.of(vault.group), tree, dirty.tree, beside)
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
        SavedMeanwhile: files that were saved during an update wait for a person; nothing was changed.
    """
    desk = known_desk(vault, found.desk)
    if desk != MAIN and checkout_of(vault, desk) is not None and not os.path.lexists(folder_of(vault, desk)):
        _make(folder_of(vault, desk))
    is_finished = finish_or_go_back(vault, desk, watch)
    overlay = MemoryObjects(fallback=vault.store, trees_only=True)
    base, dirty, after = _found(vault, desk, found.tree, watch, overlay)
    if _is_put_back(vault, found.tree, base, dirty):
        done = write_state(vault, Rewriting(found, dirty.tree, after), overlay, watch)
        return CheckedOut(desk, done.result, stays=after != found.tree, is_finished=is_finished)
    before = dirty.tree if dirty.items and dirty.tree != found.tree else base.tree
    with vault.writing() as w:
        if found.tree != base.tree:
            begin_look(w, desk, found.tree)
        result = follow(w, vault, desk, before, found.tree, watch)
        if found.tree == base.tree:
            end_look(w, desk)
        if before != found.tree or result.written or result.deleted:  # else nothing was done that an undo would meet
            told = {"desk": desk, "over": base.commit.text, **({FOUND: before.text} if before != base.tree else {})}
            told |= brought_by(vault, found)
            w.audit("lace-checkout", found.what, told, relates_to=[found.commit.text])
    return CheckedOut(desk, as_planned(vault, desk, result), is_finished=is_finished)


def _commit_command(vault: Vault, desk: str) -> str:
    """Return the command that commits all that changed in a desk, as it is typed where the person is."""
    return keep_command(vault, desk, ()).removesuffix(" PATH")


def _make(folder: Path) -> None:
    """Make the folder of a desk again: what is gone as a whole was not deleted file by file."""
    try:
        make_directory(folder)
    except NotWritable as error:
        raise FolderNotMade(f"{folder} cannot be made: {error}") from error
