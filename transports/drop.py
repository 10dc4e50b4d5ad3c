"""A drop: mailboxes in a directory, such as one on a USB stick (docs/formats.md section 4).

Names are made of hex digits only, so any file system will do. A path that leads through a symbolic link below
the drop's own directory is refused. Whatever the system reports becomes an error that says whether the medium
is gone, full, write-protected or damaged: the drop's marker file tells the first from the last.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Self

from blake3 import blake3

from transports.bundling import BundleWriter, ByteSink
from transports.errors import (
    BadSnapshot,
    DropNotEmpty,
    MissingFile,
    PlaceFull,
    PlaceNotWritable,
    UnreadableFile,
    WriteNotKept,
    WrongDrop,
)
from transports.kept import BEGINNING, END, KeptFiles
from transports.layout import BUNDLE_LIMIT, BUNDLE_NAME, RUN_NAME
from transports.mailbox import BEACON_FILE_LIMIT, HEAD_FILE_LIMIT, REQUEST_FILE_LIMIT, ByteCount, Cover, covered
from transports.marker import MARKER, Marker, marker_text, read_marker
from transports.medium import counted_file, digest_past_cache, fault_of, is_real_directory, open_plain
from transports.partial import PARTIAL, PartialFile
from transports.runs import Run, RunRef, encode_run
from vault.behind import Behind
from vault.errors import EnvironmentFault, LaceError
from vault.files import AtomicFile, fsync_directory, remove_leftovers
from vault.records.hashes import Verifier

__all__ = ["Drop", "DropWriter", "group_directory"]

_HEAD = "head.rec"
_REQUEST = "request.rec"
_BEACON = "beacon.rec"
_NODE = re.compile(r"[0-9a-f]{64}", re.ASCII)
_NODES_LIMIT = 4096  # mailboxes of one group: a circle of friends is far smaller
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


class Drop:
    """One drop directory; it satisfies `MailboxPlace`.

    Use `create` or `open`.

    Args:
        path: the directory that holds the marker file.
        drop_id: 32 hex characters that were read from it.
    """

    kind = "drop"
    is_read_only = False

    def __init__(self, path: Path, drop_id: str) -> None:
        self.path = path
        self.drop_id = drop_id
        self.count = ByteCount()
        self.kept: KeptFiles | None = None
        """The small files as they lay here last, where that is remembered."""
        self._marker: Marker | None = None

    @classmethod
    def create(cls, path: Path, *, entropy: Callable[[int], bytes]) -> Self:
        """Make a drop of an empty or new directory, or open the drop that is there.

        Args:
            path: the directory; the one above it must be there.
            entropy: gives the id its randomness.

        Raises:
            DropNotEmpty: the directory holds other things.
            PlaceError: its parent is missing, or it cannot be written.
        """
        try:
            if not path.exists():
                path.mkdir()
                fsync_directory(path.parent)
            names = {name.casefold() for name in os.listdir(path)}  # noqa: PTH208 - names only
            if MARKER in names:
                return cls.open(path)
            strangers = {name for name in names if name not in _CLUTTER and not name.endswith(".tmp")}
            if strangers:
                raise DropNotEmpty(
                    f"{path} is not empty, so lace makes no drop of it.",
                    hint=f"Name a new sub-directory, for example {path / 'lace'}",
                )
            drop_id = entropy(16).hex()
            with AtomicFile(path / MARKER) as file:
                file.write(marker_text(drop_id))
        except (OSError, EnvironmentFault) as error:
            is_here = path.parent.is_dir()
            raise fault_of(error, f"The drop {path}", is_here=is_here, is_write=True) from error
        return cls(path, drop_id)

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

    def remember(self, home: Path) -> None:
        """Keep what was read of small files below a directory of the vault, from one visit to the next."""
        self.kept = KeptFiles(home, self.drop_id)

    @property
    def place_id(self) -> str:
        """The drop's id: 32 hex characters."""
        return self.drop_id

    def describe(self) -> str:
        """Return the path of the directory."""
        return str(self.path)

    def check(self) -> None:
        """Refuse to go on if the medium went away or another one took its place.

        Raises:
            PlaceUnreachable: it is gone.
            WrongDrop: another drop is there.
        """
        if self._marker is None or not self._marker.lies_in(self.path):
            self._read_marker(self.drop_id)

    def close(self) -> None:
        """Write down what was read of small files; every file was closed where it was used."""
        if self.kept is not None:
            self.kept.close()

    def nodes(self, group: str) -> list[Verifier]:
        """Return the nodes that have a mailbox for this group id, sorted by key."""
        nodes: list[Verifier] = []
        with self.translated("The list of mailboxes"):
            parent = self.path / group_directory(group)
            if not is_real_directory(parent):
                self.check()
                return nodes
            with os.scandir(parent) as entries:
                for entry in entries:
                    if _NODE.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
                        nodes.append(Verifier(bytes.fromhex(entry.name)))
                    if len(nodes) > _NODES_LIMIT:
                        raise UnreadableFile(f"{parent} holds more than {_NODES_LIMIT} mailboxes.")
        return sorted(nodes)

    def read_head(self, group: str, node: Verifier) -> bytes | None:
        """Return the bytes of a node's snapshot head, or None if there is none."""
        return self._read_small(group, node, _HEAD, HEAD_FILE_LIMIT)

    def read_request(self, group: str, node: Verifier) -> bytes | None:
        """Return the bytes of a node's request, or None if there is none."""
        return self._read_small(group, node, _REQUEST, REQUEST_FILE_LIMIT)

    def read_beacon(self, group: str, node: Verifier) -> bytes | None:
        """Return the bytes of a node's beacon, or None if there is none."""
        return self._read_small(group, node, _BEACON, BEACON_FILE_LIMIT)

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

    def writer(self, group: str, node: Verifier) -> DropWriter:
        """Open this node's own mailbox for writing, making it if needed.

        Raises:
            PlaceError: the medium is gone, full or write-protected, or another drop took its place.
        """
        self.check()
        directory = self.mailbox_path(group, node)
        with self.translated(f"The mailbox {directory}", is_write=True):
            for level in (directory.parent, directory):
                if level.is_symlink():
                    raise PlaceNotWritable(f"{level} is a symbolic link, and lace does not write through it.")
                if not level.exists():
                    level.mkdir(exist_ok=True)
                    fsync_directory(level.parent)
            remove_leftovers(directory)
        return DropWriter(self, directory)

    def mailbox_path(self, group: str, node: Verifier) -> Path:
        """Return the directory of a node's mailbox."""
        return self.path / group_directory(group) / node.key.hex()

    @contextmanager
    def translated(self, what: str, *, is_write: bool = False) -> Iterator[None]:
        """Turn what the system reports about `what` into the error that says who or what is to blame."""
        try:
            yield
        except (OSError, EnvironmentFault) as error:
            named = f"{what} on {self.path}"
            raise fault_of(error, named, is_here=self._is_here(), is_write=is_write) from error

    def _read_marker(self, expected_id: str | None) -> str:
        """Read the marker, whatever is known of it; return the id in it."""
        self._marker = None
        found = read_marker(self.path, is_known=expected_id is not None)
        self.count.read += found.size
        if expected_id is not None and found.drop_id != expected_id:
            raise WrongDrop(f"{self.path} holds the drop {found.drop_id}, and {expected_id} was expected there.")
        self._marker = found
        return found.drop_id

    def _is_here(self) -> bool:
        try:
            self._read_marker(self.drop_id)
        except LaceError:
            return False
        return True

    def _open(self, group: str, node: Verifier, name: str) -> BinaryIO:
        return counted_file(self._descriptor(group, node, name), name, self.translated, self.count)

    def _descriptor(self, group: str, node: Verifier, name: str) -> int:
        directory = self.mailbox_path(group, node)
        with self.translated(f"The file {name}"):
            for level in (directory.parent, directory):
                if level.is_symlink():
                    raise UnreadableFile(f"{level} is a symbolic link, and lace does not follow it.")
            try:
                return open_plain(directory / name)
            except FileNotFoundError:
                if is_real_directory(directory):  # then the medium is here too, and its marker need not be read
                    raise MissingFile(f"The file {name} on {self.path} is missing.") from None
                raise

    def _read_small(self, group: str, node: Verifier, name: str, limit: int) -> bytes | None:
        path = self.mailbox_path(group, node) / name
        try:
            descriptor = self._descriptor(group, node, name)
        except MissingFile:
            return None
        with counted_file(descriptor, name, self.translated, self.count) as file:
            with self.translated(f"The file {name}"):
                found = os.fstat(descriptor)
                known = self._unchanged(path, descriptor, found)
            data = known if known is not None else file.read(limit + 1)
        if len(data) > limit:
            raise BadSnapshot(f"{name} of {node.text} has more than {limit} bytes.")
        if known is None and self.kept is not None:
            self.kept.keep(_kept_name(path), found, data)
        return data

    def _unchanged(self, path: Path, descriptor: int, found: os.stat_result) -> bytes | None:
        """Return what is known of an opened file whose ends are as they were; else it stands at its beginning."""
        data = self.kept.known(_kept_name(path), found) if self.kept is not None else None
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


