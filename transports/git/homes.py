"""Which private repository is that of which address of a place (decision 7a, CYB-18).

Repositories that are copies of one another hold one place. Where my branch stood at one of them says nothing of the
others: one that lags was not set back. So each address has a private repository of its own; the first has the name of
the place alone. A place that moved takes the one along that it had.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from contextlib import suppress
from itertools import count
from pathlib import Path

from blake3 import blake3

from vault.errors import LaceError
from vault.files import read_bounded, write_atomic

__all__ = ["note_address", "repository_of", "short_digest"]

_ADDRESS = "address"  # a file in a private repository: the digest of the address that it is for
_DIGEST = 16  # hex characters
_NAME = re.compile(r"[0-9a-f]{16}(?:-[0-9a-f]{16})?\.git", re.ASCII)


def short_digest(uri: str) -> str:
    """Return what stands for an address in names."""
    return blake3(uri.encode()).hexdigest()[:_DIGEST]


def repository_of(home: Path, place_id: str, uri: str, beside: Collection[str] = ()) -> Path:
    """Return where the private repository of a place at an address lies, or is to be made.

    Args:
        home: the directory for private repositories.
        place_id: of the place.
        uri: its address.
        beside: addresses of other places with that id: copies, whose private repositories are theirs.
    """
    mine, others = short_digest(uri), {short_digest(one) for one in beside if one != uri}
    first = home / f"{place_id[:16]}.git"
    known = {path: _address(path) for path in sorted(home.glob(f"{place_id[:16]}*.git")) if _NAME.fullmatch(path.name)}
    for path, address in known.items():
        if address == mine:
            return path
    free = [path for path, address in known.items() if address not in others]
    if first in free or first not in known:
        return first
    if free:
        return free[0]
    names = (short_digest(f"{uri}\n{number}") if number else mine for number in count())
    return next(path for name in names if (path := home / f"{place_id[:16]}-{name}.git") not in known)


def note_address(path: Path, uri: str) -> None:
    """Remember the address that a private repository is for; what cannot be written is found out once more."""
    if _address(path) != short_digest(uri):
        with suppress(OSError, LaceError):
            write_atomic(path / _ADDRESS, f"{short_digest(uri)}\n".encode(), durable=False)


def _address(path: Path) -> str:
    """Return the digest of the address that a private repository is for; empty where none was noted."""
    try:
        return read_bounded(path / _ADDRESS, _DIGEST + 1).decode("ascii", "replace").strip()
    except (OSError, LaceError):
        return ""
