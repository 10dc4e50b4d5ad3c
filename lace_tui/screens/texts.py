"""The rows of a long text, made when they are looked at, so that it costs what a screenful costs (APP-3, APP-4)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import Generic, TypeVar, overload

from textual.content import Content as Row

__all__ = ["Joined", "Made", "Unrolled"]

_Entry = TypeVar("_Entry")


class _Rows(Sequence[Row]):
    """Rows that are made one by one."""

    def row(self, number: int) -> Row:
        """Return a row, from 0."""
        raise NotImplementedError

    @overload
    def __getitem__(self, at: int) -> Row: ...
    @overload
    def __getitem__(self, at: slice) -> list[Row]: ...
    def __getitem__(self, at: int | slice) -> Row | list[Row]:
        if isinstance(at, slice):
            return [self.row(number) for number in range(*at.indices(len(self)))]
        if not -len(self) <= at < len(self):
            raise IndexError(at)
        return self.row(at % len(self))


class Made(_Rows):
    """So many rows, each made by a function.

    Args:
        count: how many.
        make: returns one, by its number from 0.
    """

    def __init__(self, count: int, make: Callable[[int], Row]) -> None:
        self._count, self._make = count, make

    def __len__(self) -> int:
        return self._count

    def row(self, number: int) -> Row:
        """Return a row, from 0."""
        return self._make(number)


class Unrolled(_Rows, Generic[_Entry]):
    """Entries such as the lines of a text, each in as many rows as it takes.

    Args:
        entries: them.
        counts: how many rows each of them takes, at least one.
        fold: returns the rows of an entry, by its number from 1; rows that it takes beyond those are empty.
    """

    def __init__(
        self, entries: Sequence[_Entry], counts: Iterable[int], fold: Callable[[int, _Entry], Sequence[Row]]
    ) -> None:
        self._entries, self._fold = entries, fold
        self._ends = list(accumulate(counts))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def row(self, number: int) -> Row:
        """Return a row, from 0."""
        at = bisect_right(self._ends, number)
        rows = self._fold(at + 1, self._entries[at])
        below = number - (self._ends[at - 1] if at else 0)
        return rows[below] if below < len(rows) else Row("")


class Joined(_Rows):
    """Rows of several sources, one below the other.

    Args:
        parts: the sources.
    """

    def __init__(self, *parts: Sequence[Row]) -> None:
        self._parts = [part for part in parts if part]
        self._ends = list(accumulate(map(len, self._parts)))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def row(self, number: int) -> Row:
        """Return a row, from 0."""
        at = bisect_right(self._ends, number)
        return self._parts[at][number - (self._ends[at - 1] if at else 0)]
