"""Keeping a store to oneself by SQLite's own locks, while one of its files is put in another's place (APP-13).

Whoever has it open would go on in the file that was there, and all that they write would be lost with it. Not every
system tells who holds a lock (`vault.left_log`); to ask for one tells it everywhere. Within one process those locks
keep nobody out, and whoever closes the file gives up those of all, so who has a store open here is counted.
"""

from __future__ import annotations

import os
import sys
from _weakref import ref  # of `weakref`, which takes as long to load as a small query
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Condition
from typing import BinaryIO, Final, TypeAlias

__all__ = ["closed_here", "kept_alone", "note_closed", "note_dropped", "note_open"]

_SHARED_AT: Final = 0x40000002  # of the bytes of which whoever has a store open has some locked (SQLite's os.h)
_SHARED_BYTES: Final = 510
_Which: TypeAlias = "tuple[int, int, str] | Path"  # a store, by whatever way it is reached
_opened: dict[int, _Which] = {}  # who has a store open in this process, by `id`, and which
_last: dict[int, ref[object]] = {}  # by its `id`, what goes last of who was dropped
_closed: set[_Which] = set()  # stores that nobody in this process may open now
_changed = Condition()


def note_open(holder: object, path: Path) -> None:
    """Say that somebody in this process opens a store; they wait until nobody mends its files here."""
    store = _which(path)
    with _changed:
        _changed.wait_for(lambda: store not in _closed)
        _opened[id(holder)] = store


def note_closed(holder: object) -> None:
    """Say that somebody in this process has closed a store."""
    with _changed:
        _opened.pop(id(holder), None)
        _changed.notify_all()


def note_dropped(holder: object, last: object) -> None:
    """Say that somebody was dropped who has a store open still, until that goes which its connection lets go of last.

    Args:
        holder: who was dropped; its `id` may be another one's before that.
        last: what only the two of them hold.
    """
    key = id(last)

    def close(_: object) -> None:
        with _changed:
            del _opened[key], _last[key]
            _changed.notify_all()

    with _changed:
        _opened[key] = _opened.pop(id(holder))
        _last[key] = ref(last, close)


def _which(path: Path) -> _Which:
    """Return which store lies at a path: its directory stays the same where another file takes the store's place."""
    try:
        found = os.stat(path.parent)  # noqa: PTH116 - each store that is opened asks
    except OSError:
        return path.absolute()
    return found.st_dev, found.st_ino, path.name


@contextmanager
def closed_here(path: Path, patience: float) -> Iterator[bool]:
    """Keep everybody in this process from opening a store in the block; tell whether nobody in it has it open.

    Args:
        path: the store.
        patience: seconds to wait for who has.
    """
    store = _which(path)
    with _changed:
        is_closed = _changed.wait_for(lambda: store not in _closed and store not in list(_opened.values()), patience)
        if is_closed:
            _closed.add(store)
    try:
        yield is_closed
    finally:
        if is_closed:
            with _changed:
                _closed.remove(store)
                _changed.notify_all()


@contextmanager
def kept_alone(path: Path) -> Iterator[BinaryIO | None]:
    """Keep everybody from opening a store in the block; give its file, or None where somebody has it open.

    Only while nobody in this process has it open (`closed_here`), and none in the block closes that file: to do so
    gives up the locks.

    Args:
        path: the store.

    Raises:
        OSError: it cannot be opened for writing.
    """
    with path.open("r+b", buffering=0) as file:
        yield file if _is_kept(file) else None


def _is_kept(file: BinaryIO) -> bool:
    if sys.platform == "win32":  # there no file that somebody has open can be replaced
        return True
    import fcntl  # not there on all systems

    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, _SHARED_BYTES, _SHARED_AT)
    except OSError:
        return False
    return True
