"""Choices as a merge of heads takes them: by the name that clashes, and for each region a head's lines (LAZ-39)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lazy.people import label_of
from lazy.resolving.chosen import NoSuchRegion
from lazy.resolving.picks import BOTH, MINE, Both, Mine, NoSuchSide, Picks, PicksContradict
from lazy.resolving.siding import PAIR, head_with, sided
from vault.commands import as_option
from vault.desks.memory import MemoryObjects
from vault.desks.path_conflict import PathConflict
from vault.desks.ports import Source
from vault.records import RecordHash
from vault.revisions.history import commit_info
from vault.vault import Vault
from vault.writer import Writer

__all__ = ["as_heads", "by_lines", "by_other_name"]


def by_other_name(picks: Picks, clashes: Sequence[PathConflict]) -> tuple[Picks, set[str]]:
    """Return picks with what was chosen by the other name of a clash of two names, and those names.

    Raises:
        PicksContradict: another side was chosen by each name.
    """
    known = {clash.path for clash in clashes}
    found = {clash.path: clash.twin for clash in clashes if clash.twin in picks.paths and clash.twin not in known}
    for path, twin in found.items():
        if path in picks.regions or picks.paths.get(path, picks.paths[twin]) != picks.paths[twin]:
            raise PicksContradict(f"{path} and {twin} clash as names, so only one of them stays: two were chosen.")
    paths = {path: picks.paths[twin] for path, twin in found.items()}
    own = picks.own | {path for path, twin in found.items() if twin in picks.own}
    return replace(picks, paths={**paths, **picks.paths}, own=own), set(found.values())


def as_heads(
    source: Source,
    vault: Vault,
    heads: Sequence[RecordHash],
    order: Sequence[RecordHash],
    tree: RecordHash,
    picks: Picks,
    *,
    has_line: bool,
) -> Picks:
    """Return picks in which each region has a head's lines; a side that a head was built upon stands for that head.

    Raises:
        NoSuchSide: that head was built upon others too, and has the file as none of them: whose lines would follow
            from nothing.
    """

    def head_of(path: str, choice: RecordHash | Both | Mine) -> RecordHash | Both:
        if not isinstance(choice, RecordHash):
            return order[0] if choice == MINE else BOTH
        found = head_with(source, vault, heads, order, tree, path, choice)
        if found is None:
            name = label_of(vault, commit_info(vault.store, choice).signer)
            told = f"{path} was decided between {name} and others before, so no lines of it are those of {name} alone."
            way = f"Take the whole file: {as_option('--path', path)} --take SIDE - or edit it."
            raise NoSuchSide(told, hint=f"local means the lines of your folder. {way}" if has_line else way)
        return found

    regions = {path: {n: head_of(path, one) for n, one in of.items()} for path, of in picks.regions.items()}
    return replace(picks, regions=regions)


def by_lines(
    w: Writer | MemoryObjects,
    vault: Vault,
    order: Sequence[RecordHash],
    tree: RecordHash,
    also: Sequence[RecordHash],
    picks: Picks,
) -> dict[str, bytes]:
    """Return the texts that a person chose by regions between more than two heads.

    Raises:
        NoSuchRegion: the lines of a path cannot be chosen so.
        RegionUndecided: a region has no choice, or there is none of that number.
    """
    if len(order) == PAIR or not picks.regions:
        return {}
    found = sided(MemoryObjects(fallback=w), vault, order, tree, also)
    if strange := sorted(picks.regions.keys() - found.keys()):
        way = "See the regions with: lace conflicts --regions - or choose whose the file is: --path P --take SIDE"
        raise NoSuchRegion(f"{strange[0]} has no lines that could be chosen between all sides.", hint=way)
    return {path: found[path].taken(path, regions) for path, regions in picks.regions.items()}
