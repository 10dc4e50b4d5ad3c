"""A database connection on which only what an evaluation needs can happen (FAC-8, FAC-12).

The store is opened read-only. An authorizer lets statements read the fact tables and write the evaluation's own
temporary tables, and refuses everything else: other tables, ATTACH, PRAGMA, other functions. A progress handler stops a
statement that works too long; the pages of temporary tables are bounded.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Final
from urllib.parse import quote

from vault.errors import DataError
from vault.rules import headers
from vault.rules.errors import RulesOutOfReach
from vault.rules.limits import Limits
from vault.rules.pool import ConnectionPool
from vault.store.database import StoreDamaged, did_not_fit, faults_named
from vault.store.packread import PackReader

__all__ = ["Guard", "num_le", "num_lt"]

_EVERY_STEPS: Final = 10_000  # rarer than this costs nothing measurable, ten times as often costs a fifth
_BETWEEN_STEPS: Final = 1_000
_READING_STEPS: Final = 500  # finding something in a record's bytes takes as long
_READABLE: Final = frozenset({"rec", "field", "link", "shared", "body", "sym", "counts", "exposure", "packed", "frame"})
_FUNCTIONS: Final = frozenset(
    {
        "cast",
        "count",
        "json_each",
        "json_extract",
        "lace_blob",
        "lace_digest",
        "lace_entries",
        "lace_fields",
        "lace_num_le",
        "lace_num_lt",
        "lace_stored",
        "lace_text",
        "max",
        "substr",
    }
)
_DECIMAL: Final = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
_PLAIN: Final = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_TRANSACTION)


def _decimals(one: str, other: str) -> tuple[Decimal, Decimal] | None:
    if _DECIMAL.fullmatch(one) is None or _DECIMAL.fullmatch(other) is None:
        return None
    return Decimal(one), Decimal(other)


def num_lt(one: str, other: str) -> bool:
    """Tell whether both texts are decimals and the first is less; exact for any number of digits."""
    pair = _decimals(one, other)
    return pair is not None and pair[0] < pair[1]


def num_le(one: str, other: str) -> bool:
    """Tell whether both texts are decimals and the first is not greater."""
    pair = _decimals(one, other)
    return pair is not None and pair[0] <= pair[1]


class Guard:
    """The guarded connection of one evaluation.

    Args:
        store: the store's file, or None for given facts only.
        limits: bounds of the evaluation.
        clock: seconds of a clock that never goes back; without it work is bounded by steps alone.
        check: called now and then during long work; what it raises ends the work.
        pool: where the connection to the store comes from and goes back to, if the caller keeps one.

    Raises:
        StoreDamaged, StoreUnwritable, VaultBusy: the store cannot be opened.
    """

    def __init__(
        self,
        store: Path | None,
        limits: Limits,
        clock: Callable[[], float] | None,
        check: Callable[[], None] | None,
        pool: ConnectionPool | None = None,
    ) -> None:
        self._pool = pool
        self._path = store or Path("facts")
        self._limits = limits
        self._clock = clock
        self._check = check
        self._has_store = store is not None
        self._steps = 0
        self._deadline = 0.0
        self._stopped: BaseException | None = None
        self._packs: PackReader | None = None
        if store is not None and not store.is_file():
            raise StoreDamaged(f"The store {store.name} is missing from {store.parent}.")
        with faults_named(self._path):
            self.db = self._open(store)

    def _open(self, store: Path | None) -> sqlite3.Connection:
        db = self._pool.take(store) if self._pool is not None and store is not None else None
        if db is None:
            name = ":memory:" if store is None else f"file:{quote(str(store.absolute()))}?mode=ro"
            db = sqlite3.connect(name, uri=True, isolation_level=None, cached_statements=1024)
        try:
            db.execute("PRAGMA temp_store=MEMORY")
            db.execute("PRAGMA temp.journal_mode=OFF")  # a failed evaluation is thrown away whole
            db.execute(f"PRAGMA temp.max_page_count={self._limits.temp_pages}")
            if store is None:
                db.execute(f"PRAGMA main.max_page_count={self._limits.temp_pages}")
                db.execute("CREATE TABLE sym(id INTEGER PRIMARY KEY, s TEXT NOT NULL UNIQUE)")
            db.execute("PRAGMA cache_size=-32000")
            db.execute("SELECT 1 FROM json_each('[]')")  # made at its first use, which the authorizer would refuse
            for function, count, call in (
                ("lace_text", 2, headers.text_of),
                ("lace_digest", 1, headers.digest_of),
                ("lace_entries", 1, self._entries),
                ("lace_fields", 2, self._fields),
                ("lace_blob", 1, self._blob_hash),
                ("lace_stored", 2, self._stored),
                ("lace_num_lt", 2, num_lt),
                ("lace_num_le", 2, num_le),
            ):
                db.create_function(function, count, call, deterministic=True)
        except BaseException:
            db.close()
            raise
        if store is not None:
            self._packs = PackReader(db, store.parent / "packs")
        return db

    def _stored(self, p: int, inline: bytes) -> bytes:
        """Return a record's bytes wherever they rest; what is damaged answers with nothing, which has no facts."""
        if inline or self._packs is None:
            return inline
        self._steps += _READING_STEPS
        try:
            return self._packs.read(p) or b""
        except DataError:
            return b""

    def _fields(self, stored: bytes, name: str | None) -> str | None:
        self._steps += _READING_STEPS
        return headers.fields(stored, name)

    def _entries(self, stored: bytes) -> str | None:
        self._steps += _READING_STEPS
        return headers.entries(stored)

    def _blob_hash(self, stored: bytes) -> str | None:
        self._steps += _READING_STEPS
        return headers.blob_hash(stored)

    def close(self) -> None:
        """Close the connection, or give it back, and forget all temporary tables."""
        if self._packs is not None:
            self._packs.close()
        if self._pool is not None and self._has_store and self._stopped is None:
            self._pool.give_back(self._path, self.db)
        else:
            self.db.close()

    @contextmanager
    def running(self) -> Iterator[None]:
        """Run the block in one snapshot of the store, guarded and within the limits.

        Raises:
            RulesOutOfReach: it needs more time, work or memory than is allowed.
        """
        self._steps, self._stopped = 0, None
        self._deadline = self._clock() + self._limits.seconds if self._clock else 0.0
        db = self.db
        with faults_named(self._path), self._faults():
            db.set_progress_handler(self._progress, _EVERY_STEPS)
            db.set_authorizer(self._authorize)
            try:
                db.execute("BEGIN")
                yield
            finally:
                db.set_progress_handler(None, 0)
                db.set_authorizer(None)
                if db.in_transaction:
                    db.execute("COMMIT")

    @contextmanager
    def trusted(self) -> Iterator[None]:
        """Let the block make tables and indexes of our own."""
        self.db.set_authorizer(None)
        try:
            yield
        finally:
            self.db.set_authorizer(self._authorize)

    def spend(self, steps: int = _BETWEEN_STEPS) -> None:
        """Look at the limits between statements, too short ones of which may never meet the progress handler.

        Nor does SQLite look at them while it prepares a statement, which may take a tenth of a second.

        Raises:
            RulesOutOfReach: the time is over.
        """
        if self._progress(steps):
            raise self._stopped or RulesOutOfReach("The evaluation was stopped.")

    @contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as fault:
            if self._stopped is not None:
                raise self._stopped from fault
            if did_not_fit(fault):
                raise self._no_memory() from fault
            raise
        except MemoryError as fault:
            raise self._no_memory() from fault

    def _no_memory(self) -> RulesOutOfReach:
        size = self._limits.temp_pages // 256
        return RulesOutOfReach(f"The evaluation needs more than {size} MiB for what it derives.")

    def _progress(self, steps: int = _EVERY_STEPS) -> int:
        self._steps += steps
        try:
            if self._steps > self._limits.steps:
                self._stopped = RulesOutOfReach(f"The evaluation takes more than {self._limits.steps} steps.")
            elif self._clock is not None and self._clock() > self._deadline:
                self._stopped = RulesOutOfReach(f"The evaluation takes longer than {self._limits.seconds:g} seconds.")
            elif self._check is not None:
                self._check()
        except BaseException as error:  # nothing may be raised inside SQLite; it is raised after it
            self._stopped = error
        return int(self._stopped is not None)

    def _authorize(self, action: int, one: str | None, two: str | None, database: str | None, _: str | None) -> int:
        if action in _PLAIN:
            good = True
        elif action == sqlite3.SQLITE_READ:
            # No database is named for sub-queries, which lead to no table of their own.
            ours = database in {"temp", None} and not (one or "").startswith("sqlite_")
            good = ours or one in _READABLE or one == "json_each"
        elif action in {sqlite3.SQLITE_INSERT, sqlite3.SQLITE_DELETE}:
            is_ours = database == "temp" or (one == "sym" and not self._has_store)
            good = is_ours and not (one or "").startswith("sqlite_")
        elif action == sqlite3.SQLITE_PRAGMA:
            good = one == "schema_version" and two is None
        elif action == sqlite3.SQLITE_FUNCTION:
            good = (two or "").lower() in _FUNCTIONS
        else:
            good = False
        return sqlite3.SQLITE_OK if good else sqlite3.SQLITE_DENY
