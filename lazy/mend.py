"""Finding damage that only the places show, and healing what they can heal (`lace fsck`; APP-13, CYB-11).

`vault.fsck` makes anew what follows from the records. What it had to put aside is fetched here from whichever place
has it, and taken only if its bytes are the very record that is missing. My own mailbox on a stick is read to its last
byte too: what rotted there I publish anew, since nobody else writes in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from lazy.places import Place, places
from lazy.publish import publish_mine
from lazy.sealing import open_medium
from transports.address import AddressKind
from transports.layout import BUNDLE_NAME
from transports.listing import Listing
from transports.mailbox import MailboxPlace
from transports.publishing import unnamed_files
from transports.reading import check_bundle, fetch, read_head, read_mailbox
from transports.runs import BundleRef, RunRef
from vault.errors import Cancelled, DataError, LaceError
from vault.fsck import BadThing, FsckReport, check, repair
from vault.records import Plex, RecordHash, Seal, parse_record
from vault.vault import Vault
from vault.work import Watch

__all__ = ["examine", "mend"]

_ORPHANS = "orphans "  # setting of the store: bundles of mine on a place that nothing named at the last repair


def examine(vault: Vault, *, watch: Watch = Watch()) -> FsckReport:
    """Look at the vault, and at my own mailboxes on the sticks in reach, and change nothing.

    Raises:
        Locked, Cancelled: as `vault.fsck.check`.
    """
    report = check(vault, watch=watch)
    rotten = tuple(bad for _, _, found in _rotten(vault, watch) for bad in found)
    return replace(report, ok=report.ok and not rotten, bad=(*report.bad, *rotten))


def mend(vault: Vault, *, watch: Watch = Watch()) -> FsckReport:
    """Make anew what follows from the records, fetch records that were damaged, publish anew what rotted.

    What was done stands in the audit trail. What no place in reach has is named, and stays put aside.

    Raises:
        Locked, Cancelled, StoreUnwritable, NotWritable, DiskFull, StoreDamaged: as `vault.fsck.repair`.
    """
    done = repair(vault, watch=watch)
    fetched = _fetch(vault, done.lost, watch)
    healed = _heal(vault, watch)
    tidied = _tidy(vault)
    lost = [record for record in done.lost if record not in fetched]
    missing = tuple(
        BadThing("record", record.text, "lost", f"No place in reach has the record {record}; sync when one has.")
        for record in lost
    )
    if done.repaired or healed or tidied:
        with suppress(LaceError), vault.writing() as w:  # a vault that may not sign yet says so at the next sync
            w.audit(
                "lace-repair",
                vault.name,
                {
                    "repaired": str(len(done.repaired)),
                    "fetched": str(len(fetched)),
                    "lost": str(len(lost)),
                    "tidied": str(tidied),
                    "published": ", ".join(bad.name for bad in healed) or "nothing",
                },
                relates_to=[record.text for record in (*sorted(fetched, key=str), *lost)][:64],
            )
    after = check(vault, watch=watch)
    bad = (*after.bad, *missing)
    return FsckReport(not bad, after.records, bad, (*done.repaired, *healed), done.lost)


def _fetch(vault: Vault, wanted: Sequence[RecordHash], watch: Watch) -> set[RecordHash]:
    """Fetch records from any place and any mailbox there; return those that are here again."""
    found: set[RecordHash] = set()
    for place in places(vault) if wanted else ():
        with suppress(LaceError):
            for record in _offered(vault, open_medium(vault, place), [r for r in wanted if r not in found], watch):
                with vault.writing(receiving=True) as w:
                    w.put([record])
                found.add(record.hash)
    return found


def _offered(vault: Vault, medium: MailboxPlace, wanted: Sequence[RecordHash], watch: Watch) -> Iterator[Seal | Plex]:
    """Yield verified records that some mailbox of a place has."""
    left = set(wanted)
    for node in medium.nodes(vault.group) if left else ():
        watch.cancelled()
        try:
            head = read_head(medium, vault.group, node)
            if head is None:
                continue
            listing = read_mailbox(medium, vault.group, node, head.head)
            for fetched in fetch(
                medium, vault.group, listing, [r for r in left if r in listing], here=vault.store.stored
            ):
                if fetched.record is None:
                    continue
                record = parse_record(fetched.record)
                if record.hash == fetched.hash and isinstance(record, Seal | Plex):
                    left.discard(record.hash)
                    yield record
        except Cancelled:
            raise
        except LaceError:
            continue  # another mailbox may have it


def _rotten(vault: Vault, watch: Watch) -> Iterator[tuple[Place, MailboxPlace, list[BadThing]]]:
    """Yield the sticks in reach with what is wrong in my mailbox there."""
    for place in places(vault):
        if place.kind != AddressKind.DROP:  # git proves its own objects
            continue
        try:
            medium = open_medium(vault, place)
        except LaceError:
            continue
        found = list(_rot(vault, place, medium, watch))
        if found:
            yield place, medium, found


def _rot(vault: Vault, place: Place, medium: MailboxPlace, watch: Watch) -> Iterator[BadThing]:
    where = f"my mailbox on {place.name}"
    try:
        head = read_head(medium, vault.group, vault.node)
        if head is None:
            return
        listing = read_mailbox(medium, vault.group, vault.node, head.head)
    except DataError as error:
        yield BadThing("place", place.name, error.code, f"In {where}: {error.message}")
        return
    except LaceError:
        return  # the stick went away
    for ref in listing.bundles():
        if ref.mailbox != vault.node:
            continue
        watch.cancelled()
        try:
            with medium.open_file(vault.group, vault.node, ref.name) as file:
                index = check_bundle(medium, file)
            problem = "" if index.digest == ref.digest else "it is not the file that was written."
        except LaceError as error:
            problem = error.message
        if problem:
            name = f"{place.name}/{ref.name}"
            yield BadThing("place", name, "bundle-damaged", f"In {where}, {ref.name} is damaged: {problem}")


def _heal(vault: Vault, watch: Watch) -> list[BadThing]:
    """Publish my mailbox anew where it rotted; return what is whole again."""
    healed = []
    for place, medium, found in list(_rotten(vault, watch)):
        with suppress(LaceError):
            writer = medium.writer(vault.group, vault.node)
            writer.discard([bad.name.removeprefix(f"{place.name}/") for bad in found if "/" in bad.name])
            with vault.writing(receiving=True) as w:
                # The number stays: a head never goes back (architecture, decision 4).
                w.store.run("UPDATE published SET head = x'', at = 0 WHERE place_id = ?", medium.place_id)
            publish_mine(vault, medium, watch)
            left = {bad.name for bad in _rot(vault, place, medium, watch)}
            healed += [bad for bad in found if bad.name not in left]
    return healed


def _tidy(vault: Vault) -> int:
    """Delete files of my mailboxes on the sticks in reach that nothing names; return how many.

    A bundle has a grace period: it goes only when an earlier repair saw it unnamed too, for a friend may be writing a
    reference to it just now.
    """
    gone = 0
    for place in places(vault):
        if place.kind == AddressKind.DROP:
            with suppress(LaceError):
                gone += _tidy_place(vault, open_medium(vault, place))
    return gone


def _tidy_place(vault: Vault, medium: MailboxPlace) -> int:
    runs: tuple[RunRef, ...] = ()
    mine = Listing([])
    referenced: list[BundleRef] = []
    for node in medium.nodes(vault.group):
        head = read_head(medium, vault.group, node)  # one that cannot be read may name anything: nothing is deleted
        if head is None:
            continue
        listing = read_mailbox(medium, vault.group, node, head.head)
        if node == vault.node:
            runs, mine = head.head.runs, listing
        else:
            referenced += listing.bundles()
    if not runs:
        return 0
    unnamed = unnamed_files(medium, vault.group, vault.node, runs=runs, listing=mine, referenced=referenced)
    bundles = {name for name in unnamed if BUNDLE_NAME.fullmatch(name)}
    seen = _ORPHANS + medium.place_id
    doomed = [name for name in unnamed if name not in bundles or name in vault.store.meta(seen).split()]
    medium.writer(vault.group, vault.node).discard(doomed)
    if vault.store.meta(seen).split() != sorted(bundles.difference(doomed)):
        with vault.writing(receiving=True) as w:
            w.store.set_meta(seen, " ".join(sorted(bundles.difference(doomed))))
    return len(doomed)
