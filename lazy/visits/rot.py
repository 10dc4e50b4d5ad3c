"""My own mailboxes on the sticks: what rotted there, and healing it (`lace fsck`; APP-13).

A mailbox is read to its last byte. What rotted there I publish anew, since nobody else writes in it.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from lazy.noted_visits import sync_command
from lazy.places.media import mailboxes_of_mine, open_medium
from lazy.places.published import distrust, published
from lazy.places.registry import Place, known_faults, places
from lazy.places.turns import turn
from lazy.visits.only_there import only_there
from lazy.visits.publish import publish_mine, settle_published
from transports.address import AddressKind, parse_stored
from transports.drop.place import Drop
from transports.errors import PlaceUnmarked, WrongDrop
from transports.index.runs import BundleRef, RunRef
from transports.layout import BEACON_NAME, BUNDLE_NAME, HEAD_NAME, REQUEST_NAME, RUN_NAME
from transports.listing import Listing
from transports.mailbox import Mailbox, MailboxMedium
from transports.medium import set_aside
from transports.publishing import unnamed_files
from transports.reading import check_bundle, read_head, read_listing
from vault.errors import Cancelled, DataError, LaceError
from vault.fsck.report import BadThing
from vault.notes.places import ORPHANS
from vault.plural import plural
from vault.records import RecordHash
from vault.vault import Vault
from vault.watch import Watch

__all__ = [
    "as_far_as_it_goes",
    "found_rotten",
    "heal",
    "not_looked_at",
    "settle",
    "tidy",
]

_NAMES = (re.escape(HEAD_NAME), re.escape(REQUEST_NAME), re.escape(BEACON_NAME), RUN_NAME.pattern, BUNDLE_NAME.pattern)
_FILES = re.compile("|".join(_NAMES))
_MISSED = {WrongDrop.code, PlaceUnmarked.code}  # at such a host no visit finds the place
_LOST = (
    "My mailbox on {} is whole again without {} of files that you let go of, which could not be read any more: with"
    " lace fetch a sync asks everybody else for them."
)
_LOOKS = 3  # at a mailbox of mine that a sync of mine changes meanwhile


@contextmanager
def as_far_as_it_goes() -> Iterator[None]:
    """Leave what fails as it is, for the check that follows to name; who stops the repair stops all of it."""
    try:
        yield
    except Cancelled:
        raise
    except LaceError:
        return


def found_rotten(vault: Vault, watch: Watch) -> Iterator[tuple[Place, MailboxMedium, list[BadThing]]]:
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


def not_looked_at(vault: Vault) -> Iterator[BadThing]:
    """Yield the places where something of mine lies that no check looked at: git hosts, and what is not in reach.

    Of a host at which no visit finds the place any more it is said what the last one met, and what the way out is.
    """
    faults = known_faults(vault)
    for place in places(vault):
        if published(vault, place.place_id, place.name) is None:
            continue
        fault = faults.get(place.name)
        if place.kind == AddressKind.GIT and fault is not None and fault.code in _MISSED:
            message = f"{place.name} was not looked at: {fault.message} {fault.hint}"
            yield BadThing("place", place.name, "not-looked-at", message)
        elif place.kind == AddressKind.GIT:
            message = (
                f"{place.name} is a git place, which this does not look at: {sync_command(place.name)} finds what is"
            )
            yield BadThing("place", place.name, "not-looked-at", f"{message} lost there, and brings it again.")
        elif place.kind == AddressKind.DROP:
            try:
                open_medium(vault, replace(place, home=None)).check()
            except LaceError as error:
                message = f"{place.name} was not looked at: {error.message} {error.hint}"
                yield BadThing("place", place.name, "not-looked-at", message)


def _steady_rot(vault: Vault, place: Place, medium: MailboxMedium, watch: Watch) -> list[BadThing]:
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


def _head_mark(vault: Vault, medium: MailboxMedium) -> object:
    """Return what tells my head there from every other one, or why it cannot be read."""
    try:
        seen = read_head(Mailbox(medium, vault.group, vault.node))
    except LaceError as error:
        return error.message
    return seen and seen.mark


def _rot(vault: Vault, place: Place, medium: MailboxMedium, watch: Watch) -> Iterator[BadThing]:
    where = f"my mailbox on {place.name}"
    mailbox = Mailbox(medium, vault.group, vault.node)
    try:
        head = read_head(mailbox)
        if head is None:
            return
        listing = read_listing(mailbox, head.head)
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
            with mailbox.open_file(ref.name) as file:
                index = check_bundle(medium, file)
            problem = "" if index.digest == ref.digest else "it is not the file that was written."
        except LaceError as error:
            problem = error.message
        if problem:
            name = f"{place.name}/{ref.name}"
            yield BadThing("place", name, "bundle-damaged", f"In {where}, {ref.name} is damaged: {problem}")


def heal(vault: Vault, watch: Watch) -> tuple[list[BadThing], list[BadThing]]:
    """Publish my mailbox anew where it rotted; return what is whole again, and what is not.

    What only a damaged bundle has of what a prune let go of is carried over as far as it can be read, before that
    bundle goes (CLAY-79).

    Raises:
        Cancelled: the person stopped it.
    """
    healed, rotten = [], []
    for place, medium, noticed in found_rotten(vault, watch):
        found, left, lost = noticed, {bad.name for bad in noticed}, list[BadThing]()
        with as_far_as_it_goes(), turn(vault, place, watch):
            found = list(_rot(vault, place, medium, watch))  # another visit may have been there since
            left = {bad.name for bad in found}
            if not found:
                continue
            names = [bad.name.removeprefix(f"{place.name}/") for bad in found if "/" in bad.name]
            at_stake = _only_in(vault, medium, names)
            writer = medium.writer(vault.group, vault.node)
            _clear(vault, place, medium)
            if not at_stake:  # else not before what it has is elsewhere, for which the stick needs room
                writer.discard(names)
            with vault.writing(receiving=True) as w:
                distrust(w, medium.place_id, place.name, is_rotten=True)
            publish_mine(vault, medium, watch, name=place.name, rotten=names if at_stake else ())
            left = {bad.name for bad in _rot(vault, place, medium, watch)}
            lost = _lost(vault, place, medium, at_stake)
        named = left | {bad.name for bad in lost}
        healed += [bad for bad in found if bad.name not in named]
        rotten += [*(bad for bad in found if bad.name in left), *lost]
    return healed, rotten


def _only_in(vault: Vault, medium: MailboxMedium, names: Collection[str]) -> dict[RecordHash, str]:
    """Return what some bundles of my mailbox are listed to hold and this vault has no more, each with its bundle."""
    mailbox = Mailbox(medium, vault.group, vault.node)
    head = read_head(mailbox) if names else None
    if head is None:
        return {}
    listing = read_listing(mailbox, head.head)
    found: dict[RecordHash, str] = {}
    for ref in listing.bundles():
        if ref.mailbox == vault.node and ref.name in names:
            lies = Listing([listing.only(listing.of_bundles([ref]))])
            found.update(dict.fromkeys(only_there(vault, lies), ref.name))
    return found


def _lost(vault: Vault, place: Place, medium: MailboxMedium, at_stake: Mapping[RecordHash, str]) -> list[BadThing]:
    """Name the bundles of which something is listed no more that lay in no other of my mailbox, and nowhere here."""
    mailbox = Mailbox(medium, vault.group, vault.node)
    head = read_head(mailbox) if at_stake else None
    listing = read_listing(mailbox, head.head) if head is not None else Listing([])
    gone = Counter(bundle for record, bundle in at_stake.items() if record not in listing)
    return [
        BadThing("place", f"{place.name}/{bundle}", "let-go-lost", _LOST.format(place.name, plural(count, "record")))
        for bundle, count in gone.items()
    ]


def _clear(vault: Vault, place: Place, medium: MailboxMedium) -> None:
    """Set directories aside that stand where a file of my mailbox belongs; what is in them is nobody's to delete."""
    path = parse_stored(place.uri).path
    if path is None:
        return
    for mailbox in mailboxes_of_mine(vault, Drop.open(path), medium):
        with suppress(OSError):  # what cannot be moved stays in the way, and is named
            for entry in list(os.scandir(mailbox)):
                if _FILES.fullmatch(entry.name):
                    set_aside(Path(entry.path))


