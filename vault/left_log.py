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
    files = set()
    for file in (store, f"{store}-shm"):
        try:
            files.add(b"%d" % os.stat(file).st_ino)  # noqa: PTH116 - as above
        except OSError:
            continue
    try:
        with open("/proc/locks", "rb") as table:  # noqa: PTH123 - as above
            # number, how, kind, which, process, device and file, from, to; of who only waits an arrow besides
            held = [line.split() for line in table]
    except OSError:
        return False
    return any(b"POSIX" in lock and len(lock) > 5 and lock[5].rpartition(b":")[2] in files for lock in held)
