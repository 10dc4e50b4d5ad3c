"""What a scan needs of trees besides its own: the base, read on demand, and the pages it just made."""

from __future__ import annotations

from vault.desks.ports import MemoryObjects, Sink, Source
from vault.desks.tree import Entry, MissingObject, read_directory
from vault.records import Plex, RecordHash

__all__ = ["BaseDirectory", "Tee"]


class Tee:
    """Hands records to the sink and keeps tree pages readable, which a buffering sink may not do."""

    def __init__(self, sink: Sink, pages: MemoryObjects) -> None:
        self._sink = sink
        self._pages = pages

    def add(self, plex: Plex, /) -> None:
        """Take one record."""
        self._sink.add(plex)
        self._pages.add(plex)


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

    def entries(self) -> dict[str, Entry]:
        """Return the entries by name; none when the base has no such directory or its page is not here."""
        if self._entries is None:
            if self._above is not None:
                entry = self._above[0].entries().get(self._above[1])
                self._root = entry.hash if entry is not None and entry.is_dir else None
            try:
                found = read_directory(self._source, self._root) if self._root is not None else ()
            except MissingObject:
                found = ()
            self._entries = {entry.name: entry for entry in found}
        return self._entries
