"""Checking a vault from the ground up, and making its views anew from its records (architecture, decision 3).

`check` trusts nothing that is stored: every body is parsed, hashed and its signature verified again, the audit chain
is walked, the vault's own settings are compared with the records that back them, SQLite looks at its file, and every
derived table is built a second time from the bodies and compared. `repair` makes the derived tables anew in one
transaction. It deletes no record that is whole; one whose bytes are damaged is put aside under `.vault/damaged`, so
that the next sync fetches it again.
"""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from dataclasses import dataclass, field

from vault.audit.chain import told
from vault.audit.entries import APP as AUDIT_APP
from vault.audit.trail import verify_trail
from vault.beside import can_restore, changed_readable, restore_settings, settings_change
from vault.errors import Cancelled, DataError, EnvironmentFault, LaceError
from vault.files import NotWritable, make_directory, write_atomic
from vault.fsck.identity import settle_identity
from vault.fsck.own import identity, key_problem, settle_local, settle_mark, way_out
from vault.fsck.scratch import scratch, undisturbed
from vault.lock import LOCK_SECONDS
from vault.log_gap import log_gap
from vault.records import RecordHash, Seal, parse_record
from vault.store import Store, guard, packcheck
from vault.store.compare import differences
from vault.store.database import StoreDamaged
from vault.store.schema import misshapen
from vault.vault import READABLE, Vault
from vault.watch import Watch

__all__ = [
    "DAMAGED",
    "REJOIN",
    "BadThing",
    "FsckReport",
    "check",
    "forget_put_aside",
    "put_aside",
    "repair",
    "was_put_aside",
]

DAMAGED = "damaged"
_PUT_ASIDE = "put aside"  # setting of the store: what a repair took out and nobody has looked for yet
REJOIN = "Move the .vault directory away, join again with: lace accept INVITE, and sync."
_BEYOND = "If a repair does not help, move .vault away, join again with lace accept INVITE, and sync."
# Cast, since damage may have made a text of what must be bytes, and a text that is no UTF-8 cannot be read at all.
_ROW = (
    "SELECT p, CAST(kind AS BLOB), CAST(digest AS BLOB), stored(p, CAST(bytes AS BLOB)),"
    " typeof(kind) || ', ' || typeof(digest) || ', ' || typeof(bytes) FROM body"
)
_TYPES = "text, blob, blob"
_NAMED_PROBLEMS = 20  # of SQLite's own check; more say nothing new


@dataclass(frozen=True, slots=True)
class BadThing:
    """One thing that is not as it must be.

    Args:
        kind: `record`, `audit`, `log`, `setting`, `key`, `local`, `file`, `pack`, `store` or `view`.
        name: which: a hash text, an entry's number, a setting's key, a table, a file.
        code: a stable word for what is wrong.
        message: a sentence for a person.
    """

    kind: str
    name: str
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class FsckReport:
    """What a check or a repair found.

    Args:
        ok: whether nothing is wrong now.
        records: bodies looked at.
        bad: what is wrong now.
        repaired: what was wrong before a repair and is not any more.
        lost: records that a repair, this one or one that was cut off, put aside because their bytes were damaged.
        notes: what may be meant so, such as an edited settings file; nothing is wrong for that.
    """

    ok: bool
    records: int
    bad: tuple[BadThing, ...]
    repaired: tuple[BadThing, ...] = ()
    lost: tuple[RecordHash, ...] = ()
    notes: tuple[BadThing, ...] = ()


@dataclass(slots=True)
class _Scan:
    """What a pass over the bodies found."""

    records: int = 0
    bad: list[BadThing] = field(default_factory=list)
    damaged: list[int] = field(default_factory=list)  # positions whose bytes are no record
    misnamed: list[tuple[int, RecordHash]] = field(default_factory=list)  # whole bytes under another name
    audit: list[tuple[int, int]] = field(default_factory=list)  # (number, position)


