"""Decisions that disagree, and versions whose sides differ in just that (architecture, Deciding).

Two friends who merge one version each release what they made, mostly under the same new version. That is contested
then, and what its sides differ in is what the two decisions differ in: who decides it has decided both.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from vault.records import RecordHash
from vault.revisions.graph import is_ancestor
from vault.store import Store

__all__ = ["holds_all", "is_between"]


def is_between(store: Store, results: Collection[RecordHash], sides: Sequence[RecordHash]) -> bool:
    """Tell whether the sides of a version have these decisions of another one, and no side has all of them (LAZ-42).

    Where one has all of them, somebody merged them before, and nobody was asked about what they differ in.

    Args:
        store: where they are.
        results: commits of the decisions, each of which stands on none of the others.
        sides: commits of the sides.
    """
    held = [{one for one in results if is_ancestor(store, one, side)} for side in sides]
    return set().union(*held) == set(results) and all(len(some) < len(results) for some in held)


def holds_all(store: Store, results: Collection[RecordHash], commits: Sequence[RecordHash]) -> bool:
    """Tell whether there are commits, and each of them contains all of these decisions."""
    return bool(commits) and all(is_ancestor(store, one, commit) for commit in commits for one in results)
