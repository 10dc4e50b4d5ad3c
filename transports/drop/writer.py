"""Writing one's own mailbox of a drop: bundles, runs, then the head that makes them count (docs/formats.md section 4).

Each file comes whole or not at all, and a head is written only after the names of what it needs last. A bundle that
was cut off is gone on with by the next one that begins alike.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from blake3 import blake3

from transports.bundles.bundling import BundleWriter, ByteSink
from transports.drop.directory import DropDirectory
from transports.drop.partial import PARTIAL, PartialFile
from transports.errors import BadSnapshot, MissingFile, PlaceFull, UnreadableFile, WriteNotKept
from transports.filecache import cached_name
from transports.index.runfile import encode_run
from transports.index.runs import Run, RunRef
from transports.layout import BEACON_NAME, BUNDLE_LIMIT, BUNDLE_NAME, HEAD_NAME, REQUEST_NAME, RUN_NAME
from transports.mailbox import HEAD_FILE_LIMIT, Cover, covered
from transports.medium import open_plain, set_aside
from transports.past_cache import digest_past_cache
from vault.errors import PlaceError
from vault.files import AtomicFile, fsync_directory, remove_leftovers
from vault.write_behind import WriteBehind

__all__ = ["DropWriter"]


class _Sink:
    """The writing end of an atomic file: counts, and raises place errors only."""

    def __init__(self, file: AtomicFile, drop: DropDirectory) -> None:
        self._file = file
        self._drop = drop

    def write(self, data: bytes | memoryview, /) -> None:
        with self._drop.translated("A new bundle", is_write=True):
            self._file.write(data)
        self._drop.count.written += len(data)


class _PartialSink:
    """The same for a bundle that goes on where an earlier attempt ended."""

    def __init__(self, file: PartialFile, drop: DropDirectory) -> None:
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
    """Writes one mailbox of a drop; it satisfies `MailboxWriter`. `Drop.writer` makes it.

    Args:
        drop: whose mailbox.
        directory: its directory.
        readers: permission bits that its files have whatever the umask.
    """

    def __init__(self, drop: DropDirectory, directory: Path, readers: int = 0) -> None:
        self._drop = drop
        self._directory = directory
        self._readers = readers
        self._written: dict[str, bytes] = {}
        self._is_unflushed = False  # whether names came or went that a power cut may still take back
        self.is_interrupted = os.path.lexists(directory / PARTIAL)

    @contextmanager
    def add_bundle(
        self, *, limit: int = BUNDLE_LIMIT, cover: Cover | None = None, are_copies: bool = False
    ) -> Iterator[BundleWriter]:
        """Begin a bundle; leaving the context finishes it under its digest's name.

        An exception leaves what was written for the next bundle that begins alike; what is encrypted begins alike
        where its salt does.
        """
        del are_copies  # nothing is fetched before it is read
        with self._drop.translated("A new bundle", is_write=True):
            partial = PartialFile.open(self._directory)
            if partial is not None:
                partial.let_read(self._readers)
        if partial is not None:
            yield from self._resume(partial, limit, cover)
            return
        file = AtomicFile(self._directory / "bundle", named_later=True)
        with self._drop.translated("A new bundle", is_write=True):
            file.__enter__().let_read(self._readers)
        try:
            with WriteBehind() as behind:
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
            with WriteBehind() as behind:
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
        self._write(REQUEST_NAME, record)

    def remove_request(self) -> None:
        """Take the request away; nothing happens if there is none."""
        self._remove([REQUEST_NAME])

    def put_beacon(self, record: bytes, *, with_head: bool) -> None:
        """Leave a beacon, or take it away when the record is empty."""
        del with_head  # a file of its own either way
        if record:
            self._write(BEACON_NAME, record)
        else:
            self._remove([BEACON_NAME])

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
        self._write(HEAD_NAME, record)
        if self._drop.cache is not None:
            with self._drop.translated(f"The file {HEAD_NAME}"):
                found = (self._directory / HEAD_NAME).lstat()
            self._drop.cache.keep(cached_name(self._directory / HEAD_NAME), found, record)
        if os.path.lexists(self._directory / PARTIAL):  # of an attempt whose records are not wanted any more
            self._remove([PARTIAL])

    def discard(self, names: Collection[str]) -> None:
        """Delete runs and bundles that no head names any more, for good; missing ones are passed over."""
        self._remove([name for name in names if RUN_NAME.fullmatch(name) or BUNDLE_NAME.fullmatch(name)])
        self._flush()

    def withdraw(self) -> None:
        """Take the whole mailbox away, its head before what that names; nothing happens if there is none.

        The directory goes last: who looks for it finds what a cut left.
        """
        with self._drop.translated("The mailbox", is_write=True):
            remove_leftovers(self._directory)
            files = [entry.name for entry in os.scandir(self._directory) if entry.is_file(follow_symlinks=False)]
        named = (name for name in files if RUN_NAME.fullmatch(name) or BUNDLE_NAME.fullmatch(name))
        self._remove([PARTIAL, BEACON_NAME, HEAD_NAME, *named])
        self.remove_request()
        self._flush()
        with suppress(OSError):  # somebody's own file lies there
            self._directory.rmdir()
            self._directory.parent.rmdir()

    def leave_plain(self) -> None:
        """Do nothing: it is the plain one."""

    def verify_written(self) -> None:
        """Read back every file this writer wrote, past the system's cache where it can be told to.

        Runs and bundles that were not kept go: by name and size they would pass for whole at the next visit.

        Raises:
            WriteNotKept: the medium returns other bytes than were written.
            PlaceError: the medium is gone.
        """
        self._drop.check()
        self._is_unflushed |= not self._written  # what is there may be of a run that was cut off before its flush
        self._flush()
        damaged = [name for name, digest in self._written.items() if self._digest_on_medium(name) != digest]
        if not damaged:
            return
        written = self._written.copy()
        with suppress(PlaceError):
            self.discard(damaged)
        self._written = written  # and are missed as long as they are not written again
        raise WriteNotKept(f"{self._drop.describe()} does not keep what is written: {damaged[0]} is damaged.")

    def tell_lost(self) -> None:
        """Do nothing: the owner of a mailbox looks at it by a repair."""

    def _digest_on_medium(self, name: str) -> bytes | None:
        try:
            with self._drop.translated(f"The file {name}"):
                return digest_past_cache(open_plain(self._directory / name), self._drop.count)
        except (MissingFile, UnreadableFile):
            return None

    def _write(self, name: str, data: bytes, *, named_later: bool = False) -> None:
        with self._drop.translated(f"The file {name}", is_write=True):
            set_aside(self._directory / name)
            with AtomicFile(self._directory / name, named_later=named_later) as file:
                file.let_read(self._readers)
                file.write(data)
        self._is_unflushed = named_later
        self._drop.count.written += len(data)
        self._written[name] = blake3(data).digest()

    def _remove(self, names: Collection[str]) -> None:
        with self._drop.translated("The mailbox", is_write=True):
            for name in names:
                self._written.pop(name, None)
                set_aside(self._directory / name)
                with suppress(FileNotFoundError):
                    (self._directory / name).unlink()
                    self._is_unflushed = True

    def _flush(self) -> None:
        """Make the names last that came, and those that went stay away."""
        if self._is_unflushed:
            with self._drop.translated("The mailbox", is_write=True):
                fsync_directory(self._directory)
            self._is_unflushed = False


def _bundle(sink: ByteSink, limit: int, cover: Cover | None, behind: WriteBehind) -> BundleWriter:
    over = cover(sink) if cover is not None else None
    return BundleWriter(over or sink, limit=limit, stored=over.finish if over else None, behind=behind)
