"""One SQLite connection, opened the same way everywhere, with its faults named for a person."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from vault.errors import DataError, EnvironmentFault
from vault.files import DiskFull
from vault.left_log import is_left
from vault.store.guard import install
from vault.store.schema import SCHEMA_VERSION, form_of, lay_out, migrate

__all__ = [
    "BEYOND",
    "StoreDamaged",
    "StoreUnwritable",
    "VaultBusy",
    "connect",
    "connect_exclusive",
    "connect_for_once",
    "did_not_fit",
    "faults_named",
    "file_at",
    "insert_many",
    "is_exclusive",
    "kind_of",
    "name_fault",
    "none_reads_before",
    "select_in",
]

_KIND = 0xFF  # of a code; the rest says which one of that kind
_KEYS = 500  # keys a statement: SQLite's classic limit of variables is 999
_ROWS = 64  # rows a statement; of at most ten values each
_FEW_ROWS = 8  # that have a statement of their own for each number of them: one commit writes no more into any table
_LOG_BYTES = 64 << 20  # a large file makes SQLite's log as large as itself; the next write cuts it down to this
_LOG_PAGES = 4_000  # 16 MiB: what many actions change again and again is brought into the file once
_READERS_SECONDS = 1.0  # that a prune waits for who reads; what they still read is removed by the next one
_OF_DAMAGE = ("Could not decode", "malformed", "not a database", "no such table", "unsupported file format")
_UNREAD = frozenset({sqlite3.SQLITE_IOERR_READ, sqlite3.SQLITE_IOERR_CORRUPTFS})  # the disk gives an error for a part
_BUSY_SECONDS = 60.0  # the writers' lock is taken before, so this only covers checkpoints and readers


BEYOND: Final = (
    "Restore a backup of the .vault directory, or move it away, join again with: lace accept INVITE, and sync."
    " Whoever is alone in the group begins anew: lace init."
)


class StoreDamaged(DataError):
    """SQLite found the store's file damaged."""

    code = "store-damaged"
    exit_code = 41
    hint = "Run: lace fsck --repair"


class StoreUnwritable(EnvironmentFault):
    """The store's file cannot be written."""

    code = "store-unwritable"
    exit_code = 13
    hint = "Check free space and the permissions of the .vault directory, then run the same command again."


class VaultBusy(EnvironmentFault):
    """Another process holds the store."""

    code = "vault-busy"
    exit_code = 11
    hint = "Another lace is writing here; wait for it to end and run the same command again."


def connect(path: Path, *, create: bool = False, mending: bool = False) -> sqlite3.Connection:
    """Open the store at `path` in WAL mode, migrated to this program's schema.

    `synchronous=FULL`: an acknowledged action survives a power cut (APP-13). A log that rotted is left as it is,
    for SQLite would drop all that stands behind and say nothing. To be mended, a store opens as it is where a page that
    rotted keeps it from being migrated (`schema.form_of`).

    Raises:
        StoreDamaged, StoreUnwritable, VaultBusy, StoreTooNew: named for a person.
    """
    if not create and not path.is_file():
        raise StoreDamaged(f"The store {path.name} is missing from {path.parent}.")
    _refuse_rot(path)
    if not create and not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)):
        return _connect_to_read(path)
    with faults_named(path), _text_of_fault(path):
        db = _opened(path, needs_room=mending)
        try:
            db.execute("PRAGMA synchronous=FULL")
            db.execute("PRAGMA foreign_keys=OFF")
            db.execute("PRAGMA cache_size=-16000")
            db.execute(f"PRAGMA journal_size_limit={_LOG_BYTES}")
            db.execute(f"PRAGMA wal_autocheckpoint={_LOG_PAGES}")
            install(db)
            if create:
                lay_out(db)
            try:
                migrate(db)
            except sqlite3.DatabaseError as fault:
                if not mending or kind_of(fault) != sqlite3.SQLITE_CORRUPT or form_of(db) == SCHEMA_VERSION:
                    raise
        except BaseException:
            db.close()
            raise
        return db


def _opened(path: Path, *, needs_room: bool) -> sqlite3.Connection:
    """Open a store in WAL mode, and anew where a repair put another file in its place while it was waited for.

    What goes from the log into the file that was there before is missing in the one that lies there now. On a disk
    without a free byte it opens as `connect_exclusive` does: a look needs no room, and a write says that there is none.
    A check opens the store twice and cannot go that way.
    """
    is_full = False
    while True:
        before = file_at(path)
        # With `uri` a store that can only be read can be attached.
        db = sqlite3.connect(
            path.absolute(), timeout=_BUSY_SECONDS, isolation_level=None, cached_statements=256, uri=True
        )
        try:
            if is_full:
                _share_no_memory(db)
            db.execute("PRAGMA journal_mode=WAL")  # from here on nobody replaces it (`vault.store.alone`)
            if before in (None, file_at(path)):
                return db
        except BaseException as fault:
            db.close()
            if is_full or needs_room or not _has_no_room(fault):
                raise
            is_full = True
        db.close()


