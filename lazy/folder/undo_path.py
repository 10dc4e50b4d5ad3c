"""Taking back a checkout of a path: what was there before it comes again (APP-4, CLAY-24)."""

from __future__ import annotations

from lazy.folder.last_act import UNDO, Act, Noted, NothingToUndo, Undone, refuse_overtaken
from lazy.folder.left_out import absent_now
from lazy.folder.moving import planned_moves
from lazy.folder.written import as_written, follow
from vault.commands import as_typed
from vault.desks.edit import select_paths
from vault.desks.memory import MemoryObjects
from vault.desks.paths import is_at_or_below
from vault.desks.tree import lookup
from vault.folder.meanwhile import keep_command, path_as_typed
from vault.folder.noted import is_unfinished
from vault.folder.unfinished import finish_checkouts
from vault.folder.work import changes, checkout_of
from vault.records import RecordHash
from vault.revisions.history import commit_info, revision_of
from vault.vault import Vault
from vault.watch import Watch

__all__ = ["as_before", "changed_since", "undo_path"]


def undo_path(vault: Vault, act: Act, dry_run: bool, watch: Watch, noted: Noted) -> Undone:
    """Bring a path back to what it was before a checkout of it, where the folder has it as that brought it.

    Raises:
        NothingToUndo: it was changed since, or something else was done meanwhile.
    """
    desk, path, over = (act.parameters[name] for name in ("desk", "path", "over"))
    if not dry_run:
        finish_checkouts(vault, watch, desk)
    base, brought = checkout_of(vault, desk), commit_info(vault.store, RecordHash.parse(act.relates_to[0])).tree
    overlay = MemoryObjects(fallback=vault.store)
    found = [item for item in changes(vault, desk, watch, is_dry=dry_run).items if is_at_or_below(item.path, [path])]
    if (
        base is None
        or base.commit.text != over
        or any(item.after != lookup(vault.store, brought, item.path) for item in found)
    ):
        number = revision_of(vault.store, vault.node.text, desk, RecordHash.parse(over))
        tree = base.tree if base is not None and base.commit.text == over else None
        raise changed_since(vault, desk, path, f"{desk}@{number.number if number else 'CASE'}", tree)
    done = Undone(as_before(path, is_dry=dry_run), desk)
    if dry_run:
        before = select_paths(overlay, overlay, vault.group, base.tree, brought, [path])
        moves = planned_moves(vault, desk, before, base.tree, overlay, watch)
        return done._replace(is_unfinished=is_unfinished(vault, desk), **moves._asdict())
    absent = absent_now(vault)
    with vault.writing() as w:
        refuse_overtaken(vault, act, is_same=checkout_of(vault, desk) == base)
        before = select_paths(vault.store, w, vault.group, base.tree, brought, [path])
        w.flush()
        result = follow(w, vault, desk, before, base.tree, watch)
        w.audit(UNDO, act.subject, {"verb": act.verb, "desk": desk, "path": path})
        done = done._replace(written=tuple(result.written), deleted=tuple(result.deleted))
        noted(w, done)
    return as_written(vault, desk, done, absent)


def changed_since(vault: Vault, desk: str, path: str, before: str, tree: RecordHash | None) -> NothingToUndo:
    """Return the refusal to take back what was brought to a path, by the revision before it and that one's tree."""
    if tree is not None and lookup(vault.store, tree, path) is None:
        way = f"Keep it: {keep_command(vault, desk, [path])} - or delete it, and commit that: nothing was there before."
    else:
        back = as_typed("checkout", before, path_as_typed(vault, desk, path), options="--keep-edits")
        way = f"Bring back what was before, with what was changed kept in a revision of its own: {back}"
    return NothingToUndo(f"{path} was changed since it was brought, and going back would lose that.", hint=way)


def as_before(path: str, *, is_dry: bool) -> str:
    """Return what an undo of a brought path comes to, as a sentence."""
    return f"{path} {'would be' if is_dry else 'is'} as it was before it was brought"
