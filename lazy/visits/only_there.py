"""What a mailbox of mine lists and this vault has no more: content that a prune let go of (CLAY-79; decision 22).

The exposure log says nothing of it, so a mailbox that is filled from that alone would be without it, and where the one
before goes away the last copy may go with it. Whoever writes one anew carries it over, record by record.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from itertools import islice
from typing import NamedTuple

from transports.index.runs import Run
from transports.listing import Listing
from transports.mailbox import HidesPlain, Mailbox, MailboxMedium
from transports.publishing import Addition, recover_bundles
from transports.reading import BasesFrom, fetch, read_head, read_listing
from vault.errors import DataError, PeerError
from vault.profile import CONTENT_APPS
from vault.records import RecordHash
from vault.vault import Vault

__all__ = ["Carried", "carried", "going_away", "only_there"]

_ASKED_TOGETHER = 10_000  # records that the store is asked for at once


class Carried(NamedTuple):
    """What is carried over into the mailbox that stays.

    Args:
        references: what lies in it already, in bundles that no head names.
        copied: yields what is read where it lay, and written again; one frame at a time is in memory.
    """

    references: tuple[Run, ...]
    copied: Iterator[Addition]


def only_there(vault: Vault, listing: Listing) -> dict[RecordHash, str]:
    """Return hash and App of the content that a listing names and that is not here, in the order in which it lies."""
    found: dict[RecordHash, str] = {}
    rows = listing.by_place(lambda _kind, app: app in CONTENT_APPS)
    while some := dict(islice(rows, _ASKED_TOGETHER)):
        here = vault.store.have(some)
        found.update((record, app) for record, app in some.items() if record not in here)
    return found


def going_away(vault: Vault, medium: MailboxMedium, *, is_anew: bool) -> list[Listing]:
    """Return what those mailboxes of mine list that a visit takes away: the plain one, and one that is written anew.

    Where that cannot be read it is what their whole bundles hold.

    Args:
        vault: whose they are.
        medium: where they lie.
        is_anew: whether all of the mailbox is written anew.

    Raises:
        PlaceError: the medium is gone.
    """
    boxes = [Mailbox(medium, vault.group, vault.node)] if is_anew else []
    plain = medium.plain_beside(vault.group) if isinstance(medium, HidesPlain) else None
    if plain is not None:
        boxes.append(Mailbox(plain, vault.group, vault.node))
    return [listing for mailbox in boxes for listing in _listed(mailbox) if len(listing)]


def _listed(mailbox: Mailbox) -> tuple[Listing, ...]:
    """Return what a mailbox lists; where bundles of that are gone, beside it what lies in those that nothing names.

    A medium that did not keep what was to take the place of these leaves it so.
    """
    try:
        head = read_head(mailbox)
        listing = read_listing(mailbox, head.head) if head is not None else Listing([])
        files = mailbox.files() if head is not None else {}
    except (DataError, PeerError):
        return (Listing(recover_bundles(mailbox, None)),)
    gone = [one for one in listing.bundles() if one.mailbox == mailbox.node and files.get(one.name) != one.size]
    if head is not None and not gone:
        return (listing,)
    left = listing.without(listing.of_bundles(gone).items()) if gone else listing
    return left, Listing(recover_bundles(mailbox, listing))


def carried(
    vault: Vault,
    medium: MailboxMedium,
    leaving: Iterable[Listing],
    unnamed: Listing,
    listed: Collection[RecordHash] | Listing,
    cancel: Callable[[], bool],
) -> Carried:
    """Return what is carried over of what is nowhere here; what cannot be read there is lost already.

    Args:
        vault: whose mailbox it is.
        medium: where it lies.
        leaving: what the mailboxes, or parts of mine, list that go away.
        unnamed: what lies in bundles of the mailbox that stays, and no head names.
        listed: what that mailbox lists already.
        cancel: asked before each frame.
    """
    named = [record for record in only_there(vault, unnamed) if record not in listed]
    beside = frozenset(named)

    def copied() -> Iterator[Addition]:
        for listing in leaving:
            found = only_there(vault, listing)
            wanted = [record for record in found if record not in listed and record not in beside]
            bases = BasesFrom(vault.store.stored_or_none)
            for fetched in fetch(medium, vault.group, listing, wanted, cancel=cancel, bases=bases):
                if fetched.record is not None:
                    yield Addition(fetched.hash, found[fetched.hash], load=partial(bytes, fetched.record))

    return Carried((unnamed.only(named),) if named else (), copied())
