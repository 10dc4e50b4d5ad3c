"""The note of a new desk of what its folder was to the desk around it; `from_around` says what that is for (CLAY-3)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from vault.records import RecordError, RecordHash

if TYPE_CHECKING:
    from vault.vault import Vault
    from vault.writer import Writer

__all__ = ["Around", "note_around", "noted_around"]

_KEY = "from around "  # setting of the store, with a desk


class Around(NamedTuple):
    """Where the folder of a new desk was a part of another one.

    Args:
        desk: that one.
        commit: what its folder stood on.
        path: of the new desk's folder in it.
    """

    desk: str
    commit: RecordHash
    path: str


def note_around(w: Writer, desk: str, around: str, path: str) -> None:
    """Note of a new desk what its folder is to the desk around it; in the write that maps it.

    Args:
        w: the write.
        desk: the new one.
        around: the desk of which the folder was a part until now.
        path: of the folder there.
    """
    for (commit,) in w.store.rows("SELECT commit_hash FROM checkout WHERE desk = ?", around):
        w.store.set_meta(_KEY + desk, json.dumps([around, str(commit), path], ensure_ascii=False))


def noted_around(vault: Vault, desk: str) -> Around | None:
    """Return what is noted of a desk, if it can be read.

    It stays noted: an undo may take back what a friend's line brought, and where there is a commit that both lines
    stand on nobody asks.
    """
    kept = vault.store.meta(_KEY + desk)
    try:
        around, commit, path = json.loads(kept or "[]")
        return Around(around, RecordHash.parse(commit), path)
    except (ValueError, RecordError):  # then what both added is asked about
        return None
