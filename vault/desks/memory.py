"""A source, sink and directory cache in memory, for overlays over what is stored."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from vault.desks.chunks import part_of, pieces_of, whole_of
from vault.desks.ports import Objects, Part, Source
from vault.profile import DATA_APP
from vault.records import Plex, RecordHash

__all__ = ["MemoryCache", "MemoryObjects"]

_MOST_BYTES: Final = 8 << 20  # of what may be forgotten: the pages of a folder of 100,000 files


class MemoryObjects:
    """A source and sink in memory, over another source that is only read.

    Args:
        fallback: asked for what is not in memory.
        trees_only: forget data records as they are added, so that a whole folder can be compared in little
            memory.
        settle: called once what is in memory is much: then the other source has it too, and it is forgotten here. None
            where it has not.
    """

    def __init__(
        self,
        fallback: Source | None = None,
        *,
        trees_only: bool = False,
        settle: Callable[[], object] | None = None,
    ) -> None:
        self._fallback = fallback
        self._trees_only = trees_only
        self._plexes: dict[RecordHash, Plex] = {}
        self._settle = settle
        self._bytes = 0  # of what may be forgotten

    def of(self, group: str) -> Objects:
        """Return where trees of a group are read and made: here."""
        return Objects(self, self, group)

    def content(self, record: RecordHash, /) -> bytes | None:
        """Return a whole content or page of at most 32 MiB; None when it is neither here nor below."""
        return whole_of(self.part, record)

    def pieces(self, record: RecordHash, /) -> Iterator[bytes] | None:
        """Return a content in pieces; None when it is neither here nor below."""
        return pieces_of(self.part, record)

    def part(self, record: RecordHash, /) -> Part | None:
        """Return what one record holds itself; None when it is neither here nor below."""
        found = self._plexes.get(record)
        if found is not None:
            return part_of(found)
        return self._fallback.part(record) if self._fallback is not None else None

    def length(self, record: RecordHash, /) -> int | None:
        """Return the bytes of the record's Blob, 0 for a manifest; None when it is neither here nor below."""
        found = self._plexes.get(record)
        if found is not None:
            return len(found.blob.data)
        return self._fallback.length(record) if self._fallback is not None else None

    def add(self, plex: Plex, /) -> None:
        """Take one record."""
        if not (self._trees_only and plex.app == DATA_APP):
            self._plexes[plex.hash] = plex
            if self._settle is not None:
                self._bytes += len(plex.blob.data)
                if self._bytes > _MOST_BYTES:
                    self._settle()
                    self._plexes.clear()
                    self._bytes = 0

    def __contains__(self, record: object) -> bool:
        return record in self._plexes

    def __len__(self) -> int:
        return len(self._plexes)

    def __iter__(self) -> Iterator[Plex]:
        return iter(self._plexes.values())


class MemoryCache:
    """A directory cache that is forgotten with the object."""

    def __init__(self) -> None:
        self._blobs: dict[str, bytes] = {}

    def load(self, directory: str, /) -> bytes | None:
        """Return the blob of a directory, or None."""
        return self._blobs.get(directory)

    def save(self, directory: str, blob: bytes, /) -> None:
        """Keep the blob of a directory."""
        self._blobs[directory] = blob

    def drop(self, directory: str, /) -> None:
        """Forget a directory that is gone, and those that were below it."""
        gone = (directory, f"//{directory}")
        below = tuple(f"{name}/" for name in gone)
        self._blobs = {key: blob for key, blob in self._blobs.items() if key not in gone and not key.startswith(below)}