def check(vault: Vault, *, watch: Watch = Watch()) -> FsckReport:
    """Look at everything and change nothing.

    Other writers wait meanwhile, so that views and records are of one moment. In a vault that can only be read nobody
    can be kept from writing, and a note says so.

    Raises:
        Locked: another process kept the vault too long.
        Cancelled: the person stopped it.
        Unreadable: content is there and may not be read now, which is no damage.
        DiskFull, NotWritable: there is no room to build the views beside the store, and nothing else is wrong.
    """
    with undisturbed(vault) as is_kept:
        bad = _file(vault)
        if any(_is_beyond(thing) for thing in bad):
            return FsckReport(False, 0, tuple(bad))
        try:
            packcheck.require_readable(vault.store.db, vault.store.packs)
            scan = _bodies(vault, watch)
        except sqlite3.DatabaseError as fault:
            bad.append(BadThing("store", "store.db", "unreadable", f"The records cannot be read ({fault})."))
            return FsckReport(False, 0, tuple(bad))
        bad += scan.bad
        bad += _audit(vault, scan)
        bad += _settings(vault)
        if (gap := log_gap(vault)) is not None:
            bad.append(BadThing("log", str(gap[0]), "gap", _NO_ENTRY.format(*gap)))
        if not scan.bad:  # views follow from records: damaged ones would only be named twice
            bad += _views(vault, watch, is_last=not bad)
        notes = _notes(vault) if not bad else ()
        return FsckReport(not bad, scan.records, tuple(bad), notes=notes if is_kept else (*notes, _ONLY_READ))


def repair(vault: Vault, *, watch: Watch = Watch()) -> FsckReport:
    """Make every derived table anew from the records, and put damaged records aside.

    The store gets a new epoch, so that cursors which counted by the old state are not believed. Packs that a prune left
    go where nothing was damaged.

    Raises:
        Locked, Cancelled: as `check`.
        StoreUnwritable, NotWritable, DiskFull: it cannot be written; nothing was changed.
        StoreDamaged: the file itself is beyond what can be made anew from its records.
    """
    with vault.lock.held(timeout=LOCK_SECONDS):
        before = check(vault, watch=watch)
        for thing in before.bad:
            if _is_beyond(thing):
                raise StoreDamaged(thing.message, hint=REJOIN)
        lost = _make_anew(vault, watch)
        restore_settings(vault, DAMAGED)
        settle_mark(vault)
        if before.ok:  # or what is no longer named may be what was damaged
            with suppress(NotWritable):  # only room is lost, and the next prune says so
                vault.store.packs.clear()
        after = check(vault, watch=watch)
    left = {(thing.kind, thing.name) for thing in after.bad}
    gone = tuple(thing for thing in before.bad if (thing.kind, thing.name) not in left)
    return FsckReport(after.ok, after.records, after.bad, gone, lost, after.notes)


def put_aside(vault: Vault) -> tuple[RecordHash, ...]:
    """Return what a repair took out and is missing still; until `forget_put_aside` says that it was looked for."""
    asked = (RecordHash.parse(text) for text in vault.store.meta(_PUT_ASIDE).split())
    return tuple(record for record in asked if vault.store.position(record) is None)


def was_put_aside(vault: Vault) -> bool:
    """Tell whether a repair took something out, and has not come to its end since."""
    return bool(vault.store.meta(_PUT_ASIDE))


def forget_put_aside(vault: Vault) -> None:
    """Say that what was put aside was looked for everywhere."""
    if was_put_aside(vault):
        with vault.writing(receiving=True) as w:
            w.store.set_meta(_PUT_ASIDE, "")


# Looking

_ONLY_BACKUP = (
    "The trail never leaves a vault, so only a backup of this one has that: there lace record export lace/audit > FILE,"
    " and here lace record put FILE. Without it nothing proves what was done then, and everything else goes on."
)
_BREAKS = 20  # of the audit trail that are named each
_NO_ENTRY = (
    "Entry {} of your own log, {}, is missing: what you shared after it reaches nobody. Run: lace sync - it fetches"
    " it from a place that has it. If none has, go on under a new key: lace adopt"
)
_ONLY_READ = BadThing(
    "store",
    "store.db",
    "only-read",
    "This vault can only be read: nothing was noted, and nobody else was kept from writing meanwhile.",
)


def _file(vault: Vault) -> list[BadThing]:
    """Ask SQLite about its own file."""
    try:
        found = [str(row[0]) for row in vault.store.db.execute(f"PRAGMA integrity_check({_NAMED_PROBLEMS})")]
    except sqlite3.DatabaseError as fault:
        found = [str(fault)]
    bad = [
        BadThing("store", "store.db", "integrity", f"SQLite says of the store: {line}.")
        for line in found
        if line != "ok"
    ]
    with suppress(sqlite3.DatabaseError):  # which SQLite has named
        bad += [
            BadThing("store", name, "definition", f"{name} is not defined in the store as lace defines it. {_BEYOND}")
            for name in misshapen(vault.store.db)
        ]
    return bad


