"""The scan cache of one desk, kept in the store: what the last look saw of each directory."""

from __future__ import annotations

from itertools import accumulate, chain
from typing import TYPE_CHECKING, Final

from vault.desks.glance import LOOKS, LOOKS_OF, MAX_LOOKS
from vault.errors import EnvironmentFault
from vault.store.database import insert_many

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Set

    from vault.vault import Vault

__all__ = ["StoredDirCache"]


_KEEP: Final = "INSERT INTO dircache VALUES (?, ?, ?) ON CONFLICT(desk, dir) DO UPDATE SET blob = excluded.blob"
_FRESH_BYTES: Final = 8 << 20  # that wait to be written, where they may be sooner


class StoredDirCache:
    """The `dircache` table as the directory cache of one desk.

    Args:
        vault: whose it is.
        desk: the desk.
        spills: whether what is much is written before `keep` is called. For who holds the vault's lock and has all the
            trees in the store, or in the transaction that this is done in.
    """

    def __init__(self, vault: Vault, desk: str, *, spills: bool = False) -> None:
        self._store, self._desk, self._spills = vault.store, desk, spills
        self._bytes = 0  # of what is fresh
        self._fresh: dict[str, bytes] = {}
        self._gone: list[str] = []
        self._looks: dict[str, bytes] | None = None
        self._has_all = False

    def load(self, directory: str) -> bytes | None:
        """Return what was kept for a directory, or None."""
        if directory.startswith(LOOKS):  # every directory is asked for, so one question brings them all
            if self._looks is None:
                found = self._store.rows(LOOKS_OF, self._desk, MAX_LOOKS)
                self._looks = {str(key): bytes(look) for key, look in found}
                self._has_all = len(found) < MAX_LOOKS
            if self._has_all or directory in self._looks:
                return self._looks.get(directory)
        row = self._store.rows("SELECT blob FROM dircache WHERE desk = ? AND dir = ?", self._desk, directory)
        return bytes(row[0][0]) if row else None

    def save(self, directory: str, blob: bytes) -> None:
        """Take what is to be kept for a directory; see `keep`."""
        self._fresh[directory] = blob
        self._bytes += len(blob)
        if self._spills and self._bytes > _FRESH_BYTES:
            with self._store.transaction():
                self.keep()

    def drop(self, directory: str) -> None:
        """Take note that a directory is gone, with those that were below it; see `keep`."""
        self._gone += (directory, f"{LOOKS}{directory}")

    def keep_if_free(self, vault: Vault, put_back: Set[str] = frozenset()) -> None:
        """Keep what a look at an unchanged folder saw, so that the next look is cheap, unless somebody is writing.

        Args:
            vault: whose folder.
            put_back: as the snapshot has it. What was seen on the way there and below names trees that nobody stored,
                and a scan that believed it could not read them.
        """
        self._fresh = _not_touching(self._fresh, put_back)
        if not self._fresh:
            return
        try:
            with vault.lock.held(timeout=0), vault.store.transaction():
                self.keep()
        except EnvironmentFault:
            return  # a busy or read-only vault costs a second look, no more

    def keep(self) -> None:
        """Write what was saved, without what is gone; inside the transaction: a cache never runs ahead of the store."""
        if self._gone:
            self._store.db.executemany(
                "DELETE FROM dircache WHERE desk = ?1 AND (dir = ?2 OR (dir > ?2 || '/' AND dir < ?2 || '0'))",
                [(self._desk, directory) for directory in self._gone],  # the sign after / is 0
            )
        rows = ((self._desk, directory, blob) for directory, blob in self._fresh.items())
        insert_many(self._store.db, _KEEP, list(chain.from_iterable(rows)))
        self._fresh, self._gone, self._bytes = {}, [], 0


def _not_touching(fresh: Mapping[str, bytes], paths: Set[str]) -> dict[str, bytes]:
    """Return what is kept of directories, or their looks, that are none of these paths, nor above or below one."""
    if not paths:
        return dict(fresh)
    above = {way for path in paths for way in ("", *_ways_to(path))}

    def touches(where: str) -> bool:
        return where in above or any(way in paths for way in _ways_to(where))

    return {key: blob for key, blob in fresh.items() if not touches(key.removeprefix(LOOKS))}


def _ways_to(path: str) -> Iterator[str]:
    """Yield a path, and each directory above it but the topmost."""
    return accumulate(path.split("/"), "{}/{}".format)
