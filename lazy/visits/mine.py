"""My mailbox as it lies on a place: what it lists, what it rests on, and whether it is as I left it.

`publish` adds to it. Its runs are read only where their answer is needed: a little is added to much without reading it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from lazy.places.published import published
from transports.index.runs import BundleRef, RunRef
from transports.listing import Listing
from transports.mailbox import Mailbox, MailboxPlace
from transports.proven import Proven
from transports.reading import SeenHead, newest_runs, read_head, read_listing
from vault.errors import DataError, PeerError
from vault.records import RecordHash, Verifier
from vault.vault import Vault
from vault.writer import Writer

__all__ = ["ANEW", "SMALL_RUN", "Known", "Mine", "Rest", "keep_rest", "listing_of", "my_mailbox", "noted"]

_FILES = "files "  # setting of the store: the bundles that my mailbox on a place rests on
_COPIED = "copied "  # and which parts of the exposure log lie in bundles of mine there
_PARTS = 1_000  # parts noted; the largest stay
_LOOKED_AT = 100  # records at most, for one that is small
SMALL_RUN = 64 * 1024  # bytes of an index run that is looked at whatever it may save


class Mine(NamedTuple):
    """My mailbox as it lies on the place, and where I stand there; trusted when it is what I left there."""

    head: SeenHead | None
    at: int
    trusted: bool


ANEW = Mine(None, 0, trusted=False)
Part = tuple[int, int]  # of the exposure log: after a number, and up to one


class Rest(NamedTuple):
    """What my mailbox on a place rests on: all its bundles, and the parts of the log that lie whole in mine."""

    files: set[str]
    copied: tuple[Part, ...] = ()


class Known:
    """What my mailbox lists already. Its runs are read where that is asked, and not to add a little to much."""

    def __init__(self, vault: Vault, place: MailboxPlace, mine: Mine, proven: Proven) -> None:
        self._vault, self._mine = vault, mine
        self.mailbox = Mailbox(place, vault.group, vault.node)
        self.proven = proven
        """What was read from this medium just now, and where."""
        self._listing: Listing | None = None
        self._lost: dict[RecordHash, str] = {}
        self.beside: tuple[RecordHash, str] | None = None
        """What is written once more, before the only record that is gone: alone, that one would come out as it was."""
        self._newest: list[Listing] | None = None
        self.copied = _parts(vault.store.meta(_COPIED + place.place_id)) if mine.trusted else ()
        """The parts of the log that lie whole in bundles of mine, as noted; none where another wrote there."""

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
            self._listing, self._lost = _read(self.mailbox, self._mine)
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
        return any(after < int(at) <= upto for (at,) in rows for after, upto in self.copied)

    def copied_with(self, part: Part) -> tuple[Part, ...]:
        """Return the parts of the log that lie whole in bundles of mine, and one more; neighbours become one."""
        parts = [*self.copied]
        if parts and parts[-1][1] == part[0]:
            part = (parts.pop()[0], part[1])
        parts.append(part)
        largest = sorted(parts, key=lambda each: each[0] - each[1])[:_PARTS]
        return tuple(sorted(largest))

    def files(self) -> set[str]:
        """Return the bundles that it rests on, as they are noted.

        Raises:
            DataError: as `whole`.
        """
        lines = self._vault.store.meta(_FILES + self.mailbox.place.place_id).splitlines()
        return set(lines) if lines and self._mine.trusted else noted(self.whole().bundles())


def keep_rest(w: Writer, place_id: str, rest: Rest) -> None:
    """Note what my mailbox on a place rests on."""
    w.store.set_meta(_FILES + place_id, "\n".join(sorted(rest.files)))
    w.store.set_meta(_COPIED + place_id, " ".join(f"{after}-{upto}" for after, upto in rest.copied))


def _parts(text: str) -> tuple[Part, ...]:
    ends = (word.split("-") for word in text.split())
    return tuple((int(after), int(upto)) for after, upto in ends)


def noted(bundles: Iterable[BundleRef]) -> set[str]:
    """Return bundles as they are noted beside a head: mailbox, name and size."""
    return {f"{ref.mailbox.key.hex()} {ref.name} {ref.size}" for ref in bundles}


def my_mailbox(vault: Vault, place: MailboxPlace) -> Mine:
    """Return what lies there, and whether it is what this vault left; reads the head and no run."""
    mailbox = Mailbox(place, vault.group, vault.node)
    try:
        head = read_head(mailbox)
    except (DataError, PeerError):
        head = None
    left = published(vault, place.place_id)
    if left is not None and head is not None:
        is_mine = left.head == head.seal.hash.digest and left.epoch == vault.store.meta("epoch")
        if is_mine and _rests(vault, mailbox, head):
            return Mine(head, left.at, trusted=True)
    return Mine(head, 0, trusted=False)


def _rests(vault: Vault, mailbox: Mailbox, head: SeenHead) -> bool:
    """Tell whether the runs of my head and the bundles they rest on lie there in full size; reads no file."""
    wanted = [(mailbox.node.key.hex(), ref.name, ref.size) for ref in head.head.runs]
    for line in vault.store.meta(_FILES + mailbox.place.place_id).splitlines():
        owner, name, size = line.split(" ")
        wanted.append((owner, name, int(size)))
    return next(_gone(mailbox, wanted), None) is None


def _gone(mailbox: Mailbox, wanted: Iterable[tuple[str, str, int]]) -> Iterator[str]:
    """Yield the names of files that a mailbox rests on and that do not lie in full size in the mailboxes beside it.

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
            yield name


def listing_of(vault: Vault, place: MailboxPlace, mine: Mine) -> Listing | None:
    """Return what my mailbox lists and what lies there, or None when there is none.

    Raises:
        DataError: a run is damaged.
    """
    return None if mine.head is None else _read(Mailbox(place, vault.group, vault.node), mine)[0]


def _read(mailbox: Mailbox, mine: Mine) -> tuple[Listing, dict[RecordHash, str]]:
    """Return what my mailbox lists, and apart from it hash and App of what lies in bundles that are gone."""
    if mine.head is None:
        return Listing([]), {}
    listing = read_listing(mailbox, mine.head.head)
    bundles = listing.bundles()
    gone = {*_gone(mailbox, ((ref.mailbox.key.hex(), ref.name, ref.size) for ref in bundles))}
    lost = listing.of_bundles([ref for ref in bundles if ref.name in gone])
    return listing.without(lost.items()) if lost else listing, lost
