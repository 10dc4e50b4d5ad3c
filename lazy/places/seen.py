"""What was read before of the mailboxes of one place: the table `seen`."""

from __future__ import annotations

from typing import NamedTuple

from lazy.receiving.refusals import LOOKED_AT
from transports.reading import SeenHead
from vault.records import RecordHash, Verifier
from vault.vault import Vault
from vault.writer import Writer

__all__ = ["SeenMailbox", "remember_seen", "seen_before", "was_looked_at"]


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
