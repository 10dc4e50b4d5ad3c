"""What a person chose for an opened conflict, and the result it gives.

Choosing is pure (`worked_out`), and nothing is written before `decide` (LAZ-39). With more than two sides a file is
decided step by step: the first side with the second, what came of it with the third. So whatever the number of sides,
there are two texts to compare and one result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, NamedTuple

from lazy.resolving.chosen import MarkersLeft, unasked
from lazy.resolving.opening import Content, Opened, OpenFile, Origin, shown
from lazy.resolving.picks import Choices
from lazy.resolving.resolve import Resolved, resolve_merged
from vault.desks.merge_text import Region, RegionUndecided, has_markers, regions_of
from vault.errors import CallerError
from vault.names import Version
from vault.vault import Vault
from vault.watch import Watch

__all__ = ["CHOICES", "Choice", "Pick", "Piece", "SideNeedsFile", "Worked"]
__all__ += ["decide", "draft_text", "undecided", "worked_out"]

Choice = Literal["left", "right", "both", "swapped", "base"]
CHOICES: tuple[Choice, ...] = ("left", "right", "both", "swapped", "base")


class SideNeedsFile(CallerError):
    """A side that is not a release of the conflict was chosen for something that is not a file."""

    code = "side-needs-file"
    exit_code = 2
    hint = "Choose another side for it, or decide the conflict with: lace resolve"


@dataclass(frozen=True, slots=True)
class Pick:
    """What was chosen for one file.

    Args:
        side: number of the side whose content it gets as it is.
        regions: by number from 1, counted through all steps: whose lines a region gets.
        edited: the whole text, as somebody wrote it; counts before everything else.
    """

    side: int | None = None
    regions: Mapping[int, Choice] = field(default_factory=dict)
    edited: bytes | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing was chosen."""
        return self.side is None and not self.regions and self.edited is None

    def with_region(self, number: int, choice: Choice | None) -> Pick:
        """Return this pick with another choice for one region; None takes the choice away."""
        kept = {n: c for n, c in self.regions.items() if n != number}
        if choice is not None:
            kept[number] = choice
        return Pick(regions=kept)


class Piece(NamedTuple):
    """Consecutive lines of the two texts that are compared, and what the result has of them.

    Args:
        region: the lines; "ours" is the left text, "theirs" the right one.
        number: of a region in conflict, from 1; 0 for lines that need nobody.
        choice: what was chosen for it.
        result: the lines of the result; None while nothing was chosen.
    """

    region: Region
    number: int
    choice: Choice | None
    result: tuple[bytes, ...] | None


class Worked(NamedTuple):
    """What the choices for one file give.

    Args:
        pieces: of the step that is shown: the first that is not decided, else the last; none without lines.
        right: number of the side that is compared in it.
        step: which step it is, from 1.
        open: numbers of regions that nobody chose for, of this step.
        result: the whole text, once everything is chosen; None for a side without a file, or while it is not decided.
        is_decided: whether everything is chosen.
    """

    pieces: tuple[Piece, ...]
    right: int
    step: int
    open: tuple[int, ...]
    result: bytes | None
    is_decided: bool


def worked_out(file: OpenFile, pick: Pick) -> Worked:
    """Return what the choices for a file give; reads and writes nothing."""
    if not file.has_lines:
        result = pick.edited
        if result is None and pick.side is not None and (chosen := file.sides[pick.side]) is not None:
            result = chosen.text
        is_decided = pick.side is not None or (pick.edited is not None and not has_markers(pick.edited))
        return Worked((), len(file.sides) - 1, 1, (), result, is_decided)
    texts = [side.text or b"" for side in file.sides if side is not None]
    base = (file.base.text if file.base else None) or b""
    left, offset = texts[0], 0
    worked = Worked((), len(texts) - 1, 1, (), left, is_decided=True)
    for number, right in enumerate(texts[1:], 1):
        pieces = _pieces(base, left, right, pick.regions, offset)
        still = tuple(piece.number for piece in pieces if piece.number and piece.result is None)
        result = None if still else b"".join(line for piece in pieces for line in _closed(piece))
        worked = Worked(pieces, number, number, still, result, not still)
        if result is None:
            break
        left, offset = result, offset + sum(1 for piece in pieces if piece.number)
    if pick.edited is not None:
        return worked._replace(result=pick.edited, is_decided=not has_markers(pick.edited), open=())
    if pick.side is not None:
        return worked._replace(result=texts[pick.side], is_decided=True, open=())
    return worked


