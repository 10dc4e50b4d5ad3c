"""What is committed before somebody else's work comes in: my changes, never a look at an older state (LAZ-1, CLAY-24).

`lace checkout` brings a whole older state into the folder to be looked at. To commit that by itself would take back
all that came since, for everybody with the next release; so it waits for a word, also with a change of mine in it.
"""

from __future__ import annotations

from collections.abc import Collection

from vault.commands import as_typed
from vault.desks.diff import Change
from vault.desks.memory import MemoryObjects
from vault.desks.tree import lookup
from vault.errors import CallerError, DataError
from vault.folder.brought_paths import as_brought
from vault.folder.checked_out import checkout_of
from vault.folder.checkout_journal import is_unfinished
from vault.folder.held_rules import looked_at
from vault.folder.unnamed import refuse_unnamed
from vault.folder.work import Changes, Committed, changes, save_before
from vault.plural import few
from vault.records import RecordHash
from vault.revisions.graph import is_ancestor
from vault.revisions.history import commit_info
from vault.vault import Vault
from vault.watch import Watch
from vault.writer import Writer

__all__ = ["UncommittedChanges", "commits_with", "save_first", "unsaved"]


class UncommittedChanges(CallerError):
    """The folder holds changes that the command would put at risk."""

    code = "uncommitted-changes"
    hint = (
        "Commit them first: lace commit -m TEXT - or move a file away and have it back: lace checkout DESK@CASE PATH -"
        " or write a copy elsewhere: lace checkout DESK@CASE --to DIR"
    )


def commits_with(vault: Vault, desk: str, tree: RecordHash) -> list[RecordHash]:
    """Return the commits of my line and of visible releases whose content is exactly this, in no order."""
    found = vault.store.rows(
        "SELECT c.hash FROM commits c WHERE c.tree = ? AND c.desk = ? AND ("
        " EXISTS(SELECT 1 FROM rev r WHERE r.node = ? AND r.desk = c.desk AND r.commit_hash = c.hash)"
        " OR EXISTS(SELECT 1 FROM release r WHERE r.commit_hash = c.hash AND r.visible = 1))",
        tree.text,
        desk,
        vault.node.text,
    )
    return [RecordHash.parse(str(commit)) for (commit,) in found]


def save_first(
    w: Writer, vault: Vault, act: str, *, desk: str, watch: Watch, sides: Collection[RecordHash] = ()
) -> Committed | None:
    """Commit what changed in the folder, in a write whose `act` then brings in others' work; None when nothing did.

    Args:
        w: the write.
        vault: whose folder.
        act: what follows, for the message.
        desk: the desk.
        watch: progress and cancel.
        sides: commits that a person decides between: the folder may hold one of them as it is.

    Raises:
        UncommittedChanges: the folder is only looking at another state; the write is to end with this.
        SavedMeanwhile: files that were saved during an earlier update wait for a person.
    """
    base, looked = checkout_of(vault, desk), looked_at(vault, desk)  # which a commit of all forgets
    made = save_before(w, vault, act, desk=desk, watch=watch)
    if made is not None and base is not None:
        tree = commit_info(vault.store, made.commit).tree
        _refuse_look(vault, desk, base.commit, tree, looked, sides, made.items, made.commit)
    return made


def unsaved(
    vault: Vault, desk: str, watch: Watch, overlay: MemoryObjects, sides: Collection[RecordHash] = ()
) -> Changes:
    """Return what `save_first` would commit, from a look that changes nothing; `overlay` takes its trees and content.

    Raises:
        UncommittedChanges, SavedMeanwhile: as `save_first`.
    """
    dirty = changes(vault, desk, watch, overlay=overlay, is_dry=True)
    if is_unfinished(vault, desk):
        from vault.folder.meanwhile import check_planned  # hardly any file is saved meanwhile

        check_planned(vault, desk, watch)
    base = checkout_of(vault, desk)
    refuse_unnamed(vault, desk, base.tree if base else None, dirty.items, dirty.problems)
    if base is not None and dirty.items:
        _refuse_look(vault, desk, base.commit, dirty.tree, looked_at(vault, desk), sides, dirty.items)
    return dirty


def _refuse_look(
    vault: Vault,
    desk: str,
    mine: RecordHash,
    tree: RecordHash,
    looked: RecordHash | None,
    sides: Collection[RecordHash],
    items: Collection[Change],
    made: RecordHash | None = None,
) -> None:
    """Refuse to commit a state that people had already, unless it takes nothing back or is somebody's side.

    It takes nothing back where all of mine is below it; a side that is below mine is an older state as any other. What
    was brought path by path is no look at a state. A state that the folder looks at and that somebody went on in is one
    too, as far as nobody touched it.
    """
    back = as_typed("checkout", desk)
    if _takes_back(vault, desk, mine, tree, sides, items, made):
        raise UncommittedChanges(
            f"The folder of {desk} is exactly as an earlier revision or another release has it; to commit that by"
            " itself would take back what came since.",
            hint=f"Go back to your newest: {back} - or keep it as it is now: lace commit -m TEXT - then run"
            " the same command again; nothing was changed.",
        )
    untouched = _untouched(vault, looked, items) if looked not in {None, tree} else []
    if looked is not None and untouched and _takes_back(vault, desk, mine, looked, sides, untouched, made):
        others = [item.path for item in items if item not in untouched]
        but = f"but for {few(others)}" if others else "in part"
        raise UncommittedChanges(
            f"The folder of {desk} is as an earlier revision or another release has it, {but}; to commit that by itself"
            " would take back what came since.",
            hint="Keep all of it as it is now: lace commit -m TEXT - or move away what you changed, have back what that"
            f" was: lace checkout DESK@CASE PATH - go to your newest: {back} - and move it in again. Then run the"
            " same command again; nothing was changed.",
        )


def _takes_back(
    vault: Vault,
    desk: str,
    mine: RecordHash,
    tree: RecordHash,
    sides: Collection[RecordHash],
    items: Collection[Change],
    made: RecordHash | None,
) -> bool:
    found = [commit for commit in commits_with(vault, desk, tree) if commit != made]
    if not found or any(is_ancestor(vault.store, mine, commit) for commit in found):
        return False
    if any(commit in sides and not is_ancestor(vault.store, commit, mine) for commit in found):
        return False
    is_brought = as_brought(vault, desk)
    return not all(is_brought(item.path, item.after) for item in items)


def _untouched(vault: Vault, looked: RecordHash | None, items: Collection[Change]) -> list[Change]:
    """Return the changes of a folder that it has from the state that it looks at."""
    if looked is None:
        return []
    try:
        return [item for item in items if item.after == lookup(vault.store, looked, item.path)]
    except DataError:  # that state is not here any more
        return []
