"""What was read before of the mailboxes of one place: the table `seen`."""

from __future__ import annotations

from typing import NamedTuple

from lazy.receiving.cuts import who_counts
from lazy.receiving.mailbox_left import UNREAD, Left
from transports.mailbox import MailboxMedium
from transports.reading import SeenHead
from vault.records import RecordHash, Verifier
from vault.vault import Vault
from vault.writer import Writer

__all__ = ["LeftMailboxes", "SeenMailbox", "is_known_line", "remember_seen", "seen_before"]

_KNOWN = """
SELECT 1 FROM log WHERE node = ?1 AND seq = ?2 AND plex = ?3
UNION ALL SELECT 1 FROM former f JOIN vector v USING (node, seq, plex) WHERE node = ?1 AND seq < ?2"""


class SeenMailbox(NamedTuple):
    """How a mailbox was left.

    Args:
        mark: number and hash of its head, for `check_number`.
        runs: names of the runs that the head named.
        left: what of it was dealt with, and what was missing here by then.
    """

    mark: tuple[int, RecordHash]
    runs: frozenset[str]
    left: Left

    def covers(self, head: SeenHead) -> bool:
        """Tell whether what a head lists was in the mailbox when it was left: it is that one, or numbered as an older.

        Whether one of a lower number is of the same line is told by `is_known_line`.
        """
        return self.mark == head.mark or head.head.number < self.mark[0]


def seen_before(vault: Vault, place_id: str, node: Verifier) -> SeenMailbox | None:
    """Return how a node's mailbox at a place was left, or None if it was never read."""
    row = vault.store.rows(
        "SELECT number, head, runs, whole FROM seen WHERE place_id = ? AND node = ?", place_id, node.text
    )
    if not row:
        return None
    number, head, runs, whole = row[0]
    mark = (int(number), RecordHash("S", bytes(head)))
    return SeenMailbox(mark, frozenset(str(runs).split()), Left(int(whole)))


def is_known_line(vault: Vault, head: SeenHead) -> bool:
    """Tell whether the log entry up to which a head lists its owner's own is here; so it is where it lists none.

    A head of another line, written by a copied or restored device, may have any number (CYB-18, LAZ-65). What a revoked
    node sealed beyond its cut never comes here, and is not waited for where all that counts is.
    """
    own = (entry for entry in head.head.vector if entry.node == head.head.node)
    return all(vault.store.rows(_KNOWN, entry.node.text, entry.seq, entry.digest) for entry in own)


def remember_seen(w: Writer, place_id: str, node: Verifier, head: SeenHead, left: Left) -> None:
    """Keep how a mailbox is left, unless a newer head was left before, or another one of its number (CYB-18).

    What a copy that lags shows takes no number back, and two states of one number are told until a newer one comes.
    """
    number, seal = head.mark
    w.store.run(
        "INSERT INTO seen VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT(place_id, node) DO UPDATE SET"
        " number = ?3, head = ?4, runs = ?5, unreleased = ?6, tai = ?7, whole = ?8 WHERE ?3 > number OR ?4 = head",
        place_id,
        node.text,
        number,
        seal.digest,
        " ".join(ref.name for ref in head.head.runs),
        head.head.unreleased,
        head.head.tai.text,
        left.code,
    )


class _Owing(NamedTuple):
    head: SeenHead
    left: Left  # once the refusals are remembered
    stood: set[tuple[object, ...]]  # who counted when it was read


class LeftMailboxes:
    """How one visit leaves the mailboxes of a place (LAZ-71, LAZ-72).

    What was refused for who belongs is remembered when the visit ends. What was read by then counts as read in this
    visit, and in others from its end: killed before, nothing would ask for it again once trust changes.

    Args:
        vault: the reader's vault.
        medium: whose mailboxes they are.
    """

    def __init__(self, vault: Vault, medium: MailboxMedium) -> None:
        self._vault, self._medium = vault, medium
        self._owing: dict[Verifier, _Owing] = {}

    def before(self, node: Verifier) -> SeenMailbox | None:
        """Return how a mailbox was left, by this visit or an earlier one; None if it was never read."""
        seen, owing = seen_before(self._vault, self._medium.place_id, node), self._owing.get(node)
        if seen is None or owing is None or seen.mark != owing.head.mark or owing.stood != who_counts(self._vault):
            return seen
        return seen._replace(left=owing.left)

    def note(
        self, w: Writer, node: Verifier, head: SeenHead, left: Left, *, stood: set[tuple[object, ...]], owes: bool
    ) -> None:
        """Keep how a mailbox is left.

        Args:
            w: of a transaction.
            node: whose mailbox it is.
            head: its head.
            left: what of it was dealt with.
            stood: who counted when it was read; where somebody stands otherwise by the end, it is to be read again.
            owes: whether refusals are still to be remembered.
        """
        remember_seen(w, self._medium.place_id, node, head, UNREAD if owes else left)
        self._owing.pop(node, None)
        if owes:
            self._owing[node] = _Owing(head, left, stood)

    def note_end(self, w: Writer) -> None:
        """Keep what this visit left: in the transaction that remembers its refusals."""
        for node, owing in self._owing.items():
            seen = self.before(node)
            if seen is not None and seen.mark == owing.head.mark:
                remember_seen(w, self._medium.place_id, node, owing.head, seen.left)
        self._owing.clear()
