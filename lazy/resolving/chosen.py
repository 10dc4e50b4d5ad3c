"""What one clash becomes by what a person chose for its path: a side, lines, or a merged file (LAZ-39, LAZ-42)."""

from __future__ import annotations

from collections.abc import Sequence

from lazy.resolving.picks import BOTH, Picks
from lazy.resolving.regions import texts_of
from lazy.resolving.siding import EVERY
from vault.desks.merge import Choice
from vault.desks.merge_text import RegionSide, has_markers, regions_of, take_regions
from vault.desks.pages import Entry
from vault.desks.path_conflict import PathConflict
from vault.desks.ports import Source
from vault.desks.tree import read_entry
from vault.errors import CallerError
from vault.plural import few
from vault.records import RecordHash

__all__ = ["MarkersLeft", "NoSuchRegion", "PathUndecided", "choice_of", "merged_before", "unasked", "undecided"]
__all__ += ["without_markers"]


class MarkersLeft(CallerError):
    """A merged file still holds the markers of its draft."""

    code = "markers-left"
    exit_code = 2
    hint = "Edit the file until no line of <<<<<<<, ======= and >>>>>>> is left, or choose a side for it."


_WHOLE = (
    "Take it whole: --path P --take SIDE. To have both, write the other one into the folder under another name first,"
    " with: lace cat DESK@CASE PATH"
)


class NoSuchRegion(CallerError):
    """A region was chosen for a path that has none of that number, or is in no conflict of lines."""

    code = "no-such-region"
    exit_code = 2
    hint = "See the regions with: lace conflicts --regions"


_CHOOSE = "choose whose it is: --path P --take SIDE"


class PathUndecided(CallerError):
    """Nobody chose for a path: the sides clash there and the folder has nothing of its own, or it has what no side has.

    Of the latter nobody was asked, as of a folder that somebody joined with (LAZ-42).
    """

    code = "path-undecided"
    exit_code = 2
    hint = f"Edit the file as it should be, or {_CHOOSE}"


def undecided(paths: Sequence[str], *, is_preferred: bool) -> PathUndecided:
    """Return the refusal of a decision in which nobody chose for some paths; a preferred side has nothing there."""
    differ = f"{few(paths)} {'differ' if paths[1:] else 'differs'} between the sides"
    it = "them as they were" if paths[1:] else "it as it was"
    if is_preferred:
        way = "Edit the files as they should be, or choose whose they are: --merged VERSION --path P --take SIDE"
        told = f"{differ}, and neither the side you prefer nor your folder changed what they went on from."
        return PathUndecided(told, hint=way)
    return PathUndecided(f"{differ}, and your folder has {it} before.")


def unasked(paths: Sequence[str]) -> PathUndecided:
    """Return the refusal of a merge that would take paths as the folder alone has them, of which nobody was asked."""
    told = f"{few(paths)} {'are' if paths[1:] else 'is'} otherwise in your folder than at the sides."
    way = f"C{_CHOOSE[1:]} - or look with --dry-run, and release what your folder has there with --yes"
    return PathUndecided(told, hint=way)


def choice_of(source: Source, clash: PathConflict, head: RecordHash, picks: Picks) -> Choice:
    """Return what the path of a clash becomes, of which a head is the other side; `source` is where the merge read it.

    Raises:
        MarkersLeft, NoSuchRegion, RegionUndecided: what was chosen cannot be taken.
    """
    if clash.path in picks.regions:
        if not clash.is_text:
            raise NoSuchRegion(f"{clash.path} has no lines that could be chosen ({clash.kind}).", hint=_WHOLE)
        sides: dict[int, RegionSide] = {
            number: "both" if side == BOTH else "theirs" if side == head else "ours"
            for number, side in picks.regions[clash.path].items()
        }
        texts = texts_of(source, clash)
        if EVERY in sides:
            count = sum(region.kind == "conflict" for region in regions_of(*texts))
            sides = dict.fromkeys(range(1, count + 1), sides[EVERY])
        return take_regions(clash.path, *texts, sides)
    pick = picks.paths.get(clash.path)
    if pick is None and (edited := picks.edited(clash.path)) is not None:
        return without_markers(clash.path, edited)
    is_held = not picks.held.keys().isdisjoint({clash.path, clash.old})
    if pick is None and not is_held and clash.ours is not None and clash.is_text:
        without_markers(clash.path, read_entry(source, clash.ours))
    return "theirs" if pick == head else "ours"


def merged_before(source: Source, clash: PathConflict, tree: RecordHash, own: RecordHash) -> Entry | None:
    """Return what a side has at a clash, of which the tree of a merge has what came of it and of others.

    Args:
        source: where trees are read.
        clash: with a side after it.
        tree: of the merge.
        own: the side's own.
    """
    if clash.ours is not None and clash.entry_in(source, tree) is None:
        return clash.ours  # that is the name which only the other one gave it
    return clash.entry_in(source, own)


def without_markers(path: str, content: bytes) -> bytes:
    """Return the content of a merged file.

    Raises:
        MarkersLeft: both sides still stand in it.
    """
    if has_markers(content):
        raise MarkersLeft(f"{path} still holds both sides between markers.")
    return content
