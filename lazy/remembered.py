"""The last answer of `status`, kept until the store changes (LAZ-54, LAZ-56).

Status is a function of the store alone, and each write raises the store's generation in its own transaction. So an
answer kept with its generation is right exactly as long as the two are equal, and asking again costs one look at one
table, whatever the vault holds. It is a view: lost or damaged, it is made anew.

This module is read at every start of `lace status`; it imports nothing but SQLite.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from vault.vault import Vault

__all__ = ["FORMS", "generation", "recall", "remember"]

FORMS: Final = ("json", "text", "colour")
_SPLIT: Final = "\x00"  # in no form: every one of them is printable text
_ASK: Final = "SELECT k.value, g.value FROM meta k, meta g WHERE k.key = 'status' AND g.key = 'generation'"
_MAX_CHARACTERS: Final = 4 << 20


def recall(store: str, stamp: str, form: str) -> str | None:
    """Return the kept answer in one of `FORMS`, or None when it has to be made.

    Args:
        store: path of the store's file; it is only read.
        stamp: what else the answer depends on: the program's version and the folder's path.
        form: which form.
    """
    try:
        db = sqlite3.connect(store, timeout=0, isolation_level=None)
        try:
            db.execute("PRAGMA query_only=1")
            row = db.execute(_ASK).fetchone()
        finally:
            db.close()
        kept, now = row if row is not None else ("", "")
    except (sqlite3.Error, TypeError, ValueError):
        return None  # whatever is wrong, the way through the whole program names it
    parts = str(kept).split(_SPLIT)
    if len(parts) != 2 + len(FORMS) or parts[0] != str(now) or parts[1] != stamp:
        return None
    return parts[2 + FORMS.index(form)]


def generation(vault: Vault) -> str:
    """Return the store's generation as the read snapshot in hand sees it; ask inside `Store.reading`."""
    return vault.store.meta("generation")


def remember(vault: Vault, number: str, stamp: str, forms: dict[str, str]) -> None:
    """Keep an answer that was made at this generation; a store that moved on, is busy or read-only keeps nothing."""
    kept = _SPLIT.join((number, stamp, *(forms[form] for form in FORMS)))
    if not number or kept.count(_SPLIT) != 1 + len(FORMS) or len(kept) > _MAX_CHARACTERS:
        return
    db = vault.store.db
    try:
        db.execute("PRAGMA busy_timeout=0")
        db.execute(
            "INSERT OR REPLACE INTO meta SELECT 'status', ? FROM meta WHERE key = 'generation' AND value = ?",
            (kept, number),
        )
    except sqlite3.Error:
        return
