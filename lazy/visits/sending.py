"""What a visit puts on a place, settled before it begins, and counted without writing anything."""

from __future__ import annotations

from typing import NamedTuple

from lazy.places.sealing import wants_rebase
from lazy.visits.additions import exposed_sizes
from lazy.visits.my_mailbox import ANEW, MyMailbox, listing_of, my_mailbox
from lazy.visits.only_there import going_away, only_there
from lazy.visits.own_copies import NOTHING, fitting, not_mine, refused_before, wanted_here
from lazy.visits.room import Short, short_of_room
from lazy.visits.terms import vector_told
from transports.address import AddressKind
from transports.mailbox import MailboxMedium
from transports.snapshot import LogReach
from vault.errors import DataError
from vault.records import RecordHash
from vault.vault import Vault

__all__ = ["Outgoing", "Sending", "is_current", "pending", "plan_sending"]


class Outgoing(NamedTuple):
    """What publishing would put, or did put, on a place: records and their bytes, and the head written.

    `waited` are bytes of copies that a prune waits for: they go where they fit, and keep nothing else back. Before,
    they are among those that go; after, they are what had no room, or was refused for another reason: `why`.
    `damaged` are records that were left out, for their bytes here are not theirs any more.
    """

    records: int
    bytes: int
    copied: int = 0
    number: int = 0
    waited: int = 0
    why: str = ""
    damaged: frozenset[RecordHash] = frozenset()

    def and_then(self, more: Outgoing) -> Outgoing:
        """Return this and what went after it; the head is that of the last that wrote one."""
        records, size, copied = self.records + more.records, self.bytes + more.bytes, self.copied + more.copied
        damaged = self.damaged | more.damaged
        return Outgoing(records, size, copied, more.number or self.number, more.waited, more.why, damaged)


class Sending(NamedTuple):
    """What a visit puts on a place, settled before it begins: what became shared after one number up to another.

    The exposure log only grows at its end, so the two numbers name the same records whenever they are asked.

    Args:
        mine: my mailbox as it lies there.
        upto: the last number of the exposure log that goes.
        vector: what the head will say I hold: nothing beyond that number.
        is_anew: whether all of the mailbox is written again.
        name: of the place.
    """

    mine: MyMailbox
    upto: int
    vector: tuple[LogReach, ...]
    is_anew: bool
    name: str

    def short_of_room(self, vault: Vault, medium: MailboxMedium, sent: Outgoing, beside: int = 0) -> Short | None:
        """Tell whether the place surely has no room for what `amount` counted, and for more bytes beside it."""
        between = (0 if self.is_anew else self.mine.at, self.upto)
        return short_of_room(vault, medium, between, sent.bytes - sent.waited, beside)

    def amount(self, vault: Vault, medium: MailboxMedium) -> Outgoing:
        """Count what goes: records that the mailbox does not list yet, and their bytes."""
        mine = ANEW if self.is_anew else self.mine
        wanted = NOTHING if self.is_anew else wanted_here(vault, mine)
        try:
            is_read = not self.is_anew and bool(wanted.records or not mine.trusted)
            listing = listing_of(vault, medium, mine) if is_read else None
        except DataError:
            listing = None
        records = size = 0
        for record, length in exposed_sizes(vault, mine.at, self.upto):
            if listing is None or record not in listing:
                records += 1
                size += length
        for leaving in going_away(vault, medium, is_anew=self.is_anew):
            kept = [record for record in only_there(vault, leaving) if listing is None or record not in listing]
            records += len(kept)
            size += sum(one.length for _, frame in leaving.reads(kept) for one in frame.slices)
        sent = Outgoing(records, size)
        waited = not_mine(wanted, listing, vault.node)
        if not waited or refused_before(vault, medium, self.name, wanted) is not None:
            return sent
        if self.short_of_room(vault, medium, sent, sum(one.least for one in waited.values())):
            free = medium.free_bytes(vault.group, vault.node) if medium.kind == AddressKind.DROP else None
            part = fitting(vault, mine, wanted, free - sent.bytes) if free is not None else NOTHING
            waited = not_mine(part, listing, vault.node)
        more = sum(one.size for one in waited.values())
        return Outgoing(records + len(waited), size + more, waited=more)


def plan_sending(vault: Vault, medium: MailboxMedium, name: str) -> Sending:
    """Settle what `publish_mine` adds to the place of that name; writes nothing."""
    mine = my_mailbox(vault, medium, name)
    with vault.store.reading():  # the vector must not speak of a release that is not among the records read
        top, vector = vault.store.exposed(), vector_told(vault)
    return Sending(mine, top, vector, wants_rebase(vault, medium.place_id, name), name)


def is_current(vault: Vault, done: Sending) -> bool:
    """Tell whether what was published in this visit is all there is to say: nothing was shared or learned since."""
    with vault.store.reading():
        return not done.is_anew and (vault.store.exposed(), vector_told(vault)) == (done.upto, done.vector)


def pending(vault: Vault, medium: MailboxMedium, name: str) -> Outgoing:
    """Say what `publish_mine` would add to the place of that name; writes nothing."""
    return plan_sending(vault, medium, name).amount(vault, medium)
