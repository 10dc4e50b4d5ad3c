"""Which lines two texts have in common, found with bounded work (CLAY-74, CLAY-31).

The matcher looks for the longest common part, and then on both sides of it. Between texts with many equal lines, or
with the same lines in another order, each look costs much and finds little: some kilobytes of a friend's would keep the
vault for minutes. So what is looked at is counted, and what is left when it is too much counts as changed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import Match, SequenceMatcher
from itertools import accumulate
from typing import TypeVar

__all__ = ["MOST_WORK", "LineMatcher"]

MOST_WORK = 10_000_000
"""Lines and pairs of equal lines that are looked at between two texts: a second or three."""

_Line = TypeVar("_Line")


class LineMatcher(SequenceMatcher[_Line]):
    """A `SequenceMatcher` of lines that ends early: the same lines give the same answer everywhere.

    Args:
        isjunk: as there.
        a: the lines of one text.
        b: those of the other.
        autojunk: as there: lines that are more than one in a hundred join others and begin nothing.

    Attributes:
        work: lines and pairs of equal lines that were looked at, at most `MOST_WORK`.
    """

    a: Sequence[_Line]
    b2j: dict[_Line, list[int]]  # where each line is in the other text, but for what is junk

    def __init__(
        self,
        isjunk: Callable[[_Line], bool] | None = None,
        a: Sequence[_Line] = (),
        b: Sequence[_Line] = (),
        autojunk: bool = True,
    ) -> None:
        super().__init__(isjunk, a, b, autojunk)
        self.work = 0
        costs = (1 + len(self.b2j.get(line, ())) for line in a)
        self._costs = list(accumulate(costs, initial=0))  # of the lines before each

    def find_longest_match(self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None) -> Match:
        """Return the longest common part of two ranges of lines; an empty one where to look would be too much."""
        end = len(self.a) if ahi is None else ahi
        cost = self._costs[end] - self._costs[alo]
        if self.work + cost > MOST_WORK:
            return Match(alo, blo, 0)
        self.work += cost
        return super().find_longest_match(alo, end, blo, bhi)
