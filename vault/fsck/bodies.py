"""What lies in the store itself: its file as SQLite sees it, every body, and the packs (REC-82)."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from dataclasses import dataclass, field

from vault.audit.entries import APP as AUDIT_APP
from vault.errors import DataError
from vault.fsck.report import BadThing
from vault.records import RecordHash, Seal, parse_record
from vault.store import packcheck
from vault.store.at_hand import DigestTable
from vault.store.database import StoreDamaged
from vault.store.schema import misshapen
from vault.vault import Vault
from vault.watch import Watch

__all__ = ["INTEGRITY", "ROW", "Scan", "faults_of_file", "is_beyond", "name_of", "scan_bodies"]

INTEGRITY = "integrity"  # code of what SQLite says of its own file
_BEYOND = "If a repair does not help, move .vault away, join again with lace accept INVITE, and sync."
# Cast, since damage may have made a text of what must be bytes, and a text that is no UTF-8 cannot be read at all.
ROW = (
    "SELECT p, CAST(kind AS BLOB), CAST(digest AS BLOB), stored(p, CAST(bytes AS BLOB)),"
    " typeof(kind) || ', ' || typeof(digest) || ', ' || typeof(bytes) FROM body"
)
_TYPES = "text, blob, blob"
_WHERE = "*** in database main ***"  # how SQLite begins what it says of pages
_NAMED_PROBLEMS = 20  # of SQLite's own check; more say nothing new


class Proven:
    """Seals whose signature is right, in hardly more room than their digests take: a long line has many."""

    def __init__(self) -> None:
        self._digests = DigestTable(0)

    def add(self, seal: RecordHash) -> None:
        """Take one."""
        self._digests.put(seal.digest, b"")

    def __contains__(self, record: object) -> bool:
        return isinstance(record, RecordHash) and record.kind == "S" and self._digests.get(record.digest) is not None


@dataclass(slots=True)
class Scan:
    """What a pass over the bodies found."""

    records: int = 0
    bad: list[BadThing] = field(default_factory=list)
    damaged: list[int] = field(default_factory=list)  # positions whose bytes are no record
    misnamed: list[tuple[int, RecordHash]] = field(default_factory=list)  # whole bytes under another name
    audit: list[tuple[int, int]] = field(default_factory=list)  # (number, position)
    proven: Proven = field(default_factory=Proven)  # Seals of the audit trail whose signature is right


def faults_of_file(vault: Vault) -> list[BadThing]:
    """Ask SQLite about its own file."""
    try:
        told = vault.store.db.execute(f"PRAGMA integrity_check({_NAMED_PROBLEMS})")
        found = [" ".join(str(row[0]).removeprefix(_WHERE).split()) for row in told]  # it may be of several lines
    except sqlite3.DatabaseError as fault:
        found = [str(fault)]
    bad = [
        BadThing("store", "store.db", INTEGRITY, f"SQLite says of the store: {line}. {_BEYOND}")
        for line in found
        if line != "ok"
    ]
    with suppress(sqlite3.DatabaseError):  # which SQLite has named
        bad += [
            BadThing("store", name, "definition", f"{name} is not defined in the store as lace defines it. {_BEYOND}")
            for name in misshapen(vault.store.db)
        ]
    return bad


def is_beyond(thing: BadThing) -> bool:
    """Tell whether a table means something else than lace thinks, so that nothing read from it can be believed."""
    return thing.code == "definition" and not thing.name.startswith("guard_")


def scan_bodies(vault: Vault, watch: Watch) -> Scan:
    """Parse, hash and verify every body (REC-82)."""
    scan = Scan()
    vault.store.packs.read_anew()  # what was decoded before says nothing of what lies there now
    total = int(vault.store.db.execute("SELECT count(*) FROM body").fetchone()[0])
    for p, kind, digest, stored, types in vault.store.db.execute(f"{ROW} ORDER BY p"):
        watch.cancelled()
        scan.records += 1
        watch.progress(scan.records, total, "check")
        _body(scan, int(p), kind, digest, stored, types)
    _packs(vault, scan)
    with suppress(sqlite3.DatabaseError):  # the view may be gone; then only the gap in the numbers tells
        marks = ",".join("?" * len(scan.damaged))
        scan.audit += vault.store.db.execute(f"SELECT seq, p FROM audit WHERE p IN ({marks})", scan.damaged)  # noqa: S608
    scan.audit.sort()
    return scan


def _packs(vault: Vault, scan: Scan) -> None:
    """Compare every byte of the packs with what was written; one that no longer proves itself is fetched again."""
    known = set(scan.damaged)
    for name, problem in packcheck.misfits(vault.store.db, vault.store.packs):
        scan.bad.append(BadThing("pack", name, "pack-damaged", problem))
    for pack, problem, positions in packcheck.damaged(vault.store.db, vault.store.packs):
        scan.bad.append(BadThing("pack", pack, "pack-damaged", f"{_opening(problem)}."))
        for p in positions:
            if p in known:
                continue
            known.add(p)
            scan.damaged.append(p)
            row = vault.store.db.execute(
                "SELECT CAST(kind AS BLOB), CAST(digest AS BLOB) FROM body WHERE p = ?", (p,)
            ).fetchone()
            name = name_of(bytes(row[0]), bytes(row[1]), p) if row else f"position {p}"
            scan.bad.append(BadThing("record", name, "pack-damaged", f"The record {name} lies where {problem}."))


def _opening(text: str) -> str:
    return text[:1].upper() + text[1:]


def name_of(kind: bytes | None, digest: bytes | None, p: int) -> str:
    """Return the hash text of what lies at a position, which damage may have left without one."""
    try:
        return RecordHash((kind or b"").decode("utf-8", "replace"), digest or b"").text
    except DataError:
        return f"position {p}"


def _body(scan: Scan, p: int, kind: bytes | None, digest: bytes | None, stored: bytes, types: str) -> None:
    try:
        if types != _TYPES:
            raise StoreDamaged(f"its columns are {types} and not {_TYPES}.")
        record = parse_record(stored)
    except DataError as error:
        scan.damaged.append(p)
        name = name_of(kind, digest, p)
        scan.bad.append(BadThing("record", name, error.code, f"The record {name} is damaged: {error.message}"))
        return
    if record.hash.digest != digest or record.hash.kind.encode() != kind:
        scan.misnamed.append((p, record.hash))
        name = name_of(kind, digest, p)
        message = f"The record {record.hash} is stored under another name: {name}."
        scan.bad.append(BadThing("record", name, "misnamed", message))
    if isinstance(record, Seal) and record.plex.app == AUDIT_APP:
        scan.proven.add(record.hash)  # by the hash of all of it: whatever else is read under it later is another one
        with suppress(ValueError):
            scan.audit.append((int(record.plex.name), p))
