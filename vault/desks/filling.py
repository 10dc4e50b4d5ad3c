"""What a checkout writes into its files, and how it gets to the disk.

Small files are flushed together. A large one is written by one thread and flushed by another, while the chunks that
come next are read and digested.
"""

from __future__ import annotations

import os
from collections import deque
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from blake3 import blake3

from vault.desks.chunks import copy_entry, entry_pieces
from vault.desks.pages import Entry
from vault.files import flush_everything
from vault.write_behind import BLOCK_BYTES, WriteBehind

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

    from vault.desks.ports import Progress, Source

__all__ = ["Filling", "Telling"]

_LARGE_BYTES: Final = 1 << 20  # of a file that is worth a flush of its own
_FLUSHED_TOGETHER: Final = 32 << 20  # bytes: the disk takes them while more is being read
_FLUSHES: Final = 4  # that may wait


class Telling:
    """How far a checkout is, told as it goes.

    Args:
        progress: is told; None tells nobody.
        total: how many paths are to be done.
    """

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress = progress
        self._total = total
        self._done = 0
        self.where = ""
        """The path that is under way."""

    def did(self) -> None:
        """Say that it is done."""
        self._done += 1
        if self._progress is not None:
            self._progress(self._done, self._total, 0, 0, self.where)

    def moved(self, size: int, of: int) -> None:
        """Say how many of its bytes are."""
        if self._progress is not None:
            self._progress(self._done, self._total, size, of, self.where)


class Filling:
    """Fills new files. Use as a context manager, at whose end nothing is under way any more.

    Args:
        source: where the contents are.
        telling: is told of the bytes of a large one.
        durable: whether they are flushed; `settle` returns when they are.
        one_by_one: whether small files are flushed each by itself.
    """

    def __init__(self, source: Source, telling: Telling, *, durable: bool, one_by_one: bool) -> None:
        self._source = source
        self.telling = telling
        self._durable = durable
        self._one_by_one = one_by_one
        self._is_unflushed = False  # whether small files wait for a flush
        self._behind: WriteBehind | None = None
        self._pool: ThreadPoolExecutor | None = None
        self._flushes: deque[Future[None]] = deque()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self._behind is not None:
                self._behind.__exit__(kind, error, trace)
        finally:
            if self._pool is not None:
                self._pool.shutdown()

    def write(self, file: int, entry: Entry, content: bytes | None) -> None:
        """Write all of a content into a new, empty file, proven; the caller closes the file.

        Args:
            file: its descriptor.
            entry: whose content it is.
            content: the bytes of it, where they are at hand.

        Raises:
            MissingObject, TreeError: it is not here, or not what it says; what was written counts for nothing.
            OSError: it cannot be written, or a large one before it could not be flushed.
        """
        if entry.size >= _LARGE_BYTES:
            self._copy(file, entry)
            self.flush(file)
            return
        is_whole = content is not None and len(content) == entry.size
        for piece in (content,) if content and is_whole else entry_pieces(self._source, entry, to_the_end=True):
            done = os.write(file, piece)
            if done < len(piece):
                _write(file, memoryview(piece)[done:])
        if self._durable and self._one_by_one:
            os.fsync(file)
        elif self._durable:
            self._is_unflushed = True

    def _copy(self, file: int, entry: Entry) -> None:
        """Write a large content; where that fails nothing is written into the file any more."""
        # One thread for all files: to begin one takes as long as a MiB of a file.
        behind = self._behind = self._behind or WriteBehind(alone=0)
        try:
            copy = _Copy(self, file, behind, entry.size)
            copy_entry(self._source, entry, copy.take, copy.digest)
        except BaseException as error:
            self._behind = None
            behind.__exit__(type(error), error, error.__traceback__)
            raise

    def flush(self, file: int) -> None:
        """Have what was written of a large file flushed, whether it is closed meanwhile or not."""
        if not self._durable:
            return
        if self._pool is None:
            from concurrent.futures import ThreadPoolExecutor  # only large files need it

            self._pool = ThreadPoolExecutor(1, thread_name_prefix="lace-flush")
        self._flushes.append(self._pool.submit(_flush, os.dup(file)))
        while len(self._flushes) > _FLUSHES:
            self._wait()

    def settle(self, root: int) -> None:
        """Return when all that was written is on the disk.

        Args:
            root: descriptor of a directory in whose file system the files are.

        Raises:
            OSError: it is not.
        """
        while self._flushes:
            self._wait()
        if self._is_unflushed:
            flush_everything(root)
            self._is_unflushed = False

    def _wait(self) -> None:
        """Wait for the first flush; one that failed stays, for whoever heard of it first may have been another file."""
        self._flushes[0].result()
        self._flushes.popleft()


class _Copy:
    """One content on its way into a file."""

    def __init__(self, files: Filling, file: int, behind: WriteBehind, size: int) -> None:
        self._files = files
        self._file = file
        self._behind = behind
        self._size = size
        self._handed = 0  # bytes of it
        self._filled = 0  # bytes of the room
        self._unflushed = 0
        self._whole = blake3()

    def take(self, chunk: bytes | memoryview) -> None:
        """Take the next bytes."""
        while self._filled + len(chunk) > BLOCK_BYTES:
            now = BLOCK_BYTES - self._filled
            self._behind.room[self._filled :] = chunk[:now]
            self._hand(BLOCK_BYTES)
            chunk = chunk[now:]
        end = self._filled + len(chunk)
        self._behind.room[self._filled : end] = chunk
        self._filled = end

    def digest(self) -> bytes:
        """Return the digest of all of it, once it is written."""
        self._hand(self._filled)
        self._behind.wait()
        return self._whole.digest()

    def _hand(self, size: int) -> None:
        self._whole.update(self._behind.room[:size])  # here, since who writes is the slower one
        self._behind.hand(self._put, size)
        self._handed += size
        self._files.telling.moved(self._handed, self._size)
        self._filled = 0

    def _put(self, block: memoryview) -> None:
        self._unflushed += len(block)
        _write(self._file, block)
        if self._unflushed >= _FLUSHED_TOGETHER:
            self._unflushed = 0
            self._files.flush(self._file)


def _write(file: int, rest: memoryview) -> None:
    while rest:
        rest = rest[os.write(file, rest) :]


def _flush(file: int) -> None:
    try:
        os.fsync(file)
    finally:
        os.close(file)
