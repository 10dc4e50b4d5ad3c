"""What it comes to that a checkout that was cut off is finished first, from a look that changes nothing (APP-13).

Whoever says what an act would do says by this what goes before it; whoever does it asks the same, so both refuse alike.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from vault.desks.memory import MemoryObjects
from vault.errors import DataError
from vault.folder.checked_out import checkout_of
from vault.folder.checkout_journal import is_look, noted_trees, plan_unfinished
from vault.folder.held_rules import begin_look, end_look
from vault.folder.meanwhile import foretold
from vault.folder.unfinished import finish_checkout, planned_result
from vault.store.database import StoreDamaged

if TYPE_CHECKING:
    from vault.vault import Vault
    from vault.watch import Watch

__all__ = ["Finishing", "finish_or_go_back", "finishing", "is_cut"]


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


def finish_or_go_back(vault: Vault, desk: str, watch: Watch) -> bool:
    """Go on with a checkout that was cut off; where content of a look is lost, bring back what was there before it.

    The line did not move for a look, so that loses nothing. Tell whether something was finished.

    Raises:
        Locked, FolderGone, DiskFull, NotWritable, Unreadable, StoreUnwritable: as `finish_checkout`.
        MissingObject, PackDamaged: as there, of what is no look; or what was there before is lost as well.
    """
    was_cut = is_cut(vault, desk, watch)
    try:
        finish_checkout(vault, desk, watch)
    except StoreDamaged:
        raise
    except DataError:
        if not is_look(vault, desk):
            raise
    else:
        return was_cut
    with vault.writing(receiving=True) as w:
        trees, base = noted_trees(vault, desk), checkout_of(vault, desk)
        w.store.run("UPDATE unfinished SET before = after, after = before WHERE desk = ?", desk)
        if base is not None and trees is not None and trees[0] is not None and trees[0] != base.tree:
            begin_look(w, desk, trees[0])
        else:
            end_look(w, desk)
    finish_checkout(vault, desk, watch)
    return False
