"""What of mine lies on each place, as this vault left it there: the table `published` (LAZ-46, APP-13).

Nobody else writes it. What it says holds while my mailbox there shows the head that it names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from vault.vault import Vault
from vault.writer import Writer

if TYPE_CHECKING:
    from transports.reading import SeenHead

__all__ = ["Published", "distrust", "forget_published", "keep_published", "published", "published_seqs", "wrote"]


class Published(NamedTuple):
    """How this vault left its mailbox on a place.

    Args:
        number: of its head. It stays whatever becomes of the rest: a head never goes back (architecture, decision 4).
        head: BLAKE3-256 of the head's seal; empty where the mailbox is not believed to be as it was left.
        epoch: of the exposure log that `at` counts in; a repair begins another one.
        at: the last number of the exposure log that lies there.
        seq: the last entry of my own log that the head tells of.
    """

    number: int
    head: bytes
    epoch: str
    at: int
    seq: int


def published(vault: Vault, place_id: str) -> Published | None:
    """Return what this vault left on a place, or None if it never wrote there."""
    rows = vault.store.rows("SELECT number, head, epoch, at, seq FROM published WHERE place_id = ?", place_id)
    return Published(*rows[0]) if rows else None


def published_seqs(vault: Vault) -> dict[str, int]:
    """Return by the id of each place the last entry of my log that lies there."""
    return {str(place_id): int(seq) for place_id, seq in vault.store.rows("SELECT place_id, seq FROM published")}


def wrote(vault: Vault, place_id: str, head: SeenHead) -> bool:
    """Tell whether this vault wrote a head of its own mailbox last; if not, a copy did, or it is before a restore."""
    left = published(vault, place_id)
    return left is not None and left.head == head.seal.hash.digest


def keep_published(w: Writer, place_id: str, left: Published) -> None:
    """Note what this vault leaves on a place."""
    w.store.run("INSERT OR REPLACE INTO published VALUES (?, ?, ?, ?, ?, ?)", place_id, *left)


def distrust(w: Writer, place_id: str, *, is_rotten: bool = False) -> None:
    """Take note that my mailbox on a place may not be what was left: the next visit compares all that it lists.

    Args:
        w: of a transaction.
        place_id: which place; nothing happens where this vault never wrote.
        is_rotten: whether it lost something, so that nothing counts as lying there until it is published again.
    """
    w.store.run("UPDATE published SET head = x'', at = iif(?, 0, at) WHERE place_id = ?", is_rotten, place_id)


def forget_published(w: Writer) -> None:
    """Forget all of it: another node has other mailboxes."""
    w.store.run("DELETE FROM published")
