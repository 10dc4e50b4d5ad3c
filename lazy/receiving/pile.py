"""Records that wait in memory during a round, and how many bytes they have together (architecture, decision 11)."""

from __future__ import annotations

from collections import UserDict
from collections.abc import ItemsView, Iterable
from typing import TypeVar

from vault.records import Plex, RecordHash, Seal

__all__ = ["Pile"]

_R = TypeVar("_R", Seal, Plex)


class Pile(UserDict[RecordHash, tuple[_R, bytes]]):
    """Records by their hash, each with its stored bytes.

    Attributes:
        total: stored bytes of all.
    """

    total = 0

    def __setitem__(self, name: RecordHash, pair: tuple[_R, bytes]) -> None:
        before = self.data.get(name)
        self.total += len(pair[1]) - (len(before[1]) if before is not None else 0)
        self.data[name] = pair

    def __delitem__(self, name: RecordHash) -> None:
        self.total -= len(self.data.pop(name)[1])

    def clear(self) -> None:
        """Remove all at once; one by one, as a mapping does it, looks for each behind the gaps of those before."""
        self.data.clear()
        self.total = 0

    def items(self) -> ItemsView[RecordHash, tuple[_R, bytes]]:
        """Return the records by their hash; a mapping looks each of them up for it."""
        return self.data.items()

    def put(self, record: _R, stored: bytes) -> None:
        """Add a record."""
        self[record.hash] = (record, stored)

    def take(self, names: Iterable[RecordHash]) -> list[tuple[_R, bytes]]:
        """Remove records that are here, and return them in that order."""
        taken = [self.data.pop(name) for name in names]
        self.total -= sum(len(stored) for _, stored in taken)
        return taken