def settle(vault: Vault, *, is_torn: bool) -> None:
    """Take note of what the sticks in reach have of me: a repair lets no cursor stand, and yet it does not wait.

    A mailbox of mine that lists what is missing here is read by the next sync like one that somebody else wrote.

    Args:
        vault: whose mailboxes.
        is_torn: whether something was damaged here; what lies where only a sync looks may have it then.
    """
    for place in places(vault):
        if place.kind == AddressKind.DROP:
            with suppress(LaceError), closing(open_medium(vault, place)) as medium:
                if _lists_lost(vault, medium):
                    _read_again(vault, place)
                else:
                    settle_published(vault, medium, place.name)
        elif is_torn:
            _read_again(vault, place)


def _lists_lost(vault: Vault, medium: MailboxMedium) -> bool:
    """Tell whether my mailbox lists evidence that is not here, or what some that counts reaches and is not here."""
    mailbox = Mailbox(medium, vault.group, vault.node)
    head = read_head(mailbox)
    if head is None:
        return False
    listing = read_listing(mailbox, head.head)
    sealed = {record for record, _ in listing.items() if record.kind == "S"}
    if len(vault.store.have(sealed)) < len(sealed):
        return True
    return any(want in listing for want in vault.store.holes.all())


def _read_again(vault: Vault, place: Place) -> None:
    with vault.writing(receiving=True) as w:
        distrust(w, place.place_id, place.name)


