"""Bringing the folder to a tree so that a crash leaves nothing mixed (APP-13, LAZ-1, CLAY-71).

What the folder is to become is decided and noted inside the transaction that moves the line; the files are written
after it committed, under the same lock, and then the note goes. Cut off before the commit, nothing happened. Cut off
after it, the note is still there, and the next action that looks at the folder goes on where the first one ended. A
file that somebody changed meanwhile is never overwritten: it keeps what it holds, with what the new tree brought
merged in where that can be done, and is named until a commit names it (`vault.folder.meanwhile`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault.commands import as_typed
from vault.desk_folders import FolderGone, folder_of, scanned_folder, within
from vault.desks.choosing import Problem
from vault.desks.diff import Change, diff_trees
from vault.desks.tree import lookup, read_directory
from vault.errors import DataError, EnvironmentFault
from vault.files import DiskFull, NotWritable, Unreadable
from vault.folder.checkout_journal import is_look, is_unfinished, noted_trees, plan_folder, plan_unfinished
from vault.folder.dir_cache import StoredDirCache
from vault.folder.held_rules import hold_on
from vault.lock import LOCK_SECONDS
from vault.records import RecordHash
from vault.space import require_room
from vault.store.database import StoreDamaged

if TYPE_CHECKING:
    from vault.desks.checkout import CheckoutResult
    from vault.desks.memory import MemoryObjects
    from vault.desks.plan import CheckoutPlan, Skip
    from vault.vault import Vault
    from vault.watch import Watch
    from vault.writer import Writer

__all__ = [
    "checkout_tree",
    "finish_checkout",
    "finish_checkouts",
    "finished_if_possible",
    "planned_result",
    "tree_if_finished",
]

_CUT_OFF = "The last update of this folder was cut off and cannot be finished"


def checkout_tree(
    w: Writer, vault: Vault, desk: str, before: RecordHash | None, after: RecordHash, watch: Watch
) -> CheckoutResult:
    """Plan to bring the folder from one tree to another, and do it once the write `w` has committed.

    It can be stopped while it looks; once it writes it runs to its end. With a blocking skip nothing is noted and
    nothing will be written.

    Returns:
        What will be done. At most one checkout of a desk goes into one write.

    Raises:
        NoRoom: the files do not fit on the disk; nothing was changed.
        FormerRulesFull: as `hold_on`; nothing was changed.
        SavedMeanwhile: files of an earlier checkout wait for a person; its note is not written over.
    """
    if is_unfinished(vault, desk):
        from vault.folder.meanwhile import check_taken, forget_left  # hardly any checkout is cut off

        check_taken(vault, desk, ())
        forget_left(vault, desk)
    from vault.desks.checkout import CheckoutResult  # most actions write no folder

    plan = plan_folder(vault, desk, before, after, vault.store, watch)
    if plan.is_blocked:
        return CheckoutResult((), (), plan.skipped)
    require_room(vault.around, vault.folder, plan.bytes, "Writing the folder", is_whole=True)
    hold_on(vault, desk, plan, vault.store, folder_of(vault, desk), within(vault, desk))
    w.store.run("INSERT OR REPLACE INTO unfinished VALUES (?, ?, ?)", desk, before.text if before else "", after.text)
    w.afterwards(lambda: _write_folder(vault, desk, plan, watch))
    return planned_result(plan)


def planned_result(plan: CheckoutPlan) -> CheckoutResult:
    """Return what a checkout does that follows its plan."""
    from vault.desks.checkout import CheckoutResult  # most actions write no folder

    return CheckoutResult(
        tuple(sorted(step.change.path for step in plan.writes)),
        tuple(sorted(step.change.path for step in plan.deletes if step.disk is not None)),
        plan.skipped,
    )


def finish_checkouts(vault: Vault, watch: Watch, asked: str | None = None) -> tuple[Problem, ...]:
    """Go on with every checkout that was cut off; called before an action's own transaction, so that it stays done.

    Args:
        vault: whose folders.
        watch: cancel.
        asked: the desk that the action is about: where the folder of another one does not let it be finished, that one
            waits until somebody asks about it. None for an action that is about all of them.

    Returns:
        What `finish_checkout` says of the desk `asked`, which comes first.

    Raises:
        Locked, FolderGone, DiskFull, NotWritable, Unreadable, StoreUnwritable: as `finish_checkout`.
    """
    told: tuple[Problem, ...] = ()
    desks = [str(desk) for (desk,) in vault.store.rows("SELECT desk FROM unfinished")]
    for desk in sorted(desks, key=lambda desk: desk != asked):
        try:
            found = finish_checkout(vault, desk, watch)
        except (FolderGone, DiskFull, NotWritable, Unreadable):
            if asked in {None, desk}:
                raise
            continue  # what is noted of it stays
        told = found if desk == asked else told
    return told


def finish_checkout(vault: Vault, desk: str, watch: Watch) -> tuple[Problem, ...]:
    """Go on with a checkout that was cut off; costs one look at the store when there is none.

    Returns:
        A notice for each file that somebody changed meanwhile, and that was merged or left as it is.

    Raises:
        Locked: another process kept the vault too long.
        FolderGone: the folder is gone; the next try goes on once it is there.
        DiskFull, NotWritable, Unreadable, StoreUnwritable: it cannot be finished yet; the next try goes on.
        MissingObject, PackDamaged: content of what it writes is lost, or not here; of a look the way out names the way
            back.
    """
    try:
        return _finish(vault, desk, watch)
    except (DiskFull, NotWritable) as error:  # of a file that the person did not ask for now
        error.message = f"{_CUT_OFF}: {error.message}"
        raise
    except StoreDamaged:
        raise
    except DataError as error:
        error.message = f"{_CUT_OFF}: {error.message}"
        if is_look(vault, desk):
            error.hint = f"{error.hint} Or go back to what was there before: {as_typed('checkout', desk)}"
        raise


def _finish(vault: Vault, desk: str, watch: Watch) -> tuple[Problem, ...]:
    """Do what `finish_checkout` does; its errors tell of the file alone."""
    if not is_unfinished(vault, desk):
        return ()
    from vault.desks.temporary import remove_temporary  # most actions write no folder

    with vault.lock.held(timeout=LOCK_SECONDS), vault.store.transaction():
        trees = noted_trees(vault, desk)
        if trees is None:
            return ()
        before, after = trees
        remove_temporary(
            scanned_folder(vault, desk), [change.path for change in diff_trees(vault.store, before, after)]
        )
        plan = plan_folder(vault, desk, before, after, vault.store, watch)
        kept = {skip.path: skip.reason for skip in _write_folder(vault, desk, plan, watch) if skip.blocking}
        if not kept:
            return ()
        from vault.folder.meanwhile import keep_command, merge_saved, note_left, saved_meanwhile  # as above

        merged = merge_saved(vault, desk, watch)
        note_left(vault, desk, watch)
    how = dict.fromkeys(kept, "it keeps what it holds")
    for path in saved_meanwhile(vault, desk):
        way = f"until {keep_command(vault, desk, [path])} - or until it is moved away, which takes theirs"
        how[path] = f"it does not merge with what came, and keeps what it holds {way}"
    how |= dict.fromkeys(merged, "what came is merged into it")
    notices = [Problem(path, f"{kept[path]} while an update was being written: {how[path]}", "notice") for path in kept]
    return tuple(sorted(notices, key=lambda notice: notice.path in merged))  # those that wait for a person first


def finished_if_possible(vault: Vault, desk: str, watch: Watch) -> tuple[Problem, ...]:
    """Finish a checkout that was cut off, or say that it cannot be finished here and now."""
    try:
        return _finish(vault, desk, watch)
    except StoreDamaged:
        raise
    except (EnvironmentFault, DataError) as error:
        why = error.message.rstrip(".")  # whoever tells of it ends the sentence
        if isinstance(error, DataError) and is_look(vault, desk):
            why += f" - go back to what was there before: {as_typed('checkout', desk)}"
        return (Problem(".", f"this folder holds half of an update that cannot be finished now: {why}", "notice"),)


def tree_if_finished(vault: Vault, desk: str, root: RecordHash, objects: MemoryObjects, watch: Watch) -> RecordHash:
    """Return the tree that the folder will have once its cut-off checkout is finished; writes nothing to the folder.

    Args:
        vault: whose folder.
        desk: the desk.
        root: the tree of the folder as it is.
        objects: where that is read, and where the new pages go.
        watch: cancel.
    """
    plan = plan_unfinished(vault, desk, watch)
    if plan is None:
        return root
    from vault.desks.edit import apply_changes  # hardly any checkout is cut off
    from vault.desks.memory import MemoryObjects
    from vault.folder.meanwhile import foretold

    kept = {skip.path for skip in plan.skipped if skip.blocking}
    merging = MemoryObjects(fallback=objects)  # a merge reads content, which `objects` may forget
    moved = foretold(vault, desk, kept, merging, watch)[0]
    for plex in merging:
        objects.add(plex)
    moved |= {step.change.path: step.change.after for step in plan.writes}
    moved |= {step.change.path: None for step in plan.deletes if _may_go(objects, root, step.change)}
    return apply_changes(objects.of(vault.group), root, moved) if moved else root


def _may_go(objects: MemoryObjects, root: RecordHash, change: Change) -> bool:
    """Tell whether a finished checkout would delete this: files, and directories that are empty."""
    if change.before is None or not change.before.is_dir:
        return True
    here = lookup(objects, root, change.path)
    return here is not None and here.is_dir and not read_directory(objects, here.hash)


def _write_folder(vault: Vault, desk: str, plan: CheckoutPlan, watch: Watch) -> tuple[Skip, ...]:
    """Write the folder, durably, and return what was left out.

    The note speaks from then on of the files alone that were left as they are.
    """
    from vault.desks.checkout import apply_plan  # most actions write no folder
    from vault.folder.looking import context_now

    cache = StoredDirCache(vault, desk, spills=True)
    result = apply_plan(
        folder_of(vault, desk),
        plan,
        source=vault.store,
        cache=cache,
        durable=True,
        context=lambda: context_now(vault, desk),
        progress=watch.travelled,
        lists=False,  # who asked knows the plan
    )
    with vault.store.transaction():
        cache.keep()
        kept = [skip.path for skip in result.skipped if skip.blocking]
        if kept:
            from vault.folder.meanwhile import narrow, note_left  # hardly any file is saved meanwhile

            narrow(vault, desk, kept)
            note_left(vault, desk, watch)
        else:
            from vault.folder.meanwhile import forget_left

            vault.store.run("DELETE FROM unfinished WHERE desk = ?", desk)
            forget_left(vault, desk)
    return result.skipped
