"""Record facts (Lace-020) of validated records, as lean rows.

`Field` rows exist for sealed records only, and not for high-entropy or unique values (TAI, Signature, Seq, Lamport,
Data-Length, digests), which are columns or stay in the stored bytes: that halves the cost of an insert. Content and
tree records write no fact rows. Counts live in a maintained table.
"""

from __future__ import annotations

import sqlite3
from typing import Final

from vault.records import Plex, Seal, Verifier

__all__ = ["Batch", "Symbols"]

# High-entropy headers: answered from columns or stored bytes, never from `field`.
_UNIQUE: Final = frozenset({"Content-SHA512", "Lamport", "Proof", "Salt", "Seq"})
_WRITE_AFTER: Final = 2_000  # records
_COUNT: Final = (
    "INSERT INTO counts VALUES (?, ?, ?) ON CONFLICT(app) DO UPDATE"
    " SET records = records + excluded.records, bytes = bytes + excluded.bytes"
)
_UNNAMED: Final = frozenset({"lace/data", "lace/tree"})


class Symbols:
    """Interned texts: text -> small integer, with a bounded memory of recent ones."""

    _LIMIT = 50_000

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._known: dict[str, int] = {}

    def forget(self) -> None:
        """Drop the memory, after a rolled-back transaction may have taken numbers back."""
        self._known.clear()

    def number(self, text: str) -> int:
        """Return the number of `text`, giving it the next one when it is new."""
        known = self._known.get(text)
        if known is not None:
            return known
        row = self._db.execute("SELECT id FROM sym WHERE s = ?", (text,)).fetchone()
        number = int(row[0]) if row else int(self._db.execute("INSERT INTO sym(s) VALUES (?)", (text,)).lastrowid or 0)
        if len(self._known) >= self._LIMIT:
            self._known.clear()
        self._known[text] = number
        return number


class Batch:
    """Facts of the records of one batch, written together: one statement a table, not some a record."""

    def __init__(self, db: sqlite3.Connection, symbols: Symbols) -> None:
        self._db = db
        self._symbols = symbols
        self._counts: dict[int, tuple[int, int]] = {}
        self._signers: dict[Verifier, int] = {}
        self._records: list[tuple[object, ...]] = []
        self._fields: list[tuple[int, int, int, int]] = []
        self._links: list[tuple[int, int, int, int, str]] = []

    def add(self, p: int, record: Plex | Seal) -> None:
        """Take the facts of one validated record at position `p` (FAC-2, FAC-3)."""
        number = self._symbols.number
        plex = record.plex if isinstance(record, Seal) else record
        app = number(plex.app)
        size = len(plex.blob.data)
        records, total = self._counts.get(app, (0, 0))
        self._counts[app] = (records + 1, total + size)
        group = number(plex.group)
        name = None if plex.app in _UNNAMED else plex.name
        if not isinstance(record, Seal):
            self._records.append((p, group, app, name, None, None, size, None))
        else:
            signer = self._signers.get(record.signer)
            if signer is None:
                signer = self._signers[record.signer] = number(record.signer.text)
            self._records.append((p, group, app, name, signer, plex.tai.text, size, plex.hash.digest))
            self._add_fields(p, plex)
        if len(self._records) >= _WRITE_AFTER:
            self.write()

    def write(self) -> None:
        """Write what was taken; before anything asks for it, and before the transaction ends."""
        counts = [(app, records, total) for app, (records, total) in self._counts.items()]
        for sql, rows in (
            ("INSERT INTO rec VALUES (?, ?, ?, ?, ?, ?, ?, ?)", self._records),
            ("INSERT INTO field VALUES (?, ?, ?, ?)", self._fields),
            ("INSERT INTO link VALUES (?, ?, ?, ?, ?)", self._links),
            (_COUNT, counts),
        ):
            if rows:
                self._db.executemany(sql, rows)
        self._records.clear()
        self._fields.clear()
        self._links.clear()
        self._counts.clear()

    def _add_fields(self, p: int, plex: Plex) -> None:
        number = self._symbols.number
        seen: dict[str, int] = {}
        for name, value in plex.extras:
            if not name.endswith("+Link"):
                idx = seen.get(name, 0)
                seen[name] = idx + 1
                if name not in _UNIQUE:
                    self._fields.append((p, number(name), idx, number(value)))
        for idx, (name, data, target) in enumerate(plex.links):
            self._links.append((p, number(name), idx, number(data), target))
