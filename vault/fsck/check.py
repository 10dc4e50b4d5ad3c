"""Checking a vault from the ground up (architecture, decision 3).

Nothing that is stored is trusted: every body is parsed, hashed and its signature verified again, the audit chain is
walked, the vault's own settings are compared with the records that back them, SQLite looks at its file, and every
derived table is built a second time from the bodies and compared.
"""

from __future__ import annotations

import os
import sqlite3

from vault.audit.chain import told
from vault.audit.trail import verify_trail
from vault.errors import Cancelled, DataError, EnvironmentFault, LaceError
from vault.fsck.bodies import INTEGRITY, Scan, faults_of_file, is_beyond, scan_bodies
from vault.fsck.drafts import lost_drafts
from vault.fsck.folders import unreadable
from vault.fsck.notes import unreadable_notes
from vault.fsck.own import identity, key_problems, way_out
from vault.fsck.report import BadThing, FsckReport
from vault.fsck.rules import damaged_rules
from vault.fsck.scratch import scratch, undisturbed
from vault.log_gap import log_gap
from vault.readable_files import changed_readable
from vault.settings_file import can_restore, settings_change
from vault.store import Store, guard, packcheck
from vault.store.compare import differences
from vault.store.database import faults_named, kind_of
from vault.store.numbers import beyond
from vault.store.schema import DERIVED_TABLES, SCHEMA_VERSION, form_of
from vault.store.values import TRUTH_TABLES, mistyped
from vault.vault import READABLE, Vault
from vault.watch import Watch

__all__ = ["WRONG_TYPE", "changed_tables", "check"]

WRONG_TYPE = "wrong-type"  # code of a table in which such a value stands: nothing else is looked at then
_TYPES = {"INTEGER": "number", "TEXT": "text", "BLOB": "bytes"}
_VALUE = (
    "The table {0} holds what is no {1} where each row has one, as {2}. Nothing else is looked at before that is"
    " repaired: lace fsck --repair"
)
_NUMBER = (
    "The table {} holds a number that no lace gives, as {}. Nothing else is looked at before that is repaired:"
    " lace fsck --repair"
)
_ONLY_BACKUP = (
    "The trail never leaves a vault, so only a backup of this one has that: there lace record export lace/audit > FILE,"
    " and here lace record put FILE. Without it nothing proves what was done then, and everything else goes on."
)
_HEAD = "The head of store.db says that it is only to be read, and no lace wrote that. Run: lace fsck --repair"
_FORMER = "The store is of an earlier lace, and a page that rotted keeps it from being brought to the form of this one."
_BREAKS = 20  # of the audit trail that are named each
_NO_ENTRY = (
    "Entry {} of your own log, {}, is missing: what you shared after it reaches nobody. Run: lace sync - it fetches"
    " it from a place that has it. If none has, go on under a new key: lace adopt"
)
_UNNAMED = (
    "{} bytes in .vault/packs belong to nothing: a commit, a sync or a prune was cut off. They are free again with:"
    " lace prune"
)
_ONLY_READ = BadThing(
    "store",
    "store.db",
    "only-read",
    "This vault can only be read: nothing was noted, and nobody else was kept from writing meanwhile.",
)


def check(vault: Vault, *, watch: Watch = Watch()) -> FsckReport:
    """Look at everything and change nothing.

    Other writers wait meanwhile, so that views and records are of one moment. In a vault that can only be read nobody
    can be kept from writing, and a note says so.

    Raises:
        Locked: another process kept the vault too long.
        Cancelled: the person stopped it.
        Unreadable: content is there and may not be read now, which is no damage.
        DiskFull, NotWritable, StoreUnwritable: the views cannot be built beside the store, and nothing else is wrong.
    """
    with undisturbed(vault) as is_kept:
        if form_of(vault.store.db) < SCHEMA_VERSION:  # whatever else is asked expects the tables of this one
            return FsckReport(ok=False, records=0, bad=tuple(_former(vault)))
        bad = [*faults_of_file(vault), *(_refuses(vault) if is_kept else ())]
        if any(is_beyond(thing) for thing in bad):
            return FsckReport(ok=False, records=0, bad=tuple(bad))
        try:
            if wrong := _values(vault):  # whoever reads them would fail in a way of its own
                return FsckReport(ok=False, records=0, bad=(*bad, *wrong))
            packcheck.require_readable(vault.store.packs)
            scan = scan_bodies(vault, watch)
        except sqlite3.DatabaseError as fault:
            bad.append(BadThing("store", "store.db", "unreadable", f"The records cannot be read ({fault})."))
            return FsckReport(ok=False, records=0, bad=tuple(bad))
        bad += scan.bad
        try:
            return _rest(vault, scan, bad, watch, is_kept=is_kept)
        except (sqlite3.DatabaseError, DataError) as fault:
            if not any(thing.code == INTEGRITY for thing in bad):
                raise
            bad.append(BadThing("store", "store.db", "unreadable", f"Nothing else can be looked at ({fault})."))
            return FsckReport(ok=False, records=scan.records, bad=tuple(bad))


