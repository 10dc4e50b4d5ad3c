"""What my folder says of a conflict: as it is edited it decides where I have a side (LAZ-42; docs/decisions.md 11)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from lazy.conflicts import NoSuchConflict, conflict_named
from lazy.contested import Conflict
from lazy.folder.merging import in_order, is_past, steps
from lazy.resolving.picks import MINE, Held, Picks, pick_side
from lazy.resolving.siding import PAIR
from vault.desks.memory import MemoryObjects
from vault.desks.path_conflict import PathConflict
from vault.desks.ports import Source
from vault.desks.tree import lookup
from vault.folder.checked_out import Checkout, checkout_of
from vault.folder.unfinished import finish_checkouts
from vault.names import SELF
from vault.records import RecordHash
from vault.revisions.graph import covered, is_ancestor, merge_bases, newest
from vault.revisions.history import commit_info
from vault.vault import Vault
from vault.watch import Watch

__all__ = ["finish_for", "held_of", "is_preferred", "left_to_folder", "preferred", "with_folder"]


def finish_for(vault: Vault, name: str, watch: Watch) -> None:
    """Go on with checkouts that were cut off before a conflict is decided; in `finish_checkouts` its desk is asked for.

    Raises:
        Locked, FolderGone, DiskFull, NotWritable, Unreadable, StoreUnwritable: as `finish_checkouts`.
    """
    desk: str | None = None
    with suppress(NoSuchConflict):  # decided already, as by a command that was cut off
        desk = conflict_named(vault, name).desk
    finish_checkouts(vault, watch, desk)


def left_to_folder(vault: Vault, conflict: Conflict, takes: Mapping[str, str], picks: Picks) -> list[str]:
    """Return the paths that are to be mine, which is what my folder holds: it is not committed yet."""
    base = checkout_of(vault, conflict.desk)
    if base is None:
        return []
    chosen = [path for path, commit in picks.paths.items() if commit == base.commit]
    return [path for path in chosen if _is_of_folder(vault, base, takes[path])]


def preferred(vault: Vault, conflict: Conflict, word: str) -> Picks:
    """Return the choice of one side of clashing heads for all that clashes; mine is what my folder holds.

    Raises:
        NoSuchSide: the word means none, or several.
    """
    chosen, base = pick_side(conflict, word).commit, checkout_of(vault, conflict.desk)
    is_mine = base is not None and chosen == base.commit and _is_of_folder(vault, base, word)
    return Picks(all=MINE if is_mine else chosen)


def _is_of_folder(vault: Vault, base: Checkout, word: str) -> bool:
    """Tell whether a word for the commit that my folder stands on means the folder: a friend's name is of theirs."""
    return word in {"local", SELF} or commit_info(vault.store, base.commit).signer == vault.node.text


def is_preferred(
    source: Source, vault: Vault, picks: Picks, trees: Mapping[RecordHash, RecordHash], clash: PathConflict
) -> bool:
    """Tell whether the side for all counts for a clash: where the conflict names it, and it is a side of it.

    What others went on from is nobody's choice: taken for a clash of theirs, it would bring back the old state.

    Args:
        source: where trees are read.
        vault: whose decision it is.
        picks: with that side, and what the conflict names.
        trees: as of `is_past`; with that side's.
        clash: of heads.
    """
    if not isinstance(picks.all, RecordHash):
        return False
    if picks.named is not None and picks.named.isdisjoint({clash.path, clash.twin}):
        return False
    return clash.has_two_names or not is_past(source, vault, picks.all, trees, clash)


