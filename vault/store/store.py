"""The store: validated records in one SQLite file, with their facts and views in the same transaction.

Records are the truth. `Store.add` takes only records that were fully validated by `vault.records`; facts and views
follow inside the same transaction (`vault.store.facts`, `vault.store.views`), so a crash leaves all or nothing
(architecture, decision 3). What only reads stands in `vault.store.reads`. The position `p` of a record is its arrival
position in this store: it serves wake routing and cursors, never visibility (INT-125).
"""

from __future__ import annotations

import sqlite3
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeVar

from vault.desks.sums import content_sha512
from vault.notes.note import BadNote, Note, Rotten
from vault.profile import CONTENT_APPS, DATA_APP, TREE_APP
from vault.records import Plex, Record, RecordHash, Seal
from vault.records.errors import RecordError
from vault.store import alone, facts
from vault.store.cache import StoreCache
from vault.store.contents import insert_contents
from vault.store.database import StoreDamaged, connect, did_not_fit, faults_named
from vault.store.fresh import Fresh
from vault.store.holes import HoleTable
from vault.store.intake import Intake
from vault.store.packs import PACK_MIN_BYTES, Packs
from vault.store.previous_pages import tree_before
from vault.store.reads import Reads
from vault.store.schema import copy_whole, create_derived
from vault.store.sums import Leave, Sums
from vault.store.views import Views

if TYPE_CHECKING:
    from vault.desks.content import Contents
    from vault.membership import Cut

__all__ = ["Store"]

T = TypeVar("T")


