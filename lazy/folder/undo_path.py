"""Taking back a checkout of a path: what was there before it comes again (APP-4, CLAY-24).

What was edited there since is kept as a state with a name, and so is what the checkout wrote over: an undo goes back
act by act, and no text is lost on the way as long as its state is kept.
"""

from __future__ import annotations

from typing import NamedTuple

from lazy.folder.had_again import mine_of
from lazy.folder.keeping import keep_found
from lazy.folder.last_act import UNDO, Act, Noted, NothingToUndo, Undone, refuse_overtaken
from lazy.folder.left_out import absent_now
from lazy.folder.moving import planned_follow
from lazy.folder.written import as_written, follow
from vault.commands import as_typed
from vault.desks.diff import Change
from vault.desks.edit import select_paths
from vault.desks.memory import MemoryObjects
from vault.desks.paths import is_at_or_below
from vault.desks.ports import Objects
from vault.desks.tree import lookup
from vault.folder.checked_out import Checkout, checkout_of
from vault.folder.finishing import is_cut
from vault.folder.meanwhile import keep_command, path_as_typed
from vault.folder.unfinished import finish_checkouts
from vault.folder.work import changes
from vault.notes.revisions import MOST_KEPT
from vault.records import RecordHash
from vault.revisions.history import commit_info, revision_of
from vault.revisions.kept_states import falls_out, kept_states
from vault.vault import Vault
from vault.watch import Watch

__all__ = ["BROUGHT", "BUT_EDITED", "FOUND", "as_before", "undo_path"]

FOUND = "found"
"""Parameter of a checkout's entry: the tree of the state that it wrote over, where that was not as the line has it."""
BROUGHT = "brought"
"""Parameter of it: the tree that a path came from, where that is not the one of the commit that is named."""
BUT_EDITED = ", but for what was edited since"
"""What is said beside that all is as it was, where something stays."""


class _Way(NamedTuple):
    """What a path holds, and what it goes back to.

    Args:
        before: the tree of what the folder stands on, with what the path held before.
        brought: the tree that it was brought from.
        items: what the folder has otherwise than it stands on, at the path.
        tree: of the folder as it was found, with all that is edited in it.
        is_edited: whether the path is not as it was brought, nor as the folder stands on it.
    """

    before: RecordHash
    brought: RecordHash
    items: tuple[Change, ...]
    tree: RecordHash
    is_edited: bool


def undo_path(vault: Vault, act: Act, dry_run: bool, watch: Watch, noted: Noted) -> Undone:
    """Bring a path back to what it was before a checkout of it; what was edited there since is kept by a name.

    Raises:
        NothingToUndo: the line went on since, what was there is kept no more, or something else was done meanwhile.
    """
    desk, path = act.parameters["desk"], act.parameters["path"]
    if not dry_run:
        finish_checkouts(vault, watch, desk)
    base = checkout_of(vault, desk)
    if base is None or base.commit.text != act.parameters["over"]:
        raise _gone_on(vault, act)
    overlay = MemoryObjects(fallback=vault.store)
    way = _way(vault, act, base, overlay, watch, is_dry=dry_run)
    edits = tuple(one.path for one in mine_of(vault, way.before, desk, way.items if way.is_edited else ()))
    done = Undone(as_before(path, is_dry=dry_run), desk, lone=edits)
    if dry_run:
        now = select_paths(overlay.of(vault.group), base.tree, way.tree, [path]) if way.items else base.tree
        gone = falls_out(vault.store, desk, now) if edits else ""
        done = done._replace(pushed_out=f"{desk}@{gone}" if gone else "")
        moves = planned_follow(vault, desk, now, way.before, overlay, watch, edits)
        return done._replace(is_unfinished=is_cut(vault, desk, watch), **moves._asdict())
    absent = absent_now(vault)
    with vault.writing() as w:
        refuse_overtaken(vault, act, is_same=checkout_of(vault, desk) == base)
        told = {"verb": act.verb, "desk": desk, "path": path}
        now = base.tree
        if way.is_edited:
            found = keep_found(w, vault, desk, [path], watch, is_to_keep=bool(edits))
            now = found.tree if found is not None else now
            if found is not None and found.state is not None:
                gone = found.pushed_out
                done = done._replace(kept_as=f"{desk}@{found.state.label}", pushed_out=f"{desk}@{gone}" if gone else "")
                told |= {"kept": found.state.label} | ({"pushed-out": gone} if gone else {})
        elif way.items:
            now = select_paths(Objects(vault.store, w, vault.group), base.tree, way.brought, [path])
        w.flush()
        result = follow(w, vault, desk, now, way.before, watch)
        w.audit(UNDO, act.subject, told)
        done = done._replace(written=tuple(result.written), deleted=tuple(result.deleted))
        noted(w, done)
    return as_written(vault, desk, done, absent)


