"""Walking through a folder by descriptors, and making and removing directories in it (APP-12).

As in `folder`, every name is looked up in a directory that is held open, and no symbolic link is followed.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Self
from unicodedata import normalize

from vault.desks.folder import DIRECTORY_FLAGS, open_directory, open_root
from vault.desks.paths import twin_key

__all__ = ["Blocked", "DirectoryCursor", "as_it_stands", "made_aside", "remove_whole"]

_GONE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})  # what a name gives that is not what it was


class Blocked(Exception):
    """A name on the way to a directory is no directory.

    Args:
        depth: how many names of the way end with it.
    """

    def __init__(self, depth: int) -> None:
        super().__init__(depth)
        self.depth = depth


class DirectoryCursor:
    """Walks from directory to directory below one root, holding those on the way open.

    Names are those of a tree (NFC); a directory that stands on the disk in another normal form is found too, and so is
    one that was made under another name until it has arrived.

    Args:
        root: the desk's directory.
    """

    def __init__(self, root: Path) -> None:
        self._fds = [open_root(root)]
        self._names: list[str] = []
        self._here: tuple[str, ...] | None = ()  # the same, where the last way was gone to its end
        self._listings: list[dict[str, str] | None] = [None]
        self._aside: dict[tuple[str, ...], str] = {}  # directories that have not arrived, as they stand on the disk
        self.arriving: tuple[str, ...] | None = None
        """The way to the directory that has not arrived, where the cursor is in it or below it."""

    def close(self) -> None:
        """Close every directory."""
        self._here = None
        while self._fds:
            os.close(self._fds.pop())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def go(self, names: tuple[str, ...]) -> int | None:
        """Go to a directory and return its descriptor, which stays the cursor's; None when it is not there.

        Args:
            names: the way from the root.

        Raises:
            Blocked: a file or link stands on the way.
            OSError: a directory cannot be opened.
        """
        if names == self._here:
            return self._fds[-1]
        self.arriving = None
        same = 0
        while same < min(len(names), len(self._names)) and names[same] == self._names[same]:
            same += 1
        while len(self._names) > same:
            self._names.pop()
            self._listings.pop()
            os.close(self._fds.pop())
        self._here = None
        for depth in range(same, len(names)):
            fd = self._open(names[depth], depth + 1)
            if fd is None:
                return None
            self._fds.append(fd)
            self._names.append(names[depth])
            self._listings.append(None)
        self._here = names
        ways = (names[:depth] for depth in range(1, len(names) + 1)) if self._aside else ()
        self.arriving = next((way for way in ways if way in self._aside), None)
        return self._fds[-1]

    @property
    def reached(self) -> tuple[str, ...]:
        """The way to where the cursor is: of one that `go` did not go to its end, as far as there are directories."""
        return tuple(self._names)

    def make(self, names: tuple[str, ...], aside: Iterator[str] | None) -> int | None:
        """Go to a directory as `go` does, and make those that are missing on the way.

        Args:
            names: the way from the root.
            aside: names to try for the first of those that are missing, which gets its own by `arrive`; None to give
                each its own at once.

        Raises:
            Blocked: a file or link stands on the way.
            OSError: a directory cannot be opened or made.
        """
        if names == self._here:
            return self._fds[-1]
        fd = self.go(names)
        for _ in names:  # once for each at most, for they may be taken away again
            if fd is not None:
                break
            way = names[: len(self._names) + 1]
            is_in_new = any(way[:depth] in self._aside for depth in range(1, len(way)))
            if is_in_new or not self._respell(way[-1]):
                self._make(way, None if is_in_new else aside)
            fd = self.go(names)
        return fd

    def _make(self, way: tuple[str, ...], aside: Iterator[str] | None) -> None:
        if aside is None:
            with contextlib.suppress(FileExistsError):
                os.mkdir(way[-1], dir_fd=self._fds[-1])
            self.add(way[-1])
        else:
            self._aside[way] = made_aside(self._fds[-1], aside)

    def _respell(self, name: str) -> bool:
        """Give a directory here the name that some disks find it by already, though it stands in another case.

        What it still holds goes with it; under the former name the next commit would call it renamed, for everybody.
        """
        plain = self.spelling(name)
        if plain is None or plain == name:
            return False
        with contextlib.suppress(OSError):
            os.rename(self.listing()[plain], name, src_dir_fd=self._fds[-1], dst_dir_fd=self._fds[-1])
        self.forget()
        return self.on_disk(name) is not None

    def spelling(self, name: str) -> str | None:
        """Return the tree's name of what the disk finds here by a name: itself, or of a directory in another case."""
        if self.on_disk(name) is not None:
            return name
        fd, key = self._fds[-1], twin_key(name)
        with contextlib.suppress(OSError):
            found = os.stat(name, dir_fd=fd, follow_symlinks=False)
            for plain, disk in self.listing().items() if stat.S_ISDIR(found.st_mode) else ():
                if twin_key(plain) == key and os.path.samestat(found, os.stat(disk, dir_fd=fd, follow_symlinks=False)):
                    return plain
        return None

    @property
    def made_aside(self) -> tuple[tuple[str, ...], ...]:
        """The directories that have not arrived, in the order in which they were made."""
        return tuple(self._aside)

    def arrive(self, names: tuple[str, ...]) -> None:
        """Give a directory that was made under another name its own; an empty one that has it meanwhile goes.

        Raises:
            Blocked: a file or link stands on the way.
            OSError: the name is taken, the disk refuses it, or the way there is gone.
        """
        fd = self.go(names[:-1])
        if fd is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        os.rename(self._aside[names], names[-1], src_dir_fd=fd, dst_dir_fd=fd)
        del self._aside[names]
        self.add(names[-1])

    def drop(self, names: tuple[str, ...]) -> None:
        """Remove a directory that was made under another name, with all that it holds.

        Raises:
            Blocked: a file or link stands on the way.
            OSError: something of it cannot be removed.
        """
        fd, disk = self.go(names[:-1]), self._aside.pop(names)
        if fd is not None:
            remove_whole(fd, disk)

    def _open(self, name: str, depth: int) -> int | None:
        disk = (self._aside.get((*self._names, name)) if self._aside else None) or self.on_disk(name)
        if disk is None:  # some disks would open one in another case, which is not what the tree names
            return None
        try:
            return os.open(disk, DIRECTORY_FLAGS, dir_fd=self._fds[-1])
        except OSError as error:
            if error.errno == errno.ENOENT:
                return None
            if error.errno in _GONE:
                raise Blocked(depth) from error
            raise

    @property
    def root(self) -> int:
        """The descriptor of the root, which stays the cursor's."""
        return self._fds[0]

    def listing(self) -> dict[str, str]:
        """Return the names where the cursor is, by NFC form, as they were when first asked for."""
        found = self._listings[-1]
        if found is None:
            found = {}
            for name in sorted(os.listdir(self._fds[-1])):  # noqa: PTH208 - a descriptor has no path
                plain = normalize("NFC", name)
                if plain == name or plain not in found:
                    found[plain] = name
            self._listings[-1] = found
        return found

    def on_disk(self, name: str) -> str | None:
        """Return how a tree's name stands on the disk where the cursor is; None when it does not."""
        return self.listing().get(name)

    def add(self, name: str) -> None:
        """Take note that a name stands where the cursor is now: to list a directory for each would take too long."""
        found = self._listings[-1]
        if found is not None:
            found[name] = name

    def remove(self, name: str) -> None:
        """Take note that a name stands no more where the cursor is, as `add` does of one that came."""
        found = self._listings[-1]
        if found is not None:
            found.pop(name, None)

    def forget(self) -> None:
        """Have the directory listed again when next asked."""
        self._listings[-1] = None


