"""One path as more than two sides have it, over the base that all of them have in common (LAZ-39, CLAY-76).

Two sides are shown as they are merged, one against the other. Of more, what a step of the merge shows depends on what
was chosen in the steps before, so the lines are numbered over the common base instead, and a choice names a side.
Where there is no such base, or one of the sides has no text there, nothing is offered by lines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from lazy.folder.merging import base_between, steps
from vault.desks.diff import MAX_TEXT_BYTES
from vault.desks.memory import MemoryObjects
from vault.desks.merge_text import can_merge
from vault.desks.pages import Entry
from vault.desks.path_conflict import PathConflict, PathConflictKind
from vault.desks.ports import Source
from vault.desks.sided import SidedRegion, sided_regions, take_sided
from vault.desks.tree import lookup, read_entry
from vault.records import RecordHash
from vault.revisions.graph import is_ancestor
from vault.revisions.history import commit_info
from vault.vault import Vault

__all__ = ["EVERY", "PAIR", "Sided", "head_with", "sided"]

EVERY = 0  # in place of the number of a region: all of them
PAIR = 2  # so many heads are shown one against the other
_BY_LINES = frozenset({PathConflictKind.CONTENT, PathConflictKind.ADD_ADD})


class Sided(NamedTuple):
    """A path that clashes between some of more than two heads.

    Args:
        heads: in the order they are merged.
        base: the text that they have in common; empty where the path was added.
        texts: the text of each head.
    """

    heads: tuple[RecordHash, ...]
    base: bytes
    texts: tuple[bytes, ...]

    @property
    def regions(self) -> tuple[SidedRegion, ...]:
        """All of it, in order."""
        return sided_regions(self.base, self.texts)

    def taken(self, path: str, chosen: Mapping[int, RecordHash | Literal["both", "mine"]]) -> bytes:
        """Return the text with a head's lines, or those of all that changed them, for each numbered region.

        `EVERY` in place of a number means what all of them did, everywhere: where the sides changed other lines, there
        is no region to choose for, though they clash one after the other.

        Raises:
            RegionUndecided: as `take_sided`.
        """
        if EVERY in chosen:
            numbers = [region.number for region in self.regions if region.number]
            return take_sided(path, self.base, self.texts, dict.fromkeys(numbers, "both"))
        places: dict[int, int | Literal["both"]] = {
            number: self.heads.index(one) if isinstance(one, RecordHash) else "both" for number, one in chosen.items()
        }
        return take_sided(path, self.base, self.texts, places)


def head_with(
    source: Source,
    vault: Vault,
    sides: Sequence[RecordHash],
    heads: Sequence[RecordHash],
    tree: RecordHash,
    path: str,
    side: RecordHash,
) -> RecordHash | None:
    """Return the head that has a path as a side has it, or went on from there; None where it went on from others too.

    Args:
        source: where trees are read.
        vault: whose graph it is.
        sides: all that is merged, be it below a head or not.
        heads: the newest of them.
        tree: stands for that of the first head.
        path: the path.
        side: one of the sides.
    """
    if side in heads:
        return side
    trees = (tree, *(commit_info(vault.store, head).tree for head in heads[1:]))
    made = _at(source, vault, side, path)
    above = [(head, root) for head, root in zip(heads, trees, strict=True) if is_ancestor(vault.store, side, head)]
    for head, root in above:
        below = (one for one in sides if one not in heads and is_ancestor(vault.store, one, head))
        if lookup(source, root, path) == made or all(_at(source, vault, one, path) == made for one in below):
            return head
    return None


def _at(source: Source, vault: Vault, commit: RecordHash, path: str) -> Entry | None:
    return lookup(source, commit_info(vault.store, commit).tree, path)


def sided(
    overlay: MemoryObjects, vault: Vault, order: Sequence[RecordHash], tree: RecordHash, also: Sequence[RecordHash] = ()
) -> dict[str, Sided]:
    """Return the clashing paths of more than two heads whose lines can be chosen, by path.

    Args:
        overlay: where trees are read; takes what only the merge needs.
        vault: whose graph it is.
        order: the heads as `in_order` gives them.
        tree: the first one's.
        also: further commits that the first one contains.

    Raises:
        LetGo, MissingObject, TreeError: a content is not here or broken.
    """
    if len(order) < 3:
        return {}
    clashes: dict[str, list[PathConflict]] = {}
    bases, done = [], [*also, order[0]]
    for step in steps(overlay.of(vault.group), vault, order, tree=tree, also=also):
        for clash in step.outcome.conflicts:
            clashes.setdefault(clash.path, []).append(clash)
        bases.append(base_between(overlay, vault, done, step.head))
        done.append(step.head)
    trees = [tree, *(commit_info(vault.store, head).tree for head in order[1:])]
    found: dict[str, Sided] = {}
    for path, of_path in clashes.items():
        named = next((clash for clash in of_path if clash.old), of_path[0])
        if any(clash.kind not in _BY_LINES or not clash.is_text for clash in of_path):
            continue
        before = [named.entry_in(overlay, base) if base is not None else None for base in bases]
        texts = _texts(overlay, before[0], [named.entry_in(overlay, each) for each in trees])
        if texts is not None and len({entry and entry.hash for entry in before}) == 1:
            found[path] = Sided(tuple(order), texts[0], tuple(texts[1:]))
    return found


def _texts(overlay: MemoryObjects, base: Entry | None, entries: Sequence[Entry | None]) -> list[bytes] | None:
    """Return the texts of a base and of the sides; None where one of them is no text, or deleted what was there."""
    if any(entry is None for entry in entries) and base is not None:
        return None
    both = [base, *entries]
    if any(entry is not None and (entry.kind != "f" or entry.size > MAX_TEXT_BYTES) for entry in both):
        return None
    texts = [read_entry(overlay, entry) if entry is not None else b"" for entry in both]
    return texts if can_merge(*texts) else None
