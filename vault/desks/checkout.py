"""From a tree to the folder on disk, touching only what differs (CLAY-71, APP-12).

Everything is planned before anything is written. A file whose content is neither what the folder stood on
nor what it is to become is never overwritten or deleted: it is named, and unless the caller insists nothing
is done at all. Each file is written beside its place and renamed into it, or with all of a new directory,
which is filled under another name; no link is followed, and a hard link is replaced and not written through,
so nothing outside the folder can be reached. After a crash the same checkout goes on: what is done already
counts as such.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, NoReturn

from vault.desks.absent_paths import add_absent
from vault.desks.arrived import Arrived, Context
from vault.desks.cursor import DirectoryCursor
from vault.desks.filling import Filling, Telling
from vault.desks.plan import CheckoutPlan, Skip, plan_checkout
from vault.desks.ports import DirCache, Progress, Source
from vault.desks.writing import FEW, Writing
from vault.files import DISK_FULL, DiskFull, NotWritable, can_flush_everything, reason_of
from vault.records import RecordHash

__all__ = ["CheckoutResult", "apply_plan", "apply_tree"]


class CheckoutResult(NamedTuple):
    """What a checkout did; nothing of `apply_tree` when a skip was blocking."""

    written: tuple[str, ...]
    deleted: tuple[str, ...]
    skipped: tuple[Skip, ...]


def apply_tree(
    root: Path,
    *,
    before: RecordHash | None,
    after: RecordHash,
    source: Source,
    cache: DirCache,
    durable: bool = False,
    cancel: Callable[[], None] | None = None,
    progress: Progress | None = None,
) -> CheckoutResult:
    """Bring the folder from one tree to another: `plan_checkout`, then `apply_plan`.

    Args:
        root: the desk's directory; it must exist.
        before: the tree the folder stands on, or None when it is new.
        after: the tree it is to become.
        source: where both are read.
        cache: the scan cache of the desk. It gets no file that is written here.
        durable: what was written, deleted and named survives a power cut once this returns.
        cancel: called for each path; raises to stop.
        progress: called with (paths done, paths in all, path).

    Returns:
        What was done; with a blocking skip, nothing was.

    Raises:
        MissingObject, TreeError: the trees cannot be read; nothing was written.
        DiskFull, NotWritable: writing failed; the same call goes on from there.
    """
    plan = plan_checkout(root, before=before, after=after, source=source, cancel=cancel)
    if plan.is_blocked:
        return CheckoutResult((), (), plan.skipped)
    return apply_plan(root, plan, source=source, cache=cache, durable=durable, cancel=cancel, progress=progress)


def apply_plan(
    root: Path,
    plan: CheckoutPlan,
    *,
    source: Source,
    cache: DirCache,
    durable: bool = False,
    context: Context | None = None,
    cancel: Callable[[], None] | None = None,
    progress: Progress | None = None,
    lists: bool = True,
) -> CheckoutResult:
    """Do what a plan says; each path is looked at once more, and left alone if it changed since.

    What was written is listed only if `lists` is true: for a first update that is a path for each file. With the
    `context` of the scans that may believe it, the cache gets what new directories hold; see `Arrived`.

    Raises:
        MissingObject: a content has gone since the plan was made.
        DiskFull, NotWritable: writing failed.
        TooManyAbsent: what this disk cannot hold is too much to be remembered.
    """
    telling = Telling(progress, len(plan.deletes) + len(plan.writes))
    arrived = Arrived(source, plan.after, cache, context)
    writer: Writing | None = None
    try:
        is_small = len(plan.writes) + len(plan.deletes) <= FEW or not can_flush_everything()
        with DirectoryCursor(root) as cursor, Filling(source, telling, durable=durable, one_by_one=is_small) as files:
            writer = Writing(source, cursor, plan, files, arrived, durable=durable, lists=lists)
            _carry_out(plan, writer, telling, cancel)
    except OSError as error:
        _refuse(root, telling.where, error)
    absent = {skip.path for skip in writer.skipped if not skip.blocking}
    add_absent(cache, source, plan.after, absent)
    return CheckoutResult(tuple(sorted(writer.written)), tuple(sorted(writer.deleted)), tuple(sorted(writer.skipped)))


def _carry_out(plan: CheckoutPlan, writer: Writing, telling: Telling, cancel: Callable[[], None] | None) -> None:
    """Take away what goes, the deepest first, then write what comes; what is half written goes, however this ends."""
    try:
        for act, steps in ((writer.delete, reversed(plan.deletes)), (writer.write, iter(plan.writes))):
            for step in steps:
                if cancel is not None:
                    cancel()
                telling.where = step.change.path
                act(step)
                telling.did()
            writer.place()
            writer.sweep()
        writer.settle(plan.here, telling)
    finally:
        writer.discard()


def _refuse(root: Path, path: str, error: OSError) -> NoReturn:
    shown = root / path if path else root
    if error.errno in DISK_FULL:
        raise DiskFull(f"There is no room left on the disk to write {shown}.") from error
    raise NotWritable(f"{shown} cannot be written: {reason_of(error)}.") from error
