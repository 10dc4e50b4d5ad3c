"""A bundle that is written where an earlier attempt ended (faults.md row 5, INT-120).

The same records make the same bytes, so what a yanked stick kept of a bundle is the beginning of the next try. It is
compared, not trusted: what lies there and is the same is not written again, and from the first difference on it is.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

from transports.drop.part import take_part
from vault.files import add_bits
from vault.flush_ahead import FlushAhead

__all__ = ["PARTIAL", "PartialFile"]

PARTIAL = "bundle.part"
_BLOCK = 64 * 1024  # bytes that are compared, and written again, at once
_FLUSHED_TOGETHER = 32 << 20  # bytes: the medium takes them while more is being made, so that the end is not all of it


class PartialFile:
    """The beginning of a file that gets its name when it is whole; all but opening it raises `OSError` only.

    Attributes:
        written: bytes that were really written.
        compared: bytes that were read instead.
    """

    def __init__(self, directory: Path, descriptor: int) -> None:
        self._path = directory / PARTIAL
        self._fd = descriptor
        self._old = os.fstat(descriptor).st_size
        self._at = self._unflushed = 0
        self._ahead = FlushAhead()
        self.written = self.compared = 0

    @classmethod
    def open(cls, directory: Path) -> Self | None:
        """Open what lies in a directory, or begin; None while another process writes there.

        Raises:
            PlaceNotWritable: what is no plain file cannot be taken away; nothing is ever written through it.
        """
        descriptor = take_part(directory / PARTIAL, 0o644)
        return cls(directory, descriptor) if descriptor is not None else None

    def let_read(self, readers: int) -> None:
        """Let the bundle be read by others whatever the umask; see `vault.files.add_bits`."""
        add_bits(self._fd, readers)

    def write(self, data: bytes | memoryview) -> None:
        """Append bytes, or pass over those that lie there already."""
        view = memoryview(data)
        while view and self._at < self._old:
            block = view[:_BLOCK]
            os.lseek(self._fd, self._at, os.SEEK_SET)
            there = self._read(len(block))
            self.compared += len(there)
            if there != block:
                os.ftruncate(self._fd, self._at)
                self._old = self._at
                os.lseek(self._fd, self._at, os.SEEK_SET)
                break
            self._at += len(block)
            view = view[len(block) :]
        while view:
            done = os.write(self._fd, view)
            self.written += done
            self._at += done
            self._unflushed += done
            view = view[done:]
        if self._unflushed >= _FLUSHED_TOGETHER:
            with self._forgetting():
                if self._ahead.begin(os.fsync, self._fd):
                    self._unflushed = 0

    def finish(self, name: str) -> None:
        """Make it whole under its name; the name lasts once the directory is flushed."""
        with self._forgetting():
            self._ahead.wait()
        os.ftruncate(self._fd, self._at)
        with self._forgetting():
            os.fsync(self._fd)
        if os.name == "nt":  # there what is open is not renamed
            self.close()
        self._path.replace(self._path.with_name(name))
        self.close()  # not before: who would take the part up now wrote into the finished file

    @contextmanager
    def _forgetting(self) -> Iterator[None]:
        """Empty it after a flush that failed: what is read of it may be what the medium never got."""
        try:
            yield
        except OSError:
            with suppress(OSError):
                os.ftruncate(self._fd, 0)
            raise

    def close(self) -> None:
        """Let go of it; what was written stays for the next try, unless a flush of it failed."""
        try:
            self._ahead.close()
        finally:
            if self._fd >= 0:
                descriptor, self._fd = self._fd, -1
                if self._ahead.fault is not None:
                    with suppress(OSError):
                        os.ftruncate(descriptor, 0)
                with suppress(OSError):
                    os.close(descriptor)

    def discard(self) -> None:
        """Take it away."""
        self.close()
        with suppress(OSError):
            self._path.unlink()

    def _read(self, size: int) -> bytes:
        parts = []
        while size and (part := os.read(self._fd, size)):
            parts.append(part)
            size -= len(part)
        return b"".join(parts)
