"""Files and links under a temporary name: made whole, and then given theirs; what a crash left is removed (APP-13)."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from vault.desks.cursor import Blocked, DirectoryCursor, made_aside, remove_whole
from vault.desks.filling import Filling
from vault.desks.folder import DIRECTORY_FLAGS, Signature, open_directory, signature
from vault.desks.pages import Entry
from vault.desks.paths import TEMP_NAME, temporary_names
from vault.desks.ports import Source
from vault.desks.tree import read_entry

__all__ = ["Temporaries", "is_clear", "keeps_end", "place", "remove_temporary"]

_NO_HARD_LINKS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EACCES})
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
_TRIES = 10_000  # names that a crash may have left


class Temporaries:
    """Makes files and links that have no name of their own yet.

    Args:
        source: where the targets of links are read.
        files: fills files.
    """

    def __init__(self, source: Source, files: Filling) -> None:
        self._source = source
        self._files = files
        self.names = temporary_names()

    def make(self, fd: int, entry: Entry, content: bytes | None, bits: int | None = None) -> str:
        """Make the file or link of an entry in an open directory; return its temporary name.

        `content` is that of the file, where it was read before; `bits` the permissions of the file that it replaces.

        Raises:
            OSError: it cannot be made, or every temporary name is taken.
            MissingObject: its content is not here.
        """
        for temp in itertools.islice(self.names, _TRIES):
            if self.make_named(fd, temp, entry, content, bits) is not None:
                return temp
            with contextlib.suppress(OSError):  # what a crash left; no other process writes here under the vault's lock
                os.unlink(temp, dir_fd=fd)
        raise OSError(errno.EEXIST, "the folder is full of temporary files")

    def make_named(
        self, fd: int, name: str, entry: Entry, content: bytes | None, bits: int | None = None
    ) -> Signature | None:
        """Make it under this name, its own only where none looks before it is whole.

        Returns:
            The signature of what was made; None when the name is taken.
        """
        try:
            if entry.kind == "l":
                os.symlink(read_entry(self._source, entry), os.fsencode(name), dir_fd=fd)
                return signature(os.stat(name, dir_fd=fd, follow_symlinks=False))
            mode = 0o777 if entry.mode == "x" else 0o666  # narrowed by the umask
            file = os.open(name, _NEW_FILE, mode, dir_fd=fd)
        except FileExistsError:
            return None
        try:
            if bits is not None:
                with contextlib.suppress(OSError):  # a disk without permissions
                    os.fchmod(file, _like(bits, entry.mode))
            self._files.write(file, entry, content)
            return signature(os.fstat(file))
        except BaseException:
            os.unlink(name, dir_fd=fd)
            raise
        finally:
            os.close(file)


def _like(bits: int, mode: str) -> int:
    """Return the permissions of a file in place of one with these: a program is run by whoever may read it."""
    bits = bits & 0o666 | 0o400
    return bits | (bits & 0o444) >> 2 if mode == "x" else bits


def keeps_end(fd: int, sign: str, names: Iterator[str]) -> bool:
    """Tell whether the disk of an open directory keeps this sign at the end of a name: FAT drops a dot there.

    Args:
        fd: the directory.
        sign: the sign.
        names: as `Temporaries.names`.
    """
    aside = made_aside(fd, names)
    try:
        with open_directory(fd, (aside,)) as here:
            with contextlib.suppress(OSError):  # what it refuses is refused by name, too
                os.mkdir(f"x{sign}", dir_fd=here)
            return "x" not in os.listdir(here)  # noqa: PTH208 - a descriptor has no path
    finally:
        remove_whole(fd, aside)


def is_clear(fd: int, disk: str | None) -> bool:
    """Remove the empty directories that stand where a file goes; return False when something else is there."""
    if disk is None:
        return True
    try:
        here = os.open(disk, DIRECTORY_FLAGS, dir_fd=fd)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    try:
        names = os.listdir(here)  # noqa: PTH208 - a descriptor has no path
        is_empty = all(is_clear(here, name) for name in names)
    finally:
        os.close(here)
    with contextlib.suppress(OSError):
        os.rmdir(disk, dir_fd=fd)
        return is_empty
    return False


def place(fd: int, temp: str, name: str) -> bool:
    """Give a file its name unless the name is taken; a hard link is the one way to do both at once."""
    try:
        os.link(temp, name, src_dir_fd=fd, dst_dir_fd=fd, follow_symlinks=False)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS:
            raise
        with contextlib.suppress(FileNotFoundError):
            os.stat(name, dir_fd=fd, follow_symlinks=False)
            return False
        os.rename(temp, name, src_dir_fd=fd, dst_dir_fd=fd)
    return True


def remove_temporary(root: Path, paths: Iterable[str]) -> None:
    """Remove the temporary files and directories that a cut-off checkout left on the way to these paths (APP-13)."""
    ways = {tuple(path.split("/"))[:-1] for path in paths}
    with contextlib.suppress(OSError), DirectoryCursor(root) as cursor:
        for names in sorted({way[:depth] for way in ways for depth in range(len(way) + 1)}):
            with contextlib.suppress(OSError, Blocked):
                _remove_temporary_in(cursor, names)


def _remove_temporary_in(cursor: DirectoryCursor, names: tuple[str, ...]) -> None:
    fd = cursor.go(names)
    if fd is None:
        return
    for name in cursor.listing().values():
        if TEMP_NAME.fullmatch(name):
            cursor.forget()
            remove_whole(fd, name)
