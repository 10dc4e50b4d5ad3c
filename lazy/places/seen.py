"""What was read before of the mailboxes of one place: the table `seen`."""

from __future__ import annotations

from typing import NamedTuple

from lazy.receiving.cuts import who_counts
from lazy.receiving.refusals import LOOKED_AT
from transports.mailbox import MailboxPlace
from transports.reading import SeenHead
from vault.records import RecordHash, Verifier
from vault.vault import Vault
from vault.writer import Writer

__all__ = ["LeftMailboxes", "SeenMailbox", "remember_seen", "seen_before", "was_looked_at"]


class SeenMailbox(NamedTuple):
    """How a mailbox was left.

    Args:
        mark: number and hash of its head, for `check_number`.
        runs: names of the runs that the head named.
        whole: what `Receiver.lack` said once everything that it listed was dealt with, or another code.
    """

    mark: tuple[int, RecordHash]
    runs: frozenset[str]
    whole: int


def seen_before(vault: Vault, place_id: str, node: Verifier) -> SeenMailbox | None:
    """Return how a node's mailbox at a place was left, or None if it was never read."""
    row = vault.store.rows(
        "SELECT number, head, runs, whole FROM seen WHERE place_id = ? AND node = ?", place_id, node.text
    )
    if not row:
        return None
    number, head, runs, whole = row[0]
    mark = (int(number), RecordHash("S", bytes(head)))
    return SeenMailbox(mark, frozenset(str(runs).split()), int(whole))


def was_looked_at(vault: Vault, place_id: str, node: Verifier) -> bool:
    """Tell whether all was read that says in a stranger's mailbox who belongs, and trust has not changed since."""
    rows = vault.store.rows("SELECT whole FROM seen WHERE place_id = ? AND node = ?", place_id, node.text)
    return bool(rows) and int(rows[0][0]) == LOOKED_AT


def remember_seen(w: Writer, place_id: str, node: Verifier, head: SeenHead, *, whole: int) -> None:
    """Keep how a mailbox is left; `whole` is `Receiver.lack` if all that it lists was dealt with, `LOOKED_AT`, or 0."""
    number, seal = head.mark
    w.store.run(
        "INSERT OR REPLACE INTO seen VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        place_id,
        node.text,
        number,
        seal.digest,
        " ".join(ref.name for ref in head.head.runs),
        head.head.unreleased,
        head.head.tai.text,
        whole,
    )


class _Left(NamedTuple):
    head: SeenHead
    whole: int
    stood: set[tuple[object, ...]]  # who counted when it was read


class LeftMailboxes:
    """How one visit leaves the mailboxes of a place (LAZ-71, LAZ-72).

    What was refused for who belongs is remembered when the visit ends. What was read by then counts as read in this
    visit, and in others from its end: killed before, nothing would ask for it again once trust changes.

    Args:
        vault: the reader's vault.
        place: the medium.
    """

    def __init__(self, vault: Vault, place: MailboxPlace) -> None:
        self._vault, self._place = vault, place
        self._left: dict[Verifier, _Left] = {}

    def before(self, node: Verifier) -> SeenMailbox | None:
        """Return how a mailbox was left, by this visit or an earlier one; None if it was never read."""
        seen, left = seen_before(self._vault, self._place.place_id, node), self._left.get(node)
        if seen is None or left is None or seen.mark != left.head.mark or left.stood != who_counts(self._vault):
            return seen
        return seen._replace(whole=left.whole)

    def note(
        self, w: Writer, node: Verifier, head: SeenHead, *, whole: int, stood: set[tuple[object, ...]], owes: bool
    ) -> None:
        """Keep how a mailbox is left.

        Args:
            w: of a transaction.
            node: whose mailbox it is.
            head: its head.
            whole: as for `remember_seen`.
            stood: who counted when it was read; where somebody stands otherwise by the end, it is to be read again.
            owes: whether refusals are still to be remembered.
        """
        remember_seen(w, self._place.place_id, node, head, whole=0 if owes else whole)
        self._left.pop(node, None)
        if owes:
            self._left[node] = _Left(head, whole, stood)

    def note_end(self, w: Writer) -> None:
        """Keep what this visit left: in the transaction that remembers its refusals."""
        for node, left in self._left.items():
            seen = self.before(node)
            if seen is not None and seen.mark == left.head.mark:
                remember_seen(w, self._place.place_id, node, left.head, whole=seen.whole)
        self._left.clear()
