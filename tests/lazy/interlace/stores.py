"""Small real records and an in-memory store behind a port, for the tests of interlace."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from lazy.interlace.ads import Fields
from vault.records import Blob, Plex, RecordError, RecordHash, Seal, Tai, Verifier, parse_record

ALICE = Verifier(bytes([1]) * 32)
BOB = Verifier(bytes([2]) * 32)
START = Tai.parse("1640995200:000000000")


def note(text: str, *, app: str = "lace/data", group: str = "friends/x") -> Plex:
    """A small unsigned record that is different for each text."""
    return Plex.build(group=group, app=app, name=f"n/{text}", tai=START, data=text.encode())


class MemoryPort:
    """Records in a dict, sent to the peer if they pass `exposes`; everything valid is accepted."""

    def __init__(
        self, records: Iterable[Plex | Seal] = (), exposes: Callable[[Plex | Seal], bool] = lambda _: True
    ) -> None:
        self.records: dict[RecordHash, Plex | Seal] = {record.hash: record for record in records}
        self.exposes = exposes
        self.refusals: set[RecordHash] = set()
        self.loads: list[RecordHash] = []
        self.calls = 0

    def have(self, hashes: Collection[RecordHash]) -> set[RecordHash]:
        self.calls += 1
        return {record for record in hashes if record in self.records}

    def refused(self, hashes: Collection[RecordHash]) -> set[RecordHash]:
        return {record for record in hashes if record in self.refusals}

    def effective_send(self) -> Iterable[tuple[RecordHash, Fields]]:
        for name, record in list(self.records.items()):
            if self.exposes(record):
                yield name, fields_of(record)

    def may_send(self, record: RecordHash) -> bool:
        return record in self.records and self.exposes(self.records[record])

    def load(self, record: RecordHash) -> bytes | None:
        self.loads.append(record)
        found = self.records.get(record)
        return None if found is None else found.encode()

    def accept_many(self, records: Sequence[tuple[RecordHash, bytes]]) -> Mapping[RecordHash, str]:
        self.calls += 1
        return accepted(records, self._keep)

    def _keep(self, record: Plex | Seal, data: bytes) -> None:
        del data
        self.records[record.hash] = record


def accepted(
    records: Iterable[tuple[RecordHash, bytes]], keep: Callable[[Plex | Seal, bytes], object]
) -> dict[RecordHash, str]:
    """Validate what came under each name, and keep it if it is that record; return the codes of what is refused."""
    refused: dict[RecordHash, str] = {}
    for name, data in records:
        try:
            record = parse_record(data)
        except RecordError as error:
            refused[name] = error.code
            continue
        if record.hash != name or isinstance(record, Blob):
            refused[name] = "another-record"
        else:
            keep(record, data)
    return refused


def fields_of(record: Plex | Seal) -> Fields:
    """The fields of a record that these tests advertise."""
    plex = record.plex if isinstance(record, Seal) else record
    fields = [("App", 0, plex.app), ("Group", 0, plex.group), ("Name", 0, plex.name)]
    if isinstance(record, Seal):
        fields.append(("Signed-By", 0, record.signer.text))
    return tuple(sorted([*fields, ("Type", 0, record.hash.kind)]))