def tidy(vault: Vault, watch: Watch) -> int:
    """Delete files of my mailboxes on the sticks in reach that nothing names; return how many.

    Where another visit is, the next repair does it: nobody waits for what does no harm. A bundle has a grace period: it
    goes only when an earlier repair saw it unnamed too, for a friend may be writing a reference to it just now.

    Raises:
        Cancelled: the person stopped it.
    """
    gone = 0
    for place in places(vault):
        if place.kind == AddressKind.DROP:
            watch.cancelled()
            with as_far_as_it_goes(), turn(vault, place, watch, seconds=0):
                gone += _tidy_place(vault, place.name, open_medium(vault, place))
    return gone


def _tidy_place(vault: Vault, name: str, medium: MailboxMedium) -> int:
    own = Mailbox(medium, vault.group, vault.node)
    runs: tuple[RunRef, ...] = ()
    mine = Listing([])
    referenced: list[BundleRef] = []
    for node in medium.nodes(vault.group):
        mailbox = Mailbox(medium, vault.group, node)
        head = read_head(mailbox)  # one that cannot be read may name anything: nothing is deleted
        if head is None:
            continue
        listing = read_listing(mailbox, head.head)
        if node == vault.node:
            runs, mine = head.head.runs, listing
        else:
            referenced += listing.bundles()
    if not runs:
        return 0
    unnamed = unnamed_files(own, runs=runs, listing=mine, referenced=referenced)
    bundles = {one for one in unnamed if BUNDLE_NAME.fullmatch(one)}
    about = f"{medium.place_id} {name}"
    seen = vault.store.note(ORPHANS, about)
    doomed = [one for one in unnamed if one not in bundles or one in seen]
    own.writer().discard(doomed)
    left = tuple(sorted(bundles.difference(doomed)))
    if seen != left:
        with vault.writing(receiving=True) as w:
            w.store.set_note(ORPHANS, left, about)
    return len(doomed)
