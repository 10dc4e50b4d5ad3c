"""The head of my mailbox on a place: what it says next, how it is shown, and the note of what was left there."""

from __future__ import annotations

from lazy.interlace.plan import GROUP_SHARED, SELECTOR
from lazy.places.published import Published, Rest, keep_published, last_number, published
from lazy.vectors import unreleased_told
from lazy.visits.my_mailbox import MyMailbox
from lazy.visits.terms import hello_lines
from transports.mailbox import MailboxMedium, MailboxWriter
from transports.publishing import Publication
from transports.reading import SeenHead
from transports.snapshot import LogReach, SnapshotHead
from vault.notes.own import EPOCH
from vault.records import RecordHash, Seal
from vault.vault import Vault

__all__ = ["next_head", "remember", "shown"]


def next_head(
    vault: Vault, medium: MailboxMedium, name: str, mine: MyMailbox, done: Publication, vector: tuple[LogReach, ...]
) -> SnapshotHead | None:
    """Return the next head, or None when it would say what the present one says.

    One that is older than what I left is followed by a new one whatever it says: friends who saw that one ask no more
    what became of it. No number is used twice, nor at two copies of one medium.
    """
    previous = mine.head.head if mine.head else None
    left = published(vault, medium.place_id, name)
    number = max(previous.number if previous else 0, last_number(vault, medium.place_id)) + 1
    head = SnapshotHead(
        node=vault.node,
        number=number,
        tai=vault.around.tai(),
        drop=medium.place_id,
        founding=RecordHash.parse(vault.founding or ""),
        operand=GROUP_SHARED.id,
        facet=SELECTOR,
        hello=hello_lines(vault.node, vault.around.tai()),
        runs=done.runs,
        vector=vector,
        unreleased=unreleased_told(vault),
    )
    is_behind = left is not None and previous is not None and previous.number < left.number
    if previous is not None and not is_behind and _says(previous) == _says(head):
        return None
    return head


def _says(head: SnapshotHead) -> tuple[object, ...]:
    steady = tuple(line for line in head.hello if not line.startswith("HelloTAI"))
    return (head.runs, head.vector, head.unreleased, head.operand, head.facet, steady, head.founding)


def shown(vault: Vault, writer: MailboxWriter, head: SnapshotHead) -> Seal:
    """Seal a head and let readers find it."""
    sealed = Seal.sign(head.to_plex(vault.group), vault.key())
    writer.publish_head(sealed.encode(), [ref.name for ref in head.runs])
    return sealed


def remember(
    vault: Vault,
    medium: MailboxMedium,
    name: str,
    head: SeenHead | None,
    at: int,
    rest: Rest,
    *,
    is_whole: bool = True,
) -> None:
    """Take note of how my mailbox was left on the place of that name; nothing where it has no head.

    Where it lacks what is damaged here (`is_whole`), the next visit looks for that again, whatever became of it.
    """
    if head is None:
        return
    seq = next((entry.seq for entry in head.head.vector if entry.node == vault.node), 0)
    left = Published(
        number=head.head.number,
        head=head.seal.hash.digest,
        epoch=vault.store.note(EPOCH) if is_whole else "",
        at=at,
        seq=seq,
        rest=rest,
    )
    if published(vault, medium.place_id, name) != left:
        with vault.writing(receiving=True) as w:
            keep_published(w, medium.place_id, name, left)
