"""What desks need from a store, as protocols, and the same in memory for overlays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol, TypeGuard

from vault.desks.chunks import Part, part_of, pieces_of, whole_of
from vault.desks.content import DATA_APP
from vault.records import Plex, RecordHash

__all__ = [
    "DirCache",
    "ManySource",
    "MemoryCache",
    "MemoryObjects",
    "NearSink",
    "Sink",
    "Source",
    "SumCache",
    "answers_for_many",
    "takes_hints",
]


class Source(Protocol):
    """Where content and tree pages are read."""

    def content(self, record: RecordHash, /) -> bytes | None:
        """Return a whole content or page of at most 32 MiB, put together from its chunks; None when not here."""

    def pieces(self, record: RecordHash, /) -> Iterator[bytes] | None:
        """Return a content of any size in order, in pieces; None when it is not here; see `chunks.pieces_of`."""

    def part(self, record: RecordHash, /) -> Part | None:
        """Return what one record holds itself: the bytes of its Blob, or its list of parts; None when not here."""

    def length(self, record: RecordHash, /) -> int | None:
        """Return the bytes of the record's Blob without reading them, 0 for a manifest; None when not here."""


class ManySource(Protocol):
    """A source that answers for many records at once; what it leaves out is asked for singly."""

    def lengths(self, records: Sequence[RecordHash], /) -> dict[RecordHash, int]:
        """Return what `Source.length` gives of those that are here."""

    def small_parts(self, records: Sequence[RecordHash], /) -> dict[RecordHash, bytes]:
        """Return what `Source.part` gives of those that are here, are no manifests, and have few bytes."""


def answers_for_many(source: Source) -> TypeGuard[ManySource]:
    """Tell whether a source is a `ManySource`; to ask the protocol itself costs as much as a small query."""
    return hasattr(source, "small_parts")


class Sink(Protocol):
    """Where new content and tree pages go; adding one twice is no error."""

    def add(self, plex: Plex, /) -> object:
        """Take one record."""


class NearSink(Protocol):
    """A sink that can use a hint."""

    def add(self, plex: Plex, /) -> object:
        """Take one record."""

    def add_near(self, plex: Plex, bases: Sequence[RecordHash], /) -> object:
        """Take one record whose bytes are like those of `bases`, which are here."""


def takes_hints(sink: Sink) -> TypeGuard[NearSink]:
    """Tell whether a sink is a `NearSink`."""
    return hasattr(sink, "add_near")


class DirCache(Protocol):
    """What the last scan saw, one opaque blob for each directory; it may be lost at any time.

    A directory is named by its path relative to the desk; the empty text is the desk itself.
    """

    def load(self, directory: str, /) -> bytes | None:
        """Return the blob of a directory, or None."""

    def save(self, directory: str, blob: bytes, /) -> None:
        """Keep the blob of a directory."""

    def drop(self, directory: str, /) -> None:
        """Forget a directory that is gone, and those that were below it."""


class SumCache(Protocol):
    """SHA-512 values already known; see `vault.desks.sums`."""

    def expect(self, records: Sequence[RecordHash], /) -> None:
        """Be told which keys are asked for next, and that what was put may be kept now."""

    def get(self, record: RecordHash, /) -> str | None:
        """Return the value kept under this key, or None."""

    def put(self, record: RecordHash, sha512: str, /) -> None:
        """Keep a value of 128 hex digits; of a directory with its size behind it."""


class MemoryObjects:
    """A source and sink in memory, over another source that is only read.

    Args:
        fallback: asked for what is not in memory.
        trees_only: forget data records as they are added, so that a whole folder can be compared in little
            memory.
    """

    def __init__(self, fallback: Source | None = None, *, trees_only: bool = False) -> None:
        self._fallback = fallback
        self._trees_only = trees_only
        self._plexes: dict[RecordHash, Plex] = {}

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