def _way(vault: Vault, act: Act, base: Checkout, overlay: MemoryObjects, watch: Watch, *, is_dry: bool) -> _Way:
    """Return what a path holds now and held before a checkout of it.

    Raises:
        NothingToUndo: what was there before is kept no more.
    """
    desk, path = act.parameters["desk"], act.parameters["path"]
    before = RecordHash.parse(act.parameters[FOUND]) if FOUND in act.parameters else base.tree
    named = {state.tree for state in kept_states(vault.store, desk)}
    if before != base.tree and before not in named:
        raise _kept_no_more(vault, desk, path, base)
    brought = act.parameters.get(BROUGHT)
    tree = RecordHash.parse(brought) if brought else commit_info(vault.store, RecordHash.parse(act.relates_to[0])).tree
    dirty = changes(vault, desk, watch, overlay=overlay, is_dry=is_dry)
    items = tuple(item for item in dirty.items if is_at_or_below(item.path, [path]))
    are_brought = all(item.after == lookup(overlay, tree, item.path) for item in items)
    if before != base.tree:  # what is as the line has it again there is not as it was brought
        are_brought = not items or lookup(overlay, dirty.tree, path) == lookup(overlay, tree, path)
    return _Way(before, tree, items, dirty.tree, not are_brought)


def _gone_on(vault: Vault, act: Act) -> NothingToUndo:
    """Return the refusal to take back what was brought over a revision that the folder does not stand on any more."""
    desk, path, over = (act.parameters[name] for name in ("desk", "path", "over"))
    number = revision_of(vault.store, vault.node.text, desk, RecordHash.parse(over))
    said = f"The folder of {desk} stands on another revision than the one over which {path} was brought."
    if number is None:
        return NothingToUndo(said)
    return NothingToUndo(said, hint=_back(vault, desk, path, number.number))


def _kept_no_more(vault: Vault, desk: str, path: str, base: Checkout) -> NothingToUndo:
    """Return the refusal to go back to what a prune let go of, or what newer states pushed out."""
    said = f"What {path} held before it was brought is kept no more: the last {MOST_KEPT} states are, until a prune."
    number = revision_of(vault.store, vault.node.text, desk, base.commit)
    if number is None or lookup(vault.store, base.tree, path) is None:
        return NothingToUndo(said, hint=f"Keep what is there: {keep_command(vault, desk, [path])}")
    return NothingToUndo(said, hint=_back(vault, desk, path, number.number))


def _back(vault: Vault, desk: str, path: str, number: int) -> str:
    back = as_typed("checkout", f"{desk}@{number}", path_as_typed(vault, desk, path), options="--keep-edits")
    return f"Bring back what the line has there, with what was edited kept in a revision of its own: {back}"


def as_before(path: str, *, is_dry: bool, is_edited: bool = False) -> str:
    """Return what an undo of a checkout comes to, as a sentence; an empty path is the folder.

    Args:
        path: what was brought.
        is_dry: whether it is only looked at.
        is_edited: whether something that was edited since stays as it is.
    """
    be, but = "would be" if is_dry else "is", BUT_EDITED if is_edited else ""
    if path:
        return f"{path} {be} as it was before it was brought{but}"
    return f"The folder {be} as it was before that checkout{but}"
