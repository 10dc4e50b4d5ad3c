"""Records on their way into the store: rows that go in together, one statement a table and not some a record."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from vault.profile import DATA_APP
from vault.records import Plex, Record, Seal
from vault.store.database import insert_many
from vault.store.facts import Batch
from vault.store.numbers import NEXT_POSITION
from vault.store.packs import Packs
from vault.store.views import Views

__all__ = ["Intake", "Near"]

Near = Callable[[], tuple[int, ...]]

_INSERT = "INSERT OR IGNORE INTO body VALUES (?, ?, ?, ?)"
_ELSEWHERE = bytearray()  # instead of bytes that rest in a pack
_NAMED = (Seal, Plex)  # what may be stored: a bare Blob never is
_TOGETHER = 512  # records
_TOGETHER_BYTES = 1 << 20


class Intake:
    """One run of `Store.add`, in the order of its records.

    Args:
        db: the store's connection, inside a transaction.
        packs: where large contents rest.
        facts: takes the facts of what is new.
        views: takes what each new record says by itself.
        note_sum: is shown each new content.

    Attributes:
        next: the position of the next record.
        added: those of the records that were new.
    """

    def __init__(
        self, db: sqlite3.Connection, packs: Packs, facts: Batch, views: Views, note_sum: Callable[[Plex], None]
    ) -> None:
        self._db = db
        self._packs = packs
        self._facts = facts
        self._views = views
        self._note_sum = note_sum
        self.next = int(db.execute(NEXT_POSITION).fetchone()[0])
        self._waiting: list[tuple[Record, bytes, Near | None]] = []
        self._bytes = 0
        self.added: list[int] = []

    def take(self, record: Record, stored: bytes, near: Near | None = None) -> None:
        """Take a record; one that is here already is skipped.

        Args:
            record: the record.
            stored: its bytes. They rest in its row.
            near: gives the positions of records that are like it, where they rest in a pack.
        """
        self._waiting.append((record, stored, near))
        self._bytes += len(stored)
        if len(self._waiting) >= _TOGETHER or self._bytes >= _TOGETHER_BYTES:
            self._insert()

    def finish(self) -> None:
        """Write what waits; before anything asks for it, and before the transaction ends."""
        self._insert()
        self._packs.name()
        self._facts.write()
        self._views.write()

    def _insert(self) -> None:
        waiting, self._waiting, self._bytes = self._waiting, [], 0
        if not waiting:
            return
        first = self.next
        self.next += len(waiting)
        values: list[object] = []
        for p, (record, stored, near) in enumerate(waiting, first):
            kind, digest = record.hash
            values += (p, kind, bytearray(digest), bytearray(stored) if near is None else _ELSEWHERE)
        everything = insert_many(self._db, _INSERT, values) == len(waiting)
        # Some were here before, or come twice.
        here = None if everything else {row[0] for row in self._db.execute("SELECT p FROM body WHERE p >= ?", (first,))}
        for p, (record, stored, near) in enumerate(waiting, first):
            if (here is None or p in here) and isinstance(record, _NAMED):
                if near is not None:  # a delta rests on records that are in a pack already, so only on earlier ones
                    self._packs.take(p, stored, tuple(base for base in near() if base < p))
                if isinstance(record, Plex) and record.app == DATA_APP:
                    self._note_sum(record)
                self._facts.add(p, record)
                self._views.apply(p, record)
                self.added.append(p)
