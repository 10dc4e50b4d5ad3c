"""Which lines two texts have in common, found with bounded work (CLAY-74, CLAY-31).

The matcher looks for the longest common part, and then on both sides of it. Between texts with many equal lines, or
with the same lines in another order, each look costs much and finds little: some kilobytes of a friend's would keep the
vault for minutes. So what is looked at is counted, and what is left when it is too much counts as changed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import Match, SequenceMatcher
from itertools import accumulate
from typing import Literal, TypeVar

__all__ = ["MOST_WORK", "EndMatcher", "LineMatcher"]

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
        autojunk: bool = True,  # noqa: FBT002 - as difflib has it
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


class EndMatcher(LineMatcher[_Line]):
    """The same, with what both texts begin and end with laid beside each other first.

    The matcher begins nothing at a line that stands often: of a text of such lines alone, all would count as changed.

    Args:
        a: the lines of one text.
        b: those of the other.
        least: lines of that from which on it is so; whatever is shorter is compared in whole.
    """

    def __init__(self, a: Sequence[_Line], b: Sequence[_Line], least: int = 0) -> None:
        self._head = _common(a, b) if len(b) >= least else 0
        self._tail = _common(a[self._head :][::-1], b[self._head :][::-1]) if len(b) >= least else 0
        self._ends = len(a), len(b)
        super().__init__(None, a[self._head : len(a) - self._tail], b[self._head : len(b) - self._tail])

    def get_opcodes(self) -> list[tuple[Literal["replace", "delete", "insert", "equal"], int, int, int, int]]:
        """Return the steps from one whole text to the other, as there."""
        head, tail, (a, b) = self._head, self._tail, self._ends
        found = [(kind, head + i, head + j, head + k, head + m) for kind, i, j, k, m in super().get_opcodes()]
        if head:
            found.insert(0, ("equal", 0, head, 0, head))
        if tail:
            found.append(("equal", a - tail, a, b - tail, b))
        return found


def _common(a: Sequence[_Line], b: Sequence[_Line]) -> int:
    """Return how many lines two texts begin with that are the same."""
    pairs = zip(a, b, strict=False)
    return next((at for at, (one, other) in enumerate(pairs) if one != other), min(len(a), len(b)))
