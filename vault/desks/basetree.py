"""What a scan needs of trees besides its own: the base, read on demand, and the pages it just made."""

from __future__ import annotations

from collections.abc import Sequence

from vault.desks.chunks import MissingObject
from vault.desks.memory import MemoryObjects
from vault.desks.pages import Entry
from vault.desks.ports import NearSink, Sink, Source, takes_hints
from vault.desks.tree import read_directory
from vault.records import Plex, RecordHash

__all__ = ["BaseDirectory", "Tee", "tee"]


class Tee:
    """Hands records to the sink and keeps tree pages readable, which a buffering sink may not do."""

    def __init__(self, sink: Sink, pages: MemoryObjects) -> None:
        self._sink = sink
        self._pages = pages

    def add(self, plex: Plex, /) -> None:
        """Take one record."""
        self._sink.add(plex)
        self._pages.add(plex)


class _NearTee(Tee):
    """The same over a sink that can use a hint."""

    def __init__(self, sink: NearSink, pages: MemoryObjects) -> None:
        super().__init__(sink, pages)
        self._near = sink

    def add_near(self, plex: Plex, bases: Sequence[RecordHash], /) -> None:
        """Take one record whose bytes are like those of `bases`."""
        self._near.add_near(plex, bases)
        self._pages.add(plex)


def tee(sink: Sink, pages: MemoryObjects) -> Tee:
    """Return a sink for both, which takes hints if the first does."""
    return _NearTee(sink, pages) if takes_hints(sink) else Tee(sink, pages)


class BaseDirectory:
    """One directory of the base tree, read when first asked for."""

    def __init__(self, source: Source, root: RecordHash | None) -> None:
        self._source = source
        self._root = root
        self._above: tuple[BaseDirectory, str] | None = None
        self._entries: dict[str, Entry] | None = None

    def below(self, name: str) -> BaseDirectory:
        """Return a sub-directory; empty when there is none."""
        child = BaseDirectory(self._source, None)
        child._above = (self, name)
        return child

    def root(self) -> RecordHash | None:
        """Return the directory's root page; None when the base has no such directory."""
        if self._above is not None:
            entry = self._above[0].entries().get(self._above[1])
            self._root = entry.hash if entry is not None and entry.is_dir else None
            self._above = None
        return self._root

    def entries(self) -> dict[str, Entry]:
        """Return the entries by name; none when the base has no such directory or its page is not here."""
        if self._entries is None:
            root = self.root()
            try:
                found = read_directory(self._source, root) if root is not None else ()
            except MissingObject:
                found = ()
            self._entries = {entry.name: entry for entry in found}
        return self._entries
