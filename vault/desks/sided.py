"""Lines that any number of sides changed, as regions over the base that they have in common (CLAY-74, LAZ-39).

Two sides are compared as `vault.desks.merge_text` does. Of more, each is laid beside the base alone: what touches
there is one region, whoever made it, so its number does not depend on the order of the sides or on what was chosen for
another region.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from vault.desks.matching import LineMatcher
from vault.desks.merge_text import Lines, RegionUndecided, ended_lines, lines_of

__all__ = ["SidedRegion", "sided_regions", "take_sided"]


class SidedRegion(NamedTuple):
    """Consecutive lines of the base.

    Args:
        number: from 1, where two sides made different things of them; else 0.
        base: as they were.
        sides: what each side made of them, in the order of the sides.
    """

    number: int
    base: Lines
    sides: tuple[Lines, ...]

    @property
    def versions(self) -> tuple[Lines, ...]:
        """What the sides that changed them made of them, each once."""
        return tuple(dict.fromkeys(lines for lines in self.sides if lines != self.base))


class _Side:
    """One side's lines, and where they differ from the base."""

    def __init__(self, base: Lines, lines: Lines) -> None:
        self._lines = lines
        found = LineMatcher(None, base, lines).get_opcodes()
        self.edits = [(low, high, start, end) for kind, low, high, start, end in found if kind != "equal"]

    def between(self, low: int, high: int, base: Lines) -> Lines:
        """Return what became of a part of the base that begins and ends outside of every edit."""
        inside = [edit for edit in self.edits if low <= edit[0] and edit[1] <= high]
        if not inside:
            return base[low:high]
        first, last = inside[0], inside[-1]
        return self._lines[first[2] - (first[0] - low) : last[3] + (high - last[1])]


def sided_regions(base: bytes, sides: Sequence[bytes]) -> tuple[SidedRegion, ...]:
    """Return the regions of some texts over their base, in order; edits that touch are one, as between two sides."""
    lines = lines_of(base)
    compared = [_Side(lines, lines_of(side)) for side in sides]
    found: list[SidedRegion] = []
    number = at = 0
    for low, high in _touching(sorted((edit[0], edit[1]) for side in compared for edit in side.edits)):
        if at < low:
            found.append(SidedRegion(0, lines[at:low], (lines[at:low],) * len(compared)))
        made = SidedRegion(0, lines[low:high], tuple(side.between(low, high, lines) for side in compared))
        if len(made.versions) > 1:
            number += 1
            made = made._replace(number=number)
        found.append(made)
        at = high
    if at < len(lines):
        found.append(SidedRegion(0, lines[at:], (lines[at:],) * len(compared)))
    return tuple(found)


def _touching(edits: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return parts of the base, sorted, with those made one that overlap or touch."""
    found: list[tuple[int, int]] = []
    for low, high in edits:
        if found and low <= found[-1][1]:
            found[-1] = (found[-1][0], max(high, found[-1][1]))
        else:
            found.append((low, high))
    return found


def take_sided(path: str, base: bytes, sides: Sequence[bytes], chosen: Mapping[int, int | Literal["both"]]) -> bytes:
    """Return the text with a choice for each numbered region: a side by its place, or "both" for all that changed it.

    Args:
        path: named in errors.
        base: the text of the base.
        sides: the texts of the sides.
        chosen: by number of the region.

    Raises:
        RegionUndecided: a region has no choice, or there is no region of a number that has one.
    """
    parts: list[bytes] = []
    regions = sided_regions(base, sides)
    for region in regions:
        if not region.number:
            parts += next(iter(region.versions), region.base)
            continue
        match chosen.get(region.number):
            case None:
                raise RegionUndecided(f"Nobody chose for region {region.number} of {path}.")
            case "both":
                *before, last = (lines for lines in region.versions if lines)
                parts += [line for lines in before for line in ended_lines(lines)]
                parts += last
            case side:
                parts += region.sides[side]
    count = max((region.number for region in regions), default=0)
    if strange := sorted(chosen.keys() - set(range(1, count + 1))):
        raise RegionUndecided(f"{path} has {count} regions in conflict, and no region {strange[0]}.")
    return b"".join(parts)
