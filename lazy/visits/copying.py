"""Making the copies that a prune waits for in bundles of my own mailbox (CLAY-79; decision 22).

They go after everything that is new, under a head of their own: nothing that keeps them back keeps anything else back.
Their bundles hold nothing else, so whoever has let go of it, or has it already, need not fetch them.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from typing import Final

from lazy.places.no_room import forget_without_room, note_without_room, without_room
from lazy.visits.my_head import next_head, remember, shown
from lazy.visits.my_mailbox import ANEW, MyListing, MyMailbox, listing_of, my_mailbox, noted
from lazy.visits.own_copies import (
    NOTHING,
    Copies,
    Wanted,
    bytes_of,
    fitting,
    lies_in,
    not_mine,
    refused_before,
    wanted_here,
)
from lazy.visits.room import require_room_at
from lazy.visits.sending import Outgoing
from transports.address import AddressKind
from transports.errors import WRITE_REFUSALS, PlaceFull, PlaceNotWritable, PushRejected
from transports.index.runs import Run, bundles_named
from transports.listing import Listing
from transports.mailbox import Mailbox, MailboxMedium, MailboxWriter
from transports.proven import Proven
from transports.publishing import Publication, publish, recover_bundles
from transports.reading import SeenHead, read_head, read_listing
from vault.content.copies import drop_wanted, wanted_copies
from vault.errors import DataError, PeerError, PlaceError
from vault.notes.places import WithoutRoom
from vault.records import RecordHash
from vault.vault import Vault
from vault.watch import Watch

__all__ = ["clear_unnamed", "copy_wanted"]

_WHY: Final = 300  # characters of what a place says


def copy_wanted(vault: Vault, medium: MailboxMedium, name: str, watch: Watch, *, since: int) -> Outgoing:
    """Copy what a prune waits for into my mailbox on the place of that name; costs nothing where there is nothing.

    Where there is no room for it, or the place refuses it, it stays noted, for a place that takes it.

    Args:
        vault: whose mailbox it is.
        medium: where it lies, with all that is new.
        name: of the place.
        watch: progress and cancel.
        since: the number of the exposure log after which this visit counted what it sent.

    Raises:
        DataError: an index run of mine is damaged.
        PlaceError: the medium went away.
        Cancelled: the person stopped it.
    """
    if not wanted_copies(vault.store):
        return Outgoing(0, 0)
    mine = my_mailbox(vault, medium, name)
    if mine.head is None or not mine.trusted:  # another process wrote there just now
        return Outgoing(0, 0)
    wanted = wanted_here(vault, mine)
    if (known := refused_before(vault, medium, name, wanted)) is not None:
        return Outgoing(0, 0, waited=known.waited, why=known.why)
    try:
        done = _copied(vault, medium, name, mine, mine.head, wanted, watch, since)
    except WRITE_REFUSALS as refusal:
        part = _some(vault, medium, name, watch, since) if isinstance(refusal, PlaceFull) else Outgoing(0, 0)
        if part.number:
            mine = my_mailbox(vault, medium, name)
            wanted = wanted_here(vault, mine)
        return part.and_then(_waits(vault, medium, name, mine, wanted, refusal))
    if without_room(vault.store, name) is not None:
        with vault.writing(receiving=True) as w:
            forget_without_room(w, name)
    return done


def _some(vault: Vault, medium: MailboxMedium, name: str, watch: Watch, since: int) -> Outgoing:
    """Copy what fits of what did not fit as a whole, where the place tells its room; as `copy_wanted`."""
    with suppress(PlaceNotWritable):
        clear_unnamed(vault, medium)
    mine = my_mailbox(vault, medium, name)
    free = medium.free_bytes(vault.group, vault.node) if medium.tells_room else None
    part = fitting(vault, mine, wanted_here(vault, mine), free) if free is not None else NOTHING
    if not part.records or mine.head is None or not mine.trusted:
        return Outgoing(0, 0)
    try:
        return _copied(vault, medium, name, mine, mine.head, part, watch, since)
    except WRITE_REFUSALS:
        return Outgoing(0, 0)


def _waits(
    vault: Vault, medium: MailboxMedium, name: str, mine: MyMailbox, wanted: Wanted, refusal: PlaceError
) -> Outgoing:
    """Take note of copies that a place did not take, unless the next visit may find it otherwise; return what waits.

    What else goes there went before, and is told as such.
    """
    with suppress(PlaceNotWritable):
        clear_unnamed(vault, medium)  # the room is worth more than what nobody finds there
    needed = bytes_of(wanted)
    waited = sum(one.size for one in not_mine(wanted, listing_of(vault, medium, mine), vault.node).values())
    is_full = isinstance(refusal, PlaceFull)
    why = "" if is_full else refusal.message[:_WHY]
    if why and not waited:  # nothing would tell of it
        raise refusal
    # A push that met another one may go the next time; a medium that takes nothing costs nothing.
    if is_full or (isinstance(refusal, PushRejected) and not refusal.is_passing):
        free = medium.free_bytes(vault.group, vault.node)
        if not medium.tells_room and free is not None and (free >= needed or why):
            free = None  # that is what this machine has, and the host is full
        with vault.writing(receiving=True) as w:
            note_without_room(w, name, WithoutRoom(needed, waited, free, vault.around.now_ns(), why))
    return Outgoing(0, 0, waited=waited, why=why)


def _copied(
    vault: Vault,
    medium: MailboxMedium,
    name: str,
    mine: MyMailbox,
    head: SeenHead,
    wanted: Wanted,
    watch: Watch,
    since: int,
) -> Outgoing:
    """Write copies, show them, and take note of which lie there then; as `copy_wanted`."""
    known = MyListing(vault, medium, mine, Proven())
    listing = known.whole() if wanted.records else Listing([])
    # What is newer is not listed yet, and goes with the next visit.
    shared = {record: one for record, one in wanted.records.items() if one.at <= mine.at}
    waited = {record: one for record, one in shared.items() if not lies_in(listing, record, vault.node)}
    unnamed = Listing(_unnamed(vault, medium, listing)) if waited else Listing([])
    left = frozenset(record for record in waited if record in unnamed)  # by a visit that was cut off
    lacking = {record: one for record, one in waited.items() if record not in left}
    require_room_at(vault, medium, (mine.at, mine.at), 0, sum(one.least for one in lacking.values()))
    made, rest = left, mine.rest
    if waited:
        copies = Copies(vault, lacking)
        found = [unnamed.only(left)] if left else []
        done = publish(
            known.mailbox,
            writer := known.mailbox.writer(),
            runs=known.runs,
            listing=listing,
            additions=copies,
            references=found,
            are_copies=True,
            cancel=watch.is_stopped,
        )
        made |= copies.made
        used = bundles_named(found)
        rest = rest._replace(files=rest.files | noted(done.bundles) | noted(used))
        head = _shown(vault, medium, name, mine, head, done, writer)
    there = [one for record, one in shared.items() if record in made or record not in waited]
    copied = known.copied_with((one.at - 1, one.at) for one in there)
    remember(vault, medium, name, head, mine.at, rest._replace(copied=copied))
    if len(there) == len(wanted.records):
        with vault.writing(receiving=True) as w:
            drop_wanted(w, wanted.contents)
    count = sum(waited[record].at <= since for record in made)
    return Outgoing(count, 0, len(made - left), head.head.number)


def _shown(
    vault: Vault,
    medium: MailboxMedium,
    name: str,
    mine: MyMailbox,
    head: SeenHead,
    done: Publication,
    writer: MailboxWriter,
) -> SeenHead:
    """Show what was written by a head that says of the log what the one before said; return the head that is there."""
    following = next_head(vault, medium, name, mine, done, head.head.vector)
    if following is None:
        return head
    sealed = shown(vault, writer, following)
    writer.verify_written()
    writer.discard(done.obsolete)
    return SeenHead(following, sealed)


def clear_unnamed(vault: Vault, medium: MailboxMedium) -> bool:
    """Delete the bundles of my mailbox that no head names and that hold nothing but copies for a prune; tell of any.

    A visit that was cut off left them, or one that had no room for the last. All that they hold is here.
    """
    wanted = wanted_here(vault, ANEW).records
    mailbox = Mailbox(medium, vault.group, vault.node)
    try:
        head = read_head(mailbox) if wanted else None
        listing = read_listing(mailbox, head.head) if head is not None else Listing([])
    except (DataError, PeerError):
        return False
    runs = _unnamed(vault, medium, listing) if head is not None else ()
    names = [bundle.name for run in runs if _holds_only(run, wanted) for bundle in run.named() if bundle is not None]
    if names:
        mailbox.writer().discard(names)
    return bool(names)


def _holds_only(run: Run, wanted: Collection[RecordHash]) -> bool:
    return all(record in wanted for record, _ in Listing([run]).items())


def _unnamed(vault: Vault, medium: MailboxMedium, listing: Listing) -> tuple[Run, ...]:
    """Return what whole bundles of my mailbox hold that nothing names, where what was cut off leaves some."""
    if medium.kind != AddressKind.DROP:
        return ()
    return recover_bundles(Mailbox(medium, vault.group, vault.node), listing)