@lru_cache(maxsize=256)
def _regions(base: bytes, left: bytes, right: bytes) -> tuple[Region, ...]:
    return regions_of(base, left, right)


def _pieces(base: bytes, left: bytes, right: bytes, chosen: Mapping[int, Choice], offset: int) -> tuple[Piece, ...]:
    found = []
    number = offset
    for region in _regions(base, left, right):
        if region.kind != "conflict":
            found.append(Piece(region, 0, None, region.merged))
            continue
        number += 1
        choice = chosen.get(number)
        found.append(Piece(region, number, choice, _taken(region, choice) if choice else None))
    return tuple(found)


def _taken(region: Region, choice: Choice) -> tuple[bytes, ...]:
    match choice:
        case "left":
            return region.ours
        case "right":
            return region.theirs
        case "both":
            return (*_ended(region.ours), *region.theirs) if region.theirs else region.ours
        case "swapped":
            return (*_ended(region.theirs), *region.ours) if region.ours else region.theirs
        case _:
            return region.base


def _ended(lines: Sequence[bytes]) -> tuple[bytes, ...]:
    """Return the lines with an end on the last one, so that further lines can follow."""
    return (*lines[:-1], lines[-1] if lines[-1].endswith(b"\n") else lines[-1] + b"\n") if lines else ()


def _closed(piece: Piece) -> tuple[bytes, ...]:
    return piece.result or ()


def draft_text(file: OpenFile, pick: Pick, names: Sequence[str]) -> bytes:
    """Return the result so far as a text to edit; what is not decided stands between markers that name both sides."""
    worked = worked_out(file, pick)
    if worked.result is not None:
        return worked.result
    if not worked.pieces:
        return b""
    left = names[0] if worked.step == 1 else "result so far"
    parts: list[bytes] = []
    for piece in worked.pieces:
        if piece.result is not None:
            parts += piece.result
            continue
        parts += [f"<<<<<<< {left}\n".encode(), *_ended(piece.region.ours), b"||||||| base\n"]
        parts += [*_ended(piece.region.base), b"=======\n", *_ended(piece.region.theirs)]
        parts.append(f">>>>>>> {names[worked.right]}\n".encode())
    return b"".join(parts)


def undecided(opened: Opened, picks: Mapping[str, Pick]) -> tuple[str, ...]:
    """Return the paths that still need a choice."""
    return tuple(file.path for file in opened.files if not worked_out(file, picks.get(file.path, Pick())).is_decided)


def decide(
    vault: Vault,
    opened: Opened,
    picks: Mapping[str, Pick],
    version: Version,
    reason: str = "",
    *,
    watch: Watch = Watch(),
) -> Resolved:
    """Write the decision: one merge of all sides, released under a new version (LAZ-39).

    Raises:
        RegionUndecided: a file is not decided.
        PathUndecided: my folder has a file otherwise than the sides, and nobody was asked of it.
        MarkersLeft: an edited text still holds markers.
        SideNeedsFile: a side that is no release of the conflict has no file there.
        NoSuchConflict, VersionTaken, SidesChanged: somebody or something was faster, as who edited one of its files.
    """
    if opened.unasked:
        raise unasked(opened.unasked)
    takes: dict[str, str] = {}
    edited: dict[str, bytes] = {}
    mine: list[str] = []
    for file in opened.files:
        pick = picks.get(file.path, Pick())
        worked = worked_out(file, pick)
        if not worked.is_decided:
            if pick.edited is not None:
                raise MarkersLeft(f"{file.path} still holds both sides between markers.")
            raise RegionUndecided(f"{file.path} is not decided yet.")
        if pick.edited is None and pick.side is not None:
            _take(opened.sides[pick.side], file, file.sides[pick.side], takes, edited, mine)
        elif worked.result is not None:
            edited[file.path] = worked.result
    choices = Choices(takes, edited=edited.get, mine=mine)
    seen = shown(vault, opened, watch)
    return resolve_merged(vault, opened.conflict.id, version, choices, reason, seen=seen, watch=watch)


def _take(
    origin: Origin,
    file: OpenFile,
    content: Content | None,
    takes: dict[str, str],
    edited: dict[str, bytes],
    mine: list[str],
) -> None:
    if origin.word:
        takes[file.path] = origin.word
    elif origin.is_mine:
        if content is not None and content.text is not None and has_markers(content.text):
            raise MarkersLeft(f"{file.path} still holds both sides between markers.")
        mine.append(file.path)
    else:
        if content is None or content.text is None:
            raise SideNeedsFile(f"{origin.name} has no text at {file.path}.")
        edited[file.path] = content.text
