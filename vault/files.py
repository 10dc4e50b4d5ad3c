"""Files that are whole or not there: what lace writes beside its database goes through here (APP-13, LAZ-79).

A file is written under a temporary name in its own directory, flushed to the disk, renamed over the old one,
and its directory flushed. So a crash at any instant leaves the old bytes or the new ones, never a mixture;
what it may leave besides is a `.tmp` file. `remove_leftovers` clears those where they would pile up or tell a
secret; elsewhere the few that crashes leave lie there, and are passed over.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import sys
from pathlib import Path
from types import TracebackType
from typing import NoReturn, Self

from vault.errors import DataError, EnvironmentFault

__all__ = [
    "DISK_FULL",
    "AtomicFile",
    "DiskFull",
    "FileMissing",
    "FileTooLarge",
    "NotWritable",
    "TooManyFiles",
    "Unreadable",
    "add_bits",
    "can_flush_everything",
    "flush_directory",
    "flush_everything",
    "flush_if_new",
    "free_bytes",
    "free_name",
    "fsync_directory",
    "make_directory",
    "read_bounded",
    "reason_of",
    "refuse_write",
    "remove_leftovers",
    "write_atomic",
]

DISK_FULL = frozenset({errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)})  # errors of the system that mean it
_NO_MORE_FILES = frozenset({errno.EMFILE, errno.ENFILE})
_CLOSE_SOME = "Let more files be open, for example with ulimit -n 1024, and run the same command again."
_TOO_LARGE = "FAT takes no file of 4 GiB or more, and ulimit -f may keep this shell below that: choose another disk."
_NO_FLUSH = frozenset({errno.EINVAL, errno.ENOTSUP, errno.ENOSYS, errno.EBADF})
_MISSING = frozenset({errno.ENOENT, errno.ENOTDIR})
_TEMP_TRIES = 10_000  # names that a crash may have left
_NAME_BYTES = 255  # what every file system in use allows for one name
_TEMP_SUFFIX_BYTES = 16  # ".<at most 10 digits>.tmp"
_TEMP_NAME = r"(?s:.+)\.[0-9]{1,10}\.tmp"
_EXTRA_FLAGS = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


class DiskFull(EnvironmentFault):
    """There is no room left where lace has to write."""

    code = "disk-full"
    exit_code = 11
    hint = "Free some space and run the same command again: nothing that was stored before is lost."


class NotWritable(EnvironmentFault):
    """A file or directory cannot be written."""

    code = "not-writable"
    exit_code = 12
    hint = "Check that the directory exists, that it is yours, and that the disk is not read-only."


class TooManyFiles(EnvironmentFault):
    """No more files can be open in this process, or on this machine."""

    code = "too-many-files"
    exit_code = 19
    hint = _CLOSE_SOME

    @classmethod
    def of(cls, error: BaseException) -> Self | None:
        """Return what a fault of the system is that nobody named, as of a module that cannot be loaded; None if other.

        >>> TooManyFiles.of(ValueError("3 is not 4"))
        """
        if not isinstance(error, OSError) or error.errno not in _NO_MORE_FILES:
            return None
        return cls(f"{error.filename or 'A file'} cannot be opened: {reason_of(error)}.")


class Unreadable(EnvironmentFault):
    """A file or directory is there and cannot be read."""

    code = "unreadable"
    exit_code = 13
    hint = "Check that the file is yours and that the disk is healthy."


class FileMissing(Unreadable):
    """A file that is needed is not there."""

    code = "file-missing"
    exit_code = 13
    hint = "Check the path; if the file was deleted, restore it from a backup."


class FileTooLarge(DataError):
    """A file is larger than its format allows."""

    code = "file-too-large"
    exit_code = 40
    hint = "This is not a file that lace wrote; move it away."


class AtomicFile:
    """Write a file so that it appears whole or not at all.

    Use as a context manager; the file takes its final name when the block ends without an exception, and is
    removed when it ends with one. An existing file keeps its bytes until then. When the path is a symbolic
    link, the link itself is replaced.

    Args:
        path: where the file goes; its directory must exist.
        mode: permission bits of the new file, narrowed by the process's umask.
        durable: flush file and directory to the disk before returning. False is for what can be made again:
            it is still never seen half-written by another process, but a power cut may leave it empty.
        named_later: leave it to the caller to flush the directory, once for several files: until then a power cut may
            leave what was there before, or nothing, under this name.

    Raises:
        DiskFull: there is no room.
        NotWritable: for every other reason; the message names path and reason.
    """

    def __init__(
        self, path: str | os.PathLike[str], mode: int = 0o644, *, durable: bool = True, named_later: bool = False
    ) -> None:
        self.path = Path(path)
        self._mode = mode
        self._durable = durable
        self._named_later = named_later
        self._fd = -1
        self._temp: Path | None = None

    def __enter__(self) -> Self:
        if self._temp is not None:
            raise RuntimeError("an AtomicFile is entered once")
        self._temp, self._fd = self._open_temp()
        return self

    def write(self, data: bytes | bytearray | memoryview) -> int:
        """Append bytes and return how many.

        Raises:
            DiskFull: there is no room.
            NotWritable: for every other reason.
        """
        rest = memoryview(data).cast("B")
        total = len(rest)
        try:
            while rest:
                rest = rest[os.write(self._fd, rest) :]
        except OSError as error:
            refuse_write(self.path, error)
        return total

    def let_read(self, readers: int) -> None:
        """Let the new file be read by others whatever the umask; see `add_bits`."""
        add_bits(self._fd, readers)

    def abandon(self) -> None:
        """Let the block end without a new file: what was there before stays as it is."""
        self._discard()
        self._temp = None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._commit()
        finally:
            self._discard()

    def _open_temp(self) -> tuple[Path, int]:
        stem = _shortened(self.path.name)
        for number in range(_TEMP_TRIES):
            temp = self.path.with_name(f"{stem}.{number}.tmp")
            try:
                return temp, os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _EXTRA_FLAGS, self._mode)
            except FileExistsError:
                continue
            except OSError as error:
                refuse_write(self.path, error)
        raise NotWritable(
            f"{self.path} cannot be written: its directory is full of temporary files.",
            hint="Delete the files there whose names end in .tmp.",
        )

    def _commit(self) -> None:
        temp = self._temp
        if temp is None:  # abandoned, or left a block that was never entered
            return
        try:
            if self._durable:
                os.fsync(self._fd)
            fd, self._fd = self._fd, -1
            os.close(fd)
            temp.replace(self.path)
        except OSError as error:
            refuse_write(self.path, error)
        self._temp = None
        if self._durable and not self._named_later:
            fsync_directory(self.path.parent)

    def _discard(self) -> None:
        if self._fd >= 0:
            with contextlib.suppress(OSError):
                os.close(self._fd)
            self._fd = -1
        if self._temp is not None:
            with contextlib.suppress(OSError):
                self._temp.unlink()


def write_atomic(
    path: str | os.PathLike[str],
    data: bytes | bytearray | memoryview,
    mode: int = 0o644,
    *,
    durable: bool = True,
) -> None:
    """Write a whole file at once; see `AtomicFile`.

    Raises:
        DiskFull: there is no room.
        NotWritable: for every other reason.
    """
    with AtomicFile(path, mode, durable=durable) as file:
        file.write(data)


def fsync_directory(path: str | os.PathLike[str]) -> None:
    """Make the names in a directory survive a power cut; does nothing where the system offers no way to.

    Raises:
        DiskFull: there is no room.
        NotWritable: the directory is missing or the disk fails.
    """
    if os.name == "nt":  # there NTFS journals names by itself, and a directory cannot be opened
        return
    try:
        fd = os.open(path, os.O_RDONLY | _EXTRA_FLAGS)
        try:
            flush_directory(fd)
        finally:
            os.close(fd)
    except OSError as error:
        refuse_write(Path(path), error)


def flush_directory(fd: int) -> None:
    """Make the names in an open directory survive a power cut; does nothing where its file system offers no way to.

    Raises:
        OSError: the disk failed.
    """
    try:
        os.fsync(fd)
    except OSError as error:
        # Some file systems (FUSE, network shares) refuse to flush a directory; they have no better way.
        if error.errno not in _NO_FLUSH:
            raise


def free_name(path: Path) -> Path:
    """Return a path, or where something stands there the first one with a number behind its name that is free."""
    number, free = 1, path
    while os.path.lexists(free):
        number += 1
        free = path.with_name(f"{path.name}.{number}")
    return free


def add_bits(fd: int, bits: int) -> None:
    """Give an open file permission bits that the umask took; a disk without them stays as it is."""
    with contextlib.suppress(OSError):
        mode = stat.S_IMODE(os.fstat(fd).st_mode)
        if bits & ~mode:
            os.fchmod(fd, mode | bits)


def make_directory(path: str | os.PathLike[str], mode: int = 0o777) -> None:
    """Make a directory, with those above it that are missing, so that its name survives a power cut.

    Raises:
        DiskFull: there is no room.
        NotWritable: it cannot be made, or something else stands there.
    """
    path = Path(path)
    try:
        is_there = path.is_dir()
    except OSError as error:  # below a directory that may not be looked into
        refuse_write(path, error)
    if not is_there:
        if path.parent != path:
            make_directory(path.parent)
        try:
            path.mkdir(mode=mode, exist_ok=True)
        except OSError as error:
            refuse_write(path, error)
    elif not os.access(path.parent, os.R_OK):
        return  # it was not made by lace, which would have been told there that it could not be flushed
    flush_if_new(path)


def flush_if_new(path: str | os.PathLike[str]) -> None:
    """Make the name of a directory survive a power cut before anything is put into it.

    An empty one counts as new: whoever made it may have been cut off before its name was flushed. One that holds
    something costs no flush.

    Raises:
        DiskFull: there is no room.
        NotWritable: the disk fails.
    """
    path = Path(path)
    try:
        with os.scandir(path) as entries:
            is_new = next(entries, None) is None
    except OSError as error:
        refuse_write(path, error)
    if is_new:
        fsync_directory(path.parent)


def can_flush_everything() -> bool:
    """Tell whether the system can flush a whole file system at once (`flush_everything`)."""
    return sys.platform == "linux"


def flush_everything(fd: int) -> None:
    """Make all that was written to the file system of an open directory survive a power cut.

    One call costs less than one for each of many files.

    Raises:
        OSError: the disk failed.
    """
    import ctypes  # ten milliseconds that only a large checkout pays

    system = ctypes.CDLL(None, use_errno=True)
    if system.syncfs(fd):
        number = ctypes.get_errno()
        if number not in _NO_FLUSH:
            raise OSError(number, os.strerror(number))
        os.sync()  # where one file system alone cannot be flushed, all of them can


def free_bytes(path: str | os.PathLike[str]) -> int | None:
    """Return how many bytes this person may still write where a path lies, or None where that cannot be told."""
    import shutil  # few commands write anything large

    try:
        total, _, free = shutil.disk_usage(path)
    except OSError:
        return None
    return free if total else None  # a file system that tells no size is not a full one


def read_bounded(path: str | os.PathLike[str], limit: int) -> bytes:
    """Return the bytes of a regular file, of which there may be at most `limit`.

    The limit is checked before memory is taken and again while reading, so a file that grows does no harm; a
    pipe or device under the path is refused, not waited for.

    Raises:
        FileMissing: there is no such file.
        Unreadable: it is no regular file, not ours to read, or the disk fails.
        FileTooLarge: it has more than `limit` bytes.
    """
    try:
        fd = os.open(path, os.O_RDONLY | _EXTRA_FLAGS | getattr(os, "O_NONBLOCK", 0))
        try:
            status = os.fstat(fd)
            if not stat.S_ISREG(status.st_mode):
                raise Unreadable(f"{path} cannot be read: it is not a regular file.")
            parts: list[bytes] = []
            room = limit + 1 if status.st_size <= limit else 0
            while room > 0 and (part := os.read(fd, min(room, 1 << 20))):
                parts.append(part)
                room -= len(part)
        finally:
            os.close(fd)
    except OSError as error:
        if error.errno in _MISSING:
            raise FileMissing(f"{path} does not exist.") from error
        raise Unreadable(f"{path} cannot be read: {reason_of(error)}.", hint=_way_out(error)) from error
    if room <= 0:
        raise FileTooLarge(f"{path} has more than the {limit} bytes that such a file may have.")
    return b"".join(parts)


def remove_leftovers(directory: str | os.PathLike[str], name: str = "") -> int:
    """Remove temporary files that a crash left in a directory and return how many (APP-13).

    Only names that `AtomicFile` gives are touched. Call it where nobody else is writing: whose file is taken away
    meanwhile is told that it cannot be written.

    Args:
        directory: where.
        name: of the one file whose leftovers go; those of all files when empty.

    Raises:
        NotWritable: a file cannot be removed, or the directory cannot be listed.
    """
    removed = 0
    try:
        for path in Path(directory).iterdir():
            is_ours = not name or path.name.startswith(f"{_shortened(name)}.")
            if is_ours and re.fullmatch(_TEMP_NAME, path.name) and path.is_file():
                path.unlink(missing_ok=True)
                removed += 1
    except OSError as error:
        refuse_write(Path(directory), error)
    return removed


def _shortened(name: str) -> str:
    room = _NAME_BYTES - _TEMP_SUFFIX_BYTES
    raw = os.fsencode(name)
    return name if len(raw) <= room else raw[:room].decode("utf-8", "ignore")


def refuse_write(path: Path, error: OSError) -> NoReturn:
    """Raise `DiskFull` or `NotWritable` for a system error at a path.

    Raises:
        DiskFull: there is no room.
        NotWritable: for every other reason.
    """
    if error.errno in DISK_FULL:
        raise DiskFull(f"There is no room left on the disk to write {path}.") from error
    raise NotWritable(f"{path} cannot be written: {reason_of(error)}.", hint=_way_out(error)) from error


def _way_out(error: OSError) -> str:
    """Return the way out of a fault of the system that has one of its own; empty for any other."""
    if error.errno == errno.EFBIG:
        return _TOO_LARGE
    return _CLOSE_SOME if error.errno in _NO_MORE_FILES else ""


def reason_of(error: OSError) -> str:
    """Return what the system says of a fault, as the end of a sentence without its full stop."""
    text = error.strerror or str(error)
    return text[:1].lower() + text[1:]
