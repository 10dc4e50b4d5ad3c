"""Pages and directories as they were taken apart last, both in one room of memory.

A page that arrives is read to be judged, to see what it reaches and to sum what it holds, one soon after the other; of
a folder with more than are kept, each of these walks would find nothing but what the one before it drove out.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from sys import getsizeof
from typing import Generic, TypeVar

from vault.records import RecordHash

__all__ = ["KeptPages"]

PageT = TypeVar("PageT")
DirectoryT = TypeVar("DirectoryT")

_ITEM_BYTES = 220  # of an item of a page, besides its name
_ENTRY_BYTES = 8  # of an entry in a directory, whose pages hold it
_BYTES = 500  # of a page or a directory, however few it holds


class KeptPages(Generic[PageT, DirectoryT]):
    """What was read last; once it is too much, all of it is let go of, and directories with the pages they are made of.

    Args:
        most: bytes that it may take.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._pages: dict[bytes, PageT] = {}  # by the digest of its body, which would take a fifth as much room again
        self._directories: dict[RecordHash, DirectoryT] = {}
        self._bytes = 0
        self._adding = threading.Lock()
        self.turn = 0
        """How often all was let go of."""
        self.page: Callable[[bytes], PageT | None] = self._pages.get
        """Return the page whose body has a digest."""
        self.directory: Callable[[RecordHash], DirectoryT | None] = self._directories.get
        """Return the directory with a root page."""

    def keep_page(self, digest: bytes, page: PageT, body: bytes, names: list[str]) -> None:
        """Keep a page.

        Args:
            digest: of its body.
            page: the same, taken apart.
            body: the same, as it is stored.
            names: of its items.
        """
        # One wide symbol lets a name take four times as much; where there is none, the body is as long as all of them.
        text = len(body) if body.isascii() else sum(map(getsizeof, names))
        with self._adding:
            self._make_room(_BYTES + _ITEM_BYTES * len(names) + text)
            self._pages[digest] = page

    def keep_directory(self, root: RecordHash, directory: DirectoryT, count: int, turn: int) -> None:
        """Keep a directory, unless pages that it was made of were let go of while it was read.

        Args:
            root: its root page.
            directory: its pages and entries.
            count: its entries.
            turn: what `turn` was before the first page was read.
        """
        with self._adding:
            if turn == self.turn:
                self._make_room(_BYTES + _ENTRY_BYTES * count)
            if turn == self.turn:
                self._directories[root] = directory

    def forget(self) -> None:
        """Let go of all."""
        with self._adding:
            self._clear()

    def _make_room(self, size: int) -> None:
        if self._bytes + size > self.most:
            self._clear()
        self._bytes += size

    def _clear(self) -> None:
        self._pages.clear()
        self._directories.clear()
        self._bytes = 0
        self.turn += 1
