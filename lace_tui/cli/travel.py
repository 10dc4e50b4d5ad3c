"""Going back in time: the folder, or a copy elsewhere, as any revision has it; by command and in the app (CLAY-24)."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from lace_tui.cli.folder import counted
from lazy.address import ResolvedCommit
from lazy.update import FolderInTheWay, follow
from vault.desk_folders import folder_of, known_desk
from vault.desks.checkout import CheckoutResult, apply_plan
from vault.desks.edit import NoSuchPath, select_paths
from vault.desks.ports import MemoryObjects
from vault.desks.tree import lookup
from vault.errors import CallerError, EnvironmentFault
from vault.space import require_room
from vault.unfinished import StoredDirCache, plan_folder
from vault.vault import Vault
from vault.work import Watch, changes, checkout_of, export_tree

__all__ = ["CheckedOut", "FolderNotMade", "UncommittedChanges", "bring_back", "check_out", "copy_out"]


class UncommittedChanges(CallerError):
    """The folder holds changes that a checkout would put at risk."""

    code = "uncommitted-changes"
    hint = (
        "Commit them first: lace commit -m TEXT - or bring one file back: lace checkout DESK@CASE PATH - or write a"
        " copy elsewhere: lace checkout DESK@CASE --to DIR"
    )


class FolderNotMade(EnvironmentFault):
    """A folder for a copy cannot be made."""

    code = "folder-not-made"
    exit_code = 15
    hint = "Choose a folder that you may write."


class CheckedOut(NamedTuple):
    """The folder follows another revision now; `result` says which paths changed."""

    desk: str
    result: CheckoutResult


def check_out(vault: Vault, found: ResolvedCommit, watch: Watch = Watch()) -> CheckedOut:
    """Bring the folder to a revision; the line itself does not move, and nothing uncommitted is lost.

    Raises:
        UncommittedChanges: the folder holds changes, or nothing was ever committed.
        FolderInTheWay: a file that is not known stands in the way; nothing was changed.
    """
    desk = known_desk(vault, found.desk)
    base = checkout_of(vault, desk)
    if base is None:
        raise UncommittedChanges("Nothing was committed here yet.", hint="Take in what friends released: lace update")
    dirty = changes(vault, desk, watch)
    if dirty.items and dirty.tree != found.tree:  # what a cut-off checkout of it left is no change of mine
        raise UncommittedChanges(f"The folder holds changes that are not committed: {counted(dirty)}.")
    with vault.writing() as w:
        result = follow(w, vault, desk, base.tree, found.tree, watch)
        w.audit("lace-checkout", found.what, {"desk": desk}, relates_to=[found.commit.text])
    return CheckedOut(desk, result)


def bring_back(vault: Vault, found: ResolvedCommit, path: str, watch: Watch = Watch()) -> CheckedOut:
    """Write a file or sub-folder into the folder as a revision has it; a change that waits to be committed.

    Raises:
        NoSuchPath: the revision has nothing there.
        UncommittedChanges: something there holds changes; nothing was changed.
        FolderInTheWay: a file that is not known stands in the way; nothing was changed.
    """
    desk = known_desk(vault, found.desk)
    if lookup(vault.store, found.tree, path) is None:
        raise NoSuchPath(f"{found.what} has nothing at {path}.", hint=f"See what it has: lace read y {found.what}")
    overlay = MemoryObjects(fallback=vault.store, trees_only=True)
    dirty = changes(vault, desk, watch, overlay=overlay)
    mine = [item for item in dirty.items if item.kind != "deleted" and f"{item.path}/".startswith(f"{path}/")]
    tree = select_paths(overlay, overlay, vault.group, dirty.tree, found.tree, [path])
    if mine and tree != dirty.tree:
        raise UncommittedChanges(f"{path} holds changes that are not committed.", hint=f"Commit: lace commit {path}")
    folder = folder_of(vault, desk)
    with vault.writing() as w:
        plan = plan_folder(vault, desk, dirty.tree, tree, overlay, watch)
        blocking = ", ".join(f"{skip.path} ({skip.reason})" for skip in plan.skipped if skip.blocking)
        if blocking:
            raise FolderInTheWay(f"These files are in the way: {blocking}.")
        require_room(vault.around, folder, plan.bytes, "Writing the folder")
        cache = StoredDirCache(vault, desk)
        result = apply_plan(folder, plan, source=overlay, cache=cache, durable=True, progress=watch.progress)
        w.audit("lace-checkout", found.what, {"desk": desk, "path": path}, relates_to=[found.commit.text])
    return CheckedOut(desk, result)


def copy_out(vault: Vault, found: ResolvedCommit, to: Path, watch: Watch = Watch()) -> CheckoutResult:
    """Write a copy of a revision into another folder.

    Raises:
        FolderNotMade: the folder cannot be made.
        FolderInTheWay: it holds other files already; nothing was written.
    """
    try:
        result = export_tree(vault, found.tree, to, watch)
    except OSError as error:
        raise FolderNotMade(f"{to} cannot be made: {(error.strerror or str(error)).lower()}.") from error
    blocking = [skip for skip in result.skipped if skip.blocking]
    if blocking:
        shown = ", ".join(f"{skip.path} ({skip.reason})" for skip in blocking[:5])
        raise FolderInTheWay(f"{to} holds other files already, so nothing was written: {shown}.")
    return result
