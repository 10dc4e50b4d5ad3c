"""A tree as an archive that any system can unpack: for people who do not use lace (CYB-6).

The bytes follow from the tree, the name of its top folder and one time alone: two people who archive one release have
the same file, and can compare its SHA-512 aloud.
"""

from __future__ import annotations

import gzip
import hashlib
import tarfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Final, NamedTuple, Protocol, cast

from vault.desks.chunks import check_here, entry_pieces
from vault.desks.pages import Entry
from vault.desks.ports import Source
from vault.desks.tree import walk
from vault.errors import CallerError
from vault.files import AtomicFile, remove_leftovers
from vault.records import RecordHash

__all__ = ["ENDINGS", "Archived", "NoSuchArchive", "archived_before", "check_ending", "write_archive"]

ENDINGS: Final = (".tar", ".tar.gz", ".tgz", ".tar.zst")
_LEVEL = 6  # of gzip and of zstd alike
_PLAIN, _PROGRAM = 0o644, 0o755


class NoSuchArchive(CallerError):
    """A name whose ending stands for no kind of archive."""

    code = "no-such-archive"
    exit_code = 2
    hint = f"Let it end with one of {', '.join(ENDINGS)}."


class Archived(NamedTuple):
    """An archive that was written.

    Args:
        files: files and links in it.
        bytes: size of the archive.
        sha512: of the archive, in hex.
    """

    files: int
    bytes: int
    sha512: str


class _Sink(Protocol):
    def write(self, data: bytes, /) -> object:
        """Take bytes."""


class _OtherBytes(Exception):
    """A file holds other bytes than an archive would."""


class _Comparing:
    """Compares the bytes of an archive with those of a file."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._differs = False

    def write(self, data: bytes, /) -> int:
        if self._differs:  # what packs them is closed on the way out, and writes its end
            return len(data)
        self._differs = self._file.read(len(data)) != data
        if self._differs:
            raise _OtherBytes
        return len(data)


class _Hashing:
    """Passes bytes on, and knows their number and SHA-512."""

    def __init__(self, sink: _Sink) -> None:
        self._sink = sink
        self.size = 0
        self.hasher = hashlib.sha512()

    def write(self, data: bytes, /) -> int:
        self._sink.write(bytes(data))
        self.hasher.update(data)
        self.size += len(data)
        return len(data)

    def flush(self) -> None:
        """Do nothing: the file is flushed when it is whole."""


class _Pieces:
    """A content that arrives in pieces, to be read."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._left = b""

    def read(self, size: int, /) -> bytes:
        parts, missing = [], size
        while missing:
            part = self._left or next(self._pieces, b"")
            if not part:
                break
            parts.append(part[:missing])
            self._left = part[missing:]
            missing -= len(parts[-1])
        return b"".join(parts)


def check_ending(path: Path) -> None:
    """Refuse a name that says no kind of archive.

    Raises:
        NoSuchArchive: it ends otherwise.
    """
    if not path.name.lower().endswith(ENDINGS):
        raise NoSuchArchive(f"{path.name[:60]!r} says no kind of archive.")


def write_archive(
    source: Source,
    root: RecordHash,
    path: Path,
    *,
    folder: str,
    seconds: int,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> Archived:
    """Write a tree as an archive, whole or not at all; memory does not follow the size of a file.

    Args:
        source: where trees and contents are read.
        root: the tree.
        path: the archive; its ending says of what kind.
        folder: the one folder that everything in it lies in.
        seconds: since 1970, the time of everything in it.
        progress: told how many entries are done, of how many; may raise to stop.

    Raises:
        NoSuchArchive: the ending says no kind.
        MissingObject: a content is not here; nothing is written.
        DiskFull, NotWritable: the archive cannot be written.
    """
    check_ending(path)
    if path.parent.is_dir():
        remove_leftovers(path.parent, path.name)  # of a run that was killed
    packing = _Packing(source, root, path.name.lower(), folder, seconds, progress)
    with AtomicFile(path) as file:
        return packing.into(file)


def archived_before(
    source: Source,
    root: RecordHash,
    path: Path,
    *,
    folder: str,
    seconds: int,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> Archived | None:
    """Return what `write_archive` would say of a file that is to the byte what it would write; None for any other."""
    if path.is_symlink() or not path.is_file():
        return None
    try:
        with path.open("rb") as file:
            found = _Packing(source, root, path.name.lower(), folder, seconds, progress).into(_Comparing(file))
            return None if file.read(1) else found
    except (_OtherBytes, OSError):
        return None


class _Packing(NamedTuple):
    """A tree that goes into an archive, as `write_archive` is told; `name` says of what kind."""

    source: Source
    root: RecordHash
    name: str
    folder: str
    seconds: int
    progress: Callable[[int, int], None]

    def into(self, file: _Sink) -> Archived:
        """Write the archive there; nothing where a content is not here."""
        files = total = 0
        for _, entry in walk(self.source, self.root):
            total += 1
            if not entry.is_dir:
                check_here(self.source, entry)
                files += 1
        sink = _Hashing(file)
        with ExitStack() as stack:
            packed = _packing(stack, sink, self.name)
            tar = stack.enter_context(
                tarfile.open(fileobj=cast(IO[bytes], packed), mode="w|", format=tarfile.PAX_FORMAT)
            )
            tar.addfile(_info(self.folder, self.seconds, tarfile.DIRTYPE, _PROGRAM))
            for number, (inner, entry) in enumerate(walk(self.source, self.root), start=1):
                _add(tar, self.source, f"{self.folder}/{inner}", entry, self.seconds)
                self.progress(number, total)
        return Archived(files, sink.size, sink.hasher.hexdigest())


def _packing(stack: ExitStack, sink: _Hashing, name: str) -> _Sink:
    if name.endswith((".gz", ".tgz")):
        file = gzip.GzipFile("", "wb", _LEVEL, cast(IO[bytes], sink), mtime=0)
        return cast(_Sink, stack.enter_context(file))
    if name.endswith(".zst"):
        import zstandard  # one kind of archive needs it

        writer = zstandard.ZstdCompressor(level=_LEVEL).stream_writer(cast(IO[bytes], sink), closefd=False)
        return cast(_Sink, stack.enter_context(writer))
    return sink


def _add(tar: tarfile.TarFile, source: Source, name: str, entry: Entry, seconds: int) -> None:
    if entry.is_dir:
        tar.addfile(_info(name, seconds, tarfile.DIRTYPE, _PROGRAM))
    elif entry.kind == "l":
        link = _info(name, seconds, tarfile.SYMTYPE, 0o777)
        link.linkname = b"".join(entry_pieces(source, entry)).decode("utf-8", "surrogateescape")
        tar.addfile(link)
    else:
        file = _info(name, seconds, tarfile.REGTYPE, _PROGRAM if entry.mode == "x" else _PLAIN)
        file.size = entry.size
        tar.addfile(file, cast(IO[bytes], _Pieces(entry_pieces(source, entry))))


def _info(name: str, seconds: int, kind: bytes, mode: int) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.mode, info.mtime = kind, mode, seconds
    return info
