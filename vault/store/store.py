"""The store: validated records in one SQLite file, with their facts and views in the same transaction.

Records are the truth. `Store.add` takes only records that were fully validated by `vault.records`; facts and views
follow inside the same transaction (`vault.store.facts`, `vault.store.views`), so a crash leaves all or nothing
(architecture, decision 3). The position `p` of a record is its arrival position in this store: it serves wake
routing and cursors, never visibility (INT-125).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from vault.desks.chunks import part_of, pieces_of, whole_of
from vault.desks.ports import Part
from vault.desks.sums import content_sha512
from vault.errors import DataError
from vault.profile import CONTENT_APPS, DATA_APP, TREE_APP
from vault.records import Plex, Record, RecordHash, Seal
from vault.records.errors import RecordError
from vault.records.hashes import is_record
from vault.store import facts
from vault.store.contents import insert_contents
from vault.store.database import StoreDamaged, connect, faults_named, name_fault, select_in
from vault.store.fresh import Fresh
from vault.store.holes import HoleTable
from vault.store.intake import Intake
from vault.store.known import Known
from vault.store.packread import PackDamaged
from vault.store.packs import PACK_MIN_BYTES, Packs
from vault.store.schema import create_derived
from vault.store.sums import Leave, Sums
from vault.store.views import Views

if TYPE_CHECKING:
    from vault.desks.content import Contents
    from vault.membership import Cut
    from vault.store.side import Ahead

__all__ = ["Store"]

# Asked for some hundred at once: of at most 8 KiB, whatever a tree says of their sizes.
_SMALL_PARTS = (
    "SELECT b.kind, b.digest, b.p, r.size, substr(b.bytes, -r.size) FROM body b JOIN rec r USING (p)"
    " WHERE r.size BETWEEN 1 AND 8192 AND b.digest IN"
)
_APPS = (
    "SELECT b.kind, b.digest, s.s, r.size FROM body b JOIN rec r USING (p) JOIN sym s ON s.id = r.app WHERE b.digest IN"
)


class Store:
    """The record store of one vault. One instance belongs to one thread.

    Raises: the named faults of `vault.store.database`, by every method and by the blocks that hold what runs inside.
    """

    def __init__(self, path: Path, *, create: bool = False) -> None:
        self.path = path
        self.db = connect(path, create=create)
        self.packs = Packs(self.db, path.parent / "packs")
        # Queries ask for a record's bytes wherever they rest; what is damaged answers with nothing, which no record is.
        self.db.create_function("stored", 2, self._stored_bytes)
        self._symbols = facts.Symbols(self.db)
        self.proofs = Leave()
        self.holes = HoleTable(self.db)
        self._views = Views(self.db, self.holes, lambda tree: self.content_sum(tree, self.proofs))
        self._known = Known(self.db, path)
        self.answer = self._known.answer  # for what an action asks several times
        self._fresh = Fresh(self.keep_sums)

    def close(self) -> None:
        """Close the file; the instance must not be used afterwards."""
        self.packs.close()
        self.db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run the block as one transaction; whoever adds records calls `settle` before it ends."""
        with faults_named(self.path):
            if self.db.in_transaction:
                yield
                return
            self.db.execute("BEGIN IMMEDIATE")
            self.proofs.begin()
            try:
                if self._known.begin():  # a prune or a repair may have numbered anew
                    self._symbols.forget()
                before = self.db.total_changes
                yield
                self.packs.finish()
                if self.db.total_changes != before:  # answers kept with the old number are out of date from now
                    self._known.next_generation()
                self.db.execute("COMMIT")
            except BaseException:
                self._roll_back()
                raise
            finally:
                self._known.end()

    def _roll_back(self) -> None:
        if self.db.in_transaction:
            self.db.execute("ROLLBACK")
        self.packs.abort()
        self._fresh.forget()
        self._known.forget()
        self._symbols.forget()
        self._views.forget()
        self.holes.forget()

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

    # Records

    def add(
        self,
        records: Iterable[tuple[Record, bytes]],
        near: Mapping[RecordHash, Sequence[RecordHash]] | None = None,
    ) -> list[int]:
        """Store validated records with their stored bytes; known ones are skipped.

        Args:
            records: pairs of a validated record and exactly its stored bytes. Bare Blobs are never stored (H-8).
            near: stored records whose bytes are like those of new ones; only a hint for how they rest.

        Returns:
            The positions of the records that were new, in order. Must run inside `transaction`, and `settle`
            must run before it ends.
        """
        self._views.begin()
        batch = facts.Batch(self.db, self._symbols)
        intake = Intake(self.db, self.packs, batch, self._views, self._fresh.note_sum)
        for record, stored in records:
            if len(stored) >= PACK_MIN_BYTES and isinstance(record, Plex) and record.app in CONTENT_APPS:
                if record.app == TREE_APP:
                    self._fresh.keep_page(record)
                intake.take(record, stored, partial(self._positions, (near or {}).get(record.hash, ())))
            else:
                intake.take(record, stored)
        intake.finish()
        return intake.added

    def add_contents(self, contents: Contents) -> None:
        """Store data records of small contents, made here or compared with their names; as `add` does, and must run."""
        self._views.begin()
        insert_contents(self.db, contents, facts.Batch(self.db, self._symbols), self._views, self._fresh)

    def _positions(self, records: Sequence[RecordHash]) -> tuple[int, ...]:
        return tuple(p for p in map(self.position, records) if p is not None)

    def forget(self, p: int) -> None:
        """Take the record at position `p` out, inside `transaction`; the bytes of its pack stay until a prune."""
        for table in ("body", "packed", "exposure"):
            self.db.execute(f"DELETE FROM {table} WHERE p = ?", (p,))  # noqa: S608 - our own table names

    def unpack(self, p: int) -> None:
        """Bring the record at position `p` back from its pack into its row, inside `transaction`."""
        row = self.db.execute("SELECT stored(p, bytes) FROM body WHERE p = ?", (p,)).fetchone()
        if row is not None and row[0]:
            self.db.execute("UPDATE body SET bytes = ? WHERE p = ?", (row[0], p))
            self.db.execute("DELETE FROM packed WHERE p = ?", (p,))

    def settle(self, me: str | None, founding: str | None, *, final: bool = True, parted: str = "") -> None:
        """Bring the views that depend on several records up to date: membership, vectors, sharing, visibility.

        Args:
            me: this node's verifier text; my own log counts before I am a member.
            founding: hash text of the founding Seal, or None while it is not here.
            final: also judge visibility; a batch in the middle of a round leaves that to the last one.
            parted: the node that was mine until this transaction, if another one is now.
        """
        self._views.settle(me=me, founding=founding, final=final, parted=parted)

    def chain(self, node: str, cut: Cut) -> list[tuple[int, str, str | None]]:
        """Return the entries of a node's log here that lead to a cut, as Seq, hash and hash of the one before."""
        return self._views.chain(node, cut)

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
        """Return the stored bytes of a record, or None when it is not here."""
        with faults_named(self.path):
            row = self.db.execute(
                "SELECT bytes, p FROM body WHERE digest = ? AND kind = ?", (record.digest, record.kind)
            ).fetchone()
            if row is None or row[0]:
                return bytes(row[0]) if row else None
            return self._packed(record, int(row[1]))

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

    def _packed(self, record: RecordHash, p: int) -> bytes:
        """Return the proven bytes of a record that rests in a pack (REC-5).

        Raises:
            PackDamaged, BadFrame: they are not that record's.
        """
        found = self.packs.read(p) or b""
        if not is_record(record, found):
            raise PackDamaged(f"The bytes stored for {record.text} are not that record.")
        return found

    def _stored_bytes(self, p: int, inline: bytes) -> bytes:
        if inline:
            return inline
        try:
            return self.packs.read(p) or b""
        except DataError:
            return b""

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
                "SELECT r.size, CASE WHEN r.size = 0 THEN b.bytes ELSE substr(b.bytes, -r.size) END, b.p"
                " FROM body b JOIN rec r USING (p) WHERE b.digest = ? AND b.kind = ?",
                (record.digest, record.kind),
            ).fetchone()
            if row is None:
                return None
            size, found = int(row[0]), bytes(row[1] or b"")
            if not found and size and record in self._fresh.pages:
                return self._fresh.pages[record]
            if not found:
                found = self._packed(record, int(row[2]))
                found = found[-size:] if size else found
        if size:
            return found
        from vault.records.parse import parse_record  # noqa: PLC0415 - a commit reads no record back

        whole = parse_record(found, verify=False) if record.kind == "P" else None
        return part_of(whole) if isinstance(whole, Plex) else b""

    def blobs(self, records: Sequence[RecordHash]) -> Iterator[memoryview | None]:
        """Yield the proven bytes of each record's Blob in order; None where `part` must say what is there.

        For thousands of chunks that lie side by side in a pack: see `vault.store.side`.
        """
        from vault.store import side  # noqa: PLC0415 - few commands read much content at once

        with faults_named(self.path):
            found = side.places(self.db, records)
        return side.blobs(self.packs, records, found)

    def blobs_as_they_lie(self, records: Sequence[RecordHash]) -> Iterator[memoryview | None]:
        """Yield the same unproven, for who compares the digest of all of it (`vault.desks.chunks.check_content`)."""
        from vault.store import side  # noqa: PLC0415 - as above

        with faults_named(self.path):
            found = side.places(self.db, records)
        return side.blobs(self.packs, records, found, is_proven=False)

    def ahead(self, records: Sequence[RecordHash]) -> Ahead:
        """Return what reads some hundred records faster, if they are asked for in this order."""
        from vault.store import side  # noqa: PLC0415 - as above

        with faults_named(self.path):
            return side.Ahead(self.packs, records, *side.rows_of(self.db, records))

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
            for kind, digest, p, size, data in select_in(self.db, _SMALL_PARTS, [r.digest for r in records]):
                record = wanted.get((kind, digest))
                if record is not None and data:
                    parts[record] = data
                elif record is not None:
                    with suppress(DataError):  # what is wrong with it is said when it is read by itself
                        parts[record] = self._packed(record, p)[-size:]
        return parts

    def have(self, records: Collection[RecordHash]) -> set[RecordHash]:
        """Return those of `records` whose validated bytes are stored here (FAC-1, `Have`)."""
        wanted = set(records)
        with faults_named(self.path):
            rows = select_in(self.db, "SELECT kind, digest FROM body WHERE digest IN", [key.digest for key in wanted])
            return {RecordHash(kind, bytes(digest)) for kind, digest in rows} & wanted

    def is_closed(self, root: RecordHash) -> bool:
        """Tell whether everything a record reaches with its content is here; cheap while nothing is missing."""
        return self._views.is_closed(root)

    def bodies(self, first: int = 0) -> Iterator[tuple[int, RecordHash, bytes]]:
        """Yield (position, hash, stored bytes) of every record from position `first` on, in arrival order."""
        for p, kind, digest, stored in self.db.execute(
            "SELECT p, kind, digest, stored(p, CAST(bytes AS BLOB)) FROM body WHERE p >= ? ORDER BY p", (first,)
        ):
            yield int(p), RecordHash(kind, bytes(digest)), bytes(stored)

    def content_sum(self, tree: RecordHash, asked: Callable[[int], object] = lambda _read: None) -> str:
        """Return the Content-SHA512 of a root tree that is complete here: `sha512:<hex>`, cached per tree."""
        with Sums(self.db) as sums:
            return f"sha512:{content_sha512(self, tree, sums, self._fresh.sum_of, asked)}"

    def keep_sums(self, sums: Mapping[RecordHash, str]) -> None:
        """Keep the SHA-512 of contents stored in this transaction; it is rolled back with them."""
        with Sums(self.db) as kept:
            kept.put(sums)

    def rebuild(self, me: str | None, founding: str | None, cancelled: Callable[[], None] = lambda: None) -> None:
        """Delete every derived table and make it anew from the bodies, inside `transaction` (fsck).

        Raises:
            StoreDamaged: a body is damaged; a repair puts it aside first.
        """
        from vault.records.parse import parse_record  # noqa: PLC0415 - a commit reads no record back

        create_derived(self.db)
        self._known.forget()
        self._symbols.forget()
        self._views.forget()
        self.holes.forget()
        batch = facts.Batch(self.db, self._symbols)
        for p, name, stored in self.bodies():
            try:
                record = parse_record(stored, verify=False)
            except RecordError as error:
                raise StoreDamaged(f"The record {name} is damaged: {error.message}") from error
            if isinstance(record, Seal | Plex):
                batch.add(p, record)
                self._views.apply(p, record)
        batch.write()
        self._views.write()
        with self.proofs.by(lambda _read: cancelled()):
            self.settle(me, founding)

    # Meta

    def meta(self, key: str, default: str = "") -> str:
        """Return one local setting of the store itself."""
        value = self._known.setting(key)
        return default if value is None else value

    def set_meta(self, key: str, value: str) -> None:
        """Keep one local setting of the store itself; inside `transaction`."""
        self._known.make(key, value)

    def drop_meta(self, key: str) -> None:
        """Drop one local setting of the store itself; inside `transaction`."""
        self._known.unmake(key)

    def rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Run one constant query of the floors above and return all rows; never text from outside."""
        try:
            return self.db.execute(sql, values).fetchall()
        except sqlite3.DatabaseError as fault:  # asked too often for a block of `faults_named`
            name_fault(fault, self.path)
            raise

    def run(self, sql: str, *values: object) -> sqlite3.Cursor:
        """Run one constant statement of the floors above, inside `transaction`."""
        return self.db.execute(sql, values)
