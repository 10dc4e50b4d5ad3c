"""The audit trail as it lies in a vault: which entries there are, who may have sealed them, whether they chain.

`vault.audit.entries` knows one entry and the rule of the chain; this module reads the chain from the store (CYB-10).
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from vault.audit.chain import ChainVerdict, Damaged, verify_chain
from vault.audit.entries import read_audit
from vault.errors import DataError
from vault.records import RecordHash, Seal, Verifier, parse_record
from vault.records.errors import RecordError

if TYPE_CHECKING:
    from vault.vault import Vault

__all__ = ["as_it_lies", "entries_of", "gaps", "signers", "verify_trail", "way_back"]

_ADOPT = "lace-adopt"
_OF_ADOPTION = f"\nVerb: {_ADOPT}\n".encode()


def as_it_lies(vault: Vault) -> Iterator[Seal | Damaged]:
    """Yield the entries in the order of their numbers; one that cannot be read is named, and hides no other."""
    return _read(vault, _numbered(vault))


def entries_of(vault: Vault, verb: str) -> Iterator[Seal]:
    """Yield the entries of one verb in the order of their numbers, but for those that cannot be read."""
    rows = vault.store.rows("SELECT seq, p FROM audit WHERE verb = ? ORDER BY seq", verb)
    found = _read(vault, [(int(seq), int(p)) for seq, p in rows])
    return (entry for entry in found if isinstance(entry, Seal))


def signers(vault: Vault, entries: Iterable[tuple[int, int]] | None = None) -> set[Verifier]:
    """Return the nodes this vault has had: the present one, and those that its own `adopt` entries name.

    Args:
        vault: whose trail it is.
        entries: number and position of each entry in order, where the store's views are not to be trusted.
    """
    found = {vault.node}
    order = [p for _, p in (_numbered(vault) if entries is None else entries)]
    for _, stored in _stored(vault, reversed(order)):  # newest first: each node vouches for the one before it
        if _OF_ADOPTION not in stored:  # nearly all of them
            continue
        try:
            record = parse_record(stored, verify=False)
            if not isinstance(record, Seal) or record.plex.first("Verb") != _ADOPT or record.signer not in found:
                continue
            parse_record(stored)
            before = dict(read_audit(record).parameters).get("from", "")
            found.add(Verifier.parse(before))
        except DataError:
            continue  # the walk along the chain names it
    return found


def verify_trail(
    vault: Vault, entries: Iterable[tuple[int, int]] | None = None, proven: Container[RecordHash] = frozenset()
) -> ChainVerdict:
    """Walk the chain from its first entry to its last and note each that does not fit (CYB-10).

    Args:
        vault: whose trail it is.
        entries: number and position of each entry in order, where the store's views are not to be trusted.
        proven: Seals whose signature was verified a moment ago.
    """
    order = _numbered(vault) if entries is None else list(entries)
    return verify_chain(_read(vault, order), signers(vault, order), proven)


def gaps(vault: Vault) -> list[tuple[int, int, RecordHash]]:
    """Return where entries are missing before one that is here: the first number, the last, and the last's Seal."""
    sql = (
        "SELECT ifnull((SELECT max(b.seq) FROM audit b WHERE b.seq < a.seq), 0) + 1, a.seq - 1, a.p FROM audit a"
        " WHERE a.seq > 1 AND NOT EXISTS (SELECT 1 FROM audit b WHERE b.seq = a.seq - 1) ORDER BY a.seq"
    )
    found = []
    for first, last, p in vault.store.rows(sql):
        for _, stored in _stored(vault, [int(p)]):
            try:
                record = parse_record(stored, verify=False)
                parent = read_audit(record).parent if isinstance(record, Seal) else None
            except DataError:
                continue  # damaged itself: it is missing too once it is put aside, and the one after it tells then
            found += [] if parent is None else [(int(first), int(last), parent)]
    return found


def way_back(vault: Vault, offered: Mapping[RecordHash, RecordHash | None]) -> list[RecordHash]:
    """Return those of some entries, each with the one before it, that are missing here.

    An entry here names each, or one that leads there.
    """
    found = []
    for _, _, record in gaps(vault):
        step: RecordHash | None = record
        while step is not None and step in offered:
            found.append(step)
            step = offered[step]
    return found


def _numbered(vault: Vault) -> list[tuple[int, int]]:
    return [(int(seq), int(p)) for seq, p in vault.store.rows("SELECT seq, p FROM audit ORDER BY seq")]


def _read(vault: Vault, entries: Iterable[tuple[int, int]]) -> Iterator[Seal | Damaged]:
    for number, p in entries:
        for record_hash, stored in _stored(vault, [p]):
            try:
                record = parse_record(stored, verify=False)
            except RecordError:
                yield Damaged(record_hash, number)
                continue
            if isinstance(record, Seal) and record.hash == record_hash:
                yield record
            else:
                yield Damaged(record_hash, number)


def _stored(vault: Vault, positions: Iterable[int]) -> Iterator[tuple[RecordHash, bytes]]:
    # cast: damage may have made a text of what must be bytes
    sql = "SELECT kind, CAST(digest AS BLOB), CAST(bytes AS BLOB) FROM body WHERE p = ?"
    for p in positions:
        for kind, digest, stored in vault.store.db.execute(sql, (p,)):
            yield RecordHash(str(kind), bytes(digest)), bytes(stored)
