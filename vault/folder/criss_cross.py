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
            again, each lower base is asked for twice by the one above it.

    Raises:
        MissingObject, TreeError: a content that has to be merged is not here.
    """
    known: Made = {} if made is None else made
    key = tuple(bases)
    if key not in known:
        known[key] = _made(objects, vault, bases, known)
    return known[key]


def _made(objects: MemoryObjects, vault: Vault, bases: Sequence[RecordHash], made: Made) -> RecordHash | None:
    if not bases:
        return None
    tree = commit_info(vault.store, bases[0]).tree
    done = [bases[0]]
    for other in bases[1:]:
        below = {base for known in done for base in merge_bases(vault.store, known, other).commits}
        lower = base_of(objects, vault, newest(vault.store, below), made)
        outcome = merge_trees(objects.of(vault.group), lower, tree, commit_info(vault.store, other).tree)
        if outcome.root is None:
            paths = [conflict.path for conflict in outcome.conflicts]
            agreed = resolve_with(outcome, dict.fromkeys(paths, "ours"))
            tree = apply_changes(objects.of(vault.group), agreed, dict.fromkeys(paths))
        else:
            tree = outcome.root
        done.append(other)
    return tree
