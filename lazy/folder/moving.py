"""Which files of the folder an act would write and delete, and which it would leave out (APP-12, CLAY-71)."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from lazy.folder.written import refuse_blocked
from vault.desks.causes import Cause
from vault.desks.diff import Change, diff_trees
from vault.desks.memory import MemoryObjects
from vault.desks.plan import Skip
from vault.desks.ports import Source
from vault.desks.tree import lookup
from vault.folder.checkout_journal import in_the_way
from vault.folder.meanwhile import check_planned
from vault.records import RecordHash
from vault.vault import Vault
from vault.watch import Watch

__all__ = ["Moves", "paths_moved", "planned_follow", "planned_moves"]


class Moves(NamedTuple):
    """What becomes of a folder, or would.

    Args:
        written: paths it gets.
        deleted: paths it loses.
        left_out: paths that came and are not written, since no disk or not this one may hold them.
        kept: paths left as they are, since they were saved while the folder was written.
    """

    written: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    left_out: tuple[Skip, ...] = ()
    kept: tuple[str, ...] = ()


def paths_moved(
    source: Source, before: RecordHash | None, after: RecordHash
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the paths that a folder gets, and those it loses, between two trees.

    A folder that only becomes empty is there already.
    """
    found = list(diff_trees(source, before, after))
    gone = tuple(change.path for change in found if change.after is None)
    return tuple(change.path for change in found if change.after is not None and not _is_emptied(change)), gone


def _is_emptied(change: Change) -> bool:
    """Tell whether a folder loses the last of what it holds, and stays."""
    return all(entry is not None and entry.is_dir for entry in (change.before, change.after))


def planned_moves(
    vault: Vault,
    desk: str,
    before: RecordHash,
    after: RecordHash,
    overlay: MemoryObjects,
    watch: Watch,
    saved: Collection[str] = (),
) -> Moves:
    """Return what would become of a desk's folder between two trees; changes nothing.

    Args:
        vault: whose folder.
        desk: the desk.
        before: what it was found with.
        after: what it is to become.
        overlay: where both are read.
        watch: cancel.
        saved: paths that would be committed first as they were found; the content of large ones is not in `overlay`.

    Raises:
        FolderInTheWay: something of the person's stands in the way.
    """
    found = in_the_way(vault, desk, before, after, overlay, watch)
    skipped = tuple(skip for skip in found if skip.cause is not Cause.CHANGED or skip.path not in saved)
    refuse_blocked(skipped)
    written, deleted = paths_moved(overlay, before, after)
    stay = {skip.path for skip in skipped}
    apart = {skip.path for skip in skipped if skip.cause is Cause.OTHER_DESK}  # nothing there goes, and nothing comes
    former = {path for path in stay - apart if lookup(overlay, before, path) is not None}
    gone = tuple(sorted({*deleted} - apart | former))
    out = tuple(skip for skip in skipped if lookup(overlay, after, skip.path) is not None)
    return Moves(tuple(path for path in written if path not in stay), gone, out)


def planned_follow(
    vault: Vault,
    desk: str,
    before: RecordHash,
    after: RecordHash,
    overlay: MemoryObjects,
    watch: Watch,
    saved: Collection[str] = (),
    named: Collection[str] = (),
) -> Moves:
    """Return what `lazy.folder.written.follow` would do, with what it refuses; changes nothing.

    Args:
        vault: whose folder.
        desk: the desk.
        before: as of `planned_moves`.
        after: as there.
        overlay: as there.
        watch: as there.
        saved: as there.
        named: paths that would be committed by name first.

    Raises:
        FolderInTheWay: as `planned_moves`.
        SavedMeanwhile: files of a checkout that is finished first will wait for a person.
    """
    check_planned(vault, desk, watch, named)
    return planned_moves(vault, desk, before, after, overlay, watch, saved)
