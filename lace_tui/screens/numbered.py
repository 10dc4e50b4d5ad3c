"""Numbered lines in columns, as harmless rows of a given width, which are made when they are looked at (APP-4).

Lines that are too long are folded, never cut. All columns get the same number of rows for the same lines, so that they
scroll as one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from textual.content import Content as Row

from lace_tui.screens.marks import QUIET, mark
from lace_tui.screens.texts import Made, Unrolled
from lace_tui.words.inert import inert, width_of

__all__ = ["Cell", "Columns", "Numbered", "Table", "fold", "text_rows"]

_ASCII = re.compile(rb"[ -~]*(?:\r?\n)?")  # shown as it is, each character in a cell, and no end in more than its bytes
_LONG = 4096  # bytes of a line from which on it is folded once for all its rows
_GUTTER = 7  # cells before a line: its number and its sign


class Numbered(NamedTuple):
    """A line in a column: its number, or 0 where the side does not have it, its sign, itself, and its style."""

    number: int
    sign: str
    line: bytes
    style: str


Cell = Numbered | Row | None


class Columns(NamedTuple):
    """Rows of one or more columns of equal length, and where each region begins."""

    rows: tuple[Sequence[Row], ...]
    starts: dict[int, int]


def fold(text: str, width: int) -> list[str]:
    """Return a line in pieces of at most that many cells; at least one."""
    width = max(8, width)
    if text.isascii():  # one cell each, as no harmless text has anything else in ASCII
        return [text[at : at + width] for at in range(0, len(text), width)] or [text]
    cells = {char: width_of(char) for char in set(text)}
    pieces, begin, used = [], 0, 0
    for at, char in enumerate(text):
        if used + cells[char] > width:
            pieces.append(text[begin:at])
            begin, used = at, 0
        used += cells[char]
    return [*pieces, text[begin:]]


def _plain(line: bytes) -> str:
    text = line.decode("utf-8", "backslashreplace")
    text = text[:-1] if text.endswith("\n") else text
    return inert(text.expandtabs(4))


@lru_cache(maxsize=16)  # the longest lines in sight: each pane asks for them again at each key
def _folded_long(line: bytes, width: int) -> Sequence[str]:
    return fold(_plain(line), width)


def _folded(line: bytes, width: int) -> Sequence[str]:
    return fold(_plain(line), width) if len(line) < _LONG else _folded_long(line, width)


def _line(number: int, sign: str, line: bytes, width: int, style: str) -> Sequence[Row]:
    parts = _folded(line, width - _GUTTER)
    at = f"{number:>4}" if number else "    "

    def row(below: int) -> Row:
        if below:
            return mark(f"{'':6} {parts[below]}", style)
        return mark(f"{at} {sign} ", QUIET) + mark(parts[0], style)

    return Made(len(parts), row)


def _rows_of(line: bytes, width: int) -> int:
    return 1 if len(line) <= width and _ASCII.fullmatch(line) else len(_folded(line, width))


class Table:
    """Lines that stand beside each other in one or more columns, as rows that are made when they are looked at.

    Args:
        count: how many columns.
        width: cells of each.
    """

    def __init__(self, count: int, width: int) -> None:
        self._count, self._width = count, width
        self._entries: list[tuple[Cell, ...]] = []
        self._counts: list[int] = []
        self._starts: dict[int, int] = {}

    def add(self, *cells: Cell) -> None:
        """Add what stands beside each other, one cell a column."""
        self._entries.append(cells)
        width = self._width - _GUTTER
        self._counts.append(max([_rows_of(cell.line, width) if isinstance(cell, Numbered) else 1 for cell in cells]))

    def same(self, row: Row) -> None:
        """Add a row that is the same in each column."""
        self.add(*(row for _ in range(self._count)))

    def begin(self, region: int) -> None:
        """Take note that a region begins here."""
        self._starts[region] = sum(self._counts)

    def columns(self) -> Columns:
        """Return what was added."""
        return Columns(tuple(self._column(number) for number in range(self._count)), self._starts)

    def _column(self, at: int) -> Sequence[Row]:
        def rows(_: int, cells: tuple[Cell, ...]) -> Sequence[Row]:
            cell = cells[at]
            return _line(*cell[:3], self._width, cell.style) if isinstance(cell, Numbered) else [cell or Row("")]

        return Unrolled(self._entries, self._counts, rows)


@lru_cache(maxsize=8)  # the texts in sight: each key draws them anew
def text_rows(content: bytes, width: int) -> Sequence[Row]:
    """Return a whole text as rows, which are made when they are looked at."""
    lines = content.splitlines(keepends=True)
    counts = (_rows_of(line, width - _GUTTER) for line in lines)
    rows = Unrolled(lines, counts, lambda number, line: _line(number, " ", line, width, ""))
    return rows or [mark("  an empty file", QUIET)]
