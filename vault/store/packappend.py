"""The pack that one transaction appends to: the newest one that the store names, or one that is begun.

A pack that is named is never written over: where what is named does not agree, or bytes of it are gone, the next frame
goes into a new one.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from vault.flush_ahead import FlushAhead
from vault.store.packio import PackIO
from vault.store.packleft import MAGIC, Newest

__all__ = ["PACK_BYTES", "PackAppender"]

PACK_BYTES: Final = 256 << 20
"""A pack that has reached this takes no more frames."""

_SYNC_BYTES: Final = 16 << 20  # flushed while more is being made, so that the end is not all of it


class PackAppender:
    """Appends to packs, one thread at a time. The file calls raise `OSError`.

    Args:
        io: the file calls.
        path_of: where a pack lies.
        last: what the store names when the transaction begins to write; a number up to its highest is never begun.
        touched: takes the numbers of packs that are written to, and how many bytes of each were named before; 0 for one
            that is begun.
    """

    def __init__(self, io: PackIO, path_of: Callable[[int], Path], last: Newest, touched: dict[int, int]) -> None:
        self._io, self._path_of = io, path_of
        self._last = last
        self._touched = touched
        self._fd = -1
        self._ahead = FlushAhead()
        self._pack = self._end = self._unsynced = 0
        self._is_new = False

    def append(self, stored: bytes) -> tuple[int, int]:
        """Append a frame; return the number of its pack and where in it the frame lies."""
        self._make_room()
        at = self._end
        self._io.append(self._fd, at, stored)
        self._end += len(stored)
        self._unsynced += len(stored)
        if self._unsynced >= _SYNC_BYTES and self._ahead.begin(self._io.sync, self._fd):
            self._unsynced = 0
        return self._pack, at

    def begin(self) -> tuple[int, int]:
        """Begin a new pack, before anything is appended; return its number and its size."""
        self._begin(self._last.highest + 1)
        return self._pack, self._end

    def flush(self) -> None:
        """Make what was appended durable."""
        self._ahead.wait()
        if self._fd >= 0:
            self._io.sync(self._fd)
        if self._is_new:
            self._io.sync_directory(self._path_of(self._pack).parent)

    def close(self) -> None:
        """Close the file; what was not flushed is not named."""
        try:
            self._ahead.close()
        finally:
            if self._fd >= 0:
                descriptor, self._fd = self._fd, -1
                self._io.close(descriptor)

    def _make_room(self) -> None:
        """Have a pack open that takes a frame; what a crash left at its end is cut."""
        if self._fd >= 0:
            if self._end < PACK_BYTES:
                return
            self._ahead.wait()
            self._io.sync(self._fd)
            self.close()
            self._begin(self._pack + 1)
        elif not self._goes_on():
            self._begin(self._last.highest + 1)

    def _goes_on(self) -> bool:
        """Open the newest pack where it takes more, and tell whether it does."""
        last, size = self._last.pack, self._last.size
        if last <= 0 or size >= PACK_BYTES or not self._last.is_sure:
            return False
        try:
            self._fd = self._io.open_append(self._path_of(last))
        except FileNotFoundError:
            return False
        there = self._io.size(self._fd)
        if there < size:  # shorter than what is named: damaged, and not to be written over
            self.close()
            return False
        if there > size:
            self._io.cut(self._fd, size)
        self._pack, self._end = last, size
        self._touched.setdefault(last, size)
        return True

    def _begin(self, number: int) -> None:
        path = self._path_of(number)
        self._io.make_directory(path.parent)
        self._fd = self._io.create(path)
        self._touched.setdefault(number, 0)
        self._io.append(self._fd, 0, MAGIC)
        self._pack, self._end, self._unsynced = number, len(MAGIC), 0
        self._is_new = True
