"""The values that were proven of contents and directories, kept so that the next release costs what is new in it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Final, Self

from vault.records import RecordHash
from vault.store.database import insert_many, select_in

__all__ = ["UNWATCHED_BYTES", "Leave", "PutOff", "Sums"]

UNWATCHED_BYTES: Final = 256 << 20  # proven in one transaction that nobody can cancel

_TOGETHER: Final = 10_000  # values that wait to be written, some 3 MB
_KEEP: Final = (
    "INSERT INTO sums VALUES (?, ?) ON CONFLICT(hash) DO UPDATE SET sha512 = excluded.sha512"
    " WHERE sha512 <> excluded.sha512"
)


class PutOff(Exception):
    """A content is not proven now: it stays hidden, and a later action proves it."""


class Leave:
    """How much may be read in one transaction to prove what others sent.

    A few kilobytes of manifests may name the same chunks again and again, and stand for terabytes; a sparse file of
    honest people does as much. So no size is refused: whoever watches the work is asked, and where nobody does it is
    left to the next sync.
    """

    def __init__(self) -> None:
        self._read = 0
        self._asked: Callable[[int], object] | None = None

    def begin(self) -> None:
        """Begin to count anew."""
        self._read = 0

    @contextmanager
    def by(self, asked: Callable[[int], object]) -> Iterator[None]:
        """Ask for the block: `asked` is told the bytes that were read so far, and raises to stop.

        With `PutOff` the rest goes on without what could not be proven.
        """
        before, self._asked = self._asked, asked
        try:
            yield
        finally:
            self._asked = before

    def __call__(self, size: int) -> None:
        """Ask whether these bytes more may be read.

        Raises:
            PutOff: not now.
        """
        self._read += size
        if self._asked is not None:
            self._asked(self._read)
        elif self._read > UNWATCHED_BYTES:
            raise PutOff


class Sums:
    """The `sums` table as the cache of Content-SHA512 values: asked and written for many at a time."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._new: dict[RecordHash, str] = {}
        self._is_all_here: bool | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.keep()

    def expect(self, records: Sequence[RecordHash]) -> dict[RecordHash, str | None]:
        """Return what is kept under these keys, asked for together; and keep what was put once it is much."""
        if len(self._new) >= _TOGETHER:
            self.keep()
        known = self._known(records)
        if self._new:
            known |= {record: self._new[record] for record in known.keys() & self._new.keys()}
        return known

    def get(self, record: RecordHash) -> str | None:
        """Return the value kept under this key, or None."""
        return self._new[record] if record in self._new else self._known([record])[record]

    def put(self, sums: Mapping[RecordHash, str]) -> None:
        """Take values, to be kept later."""
        self._new.update(sums)

    def keep(self) -> None:
        """Write what was put, if there is a transaction."""
        if self._db.in_transaction:
            new = {digest: sum_ for (_, digest), sum_ in self._new.items()}
            digests = sorted(new)  # as the table lies
            rows = zip(map(bytearray, digests), map(new.__getitem__, digests), strict=True)  # see `insert_many`
            insert_many(self._db, _KEEP, list(chain.from_iterable(rows)))
            self._new.clear()

    def _known(self, records: Sequence[RecordHash]) -> dict[RecordHash, str | None]:
        digests = [record.digest for record in records]
        sums = dict(select_in(self._db, "SELECT hash, sha512 FROM sums WHERE hash IN", digests))
        known: dict[RecordHash, str | None] = dict(zip(records, map(sums.get, digests), strict=True))
        if self._none_let_go():
            return known
        # What was let go is known by what was proven while it was here.
        lacking = {record.text: record for record, sum_ in known.items() if sum_ is None}
        for text, sum_ in select_in(self._db, "SELECT hash, sha512 FROM tomb WHERE hash IN", list(lacking)):
            known[lacking[str(text)]] = sum_
        return known

    def _none_let_go(self) -> bool:
        """Tell whether nothing was ever let go here; asked once while nobody else can write."""
        if self._is_all_here is None or not self._db.in_transaction:
            self._is_all_here = self._db.execute("SELECT 1 FROM tomb LIMIT 1").fetchone() is None
        return self._is_all_here
