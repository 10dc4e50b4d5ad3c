"""Taking back a checkout of a whole folder: it is as it was before, on its line's last state or another (APP-4)."""

from __future__ import annotations

from lazy.folder.last_act import UNDO, Act, Noted, NothingToUndo, Undone, refuse_overtaken
from lazy.folder.left_out import absent_now
from lazy.folder.moving import planned_follow
from lazy.folder.saving import UncommittedChanges, commits_with
from lazy.folder.undo_path import BROUGHT, FOUND, as_before
from lazy.folder.written import as_written, follow
from vault.commands import as_typed
from vault.desks.memory import MemoryObjects
from vault.folder.finishing import is_cut
from vault.folder.held_rules import begin_look, end_look
from vault.folder.unfinished import finish_checkouts
from vault.folder.work import Checkout, changes, checkout_of
from vault.records import RecordHash
from vault.revisions.history import commit_info
from vault.vault import Vault
from vault.watch import Watch

__all__ = ["undo_look"]


def undo_look(vault: Vault, act: Act, dry_run: bool, watch: Watch, noted: Noted) -> Undone:
    """Bring a folder back to what it was before a checkout of all of it.

    Raises:
        NothingToUndo: files were changed since, the line went on, or the state before is not all here any more.
    """
    desk = act.parameters["desk"]
    if not dry_run:
        finish_checkouts(vault, watch, desk)
    base = checkout_of(vault, desk)
    overlay = MemoryObjects(fallback=vault.store, trees_only=True)
    before, brought = _states(vault, act, base)
    if changes(vault, desk, watch, overlay=overlay, is_dry=dry_run).tree != brought:
        hint = UncommittedChanges.hint
        raise NothingToUndo("Files were changed since, and going back would lose that.", hint=hint)
    done = Undone(as_before("", is_dry=dry_run), desk)
    if dry_run:
        moves = planned_follow(vault, desk, brought, before, overlay, watch)
        return done._replace(is_unfinished=is_cut(vault, desk, watch), **moves._asdict())
    absent = absent_now(vault)
    with vault.writing() as w:
        refuse_overtaken(vault, act, is_same=checkout_of(vault, desk) == base)
        is_look = base is not None and before != base.tree
        if is_look:
            begin_look(w, desk, before)
        result = follow(w, vault, desk, brought, before, watch)
        if not is_look:
            end_look(w, desk)
        w.audit(UNDO, act.subject, {"verb": act.verb, "desk": desk, "path": ""})
        done = done._replace(written=tuple(result.written), deleted=tuple(result.deleted))
        noted(w, done)
    return as_written(vault, desk, done, absent)


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
