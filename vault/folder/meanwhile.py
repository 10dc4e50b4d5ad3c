"""Files that somebody saved while an update was being written, or after it was cut off (APP-12, APP-13, LAZ-39).

The line moved, and the folder follows but for them: they keep what they hold, which was made of the old content. A
commit of them as they are would take back for everybody what the update brought. So they are merged when the update
is finished: with what the folder stood on as the base. What does not merge waits for a person who names the path, or
takes the other side; until then nothing commits the whole folder.

The note of the update is narrowed to them as soon as everything else is written, so that nothing else of it is done
twice.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from vault.commands import as_option, as_typed
from vault.desk_folders import desk_at, folder_of, mapped_folder, within
from vault.desks.diff import diff_trees
from vault.desks.edit import apply_changes
from vault.desks.memory import MemoryObjects
from vault.desks.ports import Objects
from vault.desks.tree import lookup
from vault.errors import CallerError, DataError, EnvironmentFault
from vault.folder.checked_out import noted_hash
from vault.folder.checkout_journal import noted_trees, plan_folder, plan_unfinished
from vault.folder.dir_cache import StoredDirCache
from vault.folder.held_rules import hold_on
from vault.notes.folders import LEFT_AS_SAVED
from vault.records import RecordHash
from vault.store.database import StoreDamaged

if TYPE_CHECKING:
    from vault.desks.choosing import Problem
    from vault.desks.pages import Entry
    from vault.vault import Vault
    from vault.watch import Watch

__all__ = [
    "SavedMeanwhile",
    "check_planned",
    "check_taken",
    "clashing",
    "foretold",
    "forget_left",
    "keep_command",
    "left_to_person",
    "merge_saved",
    "narrow",
    "not_named",
    "note_left",
    "path_as_typed",
    "saved_meanwhile",
    "take_named",
]


class SavedMeanwhile(CallerError):
    """Files that were saved while an update was being written do not merge with what it brought."""

    code = "saved-meanwhile"
    exit_code = 2
    hint = (
        "Keep yours, or what you made of both in the file: lace commit -m TEXT PATH - or take theirs: move the file"
        " away, and run the same command again."
    )


def saved_meanwhile(vault: Vault, desk: str) -> tuple[str, ...]:
    """Return the paths of which a commit of the whole folder would take back what an update brought."""
    trees = noted_trees(vault, desk)
    if trees is None:
        return ()
    row = vault.store.rows("SELECT tree FROM checkout WHERE desk = ?", desk)
    tree = noted_hash(row[0][0]) if row else None
    if tree is None:
        return ()
    # A checkout of another revision moves no line: what is edited then was made of what the line has.
    found = diff_trees(vault.store, *trees)
    return tuple(change.path for change in found if lookup(vault.store, tree, change.path) == change.after)


def keep_command(vault: Vault, desk: str, paths: Sequence[str]) -> str:
    """Return the command that commits these files by name, as it is typed where the person is.

    Args:
        vault: whose folder.
        desk: the desk.
        paths: in its folder; none of them for `PATH`.
    """
    here = vault.around.here or vault.folder
    where = "" if desk_at(vault, here) == desk else f" {as_option('--desk', desk)}"
    return as_typed(f"commit -m TEXT{where}", *([path_as_typed(vault, desk, path) for path in paths] or ["PATH"]))


def path_as_typed(vault: Vault, desk: str, path: str) -> str:
    """Return a path of a desk as it is typed where the person is."""
    return os.path.relpath(mapped_folder(vault, desk) / path, vault.around.here or vault.folder)


def clashing(vault: Vault, desk: str, watch: Watch) -> tuple[str, ...]:
    """Return the paths that `merge_saved` would leave to a person, for they do not merge; changes nothing."""
    saved = saved_meanwhile(vault, desk)
    return foretold(vault, desk, saved, MemoryObjects(fallback=vault.store), watch)[1]


def foretold(
    vault: Vault, desk: str, kept: Collection[str], overlay: MemoryObjects, watch: Watch
) -> tuple[dict[str, Entry | None], tuple[str, ...]]:
    """Return what `merge_saved` would make of files, and which of them it would leave to a person; changes nothing.

    Args:
        vault: whose folder.
        desk: the desk.
        kept: the files that a checkout leaves as they are.
        overlay: takes what is merged.
        watch: progress and cancel.
    """
    trees = noted_trees(vault, desk)
    saved = [path for path in saved_meanwhile(vault, desk) if path in kept]
    if trees is None or not saved:
        return {}, ()
    try:
        _, merged, left = _merge(vault, desk, trees, saved, overlay, watch)
        found = {path: lookup(overlay, merged, path) for path in saved if path not in left}
    except (CallerError, DataError, EnvironmentFault):  # as it cannot be merged then either
        return {}, tuple(saved)
    return found, tuple(path for path in saved if path in left)


def check_taken(vault: Vault, desk: str, paths: Sequence[str]) -> None:
    """Refuse a commit that would take back, without anybody saying so, what an update brought.

    Args:
        vault: whose folder.
        desk: the desk.
        paths: that the commit is about; none of them for the whole folder.

    Raises:
        SavedMeanwhile: it would.
    """
    if not paths or "" in paths:
        _refuse(vault, desk, saved_meanwhile(vault, desk))


def check_planned(vault: Vault, desk: str, watch: Watch, named: Collection[str] = ()) -> None:
    """Refuse what `check_taken` will refuse once a cut-off update is finished; changes nothing.

    Args:
        vault: whose folder.
        desk: the desk.
        watch: progress and cancel.
        named: paths that are committed by name before; what is below them too.

    Raises:
        SavedMeanwhile: a commit of the whole folder would take back what the update brought.
    """
    left = _left_if_finished(vault, desk, watch)
    _refuse(vault, desk, tuple(path for path in left if not _is_below(path, named)))


def _left_if_finished(vault: Vault, desk: str, watch: Watch) -> tuple[str, ...]:
    """Return the files that would wait for a person once a cut-off update is finished; changes nothing."""
    plan = plan_unfinished(vault, desk, watch)
    kept = {skip.path for skip in plan.skipped if skip.blocking} if plan is not None else set()
    return foretold(vault, desk, kept, MemoryObjects(fallback=vault.store), watch)[1]


def note_left(vault: Vault, desk: str, watch: Watch) -> None:
    """Note whether files that no command writes or merges are all that is left of an update; inside a transaction."""
    trees = noted_trees(vault, desk)
    merging = set(saved_meanwhile(vault, desk)).difference(clashing(vault, desk, watch))
    if trees is not None and not merging:
        vault.store.set_note(LEFT_AS_SAVED, trees[1], desk)
    else:
        forget_left(vault, desk)


def forget_left(vault: Vault, desk: str) -> None:
    """Take note, inside a transaction, that more than such files is to be written, or nothing."""
    if vault.store.has_note(LEFT_AS_SAVED, desk):
        vault.store.drop_note(LEFT_AS_SAVED, desk)


def left_to_person(vault: Vault, desk: str) -> tuple[str, ...]:
    """Return the files that an update left for a person, where it left nothing else; from stored state alone.

    None where what is noted of them rotted, which `fsck` names: whoever looks at all desks sees the others.
    """
    try:
        trees = noted_trees(vault, desk)
    except StoreDamaged:
        return ()
    if trees is None or vault.store.note(LEFT_AS_SAVED, desk) != trees[1]:
        return ()
    return tuple(change.path for change in diff_trees(vault.store, *trees))


def _refuse(vault: Vault, desk: str, taken: Sequence[str]) -> None:
    if taken:
        from vault.plural import FEW, few  # hardly any file is saved meanwhile

        named = taken if len(taken) <= FEW else ()
        way = SavedMeanwhile.hint.replace("lace commit -m TEXT PATH", keep_command(vault, desk, named))
        raise SavedMeanwhile(
            f"Saved while an update was being written, and not to be merged with what it brought: {few(taken)}. To"
            " commit the whole folder would take that back for everybody.",
            hint=way,
        )


def take_named(vault: Vault, desk: str, paths: Sequence[str]) -> None:
    """Forget what a commit took in: at and below `paths`, or all of it; inside a write.

    Raises:
        MissingObject, TreeError: a tree of the update that was cut off is not here, or is broken.
    """
    trees = noted_trees(vault, desk)
    if trees is None:
        return
    noted = (change.path for change in diff_trees(vault.store, *trees))
    whole = not paths or "" in paths
    narrow(vault, desk, () if whole else [path for path in noted if not _is_below(path, paths)])


def not_named(notices: Iterable[Problem], paths: Sequence[str]) -> tuple[Problem, ...]:
    """Return the notices of files other than those that a commit took in by name, at and below `paths`."""
    return tuple(one for one in notices if not _is_below(one.path, paths) and "" not in paths)


def _is_below(path: str, tops: Iterable[str]) -> bool:
    return any(f"{path}/".startswith(f"{top}/") for top in tops)


def narrow(vault: Vault, desk: str, kept: Sequence[str]) -> None:
    """Let the note of an update speak of these paths alone, or take it away; inside a transaction.

    It is written as an update from the new tree with the old content of these paths, so its form is the same.
    """
    store, trees = vault.store, noted_trees(vault, desk)
    if trees is None:
        return
    if not kept:
        store.run("DELETE FROM unfinished WHERE desk = ?", desk)
        forget_left(vault, desk)
        return
    before, after = trees
    old = {path: lookup(store, before, path) if before is not None else None for path in kept}
    pages = MemoryObjects()
    try:
        narrowed = apply_changes(Objects(store, pages, vault.group), after, old)
    except CallerError:  # the two trees have names there that cannot stand beside each other
        return
    if narrowed != before:
        store.add((page, page.encode()) for page in pages)
        store.settle(vault.node.text, vault.founding)
        store.run("UPDATE unfinished SET before = ? WHERE desk = ?", narrowed.text, desk)


def merge_saved(vault: Vault, desk: str, watch: Watch) -> tuple[str, ...]:
    """Merge into the files that were saved meanwhile what the update brought, where that can be done by itself.

    Inside a transaction, once everything else of the update is written.

    Returns:
        The paths that were merged; the note of the update speaks of the others alone.

    Raises:
        DiskFull, NotWritable: a file cannot be written; the next try goes on.
    """
    trees, saved = noted_trees(vault, desk), saved_meanwhile(vault, desk)
    if trees is None or not saved:
        return ()
    overlay = MemoryObjects(fallback=vault.store)
    try:
        mine, merged, left = _merge(vault, desk, trees, saved, overlay, watch)
        plan = plan_folder(vault, desk, mine, merged, overlay, watch)
        if plan.is_blocked:  # it was saved again just now
            return ()
        hold_on(vault, desk, plan, overlay, folder_of(vault, desk), within(vault, desk))
    except (CallerError, DataError, EnvironmentFault):  # a content that was let go, a folder that cannot be read
        return ()
    from vault.desks.checkout import apply_plan  # hardly any file is saved meanwhile

    cache = StoredDirCache(vault, desk)
    done = apply_plan(folder_of(vault, desk), plan, source=overlay, cache=cache, durable=True, progress=watch.travelled)
    cache.keep()
    left |= {skip.path for skip in done.skipped if skip.blocking}
    noted = [change.path for change in diff_trees(vault.store, *trees)]
    narrow(vault, desk, [path for path in noted if path not in saved or path in left])
    return tuple(path for path in saved if path not in left)


def _merge(
    vault: Vault,
    desk: str,
    trees: tuple[RecordHash | None, RecordHash],
    saved: Sequence[str],
    overlay: MemoryObjects,
    watch: Watch,
) -> tuple[RecordHash, RecordHash, set[str]]:
    """Return the tree of the update with those files as they are, the same with them merged, and what does not merge.

    The files that do not merge are in both as they are.
    """
    from vault.desks.merge import merge_trees, resolve_with  # hardly any file is saved meanwhile
    from vault.folder.looking import look

    before, after = trees
    cache = StoredDirCache(vault, desk)
    snap = look(vault, desk, after, overlay, cache, watch)
    here = {path: lookup(overlay, snap.root, path) for path in saved}
    left = {path for path, entry in here.items() if entry is None}  # another name, or a file, stands in its way
    held = {path: entry for path, entry in here.items() if entry is not None}
    mine = apply_changes(overlay.of(vault.group), after, held)
    outcome = merge_trees(overlay.of(vault.group), before, mine, after)
    clashes = {name for clash in outcome.conflicts for name in (clash.path, clash.twin) if name}
    left |= {path for path in saved if _is_below(path, clashes) or any(_is_below(name, [path]) for name in clashes)}
    merged = resolve_with(outcome, {clash.path: "ours" for clash in outcome.conflicts})
    return mine, merged, left
