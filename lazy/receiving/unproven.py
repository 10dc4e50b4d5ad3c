"""What a mailbox says about who belongs, read before it is known that its owner does (LAZ-71, CYB-11).

A member whom somebody admitted elsewhere is a stranger here until the admission is read, and the admission may lie in
that member's own mailbox and nowhere else. So of a stranger's mailbox the records of belonging are looked at first,
then log entries; each proves itself by its seal or is dropped without a word. No more than so many bytes are read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from lazy.receiving.receive import BELONGING_APPS, Receiver
from transports.index.runs import FRAME, Run
from transports.listing import Listing
from transports.mailbox import Mailbox, MailboxMedium
from transports.reading import BasesFrom, fetch, read_run
from transports.snapshot import SnapshotHead
from vault.profile import LogEntry
from vault.records import RecordHash, Verifier
from vault.vault import Vault

__all__ = ["RECORDS", "Unproven"]

_INDEX_BYTES = 64 << 20  # of index runs, as stored
_RECORD_BYTES = 16 << 20  # of records
RECORDS = 20_000  # taken from one mailbox of a stranger, at most
_FRAME_BYTES = 128 << 20  # of the frames that hold them, stored and raw together; as much of those that they rest on
_TABLE_BYTES = 128 << 20  # of index runs in memory, folded
_BUNDLE_BYTES, _FRAME_ROW_BYTES, _TEXT_BYTES = 512, 160, 100  # what a row of their tables takes, besides its letters
_BATCH = 1000  # records weighed at once


class Unproven:
    """Looks in the mailbox of somebody who is no member for what makes them one.

    Args:
        vault: the reader's vault.
        medium: where the mailbox lies.
        receiver: weighs what is found; one a visit, so that mailboxes speak for each other.
        cancel: asked before each frame.
    """

    def __init__(self, vault: Vault, medium: MailboxMedium, receiver: Receiver, cancel: Callable[[], bool]) -> None:
        self._vault = vault
        self._medium = medium
        self._receiver = receiver
        self._cancel = cancel

    def look(self, node: Verifier, head: SnapshotHead, is_proven: Callable[[], bool]) -> bool:
        """Read who belongs until the owner is proven to; tell whether all that was listed of it was looked at.

        Raises:
            DataError: an index run is damaged.
            PlaceError: the medium is gone.
            Cancelled: the person stopped it.
        """
        listing, is_whole = self._listing(node, head)
        for apps in (BELONGING_APPS, frozenset({LogEntry.APP})):
            wanted, all_of_them = self._within_bounds(listing, apps)
            is_whole &= all_of_them
            self._weigh(listing, wanted)
            if is_proven():
                break
        return is_whole

    def _listing(self, node: Verifier, head: SnapshotHead) -> tuple[Listing, bool]:
        mailbox = Mailbox(self._medium, self._vault.group, node)
        runs: list[Run] = []
        size = held = 0
        for ref in head.runs:
            size += ref.size
            if size > _INDEX_BYTES or held > _TABLE_BYTES:
                return Listing(runs), False
            run = read_run(mailbox, ref)
            held += _held(run)
            runs.append(run)
        return Listing(runs), True

    def _within_bounds(self, listing: Listing, apps: Collection[str]) -> tuple[set[RecordHash], bool]:
        """Return what is listed of some kinds and missing here, as far as the bounds reach, and whether that is all."""
        listed = [record for record, app in listing.items() if app in apps and record.kind == "S"]
        missing = set(listed) - self._vault.store.have(listed) - self._receiver.weighed
        wanted: set[RecordHash] = set()
        size = frames = 0
        for reads in listing.locate(missing):
            for frame in reads.frames:
                frames += frame.stored + frame.raw
                for one in frame.slices:
                    size += one.length
                    if len(wanted) >= RECORDS or size > _RECORD_BYTES or frames > _FRAME_BYTES:
                        return wanted, False
                    wanted.add(one.hash)
        return wanted, True

    def _weigh(self, listing: Listing, wanted: Collection[RecordHash]) -> None:
        batch: list[tuple[RecordHash, bytes]] = []
        for found in self._records(listing, wanted):
            batch.append(found)
            if len(batch) >= _BATCH:
                self._receiver.weigh(batch)
                batch = []
        if batch:
            self._receiver.weigh(batch)

    def _records(self, listing: Listing, wanted: Collection[RecordHash]) -> Iterator[tuple[RecordHash, bytes]]:
        found = fetch(
            self._medium,
            self._vault.group,
            listing,
            wanted,
            cancel=self._cancel,
            bases=BasesFrom(self._vault.store.stored_or_none, most=_FRAME_BYTES),
        )
        yield from ((one.hash, one.record) for one in found if one.record is not None)


def _held(run: Run) -> int:
    """Return the bytes that a run takes in memory, about: its tables may hold much more than its entries."""
    texts = sum(len(text) + _TEXT_BYTES for text in (*run.covers, *run.apps))
    frames = len(run.frames) // FRAME.size
    return len(run.entries) + frames * _FRAME_ROW_BYTES + len(run.bundles) * _BUNDLE_BYTES + texts
