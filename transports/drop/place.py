"""A drop: mailboxes in a directory, such as one on a USB stick (docs/formats.md section 4).

Names are made of hex digits only, so any file system will do. A path that leads through a symbolic link below
the drop's own directory is refused.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Self

from transports.drop.directory import DropDirectory
from transports.drop.marker import MARKER, holds_mailboxes, read_marker, write_marker
from transports.drop.partial import PARTIAL
from transports.errors import (
    BadSnapshot,
    DropNotEmpty,
    MissingFile,
    PlaceCrowded,
    PlaceNotWritable,
    UnreadableFile,
)
from transports.filecache import BEGINNING, END, cached_name
from transports.layout import BEACON_NAME, BUNDLE_NAME, HEAD_NAME, NODES_LIMIT, REQUEST_NAME, RUN_NAME
from transports.mailbox import BEACON_FILE_LIMIT, HEAD_FILE_LIMIT, REQUEST_FILE_LIMIT, MailboxWriter
from transports.medium import counted_file, fault_of, is_real_directory, open_plain
from vault.errors import EnvironmentFault, LaceError
from vault.files import flush_if_new, free_bytes, fsync_directory, make_directory, remove_leftovers
from vault.records.hashes import Verifier

__all__ = ["Drop"]

_NODE = re.compile(r"[0-9a-f]{64}", re.ASCII)
# What systems put on an empty stick by themselves.
_CLUTTER = frozenset(
    {
        "$recycle.bin",
        ".ds_store",
        ".fseventsd",
        ".spotlight-v100",
        ".trash-1000",
        ".trashes",
        "lost+found",
        "system volume information",
    }
)


class Drop(DropDirectory):
    """One drop directory; it satisfies `MailboxMedium`.

    Use `create` or `open`.
    """

    kind = "drop"
    tells_room = True
    is_read_only = False
    warnings: Sequence[LaceError] = ()

    @classmethod
    def create(cls, path: Path, *, entropy: Callable[[int], bytes]) -> Self:
        """Make a drop of an empty or new directory, or open the drop that is there.

        Args:
            path: the directory; the one above it must be there.
            entropy: gives the id its randomness.

        Raises:
            DropNotEmpty: the directory holds other things.
            NotADrop: it holds a drop whose marker is damaged or gone.
            PlaceError: its parent is missing, or it cannot be written.
        """
        try:
            if not path.exists():
                path.mkdir(exist_ok=True)
            names = {name.casefold() for name in os.listdir(path)}  # noqa: PTH208 - names only
            if not names:
                make_directory(path)  # whoever made it may have been cut off before its name was flushed
            if MARKER not in names:
                strangers = {name for name in names if name not in _CLUTTER and not name.endswith(".tmp")}
                if strangers:
                    if holds_mailboxes(path):
                        cls.open(path)  # says what to do; an id of its own would part it from whoever met there
                    raise DropNotEmpty(
                        f"{path} is not empty, so lace makes no drop of it.",
                        hint=f"Name a new sub-directory, for example {path / 'lace'}"
                        + (f", or its git repository: {path / '.git'}" if (path / ".git").is_dir() else ""),
                    )
                _write_marker(path, entropy(16).hex())
            else:
                cls.open(path)
            # Of who was cut off before, or makes a drop of it right now and finds this one then. Whoever made it may
            # have been cut off too, before its name was flushed; what only reads it cannot.
            with suppress(EnvironmentFault):
                remove_leftovers(path, MARKER)
                fsync_directory(path)
            return cls.open(path)
        except (OSError, EnvironmentFault) as error:
            is_here = path.parent.is_dir()
            raise fault_of(error, f"The drop {path}", is_here=is_here, is_write=True) from error

    @classmethod
    def open(cls, path: Path, expected_id: str | None = None) -> Self:
        """Open a drop.

        Args:
            path: its directory.
            expected_id: the id it had when it was last used.

        Raises:
            PlaceUnreachable: the directory is missing.
            DropEmptied: the directory is there, and a known drop that should be in it is not.
            WrongDrop: another drop lies there.
            NotADrop: the directory holds something else.
        """
        found = cls(path, "")
        found.drop_id = found._read_marker(expected_id)
        return found

    def close(self) -> None:
        """Write down what was read of small files; every file was closed where it was used."""
        if self.cache is not None:
            self.cache.close()

    def nodes(self, group: str) -> list[Verifier]:
        """Return the nodes that have a mailbox for this group id, sorted by key.

        Raises:
            PlaceCrowded: they are more than anybody looks at.
            PlaceError: the medium is gone.
        """
        nodes: list[Verifier] = []
        with self.translated("The list of mailboxes"):
            parent = self.room_path(group)
            if not is_real_directory(parent):
                self.check()
                return nodes
            with os.scandir(parent) as entries:
                for entry in entries:
                    if _NODE.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
                        nodes.append(Verifier(bytes.fromhex(entry.name)))
                    if len(nodes) > NODES_LIMIT:
                        raise PlaceCrowded(f"{parent} holds more than {NODES_LIMIT} mailboxes of your group.")
        return sorted(nodes)

    def read_head(self, group: str, node: Verifier) -> bytes | None:
        """Return the bytes of a node's snapshot head, or None if there is none."""
        return self._read_small(group, node, HEAD_NAME, HEAD_FILE_LIMIT)

    def read_request(self, group: str, node: Verifier) -> bytes | None:
        """Return the bytes of a node's request, or None if there is none."""
        return self._read_small(group, node, REQUEST_NAME, REQUEST_FILE_LIMIT)

    def read_beacon(self, group: str, node: Verifier) -> bytes | None:
        """Return the bytes of a node's beacon, or None if there is none."""
        return self._read_small(group, node, BEACON_NAME, BEACON_FILE_LIMIT)

    def open_file(self, group: str, node: Verifier, name: str) -> BinaryIO:
        """Open a run or bundle for reading; close it after use.

        Raises:
            MissingFile: there is no such file.
            UnreadableFile: the name is not that of a run or bundle, or not a plain file.
            PlaceError: the medium is gone.
        """
        if RUN_NAME.fullmatch(name) is None and BUNDLE_NAME.fullmatch(name) is None:
            raise UnreadableFile(f"{name[:60]!r} is not the name of a run or bundle.")
        return self._open(group, node, name)

    def reveal(self, file: BinaryIO) -> BinaryIO:
        """Return the file: nothing is encrypted by a drop itself."""
        return file

    def files(self, group: str, node: Verifier) -> dict[str, int]:
        """Return name and size in bytes of the runs and bundles in a mailbox."""
        found: dict[str, int] = {}
        with self.translated("The mailbox"):
            directory = self.mailbox_path(group, node)
            if not is_real_directory(directory):
                self.check()
                return found
            with os.scandir(directory) as entries:
                for entry in entries:
                    if RUN_NAME.fullmatch(entry.name) or BUNDLE_NAME.fullmatch(entry.name):
                        status = entry.stat(follow_symlinks=False)
                        if stat.S_ISREG(status.st_mode):
                            found[entry.name] = status.st_size
        return found

    def free_bytes(self, group: str, node: Verifier) -> int | None:
        """Return the bytes that still fit on the medium; what was begun in the mailbox is written over."""
        free, begun = free_bytes(self.path), self.mailbox_path(group, node) / PARTIAL
        try:
            return free if free is None else free + begun.lstat().st_size
        except OSError:  # nothing was begun
            return free

    def writer(self, group: str, node: Verifier) -> MailboxWriter:
        """Open this node's own mailbox for writing, making it if needed.

        Raises:
            PlaceError: the medium is gone, full or write-protected, or another drop took its place.
        """
        from transports.drop.writer import DropWriter  # a drop that is only read needs none

        self.check()
        directory = self.mailbox_path(group, node)
        with self.translated(f"The mailbox {directory}", is_write=True):
            for level in (directory.parent, directory):
                if level.is_symlink():
                    raise PlaceNotWritable(f"{level} is a symbolic link, and lace does not write through it.")
                if not level.exists():
                    level.mkdir(exist_ok=True)
                flush_if_new(level)
            readers = self._open_up(directory)
            remove_leftovers(directory)
        return DropWriter(self, directory, readers)

    def _open_up(self, directory: Path) -> int:
        """Let those who may use the drop's directory use what is made in it; return the bits for reading a file.

        By one friend's umask nobody else could write a mailbox beside theirs, or read it.
        """
        open_to = self.path.stat().st_mode
        for level, bits in ((directory.parent, open_to & 0o1077), (directory, open_to & 0o055)):
            mode = stat.S_IMODE(level.stat().st_mode)
            if bits & ~mode & 0o077:
                with suppress(OSError):  # it is another's, or the disk has no modes
                    level.chmod(mode | bits)
        return open_to & 0o044

    def _open(self, group: str, node: Verifier, name: str) -> BinaryIO:
        descriptor = self._descriptor(group, node, self.mailbox_path(group, node) / name)
        return counted_file(descriptor, name, self.translated, self.count)

    def _descriptor(self, group: str, node: Verifier, path: Path) -> int:
        directory, name = self.mailbox_path(group, node), path.name
        with self.translated(f"The file {name}"):
            for level in (self.room_path(group), directory):
                if level.is_symlink():
                    raise UnreadableFile(f"{level} is a symbolic link, and lace does not follow it.")
            try:
                return open_plain(path)
            except FileNotFoundError:
                if is_real_directory(directory):  # then the medium is here too, and its marker need not be read
                    raise MissingFile(f"The file {name} on {self.path} is missing.") from None
                raise

    def _read_small(self, group: str, node: Verifier, name: str, limit: int) -> bytes | None:
        path = self.mailbox_path(group, node) / name
        try:
            descriptor = self._descriptor(group, node, path)
        except MissingFile:
            return None
        with counted_file(descriptor, name, self.translated, self.count) as file:
            with self.translated(f"The file {name}"):
                found = os.fstat(descriptor)
                known = self._unchanged(path, descriptor, found)
            data = known if known is not None else file.read(limit + 1)
        if len(data) > limit:
            raise BadSnapshot(f"{name} of {node.text} has more than {limit} bytes.")
        if known is None and self.cache is not None:
            self.cache.keep(cached_name(path), found, data)
        return data

    def _unchanged(self, path: Path, descriptor: int, found: os.stat_result) -> bytes | None:
        """Return what is known of an opened file whose ends are as they were; else it stands at its beginning."""
        data = self.cache.known(cached_name(path), found) if self.cache is not None else None
        if data is None or len(data) <= BEGINNING + END:
            return None
        ends = os.read(descriptor, BEGINNING)
        os.lseek(descriptor, -END, os.SEEK_END)
        ends += os.read(descriptor, END)
        self.count.read += len(ends)
        if ends == data[:BEGINNING] + data[-END:]:
            return data
        os.lseek(descriptor, 0, os.SEEK_SET)
        return None


def _write_marker(path: Path, drop_id: str) -> None:
    """Make a directory a drop; nothing is wrong where another program made one of it meanwhile."""
    try:
        write_marker(path, drop_id)
    except EnvironmentFault:
        if not (path / MARKER).exists() or read_marker(path, is_known=False).drop_id == drop_id:
            raise
