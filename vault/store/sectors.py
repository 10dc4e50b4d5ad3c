"""Parts of a store's files that the disk does not give any more (APP-13).

A disk knows of most of what rots on it, and gives an error for it. SQLite can then read nothing of such a page and
cannot write over it either. A copy with zeros there takes the place of the file; what they spoil is found and named
like all other rot.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final

from vault.files import AtomicFile, free_name, make_directory, remove_leftovers
from vault.store.alone import kept_alone

__all__ = ["mend_sectors"]

_PIECE: Final = 1 << 20
_PAGE: Final = 4096  # bytes that a system reads of a disk at least
_TRIES: Final = 2
_MOST: Final = 4  # a file of which more than one part in so many cannot be read lies on no disk that is there;
_FEW: Final = 64 << 10  # bytes that may be all of it


def mend_sectors(store: Path, aside: Path) -> dict[str, int]:
    """Let copies take the place of a store's file and its log where the disk does not give all of them.

    Under the vault's lock, and while nobody in this process has the store open. Where somebody else has, nothing is
    done. The file itself is kept beside where the disk can have it under two names: it may be read another day.

    Args:
        store: its file.
        aside: the directory for what lay there.

    Returns:
        Names of files with how many bytes of each cannot be read.

    Raises:
        NotWritable, DiskFull: a copy cannot be made; that file is as it was, and the next repair goes on there.
    """
    log = store.with_name(f"{store.name}-wal")
    try:
        with kept_alone(store) as file:
            if file is None:
                return {}
            lost: dict[str, int] = {}
            # The store last: its file has the locks, and from then on whoever opens it writes to the log.
            with suppress(FileNotFoundError), log.open("rb", buffering=0) as other:
                lost[log.name] = _anew(other, log, aside)
            lost[store.name] = _anew(file, store, aside)
    except OSError:  # who opens it says so
        return {}
    return {name: size for name, size in lost.items() if size}


def _anew(file: BinaryIO, path: Path, aside: Path) -> int:
    size = os.fstat(file.fileno()).st_size
    gaps = sum(wanted for data, wanted in _pieces(file, size) if data is None)
    if not 0 < gaps <= max(_FEW, size // _MOST):
        return 0
    make_directory(aside)
    remove_leftovers(path.parent, path.name)  # of a repair that was killed
    kept = free_name(aside / f"{path.name}.unread")
    try:
        with AtomicFile(path, mode=stat.S_IMODE(os.fstat(file.fileno()).st_mode)) as copy:
            for data, wanted in _pieces(file, size):
                copy.write(data if data is not None else bytes(wanted))
            with suppress(OSError):  # a disk may have no second names
                os.link(path, kept)
    except BaseException:
        with suppress(OSError):
            kept.unlink(missing_ok=True)
        raise
    return gaps


def _pieces(file: BinaryIO, size: int) -> Iterator[tuple[bytes | None, int]]:
    """Yield the bytes of a file piece by piece with how many they are; None for those that the disk does not give."""
    for start in range(0, size, _PIECE):
        wanted = min(_PIECE, size - start)
        if (data := _read(file, start, wanted)) is not None:
            yield data, wanted
            continue
        for at in range(start, start + wanted, _PAGE):
            part = min(_PAGE, start + wanted - at)
            yield _read(file, at, part), part


def _read(file: BinaryIO, at: int, wanted: int) -> bytes | None:
    for _ in range(_TRIES):
        try:
            file.seek(at)
            data = b""
            while len(data) < wanted and (more := file.read(wanted - len(data))):
                data += more
        except OSError:
            continue
        return data
    return None
