"""Bringing the folder to a tree so that a crash leaves nothing mixed (APP-13, LAZ-1, CLAY-71).

What the folder is to become is decided and noted inside the transaction that moves the line; the files are written
after it committed, under the same lock, and then the note goes. Cut off before the commit, nothing happened. Cut off
after it, the note is still there, and the next action that looks at the folder goes on where the first one ended. A
file that somebody changed meanwhile is never overwritten: it keeps what it holds, with what the new tree brought
merged in where that can be done, and is named until a commit names it (`vault.meanwhile`).
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

from vault.desk_folders import folder_of, within
from vault.desks.diff import Change, diff_trees
from vault.desks.glance import LOOKS, LOOKS_OF, MAX_LOOKS
from vault.desks.tree import lookup, read_directory
from vault.desks.worktree import Problem
from vault.errors import EnvironmentFault
from vault.held_rules import hold_on
from vault.records import RecordHash
from vault.space import require_room

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Set

    from vault.desks.checkout import CheckoutResult
    from vault.desks.plan import CheckoutPlan, Skip
    from vault.desks.ports import MemoryObjects, Source
    from vault.vault import Vault
    from vault.watch import Watch
    from vault.writer import Writer

__all__ = [
    "StoredDirCache",
    "checkout_tree",
    "finish_checkout",
    "finish_checkouts",
    "finished_if_possible",
    "in_the_way",
    "is_unfinished",
    "left_as_they_are",
    "noted_trees",
    "plan_folder",
    "plan_unfinished",
    "still_to_write",
    "tree_if_finished",
]

_LOCK_SECONDS = 600.0  # whoever holds it may be writing that very checkout


class StoredDirCache:
    """The `dircache` table as the directory cache of one desk."""

    def __init__(self, vault: Vault, desk: str) -> None:
        self._store, self._desk = vault.store, desk
        self._fresh: dict[str, bytes] = {}
        self._gone: list[str] = []
        self._looks: dict[str, bytes] | None = None
        self._has_all = False

    def load(self, directory: str) -> bytes | None:
        """Return what was kept for a directory, or None."""
        if directory.startswith(LOOKS):  # every directory is asked for, so one question brings them all
            if self._looks is None:
                found = self._store.rows(LOOKS_OF, self._desk, MAX_LOOKS)
                self._looks = {str(key): bytes(look) for key, look in found}
                self._has_all = len(found) < MAX_LOOKS
            if self._has_all or directory in self._looks:
                return self._looks.get(directory)
        row = self._store.rows("SELECT blob FROM dircache WHERE desk = ? AND dir = ?", self._desk, directory)
        return bytes(row[0][0]) if row else None

    def save(self, directory: str, blob: bytes) -> None:
        """Take what is to be kept for a directory; see `keep`."""
        self._fresh[directory] = blob

    def drop(self, directory: str) -> None:
        """Take note that a directory is gone, with those that were below it; see `keep`."""
        self._gone += (directory, f"{LOOKS}{directory}")

    def keep_if_free(self, vault: Vault, put_back: Set[str] = frozenset()) -> None:
        """Keep what a look at an unchanged folder saw, so that the next look is cheap, unless somebody is writing.

        Args:
            vault: whose folder.
            put_back: as the snapshot has it. What was seen on the way there and below names trees that nobody stored,
                and a scan that believed it could not read them.
        """
        self._fresh = _not_touching(self._fresh, put_back)
        if not self._fresh:
            return
        try:
            with vault.lock.held(timeout=0), vault.store.transaction():
                self.keep()
        except EnvironmentFault:
            return  # a busy or read-only vault costs a second look, no more

    def keep(self) -> None:
        """Write what was saved, without what is gone; inside the transaction: a cache never runs ahead of the store."""
        if self._gone:
            self._store.db.executemany(
                "DELETE FROM dircache WHERE desk = ?1 AND (dir = ?2 OR (dir > ?2 || '/' AND dir < ?2 || '0'))",
                [(self._desk, directory) for directory in self._gone],  # the sign after / is 0
            )
        self._store.db.executemany(
            "INSERT INTO dircache VALUES (?, ?, ?) ON CONFLICT(desk, dir) DO UPDATE SET blob = excluded.blob",
            [(self._desk, directory, blob) for directory, blob in self._fresh.items()],
        )


def _not_touching(fresh: Mapping[str, bytes], paths: Set[str]) -> dict[str, bytes]:
    """Return what is kept of directories, or their looks, that are none of these paths, nor above or below one."""
    if not paths:
        return dict(fresh)
    above = {way for path in paths for way in ("", *_ways_to(path))}

    def touches(where: str) -> bool:
        return where in above or any(way in paths for way in _ways_to(where))

    return {key: blob for key, blob in fresh.items() if not touches(key.removeprefix(LOOKS))}


def _ways_to(path: str) -> Iterator[str]:
    """Yield a path, and each directory above it but the topmost."""
    return accumulate(path.split("/"), "{}/{}".format)


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
        SavedMeanwhile: files of an earlier checkout wait for a person; its note is not written over.
    """
    if is_unfinished(vault, desk):
        from vault.meanwhile import check_taken, forget_left  # noqa: PLC0415 - hardly any checkout is cut off

        check_taken(vault, desk, ())
        forget_left(vault, desk)
    from vault.desks.checkout import CheckoutResult  # noqa: PLC0415 - most actions write no folder

    plan = plan_folder(vault, desk, before, after, vault.store, watch)
    if plan.is_blocked:
        return CheckoutResult((), (), plan.skipped)
    require_room(vault.around, vault.folder, plan.bytes, "Writing the folder")
    hold_on(w, vault, desk, plan)
    w.store.run("INSERT OR REPLACE INTO unfinished VALUES (?, ?, ?)", desk, before.text if before else "", after.text)
    w.afterwards(lambda: _write_folder(vault, desk, plan, watch))
    gone = (step for step in plan.deletes if step.disk is not None and step.change.before is not None)
    return CheckoutResult(
        tuple(sorted(step.change.path for step in plan.writes)),
        tuple(sorted(step.change.path for step in gone if step.change.before and not step.change.before.is_dir)),
        plan.skipped,
    )