def file_at(path: Path) -> tuple[int, int] | None:
    """Return which file lies at a path; None for none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def connect_exclusive(path: Path) -> sqlite3.Connection:
    """Open the store at `path` as nobody else does meanwhile, without the file by which SQLite shares memory.

    So it opens on a disk with no room for one. What an older program left is not brought to this one's form.

    Raises:
        VaultBusy: somebody has it open.
        StoreDamaged, StoreUnwritable: as `connect`.
    """
    _refuse_rot(path)
    with faults_named(path):
        db = sqlite3.connect(path.absolute(), timeout=0, isolation_level=None)
        try:
            _share_no_memory(db)
        except BaseException:
            db.close()
            raise
        return db


def _share_no_memory(db: sqlite3.Connection) -> None:
    """Keep the file by which SQLite shares memory from being made; others wait until this connection is closed."""
    db.execute("PRAGMA locking_mode=EXCLUSIVE")
    db.execute("SELECT 1 FROM sqlite_master").fetchone()


def is_exclusive(db: sqlite3.Connection) -> bool:
    """Tell whether nobody else can open a store meanwhile; `connect` opens it so on a full disk only."""
    return bool(db.execute("PRAGMA locking_mode").fetchone()[0] == "exclusive")


def connect_for_once(path: Path) -> sqlite3.Connection:
    """Make an empty database at `path` that nobody else opens, and that may be lost at any time.

    What is written stays in memory while that is little.

    Raises:
        DiskFull, StoreUnwritable: there is no room for it.
    """
    with faults_named(path):
        db = sqlite3.connect(path.absolute(), isolation_level=None, cached_statements=256, uri=True)
        try:
            db.execute("PRAGMA journal_mode=MEMORY")
            db.execute("PRAGMA synchronous=OFF")
            db.execute("PRAGMA cache_size=-16000")
        except BaseException:
            db.close()
            raise
        return db


def _refuse_rot(path: Path) -> None:
    """Refuse a store beside which a killed process left a log that rotted, before SQLite takes it away.

    Raises:
        StoreDamaged: it did.
    """
    if not is_left(str(path)):
        return
    from vault.store.wal import find_rot  # hardly ever

    if (rot := find_rot(path)) is not None:
        where = f"frame {rot.frame} of {rot.frames}" if rot.frame else "its head"
        raise StoreDamaged(
            f"The write-ahead log {path.name}-wal in {path.parent} is damaged in {where}. It has what was written last."
        )


@contextmanager
def _text_of_fault(path: Path) -> Iterator[None]:
    """Name a definition that rotted so that what SQLite says of it cannot be read as text."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise StoreDamaged(f"The store of the vault in {path.parent} is damaged.", hint=BEYOND) from error


def _connect_to_read(path: Path) -> sqlite3.Connection:
    """Open a store that cannot be written: everything can be read, and each write is refused (fault 4).

    Where nobody has it open and no log lies beside it, SQLite wants to make files; then the file is taken as it is.
    """
    log = path.with_name(path.name + "-wal")
    with faults_named(path):
        try:
            return _opened_to_read(path, "mode=ro")
        except sqlite3.OperationalError:
            if log.exists() and log.stat().st_size:
                raise
            return _opened_to_read(path, "immutable=1")


def _opened_to_read(path: Path, how: str) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?{how}"
    db = sqlite3.connect(uri, timeout=_BUSY_SECONDS, isolation_level=None, cached_statements=256, uri=True)
    try:
        install(db)  # a write is refused as one, and not for want of what its trigger calls
        migrate(db)  # which refuses a newer one, and cannot bring an older one to this form
    except BaseException:
        db.close()
        raise
    return db


def none_reads_before(db: sqlite3.Connection) -> bool:
    """Tell whether everybody who reads this store, in whatever process, sees what was committed last.

    A checkpoint comes to its end only then; it waits a moment for who reads. Ask outside of a transaction.
    """
    try:
        db.execute(f"PRAGMA busy_timeout = {int(_READERS_SECONDS * 1000)}")
        busy, pages, moved = db.execute("PRAGMA wal_checkpoint(FULL)").fetchone()
    except sqlite3.OperationalError:  # a disk that fails, or is full: nothing is known
        return False
    finally:
        db.execute(f"PRAGMA busy_timeout = {int(_BUSY_SECONDS * 1000)}")
    return not busy and pages == moved