def _former(vault: Vault) -> list[BadThing]:
    """Name what keeps a store from being brought to the form of this version."""
    found = [thing for thing in faults_of_file(vault) if thing.code == INTEGRITY]
    return [*found, BadThing("store", "store.db", INTEGRITY, _FORMER)]


def _rest(vault: Vault, scan: Scan, bad: list[BadThing], watch: Watch, *, is_kept: bool) -> FsckReport:
    """Look at all that is not the file and the records themselves, and say what is wrong besides."""
    bad += _audit(vault, scan)
    bad += _settings(vault)
    if (gap := log_gap(vault)) is not None:
        bad.append(BadThing("log", str(gap[0]), "gap", _NO_ENTRY.format(*gap)))
    if not scan.bad:  # views follow from records: damaged ones would only be named twice
        views = _views(vault, watch, is_last=not bad)
        bad += views or lost_drafts(vault)
    notes = _notes(vault) if not bad else ()
    more = (_ONLY_READ,) if not is_kept else _left(vault) if not bad else ()
    return FsckReport(not bad, scan.records, tuple(bad), notes=(*notes, *more))


def _refuses(vault: Vault) -> list[BadThing]:
    """Name a store that SQLite opens for reading only though its file can be written: it goes by two of its bytes."""
    if not os.access(vault.store.path, os.W_OK):
        return []
    try:
        # `BEGIN IMMEDIATE` would begin to read where it cannot write.
        vault.store.db.execute("DELETE FROM last_sync WHERE 0")
    except sqlite3.OperationalError as fault:
        return [BadThing("store", "store.db", "head", _HEAD)] if kind_of(fault) == sqlite3.SQLITE_READONLY else []
    return []


def _values(vault: Vault) -> list[BadThing]:
    """Name the tables with a value that is none of its column's, or a number that no row has."""
    found = {each.table: each for each in mistyped(vault.store.db)}
    numbers = beyond(vault.store.db) if not found else []
    return [BadThing("store", table, WRONG_TYPE, _NUMBER.format(table, key)) for table, key in numbers] + [
        BadThing(
            "view" if table in DERIVED_TABLES else "store" if table in TRUTH_TABLES else "local",
            table,
            WRONG_TYPE,
            _VALUE.format(table, _TYPES[wrong.type], wrong.column),
        )
        for table, wrong in found.items()
    ]


def _audit(vault: Vault, scan: Scan) -> list[BadThing]:
    """Walk the audit chain as the bodies have it (CYB-10)."""
    try:
        verdict = verify_trail(vault, scan.audit, scan.proven)
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
    bad += [BadThing("setting", *wrong) for wrong in identity(vault)]
    bad += [BadThing("key", *wrong) for wrong in key_problems(vault)]
    bad += changed_tables(vault.store)
    bad += unreadable(vault)
    bad += damaged_rules(vault)
    bad += unreadable_notes(vault.store)
    for name in changed_readable(vault):
        message = f".vault/{READABLE}/{name} is not as lace wrote it; it is only read by people, and written anew."
        bad.append(BadThing("file", name, "changed", message))
    return bad


def changed_tables(store: Store) -> list[BadThing]:
    """Name the local tables of a store that do not hold what was written to them."""
    return [
        BadThing("local", table, "changed", f"The table {table} is not as it was written. {way_out(table)}")
        for table in guard.changed(store.db)
    ]


def _notes(vault: Vault) -> tuple[BadThing, ...]:
    """Name what a person may have meant, and damage may have done."""
    change = settings_change(vault)
    if not change:
        return ()
    hint = "If that was not you, set it again with: lace config set KEY VALUE"
    return (BadThing("setting", "config.toml", "edited", f"{change} {hint}"),)


def _left(vault: Vault) -> tuple[BadThing, ...]:
    """Name the room that whoever was cut off took; nothing is wrong for that."""
    try:
        size = sum(vault.store.packs.left())
    except OSError:  # room is all that it takes
        return ()
    return (BadThing("pack", "packs", "unnamed", _UNNAMED.format(size)),) if size else ()


def _views(vault: Vault, watch: Watch, *, is_last: bool) -> list[BadThing]:
    """Build every derived table a second time beside the store, and compare.

    Args:
        vault: whose they are.
        watch: for progress.
        is_last: whether nothing else is wrong, so that no room for them is all there is to say: it is no damage.
    """
    watch.progress(0, 0, "rebuild")
    try:
        with faults_named(vault.store.path), scratch(vault) as built:
            found = differences(built, vault.node.text, vault.founding, watch.cancelled)
    except Cancelled:
        raise
    except (LaceError, sqlite3.DatabaseError) as error:
        if is_last and isinstance(error, EnvironmentFault):
            raise
        message = f"The views cannot be built from the records: {error}"
        return [BadThing("view", "all", getattr(error, "code", "") or "unbuildable", message)]
    return [BadThing("view", table, "differs", f"The table {table} differs: {what}.") for table, what in found]
