"""My mailbox as it lies on a place: what it lists, what it rests on, and whether it is as I left it.

`publish` adds to it. Its runs are read only where their answer is needed: a little is added to much without reading it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from operator import itemgetter
from typing import NamedTuple

from lazy.places.copies import Copies
from lazy.places.published import Rest, Span, left_as, published
from transports.index.runs import BundleRef, RunRef
from transports.listing import Listing
from transports.mailbox import HidesPlain, Mailbox, MailboxMedium
from transports.proven import Proven
from transports.reading import SeenHead, newest_runs, read_head, read_listing
from vault.errors import DataError, PeerError
from vault.notes.own import EPOCH
from vault.records import RecordHash, Verifier
from vault.vault import Vault

__all__ = ["ANEW", "SMALL_RUN", "MyListing", "MyMailbox", "is_set_back", "listing_of", "my_mailbox", "noted", "within"]

_SPANS = 10_000  # spans noted; the largest stay, and a prune lets go of nothing in the others
_BETWEEN = "SELECT 1 FROM exposure WHERE at > ? AND at <= ? LIMIT 1"
_VISITED = "SELECT 1 FROM last_sync WHERE place = ?"  # since it was added
_LOOKED_AT = 100  # records at most, for one that is small
SMALL_RUN = 64 * 1024  # bytes of an index run that is looked at whatever it may save


class MyMailbox(NamedTuple):
    """My mailbox as it lies on the place, and where I stand there; trusted when it is what I left there.

    Args:
        head: its head, if it has one that can be read.
        at: the last number of the exposure log that lies there; 0 if it is not trusted.
        trusted: whether it is what I left there.
        rest: what it rests on, as it was noted; nothing if it is not trusted.
        copied: the spans of the log noted to lie whole in its bundles, where these all lie there; else none.
    """

    head: SeenHead | None
    at: int
    trusted: bool
    rest: Rest = Rest()
    copied: tuple[Span, ...] = ()


ANEW = MyMailbox(None, 0, trusted=False)


class MyListing:
    """What my mailbox lists already. Its runs are read where that is asked, and not to add a little to much.

    Args:
        vault: whose it is.
        medium: where it lies.
        mine: how it lies there.
        proven: what was read from this medium just now, and where.
        rotten: names of its bundles that count as gone, for something in them is damaged.
    """

    def __init__(
        self, vault: Vault, medium: MailboxMedium, mine: MyMailbox, proven: Proven, rotten: Collection[str] = ()
    ) -> None:
        self._vault, self._mine, self._rotten = vault, mine, rotten
        self.mailbox = Mailbox(medium, vault.group, vault.node)
        self.proven = proven
        self._listing: Listing | None = None
        self._lost: dict[RecordHash, str] = {}
        self._lies_lost = Listing([])
        self.beside: tuple[RecordHash, str] | None = None
        """What is written once more, before the only record that is gone: alone, that one would come out as it was."""
        self._newest: list[Listing] | None = None
        self.copied = mine.rest.copied
        """The spans of the log that lie whole in bundles of mine, as noted; none where another wrote there."""

    @property
    def runs(self) -> tuple[RunRef, ...]:
        """What its head names."""
        return self._mine.head.head.runs if self._mine.head else ()

    def whole(self) -> Listing:
        """Return the listing, without what lies in bundles that are gone; read once.

        Raises:
            DataError: a run is damaged.
        """
        if self._listing is None and self._mine.head is None:
            self._listing = Listing([])
        elif self._listing is None:
            self._listing, self._lost, self._lies_lost = _read(self.mailbox, self._mine, self._rotten)
            self.beside = self._one_beside(self._listing) if len(self._lost) == 1 else None
            if self.beside is not None:
                self._lost[self.beside[0]] = self.beside[1]
                self._listing = self._listing.without([self.beside])
        return self._listing

    def _one_beside(self, listing: Listing) -> tuple[RecordHash, str] | None:
        """Return hash and App of a small record that is listed beside the only one that is gone."""
        for record, app in islice(listing.items(), _LOOKED_AT):
            if 0 < len(self._vault.store.stored_or_none(record) or b"") <= SMALL_RUN:
                return record, app
        return None

    def lost(self) -> dict[RecordHash, str]:
        """Return the App of each record that it lists in a bundle that is gone; none where it is as I left it.

        Raises:
            DataError: as `whole`.
        """
        if not self._mine.trusted:
            self.whole()
        return self._lost

    def lies_lost(self) -> Listing:
        """Return the listing of what `lost` names: some of a bundle that is gone in part may be read still.

        Raises:
            DataError: as `whole`.
        """
        return self._lies_lost if self.lost() else Listing([])

    def away(self) -> set[str]:
        """Return the runs that its head names and that are gone."""
        there = self.mailbox.files() if self.runs and not self._mine.trusted else None
        return {ref.name for ref in self.runs} - there.keys() if there is not None else set()

    def of_additions(self) -> Listing:
        """Return what lists some of what is to be added, if anything does.

        Where the head is the one that this vault left, what became shared after the number noted with it is new there,
        unless it came back from there just now.

        Raises:
            DataError: as `whole`.
        """
        return self.whole() if not self._mine.trusted or self.proven.has_read(self._vault.node) else Listing([])

    def holds(self, record: RecordHash, most: int) -> bool:
        """Tell whether a record lies in a bundle of mine, as far as notes or runs of at most `most` bytes say.

        Raises:
            DataError: a run is damaged.
        """
        if self._was_copied(record):
            return True
        if self._newest is None:
            newest = newest_runs(self.mailbox, self.runs, most)
            self._newest = [Listing([run]) for run in newest]
            if sum(map(len, self._newest)) != sum(map(len, newest)):
                self._newest = []  # something is withdrawn: what an older run says may count no more
        for listing in self._newest:
            entry = listing.entry(record)
            if entry is not None and entry.location is not None:
                bundle = entry.location.bundle
                return bundle is not None and bundle.mailbox == self._vault.node
        return False

    def _was_copied(self, record: RecordHash) -> bool:
        rows = self._vault.store.rows(
            "SELECT at FROM body JOIN exposure USING (p) WHERE kind = ? AND digest = ?", record.kind, record.digest
        )
        return any(within(self.copied, int(at)) for (at,) in rows)

    def copied_with(self, spans: Iterable[Span]) -> tuple[Span, ...]:
        """Return the spans of the log that lie whole in bundles of mine, and more; neighbours become one.

        Numbers of what a prune let go of keep none apart: none of them is given again.
        """
        merged: list[Span] = []
        for after, upto in sorted((*self.copied, *spans)):
            if merged and (after <= merged[-1][1] or not self._vault.store.rows(_BETWEEN, merged[-1][1], after)):
                begin, end = merged.pop()
                merged.append((begin, max(end, upto)))
            else:
                merged.append((after, upto))
        largest = sorted(merged, key=lambda each: each[0] - each[1])[:_SPANS]
        return tuple(sorted(largest))

    def files(self) -> frozenset[str]:
        """Return the bundles that it rests on, as they are noted.

        Raises:
            DataError: as `whole`.
        """
        return self._mine.rest.files or noted(self.whole().bundles())


def within(spans: Sequence[Span], at: int) -> bool:
    """Tell whether a number of the exposure log lies in one of some spans of it, sorted and apart.

    >>> within(((0, 3), (5, 6)), 3), within(((0, 3), (5, 6)), 5)
    (True, False)
    """
    next_to = bisect_left(spans, at, key=itemgetter(1))
    return next_to < len(spans) and spans[next_to][0] < at


def noted(bundles: Iterable[BundleRef]) -> frozenset[str]:
    """Return bundles as they are noted beside a head: mailbox, name and size."""
    return frozenset(f"{ref.mailbox.key.hex()} {ref.name} {ref.size}" for ref in bundles)


def my_mailbox(vault: Vault, medium: MailboxMedium, name: str) -> MyMailbox:
    """Return what lies at the place of that name, and whether it is what this vault left; reads the head and no run."""
    mailbox = Mailbox(medium, vault.group, vault.node)
    try:
        head = read_head(mailbox)
    except (DataError, PeerError):
        head = None
    left = left_as(vault, medium.place_id, name, head) if head is not None else None
    if head is None or left is None or left.epoch != vault.store.note(EPOCH):
        return MyMailbox(head, 0, trusted=False)
    owners = _owners_of_gone(mailbox, head, left.rest)
    if owners:
        copied = () if vault.node.key.hex() in owners else left.rest.copied
        return MyMailbox(head, 0, trusted=False, copied=copied)
    return MyMailbox(head, left.at, trusted=True, rest=left.rest, copied=left.rest.copied)


def is_set_back(vault: Vault, medium: MailboxMedium, name: str, mine: MyMailbox) -> bool:
    """Tell whether my mailbox at the place of that name shows an older state than this vault left there, or none.

    Where copies are known, the name may have been another one's before the place was added.
    """
    left = published(vault, medium.place_id, name)
    if left is None or not left.head or (mine.head is not None and mine.head.head.number >= left.number):
        return False
    if mine.head is None and isinstance(medium, HidesPlain) and medium.plain_beside(vault.group) is not None:
        return False  # it lies there in plain, and is moved by this visit
    return bool(vault.store.rows(_VISITED, name)) or not Copies(vault, medium.place_id, name).has_copies


def _owners_of_gone(mailbox: Mailbox, head: SeenHead, rest: Rest) -> set[str]:
    """Return whose files do not lie there in full size, of the runs of my head and the bundles they rest on.

    Reads no file.
    """
    wanted = [(mailbox.node.key.hex(), ref.name, ref.size) for ref in head.head.runs]
    for line in rest.files:
        owner, name, size = line.split(" ")
        wanted.append((owner, name, int(size)))
    return {owner for owner, _ in _gone(mailbox, wanted)}


def _gone(mailbox: Mailbox, wanted: Iterable[tuple[str, str, int]]) -> Iterator[tuple[str, str]]:
    """Yield owner and name of files that a mailbox rests on and that do not lie in full size in those beside it.

    Of a mailbox that is damaged as a whole, all.

    Args:
        mailbox: which one.
        wanted: key in hex of the node whose mailbox holds it, name and size of each file.
    """
    files: dict[str, dict[str, int]] = {}
    for owner, name, size in wanted:
        if owner not in files:
            try:
                files[owner] = mailbox._replace(node=Verifier(bytes.fromhex(owner))).files()
            except DataError:
                files[owner] = {}
        if files[owner].get(name) != size:
            yield owner, name


def listing_of(vault: Vault, medium: MailboxMedium, mine: MyMailbox) -> Listing | None:
    """Return what my mailbox lists and what lies there, or None when there is none.

    Raises:
        DataError: a run is damaged.
    """
    return None if mine.head is None else _read(Mailbox(medium, vault.group, vault.node), mine)[0]


def _read(
    mailbox: Mailbox, mine: MyMailbox, rotten: Collection[str] = ()
) -> tuple[Listing, dict[RecordHash, str], Listing]:
    """Return what my mailbox lists, and apart from it hash and App of what lies in bundles that are gone, and where."""
    if mine.head is None:
        return Listing([]), {}, Listing([])
    listing = read_listing(mailbox, mine.head.head)
    bundles = listing.bundles()
    wanted = ((ref.mailbox.key.hex(), ref.name, ref.size) for ref in bundles)
    gone = {*rotten, *(name for _, name in _gone(mailbox, wanted))}
    lost = listing.of_bundles([ref for ref in bundles if ref.name in gone])
    return (listing.without(lost.items()), lost, Listing([listing.only(lost)])) if lost else (listing, {}, Listing([]))
