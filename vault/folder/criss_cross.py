"""The one base of several nearest common ancestors, where histories criss-cross (architecture, One folder; CLAY-73).

Choosing one of them would let a hash decide what is kept. They are merged into one virtual base instead, over what they
have in common in turn; a path on which they disagree has no base at all, so that a difference there is for a person.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from vault.desks.edit import apply_changes
from vault.desks.memory import MemoryObjects
from vault.desks.merge import merge_trees, resolve_with
from vault.records import RecordHash
from vault.revisions.graph import merge_bases, newest
from vault.revisions.history import commit_info
from vault.vault import Vault

__all__ = ["Made", "base_of"]

Made: TypeAlias = "dict[tuple[RecordHash, ...], RecordHash | None]"
"""Base trees by their commits, all in one `MemoryObjects`."""


def base_of(
    objects: MemoryObjects, vault: Vault, bases: Sequence[RecordHash], made: Made | None = None
) -> RecordHash | None:
    """Return the base tree for nearest common ancestors: theirs, or of several the virtual one; None for none.

    Args:
        objects: where a virtual base is made; it must read the store's trees too.
        vault: whose graph it is.
        bases: commits, none an ancestor of another.
        made: what was made in these objects before, and takes what is made now: of three lines that cross again and
            again, each lower base is asked for more than once by those above it.

    Raises:
        MissingObject, TreeError: a content that has to be merged is not here.
    """
    known: Made = {} if made is None else made
    waiting = [tuple(bases)]  # no recursion: who releases at once with a friend each day crosses a thousand times
    while waiting:
        key = waiting[-1]
        lower = _lower(vault, key) if key not in known else []
        lacking = [each for each in lower if each not in known]
        if not lacking:
            waiting.pop()
            if key not in known:
                known[key] = _made(objects, vault, key, [known[each] for each in lower])
        waiting += lacking
    return known[tuple(bases)]


def _lower(vault: Vault, bases: Sequence[RecordHash]) -> list[tuple[RecordHash, ...]]:
    """Return what each base but the first has in common with those before it: what it is merged over."""
    found = []
    for at, other in enumerate(bases[1:], 1):
        below = {base for known in bases[:at] for base in merge_bases(vault.store, known, other).commits}
        found.append(tuple(newest(vault.store, below)))
    return found


def _made(
    objects: MemoryObjects, vault: Vault, bases: Sequence[RecordHash], lower: Sequence[RecordHash | None]
) -> RecordHash | None:
    """Merge bases in turn, each over the tree of its lower ones."""
    if not bases:
        return None
    tree = commit_info(vault.store, bases[0]).tree
    for other, base in zip(bases[1:], lower, strict=True):
        outcome = merge_trees(objects.of(vault.group), base, tree, commit_info(vault.store, other).tree)
        if outcome.root is None:
            paths = [conflict.path for conflict in outcome.conflicts]
            agreed = resolve_with(outcome, dict.fromkeys(paths, "ours"))
            tree = apply_changes(objects.of(vault.group), agreed, dict.fromkeys(paths))
        else:
            tree = outcome.root
    return tree
