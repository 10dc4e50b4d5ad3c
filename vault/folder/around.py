"""The note of a new desk of what its folder was to the desk around it; `from_around` says what that is for (CLAY-3)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from vault.records import RecordError, RecordHash

if TYPE_CHECKING:
    from vault.vault import Vault
    from vault.writer import Writer

__all__ = ["Around", "forget_around", "note_around", "noted_around"]

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
    """Return what is noted of a desk while no friend's line came in; None also where it cannot be read."""
    kept = vault.store.meta(_KEY + desk)
    try:
        around, commit, path = json.loads(kept or "[]")
        return Around(around, RecordHash.parse(commit), path)
    except (ValueError, RecordError):  # then what both added is asked about
        return None


def forget_around(w: Writer, desk: str) -> None:
    """Forget it once a friend's line came in: from then on there is a commit that both stand on."""
    w.store.drop_meta(_KEY + desk)
