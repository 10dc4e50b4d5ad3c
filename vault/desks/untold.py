"""What a scan cannot tell stays as it was: trouble here never turns into a deletion for friends (CLAY-71, APP-12)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from vault.desks.absent_paths import cannot_be_here
from vault.desks.choosing import Names, Problem
from vault.desks.diff import Change
from vault.desks.pages import Entry, NamesClash
from vault.desks.paths import BadPath, folders_above
from vault.desks.ports import Objects
from vault.desks.tree import lookup
from vault.records import RecordHash

__all__ = ["Untold"]


class Untold(NamedTuple):
    """What one scan of a folder could not tell.

    Args:
        root: the folder.
        objects: where trees are read, and new ones go.
        names: what the scan noted; problems are added to it.
        without: folders of other desks.
    """

    root: Path
    objects: Objects
    names: Names
    without: Set[str]

    def keep(
        self, found: RecordHash, base: RecordHash, absent: Mapping[str, str], changes: Sequence[Change]
    ) -> tuple[RecordHash, Sequence[Change] | None, frozenset[str]]:
        """Return the tree with the base's entries where the folder cannot tell or cannot hold them, and those paths.

        Where there are none, the changes from the base come with it.

        Args:
            found: the tree of the scan.
            base: what the folder was compared with.
            absent: by path, the hash of what a checkout left out, since the disk cannot carry it.
            changes: how `found` differs from the base.
        """
        kept: dict[str, Entry | None] = {}
        for path in self.names.unknown | {self._in_the_way(found, base, path) for path in self.without}:
            with suppress(BadPath):  # too long to be in a tree
                entry = lookup(self.objects.source, base, path)
                if entry is not None:
                    kept[path] = entry
        for path, _, old, new in changes:
            if old is None:
                if new is not None and new.kind == "d" and self._holds_names(path):
                    kept[path] = None
            elif new is None and (absent.get(path) == old.hash.text or cannot_be_here(self.objects.source, path, old)):
                kept[path] = old
        return (self._applied(found, kept), None, frozenset(kept)) if kept else (found, changes, frozenset())

    def _in_the_way(self, found: RecordHash, base: RecordHash, path: str) -> str:
        """Return what is to stay as the base has it, for the folder of another desk: it, or what a file hides.

        A folder that is gone was moved, or is not mounted: what the base had there belongs to others still.
        """
        if lookup(self.objects.source, base, path) is None:
            return path
        for above in folders_above(path):
            entry = lookup(self.objects.source, found, above)
            if entry is not None and not entry.is_dir:
                self.names.problems.append(Problem(above, "stands where a desk of its own has its folder"))
                return above
        return path

    def _applied(self, found: RecordHash, kept: Mapping[str, Entry | None]) -> RecordHash:
        from vault.desks.edit import apply_changes  # mostly all of a folder can be told

        try:
            return apply_changes(self.objects, found, kept)
        except NamesClash:  # one by one, then, without those that clash
            pass
        for path in sorted(kept):
            try:
                found = apply_changes(self.objects, found, {path: kept[path]})
            except NamesClash:
                reason = "could not be kept beside a new name that differs only in case"
                self.names.problems.append(Problem(path, reason))
        return found

    def _holds_names(self, path: str) -> bool:
        """Tell whether a folder that is empty in the tree, and is not in the base, holds names: they are the rules'."""
        try:
            return any((self.root / path).iterdir())
        except OSError:
            return False
