"""Commits in chains: who asks of thousands what each contains reads their history once.

A chain is a row of commits, each of which contains the one before. So what a commit contains of one is how far it
reaches into it, and all that it contains is one number for each chain. Few chains hold a whole history: about as many
as there were lines beside each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from graphlib import TopologicalSorter
from typing import NamedTuple, TypeAlias

__all__ = ["Chains", "Reach", "chained"]

_MOST = 64  # chains: what each commit takes in memory is bounded by them

Reach: TypeAlias = "tuple[int, ...]"
"""How many commits of each chain one contains; of those that it does not name, none."""


class Chains(NamedTuple):
    """All commits below some heads, in chains.

    Args:
        place: of each commit its chain, and how many of it stand before it there.
        reach: of each commit what it contains, itself too.
        total: how many chains.
    """

    place: Mapping[str, tuple[int, int]]
    reach: Mapping[str, Reach]
    total: int


def chained(parents: Mapping[str, Sequence[str]]) -> Chains | None:
    """Return commits in chains; None where that would be more of them than are worth it.

    Args:
        parents: of each commit; all of them are keys too.
    """
    place: dict[str, tuple[int, int]] = {}
    reach: dict[str, Reach] = {}
    lengths: list[int] = []
    for commit in TopologicalSorter(parents).static_order():
        below = [reach[parent] for parent in parents[commit]]
        here = [max(each) for each in zip(*(_filled(one, len(lengths)) for one in below), strict=True)]
        chain = next((at for at, far in enumerate(here) if far and far == lengths[at]), len(lengths))
        if chain == len(lengths):
            if chain == _MOST:
                return None
            lengths.append(0)
        here = _filled(here, chain + 1)
        place[commit] = (chain, lengths[chain])
        lengths[chain] += 1
        here[chain] = lengths[chain]
        reach[commit] = tuple(here)
    return Chains(place, reach, len(lengths))


def _filled(reach: Sequence[int], count: int) -> list[int]:
    return [*reach, *(0 for _ in range(count - len(reach)))]