def select_in(db: sqlite3.Connection, query: str, keys: Sequence[object]) -> Iterator[tuple[Any, ...]]:
    """Run a constant query that ends in `IN` over many keys, a few hundred at a time; no other text goes in."""
    keys = [bytearray(key) if isinstance(key, bytes) else key for key in keys]  # see `insert_many`
    for start in range(0, len(keys), _KEYS):
        part = keys[start : start + _KEYS]
        yield from db.execute(f"{query} ({','.join('?' * len(part))})", part).fetchall()


def insert_many(db: sqlite3.Connection, insert: str, values: Sequence[object]) -> int:
    """Run a constant `INSERT ... VALUES (...)` for many rows, some dozens a statement; return how many rows went in.

    What a statement costs whatever it inserts, and for `AUTOINCREMENT` that is much, is shared by its rows. Where a row
    is refused, those before it stay, as when each had a statement of its own.

    Args:
        db: the connection, inside a transaction.
        insert: the statement for one row.
        values: those of one row after those of the other. Bytes had better come as a `bytearray`, and nothing as no
            value at all: of whatever is no number, text or `bytearray`, `sqlite3` asks who adapts it, which takes as
            long as to insert it.
    """
    width = _width(insert)
    if len(values) <= width * _FEW_ROWS:
        return db.execute(_wide(insert, len(values) // width), values).rowcount if values else 0
    wide, size = _wide(insert, _ROWS), width * _ROWS
    whole = len(values) - len(values) % size
    count = 0
    for start in range(0, whole, size):
        count += db.execute(wide, values[start : start + size]).rowcount
    if whole < len(values):
        rest = [iter(values[whole:])] * width
        count += db.executemany(insert, zip(*rest, strict=True)).rowcount
    return count


@lru_cache(maxsize=64)
def _width(insert: str) -> int:
    """Return how many values a row takes."""
    return insert.count("?")


@lru_cache(maxsize=256)
def _wide(insert: str, rows: int) -> str:
    """Return the statement for so many rows at once."""
    if rows == 1:
        return insert
    start = insert.index("(", insert.index(" VALUES "))
    end = insert.index(")", start) + 1
    wide = insert[:start] + ", ".join([insert[start:end]] * rows) + insert[end:]
    # A statement that would be taken back whole keeps a copy of each page that it changes.
    return wide.replace("INSERT INTO", "INSERT OR FAIL INTO", 1)


class faults_named:  # noqa: N801 - used as a word of the language; a generator costs as much as a small query
    """Turn SQLite's faults inside the block into the error tree."""

    __slots__ = ("_path",)

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(fault, sqlite3.DatabaseError):
            name_fault(fault, self._path)


def kind_of(fault: sqlite3.Error) -> int:
    """Return SQLite's code of what kind a fault is, whichever of that kind it is."""
    return int(getattr(fault, "sqlite_errorcode", sqlite3.SQLITE_ERROR)) & _KIND


def did_not_fit(fault: BaseException) -> bool:
    """Tell whether SQLite had no room for what it was to write."""
    return getattr(fault, "sqlite_errorcode", 0) == sqlite3.SQLITE_FULL  # a table may have that word in its name


def _has_no_room(fault: BaseException) -> bool:
    """Tell whether the disk had no room for what SQLite was to write, or for the file by which it shares memory."""
    return did_not_fit(fault) or getattr(fault, "sqlite_errorcode", 0) == sqlite3.SQLITE_IOERR_SHMSIZE


def name_fault(fault: sqlite3.DatabaseError, path: Path) -> None:
    """Raise what a fault of SQLite is in the error tree; nothing for one that has no name there.

    Args:
        fault: what SQLite says.
        path: the store's file, for the sentence.

    Raises:
        VaultBusy: another process keeps the store.
        DiskFull, StoreUnwritable: it cannot be written.
        StoreDamaged: it is no sound database any more, or the disk does not give all of it.
    """
    text = str(fault)
    if isinstance(fault, sqlite3.OperationalError):
        if "locked" in text or "busy" in text:
            raise VaultBusy(f"The vault in {path.parent} is in use by another process.") from fault
        if _has_no_room(fault):
            raise DiskFull(f"There is no room left on the disk to write the vault in {path.parent}.") from fault
        if getattr(fault, "sqlite_errorcode", 0) in _UNREAD:
            raise StoreDamaged(f"The store of the vault in {path.parent} cannot be read ({text}).") from fault
        if "readonly" in text or "unable to open" in text or "I/O" in text:
            raise StoreUnwritable(f"The vault in {path.parent} cannot be written ({text}).") from fault
    if "already exists" in text or "duplicate column" in text:  # what brings an older store to this form met it
        raise StoreDamaged(f"The store of the vault in {path.parent} is damaged ({text}).", hint=BEYOND) from fault
    if any(words in text for words in _OF_DAMAGE):
        raise StoreDamaged(f"The store of the vault in {path.parent} is damaged ({text}).") from fault
