"""A mailbox in one file, to mail or to carry (decision 5; docs/formats.md section 4, "One file").

The file holds what a mailbox on a drop holds: bundles, runs and a sealed head, and before them what its reader must
have already. It is written front to back beside its place, under a name ending in `.part`; a part that was left is
gone on with: whole bundles in it are kept.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from io import SEEK_END, BufferedReader
from pathlib import Path
from typing import BinaryIO, Self, cast

from transports.bundles.bundling import BundleWriter
from transports.drop.part import open_part
from transports.errors import BadOneFile, MissingFile, PlaceNotWritable, WriteNotKept
from transports.index.runfile import encode_run
from transports.index.runs import Run, RunRef
from transports.layout import BUNDLE_LIMIT, MIB, ONE_FILE, group_directory
from transports.mailbox import HEAD_FILE_LIMIT, ByteCount, Cover, covered
from transports.medium import fault_of, open_plain
from transports.onefile.entries import (
    BUNDLE,
    ENTRY_BYTES,
    HEAD,
    NEEDS,
    NO_NAME,
    RUN,
    Entry,
    Header,
    begin,
    close_off,
    has_its_digest,
    salvage,
    scan,
    start_of,
)
from transports.positioned import PositionedFile
from vault.errors import EnvironmentFault, LaceError
from vault.files import free_bytes, fsync_directory
from vault.records.hashes import Verifier

__all__ = ["OneFile"]

_BUNDLE_BYTES = 32 * MIB  # of one bundle in the file: what an interruption can cost at most
_SMALL = HEAD_FILE_LIMIT
_READ_AHEAD = 64 * 1024  # bytes
_LEVEL = 6  # of zstd: what is mailed is made once, and travels slowly


class _Window(PositionedFile):
    """Part of the file, read from where it lies."""

    def __init__(self, file: BinaryIO, start: int, size: int, count: ByteCount) -> None:
        super().__init__(size)
        self._file, self._start, self._count = file, start, count

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        self._file.seek(self._start + self._at)
        piece = self._file.read(max(0, min(len(buffer), self._size - self._at)))
        buffer[: len(piece)] = piece
        self._at += len(piece)
        self._count.read += len(piece)
        return len(piece)

    def close(self) -> None:
        if not self.closed:
            super().close()
            self._file.close()


class OneFile:
    """One file with one mailbox; it satisfies `MailboxMedium`. Use `open` or `create`.

    Args:
        path: where it lies, or is to lie when it is finished.
        header: whose it is.
        entries: what is in it.
        is_read_only: whether it is whole, and so only read.
    """

    kind = ONE_FILE
    tells_room = True
    warnings: Sequence[LaceError] = ()

    def __init__(self, path: Path, header: Header, entries: list[Entry], is_read_only: bool) -> None:
        self.path = path
        self.is_read_only = is_read_only
        self.count = ByteCount()
        self._header = header
        self._entries = entries
        self._writing: BinaryIO | None = None
        self.needed: bytes | None = None
        """What the reader must have, to be written when the file is finished."""

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open a finished file after checking every byte of it against its digest.

        Raises:
            BadOneFile: it is none, it is cut off, or a byte was changed on the way.
            MissingFile, UnreadableFile, PlaceError: it cannot be read.
        """
        with _translated(path), os.fdopen(open_plain(path), "rb") as file:
            size = file.seek(0, SEEK_END)
            header, entries, end = scan(file, size)
            is_right = has_its_digest(file, size, end) if end is not None else None
            if header is None or is_right is None:
                raise BadOneFile(f"{path.name} is not a finished bundle file, or it was cut off on the way.")
            if not is_right:
                raise BadOneFile(f"{path.name} was changed on the way: its bytes do not match its digest.")
            made = cls(path, header, entries, is_read_only=True)
            made.count.read = size
            return made

    @classmethod
    def create(cls, path: Path, room: str, mailbox: Callable[[str], Verifier], entropy: Callable[[int], bytes]) -> Self:
        """Begin a file, or go on with the part that an interruption left of the same mailbox.

        Args:
            path: where it is to lie.
            room: what stands for the group; may hold `{id}` for the id of the file.
            mailbox: returns the name of the mailbox in a file with this id.
            entropy: gives the id its randomness.

        Raises:
            PlaceError: it cannot be written.
        """
        with _translated(path, is_write=True):
            file = open_part(_part(path))
            try:
                header, entries = salvage(file)
                if header is None or header != _header(room, mailbox, header.id):
                    header, entries = _header(room, mailbox, entropy(16)), []
                    begin(file, header)
            except BaseException:
                _let_go(file)
                raise
        made = cls(path, header, entries, is_read_only=False)
        made._writing = file
        return made

    @property
    def place_id(self) -> str:
        """The id of the file: 32 hex characters."""
        return self._header.id.hex()

    def describe(self) -> str:
        """Return the path of the file."""
        return str(self.path)

    def check(self) -> None:
        """Do nothing: what was opened is whole, and what is being written is looked at when it is finished."""

    def close(self) -> None:
        """Let go of the part that is being written; what is opened for a look is closed after it.

        A part in which nothing is whole goes: there is nothing to go on with.
        """
        file, self._writing = self._writing, None
        if file is not None:
            if not self._entries:
                with suppress(OSError):
                    _part(self.path).unlink()
            _let_go(file)

    def nodes(self, group: str) -> list[Verifier]:
        """Return the one mailbox, if it is of this group."""
        is_here = bytes.fromhex(group_directory(group)) == self._header.group
        return [Verifier(self._header.mailbox)] if is_here else []

    def read_head(self, group: str, node: Verifier) -> bytes | None:
        """Return the bytes of the snapshot head, or None if there is none."""
        return self._small(HEAD) if node in self.nodes(group) else None

    def read_request(self, group: str, node: Verifier) -> bytes | None:
        """Return None: nobody asks by a file."""
        del group, node
        return None

    def read_beacon(self, group: str, node: Verifier) -> bytes | None:
        """Return None: a file that was mailed says how things were."""
        del group, node
        return None

    def needs(self) -> bytes | None:
        """Return what the file says its reader must have, as it was put there."""
        return self._small(NEEDS)

    def open_file(self, group: str, node: Verifier, name: str) -> BinaryIO:
        """Open a run or bundle for reading.

        Raises:
            MissingFile: there is none of that name.
        """
        if node in self.nodes(group):
            for entry in self._entries:
                if entry.kind in {BUNDLE, RUN} and entry.file_name == name:
                    with _translated(self.path):
                        file = self._opened()
                    window = _Window(file, entry.offset, entry.size, self.count)
                    return cast(BinaryIO, BufferedReader(window, _READ_AHEAD))
        raise MissingFile(f"The file {name[:60]} is missing.")

    def reveal(self, file: BinaryIO) -> BinaryIO:
        """Return the file: nothing is encrypted by this road itself."""
        return file

    def files(self, group: str, node: Verifier) -> dict[str, int]:
        """Return name and size in bytes of the runs and bundles."""
        found = self._entries if node in self.nodes(group) else []
        return {entry.file_name: entry.size for entry in found if entry.kind in {BUNDLE, RUN}}

    def free_bytes(self, group: str, node: Verifier) -> int | None:
        """Return the bytes that still fit where the file is to lie."""
        del group, node
        return free_bytes(self.path.parent)

    def writer(self, group: str, node: Verifier) -> _Writer:
        """Open the mailbox for writing.

        Raises:
            PlaceNotWritable: it is finished, or another one's.
        """
        if self.is_read_only or node not in self.nodes(group):
            raise PlaceNotWritable(f"{self.path.name} is finished; nothing is added to it.")
        return _Writer(self)

    def _small(self, kind: bytes) -> bytes | None:
        for entry in self._entries:
            if entry.kind == kind:
                if entry.size > _SMALL:
                    raise BadOneFile(f"{self.path.name} holds a head that is too large.")
                with _translated(self.path), self._opened() as file:
                    file.seek(entry.offset)
                    return file.read(entry.size)
        return None

    def _opened(self) -> BinaryIO:
        return os.fdopen(open_plain(self.path if self.is_read_only else _part(self.path)), "rb")

    # For the writer

    @contextmanager
    def appended(self, kind: bytes) -> Iterator[_Appending]:
        """Append an entry whose size is known when it is whole; what goes wrong leaves the part as it was."""
        with _translated(self.path, is_write=True):
            file = self._being_written()
            start = file.seek(0, SEEK_END)
            try:
                appending = _Appending(file, self.count)
                file.write(start_of(b"?", 0))
                yield appending
                size = file.tell() - start - ENTRY_BYTES
                file.seek(start)
                file.write(start_of(kind, size, appending.name))
                file.flush()
            except BaseException:
                with suppress(OSError):
                    file.truncate(start)
                raise
            self._entries.append(Entry(kind, appending.name, start + ENTRY_BYTES, size))

    def finish(self, head: bytes) -> None:
        """Write the head and the digest, flush all of it, and let the file appear under its name.

        Raises:
            PlaceNotWritable: it is not being written, another file has that name by now, or the disk refuses.
        """
        if self.needed is not None:
            with self.appended(NEEDS) as entry:
                entry.write(self.needed)
        with self.appended(HEAD) as entry:
            entry.write(head)
        with _translated(self.path, is_write=True):
            file = self._being_written()
            close_off(file)
            os.fsync(file.fileno())
            if self.path.exists():
                way = "Move it away and run the same command again: what was written is gone on with."
                raise PlaceNotWritable(f"{self.path} was not there before, and is not written over.", hint=way)
            _part(self.path).replace(self.path)
            fsync_directory(self.path.parent)
        self.is_read_only = True
        self.close()

    def _being_written(self) -> BinaryIO:
        if self._writing is None:
            raise PlaceNotWritable(f"{self.path.name} is not being written any more.")
        return self._writing


