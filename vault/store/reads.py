"""Reading records from the store, wherever their bytes rest: in a row, or in a pack."""

from __future__ import annotations

import sqlite3
from _weakref import proxy  # of `weakref`, which takes as long to load as a small query
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vault.desks.chunks import part_of, pieces_of, whole_of
from vault.desks.ports import Part
from vault.errors import DataError
from vault.profile import DATA_APP
from vault.records import Plex, RecordHash
from vault.records.hashes import is_record
from vault.store.database import faults_named, name_fault, select_in
from vault.store.packread import PackDamaged
from vault.store.packs import Packs

if TYPE_CHECKING:
    from vault.store.batch_reads import ReadAhead

__all__ = ["Reads"]

# Asked for some hundred at once: of at most 8 KiB, whatever a tree says of their sizes.
_SMALL_PARTS = (
    "SELECT b.kind, b.digest, b.p, r.size, b.bytes FROM body b JOIN rec r USING (p)"
    " WHERE r.size BETWEEN 1 AND 8192 AND b."
)
_TOGETHER = 16  # of fewer records each is sought
_SMALL_BY_DIGEST, _SMALL_SIDE_BY_SIDE = f"{_SMALL_PARTS}digest IN", f"{_SMALL_PARTS}p BETWEEN ? AND ?"
_APPS = (
    "SELECT b.kind, b.digest, s.s, r.size FROM body b JOIN rec r USING (p) JOIN sym s ON s.id = r.app WHERE b.digest IN"
)


def _stored_bytes(packs: Packs, p: int, inline: bytes) -> bytes:
    """Return a record's bytes; of what is damaged nothing, which no record is."""
    if inline:
        return inline
    try:
        return packs.read(p) or b""
    except DataError:
        return b""


