"""What of a mailbox's listing the machine looks at together: all of it, or what is missing of a large one, in parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from lazy.interlace.plan import GROUP_SHARED
from lazy.receiving.receive import Receiver
from transports.listing import Listing
from vault.desks.pages import kept
from vault.profile import TREE_APP
from vault.records import RecordHash

__all__ = ["parts_of"]

_PART_RECORDS = 10_000  # of a listing, that the machine looks at together
_MANY = 150_000  # records: pages of more files are not kept all
_LOOK_RECORDS = 2_000  # looked up at once
_HOLES = 20_000  # records that are reached and missing, which are looked for together: 5 MB


def parts_of(
    listing: Listing, operand: str, receiver: Receiver, *, is_scoped: bool
) -> Iterator[tuple[dict[RecordHash, str], bool]]:
    """Yield what is listed as hash and App: whole, or what is missing here of a large listing, a part at a time.

    With each comes whether all of it is missing here and reached.

    What the machine knows of a record takes a kilobyte, so that a million of them would not fit into memory. The
    group's own policy judges each record by itself, so parts give what the whole would; evidence comes first,
    then trees, then content as it is reached.

    Args:
        listing: what the mailbox lists.
        operand: the policy module that its head names.
        receiver: takes what the machine asked for of a part before the next one is looked for.
        is_scoped: whether less is fetched than everything.
    """
    if len(listing) <= _PART_RECORDS or operand != GROUP_SHARED.id:
        yield dict(listing.items()), False
        return
    yield from _missing(listing, receiver, lambda kind, _app: kind == "S")
    # In a scope a tree is asked for once the one above it is here, which may be of another part.
    if not is_scoped:
        yield from _missing(listing, receiver, lambda kind, app: kind != "S" and app == TREE_APP)
    if len(listing) > _MANY:
        kept.forget()  # more pages came than are kept, and content has none
    before = -1
    while before != len(receiver.received) and receiver.holes.any():
        before = len(receiver.received)
        yield from _missing(
            listing, receiver, lambda kind, app: kind != "S" and (is_scoped or app != TREE_APP), reached=True
        )


def _missing(
    listing: Listing, receiver: Receiver, belongs: Callable[[str, str], bool], *, reached: bool = False
) -> Iterator[tuple[dict[RecordHash, str], bool]]:
    part: dict[RecordHash, str] = {}
    holes = receiver.holes.all_up_to(_HOLES) if reached else None
    entries = (entry for entry in listing.by_place(belongs) if holes is None or entry[0] in holes)
    while some := dict(islice(entries, _LOOK_RECORDS)):
        if holes is None:
            left = receiver.holes.among(some) if reached else some.keys() - receiver.vault.store.have(some)
            some = {record: app for record, app in some.items() if record in left}
        part.update(some)
        if len(part) >= _PART_RECORDS:
            yield part, reached
            part = {}
    if part:
        yield part, reached
