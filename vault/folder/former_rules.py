"""How many former rules a desk keeps: all that keep something out (CLAY-71).

Each new `.laceignore` leaves one behind, and friends make as many as they like. What one of them keeps out is private,
so none is forgotten for their number alone; `held_rules` says which are added, and when all may go.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING
from unicodedata import normalize

from vault.desks.former_ignore import Former, Held, still_hold
from vault.desks.paths import DOT_VAULT, BadPath, name_problem
from vault.desks.tree import lookup
from vault.errors import CallerError

if TYPE_CHECKING:
    from vault.desks.ports import Source
    from vault.records import RecordHash

__all__ = ["FormerRulesFull", "still_needed"]

_MANY = 8  # former rules of one desk; of more it is looked which keep something out
_MAX_BYTES = 1 << 20  # of all former rules of one desk


class FormerRulesFull(CallerError):
    """There is no room for more former rules of a desk, and each of them keeps something out."""

    code = "former-rules-full"
    hint = (
        "Say in .laceignore what is to stay out, or move it away, and commit that: lace commit -m TEXT .laceignore -"
        " then run the same command again; nothing was changed. What is kept out: lace changes"
    )


def still_needed(
    former: Iterable[Former], folder: Path, source: Source, base: RecordHash | None, without: frozenset[str]
) -> list[Former]:
    """Return former rules but for those that others surely stand for; of many, those that keep something out.

    Args:
        former: the rules, the oldest first.
        folder: of the desk.
        source: where its tree is read.
        base: the tree that the folder stands on: what it has is kept out by no rule.
        without: sub-directories that are desks of their own.

    Raises:
        FormerRulesFull: they do not fit.
        MissingObject, TreeError: the tree cannot be read.
    """
    kept: list[Former] = []
    for one in former:
        if one.rules and not any(_stands_for(other, one) for other in kept):
            kept = [*(other for other in kept if not _stands_for(one, other)), one]
    if len(kept) > _MANY:
        kept = _keeping_out(kept, folder, source, base, without)
    if sum(len(one.rules) + len(one.below) for one in kept) > _MAX_BYTES:
        raise FormerRulesFull(f"{len(kept)} former states of .laceignore keep files out of {folder}.")
    return kept


def _stands_for(other: Former, one: Former) -> bool:
    return other.below == one.below and still_hold(one.rules, other.rules)


def _keeping_out(
    former: list[Former], folder: Path, source: Source, base: RecordHash | None, without: frozenset[str]
) -> list[Former]:
    """Return those of some rules that keep out something that is there; all where that cannot be told.

    What holds on from the folder around is promised for what comes later, too.
    """
    asked = list(zip(former, Held(tuple(former)).judges(), strict=True))
    needed: set[Former] = set()
    try:
        for path, is_dir in _names_in(folder, without):
            found = {one for one, rules in asked if one not in needed and rules.matches(path, is_dir=is_dir)}
            if found and not _is_versioned(source, base, path, is_dir=is_dir):
                needed |= found
                if len(needed) == len(former):
                    break
    except OSError:
        return former
    return [one for one in former if one.below or one in needed]


def _names_in(folder: Path, without: frozenset[str]) -> Iterator[tuple[str, bool]]:
    """Yield what lies in a folder and may be versioned, relative to it, each with whether it is a directory."""

    def refuse(error: OSError) -> None:
        raise error

    for above, directories, files in os.walk(folder, onerror=refuse):
        where = os.path.relpath(above, folder).replace(os.sep, "/")
        prefix = "" if where == "." else f"{where}/"
        directories[:] = [
            name
            for name in directories
            if not name_problem(normalize("NFC", name)) and f"{prefix}{name}" not in {DOT_VAULT, *without}
        ]
        for name in directories:
            yield normalize("NFC", prefix + name), not Path(above, name).is_symlink()
        for name in files:
            if not name_problem(normalize("NFC", name)):
                yield normalize("NFC", prefix + name), False


def _is_versioned(source: Source, base: RecordHash | None, path: str, *, is_dir: bool) -> bool:
    entry = None
    with suppress(BadPath):  # too long to be in a tree
        entry = lookup(source, base, path) if base is not None else None
    return entry is not None and entry.is_dir == is_dir
