"""What lies in bundles of my own mailbox on a place, and what is copied there because a prune waits for it (CLAY-79).

A mailbox names what lies in a friend's bundle on the same medium instead of copying it. That goes when the friend wants
it, so a prune lets go only of what lies in bundles of mine, and notes what does not (`vault.content.copies`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Final, NamedTuple

from lazy.places.no_room import is_still_so, without_room
from lazy.places.published import Span, keep_published, published
from lazy.visits.my_mailbox import MyMailbox, within
from lazy.visits.room import LEAST
from transports.listing import Listing
from transports.mailbox import MailboxMedium
from transports.publishing import Addition
from vault.content.copies import reached, wanted_copies
from vault.notes.places import WithoutRoom
from vault.records import RecordHash, Verifier
from vault.store.database import select_in
from vault.vault import Vault

__all__ = ["NOTHING", "Copies", "Wanted", "WantedRecord", "bytes_of", "lies_in", "not_mine", "own_spans", "spans_of"]
__all__ += ["fitting", "refused_before", "take_back", "wanted_here"]

_ROWS = f"""
SELECT b.kind, b.digest, e.at, s.s, ifnull(k.size, length(b.bytes)), {LEAST} FROM exposure e JOIN body b USING (p)
LEFT JOIN packed k USING (p) LEFT JOIN frame f ON f.id = k.frame JOIN rec r USING (p)
JOIN sym s ON s.id = r.app WHERE e.p IN"""  # noqa: S608 - of constants
_NUMBERS = (
    "SELECT e.at, b.kind, b.digest FROM exposure e JOIN body b USING (p) WHERE e.at > ? AND e.at <= ? ORDER BY e.at"
)


_BESIDE_BYTES: Final = 1 << 18  # for the index run, the head, and what a file takes more than it holds
_NUMBERS_OF = "SELECT at FROM exposure WHERE p IN"


class WantedRecord(NamedTuple):
    """A record that is to lie in a bundle of mine: number in the exposure log, App, bytes, and how many it takes."""

    at: int
    app: str
    size: int
    least: int


class Wanted(NamedTuple):
    """What is to lie in bundles of mine.

    Args:
        contents: the contents that a prune waits for.
        records: what they reach, but for what is noted to lie there.
    """

    contents: tuple[RecordHash, ...]
    records: Mapping[RecordHash, WantedRecord]


NOTHING: Final = Wanted((), MappingProxyType({}))


def wanted_here(vault: Vault, mine: MyMailbox) -> Wanted:
    """Return what a prune waits for; costs nothing where there is nothing."""
    contents = tuple(wanted_copies(vault.store))
    return _reached_by(vault, mine, contents) if contents else NOTHING


def fitting(vault: Vault, mine: MyMailbox, wanted: Wanted, room: int) -> Wanted:
    """Return what of it goes into so many bytes, the smallest contents first; nothing where that is all or none."""
    each = [_reached_by(vault, mine, (content,)) for content in wanted.contents]
    chosen: list[RecordHash] = []
    for size, part in sorted(((bytes_of(part), part) for part in each), key=lambda one: one[0]):
        room -= size
        if room < _BESIDE_BYTES:
            break
        chosen += part.contents
    return _reached_by(vault, mine, tuple(chosen)) if 0 < len(chosen) < len(each) else NOTHING


def _reached_by(vault: Vault, mine: MyMailbox, contents: tuple[RecordHash, ...]) -> Wanted:
    rows = select_in(vault.store.db, _ROWS, reached(vault.store, contents))
    records = {
        RecordHash(str(kind), bytes(digest)): WantedRecord(int(at), str(app), int(size), int(least))
        for kind, digest, at, app, size, least in rows
        if not within(mine.rest.copied, int(at))
    }
    return Wanted(contents, records)


def bytes_of(wanted: Wanted) -> int:
    """Return the bytes of all of it."""
    return sum(one.size for one in wanted.records.values())


def refused_before(vault: Vault, medium: MailboxMedium, name: str, wanted: Wanted) -> WithoutRoom | None:
    """Return how the place of that name had no room for what is wanted, unless something changed since.

    Where the place tells its room, some of what waits beside that now may fit.
    """
    known = without_room(vault.store, name)
    if known is None or not wanted.records:
        return None
    is_told = medium.tells_room or known.free is not None  # else the host had none, which tells nothing
    free, needed = medium.free_bytes(vault.group, vault.node) if is_told else None, bytes_of(wanted)
    if needed > known.needed and free is not None and medium.tells_room:
        return None
    return known if is_still_so(known, needed, free, vault.around.now_ns()) else None


def not_mine(wanted: Wanted, listing: Listing | None, node: Verifier) -> dict[RecordHash, WantedRecord]:
    """Return what of it a listing names in bundles of others; what it does not name is copied anyhow."""
    if listing is None:
        return {}
    return {each: one for each, one in wanted.records.items() if each in listing and not lies_in(listing, each, node)}


class Copies:
    """Yields what is copied; what a prune in another process let go of meanwhile is passed over.

    Args:
        vault: where it is.
        records: what is to be copied.

    Attributes:
        made: what was yielded so far.
    """

    def __init__(self, vault: Vault, records: Mapping[RecordHash, WantedRecord]) -> None:
        self._vault, self._records = vault, records
        self.made: frozenset[RecordHash] = frozenset()

    def __iter__(self) -> Iterator[Addition]:
        """Yield each, read when its turn comes."""
        made: set[RecordHash] = set()
        for record, one in self._records.items():
            stored = self._vault.store.stored_or_none(record)
            if stored:
                made.add(record)
                yield Addition(record, one.app, load=partial(bytes, stored))
        self.made = frozenset(made)


def take_back(vault: Vault, medium: MailboxMedium, name: str, mine: MyMailbox) -> None:
    """Note no copies any more that my mailbox on the place of that name has not, before a prune believes in them.

    What is there still is noted again once my mailbox was compared record by record, which a visit may not come to: the
    place is full, it only reads, or it is cut off.

    Args:
        vault: whose mailbox it is.
        medium: where it lies.
        name: of the place.
        mine: how it lies there.
    """
    left = published(vault, medium.place_id, name)
    if left is not None and left.rest.copied not in {(), mine.copied}:
        with vault.writing(receiving=True) as w:
            keep_published(w, medium.place_id, name, left._replace(rest=left.rest._replace(copied=mine.copied)))


def lies_in(listing: Listing, record: RecordHash, node: Verifier) -> bool:
    """Tell whether a listing says that a record lies in a bundle of a node's mailbox."""
    entry = listing.entry(record)
    bundle = entry.location.bundle if entry is not None and entry.location is not None else None
    return bundle is not None and bundle.mailbox == node


def own_spans(vault: Vault, between: Span, is_own: Callable[[RecordHash], bool]) -> Iterator[Span]:
    """Yield the spans of a stretch of the exposure log of which each record is one that lies in a bundle of mine."""
    begin, end = 0, 0
    for at, kind, digest in vault.store.db.execute(_NUMBERS, between):
        if is_own(RecordHash(str(kind), bytes(digest))):
            begin, end = (begin if end else at - 1), at
        elif end:
            yield begin, end
            end = 0
    if end:
        yield begin, end


def spans_of(vault: Vault, between: Span, records: Collection[RecordHash]) -> Iterator[Span]:
    """Yield the numbers that some records have within a stretch of the exposure log, as spans of it."""
    after, upto = between
    positions = [p for p in map(vault.store.position, records) if p is not None]
    for (at,) in select_in(vault.store.db, _NUMBERS_OF, positions):
        if after < at <= upto:
            yield at - 1, at
