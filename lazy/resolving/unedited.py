"""What a merge would take as one side has it, since nobody edited it or chose for it (LAZ-42; docs/decisions.md 11)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lazy.conflicts import conflict_named
from lazy.contested import Conflict, ConflictKind
from lazy.folder.merging import in_order, steps
from lazy.people import label_of
from lazy.resolving.own_folder import finish_for, held_of, is_preferred, preferred, with_folder
from lazy.resolving.picks import Choices
from vault.desks.memory import MemoryObjects
from vault.desks.pages import Entry
from vault.desks.path_conflict import PathConflict
from vault.desks.tree import lookup
from vault.folder.checked_out import checkout_of
from vault.folder.work import changes
from vault.records import RecordHash
from vault.revisions.graph import newest
from vault.revisions.history import commit_info
from vault.vault import Vault
from vault.watch import Watch

__all__ = ["Unedited", "beside_preferred", "own_clashes", "unedited"]


class Unedited(NamedTuple):
    """A clashing path that stays as it is in the folder, which is as one side has it or as it was committed before.

    Args:
        path: relative to the desk.
        side: the word of that side; of what no side has, my name.
        is_local: whether it is mine.
        without: words of the sides whose work is not in it.
        is_unasked: whether it clashes with the sides as the folder has it alone, so that nobody was asked of it.
    """

    path: str
    side: str
    is_local: bool
    without: tuple[str, ...]
    is_unasked: bool = False


def unedited(vault: Vault, name: str, choices: Choices, *, watch: Watch = Watch()) -> tuple[Unedited, ...]:
    """Return what a merge would take as one side has it, or as I committed it before, though other sides clash there.

    It changes nothing, but it finishes a checkout that was cut off.

    Args:
        vault: whose decision it would be.
        name: the conflict.
        choices: what was chosen, path by path.
        watch: progress and cancel.

    Raises:
        NoSuchConflict: unknown, or resolved already.
        LetGo, MissingObject, TreeError: content is not here or broken.
    """
    finish_for(vault, name, watch)  # also where the decision was made already, by a command that was cut off
    conflict = conflict_named(vault, name)
    overlay = MemoryObjects(fallback=vault.store)
    folder = changes(vault, conflict.desk, watch, overlay=overlay).tree
    heads = newest(vault.store, conflict.to_merge)
    base = checkout_of(vault, conflict.desk)
    order, _ = in_order(vault, heads, base.commit if base else None)
    found = []
    clashes = [clash for step in steps(overlay.of(vault.group), vault, order) for clash in step.outcome.conflicts]
    clashing = {clash.path: clash for clash in reversed(clashes)}
    own = own_clashes(overlay, vault, conflict, heads, folder)
    held = held_of(overlay, vault, conflict.to_merge, base.commit if base else None, folder, clashing)
    mine = {one.path for one in held.values()}
    me = label_of(vault, vault.node.text)
    for path in sorted(clashing.keys() | own.keys()):
        clash = clashing.get(path)
        if _is_chosen(choices, path) or (clash and not choices.takes.keys().isdisjoint({clash.twin, clash.old})):
            continue
        if clash is None:
            found.append(Unedited(path, me, is_local=True, without=own[path][1], is_unasked=True))
            continue
        entry = clash.entry_in(overlay, folder)
        same = [
            side for side in conflict.sides if _has(overlay, commit_info(vault.store, side.commit).tree, clash, entry)
        ]
        others = tuple(side.word for side in conflict.sides if side not in same)
        if same and others:
            side = next((side for side in same if side.is_local), same[0])
            found.append(Unedited(path, side.word, side.is_local, others))
        elif not same and base is not None and path in mine and entry == clash.entry_in(overlay, base.tree):
            without = tuple(side.word for side in conflict.sides if not side.is_local)
            found.append(Unedited(path, me, is_local=True, without=without))
    return tuple(found)


def beside_preferred(vault: Vault, name: str, side: str, *, watch: Watch = Watch()) -> tuple[Unedited, ...]:
    """Return what keeping one side of clashing heads would leave as my folder has it, though others clash with it.

    That side counts for what the conflict names and it changed. Of one version it counts as it was released, and what
    my folder holds beside it is merged or asked about. It changes nothing, but it finishes a checkout that was cut off.

    Args:
        vault: whose decision it would be.
        name: the conflict.
        side: the word of the side.
        watch: progress and cancel.

    Raises:
        NoSuchConflict: unknown, or resolved already.
        NoSuchSide: the word means none, or several.
        LetGo, MissingObject, TreeError: content is not here or broken.
    """
    finish_for(vault, name, watch)
    conflict = conflict_named(vault, name)
    base = checkout_of(vault, conflict.desk)
    if conflict.kind is ConflictKind.VERSION or base is None:
        return ()
    overlay = MemoryObjects(fallback=vault.store)
    folder = changes(vault, conflict.desk, watch, overlay=overlay).tree
    heads = newest(vault.store, conflict.to_merge)
    own = own_clashes(overlay, vault, conflict, heads, folder)
    if not own:
        return ()
    picks = with_folder(overlay, vault, conflict, preferred(vault, conflict, side), folder)
    known = [head for head in (picks.all, *heads) if isinstance(head, RecordHash)]  # the side may lie below a head
    trees = {head: commit_info(vault.store, head).tree for head in known}
    if picks.is_own or picks.all != base.commit:
        trees[base.commit] = folder
    me = label_of(vault, vault.node.text)
    left = {
        path: words for path, (clash, words) in own.items() if not is_preferred(overlay, vault, picks, trees, clash)
    }
    return tuple(Unedited(path, me, is_local=True, without=words) for path, words in sorted(left.items()))


def _is_chosen(choices: Choices, path: str) -> bool:
    return path in choices.takes or path in choices.regions or choices.edited(path) is not None


def _has(overlay: MemoryObjects, tree: RecordHash, clash: PathConflict, entry: Entry | None) -> bool:
    """Tell whether a side has just this, by one name or the other; of what is gone by the path of the clash alone."""
    here = clash.entry_in(overlay, tree)
    if entry is None or here == entry:
        return here == entry
    twin = lookup(overlay, tree, clash.twin) if clash.twin else None
    return twin is not None and twin.named(entry.name) == entry


def own_clashes(
    overlay: MemoryObjects, vault: Vault, conflict: Conflict, heads: Sequence[RecordHash], folder: RecordHash
) -> dict[str, tuple[PathConflict, tuple[str, ...]]]:
    """Return by path how what I made beside the sides clashes with some of them, and the words of those.

    Nothing asked of them: the sides may agree there, and of what is not committed nobody was told that it clashes, such
    as of a folder that somebody joined with. What was edited of a path that clashes as it is committed is a decision.

    Args:
        overlay: where trees are read and written.
        vault: whose folder.
        conflict: that is decided.
        heads: the newest of what it merges.
        folder: the tree of what the folder holds.

    Raises:
        LetGo, MissingObject, TreeError: content is not here or broken.
    """
    base = checkout_of(vault, conflict.desk)
    together = newest(vault.store, [*heads, *([base.commit] if base is not None else [])])
    if base is not None and base.commit not in together and folder == base.tree:
        return {}
    mine, also = ([base.commit], base.also) if base is not None else ([], ())
    order = [*mine, *in_order(vault, [head for head in together if head not in mine], mine[0] if mine else None)[0]]
    theirs = {side.word: commit_info(vault.store, side.commit).tree for side in conflict.sides if not side.is_local}
    before = () if base is None or folder == base.tree else steps(overlay.of(vault.group), vault, order, also=also)
    known = {name for step in before for clash in step.outcome.conflicts for name in (clash.path, clash.old) if name}
    found: dict[str, tuple[PathConflict, tuple[str, ...]]] = {}
    for step in steps(overlay.of(vault.group), vault, order, tree=folder, also=also, is_first=base is None):
        for clash in step.outcome.conflicts:
            here = clash.entry_in(overlay, folder)
            is_told = not known.isdisjoint({clash.path, clash.old})
            is_decided = base is not None and is_told and clash.entry_in(overlay, base.tree) != here
            if clash.ours == here and not is_decided:
                words = (word for word, tree in theirs.items() if clash.entry_in(overlay, tree) == clash.theirs)
                found.setdefault(clash.path, (clash, tuple(words) or tuple(theirs)))
    return found
