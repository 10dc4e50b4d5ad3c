"""Whether an entry of this node's own log is missing here: a log counts up to its first gap (LAZ-28).

Nothing of mine behind the gap is shared before that entry is back. It was lost with a damaged disk; a place that has it
brings it back, and where none has, the node goes on under a new key.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from vault.errors import LaceError

if TYPE_CHECKING:
    from vault.vault import Vault

__all__ = ["GAP_HINT", "first_missing", "log_gap", "missing_entry"]

GAP_HINT = "A sync with a place that has it brings it back. If none has, go on under a new key: lace adopt"

_COUNTS = """
SELECT ifnull((SELECT seq FROM vector WHERE node = ?1), 0), ifnull((SELECT max(seq) FROM log WHERE node = ?1), 0)
WHERE NOT EXISTS (SELECT 1 FROM vector WHERE node = ?1 AND forked)"""


def first_missing(vault: Vault) -> int | None:
    """Return the Seq of the first entry of my log that is not here while a later one is, else None (LAZ-28)."""
    for counts, top in vault.store.rows(_COUNTS, vault.node.text):
        return int(counts) + 1 if counts < top else None
    return None  # it forked: nothing more is written to it


def missing_entry(seq: int) -> str:
    """Return what a missing entry of my log means, in a sentence."""
    return f"Entry {seq} of your own log is missing here: what you share after it reaches nobody until it is back."


def log_gap(vault: Vault) -> tuple[int, str] | None:
    """Return Seq and Seal of the first entry of this node's log that is missing before one that is here.

    It trusts no vector: `fsck` asks, before the views are made anew.
    """
    sql = (
        "SELECT l.seq - 1, l.prev FROM log l WHERE l.node = ? AND l.prev IS NOT NULL AND NOT EXISTS"
        " (SELECT 1 FROM log b WHERE b.node = l.node AND b.seq = l.seq - 1 AND b.hash = l.prev) ORDER BY l.seq LIMIT 1"
    )
    with suppress(LaceError):  # the view of the log is gone, or whose it is: that is named
        for seq, entry in vault.store.rows(sql, vault.node.text):
            return int(seq), str(entry)
    return None
