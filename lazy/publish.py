"""Publishing: what I share, brought onto a place as my mailbox (architecture, decision 4).

The exposure log says what became shared since the number I last published there, so the cost follows what is new. A
place whose head is not the one I wrote (rolled back, replaced, written by a copy of me) is compared in full instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from lazy.interlace.plan import GROUP_SHARED, SELECTOR
from lazy.terms import hello_lines
from transports.listing import Listing
from transports.mailbox import MailboxPlace
from transports.publishing import Addition, Publication, publish
from transports.reading import SeenHead, read_head, read_mailbox
from transports.snapshot import SnapshotHead, VectorEntry
from vault.errors import Cancelled, DataError, LaceError, PeerError
from vault.records import RecordHash, Seal, Verifier
from vault.vault import Vault
from vault.work import MAIN, Watch, unreleased

__all__ = ["Outgoing", "pending", "publish_mine"]


@dataclass(frozen=True, slots=True)
class Outgoing:
    """What publishing would put, or did put, on a place: records and their bytes, and the head written."""

    records: int
    bytes: int
    copied: int = 0
    number: int = 0


@dataclass(frozen=True, slots=True)
class _Mine:
    """My mailbox as it lies on the place, and where I stand there."""

    head: SeenHead | None
    at: int
    trusted: bool


def pending(vault: Vault, place: MailboxPlace) -> Outgoing:
    """Say what `publish_mine` would add to a place; writes nothing."""
    mine = _my_mailbox(vault, place)
    listing = None if mine.trusted else _listing(vault, place, mine)
    records = size = 0
    for record, length in _exposed_sizes(vault, mine.at):
        if listing is None or record not in listing:
            records += 1
            size += length
    return Outgoing(records, size)


def publish_mine(vault: Vault, place: MailboxPlace, watch: Watch = Watch()) -> Outgoing:
    """Bring my mailbox on a place up to date; nothing new means nothing written.

    Only the committed store is read, so nothing leaves before the mark's `done`.

    Raises:
        PlaceError: the medium refuses; the mailbox still shows its former state.
        Cancelled: the person stopped it.
    """
    if vault.founding is None:
        return Outgoing(0, 0)
    mine = _my_mailbox(vault, place)
    top = int(str(vault.store.rows("SELECT ifnull(max(at), 0) FROM exposure")[0][0]))
    writer = place.writer(vault.group, vault.node)
    runs = mine.head.head.runs if mine.head else ()
    done = Publication(runs)
    if top > mine.at or not mine.trusted:
        listing = _listing(vault, place, mine)
        if listing is None:
            runs = ()
        counted = _Counted()
        try:
            done = publish(
                place,
                vault.group,
                vault.node,
                writer,
                runs=runs,
                listing=listing if listing is not None else Listing([]),
                additions=_additions(vault, place, mine.at, watch, counted),
                cancel=_asked(watch),
            )
        except DataError:
            # A run of mine is damaged on this medium: begin anew with everything.
            done = publish(
                place,
                vault.group,
                vault.node,
                writer,
                runs=(),
                listing=Listing([]),
                additions=_additions(vault, place, 0, watch, counted),
                cancel=_asked(watch),
            )
    head = _head(vault, place, mine, done)
    if head is None:
        _remember(vault, place, mine.head, top)
        return Outgoing(0, 0)
    sealed = Seal.sign(head.to_plex(vault.group), vault.key())
    writer.publish_head(sealed.encode())
    writer.discard(done.obsolete)
    if vault.store.rows("SELECT 1 FROM member WHERE node = ?", vault.node.text):
        writer.remove_request()
    writer.verify_written()
    _remember(vault, place, SeenHead(head, sealed), top)
    return Outgoing(done.copied + done.referenced, 0, done.copied, head.number)


class _Counted:
    """How many records were handed to the writer."""

    def __init__(self) -> None:
        self.records = 0


def _my_mailbox(vault: Vault, place: MailboxPlace) -> _Mine:
    try:
        head = read_head(place, vault.group, vault.node)
    except (DataError, PeerError):
        head = None
    row = vault.store.rows("SELECT head, epoch, at FROM published WHERE place_id = ?", place.place_id)
    if row and head is not None:
        known, epoch, at = row[0]
        if bytes(known) == head.seal.hash.digest and str(epoch) == vault.store.meta("epoch"):
            return _Mine(head, int(at), trusted=True)
    return _Mine(head, 0, trusted=False)


def _listing(vault: Vault, place: MailboxPlace, mine: _Mine) -> Listing | None:
    if mine.head is None:
        return Listing([])
    try:
        return read_mailbox(place, vault.group, vault.node, mine.head.head)
    except LaceError:
        return None


def _exposed_sizes(vault: Vault, after: int) -> Iterator[tuple[RecordHash, int]]:
    for kind, digest, size in vault.store.rows(
        "SELECT b.kind, b.digest, length(b.bytes) FROM exposure e JOIN body b USING (p) WHERE e.at > ? ORDER BY e.at",
        after,
    ):
        yield RecordHash(str(kind), bytes(digest)), int(size)


def _additions(vault: Vault, place: MailboxPlace, after: int, watch: Watch, counted: _Counted) -> Iterator[Addition]:
    rows = vault.store.rows(
        "SELECT b.kind, b.digest, s.s FROM exposure e JOIN body b USING (p) JOIN rec r USING (p)"
        " JOIN sym s ON s.id = r.app WHERE e.at > ? ORDER BY e.at",
        after,
    )
    if not rows:
        return
    others = _others(vault, place)
    for kind, digest, app in rows:
        record = RecordHash(str(kind), bytes(digest))
        counted.records += 1
        watch.progress(counted.records, len(rows), "send")
        location = next((e.location for o in others if (e := o.entry(record)) and e.location), None)
        if location is not None:
            yield Addition(record, str(app), location=location)
        else:
            yield Addition(record, str(app), load=lambda record=record: vault.store.stored(record) or b"")  # type: ignore[misc]


def _others(vault: Vault, place: MailboxPlace) -> list[Listing]:
    """Return what the other mailboxes of this medium list, to reference it instead of copying it."""
    found = []
    for node in place.nodes(vault.group):
        if node == vault.node:
            continue
        try:
            head = read_head(place, vault.group, node)
            if head is not None and head.head.runs:
                found.append(read_mailbox(place, vault.group, node, head.head))
        except (DataError, PeerError):
            continue
    return found


def _head(vault: Vault, place: MailboxPlace, mine: _Mine, done: Publication) -> SnapshotHead | None:
    """Return the next head, or None when it would say what the present one says."""
    previous = mine.head.head if mine.head else None
    announce = bool(vault.settings.get("announce-unreleased"))
    last = vault.store.rows("SELECT number FROM published WHERE place_id = ?", place.place_id)
    number = max(previous.number if previous else 0, int(last[0][0]) if last else 0) + 1
    head = SnapshotHead(
        node=vault.node,
        number=number,
        tai=vault.around.tai(),
        drop=place.place_id,
        founding=RecordHash.parse(vault.founding or ""),
        operand=GROUP_SHARED.id,
        facet=SELECTOR,
        hello=hello_lines(vault.node, vault.around.tai()),
        runs=done.runs,
        vector=_vector(vault),
        unreleased=unreleased(vault, MAIN) if announce else None,
    )
    if previous is not None and _says(previous) == _says(head):
        return None
    return head


def _says(head: SnapshotHead) -> tuple[object, ...]:
    steady = tuple(line for line in head.hello if not line.startswith("HelloTAI"))
    return (head.runs, head.vector, head.unreleased, head.operand, head.facet, steady, head.founding)


def _vector(vault: Vault) -> tuple[VectorEntry, ...]:
    rows = vault.store.rows("SELECT node, seq, plex, forked FROM vector")
    entries = [
        VectorEntry(Verifier.parse(str(node)), int(seq), bytes(plex), bool(forked)) for node, seq, plex, forked in rows
    ]
    return tuple(sorted(entries, key=lambda entry: entry.node))


def _remember(vault: Vault, place: MailboxPlace, head: SeenHead | None, at: int) -> None:
    if head is None:
        return
    seq = next((entry.seq for entry in head.head.vector if entry.node == vault.node), 0)
    values = (place.place_id, head.head.number, head.seal.hash.digest, vault.store.meta("epoch"), at, seq)
    with vault.writing(receiving=True) as w:
        w.store.run("INSERT OR REPLACE INTO published VALUES (?, ?, ?, ?, ?, ?)", *values)


def _asked(watch: Watch) -> Callable[[], bool]:
    def asked() -> bool:
        try:
            watch.cancelled()
        except Cancelled:
            return True
        return False

    return asked
