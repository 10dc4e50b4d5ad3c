"""Three-way merge of lines (CLAY-74, LAZ-39): regions for a screen, merged bytes, a draft with markers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from vault.desks.diff import is_text
from vault.errors import CallerError

__all__ = ["Lines", "Region", "RegionSide", "RegionUndecided", "can_merge", "draft_of", "ended_lines", "has_markers"]
__all__ += ["lines_of", "merge_text", "regions_of", "take_regions"]

RegionSide = Literal["ours", "theirs", "both", "base"]

_OURS, _BASE, _MIDDLE, _THEIRS = b"<<<<<<< ", b"||||||| base", b"=======", b">>>>>>> "
_MAX_LINES = 20_000

Lines = tuple[bytes, ...]


class RegionUndecided(CallerError):
    """Regions of a text were chosen, but not these."""

    code = "region-undecided"
    exit_code = 2
    hint = "Choose for each region of the file, or choose a side for the whole file."


class Region(NamedTuple):
    """Consecutive lines with one story.

    Args:
        kind: "same" when nobody changed them, "ours" or "theirs" when one did, "both" when both did the same,
            "conflict" when they did different things.
        base: the lines as they were; a side that did not change them has them still.
        ours: my lines, for "ours", "both" and "conflict".
        theirs: the other side's lines, for "theirs", "both" and "conflict".
    """

    kind: Literal["same", "ours", "theirs", "both", "conflict"]
    base: Lines
    ours: Lines
    theirs: Lines

    @property
    def merged(self) -> Lines:
        """What a merge has of it without anybody's choice; nothing of a conflict."""
        return {"same": self.base, "ours": self.ours, "theirs": self.theirs, "both": self.ours}.get(self.kind, ())


def can_merge(*contents: bytes) -> bool:
    """Tell whether lines of all these can be merged: text, neither large nor of very many lines."""
    return all(is_text(content) and content.count(b"\n") < _MAX_LINES for content in contents)


def regions_of(base: bytes, ours: bytes, theirs: bytes) -> tuple[Region, ...]:
    """Return the regions of three texts, in order; line ends are part of the lines.

    Edits that touch are a conflict too: nothing between them proves that they are independent. Where it would be too
    much work to find the lines that stayed (`vault.desks.matching`), what is left is one edit.
    """
    from merge3 import Merge3  # only a merge needs it, and every verb would pay

    from vault.desks.matching import LineMatcher  # as above

    matcher: Any = LineMatcher  # its blocks are the tuples that are asked for, and of a type of their own
    old, mine, other = lines_of(base), lines_of(ours), lines_of(theirs)
    found: list[Region] = []
    kind: Literal["ours", "theirs", "both"] = "both"
    left: Lines = ()
    right: Lines = ()
    at = 0  # where in the base the lines begin that were changed last

    def changed_until(end: int) -> None:
        if left or right or end > at:  # what both took away is told by the base alone
            found.append(Region(kind, old[at:end], left, right))

    for name, start, end, *sides in Merge3(old, mine, other, sequence_matcher=matcher).merge_regions():
        match name:
            case "a":
                kind, left = "ours", mine[start:end]
            case "b":
                kind, right = "theirs", other[start:end]
            case "same":
                kind, left, right = "both", mine[start:end], mine[start:end]
            case _:
                changed_until(start)
                if name == "conflict":
                    of_mine, of_other = slice(*sides[:2]), slice(*sides[2:])
                    found.append(Region("conflict", old[start:end], mine[of_mine], other[of_other]))
                else:
                    found.append(Region("same", old[start:end], (), ()))
                kind, left, right, at = "both", (), (), end
    changed_until(len(old))
    return tuple(found)


def merge_text(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """Return the merged text, or None when a region is in conflict."""
    parts: list[bytes] = []
    for region in regions_of(base, ours, theirs):
        if region.kind == "conflict":
            return None
        parts += region.merged
    return b"".join(parts)


def take_regions(path: str, base: bytes, ours: bytes, theirs: bytes, sides: Mapping[int, RegionSide]) -> bytes:
    """Return the merged text with a choice for each region in conflict, counted from 1 (LAZ-39).

    Args:
        path: named in errors.
        base: the text of the merge base.
        ours: my text.
        theirs: the other side's.
        sides: by number: whose lines the region gets; "both" is mine and then theirs.

    Raises:
        RegionUndecided: a region has no choice, or there is no region of a number that has one.
    """
    parts: list[bytes] = []
    number = 0
    for region in regions_of(base, ours, theirs):
        if region.kind != "conflict":
            parts += region.merged
            continue
        number += 1
        match sides.get(number):
            case "ours":
                parts += region.ours
            case "theirs":
                parts += region.theirs
            case "base":
                parts += region.base
            case "both":
                parts += ended_lines(region.ours) if region.theirs else list(region.ours)
                parts += region.theirs
            case None:
                raise RegionUndecided(f"Nobody chose for region {number} of {path}.")
    if strange := sorted(sides.keys() - set(range(1, number + 1))):
        raise RegionUndecided(f"{path} has {number} regions in conflict, and no region {strange[0]}.")
    return b"".join(parts)


def has_markers(content: bytes) -> bool:
    """Tell whether a text still holds a conflict between markers as `draft_of` writes them, or a part of one.

    Two of them in their order are one that somebody edited half; a heading that is underlined, or a line that somebody
    quotes, is none.
    """
    has_ours = has_middle = False
    for line in content.splitlines():
        is_theirs, is_middle = line.startswith(_THEIRS), line == _MIDDLE
        if line == _BASE or (has_ours and (is_middle or is_theirs)) or (has_middle and is_theirs):
            return True
        has_ours, has_middle = has_ours or line.startswith(_OURS), has_middle or is_middle
    return False


def draft_of(base: bytes, ours: bytes, theirs: bytes, labels: tuple[str, str]) -> bytes:
    """Return the merged text with both sides of each conflict between markers that name them."""
    end = b"\r\n" if b"\r\n" in ours[:4096] else b"\n"
    parts: list[bytes] = []
    for region in regions_of(base, ours, theirs):
        if region.kind != "conflict":
            parts += region.merged
            continue
        parts.append(_OURS + labels[0].encode() + end)
        parts += ended_lines(region.ours, end)
        parts.append(_BASE + end)
        parts += ended_lines(region.base, end)
        parts.append(_MIDDLE + end)
        parts += ended_lines(region.theirs, end)
        parts.append(_THEIRS + labels[1].encode() + end)
    return b"".join(parts)


def lines_of(content: bytes) -> Lines:
    """Return the lines of a text with their ends; the last one may have none."""
    lines = content.split(b"\n")
    last = lines.pop()
    return (*(line + b"\n" for line in lines), *([last] if last else []))


def ended_lines(lines: Sequence[bytes], end: bytes = b"\n") -> list[bytes]:
    """Return the lines with an end on the last one too, so that a marker or another line can follow."""
    closed = list(lines)
    if closed and not closed[-1].endswith(b"\n"):
        closed[-1] += end
    return closed