def with_folder(
    source: Source,
    vault: Vault,
    conflict: Conflict,
    picks: Picks,
    tree: RecordHash | None,
    mine: Collection[str] = (),
) -> Picks:
    """Let `mine`, and clashing paths that nothing else is chosen for, be as in my folder, where it says how.

    What was committed meanwhile is my side where that is chosen for all, which counts for what the conflict names.
    """
    base = checkout_of(vault, conflict.desk)
    sides = conflict.to_merge
    line = base.commit if base else None
    if tree is None:
        return picks
    if picks.all is not None:
        clashes = _named(source, vault, sides, base, tree)
        named = clashes.keys() | {clash.twin for clash in clashes.values() if clash.twin}
        if line is None:
            return replace(picks, named=named)
        held = held_of(source, vault, sides, line, tree, clashes)
        is_own = picks.all == MINE
        return replace(picks, all=line if is_own else picks.all, is_own=is_own, named=named, held=held)
    paths = {**picks.paths, **dict.fromkeys(mine, line)} if line is not None else picks.paths
    clashes = _clashes(source, vault, in_order(vault, newest(vault.store, sides), line)[0])
    return replace(picks, paths=paths, own=frozenset(mine), held=held_of(source, vault, sides, line, tree, clashes))


def _named(
    source: Source, vault: Vault, sides: Sequence[RecordHash], base: Checkout | None, tree: RecordHash
) -> dict[str, PathConflict]:
    """Return the clashes that a person is shown: where a side is mine, it is as my folder has it now."""
    if base is None:
        return _clashes(source, vault, in_order(vault, newest(vault.store, sides), None)[0])
    mine = [base.commit] if any(is_ancestor(vault.store, side, base.commit) for side in sides) else []
    order, has_mine = in_order(vault, newest(vault.store, [*sides, *mine]), base.commit)
    also = base.also if has_mine else ()
    return _clashes(source, vault, order, tree if order[0] == base.commit else None, also)


def _clashes(
    source: Source,
    vault: Vault,
    order: Sequence[RecordHash],
    tree: RecordHash | None = None,
    also: Sequence[RecordHash] = (),
) -> dict[str, PathConflict]:
    """Return by path where heads clash first; `tree` and `also` as of `steps`."""
    overlay = MemoryObjects(fallback=source)
    clashes: dict[str, PathConflict] = {}
    for step in steps(overlay.of(vault.group), vault, order, tree=tree, also=also):
        for clash in step.outcome.conflicts:
            clashes.setdefault(clash.path, clash)
    return clashes


def held_of(
    source: Source,
    vault: Vault,
    sides: Sequence[RecordHash],
    mine: RecordHash | None,
    tree: RecordHash,
    clashes: Mapping[str, PathConflict],
) -> dict[str, Held]:
    """Return by its name in my folder what the sides clash on and my folder says how it shall be.

    It does where my line has one of the sides that clash there, or where I made of the path what it was not before:
    what I edited is then the decision, also where it would merge cleanly with one of the sides.

    Args:
        source: where trees are read.
        vault: whose decision it is.
        sides: commits of the conflict.
        mine: what my folder stands on.
        tree: my folder's tree.
        clashes: between the sides, by path.
    """
    order = newest(vault.store, sides)
    line = covered(vault.store, {side.text for side in sides}, {mine.text} if mine is not None else ())
    own = {side: commit_info(vault.store, side).tree for side in sides if side.text in line}
    others = {side: commit_info(vault.store, side).tree for side in order if side not in own}
    below = {one for side in order if mine is not None for one in merge_bases(vault.store, mine, side).commits}
    before = [commit_info(vault.store, one).tree for one in below]

    def is_mine(clash: PathConflict) -> bool:
        """Tell whether a side of mine is between which it is: of three sides it may be what another went on from."""
        if len(order) == PAIR or clash.has_two_names:
            return bool(own)
        return any(not is_past(source, vault, side, {side: root, **others}, clash) for side, root in own.items())

    def is_edited(clash: PathConflict) -> bool:
        """Tell whether it is otherwise than it was when the sides, or some of them, went on from my line."""
        base = clash.base and clash.base.named(clash.path.rpartition("/")[2])
        return clash.entry_in(source, tree) not in [base, *(clash.entry_in(source, one) for one in before)]

    found = [clash for clash in clashes.values() if is_mine(clash) or is_edited(clash)]
    names = {clash.path: clash.name_in(source, tree) for clash in found}
    return {name: Held(path, lookup(source, tree, name)) for path, name in names.items()}