def is_unfinished(vault: Vault, desk: str) -> bool:
    """Tell whether a checkout of the desk was cut off, or left files that somebody changed meanwhile."""
    return bool(vault.store.rows("SELECT 1 FROM unfinished WHERE desk = ?", desk))


def left_as_they_are(vault: Vault, desk: str) -> tuple[str, ...]:
    """Return the paths that a checkout just left as they are, since they were saved while it wrote."""
    trees = noted_trees(vault, desk)
    return tuple(change.path for change in diff_trees(vault.store, *trees)) if trees is not None else ()


def finish_checkouts(vault: Vault, watch: Watch, asked: str = "") -> tuple[Problem, ...]:
    """Go on with every checkout that was cut off; called before an action's own transaction, so that it stays done.

    Returns:
        What `finish_checkout` says of the desk `asked`, which comes first.

    Raises:
        Locked, DiskFull, NotWritable, StoreUnwritable: as `finish_checkout`.
    """
    told: tuple[Problem, ...] = ()
    desks = [str(desk) for (desk,) in vault.store.rows("SELECT desk FROM unfinished")]
    for desk in sorted(desks, key=lambda desk: desk != asked):
        found = finish_checkout(vault, desk, watch)
        told = found if desk == asked else told
    return told


def finish_checkout(vault: Vault, desk: str, watch: Watch) -> tuple[Problem, ...]:
    """Go on with a checkout that was cut off; costs one look at the store when there is none.

    Returns:
        A notice for each file that somebody changed meanwhile, and that was merged or left as it is.

    Raises:
        Locked: another process kept the vault too long.
        DiskFull, NotWritable, StoreUnwritable: it cannot be finished yet; the next try goes on.
    """
    if not is_unfinished(vault, desk):
        return ()
    from vault.desks.checkout import remove_temporary  # noqa: PLC0415 - most actions write no folder

    with vault.lock.held(timeout=_LOCK_SECONDS), vault.store.transaction():
        trees = noted_trees(vault, desk)
        if trees is None:
            return ()
        before, after = trees
        remove_temporary(folder_of(vault, desk), [change.path for change in diff_trees(vault.store, before, after)])
        plan = plan_folder(vault, desk, before, after, vault.store, watch)
        kept = {skip.path: skip.reason for skip in _write_folder(vault, desk, plan, watch).skipped if skip.blocking}
        if not kept:
            return ()
        from vault.meanwhile import keep_command, merge_saved, note_left, saved_meanwhile  # noqa: PLC0415 - as above

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
        return finish_checkout(vault, desk, watch)
    except EnvironmentFault as error:
        return (Problem(".", f"this folder holds half of an update that cannot be finished now: {error}", "notice"),)