class Store(Reads):
    """The record store of one vault. One instance belongs to one thread.

    Args:
        path: its file.
        create: make it where it is not there.
        mending: open it also where it cannot be brought to the form of this version.
        db: an open connection to it; else it is opened.

    Raises: the named faults of `vault.store.database`, by every method and by the blocks that hold what runs inside.
    """

    def __init__(
        self, path: Path, *, create: bool = False, mending: bool = False, db: sqlite3.Connection | None = None
    ) -> None:
        self._is_open = False
        alone.note_open(self, path)
        try:
            db = db or connect(path, create=create, mending=mending)
        except BaseException:
            alone.note_closed(self)
            raise
        self._is_open = True
        self._fresh = Fresh(self.keep_sums)
        super().__init__(path, db, Packs(db, path.parent / "packs"), self._fresh.pages)
        self._symbols = facts.Symbols(self.db)
        self.proofs = Leave()
        self.holes = HoleTable(self.db)
        self._views = Views(self.db, self.holes, lambda tree: self.content_sum(tree, self.proofs))
        self._known = StoreCache(self.db, path)
        self.answer = self._known.answer  # for what an action asks several times

    def close(self) -> None:
        """Close the file; the instance must not be used afterwards."""
        self._is_open = False
        self.packs.close()
        self.db.close()
        alone.note_closed(self)

    def __del__(self) -> None:
        """Close what was dropped and not closed, and say so: its locks kept everybody else from mending the file."""
        if not self._is_open:
            return
        try:
            self.close()
        except Exception:  # another thread may collect it, which closes no connection: that goes by itself, but later
            alone.note_dropped(self, self._stored)
        warnings.warn(f"The store {self.path} was dropped and not closed.", ResourceWarning, source=self, stacklevel=1)

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
            is_ending = False
            try:
                is_other = self._known.begin()
                if is_other:  # a prune or a repair may have numbered anew
                    self._symbols.forget()
                self.holes.begin(is_other=is_other)
                before = self.db.total_changes
                yield
                self.packs.finish()
                if self.db.total_changes != before:  # answers kept with the old number are out of date from now
                    self._known.next_generation()
                is_ending = True
                self.db.execute("COMMIT")
                self.packs.keep()
            except BaseException as error:
                # Of a commit that failed, a power cut may bring to light that it was written, unless it did not fit.
                self._roll_back(is_unnamed=not is_ending or did_not_fit(error))
                raise
            finally:
                self._known.end()
                self.holes.end()

    def _roll_back(self, *, is_unnamed: bool) -> None:
        if self.db.in_transaction:
            self.db.execute("ROLLBACK")
        self.packs.abort(is_unnamed=is_unnamed)
        self._forget()

    def _forget(self) -> None:
        self._fresh.forget()
        self._known.forget()
        self._symbols.forget()
        self._views.forget()
        self.holes.forget()

    # Records

    def add(
        self,
        records: Iterable[tuple[Record, bytes]],
        near: Mapping[RecordHash, Sequence[RecordHash]] | None = None,
        contents: Contents | None = None,
    ) -> list[int]:
        """Store validated records with their stored bytes; known ones are skipped.

        Args:
            records: pairs of a validated record and exactly its stored bytes. Bare Blobs are never stored (H-8).
            near: stored records whose bytes are like those of new ones; only a hint for how they rest.
            contents: data records of small contents that come before those, made here or compared with their names.

        Returns:
            The positions of those of `records` that were new, in order. Must run inside `transaction`, and `settle`
            must run before it ends.
        """
        self._views.begin()
        batch = facts.Batch(self.db, self._symbols)
        intake = Intake(self.db, self.packs, batch, self._views, self._fresh.note_sum)
        if contents:
            insert_contents(self.db, intake.next, contents, batch, self._views, self._fresh)
            intake.next += len(contents)
        for record, stored in records:
            if len(stored) >= PACK_MIN_BYTES and isinstance(record, Plex) and record.app in CONTENT_APPS:
                if record.app == TREE_APP:
                    self._fresh.keep_page(record)
                intake.take(record, stored, partial(self._positions, (near or {}).get(record.hash, ())))
            else:
                intake.take(record, stored)
        intake.finish()
        return intake.added

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

    def is_closed(self, root: RecordHash) -> bool:
        """Tell whether everything a record reaches with its content is here; cheap while nothing is missing."""
        return self._views.is_closed(root)

    def content_sum(self, tree: RecordHash, asked: Callable[[int], object] = lambda _read: None) -> str:
        """Return the Content-SHA512 of a root tree that is complete here: `sha512:<hex>`, cached per tree."""
        before = tree_before(self.db, tree)
        with Sums(self.db) as sums:
            return f"sha512:{content_sha512(self, tree, sums, self._fresh.sum_of, asked, before)}"

    def not_summed(self, records: Sequence[RecordHash]) -> set[RecordHash]:
        """Return those contents of which no SHA-512 is kept: what is to be proven yet."""
        with Sums(self.db) as kept:
            return {record for record, sum_ in kept.expect(records).items() if sum_ is None}

    def keep_sums(self, sums: Mapping[RecordHash, str]) -> None:
        """Keep the SHA-512 of contents stored in this transaction; it is rolled back with them."""
        with Sums(self.db) as kept:
            kept.put(sums)

    def rebuild(self, me: str | None, founding: str | None, cancelled: Callable[[], None] = lambda: None) -> None:
        """Delete every derived table and make it anew from the bodies, inside `transaction` (fsck).

        Raises:
            StoreDamaged: a body is damaged; a repair puts it aside first.
        """
        create_derived(self.db)
        self.build(me, founding, cancelled)
        self._fresh.forget()  # what this transaction may take out yet

    def build(self, me: str | None, founding: str | None, cancelled: Callable[[], None] = lambda: None) -> None:
        """Fill the derived tables from the bodies where they are new and empty, inside `transaction` (fsck).

        Raises:
            StoreDamaged: a body is damaged.
        """
        from vault.records.parse import parse_record  # a commit reads no record back

        self._forget()  # what was at hand may be let go of
        batch = facts.Batch(self.db, self._symbols)
        for p, name, stored in self.bodies():
            try:
                record = parse_record(stored, verify=False)
            except RecordError as error:
                raise StoreDamaged(f"The record {name} is damaged: {error.message}") from error
            if isinstance(record, Seal | Plex):
                if isinstance(record, Plex) and record.app == DATA_APP:
                    self._fresh.note_sum_while_few(record)
                batch.add(p, record)
                self._views.apply(p, record)
        batch.write()
        self._views.write()
        with self.proofs.by(lambda _read: cancelled()):
            self.settle(me, founding)

    def become(self, made: sqlite3.Connection) -> None:
        """Let the whole file be a copy of another store, in one step and outside of a transaction (fsck).

        Raises:
            VaultBusy, DiskFull, StoreUnwritable: it stays as it was.
        """
        with faults_named(self.path):
            copy_whole(made, self.db)
        self._forget()

    # Notes (`vault.notes`)

    def note(self, note: Note[T], about: str = "") -> T:
        """Return what a note holds; where it is not there, what such a note holds then.

        Raises:
            StoreDamaged: it rotted, and is one that is never taken for none (`Rotten.REFUSED`).
        """
        text = self._known.text(note.key(about))
        if not text:
            return note.form.none
        try:
            return note.read(text)
        except BadNote as error:
            if note.rotten is Rotten.REFUSED:
                raise StoreDamaged(f"What this vault notes as {note.key(about)!r} cannot be read.") from error
            return note.rest(text)

    def has_note(self, note: Note[T], about: str = "") -> bool:
        """Tell whether a note was ever made and not dropped since, also where it is empty or rotted."""
        return self._known.text(note.key(about)) is not None

    def notes(self, note: Note[T]) -> list[tuple[str, T]]:
        """Return each note of a kind that holds something, by what it is about.

        Raises:
            StoreDamaged: as `note`.
        """
        named = self.rows("SELECT key FROM meta WHERE substr(key, 1, ?) = ? ORDER BY key", len(note.name), note.name)
        found = [about for (key,) in named if (about := note.about(str(key))) is not None]
        return [(about, value) for about in found if (value := self.note(note, about)) != note.form.none]

    def set_note(self, note: Note[T], value: T, about: str = "") -> None:
        """Keep a note; inside `transaction`."""
        self._known.make(note.key(about), note.write(value))

    def drop_note(self, note: Note[T], about: str = "") -> None:
        """Drop a note; inside `transaction`."""
        self._known.unmake(note.key(about))

    def run(self, sql: str, *values: object) -> sqlite3.Cursor:
        """Run one constant statement of the floors above, inside `transaction`."""
        return self.db.execute(sql, values)
