"""What desks need from a store, as protocols."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias, TypeGuard, runtime_checkable

from vault.records import Plex, RecordHash

if TYPE_CHECKING:
    from vault.profile import Manifest

__all__ = [
    "ContentSink",
    "DirCache",
    "ManySource",
    "NearSink",
    "Objects",
    "Part",
    "Progress",
    "RunSource",
    "Sink",
    "Source",
    "SumCache",
    "answers_for_many",
    "takes_contents",
    "takes_hints",
]


Part: TypeAlias = "bytes | Manifest"
"""What one record of a content holds itself."""

Progress = Callable[[int, int, int, int, str], None]
"""Is told files, of how many, bytes of a large one, of how many, and the path."""


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


@runtime_checkable
class RunSource(Protocol):
    """A source that reads many chunks at once, where they lie side by side."""

    def blobs(self, records: Sequence[RecordHash], /) -> Iterator[memoryview | None]:
        """Yield the proven bytes of each record's Blob in order; None where `Source.part` must say what is there."""

    def blobs_as_they_lie(self, records: Sequence[RecordHash], /) -> Iterator[memoryview | None]:
        """Yield the same unproven, for who compares the digest of all of it before anything is done with it."""

    def lengths(self, records: Sequence[RecordHash], /) -> dict[RecordHash, int]:
        """Return what `Source.length` gives of those that are here."""

    def apps(self, records: Sequence[RecordHash], /) -> dict[RecordHash, tuple[str, int | None]]:
        """Return App and bytes of those that are here or were let go; None where the record itself must say them."""


def answers_for_many(source: Source) -> TypeGuard[ManySource]:
    """Tell whether a source is a `ManySource`; to ask the protocol itself costs as much as a small query."""
    return hasattr(source, "small_parts")


class Sink(Protocol):
    """Where new content and tree pages go; adding one twice is no error."""

    def add(self, plex: Plex, /) -> object:
        """Take one record."""


class ContentSink(Protocol):
    """A sink that makes the data records of small contents itself, many at once."""

    def add_content(self, content: bytes, /) -> RecordHash:
        """Take a content of at most `vault.desks.content.MAX_SMALL_BYTES`; return the hash of its record."""


def takes_contents(sink: object) -> TypeGuard[ContentSink]:
    """Tell whether a sink is a `ContentSink`."""
    return hasattr(sink, "add_content")


class NearSink(Protocol):
    """A sink that can use a hint."""

    def add(self, plex: Plex, /) -> object:
        """Take one record."""

    def add_near(self, plex: Plex, bases: Sequence[RecordHash], /) -> object:
        """Take one record whose bytes are like those of `bases`, which are here."""


def takes_hints(sink: Sink) -> TypeGuard[NearSink]:
    """Tell whether a sink is a `NearSink`."""
    return hasattr(sink, "add_near")


class Objects(NamedTuple):
    """Where trees are read, and where what is made of them goes.

    Args:
        source: has pages and content; where a tree that was just made is read again, it sees what goes into the sink.
        sink: takes new pages and new content, also some that no tree reaches in the end.
        group: the full group id, of what is new.
    """

    source: Source
    sink: Sink
    group: str


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

    def expect(self, records: Sequence[RecordHash], /) -> dict[RecordHash, str | None]:
        """Return what is kept under these keys, each of them with a value or None; what was put may be kept now."""

    def get(self, record: RecordHash, /) -> str | None:
        """Return the value kept under this key, or None."""

    def put(self, sums: Mapping[RecordHash, str], /) -> None:
        """Keep values of 128 hex digits; of a directory with its size behind it."""
