"""Record facts (Lace-020) of validated records, as lean rows.

`Field` rows exist for sealed records only, and not for high-entropy or unique values (TAI, Signature, Seq, Lamport,
Data-Length, digests), which are columns or stay in the stored bytes: that halves the cost of an insert. Content and
tree records write no fact rows. Counts live in a maintained table.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from itertools import chain, repeat
from typing import TYPE_CHECKING, Final

from vault.profile import CONTENT_APPS, DATA_APP
from vault.records import Plex, Seal, Verifier
from vault.records.links import LINK_SUFFIX, parse_link
from vault.store.database import insert_many

if TYPE_CHECKING:
    from vault.desks.content import Contents

__all__ = ["UNINDEXED", "Batch", "Symbols"]

UNINDEXED: Final = frozenset({"Content-SHA512", "Lamport", "Proof", "Salt", "Seq"})
"""Extra headers whose values hardly repeat: answered from columns or stored bytes, never from `field`."""

_WRITE_AFTER: Final = 2_000  # records
_COUNT: Final = (
    "INSERT INTO counts VALUES (?, ?, ?) ON CONFLICT(app) DO UPDATE"
    " SET records = records + excluded.records, bytes = bytes + excluded.bytes"
)


class Symbols:
    """Interned texts: text -> small integer, with a bounded memory of recent ones."""

    _LIMIT = 50_000

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self.known: dict[str, int] = {}
        """The recent ones, for whoever asks for many: what is not in it, `number` gives."""

    def forget(self) -> None:
        """Drop the memory, after numbers were taken back, or others wrote: a prune or a repair numbers anew."""
        self.known.clear()

    def number(self, text: str) -> int:
        """Return the number of `text`, giving it the next one when it is new."""
        known = self.known.get(text)
        if known is not None:
            return known
        row = self._db.execute("SELECT id FROM sym WHERE s = ?", (text,)).fetchone()
        number = int(row[0]) if row else int(self._db.execute("INSERT INTO sym(s) VALUES (?)", (text,)).lastrowid or 0)
        if len(self.known) >= self._LIMIT:
            self.known.clear()
        self.known[text] = number
        return number


class Batch:
    """Facts of the records of one batch, written together: one statement a table, not some a record."""

    def __init__(self, db: sqlite3.Connection, symbols: Symbols) -> None:
        self._db = db
        self._symbols = symbols
        self._counts: dict[int, list[int]] = {}  # records and bytes
        self._signers: dict[Verifier, int] = {}
        # Values of rows, one row after the other.
        self._records: list[object] = []
        self._contents: list[object] = []
        self._fields: list[object] = []
        self._links: list[object] = []
        self._taken = 0

    def add(self, p: int, record: Plex | Seal) -> None:
        """Take the facts of one validated record at position `p` (FAC-2, FAC-3)."""
        known, number = self._symbols.known, self._symbols.number
        plex = record.plex if isinstance(record, Seal) else record
        app, size = known.get(plex.app) or number(plex.app), len(plex.blob.data)
        total = self._counts.get(app)
        if total is None:
            total = self._counts[app] = [0, 0]
        total[0] += 1
        total[1] += size
        group = known.get(plex.group) or number(plex.group)
        if not isinstance(record, Seal):
            if plex.app in CONTENT_APPS:
                self._contents += (p, group, app, size)
            else:
                self._records += (p, group, app, plex.name, None, None, size, None)
        else:
            name = None if plex.app in CONTENT_APPS else plex.name
            signer = self._signers.get(record.signer)
            if signer is None:
                signer = self._signers[record.signer] = number(record.signer.text)
            self._records += (p, group, app, name, signer, plex.tai.text, size, bytearray(plex.hash.digest))
            self._add_fields(p, plex)
        self._taken += 1
        if self._taken >= _WRITE_AFTER:
            self.write()

    def add_contents(self, positions: Sequence[int], contents: Contents) -> None:
        """Take the facts of data records at these positions, which are not written otherwise; as `add` does."""
        app, group = self._symbols.number(DATA_APP), self._symbols.number(contents.group)
        total = self._counts.setdefault(app, [0, 0])
        total[0] += len(positions)
        total[1] += sum(contents.sizes)
        rows = zip(positions, repeat(group), repeat(app), contents.sizes, strict=False)
        self._contents.extend(chain.from_iterable(rows))
        self._taken += len(positions)

    def write(self) -> None:
        """Write what was taken; before anything asks for it, and before the transaction ends."""
        counts = [value for app, total in self._counts.items() for value in (app, *total)]
        for insert, values in (
            ("INSERT INTO rec VALUES (?, ?, ?, ?, ?, ?, ?, ?)", self._records),
            ("INSERT INTO rec(p, grp, app, size) VALUES (?, ?, ?, ?)", self._contents),
            ("INSERT INTO field VALUES (?, ?, ?, ?)", self._fields),
            ("INSERT INTO link VALUES (?, ?, ?, ?, ?)", self._links),
            (_COUNT, counts),
        ):
            insert_many(self._db, insert, values)
        self._taken = 0
        self._records.clear()
        self._contents.clear()
        self._fields.clear()
        self._links.clear()
        self._counts.clear()

    def _add_fields(self, p: int, plex: Plex) -> None:
        """Take the fields of a record, and then its links.

        A text gets its number when it is met first, and fsck meets all of them again: to take links before fields, or
        what a link says before its name, makes every store that was written until then differ from what it finds.
        """
        known, number = self._symbols.known, self._symbols.number
        last, of_name = "", 0  # headers of one name stand together
        links: list[tuple[str, str]] = []
        for header in plex.extras:
            name, value = header
            if name.endswith(LINK_SUFFIX):
                links.append(header)
                continue
            of_name = of_name + 1 if name == last else 0
            last = name
            if name not in UNINDEXED:
                self._fields += (p, number(name), of_name, number(value))
        idx = 0
        for name, value in links:
            link = parse_link(value)
            if link is not None:
                called = known.get(name) or number(name)
                self._links += (p, called, idx, known.get(link.data) or number(link.data), link.target)
                idx += 1