class _Appending:
    def __init__(self, file: BinaryIO, count: ByteCount) -> None:
        self._file, self._count = file, count
        self.name = NO_NAME

    def write(self, data: bytes | memoryview, /) -> None:
        self._file.write(data)
        self._count.written += len(data)


class _Writer:
    """Writes the mailbox; it satisfies `MailboxWriter`."""

    def __init__(self, place: OneFile) -> None:
        self._place = place

    @contextmanager
    def add_bundle(
        self, *, limit: int = BUNDLE_LIMIT, cover: Cover | None = None, are_copies: bool = False
    ) -> Iterator[BundleWriter]:
        """Begin a bundle; leaving the context finishes it, an exception drops it."""
        del are_copies  # nothing of it is fetched apart
        with self._place.appended(BUNDLE) as sink:
            over = cover(sink) if cover is not None else None
            limit = min(limit, _BUNDLE_BYTES)
            bundle = BundleWriter(over or sink, level=_LEVEL, limit=limit, stored=over.finish if over else None)
            yield bundle
            sink.name = bundle.finish().digest[:16]

    def add_run(self, run: Run, cover: Cover | None = None) -> RunRef:
        """Write an index run and return how a head names it."""
        data, digest = covered(encode_run(run)[0], cover)
        with self._place.appended(RUN) as sink:
            sink.write(data)
            sink.name = digest[:16]
        return RunRef(digest, len(run), len(data))

    def put_request(self, record: bytes) -> None:
        """Refuse: nobody asks by a file."""
        raise PlaceNotWritable("A bundle file carries no request.")

    def remove_request(self) -> None:
        """Do nothing: there is none."""

    def put_beacon(self, record: bytes, *, with_head: bool) -> None:
        """Refuse: nobody looks there for news."""
        raise PlaceNotWritable("A bundle file carries no beacon.")

    def publish_head(self, record: bytes, runs: Collection[str] | None = None) -> None:
        """Finish the file."""
        del runs
        self._place.finish(record)

    def discard(self, names: Collection[str]) -> None:
        """Do nothing: a file that is finished stays as it is."""

    def withdraw(self) -> None:
        """Do nothing: who has the file deletes it."""

    def leave_plain(self) -> None:
        """Do nothing: a file holds one mailbox."""

    def verify_written(self) -> None:
        """Read the file back, whole.

        Raises:
            WriteNotKept: the medium returns other bytes than were written.
        """
        try:
            OneFile.open(self._place.path)
        except BadOneFile as error:
            raise WriteNotKept(f"{self._place.path} is not what was written: {error.message}") from error

    @property
    def is_interrupted(self) -> bool:
        """Nothing is left that could be used: what was cut is begun anew, or known to the host by its pieces."""
        return False

    def tell_lost(self) -> None:
        """Do nothing: the owner of a mailbox looks at it by a repair."""


def _part(path: Path) -> Path:
    return path.with_name(path.name + ".part")


def _header(room: str, mailbox: Callable[[str], Verifier], identifier: bytes) -> Header:
    group = bytes.fromhex(group_directory(room.replace("{id}", identifier.hex())))
    return Header(identifier, group, mailbox(identifier.hex()).key)


@contextmanager
def _translated(path: Path, *, is_write: bool = False) -> Iterator[None]:
    try:
        yield
    except (OSError, EnvironmentFault) as error:
        raise fault_of(error, f"The file {path}", is_here=path.parent.is_dir(), is_write=is_write) from error


def _let_go(file: BinaryIO) -> None:
    with suppress(OSError):  # a buffer that fits nowhere
        file.close()
