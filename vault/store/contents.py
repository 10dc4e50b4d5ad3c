"""Small contents on their way into the store as columns: what a folder holds is mostly these, and much of it."""

from __future__ import annotations

import sqlite3
from itertools import chain, compress, count
from typing import TYPE_CHECKING

from vault.store.database import insert_many

if TYPE_CHECKING:
    from vault.desks.content import Contents
    from vault.store.facts import Batch
    from vault.store.fresh import Fresh
    from vault.store.views import Views

__all__ = ["insert_contents"]


def insert_contents(
    db: sqlite3.Connection, first: int, contents: Contents, facts: Batch, views: Views, fresh: Fresh
) -> None:
    """Write the records of contents, each into its row, with all that the store keeps of them; known ones are skipped.

    Args:
        db: the store's connection, inside a transaction.
        first: the position of the first; no record has one from there on.
        contents: as they were made, or came; none is parsed or compared again.
        facts: takes their facts, and is written by the caller.
        views: takes note of what is new; likewise.
        fresh: sums it.
    """
    digests = [digest for _, digest in contents.records]
    columns = (map(bytearray, digests), map(bytearray, contents.stored))  # see `insert_many`
    rows = zip(count(first), *columns, strict=False)
    values = list(chain.from_iterable(rows))
    added = insert_many(db, "INSERT OR IGNORE INTO body VALUES (?, 'P', ?, ?)", values)
    positions = list(range(first, first + len(digests)))
    if added < len(digests):  # some were here before, or come twice
        here = {row[0] for row in db.execute("SELECT p FROM body WHERE p >= ?", (first,))}
        is_new = [p in here for p in positions]
        contents, positions = contents.chosen(is_new), list(compress(positions, is_new))
    if not positions:
        return
    facts.add_contents(positions, contents)
    views.apply_contents(positions, contents)
    fresh.note_sums(contents)