def as_it_stands(root: Path, way: tuple[str, ...]) -> tuple[str, ...]:
    """Return a way from a folder with the names that its directories have on the disk; what is not there stays."""
    found: tuple[str, ...] = ()
    with contextlib.suppress(Blocked, OSError), DirectoryCursor(root) as cursor:
        while len(found) < len(way) and cursor.go(found) is not None:
            name = way[len(found)]
            found += (cursor.spelling(name) or name,)
    return found + way[len(found) :]


def made_aside(fd: int, names: Iterator[str]) -> str:
    """Make a directory under the first of these names that is free; return it.

    Raises:
        OSError: it cannot be made, or no name is free.
    """
    for name in names:
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, dir_fd=fd)
            return name
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))


def remove_whole(fd: int, name: str) -> None:
    """Remove what stands in an open directory, of a directory all that it holds too; nothing is followed.

    Raises:
        OSError: something of it cannot be removed.
    """
    if not stat.S_ISDIR(os.stat(name, dir_fd=fd, follow_symlinks=False).st_mode):
        os.unlink(name, dir_fd=fd)
        return
    with open_directory(fd, (name,)) as here:
        for below in os.listdir(here):  # noqa: PTH208 - a descriptor has no path
            remove_whole(here, below)
    os.rmdir(name, dir_fd=fd)
