"""What a check needs around it, also where the vault can only be read (faults.md row 4).

Nobody else writes meanwhile, and there is an empty store beside the vault's in which the views are built again. In a
vault that cannot be written nobody can be kept away, so one moment of it is looked at, and that store lies elsewhere.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from vault.files import NotWritable, refuse_write
from vault.lock import LOCK_SECONDS
from vault.store import Store
from vault.store.database import StoreUnwritable, connect_for_once
from vault.store.schema import lay_out_views
from vault.vault import Vault

__all__ = ["scratch", "undisturbed"]

_SCRATCH = "fsck.db"


@contextmanager
def undisturbed(vault: Vault) -> Iterator[bool]:
    """Keep everybody else from writing, and tell whether that was possible: not in a vault that can only be read.

    Raises:
        Locked: another process kept the vault too long.
        NotWritable: the lock cannot be taken though the vault can be written.
    """
    with ExitStack() as stack:
        is_kept = True
        try:
            stack.enter_context(vault.lock.held(timeout=LOCK_SECONDS))
        except NotWritable:
            if _is_writable(vault):
                raise
            stack.enter_context(vault.store.reading())
            is_kept = False
        yield is_kept


@contextmanager
def scratch(vault: Vault, *, whole: bool = False) -> Iterator[Store]:
    """Open an empty store of views beside the vault's, to which the vault's is attached as `live`.

    Args:
        vault: whose.
        whole: the new one is a whole store, and the vault's is not attached.

    Raises:
        NotWritable, StoreUnwritable: there is no room for it.
    """
    with ExitStack() as stack:
        directory = vault.dot
        if not _is_writable(vault):
            try:
                directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="lace-fsck-")))
            except OSError as error:
                refuse_write(Path(error.filename or tempfile.tempdir or vault.dot), error)
            (directory / "packs").symlink_to((vault.dot / "packs").absolute())  # where a store looks for its packs
        path = directory / _SCRATCH
        remains = [path.with_name(path.name + end) for end in ("", "-wal", "-shm", "-journal")]
        try:
            for old in remains:
                old.unlink(missing_ok=True)
        except OSError as error:
            refuse_write(path, error)
        try:
            with Store(path, create=whole, db=None if whole else connect_for_once(path)) as made:
                if whole:
                    made.db.execute("PRAGMA synchronous=OFF")  # it may be lost at any time
                else:
                    _attach(made.db, vault)
                    made.db.execute("BEGIN")  # what a store begins by itself would write in what is attached too
                    lay_out_views(made.db)  # `body` means the attached one
                yield made
        finally:
            for old in remains:
                with suppress(OSError):  # what stays is taken away by the next check
                    old.unlink(missing_ok=True)


def _attach(db: sqlite3.Connection, vault: Vault) -> None:
    """Attach the vault's store as its own connection opened it."""
    path = vault.store.path.absolute()
    if _is_writable(vault):
        db.execute("ATTACH DATABASE ? AS live", (os.fsencode(path),))  # which may be no UTF-8
        return
    for how in ("mode=ro", "immutable=1"):  # see `vault.store.database`
        try:
            db.execute("ATTACH DATABASE ? AS live", (f"{path.as_uri()}?{how}",))  # which looks into it already
        except sqlite3.OperationalError:
            continue
        return
    raise StoreUnwritable(f"The vault in {vault.dot} cannot be written, and SQLite cannot read it so.")


def _is_writable(vault: Vault) -> bool:
    return os.access(vault.dot, os.W_OK) and os.access(vault.store.path, os.W_OK)
