"""What it comes to that a checkout that was cut off is finished first, from a look that changes nothing (APP-13).

Whoever says what an act would do says by this what goes before it; whoever does it asks the same, so both refuse alike.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from vault.desks.memory import MemoryObjects
from vault.folder.checkout_journal import plan_unfinished
from vault.folder.meanwhile import foretold
from vault.folder.unfinished import planned_result

if TYPE_CHECKING:
    from vault.vault import Vault
    from vault.watch import Watch

__all__ = ["Finishing", "finishing", "is_cut"]


class Finishing(NamedTuple):
    """What becomes of a folder whose checkout was cut off, once that is finished.

    Args:
        written: paths that it gets.
        deleted: paths that it loses.
        merged: paths saved since, into which what came is merged.
        kept: paths saved since that do not merge, and stay as they are.
        is_cut: whether more is left to do than to leave such files as they are.
    """

    written: tuple[str, ...]
    deleted: tuple[str, ...]
    merged: tuple[str, ...]
    kept: tuple[str, ...]
    is_cut: bool


def finishing(vault: Vault, desk: str, watch: Watch) -> Finishing | None:
    """Return what `vault.folder.unfinished.finish_checkout` would do; None where no checkout was cut off.

    Raises:
        NoSuchDesk, FolderGone, MissingObject, TreeError, NotWritable, Cancelled: as `plan_folder`.
    """
    plan = plan_unfinished(vault, desk, watch)
    if plan is None:
        return None
    result = planned_result(plan)
    saved = sorted(skip.path for skip in plan.skipped if skip.blocking)
    merged = sorted(foretold(vault, desk, saved, MemoryObjects(fallback=vault.store), watch)[0])
    return Finishing(
        written=result.written,
        deleted=result.deleted,
        merged=tuple(merged),
        kept=tuple(path for path in saved if path not in merged),
        is_cut=bool(plan.writes or plan.deletes or merged or not saved),
    )


def is_cut(vault: Vault, desk: str, watch: Watch) -> bool:
    """Tell whether a checkout of the desk was cut off, and more is left of it than files that a person decides about.

    Raises:
        As `finishing`.
    """
    found = finishing(vault, desk, watch)
    return found is not None and found.is_cut
