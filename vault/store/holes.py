"""The `hole` table: what shared records reach and is missing here, and what is known of it without asking again.

The content of a first meeting is missing for a moment: its trees come, and then it does. So what one connection itself
made missing is known in memory while it is little, and is asked for there, batch after batch.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain

from vault.records import RecordHash
from vault.records.hashes import texts_of
from vault.store.database import insert_many, select_in

__all__ = ["MOST_KNOWN", "HoleTable", "Want"]

# A record and a flag. Of a sealed record: whether its content is shared too. Of an unsigned one, which is content:
# whether a tree names it, for then prune may have let it go; a chunk of a larger content it may not.
Want = tuple[RecordHash, bool]

MOST_KNOWN = 100_000
"""Records that may be known in memory: 18 MB."""

_INSERT = "INSERT OR IGNORE INTO hole VALUES (?, ?)"
_Contents = tuple[bool, ...]  # of the wants of one record: with its content, without it, or once of each
_ONCE: tuple[_Contents, _Contents] = (False,), (True,)  # of one want, which nearly all have


class HoleTable:
    """The holes as one store connection knows them; every statement that changes them is here.

    What is in memory counts until somebody else commits, and `forget` drops it when this connection takes something
    back. It begins with a table that is empty or is read whole, so a look at a few of many holes reads only these.

    Args:
        db: the store's connection.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._open: dict[RecordHash, _Contents] | None = None  # all of them, if they are known
        self._version = -1  # of the data, as others committed it
        self._is_writing = False

    def begin(self, *, is_other: bool) -> None:
        """Begin a write, in which nobody else commits; `is_other` tells whether somebody did since the last one."""
        if is_other:
            self.forget()
        self._is_writing = True

    def end(self) -> None:
        """End a write: from now others commit."""
        self._is_writing = False

    def forget(self) -> None:
        """Drop what is known, after a rollback or after the table was made anew."""
        self._open = None

    def any(self) -> bool:
        """Tell whether anything is missing."""
        known = self._known()
        if known is not None:
            return bool(known)
        if self._db.execute("SELECT 1 FROM hole LIMIT 1").fetchone() is not None:
            return True
        self._open = {}
        return False

    def all(self) -> Collection[RecordHash]:
        """Return every record that is missing, each once; not to be changed."""
        known = self._known()
        if known is not None:
            return known.keys()
        rows = self._db.execute("SELECT want, content FROM hole").fetchall()
        found: dict[RecordHash, _Contents] = {}
        for want, content in rows:
            record = RecordHash.parse(str(want))
            found[record] = (*found.get(record, ()), bool(content))
        self._open = found if len(found) <= MOST_KNOWN else None
        return found.keys()

    def all_up_to(self, most: int) -> Collection[RecordHash] | None:
        """Return what `all` returns, or None where that is more than `most`."""
        known = self._known()
        if known is None:
            rows = self._db.execute("SELECT count(*) FROM (SELECT DISTINCT want FROM hole LIMIT ?)", (most + 1,))
            return self.all() if int(rows.fetchone()[0]) <= most else None
        return known.keys() if len(known) <= most else None

    def among(self, records: Collection[RecordHash]) -> set[RecordHash]:
        """Return those of some records that are missing."""
        if not self.any():
            return set()
        if self._open is not None:
            return self._open.keys() & records
        named = {record.text: record for record in records}
        rows = select_in(self._db, "SELECT DISTINCT want FROM hole WHERE want IN", list(named))
        return {named[str(row[0])] for row in rows}

    def add(self, wants: Iterable[Want]) -> None:
        """Note what is missing; inside a transaction."""
        missing = list(wants)
        texts = texts_of([record for record, _ in missing])
        named = {(text, want[1]): want[0] for text, want in zip(texts, missing, strict=True)}
        rows = sorted(named)  # as the table lies
        insert_many(self._db, _INSERT, list(chain.from_iterable(rows)))
        if (known := self._known()) is None:
            return
        for row in rows:
            record, content = named[row], row[1]
            contents = known.get(record)
            if contents is None:
                known[record] = _ONCE[content]
            elif content not in contents:
                known[record] = (*contents, content)
        if len(known) > MOST_KNOWN:
            self._open = None

    def fill(self, records: Sequence[RecordHash]) -> list[Want]:
        """Close the holes of some records that are here now, or wanted no more; return what was wanted of them."""
        if not self.any():
            return []
        if (known := self._open) is not None:
            filled = {record: known.pop(record) for record in records if record in known}
            wants = [(record, content) for record, contents in filled.items() for content in contents]
            if not known:  # as the last content of a first meeting leaves it
                self.clear()
                return wants
            if len(known) < len(filled):  # to write the few that are left costs less than to let go of the others
                self._write_anew(known)
                return wants
            texts = texts_of([*filled])
        else:
            named = {record.text: record for record in records}
            rows = select_in(self._db, "SELECT want, content FROM hole WHERE want IN", list(named))
            wants = [(named[str(want)], bool(content)) for want, content in rows]
            texts = list({record.text for record, _ in wants})
        self._db.executemany("DELETE FROM hole WHERE want = ?", [(text,) for text in sorted(texts)])
        return wants

    def _write_anew(self, known: Mapping[RecordHash, _Contents]) -> None:
        self._db.execute("DELETE FROM hole")
        texts = zip(texts_of([*known]), known.values(), strict=True)
        rows = sorted((text, content) for text, contents in texts for content in contents)
        insert_many(self._db, _INSERT, list(chain.from_iterable(rows)))

    def clear(self) -> None:
        """Forget all holes; inside a transaction that finds them anew."""
        self._db.execute("DELETE FROM hole")
        self._open = {}

    def _known(self) -> dict[RecordHash, _Contents] | None:
        """Return all holes if they are known and nobody else wrote here since."""
        if self._is_writing:
            return self._open
        version = int(self._db.execute("PRAGMA data_version").fetchone()[0])
        if version != self._version:
            self._version, self._open = version, None
        return self._open
