"""What is right about a record before anybody's trust is asked: form, digests, kind, group, tree form, signature.

Records come in batches. Their signatures are verified together, here after all of a batch were read or by a process
beside this one meanwhile: verifying uses the processor's caches up, and reading a record after each verification would
find them cold.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from vault.desks.content import Contents, known_data
from vault.desks.pages import Entry, has_large, parse_page
from vault.errors import DataError, LaceError
from vault.profile import AUDIT_APP, CONTENT_APPS, FOUNDING_APP, MAX_DIRECT_BYTES, REQUEST_APP, TREE_APP, read
from vault.proofs import Proofs
from vault.records import Plex, Record, RecordHash, Seal, parse_record, verify_seal

__all__ = ["Judge", "RefusedRecord", "Sorted", "large_files"]

_NAMED = (Seal, Plex)
"""What is exchanged; a bare Blob never is."""

_NEVER_SHARED = frozenset({AUDIT_APP, REQUEST_APP, "lace/snapshot"})

Sorted = list[tuple[Seal | Plex, bytes]]
_Refuse = Callable[[RecordHash, LaceError], None]


class RefusedRecord(DataError):
    """A record is well-formed and has no business here."""

    code = "refused"
    exit_code = 44
    hint = "It was not stored; the rest of the sync went on."


@dataclass(slots=True)
class Judge:
    """Judges the records that come for one group.

    Args:
        group: asks for the group's id; once, and not before the first record.
    """

    group: Callable[[], str]
    _known: str = field(default="", init=False)

    def batch(
        self,
        batch: Sequence[tuple[RecordHash, bytes]],
        refuse: _Refuse,
        proofs: Proofs | None = None,
        *,
        carried: bool = False,
    ) -> Sorted:
        """Return the records of a batch of which everything is right that needs no trust; the others are refused.

        Args:
            batch: names and stored bytes.
            refuse: is told of each record that is wrong, and how.
            proofs: verifies the signatures meanwhile; then they are right only if it says so in the end.
            carried: whether each name was compared with its bytes by who read them (REC-5).
        """
        found: Sorted = []
        if proofs is not None:
            proofs.expect(len(batch))
        for record_hash, stored in batch:
            try:
                record = self.unproven(record_hash, stored, carried=carried)
            except LaceError as error:
                refuse(record_hash, error)
                continue
            if proofs is not None and isinstance(record, Seal):
                proofs.ask(record)
            found.append((record, stored))
        return found if proofs is not None else _proven(found, refuse)

    def small(
        self, batch: Sequence[tuple[RecordHash, bytes]], wanted: Collection[RecordHash]
    ) -> tuple[Contents, list[tuple[RecordHash, bytes]]]:
        """Return what of a batch is wanted and a small content, of which nothing is left to be judged, and the rest.

        Args:
            batch: names and stored bytes, each compared with the other by who read them (REC-5).
            wanted: what is missing here and reached.
        """
        contents = Contents(self._own_group())
        rest = [pair for pair in batch if not (pair[0] in wanted and contents.take(*pair))]
        return contents, rest

    def one(self, record_hash: RecordHash, stored: bytes) -> Seal | Plex:
        """Return one record of which everything is right that needs no trust.

        Raises:
            LaceError: something is wrong with it.
        """
        record = self.unproven(record_hash, stored)
        if isinstance(record, Seal):
            verify_seal(record)
        return record

    def unproven(self, record_hash: RecordHash, stored: bytes, *, carried: bool = False) -> Seal | Plex:
        """Return one record of which everything is right but its signature, which is still to be verified.

        Raises:
            LaceError: something is wrong with it; the signature too is verified then, and told of first.
        """
        group = self._own_group()
        if record_hash.kind == "P":
            data = known_data(group, record_hash, stored, carried=carried)
            if data is not None:
                return data
        record = parse_record(stored, verify=False)
        try:
            self._check(record_hash, record)
        except LaceError:
            if isinstance(record, Seal):
                verify_seal(record)
            raise
        assert isinstance(record, _NAMED)  # noqa: S101 - checked there
        return record

    def _own_group(self) -> str:
        if not self._known:
            self._known = self.group()
        return self._known

    def _check(self, record_hash: RecordHash, record: Record) -> None:
        if record.hash != record_hash:
            raise RefusedRecord(f"its bytes are the record {record.hash}")
        if isinstance(record, Seal):
            plex = record.plex
        elif isinstance(record, Plex):
            plex = record
        else:
            raise RefusedRecord("a bare Blob is never exchanged")
        if plex.app in _NEVER_SHARED:
            raise RefusedRecord(f"a record of kind {plex.app} is never shared")
        if plex is record and plex.app not in CONTENT_APPS:
            raise RefusedRecord(f"an unsigned record of kind {plex.app} claims nothing")
        if plex.group != self._known and not self._may_be_founding(plex):
            raise RefusedRecord(f"it belongs to the group {plex.group}")
        read(record)
        if plex is record and plex.app == TREE_APP:
            parse_page(plex.blob.data)

    def _may_be_founding(self, plex: Plex) -> bool:
        return plex.app == FOUNDING_APP and plex.group == self._known.split("/", 1)[0]


def large_files(record: Seal | Plex) -> list[Entry]:
    """Return the entries of a checked tree page whose content is cut into chunks; of any other record none."""
    if not isinstance(record, Plex) or record.app != TREE_APP or not has_large(record.blob.data):
        return []
    items = parse_page(record.blob.data).items
    return [item for item in items if isinstance(item, Entry) and not item.is_dir and item.size > MAX_DIRECT_BYTES]


def _proven(found: Sorted, refuse: _Refuse) -> Sorted:
    """Return those of some records whose signatures are right, and those that have none; the others are refused."""
    right: Sorted = []
    for pair in found:
        record = pair[0]
        try:
            if isinstance(record, Seal):
                verify_seal(record)
        except LaceError as error:
            refuse(record.hash, error)
        else:
            right.append(pair)
    return right
