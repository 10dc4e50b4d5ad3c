"""Files of a known size that are read from any position, wherever their bytes come from."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Protocol, runtime_checkable

__all__ = ["Expecting", "PositionedFile"]


@runtime_checkable
class Expecting(Protocol):
    """A file for which it makes a difference to know what will be read."""

    def expect(self, parts: Iterable[tuple[int, int]]) -> None:
        """Take note of what will be read: first bytes and those after the last, in order."""


class PositionedFile(io.RawIOBase):
    """Knows its size and where it stands; what gives the bytes from there is `readinto` of each kind.

    Args:
        size: bytes of the whole file.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._at = 0

    def readable(self) -> bool:
        """Return that it is for reading."""
        return True

    def seekable(self) -> bool:
        """Return that any position may be read next."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a position, and return it."""
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        self._at = max(0, base + offset)
        return self._at

    def tell(self) -> int:
        """Return the position."""
        return self._at
