"""A vault's derived tables made anew from its records, and damaged records put aside (architecture, decision 3).

It deletes no record that is whole, but for the numbers of drafts that stand on what is lost (`vault.fsck.drafts`); one
whose bytes are damaged is put aside under `.vault/damaged`, so that the next sync fetches it again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress

from vault.errors import DataError
from vault.files import NotWritable, make_directory, write_atomic
from vault.fsck.bodies import INTEGRITY, ROW, Scan, is_beyond, name_of, scan_bodies
from vault.fsck.check import changed_tables, check
from vault.fsck.drafts import let_go_of_drafts, told_of
from vault.fsck.folders import settle_folders
from vault.fsck.identity import require_node, settle_identity, settle_instance
from vault.fsck.notes import settle_notes
from vault.fsck.own import settle_conflicts, settle_local, settle_mark
from vault.fsck.report import FsckReport
from vault.fsck.rules import settle_rules
from vault.fsck.scratch import scratch
from vault.fsck.unopened import DAMAGED
from vault.lock import LOCK_SECONDS
from vault.notes.own import EPOCH, NODE, PUT_ASIDE
from vault.records import RecordHash
from vault.settings_file import restore_settings
from vault.store import Store, packcheck
from vault.store.carve_places import carve_places
from vault.store.database import StoreDamaged
from vault.store.numbers import renumber
from vault.store.packmend import mend_frames
from vault.store.salvage import copy_missing, copy_readable, keep_whole, missing_names
from vault.store.schema import SCHEMA_VERSION, form_of, lay_out_as, migrate
from vault.store.values import TRUTH_TABLES, retype
from vault.vault import Vault
from vault.watch import Watch

__all__ = [
    "REJOIN",
    "forget_put_aside",
    "put_aside",
    "repair",
    "was_put_aside",
]

REJOIN = "Move the .vault directory away, join again with: lace accept INVITE, and sync."


def repair(vault: Vault, *, watch: Watch = Watch()) -> FsckReport:
    """Make every derived table anew from the records, and put damaged records aside.

    The store gets a new epoch, so that cursors which counted by the old state are not believed. Packs that a prune left
    go where nothing was damaged. Lost drafts go that a report has told of, unless a repair was cut off since.

    Raises:
        Locked, Cancelled: as `check`.
        StoreUnwritable, NotWritable, DiskFull: it cannot be written; nothing was changed.
        StoreDamaged: the file itself is beyond what can be made anew from its records, or nothing tells whose it is.
    """
    with vault.lock.held(timeout=LOCK_SECONDS):
        before = check(vault, watch=watch)
        for thing in before.bad:
            if is_beyond(thing):
                raise StoreDamaged(thing.message, hint=REJOIN)
        with _file_anew(vault) if any(thing.code == INTEGRITY for thing in before.bad) else nullcontext():
            require_node(vault)
            # Where a page rotted, a check may have come to an end before it asked what is lost of them.
            changed = [thing for thing in changed_tables(vault.store) if thing not in before.bad]
            told = told_of(vault, (*before.bad, *changed))
            asked = told if told and not was_put_aside(vault) else ()  # or nobody has looked yet for what was lost
            lost = _make_anew(vault, watch)
        let_go_of_drafts(vault, asked, watch)  # not what was lost just now: a place may have it
        restore_settings(vault, DAMAGED)
        settle_mark(vault)
        if before.ok:  # or what is no longer named may be what was damaged
            with suppress(NotWritable):  # only room is lost, and the next prune says so
                vault.store.packs.clear()
        after = check(vault, watch=watch)
    left = {(thing.kind, thing.name) for thing in after.bad}
    gone = tuple(thing for thing in (*before.bad, *changed) if (thing.kind, thing.name) not in left)
    return FsckReport(after.ok, after.records, after.bad, gone, lost, after.notes)


def put_aside(vault: Vault) -> tuple[RecordHash, ...]:
    """Return what a repair took out and is missing still; until `forget_put_aside` says that it was looked for."""
    return tuple(record for record in vault.store.note(PUT_ASIDE) if vault.store.position(record) is None)


def was_put_aside(vault: Vault) -> bool:
    """Tell whether a repair took something out, and has not come to its end since."""
    return bool(vault.store.note(PUT_ASIDE))


def forget_put_aside(vault: Vault) -> None:
    """Say that what was put aside was looked for everywhere."""
    if was_put_aside(vault):
        with vault.writing(receiving=True) as w:
            w.store.set_note(PUT_ASIDE, ())


@contextmanager
def _file_anew(vault: Vault) -> Iterator[None]:
    """Let the block repair a new store with all that can be read of the vault's, which then becomes its copy.

    In one step and last of all: a file without views would tell every command that nothing was ever shared here.
    """
    live = vault.store
    with scratch(vault, whole=True) as made:
        if (form := form_of(live.db)) < SCHEMA_VERSION:
            lay_out_as(made.db, form)
        with made.transaction():
            is_whole = copy_readable(live.db, made.db)
            if (missing := missing_names(live.db, made.db)) or not is_whole:
                whole = vault.dot / DAMAGED / live.path.name
                keep_whole(live.db, whole)
                copy_missing(live.db, made.db, missing, whole)
                carve_places(made.db, made.packs, whole)
        migrate(made.db)
        vault.store = made
        try:
            yield
        finally:
            vault.store = live
        live.become(made.db)


def _make_anew(vault: Vault, watch: Watch) -> tuple[RecordHash, ...]:
    """Put aside what is damaged and make the views anew; return the names of what was put aside."""
    store = vault.store
    lost: list[RecordHash] = []
    kept: set[str] = set()  # names of files
    with store.transaction():
        retype(store.db, TRUTH_TABLES)  # before anybody reads them
        renumber(store.db)
    scan = scan_bodies(vault, watch)
    if scan.bad:  # what is only said of a record wrongly costs it nothing
        with store.transaction():
            mend_frames(store.db, store.packs, {*scan.damaged, *(p for p, _ in scan.misnamed)})
        scan = scan_bodies(vault, watch)
    for p in scan.damaged:
        row = store.db.execute(f"{ROW} WHERE p = ?", (p,)).fetchone()
        if row is None:  # of which only the place in a pack is left
            continue
        name = name_of(row[1], row[2], p).replace(" ", "-")
        _keep(vault, p, name, row[3], kept)
        with suppress(DataError):
            lost.append(RecordHash.parse(name))
    try:
        with store.transaction():
            rotten = settle_local(store)
            settle_identity(vault)
            _put_right(store, scan)
            lost += [record for record in put_aside(vault) if record not in lost]
            store.set_note(PUT_ASIDE, tuple(lost))
            packcheck.put_right(store.db, store.packs)
            store.rebuild(store.note(NODE), vault.founding, watch.cancelled)
            settle_instance(vault)
            settle_conflicts(store, rotten)
            settle_folders(vault, rotten)
            settle_rules(vault, rotten)
            settle_notes(store)
            store.run("DELETE FROM exposure WHERE p NOT IN (SELECT p FROM shared)")
            # What was read to its end is read again: something that lay there may be missing here now, and unnoticed.
            store.run("UPDATE seen SET whole = 0")
            store.run("UPDATE live SET at = 0")
            store.set_note(EPOCH, vault.around.entropy(16).hex())
    except sqlite3.DatabaseError as fault:
        raise StoreDamaged(
            f"The store of the vault in {vault.folder} cannot be repaired ({fault}).",
            hint=REJOIN,
        ) from fault
    return tuple(lost)


def _keep(vault: Vault, p: int, name: str, stored: bytes, kept: set[str]) -> None:
    """Keep what lies there of a damaged record as files: itself, and once its frame with what that rests on.

    What was cut out of a frame may have been cut out wrongly. Before the transaction, so that no byte is lost whatever
    happens; a pack that is gone leaves nothing to keep.
    """
    for file, data in [(f"{p}-{name}.rec", stored), *packcheck.remains(vault.store.db, vault.store.packs, p)]:
        if data and file not in kept:
            make_directory(vault.dot / DAMAGED)
            write_atomic(vault.dot / DAMAGED / file, data)
            kept.add(file)


def _put_right(store: Store, scan: Scan) -> None:
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
