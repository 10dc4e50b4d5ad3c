"""Keeping a store to oneself by SQLite's own locks, while one of its files is put in another's place (APP-13).

Whoever has it open would go on in the file that was there, and all that they write would be lost with it. Not every
system tells who holds a lock (`vault.left_log`); to ask for one tells it everywhere.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

__all__ = ["kept_alone"]

_SHARED_AT: Final = 0x40000002  # of the bytes of which whoever has a store open has some locked (SQLite's os.h)
_SHARED_BYTES: Final = 510


@contextmanager
def kept_alone(path: Path) -> Iterator[BinaryIO | None]:
    """Keep everybody from opening a store in the block; give its file, or None where somebody has it open.

    Only while nobody in this process has it open, and none in the block closes that file: to do so gives up the locks.

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
    import fcntl  # noqa: PLC0415 - not there on all systems

    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, _SHARED_BYTES, _SHARED_AT)
    except OSError:
        return False
    return True
