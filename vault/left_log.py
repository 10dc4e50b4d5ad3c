"""Whether a write-ahead log lies beside a store that nobody has open: whoever wrote it was killed (APP-13).

Read at every quick answer; it imports nothing.
"""

from __future__ import annotations

import os

__all__ = ["is_left"]


def is_left(store: str) -> bool:
    """Tell whether a store has a log with something in it, and nobody has the store open as far as the system tells.

    Neither file is opened for that: to close one gives up the locks of all in this process who have it open.
    """
    try:
        if not os.stat(f"{store}-wal").st_size:  # noqa: PTH116 - pathlib alone takes as long as all the rest
            return False
    except OSError:
        return False
    return not _is_open(store)


def _is_open(store: str) -> bool:
    """Tell whether somebody holds a lock of SQLite there; False where the system names no locks."""
    if not (locked := _locked()):
        return False
    files: dict[bytes, bytes] = {}  # disks by number of the file
    for file in (store, f"{store}-shm"):
        try:
            found = os.stat(file)  # noqa: PTH116 - as above
        except OSError:
            continue
        files[b"%d" % found.st_ino] = b"%d:%d" % (os.major(found.st_dev), os.minor(found.st_dev))
    held = [(disk, files[number]) for disk, number in locked if number in files]
    if all(disk != own for disk, own in held) and held:
        # A file elsewhere may have the same number. Of some file systems locks name another disk than the file says.
        mounted = _mounted()
        return any(own not in mounted for _, own in held)
    return bool(held)


def _locked() -> list[tuple[bytes, bytes]]:
    """Return the disk and number of each file that has a lock of SQLite's kind."""
    # number, how, kind, which, process, device and file, from, to; of who only waits an arrow besides
    held = [lock[5].split(b":") for lock in _lines("/proc/locks") if b"POSIX" in lock and len(lock) > 5]
    return [(b"%d:%d" % (int(where[0], 16), int(where[1], 16)), where[2]) for where in held if len(where) == 3]


def _mounted() -> set[bytes]:
    """Return the disks that are known by what their files say."""
    return {line[2] for line in _lines("/proc/self/mountinfo") if len(line) > 2}


def _lines(table: str) -> list[list[bytes]]:
    """Return the words of each line of a table of the system's; nothing where it has none."""
    try:
        with open(table, "rb") as file:  # noqa: PTH123 - as above
            return [line.split() for line in file]
    except OSError:
        return []
