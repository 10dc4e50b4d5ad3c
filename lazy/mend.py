"""Finding damage that only the places show, and healing what they can heal (`lace fsck`; APP-13, CYB-11).

`vault.fsck` makes anew what follows from the records. What it had to put aside is fetched here from whichever place
has it, and taken only if its bytes are the very record that is missing. My own mailbox on a stick is read to its last
byte too: what rotted there I publish anew, since nobody else writes in it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from lazy.files import write_lazy_files
from lazy.live.asking import ask_for
from lazy.places import Place, places
from lazy.publish import publish_mine, settle_published
from lazy.sealing import VaultKeys, is_encrypted, open_medium
from lazy.turns import turn
from transports.address import AddressKind, parse_address
from transports.drop import Drop
from transports.errors import NotADrop
from transports.layout import BEACON_NAME, BUNDLE_NAME, HEAD_NAME, REQUEST_NAME, RUN_NAME
from transports.listing import Listing
from transports.mailbox import MailboxPlace
from transports.marker import MARKER, marker_text
from transports.medium import set_aside
from transports.publishing import unnamed_files
from transports.reading import check_bundle, fetch, read_head, read_mailbox
from transports.runs import BundleRef, RunRef
from transports.sealed import SealedPlace
from vault.beside import was_noted
from vault.desk_folders import desks, folder_of, within
from vault.desks.worktree import snapshot
from vault.errors import Cancelled, DataError, LaceError
from vault.files import write_atomic
from vault.fsck import BadThing, FsckReport, check, forget_put_aside, put_aside, repair, was_put_aside
from vault.records import Plex, RecordHash, Seal, parse_record
from vault.vault import Vault
from vault.watch import Watch

__all__ = ["examine", "mend"]

_CUT_OFF = "The record {} was put aside, and the repair was cut off before it was looked for: lace fsck --repair"
_NAMES = (re.escape(HEAD_NAME), re.escape(REQUEST_NAME), re.escape(BEACON_NAME), RUN_NAME.pattern, BUNDLE_NAME.pattern)
_FILES = re.compile("|".join(_NAMES))
_LOOKS = 3  # at a mailbox of mine that a sync of mine changes meanwhile
_ORPHANS = "orphans "  # setting of the store: bundles of mine on a place that nothing named at the last repair


def examine(vault: Vault, *, watch: Watch = Watch()) -> FsckReport:
    """Look at the vault, and at my own mailboxes on the sticks in reach, and change nothing.

    Raises:
        Locked, Cancelled: as `vault.fsck.check`.
    """
    report = check(vault, watch=watch)
    rotten = tuple(bad for _, _, found in _rotten(vault, watch) for bad in found) + tuple(
        bad for _, bad in _markers(vault)
    )
    rotten += tuple(BadThing("record", record.text, "lost", _CUT_OFF.format(record)) for record in put_aside(vault))
    return replace(report, ok=report.ok and not rotten, bad=(*report.bad, *rotten))


def mend(vault: Vault, *, watch: Watch = Watch()) -> FsckReport:
    """Make anew what follows from the records, fetch records that were damaged, publish anew what rotted.

    What was done stands in the audit trail. What no place in reach has is named, and stays put aside.

    Raises:
        Locked, Cancelled, StoreUnwritable, NotWritable, DiskFull, StoreDamaged: as `vault.fsck.repair`.
    """
    done = repair(vault, watch=watch)
    fetched = _fetch(vault, done.lost, watch)
    fetched |= _from_folder(vault, [record for record in done.lost if record not in fetched], watch)
    healed = _heal_markers(vault)
    published, rotten = _heal(vault, watch)
    healed += published
    tidied = _tidy(vault, watch)
    _settle(vault)
    lost = [record for record in done.lost if record not in fetched]
    missing = tuple(
        BadThing(
            "record",
            record.text,
            "lost",
            f"No place in reach has the record {record}; sync when one has. What was never shared, such as an audit"
            " entry or a draft, only a backup of this vault has.",
        )
        for record in lost
    )
    if done.repaired or healed or tidied or was_put_aside(vault):
        with suppress(LaceError):  # a vault that may not sign yet says so at the next sync
            with vault.writing() as w:
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
            forget_put_aside(vault)  # not before the trail names it: of its own last entry nothing else tells
    if was_noted(vault):
        with suppress(LaceError):  # a folder that cannot be written is named by the check
            write_lazy_files(vault)
    after = check(vault, watch=watch)
    rotten += [bad for _, bad in _markers(vault)]
    bad = (*after.bad, *missing, *rotten)
    left = {(thing.kind, thing.name) for thing in bad}
    rewritten = (thing for thing in done.bad if (thing.kind, thing.name) not in left)
    return FsckReport(not bad, after.records, bad, (*done.repaired, *rewritten, *healed), done.lost, after.notes)


class _NoCache:
    """A directory cache that knows nothing, so that every file is read."""

    def load(self, directory: str, /) -> bytes | None:
        """Return nothing."""
        del directory
        return None

    def save(self, directory: str, blob: bytes, /) -> None:
        """Keep nothing."""

    def drop(self, directory: str, /) -> None:
        """Forget nothing."""


class _Wanted:
    """A sink that keeps nothing but the records that are missing."""

    def __init__(self, wanted: Iterable[RecordHash]) -> None:
        self._wanted = set(wanted)
        self.found: list[Plex] = []

    def add(self, plex: Plex, /) -> None:
        """Take a record."""
        if plex.hash in self._wanted:
            self.found.append(plex)


def _from_folder(vault: Vault, wanted: Sequence[RecordHash], watch: Watch) -> set[RecordHash]:
    """Make content anew that was never shared and whose files still lie in the folders as they were."""
    sink = _Wanted(wanted)
    for desk in desks(vault) if wanted else ():
        with _as_far_as_it_goes():
            snapshot(
                folder_of(vault, desk.name),
                group=vault.group,
                source=vault.store,
                sink=sink,
                cache=_NoCache(),
                now_ns=vault.around.now_ns(),
                cancel=watch.cancelled,
                without=within(vault, desk.name),
                probe=vault.dot / ".gitignore",
            )
    if sink.found:
        with vault.writing(receiving=True) as w:
            w.put(sink.found)
    return {plex.hash for plex in sink.found}


def _fetch(vault: Vault, wanted: Sequence[RecordHash], watch: Watch) -> set[RecordHash]:
    """Fetch records from any place and any mailbox there; return those that are here again."""
    found: set[RecordHash] = set()
    for place in places(vault) if wanted else ():
        try:
            for record in _offered_at(vault, place, [r for r in wanted if r not in found], watch):
                with vault.writing(receiving=True) as w:
                    w.put([record])
                found.add(record.hash)
        except Cancelled:
            raise
        except LaceError:
            continue  # another place may have it
    return found


def _offered_at(vault: Vault, place: Place, wanted: Sequence[RecordHash], watch: Watch) -> Iterator[Seal | Plex]:
    """Yield verified records that a place has, of whatever kind it is."""
    if place.kind in {AddressKind.LIVE, AddressKind.VAULT}:
        yield from ask_for(vault, place, wanted, watch)
    else:
        with closing(open_medium(vault, place)) as medium:
            yield from _offered(vault, medium, wanted, watch)


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
            medium = open_medium(vault, replace(place, home=None))  # every byte is read, whatever lay there before
        except LaceError:
            continue
        found = _steady_rot(vault, place, medium, watch)
        if found:
            yield place, medium, found


def _steady_rot(vault: Vault, place: Place, medium: MailboxPlace, watch: Watch) -> list[BadThing]:
    """Return what is wrong in my mailbox under a head that stayed while it was looked at.

    A sync of mine that goes on deletes what only the head before named, and that is no damage. Where one follows the
    other all the time nothing is named: the next check does it.
    """
    for _ in range(_LOOKS):
        before = _head_mark(vault, medium)
        found = list(_rot(vault, place, medium, watch))
        if not found or _head_mark(vault, medium) == before:
            return found
    return []


def _head_mark(vault: Vault, medium: MailboxPlace) -> object:
    """Return what tells my head there from every other one, or why it cannot be read."""
    try:
        seen = read_head(medium, vault.group, vault.node)
    except LaceError as error:
        return error.message
    return seen and seen.mark


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


class _Unmarked(Drop):
    """A drop whose marker is not looked at, to read what else says which one it is."""

    def check(self) -> None:
        """Take it as it is."""

    def _is_here(self) -> bool:
        return True


def _markers(vault: Vault) -> Iterator[tuple[Path, BadThing]]:
    """Yield the sticks in reach whose marker file is damaged though my own mailbox proves which stick it is."""
    for place in places(vault):
        if place.kind != AddressKind.DROP or not place.place_id:
            continue
        with suppress(LaceError):
            path = parse_address(place.uri, Path("/")).path
            if path is None or not _is_misread(path, place.place_id):
                continue
            keys = VaultKeys(vault, place.place_id, is_on=is_encrypted(vault, place))
            head = read_head(SealedPlace(_Unmarked(path, place.place_id), vault.node, keys), vault.group, vault.node)
            if head is not None and head.head.drop == place.place_id:
                message = f"The file {MARKER} on {place.name} is damaged; my mailbox there proves which stick it is."
                yield path, BadThing("place", f"{place.name}/{MARKER}", "marker-damaged", message)


def _is_misread(path: Path, place_id: str) -> bool:
    try:
        return Drop.open(path).place_id != place_id
    except NotADrop:
        return (path / MARKER).is_file()


def _heal_markers(vault: Vault) -> list[BadThing]:
    """Write damaged marker files anew; return what is whole again."""
    known = {place.name: place.place_id for place in places(vault)}
    healed = []
    for path, bad in list(_markers(vault)):
        with suppress(LaceError):
            write_atomic(path / MARKER, marker_text(known[bad.name.removesuffix(f"/{MARKER}")]))
            healed.append(bad)
    return healed


def _heal(vault: Vault, watch: Watch) -> tuple[list[BadThing], list[BadThing]]:
    """Publish my mailbox anew where it rotted; return what is whole again, and what is not."""
    healed, rotten = [], []
    for place, medium, noticed in _rotten(vault, watch):
        found, left = noticed, {bad.name for bad in noticed}
        with _as_far_as_it_goes(), turn(vault, place, watch):
            found = list(_rot(vault, place, medium, watch))  # another visit may have been there since
            left = {bad.name for bad in found}
            if not found:
                continue
            writer = medium.writer(vault.group, vault.node)
            _clear(vault, place, medium)
            writer.discard([bad.name.removeprefix(f"{place.name}/") for bad in found if "/" in bad.name])
            with vault.writing(receiving=True) as w:
                # The number stays: a head never goes back (architecture, decision 4).
                w.store.run("UPDATE published SET head = x'', at = 0 WHERE place_id = ?", medium.place_id)
            publish_mine(vault, medium, watch)
            left = {bad.name for bad in _rot(vault, place, medium, watch)}
        healed += [bad for bad in found if bad.name not in left]
        rotten += [bad for bad in found if bad.name in left]
    return healed, rotten


def _clear(vault: Vault, place: Place, medium: MailboxPlace) -> None:
    """Set directories aside that stand where a file of my mailbox belongs; what is in them is nobody's to delete."""
    path = parse_address(place.uri, Path("/")).path
    if path is None:
        return
    drop = Drop.open(path)
    mailboxes = [drop.mailbox_path(vault.group, vault.node)]
    if isinstance(medium, SealedPlace) and medium.is_sealed(vault.group):
        mailboxes.append(drop.mailbox_path(medium.room(vault.group), medium.keys.alias()))
    for mailbox in mailboxes:
        with suppress(OSError):  # what cannot be moved stays in the way, and is named
            for entry in list(os.scandir(mailbox)):
                if _FILES.fullmatch(entry.name):
                    set_aside(Path(entry.path))


@contextmanager
def _as_far_as_it_goes() -> Iterator[None]:
    """Leave what fails as it is, for the check that follows to name; who stops the repair stops all of it."""
    try:
        yield
    except Cancelled:
        raise
    except LaceError:
        return


def _settle(vault: Vault) -> None:
    """Take note of what the sticks in reach have of me: a repair lets no cursor stand, and yet it does not wait."""
    for place in places(vault):
        if place.kind == AddressKind.DROP:
            with suppress(LaceError), closing(open_medium(vault, place)) as medium:
                settle_published(vault, medium)


def _tidy(vault: Vault, watch: Watch) -> int:
    """Delete files of my mailboxes on the sticks in reach that nothing names; return how many.

    Where another visit is, the next repair does it: nobody waits for what does no harm. A bundle has a grace period: it
    goes only when an earlier repair saw it unnamed too, for a friend may be writing a reference to it just now.
    """
    gone = 0
    for place in places(vault):
        if place.kind == AddressKind.DROP:
            watch.cancelled()
            with _as_far_as_it_goes(), turn(vault, place, watch, seconds=0):
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
