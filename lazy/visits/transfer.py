"""What rounds with one mailbox ask for, read from the medium and handed over in batches (decision 4, LAZ-63)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from lazy.people import label_of
from lazy.receiving.receive import LAST_BATCH_BYTES
from transports.errors import SealedToOthers
from transports.listing import BundleReads, Listing
from transports.mailbox import Mailbox
from transports.proven import Proven
from transports.reading import BasesFrom, fetch
from vault.records import RecordHash
from vault.space import require_room
from vault.vault import Vault
from vault.watch import Watch

if TYPE_CHECKING:
    from lazy.interlace.mailbox import MailboxExchange

__all__ = ["Transfer"]

_BATCH_RECORDS = 8_000  # each batch is flushed, and settled, by itself: of small files more cost no more than one
_FIRST_BATCH_BYTES = 4 << 20  # held twice while it is checked; a whole batch lets the next be twice as large


class Transfer:
    """Hands over what one mailbox lists, in the order of the medium. What cannot be read here is deferred, not gone.

    Args:
        vault: the reader's vault.
        mailbox: whose records they are, and where.
        listing: what it lists, as far as it is looked at.
        whole: reads all that it lists, for records that others rest on.
        watch: progress and cancel.
        proven: learns where large records lie that were read.
    """

    def __init__(
        self,
        vault: Vault,
        mailbox: Mailbox,
        listing: Listing,
        whole: Callable[[], Listing],
        watch: Watch,
        proven: Proven,
    ) -> None:
        self._vault = vault
        self._mailbox = mailbox
        self.listing = listing
        self._whole = whole
        self._watch = watch
        self._proven = proven
        self._asked = 0  # bytes: a large listing is asked for in parts
        self.unread: dict[RecordHash, str] = {}
        """What the mailbox listed and did not give, and why."""
        self.closed: set[RecordHash] = set()
        """What of it rests on bytes here that are encrypted to others: the medium is sound, and I am not meant yet."""

    def run(self, exchange: MailboxExchange, wanted: Sequence[RecordHash]) -> bool:
        """Read what an exchange requests and hand it over; tell whether the byte limit of its round ended that early.

        Raises:
            NoRoom: the disk has none for it; nothing of it was read.
            PlaceError: the medium went away; what was read before was handed over.
            Cancelled: the person stopped it; as before.
        """
        place, group, node = self._mailbox
        located = self.listing.locate(wanted)
        total = _most_bytes(located)
        what = f"What this sync fetches from {label_of(self._vault, node.text)}"
        require_room(self._vault.around, self._vault.dot, total, what, before=self._asked, is_part=True)
        self._asked += total
        batches = _Batches(
            exchange, lambda done, moved: self._watch.travelled(done, len(wanted), moved, total, "receive")
        )
        try:
            for fetched in fetch(
                place,
                group,
                self.listing,
                wanted,
                cancel=self._watch.is_stopped,
                bases=BasesFrom(self._vault.store.stored_or_none, self._whole),
                proven=self._proven,
                located=located,
            ):
                if fetched.record is None:
                    self.unread[fetched.hash] = fetched.reason
                    if fetched.code == SealedToOthers.code:
                        self.closed.add(fetched.hash)
                elif not batches.add(fetched.hash, fetched.record):
                    return True
        finally:
            batches.hand_over()  # what was read before a cut counts
        return False


class _Batches:
    """Batches on their way to an exchange: each full one is handed over at once.

    Args:
        exchange: takes them.
        moved: told after each full one how many records and bytes were handed over by then.
    """

    def __init__(self, exchange: MailboxExchange, moved: Callable[[int, int], None]) -> None:
        self._exchange = exchange
        self._tell = moved
        self._batch: list[tuple[RecordHash, bytes | None]] = []
        self._size = self._done = self._moved = 0
        self._most, self._left = _FIRST_BATCH_BYTES, exchange.budget_left

    def add(self, record: RecordHash, stored: bytes) -> bool:
        """Add a record; return False and leave it where it is more than the round may still take in."""
        if self._size + len(stored) > self._left:
            return False
        self._batch.append((record, stored))
        self._size += len(stored)
        if len(self._batch) >= _BATCH_RECORDS or self._size >= self._most:
            self._done += len(self._batch)
            self._moved += self._size
            self._most = min(self._most * 2, LAST_BATCH_BYTES) if self._size >= self._most else self._most
            self.hand_over()
            self._left = self._exchange.budget_left
            self._tell(self._done, self._moved)
        return True

    def hand_over(self) -> None:
        """Hand over what was added since."""
        batch, self._batch, self._size = self._batch, [], 0  # tried once: who waited in vain would wait again
        if batch:
            self._exchange.take(batch)


def _most_bytes(located: Sequence[BundleReads]) -> int:
    """Return the bytes that listed records come to at most: a listing may claim more of a frame than is in it."""
    frames = (frame for reads in located for frame in reads.frames)
    return sum(min(sum(one.length for one in frame.slices), frame.raw) for frame in frames)
