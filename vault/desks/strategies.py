"""The named merge strategies of Clay, on trees (CLAY-74, CLAY-76, CLAY-77).

*This* is the desk merged into, *that* the one merged from. A strategy that takes a side says so by its name; whoever
named it decided. Two names that no disk can hold together are decided by none of them, nor what cannot be as it was in
the base beside what else was done.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from vault.desks.edit import PathInTheWay
from vault.desks.merge import Choice, MergeOutcome, merge_trees, resolve_with
from vault.desks.pages import Entry, NamesClash
from vault.desks.path_conflict import PathConflictKind
from vault.desks.ports import Objects
from vault.desks.tree import build_directory, read_directory
from vault.records import RecordHash

__all__ = ["Strategy", "merge_by"]


class Strategy(StrEnum):
    """How two desks become one."""

    INIT = "init"  # the other desk as it is, into one that has no revision
    FINE = "fine"  # fast-forward only
    MEET = "meet"  # both sides' changes, if they are in different files
    MATE = "mate"  # both sides' changes, if they are in different parts of files
    MELD = "meld"  # both sides' changes; where they clash, as it was in the merge base
    ONLY_THIS = "only-this"  # exactly this side's content, with both as parents
    ONLY_THAT = "only-that"  # exactly that side's content, with both as parents
    TAKE_THIS = "take-this"  # this side's content, and files that only that side has
    TAKE_THAT = "take-that"  # that side's content, and files that only this side has
    MEET_THIS = "meet-this"  # as meet; this side's file where both changed it
    MEET_THAT = "meet-that"  # as meet; that side's file where both changed it

    @property
    def needs_base(self) -> bool:
        """Whether it fails without a merge base (CLAY-73)."""
        return self in {Strategy.MEET, Strategy.MATE, Strategy.MELD, Strategy.MEET_THIS, Strategy.MEET_THAT}


# Whose content is kept, and whether nothing else is.
_SIDES: dict[Strategy, tuple[Literal["this", "that"], bool]] = {
    Strategy.ONLY_THIS: ("this", True),
    Strategy.ONLY_THAT: ("that", True),
    Strategy.TAKE_THIS: ("this", False),
    Strategy.TAKE_THAT: ("that", False),
}
# What a strategy chooses where both sides changed something.
_CHOICES: dict[Strategy, Choice] = {Strategy.MELD: "base", Strategy.MEET_THIS: "ours", Strategy.MEET_THAT: "theirs"}


def merge_by(
    strategy: Strategy,
    objects: Objects,
    base: RecordHash | None,
    this: RecordHash,
    that: RecordHash,
    labels: tuple[str, str] = ("this", "that"),
) -> MergeOutcome:
    """Merge two trees by a strategy that compares content; the outcome has no root when a person is needed.

    Args:
        strategy: any but `init` and `fine`, which compare histories and not trees.
        objects: where all three are read, and what is made goes.
        base: the tree of the merge base; only read by strategies that need one.
        this: the tree merged into.
        that: the tree merged from.
        labels: what a draft calls the two.

    Raises:
        NamesClash: `take-this` and `take-that` would put two names together that cannot stand together.
        MissingObject, TreeError: as `merge_trees`.
    """
    if strategy in _SIDES:
        kept, other = (this, that) if _SIDES[strategy][0] == "this" else (that, this)
        whole = _SIDES[strategy][1]
        return MergeOutcome.clean(kept if whole or kept == other else _union(objects, kept, other)[0])
    whole_files = strategy not in {Strategy.MATE, Strategy.MELD}
    outcome = merge_trees(objects, base, this, that, labels, whole_files=whole_files)
    choice = _CHOICES.get(strategy)
    if outcome.root is not None or choice is None or any(c.kind is PathConflictKind.TWIN for c in outcome.conflicts):
        return outcome
    try:
        return outcome.decided(resolve_with(outcome, {clash.path: choice for clash in outcome.conflicts}))
    except (NamesClash, PathInTheWay):  # a file stands where the base has a folder, or a name beside a former one
        return outcome


def _union(objects: Objects, kept: RecordHash, other: RecordHash) -> tuple[RecordHash, int]:
    """Return a tree with what only the other one has added; where both have something, the first one's stays."""
    entries = {entry.name: entry for entry in read_directory(objects.source, kept)}
    for entry in read_directory(objects.source, other):
        mine = entries.setdefault(entry.name, entry)
        if mine is not entry and mine.is_dir and entry.is_dir and mine.hash != entry.hash:
            root, size = _union(objects, mine.hash, entry.hash)
            entries[entry.name] = Entry("d", "-", size, root, entry.name)
    return build_directory(objects.group, entries.values(), objects.sink)