def _is_beyond(thing: BadThing) -> bool:
    """Tell whether a table means something else than lace thinks, so that nothing read from it can be believed."""
    return thing.code == "definition" and not thing.name.startswith("guard_")


def _bodies(vault: Vault, watch: Watch) -> _Scan:
    """Parse, hash and verify every body (REC-82)."""
    scan = _Scan()
    total = int(vault.store.db.execute("SELECT count(*) FROM body").fetchone()[0])
    for p, kind, digest, stored, types in vault.store.db.execute(f"{_ROW} ORDER BY p"):
        watch.cancelled()
        scan.records += 1
        watch.progress(scan.records, total, "check")
        _body(scan, int(p), _name(kind, digest, p), stored, types)
    _packs(vault, scan)
    with suppress(sqlite3.DatabaseError):  # the view may be gone; then only the gap in the numbers tells
        marks = ",".join("?" * len(scan.damaged))
        scan.audit += vault.store.db.execute(f"SELECT seq, p FROM audit WHERE p IN ({marks})", scan.damaged)  # noqa: S608
    scan.audit.sort()
    return scan


def _packs(vault: Vault, scan: _Scan) -> None:
    """Compare every byte of the packs with what was written; a record whose frame changed is fetched again."""
    known = set(scan.damaged)
    for name, problem in packcheck.misfits(vault.store.db, vault.store.packs):
        scan.bad.append(BadThing("pack", name, "pack-damaged", problem))
    for problem, positions in packcheck.damaged(vault.store.db, vault.store.packs):
        scan.bad.append(
            BadThing("pack", problem.split(" from ")[0].split()[-1], "pack-damaged", f"{_opening(problem)}.")
        )
        for p in positions:
            if p in known:
                continue
            known.add(p)
            scan.damaged.append(p)
            row = vault.store.db.execute("SELECT kind, CAST(digest AS BLOB) FROM body WHERE p = ?", (p,)).fetchone()
            name = _name(str(row[0]).encode(), bytes(row[1]), p) if row else f"position {p}"
            scan.bad.append(BadThing("record", name, "pack-damaged", f"The record {name} lies where {problem}."))


def _opening(text: str) -> str:
    return text[:1].upper() + text[1:]


def _name(kind: bytes, digest: bytes, p: int) -> str:
    try:
        return RecordHash(kind.decode("utf-8", "replace"), digest).text
    except DataError:
        return f"position {p}"


def _body(scan: _Scan, p: int, name: str, stored: bytes, types: str) -> None:
    try:
        if types != _TYPES:
            raise StoreDamaged(f"its columns are {types} and not {_TYPES}.")
        record = parse_record(stored)
    except DataError as error:
        scan.damaged.append(p)
        scan.bad.append(BadThing("record", name, error.code, f"The record {name} is damaged: {error.message}"))
        return
    if record.hash.text != name:
        scan.misnamed.append((p, record.hash))
        message = f"The record {record.hash} is stored under another name: {name}."
        scan.bad.append(BadThing("record", name, "misnamed", message))
    if isinstance(record, Seal) and record.plex.app == AUDIT_APP:
        with suppress(ValueError):
            scan.audit.append((int(record.plex.name), p))


def _audit(vault: Vault, scan: _Scan) -> list[BadThing]:
    """Walk the audit chain as the bodies have it (CYB-10)."""
    try:
        verdict = verify_trail(vault, scan.audit)
    except DataError as error:  # whose trail it is cannot be told: a setting is named for that
        return [BadThing("audit", "1", "signer", f"The audit trail cannot be walked: {error.message}")]
    bad = []
    found = told(verdict.breaks)
    for broken, text in found[:_BREAKS]:
        way = f" {_ONLY_BACKUP}" if broken.missing else ""
        message = f"In the audit trail: {text[:1].lower()}{text[1:]}{way}"
        bad.append(BadThing("audit", str(broken.position), str(broken.fault), message))
    if (more := len(found) - len(bad)) > 0:
        bad.append(BadThing("audit", "more", "more", f"The audit trail breaks {more} times more: lace audit verify"))
    return bad


