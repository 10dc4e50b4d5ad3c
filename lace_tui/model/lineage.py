r"""The lineage of commits as a drawing of one line a row: which grew from which, and where lines met (APP-4).

Newest first, as a log is read. A star is the row's own commit; a bar is a line that goes on below; `\` leaves a commit
for a further parent, and `/` joins the one it grew from.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

__all__ = ["Row", "draw"]

WIDEST = 8  # lines side by side; further ones are counted, not drawn


class Row(NamedTuple):
    """One row of a log: its commit, or None for a row that is none, and the commits it grew from."""

    commit: str | None
    parents: Sequence[str] = ()


def draw(rows: Iterable[Row]) -> list[str]:
    """Return a drawing for each row; a parent that has no row of its own ends its line.

    Cost is the number of rows times the lines side by side.
    """
    given = list(rows)
    below = {row.commit: at for at, row in enumerate(given) if row.commit is not None}
    lanes: list[str | None] = []
    drawn = []
    for at, row in enumerate(given):
        parents = [parent for parent in row.parents if below.get(parent, -1) > at]
        drawn.append(_step(lanes, row.commit, parents))
    return drawn


def _step(lanes: list[str | None], commit: str | None, parents: list[str]) -> str:
    """Draw one row and move the lanes on to the next."""
    if commit is None:
        return _line(["|" if lane else " " for lane in lanes])
    mine = [number for number, lane in enumerate(lanes) if lane == commit]
    at = mine[0] if mine else _free(lanes)
    lanes[at] = commit
    cells = ["|" if lane else " " for lane in lanes]
    cells[at] = "*"
    for number in mine[1:]:
        cells[number] = "/"
        lanes[number] = None
    lanes[at] = parents[0] if parents else None
    for parent in parents[1:]:
        if parent not in lanes:
            number = _free(lanes, cells)
            lanes[number] = parent
            cells[number] = "\\"
    while lanes and lanes[-1] is None:
        lanes.pop()
    return _line(cells)


def _free(lanes: list[str | None], cells: list[str] | None = None) -> int:
    """Return a lane that nobody uses, in this row neither."""
    for number, lane in enumerate(lanes):
        if lane is None and (cells is None or cells[number] == " "):
            return number
    lanes.append(None)
    if cells is not None:
        cells.append(" ")
    return len(lanes) - 1


def _line(cells: list[str]) -> str:
    shown = "".join(cells[:WIDEST]).rstrip()
    return f"{shown}+{len(cells) - WIDEST}" if len(cells) > WIDEST else shown
