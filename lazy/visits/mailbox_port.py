"""What the interlace machine may ask of a vault that reads a mailbox (INT-120)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from lazy.interlace.ads import Fields
from lazy.receiving.receive import Receiver
from vault.records import RecordHash

__all__ = ["MailboxPort"]


class MailboxPort:
    """A `RecordPort` that sends nothing.

    Args:
        receiver: takes what comes in.
        apps: kind of each record that is listed.
        reached: whether all of them were missing and reached a moment ago.
    """

    def __init__(self, receiver: Receiver, apps: dict[RecordHash, str], *, reached: bool) -> None:
        self._receiver = receiver
        self._reached = reached
        self._store = receiver.vault.store
        self._apps = apps
        self._before = receiver.refused_before()

    def have(self, hashes: Collection[RecordHash]) -> set[RecordHash]:
        """Return those that are here."""
        return set() if self._reached else self._store.have(hashes)

    def refused(self, hashes: Collection[RecordHash]) -> set[RecordHash]:
        """Return what is not to be fetched: refused before, or unsigned and not reached by evidence yet."""
        if self._reached:
            return self._before.intersection(hashes)
        holes, wants = self._receiver.holes.among(hashes), self._receiver.wants
        return {
            record
            for record in hashes
            if record in self._before or not (record in holes or wants(record, self._apps.get(record, "")))
        }

    def effective_send(self) -> Iterator[tuple[RecordHash, Fields]]:
        """Yield nothing: a mailbox is only read."""
        return iter(())

    def may_send(self, record: RecordHash) -> bool:
        """Say no."""
        del record
        return False

    def load(self, record: RecordHash) -> bytes | None:
        """Return the stored bytes of a record, or None."""
        return self._store.stored(record)

    def accept_many(self, records: Sequence[tuple[RecordHash, bytes]]) -> Mapping[RecordHash, str]:
        """Take records that came, and say which are refused."""
        self._receiver.take(records, carried=True)  # `fetch` compared each with its hash
        refusals = self._receiver.refusals
        came = dict(records) if refusals else {}
        return {refusal.hash: refusal.code for refusal in refusals if refusal.hash in came}
