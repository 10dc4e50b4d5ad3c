"""Media that are plugged in now: drops found by their markers, whatever directory they appear under."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

from transports.drop.marker import MARKER
from transports.drop.place import Drop
from vault.errors import LaceError

__all__ = ["drops_below", "find_drop"]

_DEPTH = 3  # /media/PERSON/STICK/lace
_LOOKS = 2000  # directories that are looked at: some milliseconds each on the slowest stick
_ENTRIES = 500  # of one directory


def drops_below(roots: Iterable[Path]) -> Iterator[Drop]:
    """Yield the drops in and some levels below directories, each once; what cannot be read is passed over.

    Links are not followed, and no more than some thousand directories are looked at.
    """
    seen: set[tuple[int, int]] = set()
    level = list(roots)
    looks = 0
    for _ in range(_DEPTH + 1):
        below: list[Path] = []
        for path in level:
            looks += 1
            if looks > _LOOKS:
                return
            with suppress(OSError, LaceError):
                found = path.stat()
                if (found.st_dev, found.st_ino) in seen:
                    continue
                seen.add((found.st_dev, found.st_ino))
                if (path / MARKER).is_file():
                    yield Drop.open(path)
                else:
                    below += _inside(path)
        level = below


def find_drop(roots: Iterable[Path], drop_id: str, others: Collection[Path] = ()) -> Drop | None:
    """Return the drop of that id, if it is plugged in.

    Args:
        roots: directories below which it is looked for.
        drop_id: its id.
        others: where other drops with that id lie, which are copies of it.
    """
    found = (drop for drop in drops_below(roots) if drop.drop_id == drop_id)
    return next((drop for drop in found if not any(_is_same(drop.path, other) for other in others)), None)


def _is_same(path: Path, other: Path) -> bool:
    with suppress(OSError):
        return path.samefile(other)
    return False


def _inside(path: Path) -> list[Path]:
    with os.scandir(path) as entries:
        found = [Path(one.path) for one in islice(entries, _ENTRIES) if one.is_dir(follow_symlinks=False)]
    return sorted(found)
