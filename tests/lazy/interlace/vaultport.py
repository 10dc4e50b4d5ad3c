"""A port over a real store, for exchanges whose policies are rule programs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from lazy.interlace.ads import Fields
from lazy.interlace.policy import LocalFacts
from tests.lazy.interlace.stores import accepted, fields_of
from vault.records import Blob, Plex, RecordHash, Seal, parse_record
from vault.rules import StoreFacts, View
from vault.store import Store

__all__ = ["SHARED", "StorePort"]

SHARED = "SELECT p FROM shared"


class StorePort:
    """A store that exposes what an SQL query of positions gives, and takes in whatever is valid."""

    def __init__(self, store: Store, exposed: str = SHARED) -> None:
        self.store = store
        self.exposed = exposed
        self.asked: list[RecordHash] = []

    @property
    def facts(self) -> LocalFacts:
        """What rules may look at."""
        return LocalFacts(StoreFacts(self.store.path, {"Member": [("V.member",)]}), View(self.exposed))

    def have(self, hashes: Collection[RecordHash]) -> set[RecordHash]:
        return self.store.have(hashes)

    def refused(self, hashes: Collection[RecordHash]) -> set[RecordHash]:
        del hashes
        return set()

    def effective_send(self) -> Iterable[tuple[RecordHash, Fields]]:
        sql = f"SELECT kind, digest, bytes FROM body WHERE p IN ({self.exposed}) ORDER BY p"
        for kind, digest, stored in self.store.rows(sql):
            record = parse_record(bytes(stored), verify=False)
            assert not isinstance(record, Blob)
            yield RecordHash(kind, bytes(digest)), fields_of(record)

    def may_send(self, record: RecordHash) -> bool:
        sql = f"SELECT 1 FROM body WHERE p IN ({self.exposed}) AND digest = ? AND kind = ?"
        return bool(self.store.rows(sql, record.digest, record.kind))

    def load(self, record: RecordHash) -> bytes | None:
        return self.store.stored(record)

    def accept_many(self, records: Sequence[tuple[RecordHash, bytes]]) -> Mapping[RecordHash, str]:
        return accepted(records, self._keep)

    def _keep(self, record: Plex | Seal, data: bytes) -> None:
        with self.store.transaction():
            self.store.add([(record, data)])
