"""Whether a folder is as the last scan left it, by one look at names and stats (performance: scan).

The same comparison that a scan begins with, and nothing after it: whatever is not plainly unchanged is left to a scan,
which also finds the words for it. So this loads little, and a person who asks twice waits only for the disk.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from vault.desks import scancache

__all__ = ["is_as_scanned"]

_DOT_VAULT = ".vault"
_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC  # `folder` has them too, and takes long to load
_DEEPEST = 200  # directories below each other; deeper ones are the scan's


def is_as_scanned(
    fd: int, context: bytes, load: Callable[[str], bytes | None], where: str = "", depth: int = 0
) -> bool:
    """Tell whether no name and no file below an open directory differs from what a scan kept.

    Args:
        fd: the directory.
        context: as `vault.desks.scancache.context_of` gives it.
        load: returns what a scan kept for a directory.
        where: its path relative to the desk.
        depth: how many directories it lies below the desk.

    Raises:
        OSError: something cannot be read.
    """
    with os.scandir(fd) as listing:
        found = list(listing) if where else [entry for entry in listing if entry.name != _DOT_VAULT]
    names = [entry.name for entry in found]
    same = scancache.unchanged(load(where), context, names, found)
    if same is None or (where and _DOT_VAULT in names):
        return False
    if not same.has_directories:
        return True
    if depth == _DEEPEST:
        return False
    for entry in found:
        if entry.is_dir(follow_symlinks=False):
            below = os.open(entry.name, _FLAGS, dir_fd=fd)
            try:
                path = f"{where}/{entry.name}" if where else entry.name
                if not is_as_scanned(below, context, load, path, depth + 1):
                    return False
            finally:
                os.close(below)
    return True
