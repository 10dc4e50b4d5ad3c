"""Taking back a checkout of a whole folder: it is as it was before, on its line's last state or another (APP-4).

What was edited since where the folder goes back is kept as a state with a name; what was edited elsewhere stays.
"""

from __future__ import annotations

from typing import NamedTuple

from lazy.folder.had_again import mine_of, written_over
from lazy.folder.keeping import keep_found
from lazy.folder.last_act import UNDO, Act, Noted, NothingToUndo, Undone, refuse_overtaken
from lazy.folder.left_out import absent_now
from lazy.folder.moving import planned_follow
from lazy.folder.saving import commits_with
from lazy.folder.undo_path import BROUGHT, FOUND, as_before
from lazy.folder.written import as_written, follow
from vault.commands import as_typed
from vault.desks.diff import diff_trees
from vault.desks.edit import select_paths
from vault.desks.memory import MemoryObjects
from vault.folder.checked_out import Checkout, checkout_of
from vault.folder.finishing import is_cut
from vault.folder.held_rules import begin_look, end_look
from vault.folder.unfinished import finish_checkouts
from vault.folder.work import changes
from vault.records import RecordHash
from vault.revisions.history import commit_info
from vault.revisions.kept_states import falls_out
from vault.vault import Vault
from vault.watch import Watch

__all__ = ["undo_look"]


class _Since(NamedTuple):
    """What was edited after a checkout where the folder goes back.

    Args:
        now: the tree that it brought, with that.
        edited: the paths.
        lone: those of them that hold what no state has that can be brought back again.
        is_more: whether something else was edited too, which is in no way and stays.
    """

    now: RecordHash
    edited: tuple[str, ...]
    lone: tuple[str, ...]
    is_more: bool


def undo_look(vault: Vault, act: Act, dry_run: bool, watch: Watch, noted: Noted) -> Undone:
    """Bring a folder back to what it was before a checkout of all of it; what was edited since is kept by a name.

    Raises:
        NothingToUndo: the line went on, the state before is not all here, or something else was done meanwhile.
        FolderInTheWay, SavedMeanwhile: as `follow`.
    """
    desk = act.parameters["desk"]
    if not dry_run:
        finish_checkouts(vault, watch, desk)
    base = checkout_of(vault, desk)
    overlay = MemoryObjects(fallback=vault.store)
    before, brought = _states(vault, act, base)
    since = _since(vault, desk, before, brought, overlay, watch, is_dry=dry_run)
    done = Undone(as_before("", is_dry=dry_run, is_edited=since.is_more), desk, lone=since.lone)
    if dry_run:
        gone = falls_out(vault.store, desk, since.now) if since.lone else ""
        moves = planned_follow(vault, desk, since.now, before, overlay, watch, since.edited)
        done = done._replace(pushed_out=f"{desk}@{gone}" if gone else "")
        return done._replace(is_unfinished=is_cut(vault, desk, watch), **moves._asdict())
    absent = absent_now(vault)
    with vault.writing() as w:
        refuse_overtaken(vault, act, is_same=checkout_of(vault, desk) == base)
        told, now = {"verb": act.verb, "desk": desk, "path": ""}, brought
        if since.edited:
            found = keep_found(w, vault, desk, since.edited, watch, is_to_keep=bool(since.lone), on=brought)
            now = found.tree if found is not None else now
            if found is not None and found.state is not None:
                gone = found.pushed_out
                done = done._replace(kept_as=f"{desk}@{found.state.label}", pushed_out=f"{desk}@{gone}" if gone else "")
                told |= {"kept": found.state.label} | ({"pushed-out": gone} if gone else {})
        is_look = base is not None and before != base.tree
        if is_look:
            begin_look(w, desk, before)
        result = follow(w, vault, desk, now, before, watch)
        if not is_look:
            end_look(w, desk)
        w.audit(UNDO, act.subject, told)
        done = done._replace(written=tuple(result.written), deleted=tuple(result.deleted))
        noted(w, done)
    return as_written(vault, desk, done, absent)


def _since(
    vault: Vault,
    desk: str,
    before: RecordHash,
    brought: RecordHash,
    overlay: MemoryObjects,
    watch: Watch,
    *,
    is_dry: bool,
) -> _Since:
    """Return what was edited since where the trees before a checkout and by it differ; the rest is in no way."""
    tree = changes(vault, desk, watch, overlay=overlay, is_dry=is_dry).tree
    edited = tuple(diff_trees(overlay, brought, tree))
    items = written_over(vault, before, brought, edited)
    paths = tuple(item.path for item in items)
    now = select_paths(overlay.of(vault.group), brought, tree, paths) if paths else brought
    lone = tuple(item.path for item in mine_of(vault, before, desk, items))
    return _Since(now, paths, lone, len(edited) > len(items))


def _states(vault: Vault, act: Act, base: Checkout | None) -> tuple[RecordHash, RecordHash]:
    """Return the trees that the folder had before a checkout of it, and by it."""
    desk, found = act.parameters["desk"], act.parameters.get(FOUND)
    if base is None or base.commit.text != act.parameters["over"]:
        raise NothingToUndo(f"The folder of {desk} stands on another revision than before that checkout.")
    before = RecordHash.parse(found) if found else base.tree
    if before != base.tree and not (commits_with(vault, desk, before) and vault.store.is_closed(before)):
        back = as_typed("checkout", desk)
        raise NothingToUndo("What the folder held before that is not all here any more.", hint=f"Go to: {back}")
    if BROUGHT in act.parameters:
        return before, RecordHash.parse(act.parameters[BROUGHT])
    return before, commit_info(vault.store, RecordHash.parse(act.relates_to[0])).tree
