"""Which files of a folder are programs, on disks too that keep no executable bit (CLAY-71, faults 8)."""

from __future__ import annotations

import itertools
import os
import stat
from collections.abc import Iterable
from pathlib import Path

from vault.desks.diff import Change
from vault.desks.paths import DOT_VAULT, temporary_names

__all__ = ["Modes"]

_PROBE = ".gitignore"  # of a vault, which wrote it as a plain file: a bit on it is the disk's invention, or somebody's
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
_TRIES = 100  # names that may be taken


class Modes:
    """Tells the modes of files on one disk.

    FAT and many shares keep no executable bit. They call everything a program, or nothing, or what is named `.exe`.

    Args:
        fd: the desk's directory; it stays open meanwhile.
        home: the directory of the vault; on another disk it says nothing. Without it, one in the desk's directory.
    """

    def __init__(self, fd: int, home: Path | None = None) -> None:
        self._fd = fd
        self._home = home
        self._invents = self._calls_all_programs()
        self.are_doubted = self._invents
        """Whether the disk keeps none, and what the tree has that the folder stands on counts of each file there."""

    def of(self, bits: int, known: str | None) -> str:
        """Return the mode of a file as trees have it: what the disk says, or where it cannot tell what it was before.

        Args:
            bits: its mode on the disk.
            known: its mode in the tree that the folder stands on; None where that has no such file.
        """
        mode = "x" if bits & stat.S_IXUSR and not self._invents else "-"
        return known if known is not None and self.are_doubted else mode

    def doubt(self, changes: Iterable[Change]) -> bool:
        """Tell whether one of these changes is of a mode that the disk cannot have, and modes are doubted from now."""
        turned = (old.mode != new.mode for _, _, old, new in changes if old and new and old.kind == new.kind == "f")
        if self.are_doubted or not any(turned):
            return False
        self.are_doubted = not self._keeps_bits()
        return self.are_doubted

    def _calls_all_programs(self) -> bool:
        try:
            if self._home is None:
                status = os.stat(f"{DOT_VAULT}/{_PROBE}", dir_fd=self._fd, follow_symlinks=False)
            elif self._is_near(self._home):
                status = os.lstat(f"{self._home}/{_PROBE}")
            else:
                return False
        except OSError:
            return False
        return bool(status.st_mode & stat.S_IXUSR) and self._is_invented()

    def _is_invented(self) -> bool:
        """Tell whether a plain file is called a program: whoever set all permissions anew made one of the probe too."""
        try:
            return self._shows_program(0o600)
        except OSError:
            return True

    def _is_near(self, home: Path) -> bool:
        return home.stat().st_dev == os.fstat(self._fd).st_dev

    def _keeps_bits(self) -> bool:
        """Tell whether a bit that is set stays, by a file that is made and goes at once; where none can be, it does."""
        try:
            return self._shows_program(0o700)
        except OSError:
            return True

    def _shows_program(self, bits: int) -> bool:
        """Tell whether a file that is made with these bits, and goes at once, is called a program."""
        folder = self._home if self._home is not None and self._is_near(self._home) else "."
        where = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=self._fd)
        try:
            for name in itertools.islice(temporary_names(), _TRIES):
                try:
                    file = os.open(name, _NEW_FILE, bits, dir_fd=where)
                except FileExistsError:
                    continue
                try:
                    return bool(os.fstat(file).st_mode & stat.S_IXUSR)
                finally:
                    os.close(file)
                    os.unlink(name, dir_fd=where)
        finally:
            os.close(where)
        raise FileExistsError