class _Sink:
    """The writing end of an atomic file: counts, and raises place errors only."""

    def __init__(self, file: AtomicFile, drop: Drop) -> None:
        self._file = file
        self._drop = drop

    def write(self, data: bytes | memoryview, /) -> None:
        with self._drop.translated("A new bundle", is_write=True):
            self._file.write(data)
        self._drop.count.written += len(data)


class _PartialSink:
    """The same for a bundle that goes on where an earlier attempt ended."""

    def __init__(self, file: PartialFile, drop: Drop) -> None:
        self._file = file
        self._drop = drop

    def write(self, data: bytes | memoryview, /) -> None:
        file, count = self._file, self._drop.count
        written, compared = file.written, file.compared
        try:
            with self._drop.translated("A new bundle", is_write=True):
                file.write(data)
        except PlaceFull:
            file.discard()  # the room is worth more than what was written
            raise
        finally:
            count.written += file.written - written
            count.read += file.compared - compared


class DropWriter:
    """Writes one mailbox of a drop; it satisfies `MailboxWriter`. `Drop.writer` makes it."""

    def __init__(self, drop: Drop, directory: Path) -> None:
        self._drop = drop
        self._directory = directory
        self._written: dict[str, bytes] = {}
        self._is_unflushed = False  # whether names came or went that a power cut may still take back
        self.is_interrupted = os.path.lexists(directory / PARTIAL)

    @contextmanager
    def add_bundle(self, *, limit: int = BUNDLE_LIMIT, cover: Cover | None = None) -> Iterator[BundleWriter]:
        """Begin a bundle; leaving the context finishes it under its digest's name.

        An exception leaves what was written for the next bundle that begins alike; what is encrypted begins alike
        where its salt does.
        """
        with self._drop.translated("A new bundle", is_write=True):
            partial = PartialFile.open(self._directory)
        if partial is not None:
            yield from self._resume(partial, limit, cover)
            return
        file = AtomicFile(self._directory / "bundle", named_later=True)
        with self._drop.translated("A new bundle", is_write=True):
            file.__enter__()
        try:
            with Behind() as behind:
                bundle = _bundle(_Sink(file, self._drop), limit, cover, behind)
                yield bundle
                index = bundle.finish()
        except BaseException as error:
            file.__exit__(type(error), error, error.__traceback__)
            raise
        file.path = self._directory / index.name
        with self._drop.translated(f"The bundle {index.name}", is_write=True):
            file.__exit__(None, None, None)
        self._is_unflushed = True
        self._written[index.name] = index.digest

    def _resume(self, file: PartialFile, limit: int, cover: Cover | None) -> Iterator[BundleWriter]:
        try:
            with Behind() as behind:
                bundle = _bundle(_PartialSink(file, self._drop), limit, cover, behind)
                yield bundle
                index = bundle.finish()
            with self._drop.translated(f"The bundle {index.name}", is_write=True):
                file.finish(index.name)
                self._is_unflushed = True
                (self._directory / PARTIAL).touch()  # until a head names the bundle
        finally:
            file.close()
        self._written[index.name] = index.digest

    def add_run(self, run: Run, cover: Cover | None = None) -> RunRef:
        """Write an index run and return how a head names it."""
        data, digest = covered(encode_run(run)[0], cover)
        ref = RunRef(digest, len(run), len(data))
        self._write(ref.name, data, named_later=True)
        return ref

    def put_request(self, record: bytes) -> None:
        """Leave a request to be admitted."""
        self._write(_REQUEST, record)

    def remove_request(self) -> None:
        """Take the request away; nothing happens if there is none."""
        self._remove([_REQUEST])

    def put_beacon(self, record: bytes, *, with_head: bool) -> None:
        """Leave a beacon, or take it away when the record is empty."""
        del with_head  # a file of its own either way
        if record:
            self._write(_BEACON, record)
        else:
            self._remove([_BEACON])

    def publish_head(self, record: bytes, runs: Collection[str] | None = None) -> None:
        """Make everything written so far the mailbox's state.

        Raises:
            BadSnapshot: the head is larger than the format allows.
            PlaceError: the medium is gone, full or write-protected, or another drop took its place.
        """
        del runs  # every file of a drop says by itself what it is
        if len(record) > HEAD_FILE_LIMIT:
            raise BadSnapshot(f"A snapshot head of {len(record)} bytes is too large.")
        self._drop.check()
        self._flush()  # a head that lasts names files that last
        self._write(_HEAD, record)
        if self._drop.kept is not None:
            with self._drop.translated(f"The file {_HEAD}"):
                found = (self._directory / _HEAD).lstat()
            self._drop.kept.keep(_kept_name(self._directory / _HEAD), found, record)
        if os.path.lexists(self._directory / PARTIAL):  # of an attempt whose records are not wanted any more
            self._remove([PARTIAL])

    def discard(self, names: Collection[str]) -> None:
        """Delete runs and bundles that no head names any more; missing ones are passed over."""
        self._remove([name for name in names if RUN_NAME.fullmatch(name) or BUNDLE_NAME.fullmatch(name)])

    def withdraw(self) -> None:
        """Take the whole mailbox away, its head first; nothing happens if there is none."""
        with self._drop.translated("The mailbox", is_write=True):
            files = [entry.name for entry in os.scandir(self._directory) if entry.is_file(follow_symlinks=False)]
        self._remove([_HEAD, *(name for name in files if RUN_NAME.fullmatch(name) or BUNDLE_NAME.fullmatch(name))])
        self.remove_request()
        self._remove([_BEACON, PARTIAL])
        self._flush()
        with suppress(OSError):  # somebody's own file lies there
            self._directory.rmdir()
            self._directory.parent.rmdir()

    def verify_written(self) -> None:
        """Read back every file this writer wrote, past the system's cache where it can be told to.

        Raises:
            WriteNotKept: the medium returns other bytes than were written.
            PlaceError: the medium is gone.
        """
        self._drop.check()
        self._flush()
        for name, digest in self._written.items():
            if self._digest_on_medium(name) != digest:
                raise WriteNotKept(f"{self._drop.describe()} does not keep what is written: {name} is damaged.")

    def free_bytes(self) -> int:
        """Return the bytes that still fit on the medium."""
        with self._drop.translated("The free space"):
            begun = self._directory / PARTIAL
            return shutil.disk_usage(self._drop.path).free + (begun.lstat().st_size if os.path.lexists(begun) else 0)

    def _digest_on_medium(self, name: str) -> bytes | None:
        try:
            with self._drop.translated(f"The file {name}"):
                return digest_past_cache(open_plain(self._directory / name), self._drop.count)
        except (MissingFile, UnreadableFile):
            return None

    def _write(self, name: str, data: bytes, *, named_later: bool = False) -> None:
        with (
            self._drop.translated(f"The file {name}", is_write=True),
            AtomicFile(self._directory / name, named_later=named_later) as file,
        ):
            file.write(data)
        self._is_unflushed = named_later
        self._drop.count.written += len(data)
        self._written[name] = blake3(data).digest()

    def _remove(self, names: Collection[str]) -> None:
        with self._drop.translated("The mailbox", is_write=True):
            for name in names:
                self._written.pop(name, None)
                with suppress(FileNotFoundError):
                    (self._directory / name).unlink()
                    self._is_unflushed = True

    def _flush(self) -> None:
        """Make the names last that came, and those that went stay away."""
        if self._is_unflushed:
            with self._drop.translated("The mailbox", is_write=True):
                fsync_directory(self._directory)
            self._is_unflushed = False


def _bundle(sink: ByteSink, limit: int, cover: Cover | None, behind: Behind) -> BundleWriter:
    over = cover(sink) if cover is not None else None
    return BundleWriter(over or sink, limit=limit, stored=over.finish if over else None, behind=behind)


def _kept_name(path: Path) -> str:
    return "/".join(path.parts[-3:])  # group, mailbox, file


def group_directory(group: str) -> str:
    """Return the name of a group's directory: it tells members apart and strangers nothing."""
    return blake3(group.encode()).hexdigest()[:16]
