"""The journal of a checkout that is to be written: between which trees, and what that takes (APP-13).

Everything here reads. `vault.folder.unfinished` goes on with such a checkout, and `vault.folder.meanwhile` merges what
was saved while it was written.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from vault.desk_folders import scanned_folder, within
from vault.desks.chunks import MissingObject
from vault.desks.diff import diff_trees
from vault.folder.checked_out import noted_hash
from vault.folder.held_rules import looked_at
from vault.store.database import StoreDamaged

if TYPE_CHECKING:
    from vault.desks.plan import CheckoutPlan, Skip
    from vault.desks.ports import Source
    from vault.records import RecordHash
    from vault.vault import Vault
    from vault.watch import Watch

__all__ = [
    "in_the_way",
    "is_look",
    "is_unfinished",
    "left_as_they_are",
    "noted_trees",
    "plan_folder",
    "plan_unfinished",
]


def is_unfinished(vault: Vault, desk: str) -> bool:
    """Tell whether a checkout of the desk was cut off, or left files that somebody changed meanwhile."""
    return bool(vault.store.rows("SELECT 1 FROM unfinished WHERE desk = ?", desk))


def noted_trees(vault: Vault, desk: str) -> tuple[RecordHash | None, RecordHash] | None:
    """Return the trees between which a checkout of the desk was cut off, or left files as they are; or None.

    Raises:
        StoreDamaged: the note cannot be read, or names what is not here: both were here when it was written and nothing
            lets go of them, so a friend has nothing to give, and a repair settles it (APP-13).
    """
    row = vault.store.rows("SELECT before, after FROM unfinished WHERE desk = ?", desk)
    if not row or not row[0][1]:
        return None
    before, after = row[0]
    trees = noted_hash(before) if before else None, noted_hash(after)
    named = {tree for tree in trees if tree is not None}
    if vault.store.have(named) != named:
        raise StoreDamaged(f"What is noted of an update of {desk}'s folder that was cut off is damaged.")
    return trees


def is_look(vault: Vault, desk: str) -> bool:
    """Tell whether the checkout that was cut off brings a state for which the line did not move, over a known one.

    Raises:
        StoreDamaged: as `noted_trees`.
    """
    trees = noted_trees(vault, desk)
    return trees is not None and trees[0] is not None and looked_at(vault, desk) == trees[1]


def left_as_they_are(vault: Vault, desk: str) -> tuple[str, ...]:
    """Return the paths that a checkout just left as they are, since they were saved while it wrote."""
    trees = noted_trees(vault, desk)
    return tuple(change.path for change in diff_trees(vault.store, *trees)) if trees is not None else ()


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

    Raises:
        NoSuchDesk, FolderGone: as `scanned_folder`.
        MissingObject, TreeError, NotWritable: as `plan_checkout`.
        Cancelled: the person stopped it.
    """
    from vault.desks.plan import plan_checkout  # most actions write no folder

    return plan_checkout(
        scanned_folder(vault, desk),
        before=before,
        after=after,
        source=source,
        cancel=watch.cancelled,
        without=within(vault, desk),
    )


def plan_unfinished(vault: Vault, desk: str, watch: Watch) -> CheckoutPlan | None:
    """Say what `finish_checkout` would do, and change nothing; None when no checkout of the desk was cut off.

    Of a look whose content is not here any more: what it takes to go back from it.
    """
    trees = noted_trees(vault, desk)
    if trees is None:
        return None
    before, after = trees
    try:
        return plan_folder(vault, desk, before, after, vault.store, watch)
    except MissingObject:
        if before is None or not is_look(vault, desk):
            raise
    return plan_folder(vault, desk, after, before, vault.store, watch)


def in_the_way(
    vault: Vault, desk: str, before: RecordHash | None, after: RecordHash, source: Source, watch: Watch
) -> tuple[Skip, ...]:
    """Say what would be left alone by `plan_folder` once a cut-off checkout is finished; changes nothing."""
    late = plan_unfinished(vault, desk, watch)
    steps = chain(late.writes, late.deletes) if late is not None else ()
    moving = {step.change.path for step in steps}
    moving |= {skip.path for skip in late.skipped} if late is not None else set()  # what came is merged into them first
    skipped = plan_folder(vault, desk, before, after, source, watch).skipped
    return tuple(skip for skip in skipped if skip.path not in moving)
