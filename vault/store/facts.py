"""Record facts (Lace-020) of validated records, as lean rows.

`Field` rows exist for sealed records only, and not for high-entropy or unique values (TAI, Signature, Seq, Lamport,
Data-Length, digests), which are columns or stay in the stored bytes: that halves the cost of an insert. Content and
tree records write no fact rows. Counts live in a maintained table.
"""

from __future__ import annotations

import sqlite3
from typing import Final

from vault.records import Plex, Seal

__all__ = ["Counts", "Symbols", "index"]

# High-entropy headers: answered from columns or stored bytes, never from `field`.
_UNIQUE: Final = frozenset({"Content-SHA512", "Lamport", "Proof", "Salt", "Seq"})
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


class Counts:
    """Records and bytes of each App that were added and are not in the `counts` table yet."""

    def __init__(self) -> None:
        self._new: dict[int, tuple[int, int]] = {}

    def note(self, app: int, size: int) -> None:
        """Count one record."""
        records, total = self._new.get(app, (0, 0))
        self._new[app] = (records + 1, total + size)

    def write(self, db: sqlite3.Connection) -> None:
        """Bring the table up to date: one statement an App, where one a record would cost a third of an insert."""
        db.executemany(
            "INSERT INTO counts VALUES (?, ?, ?) ON CONFLICT(app) DO UPDATE"
            " SET records = records + excluded.records, bytes = bytes + excluded.bytes",
            [(app, records, total) for app, (records, total) in self._new.items()],
        )
        self._new.clear()


def index(db: sqlite3.Connection, symbols: Symbols, counts: Counts, p: int, record: Plex | Seal) -> None:
    """Write the facts of one validated record at position `p` (FAC-2, FAC-3); the caller writes the counts."""
    plex = record.plex if isinstance(record, Seal) else record
    app = symbols.number(plex.app)
    sealed = isinstance(record, Seal)
    size = len(plex.blob.data)
    db.execute(
        "INSERT INTO rec VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            p,
            symbols.number(plex.group),
            app,
            None if plex.app in _UNNAMED else plex.name,
            symbols.number(record.signer.text) if isinstance(record, Seal) else None,
            plex.tai.text if sealed else None,
            size,
            plex.hash.digest if sealed else None,
        ),
    )
    counts.note(app, size)
    if sealed:
        _index_fields(db, symbols, p, plex)


def _index_fields(db: sqlite3.Connection, symbols: Symbols, p: int, plex: Plex) -> None:
    seen: dict[str, int] = {}
    fields = []
    for name, value in plex.extras:
        idx = seen.get(name, 0)
        seen[name] = idx + 1
        if name not in _UNIQUE and not name.endswith("+Link"):
            fields.append((p, symbols.number(name), idx, symbols.number(value)))
    db.executemany("INSERT INTO field VALUES (?, ?, ?, ?)", fields)
    db.executemany(
        "INSERT INTO link VALUES (?, ?, ?, ?, ?)",
        [
            (p, symbols.number(link.name), idx, symbols.number(link.data), link.target)
            for idx, link in enumerate(plex.links)
        ],
    )