def plan_unfinished(vault: Vault, desk: str, watch: Watch) -> CheckoutPlan | None:
    """Say what `finish_checkout` would do, and change nothing; None when no checkout of the desk was cut off."""
    trees = noted_trees(vault, desk)
    return plan_folder(vault, desk, *trees, vault.store, watch) if trees is not None else None


def still_to_write(vault: Vault, desk: str, watch: Watch) -> CheckoutPlan | None:
    """Return the plan of a checkout that was cut off; None where files that were saved meanwhile are all it left."""
    plan = plan_unfinished(vault, desk, watch)
    return plan if plan is not None and (plan.writes or plan.deletes or not plan.is_blocked) else None


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
    from vault.desks.edit import apply_changes  # noqa: PLC0415 - hardly any checkout is cut off
    from vault.meanwhile import foretold  # noqa: PLC0415

    kept = {skip.path for skip in plan.skipped if skip.blocking}
    moved = foretold(vault, desk, kept, objects, watch)[0]
    moved |= {step.change.path: step.change.after for step in plan.writes}
    moved |= {step.change.path: None for step in plan.deletes if _may_go(objects, root, step.change)}
    return apply_changes(objects, objects, vault.group, root, moved) if moved else root


def _may_go(objects: MemoryObjects, root: RecordHash, change: Change) -> bool:
    """Tell whether a finished checkout would delete this: files, and directories that are empty."""
    if change.before is None or not change.before.is_dir:
        return True
    here = lookup(objects, root, change.path)
    return here is not None and here.is_dir and not read_directory(objects, here.hash)


def noted_trees(vault: Vault, desk: str) -> tuple[RecordHash | None, RecordHash] | None:
    """Return the trees between which a checkout of the desk was cut off, or left files as they are; or None."""
    row = vault.store.rows("SELECT before, after FROM unfinished WHERE desk = ?", desk)
    if not row or not row[0][1]:
        return None
    before, after = row[0]
    return RecordHash.parse(str(before)) if before else None, RecordHash.parse(str(after))


def plan_folder(
    vault: Vault, desk: str, before: RecordHash | None, after: RecordHash, source: Source, watch: Watch
) -> CheckoutPlan:
    """Say what it takes to bring a desk's folder from one tree to another; changes nothing.

    Args:
        vault: whose folder.
        desk: the desk.
        before: the tree that the folder stands on.
        after: the tree it is to become.
        source: where both are read.
        watch: cancel.
    """
    from vault.desks.checkout import plan_checkout  # noqa: PLC0415 - most actions write no folder

    return plan_checkout(
        folder_of(vault, desk),
        before=before,
        after=after,
        source=source,
        cancel=watch.cancelled,
        without=within(vault, desk),
    )


def in_the_way(
    vault: Vault, desk: str, before: RecordHash | None, after: RecordHash, source: Source, watch: Watch
) -> tuple[Skip, ...]:
    """Say what would be left alone by `plan_folder` once a cut-off checkout is finished; changes nothing."""
    late = plan_unfinished(vault, desk, watch)
    moving = {step.change.path for step in (*late.writes, *late.deletes)} if late is not None else set()
    moving |= {skip.path for skip in late.skipped} if late is not None else set()  # what came is merged into them first
    skipped = plan_folder(vault, desk, before, after, source, watch).skipped
    return tuple(skip for skip in skipped if skip.path not in moving)


def _write_folder(vault: Vault, desk: str, plan: CheckoutPlan, watch: Watch) -> CheckoutResult:
    """Write the folder, durably; the note speaks from then on of the files alone that were left as they are."""
    from vault.desks.checkout import apply_plan  # noqa: PLC0415 - most actions write no folder

    cache = StoredDirCache(vault, desk)
    result = apply_plan(
        folder_of(vault, desk), plan, source=vault.store, cache=cache, durable=True, progress=watch.travelled
    )
    with vault.store.transaction():
        cache.keep()
        kept = [skip.path for skip in result.skipped if skip.blocking]
        if kept:
            from vault.meanwhile import narrow, note_left  # noqa: PLC0415 - hardly any file is saved meanwhile

            narrow(vault, desk, kept)
            note_left(vault, desk, watch)
        else:
            from vault.meanwhile import forget_left  # noqa: PLC0415

            vault.store.run("DELETE FROM unfinished WHERE desk = ?", desk)
            forget_left(vault, desk)
    return result