def _settings(vault: Vault) -> list[BadThing]:
    """Check what belongs to this vault alone: settings, key, mark, tables that no record carries, files to read."""
    bad = []
    try:
        _ = vault.settings
    except LaceError as error:
        way = "" if can_restore(vault) else f" {error.hint}"
        bad.append(BadThing("setting", "config.toml", error.code, f"{error.message}{way}"))
    for key, problem in identity(vault):
        bad.append(BadThing("setting", key, "wrong-setting", f"The vault's own {key} is wrong: {problem}."))
    if (wrong := key_problem(vault)) is not None:
        bad.append(BadThing("key", *wrong))
    bad += [
        BadThing("local", table, "changed", f"The table {table} is not as it was written. {way_out(table)}")
        for table in guard.changed(vault.store.db)
    ]
    for name in changed_readable(vault):
        message = f".vault/{READABLE}/{name} is not as lace wrote it; it is only read by people, and written anew."
        bad.append(BadThing("file", name, "changed", message))
    return bad


def _notes(vault: Vault) -> tuple[BadThing, ...]:
    """Name what a person may have meant, and damage may have done."""
    change = settings_change(vault)
    if not change:
        return ()
    hint = "If that was not you, set it again with: lace config set KEY VALUE"
    return (BadThing("setting", "config.toml", "edited", f"{change} {hint}"),)


def _views(vault: Vault, watch: Watch, *, is_last: bool) -> list[BadThing]:
    """Build every derived table a second time beside the store, and compare.

    Args:
        vault: whose they are.
        watch: for progress.
        is_last: whether nothing else is wrong, so that no room for them is all there is to say: it is no damage.
    """
    watch.progress(0, 0, "rebuild")
    try:
        with scratch(vault) as built:
            found = differences(built, vault.node.text, vault.founding, watch.cancelled)
    except Cancelled:
        raise
    except (LaceError, sqlite3.DatabaseError) as error:
        if is_last and isinstance(error, EnvironmentFault):
            raise
        message = f"The views cannot be built from the records: {error}"
        return [BadThing("view", "all", getattr(error, "code", "") or "unbuildable", message)]
    return [BadThing("view", table, "differs", f"The table {table} differs: {what}.") for table, what in found]


# Making anew


def _make_anew(vault: Vault, watch: Watch) -> tuple[RecordHash, ...]:
    """Put aside what is damaged and make the views anew; return the names of what was put aside."""
    store = vault.store
    lost: list[RecordHash] = []
    scan = _bodies(vault, watch)
    aside = vault.dot / DAMAGED
    for p in scan.damaged:  # kept as files before the transaction, so that no byte is lost whatever happens
        _, kind, digest, stored, _ = store.db.execute(f"{_ROW} WHERE p = ?", (p,)).fetchone()
        make_directory(aside)
        name = _name(kind, digest, p).replace(" ", "-")
        write_atomic(aside / f"{p}-{name}.rec", stored)
        with suppress(DataError):
            lost.append(RecordHash.parse(name))
    try:
        with store.transaction():
            settle_local(store)
            settle_identity(vault)
            _put_right(store, scan)
            lost += [record for record in put_aside(vault) if record not in lost]
            store.set_meta(_PUT_ASIDE, " ".join(record.text for record in lost))
            packcheck.put_right(store.db, store.packs)
            if any(thing.code == "integrity" for thing in _file(vault)):
                store.run("REINDEX")
            store.rebuild(store.meta("node"), vault.founding, watch.cancelled)
            store.run("DELETE FROM exposure WHERE p NOT IN (SELECT p FROM shared)")
            # What was read to its end is read again: something that lay there may be missing here now, and unnoticed.
            store.run("UPDATE seen SET whole = 0")
            store.run("UPDATE live SET at = 0")
            store.set_meta("epoch", vault.around.entropy(16).hex())
    except sqlite3.DatabaseError as fault:
        raise StoreDamaged(
            f"The store of the vault in {vault.folder} cannot be repaired ({fault}).",
            hint=REJOIN,
        ) from fault
    return tuple(lost)


def _put_right(store: Store, scan: _Scan) -> None:
    """Take damaged records out, and file whole ones under their own name."""
    for p in store.packs.resting_on(scan.damaged):  # before what they rest on goes
        store.unpack(p)
    for p in scan.damaged:
        store.forget(p)
    for p, own in scan.misnamed:
        if store.position(own) is not None:
            store.forget(p)
        else:
            store.run("UPDATE body SET kind = ?, digest = ? WHERE p = ?", own.kind, own.digest, p)
