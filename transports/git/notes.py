"""What is remembered in a private repository beside git's own files, and goes with it (docs/formats.md section 4)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from transports.layout import MIB
from vault.errors import LaceError
from vault.files import read_bounded, write_atomic

__all__ = ["Notes"]

_OWN = "own"  # a file of names
_OWN_LINES = 1024  # branches of my own that are noted; the last ones stay
_LOOKED = "looked"  # an empty file, whose time is when its owner looked at that mailbox
_HOUR = 3600.0  # seconds
_STUMBLING = "stumbling"  # a file of tips
_STUMBLING_LINES = 8192  # a group has at most half as many mailboxes


class Notes:
    """Small files of one private repository. What cannot be written is found out once more.

    Args:
        path: returns the directory, which moves once.
    """

    def __init__(self, path: Callable[[], Path]) -> None:
        self._path = path
        self._own: tuple[Path, list[str]] | None = None  # asked for at each look into a mailbox, and written here alone

    def known_bad(self) -> dict[str, str]:
        """Return the tips that nobody can take as they are, each with why: `much`, or nothing where git refuses it."""
        lines = (line.partition(" ") for line in self._lines(_STUMBLING))
        return {tip: why for tip, _, why in lines}

    def note_bad(self, tip: str, why: str = "") -> None:
        """Remember such a tip, so that it is not asked for at every visit."""
        lines = [f"{known} {reason}".rstrip() for known, reason in (self.known_bad() | {tip: why}).items()]
        self._write(_STUMBLING, lines[-_STUMBLING_LINES:])

    def own(self) -> list[str]:
        """Return the first names below lace/ of the mailboxes that are written from here."""
        path = self._path()
        if self._own is None or self._own[0] != path:
            self._own = path, self._lines(_OWN)
        return self._own[1]

    def is_own(self, name: str) -> bool:
        """Tell whether a mailbox is written from here, by its name below lace/."""
        return name.partition("-")[0] in self.own()

    def note_own(self, name: str) -> None:
        """Remember that a mailbox is written from here."""
        if not self.is_own(name):
            self._write(_OWN, [*self._lines(_OWN), name.partition("-")[0]][-_OWN_LINES:])
            self._own = None

    def drop_own(self, name: str) -> None:
        """Remember no more that a mailbox is written from here."""
        self._write(_OWN, [own for own in self._lines(_OWN) if own != name.partition("-")[0]])
        self._own = None

    def is_due(self) -> bool:
        """Tell whether it is time to see whether the host still has what is my own; then it is for the next hour not.

        Where git there stumbles over it, nobody can say so: it takes in nothing from anybody.
        """
        last, now = self._path() / _OWN, self._path() / _LOOKED
        try:
            now.touch()  # by the clock of the file system
            is_over = abs(now.stat().st_mtime - last.stat().st_mtime) >= _HOUR
            if is_over:
                last.touch()
        except OSError:
            return False
        return is_over

    def _lines(self, name: str) -> list[str]:
        try:
            return read_bounded(self._path() / name, MIB).decode("ascii", "replace").splitlines()
        except (OSError, LaceError):
            return []

    def _write(self, name: str, lines: list[str]) -> None:
        with suppress(OSError, LaceError):
            write_atomic(self._path() / name, "\n".join(lines).encode(), durable=False)
