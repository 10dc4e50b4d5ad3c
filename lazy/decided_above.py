"""Decisions that disagree, and versions whose sides differ in just that (architecture, Deciding).

Two friends who merge one version each release what they made, mostly under the same new version. That is contested
then, and what its sides differ in is what the two decisions differ in: who decides it has decided both.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from lazy.contested import Conflict, Status
from vault.records import RecordHash
from vault.revisions.graph import is_ancestor
from vault.store import Store

__all__ = ["is_between", "is_undecided", "nearest_first", "with_ended"]


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


def is_undecided(conflict: Conflict) -> bool:
    """Tell whether decisions on a version count here and disagree, and nothing else is proposed."""
    return conflict.status is Status.PENDING and not conflict.proposals and bool(conflict.results)


def with_ended(store: Store, found: Sequence[Conflict], mine: Mapping[str, Collection[str]]) -> list[Conflict]:
    """Return contested versions; one whose decisions disagree ends with a version that was decided between them.

    What was decided there is its result then. One that ends may end others below it in turn.

    Args:
        store: where they are.
        found: all contested versions, each as if no other one said anything of it.
        mine: of each desk, hash texts of the commits that my folder has.
    """
    known = {one.id: one for one in found}
    apart: set[tuple[str, str]] = set()  # a version, and one whose sides differ in something else
    waiting = [one for one in reversed(found) if is_undecided(one)]  # what ends others mostly has a higher number
    while waiting:
        for one in waiting:
            for other in nearest_first(one, known.values()):
                if other.status is Status.PENDING or (one.id, other.id) in apart:
                    continue
                if not is_between(store, one.results, [side.commit for side in other.sides]):
                    apart.add((one.id, other.id))
                elif results := _above(store, one, other, mine[one.desk]):
                    known[one.id] = one._replace(status=Status.MERGED, results=results)
                    break
        left = [one for one in waiting if known[one.id].status is Status.PENDING]
        if len(left) == len(waiting):
            break
        waiting = left
    return list(known.values())


def nearest_first(one: Conflict, others: Collection[Conflict]) -> list[Conflict]:
    """Return the other versions of a desk, those above first: the next one is mostly what it is about."""
    at, of_desk = one.version, [(other.version, other) for other in others if other.desk == one.desk]
    ranked = [(version < at, version, other) for version, other in of_desk if at and version and version != at]
    return [other for *_, other in sorted(ranked, key=lambda each: each[:2])]


def _above(store: Store, one: Conflict, other: Conflict, mine: Collection[str]) -> tuple[RecordHash, ...]:
    """Return what was decided on another version and is mine, where each of it holds all decisions on this one."""
    here = tuple(result for result in other.results if result.text in mine)
    return here if all(is_ancestor(store, low, high) for high in here for low in one.results) else ()
