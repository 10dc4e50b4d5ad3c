"""Decisions that disagree, and versions whose sides differ in just that (architecture, Deciding).

Two friends who merge one version each release what they made, mostly under the same new version. That is contested
then, and what its sides differ in is what the two decisions differ in: who decides it has decided both.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from operator import gt
from typing import TYPE_CHECKING

from lazy.contested import Conflict, Status
from vault.records import RecordHash
from vault.revisions.graph import all_parents, covered_by, is_ancestor
from vault.store import Store

if TYPE_CHECKING:
    from vault.revisions.chains import Chains

__all__ = ["is_between", "is_undecided", "nearest_first", "with_ended"]

_FEW = 16  # versions, each compared with each


def is_between(store: Store, results: Collection[RecordHash], sides: Sequence[RecordHash]) -> bool:
    """Tell whether the sides of a version have these decisions of another one, and no side has all of them (LAZ-42).

    Where one has all of them, somebody merged them before, and nobody was asked about what they differ in.

    Args:
        store: where they are.
        results: commits of the decisions, each of which stands on none of the others.
        sides: commits of the sides.
    """
    asked = {one.text for one in results}
    return _is_between(asked, covered_by(store, asked, [[side.text] for side in sides]))


def _is_between(results: Collection[str], held: Sequence[Collection[str]]) -> bool:
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
    waiting = [one for one in reversed(found) if is_undecided(one)]  # what ends others mostly has a higher number
    between = _Between(store, found, waiting)
    while waiting:
        for one in waiting:
            for other in nearest_first(one, [known[name] for name in between.of(one)]):
                if other.status is Status.PENDING:
                    continue
                if results := _above(store, one, other, mine[one.desk]):
                    known[one.id] = one._replace(status=Status.MERGED, results=results)
                    break
        left = [one for one in waiting if known[one.id].status is Status.PENDING]
        if len(left) == len(waiting):
            break
        waiting = left
    return list(known.values())


class _Between:
    """Which versions have sides that differ in the decisions on another one; each is worked out once.

    Args:
        store: where they are.
        found: all contested versions.
        waiting: those whose decisions will be asked about.
    """

    def __init__(self, store: Store, found: Sequence[Conflict], waiting: Sequence[Conflict]) -> None:
        self._store = store
        self._found = found
        self._known: dict[str, list[str]] = {}
        self._sides = [(one, side.commit.text) for one in found for side in one.sides]
        self._chains: Chains | None = None
        self._columns: list[list[int]] = []  # of each chain how far each side reaches into it
        if len(waiting) * len(found) > _FEW:
            self._chain(waiting)

    def _chain(self, waiting: Sequence[Conflict]) -> None:
        from vault.revisions.chains import chained  # decisions hardly ever disagree

        texts = [text for _, text in self._sides]
        results = {result.text for one in waiting for result in one.results}
        self._chains = chained(all_parents(self._store, results.union(texts)))
        if self._chains is not None:
            reach = (self._chains.reach[text] for text in texts)
            rows = (of + (0,) * (self._chains.total - len(of)) for of in reach)
            self._columns = [list(column) for column in zip(*rows, strict=True)]

    def of(self, one: Conflict) -> list[str]:
        """Return the ids of the versions of its desk whose sides differ in the decisions on one."""
        if one.id not in self._known:
            self._known[one.id] = self._found_of(one)
        return self._known[one.id]

    def _found_of(self, one: Conflict) -> list[str]:
        if self._chains is None:
            others = [other for other in self._found if other.desk == one.desk and other.id != one.id]
            return [other.id for other in others if is_between(self._store, one.results, _commits(other))]
        places = {result.text: self._chains.place[result.text] for result in one.results}
        far = [number for _, number in places.values()]
        columns = [self._columns[chain] for chain, _ in places.values()]
        # Of thousands of sides hardly any has some of the decisions and not all.
        some = [at for at, reach in enumerate(zip(*columns, strict=True)) if 0 < sum(map(gt, reach, far)) < len(far)]
        others = [self._sides[at][0] for at in some]
        found = {other.id: other for other in others if other.desk == one.desk and other.id != one.id}
        return [name for name, other in found.items() if _is_between(places, self._held(places, other))]

    def _held(self, places: Mapping[str, tuple[int, int]], other: Conflict) -> list[set[str]]:
        """Return which of some commits each side of a version has."""
        reach = [self._chains.reach[one.text] if self._chains else () for one in _commits(other)]
        return [
            {text for text, (chain, number) in places.items() if chain < len(of) and of[chain] > number} for of in reach
        ]


def _commits(conflict: Conflict) -> list[RecordHash]:
    return [side.commit for side in conflict.sides]


def nearest_first(one: Conflict, others: Collection[Conflict]) -> list[Conflict]:
    """Return the other versions of a desk, those above first: the next one is mostly what it is about."""
    at, of_desk = one.version, [(other.version, other) for other in others if other.desk == one.desk]
    ranked = [(version < at, version, other) for version, other in of_desk if at and version and version != at]
    return [other for *_, other in sorted(ranked, key=lambda each: each[:2])]


def _above(store: Store, one: Conflict, other: Conflict, mine: Collection[str]) -> tuple[RecordHash, ...]:
    """Return what was decided on another version and is mine, where each of it holds all decisions on this one."""
    here = tuple(result for result in other.results if result.text in mine)
    return here if all(is_ancestor(store, low, high) for high in here for low in one.results) else ()
