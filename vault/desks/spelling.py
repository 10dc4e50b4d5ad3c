"""Paths as a tree spells them: another name that some disks take for the same is the name there (APP-12)."""

from __future__ import annotations

from dataclasses import dataclass, field

from vault.desks.pages import Entry
from vault.desks.paths import twin_key
from vault.desks.ports import Source
from vault.desks.tree import read_directory
from vault.records import RecordHash

__all__ = ["Spelling"]


@dataclass(frozen=True, slots=True)
class Spelling:
    """How one tree spells paths; each of its directories is read once.

    Args:
        source: where it is read.
        root: the tree.
    """

    source: Source
    root: RecordHash
    _read: dict[RecordHash, dict[str, Entry]] = field(default_factory=dict, repr=False, compare=False)

    def of(self, path: str) -> str:
        """Return a path with the names that the tree has for it; what it has not is as it was.

        Raises:
            MissingObject, TreeError: a directory is not here or broken.
        """
        names: list[str] = []
        here: RecordHash | None = self.root
        for name in path.split("/"):
            found = self._entries(here).get(twin_key(name)) if here is not None else None
            names.append(found.name if found is not None else name)
            here = found.hash if found is not None and found.is_dir else None
        return "/".join(names)

    def _entries(self, directory: RecordHash) -> dict[str, Entry]:
        found = self._read.get(directory)
        if found is None:
            found = {twin_key(entry.name): entry for entry in read_directory(self.source, directory)}
            self._read[directory] = found
        return found
