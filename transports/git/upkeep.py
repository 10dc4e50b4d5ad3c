"""Upkeep of a private repository: who uses it, and what is cleared away when nobody does (decision 7a)."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from transports.errors import PlaceUnreachable
from transports.layout import MIB
from vault.errors import LaceError
from vault.files import (
    can_flush_everything,
    flush_everything,
    fsync_directory,
    make_directory,
    read_bounded,
    write_atomic,
)
from vault.lock import Locked, Patience, VaultLock

if sys.platform != "win32":
    import fcntl

__all__ = [
    "clear_partial",
    "cuts",
    "drop_pack",
    "has_torn_index",
    "has_torn_object",
    "hold",
    "holds_pieces",
    "is_over",
    "is_torn",
    "keep_cuts",
    "keep_file",
    "lay_out",
    "make_lasting",
]
__all__ += ["mark_pieces", "mark_torn", "packs", "singles", "tidy", "torn_objects", "turn"]

_TRIM = 64 * MIB  # bytes of fetched pieces kept from one visit to the next
_SINGLES = 16_384  # objects that lie singly, after which the private repository is begun anew
_PACKS = 256  # files; more are put together
_LARGE = 64 * MIB  # bytes of packs but those of pieces; more may be what somebody wrote over branches, ever anew
_BEGUN = "begun"  # a file with how many lay here after the first visit
_PIECES = ".pieces"
_TORN = "torn"  # a file that says that what lies here is to be fetched again
_CONFIG = b"[core]\n\trepositoryformatversion = 0\n\tbare = true\n"
_HEAD = b"ref: refs/heads/lace/none\n"
_PACKED = re.compile(rb"(?:#[^\n]*\n)?(?:[0-9a-f]{40} refs/[!-~]+\n(?:\^[0-9a-f]{40}\n)?)*")
_PACKED_BYTES = 4 * MIB
_TURN_SECONDS = 600.0  # that another process is waited for, as for a visit
_HOLD = "lace-hold"  # not named .lock, which is git's word
_FIGURES = 18  # of that number
_FIRST_LETTERS = 2  # of an object's name, which name the directory that it lies in
_SUM = 20  # bytes at the end of an index: the SHA-1 of all that stands before them


def hold(path: Path, when_alone: Callable[[], None]) -> BinaryIO | None:
    """Hold a private repository for as long as the file returned is open.

    Several may hold it at once: git's own locks order them. Whoever finds nobody else may clear up first. Where
    the system has no such locks, nobody is ever known to be alone.
    """
    if sys.platform == "win32":
        return None
    file = (path / _HOLD).open("ab")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        when_alone()
    except OSError:
        pass  # somebody else is here, or the file system has no locks
    with contextlib.suppress(OSError):
        fcntl.flock(file, fcntl.LOCK_SH)
    return file


def clear_partial(path: Path) -> None:
    """Clear what a fetch or copy that was cut left of a pack; only in the turn of a fetch, or where nobody else is."""
    packs = path / "objects" / "pack"
    names = set(_names(str(packs)))
    for name in names:
        is_alone = name.endswith(".pack") and f"{name.removesuffix('.pack')}.idx" not in names  # the index comes last
        if is_alone or name.startswith("tmp_") or name.endswith(".tmp"):
            with contextlib.suppress(OSError):
                (packs / name).unlink()


@contextlib.contextmanager
def turn(path: Path, doing: str, patience: Patience) -> Iterator[None]:
    """Hold a turn that a file stands for: of two fetches at once git ends one, and two begin nothing together.

    Whoever looks at a place waits for no visit, so a sync and a look at the same place may meet.

    Args:
        path: the file.
        doing: what whoever has the turn does, such as "is asking HOST".
        patience: how the person waits for another process; the sleep of this machine is no waiting.

    Raises:
        PlaceUnreachable: another process holds it all the time.
        NotWritable: the file cannot be opened, or the file system has no locks.
        Cancelled: the person would not wait any longer.
    """
    make_directory(path.parent)
    waited = 0.0

    def pause(time: float) -> None:
        nonlocal waited
        patience.sleep(time)
        waited += time

    lock = VaultLock(path, sleep=pause, monotonic=lambda: waited, waits=patience.told(f"which {doing}"))
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(lock.held(timeout=_TURN_SECONDS))
        except Locked as error:
            who = f"Another lace ({holder})" if (holder := lock.holder()) else "Another lace"
            raise PlaceUnreachable(
                f"{who} {doing}, and does not end (lock {path}).",
                hint="Let it go on or end it, and run the same command again.",
            ) from error
        yield


def packs(path: Path) -> set[Path]:
    """Return the packs of a repository."""
    return set((path / "objects" / "pack").glob("*.pack"))


def has_torn_index(path: Path) -> bool:
    """Tell whether the index of a pack is not what git wrote: git then misses objects that lie here."""
    return any(not _is_whole(index) for index in (path / "objects" / "pack").glob("*.idx"))


def _is_whole(index: Path) -> bool:
    digest = hashlib.sha1(usedforsecurity=False)
    try:
        with index.open("rb") as file:
            rest = index.stat().st_size - _SUM
            while rest > 0 and (part := file.read(min(rest, MIB))):
                digest.update(part)
                rest -= len(part)
            return rest == 0 and file.read() == digest.digest()
    except OSError:
        return False


def has_torn_object(path: Path) -> bool:
    """Tell whether an object that lies here singly is not what its name says."""
    return any(not _is_named_rightly(file) for file in _single_files(path))


def torn_objects(path: Path) -> list[Path]:
    """Return the files of objects that lie here singly and are not what their names say."""
    return [file for file in _single_files(path) if not _is_named_rightly(file)]


def singles(path: Path) -> list[str]:
    """Return the objects that lie here singly."""
    return sorted(file.parent.name + file.name for file in _single_files(path))


def _single_files(path: Path) -> Iterator[Path]:
    return (path / "objects").glob("[0-9a-f][0-9a-f]/*")


def _is_named_rightly(file: Path) -> bool:
    try:
        data = zlib.decompressobj().decompress(read_bounded(file, 2 * MIB), 4 * MIB)
    except (OSError, LaceError, zlib.error):
        return False
    return hashlib.sha1(data, usedforsecurity=False).hexdigest() == file.parent.name + file.name


def mark_pieces(pack: Path) -> None:
    """Say of a pack that it holds pieces of files only, which can go; where that cannot be written, it stays."""
    with contextlib.suppress(OSError):
        pack.with_suffix(_PIECES).touch()


def holds_pieces(pack: Path) -> bool:
    """Tell whether a pack is marked as one of pieces only."""
    return pack.with_suffix(_PIECES).is_file()


def drop_pack(pack: Path) -> None:
    """Take a pack away, first its index: what stays without one is cleared away another time."""
    with contextlib.suppress(OSError):
        for suffix in (".idx", ".pack", ".rev", _PIECES):
            pack.with_suffix(suffix).unlink(missing_ok=True)


def mark_torn(path: Path) -> None:
    """Say that what lies in a repository is to be fetched again, once nobody uses it."""
    with contextlib.suppress(OSError):
        (path / _TORN).touch()


def is_torn(path: Path) -> bool:
    """Tell whether what lies in a repository is to be fetched again still."""
    return (path / _TORN).is_file()


def lay_out(path: Path) -> None:
    """Make what git looks for, where a power cut or a bad disk left something else of it."""
    for directory in ("objects/pack", "objects/info", "refs/heads"):
        (path / directory).mkdir(parents=True, exist_ok=True)
    keep_file(path / "config", _CONFIG)
    keep_file(path / "HEAD", _HEAD)  # the last: without it all is begun anew
    packed = path / "packed-refs"  # only of a git that somebody ran here
    if packed.exists() and _PACKED.fullmatch(_read(packed, _PACKED_BYTES) or b"?") is None:
        packed.unlink()


def keep_file(path: Path, data: bytes) -> None:
    """See to it that a file holds these bytes.

    Raises:
        NotWritable, DiskFull: it cannot be written.
    """
    if _read(path, len(data)) != data:
        write_atomic(path, data)


def _read(path: Path, limit: int) -> bytes | None:
    try:
        return read_bounded(path, limit)
    except (OSError, LaceError):
        return None


def tidy(path: Path, *, begins_anew: bool) -> None:
    """Clear what a git that was killed left, and pieces beyond what is worth keeping; nobody else is here.

    Args:
        path: the repository.
        begins_anew: let go of all that lies in it, as where it `is_over`.
    """
    clear_partial(path)
    for leftover in _leftovers(path):
        with contextlib.suppress(OSError):
            leftover.unlink()
    if begins_anew:
        for part in ("objects", "refs", "shallow", "packed-refs", _TORN, _BEGUN):
            shutil.rmtree(path / part, ignore_errors=True)
            with contextlib.suppress(OSError):
                (path / part).unlink(missing_ok=True)
        lay_out(path)
    elif _begun_bytes(path) is None and (size := _kept_bytes(packs(path))):
        with contextlib.suppress(OSError, LaceError):  # the next visit says it, as where a power cut empties it
            write_atomic(path / _BEGUN, str(size).encode(), durable=False)
    marks = list((path / "objects" / "pack").glob(f"*{_PIECES}"))
    marked = [mark.with_suffix(".pack") for mark in marks]
    if sum(pack.stat().st_size for pack in marked if pack.is_file()) <= _TRIM:
        return
    for pack in marked:
        drop_pack(pack)


def _leftovers(path: Path) -> Iterator[Path]:
    """Yield the locks of gits that were killed, and what a lace that was killed had written of an object."""
    locked = [str(path), *(directory for directory, _, _ in os.walk(path / "refs"))]
    written = [f"{path}/objects/{name}" for name in _names(f"{path}/objects") if len(name) == _FIRST_LETTERS]
    for suffix, directories in ((".lock", locked), (".tmp", written)):
        for directory in directories:
            for name in _names(directory):
                if name.endswith(suffix):
                    yield Path(directory, name)


def _names(directory: str) -> list[str]:
    """Return what lies in a directory, which is no path for each of thousands of objects."""
    try:
        return os.listdir(directory)  # noqa: PTH208
    except OSError:
        return []


def make_lasting(path: Path) -> None:
    """Make all that lies in a directory survive a power cut.

    Raises:
        OSError: the disk failed.
    """
    if can_flush_everything():
        fd = os.open(path, os.O_RDONLY)
        try:
            flush_everything(fd)
        finally:
            os.close(fd)
        return
    for found in [path.parent, path, *path.rglob("*")]:  # its own name too
        if found.is_dir():
            fsync_directory(found)
        else:
            with found.open("rb") as file:
                os.fsync(file.fileno())


def cuts(path: Path) -> set[str]:
    """Return the commits behind which nothing lies here, those too of which nobody knows any more."""
    return set((_read(path / "shallow", _PACKED_BYTES) or b"").decode("ascii", "replace").split())


def keep_cuts(path: Path, commits: list[str]) -> None:
    """Let git know of no other such commits; only where nobody else is."""
    with contextlib.suppress(OSError, LaceError):
        write_atomic(path / "shallow", "".join(f"{commit}\n" for commit in commits).encode())


def is_over(path: Path) -> bool:
    """Tell whether a repository is to be begun anew, once nobody else uses it."""
    return is_torn(path) or _is_worn(path)


def _is_worn(path: Path) -> bool:
    """Tell whether so many small things lie here that beginning anew is cheaper than going on."""
    sample = path / "objects" / "17"  # names are spread evenly over 256 directories
    singles = sum(1 for _ in sample.iterdir()) if sample.is_dir() else 0
    lying = packs(path)
    return singles * 256 > _SINGLES or len(lying) > _PACKS or _is_grown(path, lying)


def _is_grown(path: Path, lying: Iterable[Path]) -> bool:
    """Tell whether much more lies here than the branches needed when it began: what they left stays in its pack."""
    kept = _kept_bytes(lying)
    return kept > _LARGE and (begun := _begun_bytes(path)) is not None and kept > 2 * begun


def _begun_bytes(path: Path) -> int | None:
    """Return how much lay here when it began; None where nobody said it yet, or what says it cannot be read."""
    told = _read(path / _BEGUN, _FIGURES) or b""
    return int(told) if told.isdigit() else None


def _kept_bytes(lying: Iterable[Path]) -> int:
    total = 0
    for pack in lying:
        with contextlib.suppress(OSError):
            total += 0 if holds_pieces(pack) else pack.stat().st_size
    return total