class Reads:
    """What a store answers about its records without changing anything.

    Args:
        path: its file.
        db: the connection to it.
        packs: where large contents rest.
        pages: bodies of pages that were stored a moment ago, at hand.

    Raises: the named faults of `vault.store.database`, by every method and by the block that holds what runs inside.
    """

    def __init__(self, path: Path, db: sqlite3.Connection, packs: Packs, pages: Mapping[RecordHash, bytes]) -> None:
        self.path = path
        self.db = db
        self.packs = packs
        self._pages = pages
        # Queries ask for a record's bytes wherever they rest. SQLite holds what it calls where no collector looks: if
        # that held the store, neither would ever go. It lets go of it after the files.
        self._stored = partial(_stored_bytes, proxy(packs))
        db.create_function("stored", 2, self._stored)
        db.create_function("hash_text", 2, _hash_text, deterministic=True)  # links name records so

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Hold one read snapshot for the block (INT-94)."""
        with faults_named(self.path):
            if self.db.in_transaction:
                yield
                return
            self.db.execute("BEGIN")
            try:
                yield
            finally:
                self.db.execute("COMMIT")

    def data_version(self) -> int:
        """Return a number that changes whenever somebody else has written here."""
        return int(self.rows("PRAGMA data_version")[0][0])

    def exposed(self) -> int:
        """Return the last number of the exposure log, 0 while nothing is shared."""
        return int(self.rows("SELECT ifnull(max(at), 0) FROM exposure")[0][0])

    def position(self, record: RecordHash) -> int | None:
        """Return the arrival position of a stored record, or None."""
        found = self.rows("SELECT p FROM body WHERE digest = ? AND kind = ?", record.digest, record.kind)
        return int(str(found[0][0])) if found else None

    def stored(self, record: RecordHash) -> bytes | None:
        """Return the proven bytes of a record, or None when it is not here.

        Raises:
            PackDamaged, BadFrame: what lies here is not that record.
        """
        with faults_named(self.path):
            row = self.db.execute(
                "SELECT CAST(bytes AS BLOB), p FROM body WHERE digest = ? AND kind = ?", (record.digest, record.kind)
            ).fetchone()
            return self._proven(record, int(row[1]), row[0] or b"") if row is not None else None

    def stored_or_none(self, record: RecordHash) -> bytes | None:
        """Return the stored bytes of a record, or None also when what lies here is damaged."""
        try:
            return self.stored(record)
        except DataError:
            return None

    def resting_on(self, record: RecordHash) -> list[tuple[RecordHash, bytes]]:
        """Return the records that this one is compressed against here, with their stored bytes; none if it is not."""
        rests = self.rows(
            "SELECT p FROM body b JOIN packed k USING (p) JOIN frame f ON f.id = k.frame"
            " WHERE b.digest = ? AND b.kind = ? AND length(f.bases) > 0",
            record.digest,
            record.kind,
        )
        found = []
        for base in self.packs.bases(int(rests[0][0])) if rests else ():
            for kind, digest in self.rows("SELECT kind, digest FROM body WHERE p = ?", base):
                name = RecordHash(str(kind), bytes(digest))
                stored = self.stored_or_none(name)
                if stored is None:
                    return []
                found.append((name, stored))
        return found

    def _proven(self, record: RecordHash, p: int, inline: bytes) -> bytes:
        """Return the proven bytes of a record, of its row or, where none are there, of a pack (REC-5).

        Raises:
            PackDamaged, BadFrame: they are not that record's.
        """
        found = inline or self.packs.read(p) or b""
        if not is_record(record, found):
            raise PackDamaged(f"The bytes stored for {record.text} are not that record.")
        return found

    def content(self, record: RecordHash) -> bytes | None:
        """Return a whole content or page of at most 32 MiB, put together from its chunks; None when not here.

        Raises:
            MissingObject: a chunk is not here.
            TreeError: a manifest is not what it says, or of more than 32 MiB.
        """
        return whole_of(self.part, record, self.blobs)

    def pieces(self, record: RecordHash) -> Iterator[bytes] | None:
        """Return a content of any size in order, in pieces; None when it is not here; see `chunks.pieces_of`."""
        return pieces_of(self.part, record, self.blobs)

    def part(self, record: RecordHash) -> Part | None:
        """Return what one record holds itself: the data of its Blob, or its list of parts; None when not here."""
        with faults_named(self.path):
            row = self.db.execute(
                "SELECT r.size, b.bytes, b.p FROM body b JOIN rec r USING (p) WHERE b.digest = ? AND b.kind = ?",
                (record.digest, record.kind),
            ).fetchone()
            if row is None:
                return None
            size, found = int(row[0]), bytes(row[1] or b"")
            if not found and size and record in self._pages:
                return self._pages[record]
            found = self._proven(record, int(row[2]), found)
        if size:
            return found[-size:]
        from vault.records.parse import parse_record  # a commit reads no record back

        whole = parse_record(found, verify=False) if record.kind == "P" else None
        return part_of(whole) if isinstance(whole, Plex) else b""

    def blobs(self, records: Sequence[RecordHash]) -> Iterator[memoryview | None]:
        """Yield the proven bytes of each record's Blob in order; None where `part` must say what is there.

        For thousands of chunks that lie side by side in a pack: see `vault.store.batch_reads`.
        """
        from vault.store import batch_reads  # few commands read much content at once

        with faults_named(self.path):
            found = batch_reads.slots_of(self.db, records)
        return batch_reads.blobs(self.packs, records, found)

    def blobs_as_they_lie(self, records: Sequence[RecordHash]) -> Iterator[memoryview | None]:
        """Yield the same unproven, for who compares the digest of all of it (`vault.desks.chunks.check_content`)."""
        from vault.store import batch_reads  # as above

        with faults_named(self.path):
            found = batch_reads.slots_of(self.db, records)
        return batch_reads.blobs(self.packs, records, found, is_proven=False)

    def read_ahead(self, records: Sequence[RecordHash], positions: Sequence[int] = ()) -> ReadAhead:
        """Return what reads some hundred records faster, if they are asked for in this order; see `rows_of`."""
        from vault.store import batch_reads  # as above

        with faults_named(self.path):
            return batch_reads.ReadAhead(self.packs, records, *batch_reads.rows_of(self.db, records, positions))

    def length(self, record: RecordHash) -> int | None:
        """Return the bytes of a record's Blob without reading them, 0 for a manifest; None when it is not here."""
        found = self.rows(
            "SELECT r.size FROM body b JOIN rec r USING (p) WHERE b.digest = ? AND b.kind = ?",
            record.digest,
            record.kind,
        )
        return int(found[0][0]) if found else None

    def lengths(self, records: Sequence[RecordHash]) -> dict[RecordHash, int]:
        """Return the bytes of the Blobs of those records that are here; see `length`."""
        query = "SELECT b.kind, b.digest, r.size FROM body b JOIN rec r USING (p) WHERE b.digest IN"
        wanted: dict[tuple[str, bytes], RecordHash] = {record: record for record in records}
        with faults_named(self.path):
            rows = select_in(self.db, query, [record.digest for record in records])
            return {wanted[kind, digest]: size for kind, digest, size in rows if (kind, digest) in wanted}

    def apps(self, records: Sequence[RecordHash]) -> dict[RecordHash, tuple[str, int | None]]:
        """Return App and bytes of those records that are here, or were let go; None for the bytes of no Blob."""
        found: dict[RecordHash, tuple[str, int | None]] = {}
        with faults_named(self.path):
            for kind, digest, app, size in select_in(self.db, _APPS, [record.digest for record in records]):
                found[RecordHash(str(kind), bytes(digest))] = (str(app), int(size) or None)
            gone = {record.text: record for record in records if record not in found}
            for text, size in select_in(self.db, "SELECT hash, size FROM tomb WHERE hash IN", list(gone)):
                found[gone[str(text)]] = (DATA_APP, int(size))
        return found

    def small_parts(self, records: Sequence[RecordHash]) -> dict[RecordHash, bytes]:
        """Return the bytes of the Blobs of at most 8 KiB of those records that are here and whole; see `part`."""
        parts: dict[RecordHash, bytes] = {}
        wanted: dict[tuple[str, bytes], RecordHash] = {record: record for record in records}
        with faults_named(self.path):
            rows = chain(self._side_by_side(records), self._by_digest(wanted))
            for kind, digest, p, size, stored in rows:
                if (record := wanted.pop((kind, digest), None)) is not None:
                    with suppress(DataError):  # what is wrong with it is said when it is read by itself
                        parts[record] = self._proven(record, p, stored)[-size:]
        return parts

    def _side_by_side(self, records: Sequence[RecordHash]) -> list[tuple[Any, ...]]:
        """Return the small rows where some records lie, if these came together: to seek each takes twice as long."""
        if len(records) < _TOGETHER:
            return []
        first, last = self.position(records[0]), self.position(records[-1])
        if first is None or last is None or not 0 < last - first < 2 * len(records):
            return []
        return self.db.execute(_SMALL_SIDE_BY_SIDE, (first, last)).fetchall()

    def _by_digest(self, wanted: Mapping[tuple[str, bytes], RecordHash]) -> Iterator[tuple[Any, ...]]:
        """Yield the small rows of records, of those that are wanted still once it is asked."""
        yield from select_in(self.db, _SMALL_BY_DIGEST, [digest for _, digest in wanted])

    def have(self, records: Collection[RecordHash]) -> set[RecordHash]:
        """Return those of `records` whose validated bytes are stored here (FAC-1, `Have`)."""
        wanted = set(records)
        with faults_named(self.path):
            rows = select_in(self.db, "SELECT kind, digest FROM body WHERE digest IN", [key.digest for key in wanted])
            return {RecordHash(kind, bytes(digest)) for kind, digest in rows} & wanted

    def bodies(self, first: int = 0) -> Iterator[tuple[int, RecordHash, bytes]]:
        """Yield (position, hash, stored bytes) of every record from position `first` on, in arrival order."""
        for p, kind, digest, stored in self.db.execute(
            "SELECT p, kind, digest, stored(p, CAST(bytes AS BLOB)) FROM body WHERE p >= ? ORDER BY p", (first,)
        ):
            yield int(p), RecordHash(kind, bytes(digest)), bytes(stored)

    def rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Run one constant query of the floors above and return all rows; never text from outside."""
        try:
            return self.db.execute(sql, values).fetchall()
        except sqlite3.DatabaseError as fault:  # asked too often for a block of `faults_named`
            name_fault(fault, self.path)
            raise


def _hash_text(kind: str, digest: bytes) -> str:
    return RecordHash(kind, digest).text
