"""The last answers of `status`, `queue`, `conflicts`, `vectors` and `changes`, kept until the store changes (LAZ-56).

All but `changes` and `status` are functions of the store alone, and each write raises the store's generation in its own
transaction. So an answer kept with its generation is right exactly as long as the two are equal, and asking again costs
one look at one table, whatever the vault holds. Whether this vault may sign, which `status` tells, is a function of the
mark beside the key, too: its answer is kept with what the mark's file looked like. That nothing changed in the folder
is a function of the store and the folder: its answer is kept with the tree that was found, and is right while a look
finds the folder as the scan before left it. These are views: lost or damaged, they are made anew.

This module is read at every start of `lace status`; it imports nothing but SQLite.
"""

from __future__ import annotations

import os
import sqlite3

TYPE_CHECKING = False  # `typing` takes longer to load than all the rest
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Final

    from vault.vault import Vault

__all__ = [
    "CHANGES",
    "CONFLICTS",
    "GENERATION",
    "QUEUE",
    "STATUS",
    "VECTORS",
    "generation",
    "opened",
    "recall",
    "remember",
]

STATUS: Final = "status"
QUEUE: Final = "queue"
CONFLICTS: Final = "conflicts"
VECTORS: Final = "vectors"
CHANGES: Final = "changes"
GENERATION: Final = "SELECT value FROM meta WHERE key = 'generation'"
_FORMS: Final = ("json", "text", "colour")
_SPLIT: Final = "\x00"  # in no form: every one of them is printable text
_ASK: Final = "SELECT k.value, g.value FROM meta k, meta g WHERE k.key = ? AND g.key = 'generation'"
_MAX_CHARACTERS: Final = 4 << 20


def opened(store: str) -> sqlite3.Connection:
    """Return a connection to the store's file that waits for nobody and only reads.

    Raises:
        sqlite3.Error: it cannot be opened, or a killed process left a log there, which is looked at before it is read.
    """
    try:
        has_log = os.stat(f"{store}-wal").st_size > 0  # noqa: PTH116 - pathlib alone takes as long as the look-up
    except OSError:
        has_log = False
    if has_log:
        from vault.left_log import is_left  # hardly ever

        if is_left(store):
            raise sqlite3.OperationalError("a log was left")
    db = sqlite3.connect(store, timeout=0, isolation_level=None)
    db.execute("PRAGMA query_only=1")
    return db


def recall(db: sqlite3.Connection, what: str, stamp: str | Callable[[str], str], form: str) -> str | None:
    """Return the kept answer in one of `_FORMS`, or None when it has to be made.

    Args:
        db: as `opened` gives it.
        what: `STATUS`, `QUEUE`, `CONFLICTS`, `VECTORS` or `CHANGES`.
        stamp: what else the answer depends on: the program's version, the folder's path and the like; or what
            returns that, given what the kept answer depended on.
        form: which form.
    """
    try:
        row = db.execute(_ASK, (what,)).fetchone()
    except sqlite3.Error:
        return None  # whatever is wrong, the way through the whole program names it
    kept, now = row if row is not None else ("", "")
    parts = str(kept).split(_SPLIT)
    if len(parts) != 2 + len(_FORMS) or parts[0] != str(now):
        return None
    if parts[1] != (stamp if isinstance(stamp, str) else stamp(parts[1])):
        return None
    return parts[2 + _FORMS.index(form)]


def generation(vault: Vault) -> str:
    """Return the store's generation as the read snapshot in hand sees it; ask inside `Store.reading`."""
    from vault.notes.own import GENERATION as NOTED  # the quick way loads no more than SQLite

    return vault.store.note(NOTED)


def remember(vault: Vault, what: str, number: str, stamp: str, forms: dict[str, str]) -> None:
    """Keep an answer that was made at this generation; a store that moved on, is busy or read-only keeps nothing."""
    kept = _SPLIT.join((number, stamp, *(forms[form] for form in _FORMS)))
    if not number or kept.count(_SPLIT) != 1 + len(_FORMS) or len(kept) > _MAX_CHARACTERS:
        return
    db = vault.store.db
    try:
        db.execute("PRAGMA busy_timeout=0")
        db.execute(
            "INSERT OR REPLACE INTO meta SELECT ?, ? FROM meta WHERE key = 'generation' AND value = ?",
            (what, kept, number),
        )
    except (sqlite3.Error, UnicodeEncodeError):  # a path that is no UTF-8 cannot be kept
        return
