"""Files and links under a temporary name: made whole, and then given theirs; what a crash left is removed (APP-13)."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
from collections.abc import Iterable
from pathlib import Path

from vault.desks.filling import Filling
from vault.desks.folder import TEMP_NAME, Blocked, Cursor
from vault.desks.ports import Source
from vault.desks.tree import Entry, read_entry

__all__ = ["Temporaries", "place", "remove_temporary"]

_NO_HARD_LINKS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EACCES})
_TRIES = 10_000


class Temporaries:
    """Makes files and links that have no name of their own yet.

    Args:
        source: where the targets of links are read.
        files: fills files.
    """

    def __init__(self, source: Source, files: Filling) -> None:
        self._source = source
        self._files = files
        self._numbers = itertools.count()

    def make(self, fd: int, entry: Entry, content: bytes | None) -> str:
        """Make the file or link of an entry in an open directory; return its temporary name.

        `content` is that of the file, where it was read before.
        """
        target = read_entry(self._source, entry) if entry.kind == "l" else b""
        temp = f".lace-checkout-{next(self._numbers)}.tmp"
        for _ in range(_TRIES):
            try:
                if entry.kind == "l":
                    os.symlink(target, os.fsencode(temp), dir_fd=fd)
                    return temp
                mode = 0o777 if entry.mode == "x" else 0o666  # narrowed by the umask
                file = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode, dir_fd=fd)
            except FileExistsError:  # what a crash left; no other process writes here under the vault's lock
                with contextlib.suppress(OSError):
                    os.unlink(temp, dir_fd=fd)
                continue
            try:
                self._files.write(file, entry, content)
            except BaseException:
                os.unlink(temp, dir_fd=fd)
                raise
            finally:
                os.close(file)
            return temp
        raise OSError(errno.EEXIST, "the folder is full of temporary files")


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
    """Remove the temporary files that a cut-off checkout left in the folders of these paths (APP-13)."""
    with contextlib.suppress(OSError), Cursor(root) as cursor:
        for names in sorted({tuple(path.split("/"))[:-1] for path in paths}):
            with contextlib.suppress(OSError, Blocked):
                fd = cursor.go(names)
                for name in cursor.listing().values() if fd is not None else ():
                    if TEMP_NAME.fullmatch(name):
                        os.unlink(name, dir_fd=fd)
                        cursor.forget()
