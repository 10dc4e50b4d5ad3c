"""The note of a new desk of what its folder was to the desks around it; `virtual_base` says what for (CLAY-3)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from vault.records import RecordError, RecordHash

if TYPE_CHECKING:
    from vault.vault import Vault
    from vault.writer import Writer

__all__ = ["DeskAround", "note_around", "noted_around"]

_KEY = "from around "  # setting of the store, with a desk


class DeskAround(NamedTuple):
    """Where the folder of a new desk was a part of another one.

    Args:
        desk: that one.
        commit: what its folder stood on.
        path: of the new desk's folder in it.
    """

    desk: str
    commit: RecordHash
    path: str


def note_around(w: Writer, desk: str, path: str, folders: Mapping[str, str]) -> None:
    """Note of a new desk what its folder is to each desk around it; in the write that maps it.

    What it holds may have come by any of them: a desk that lies between may have been made a moment before.

    Args:
        w: the write.
        desk: the new one.
        path: of its folder, relative to the shared one.
        folders: of the other desks, the same, by desk; that of `main` is empty.
    """
    found: list[tuple[str, str, str]] = []
    for around, folder in sorted(folders.items(), key=lambda one: len(one[1]), reverse=True):
        below = folder and f"{folder}/"
        if path.startswith(below):
            rows = w.store.rows("SELECT commit_hash FROM checkout WHERE desk = ?", around)
            found += ((around, str(commit), path[len(below) :]) for (commit,) in rows)
    if found:
        w.store.set_meta(_KEY + desk, json.dumps(found, ensure_ascii=False))


def noted_around(vault: Vault, desk: str) -> tuple[DeskAround, ...]:
    """Return what is noted of a desk, the innermost around it first; nothing where that cannot be read.

    It stays noted: an undo may take back what a friend's line brought, and where there is a commit that both lines
    stand on nobody asks.
    """
    kept = vault.store.meta(_KEY + desk)
    try:
        found = json.loads(kept or "[]")
        if found and isinstance(found[0], str):  # of an earlier lace, which noted the innermost alone
            found = [found]
        return tuple(DeskAround(around, RecordHash.parse(commit), path) for around, commit, path in found)
    except (ValueError, TypeError, RecordError):  # then what both added is asked about
        return ()
