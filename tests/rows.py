"""The texts of notes as the rows of a store hold them, past what reads and writes them."""

from __future__ import annotations

from vault.store import Store

__all__ = ["put_text", "text_at"]


def text_at(store: Store, key: str) -> str:
    """Return the text in the row of a note; nothing where there is none."""
    return str(next((value for (value,) in store.rows("SELECT value FROM meta WHERE key = ?", key)), ""))


def put_text(store: Store, key: str, text: str) -> None:
    """Write the text of a note; inside a transaction."""
    store._known.make(key, text)
