"""What a part of the exposure log adds to my mailbox on a place: copied, or named where somebody else has it."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from functools import partial
from sys import intern

from lazy.visits.mine import SMALL_RUN, Known
from transports.bundles.bundle import Near
from transports.index.runs import BundleRef, RunEntry
from transports.listing import Listing
from transports.mailbox import MailboxPlace
from transports.proven import Proven
from transports.publishing import Addition
from transports.reading import fetch, newest_runs, read_head
from vault.errors import DataError, PeerError
from vault.profile import Founding, Member, NodeCard, Revocation
from vault.records import RecordHash, Verifier
from vault.store.side import Ahead
from vault.vault import Vault
from vault.watch import Watch

__all__ = ["additions", "exposed_sizes", "others"]

# Copied into every mailbox, never referenced: who belongs must not hang on a bundle of somebody else.
_BELONGING = frozenset({Founding.APP, Member.APP, NodeCard.APP, Revocation.APP})
_COPIED, _SOUGHT = -2, -1  # in place of the number of a source: it is copied in any case, or unless one is found
_LOADED_TOGETHER = 500  # records whose places in packs are asked for at once
_LOCATED_TOGETHER = 10_000  # records whose places in other mailboxes are in memory at once


def exposed_sizes(vault: Vault, after: int, upto: int) -> Iterator[tuple[RecordHash, int]]:
    """Yield what a part of the exposure log shares, with the bytes of each."""
    for kind, digest, size in vault.store.rows(
        "SELECT b.kind, b.digest, ifnull(k.size, length(b.bytes)) FROM exposure e JOIN body b USING (p)"
        " LEFT JOIN packed k USING (p) WHERE e.at > ? AND e.at <= ? ORDER BY e.at",
        after,
        upto,
    ):
        yield RecordHash(str(kind), bytes(digest)), int(size)


def additions(
    vault: Vault,
    place: MailboxPlace,
    between: tuple[int, int],
    watch: Watch,
    known: Known,
    sources: list[Listing],
    used: set[BundleRef],
    *,
    begins: bool = False,
) -> Iterator[Addition]:
    """Yield what my mailbox lacks of a part of the exposure log, each with how it comes there.

    Args:
        vault: whose it is.
        place: where the mailbox lies.
        between: after which number of the log, and up to which.
        watch: is told of progress.
        known: what the mailbox lists already.
        sources: listings that may name places of records on the same medium.
        used: gets the bundles of others that are named.
        begins: whether the mailbox is begun, perhaps because the one before goes away with this visit, as a plain one
            does when an encrypted one takes its place, or a part of it is gone: what others name of that one stays
            nowhere.

    Raises:
        DataError: my own mailbox there is not whole.
        PlaceError: the medium went away.
    """
    located, apps, sizes = _exposed(vault, between, known.of_additions())
    _locate(vault, place, located, sources, known.proven, begins=begins)
    total, moved = sum(sizes), 0

    def in_reach(base: RecordHash) -> bool:
        """Tell whether a record lies in my own mailbox here, where it stays as long as what rests on it."""
        return located.get(base, 0) < 0 or known.holds(base, max(total, SMALL_RUN))

    def copied(part: list[RecordHash]) -> Ahead:
        return vault.store.ahead([record for record in part if located[record] < 0])

    ahead: Ahead | None = None
    last: BundleRef | None = None
    records = list(located)
    for number, (record, app, size) in enumerate(zip(records, apps, sizes, strict=True)):
        if number % _LOADED_TOGETHER == 0:
            ahead = copied(records[number : number + _LOADED_TOGETHER])
        source = located[record]
        if source >= 0:
            del located[record]  # only what is copied is asked for again, and there may be a hundred thousand others
        moved += size
        watch.travelled(number + 1, len(sizes), moved, total, "send")
        lies = sources[source].entry(record) if source >= 0 else None
        if lies is None or lies.location is None:
            yield Addition(
                record,
                app,
                load=partial(_load, vault, record, ahead),
                near=None if ahead is None or ahead.rests_alone(record) else partial(_near, vault, record, in_reach),
            )
        else:
            if lies.location.bundle is not None and lies.location.bundle is not last:
                last = lies.location.bundle
                used.add(last)
            yield Addition(record, app, location=lies.location)


def _exposed(
    vault: Vault, between: tuple[int, int], listed: Listing
) -> tuple[dict[RecordHash, int], list[str], array[int]]:
    """Return the records of a part of the exposure log that are not listed, with how to seek each, its App and size."""
    # One text for each kind and App, and no object for each row: a first visit brings a hundred thousand of them.
    located: dict[RecordHash, int] = {}
    apps: list[str] = []
    sizes = array("Q")
    for kind, digest, app, size in vault.store.db.execute(
        "SELECT b.kind, b.digest, s.s, ifnull(k.size, length(b.bytes)) FROM exposure e JOIN body b USING (p)"
        " LEFT JOIN packed k USING (p) JOIN rec r USING (p)"
        " JOIN sym s ON s.id = r.app WHERE e.at > ? AND e.at <= ? ORDER BY e.at",
        between,
    ):
        record = RecordHash(intern(str(kind)), bytes(digest))
        if record not in listed and record not in located:
            located[record] = _COPIED if app in _BELONGING else _SOUGHT
            apps.append(intern(str(app)))
            sizes.append(int(size))
    return located, apps, sizes


def _load(vault: Vault, record: RecordHash, ahead: Ahead | None) -> bytes | memoryview:
    """Return the stored bytes of a record; nothing where it is gone by now."""
    found = ahead.stored(record) if ahead is not None else None
    return found or vault.store.stored(record) or b""


def _near(vault: Vault, record: RecordHash, in_reach: Callable[[RecordHash], bool]) -> Near | None:
    """Return what a record rests on in the vault, if every reader of my mailbox can have all of it."""
    found = vault.store.resting_on(record)
    if not found or not all(in_reach(base) for base, _ in found):
        return None
    return Near(tuple(base for base, _ in found), b"".join(stored for _, stored in found))


def _locate(
    vault: Vault,
    place: MailboxPlace,
    located: dict[RecordHash, int],
    sources: list[Listing],
    proven: Proven,
    *,
    begins: bool,
) -> None:
    """Enter which source says where a record lies: each place named by somebody is read before I name it too.

    Otherwise a mailbox that names a false place for my record would keep it from everybody who reads mine. Where a
    record lies takes some hundred bytes, so they are looked up some at a time, and only the source is kept.
    """
    for number, source in enumerate(sources):
        is_another = begins and number > 0  # the first is what an interrupted run left in my own
        lacking = [record for record, at in located.items() if at == _SOUGHT]
        for part in source.batches(lacking, _LOCATED_TOGETHER):
            unread = []
            for record in part:
                entry = source.entry(record)
                if is_another and entry is not None and _lies_with(entry, vault.node):
                    continue
                if entry is not None and entry.location is not None and proven.holds(record, entry.location):
                    located[record] = number
                else:
                    unread.append(record)
            for fetched in fetch(place, vault.group, source, unread, here=vault.store.stored_or_none):
                entry = source.entry(fetched.hash)
                if fetched.record is not None and entry is not None and entry.location is not None:
                    located[fetched.hash] = number


def _lies_with(entry: RunEntry, node: Verifier) -> bool:
    bundle = entry.location.bundle if entry.location is not None else None
    return bundle is not None and bundle.mailbox == node


def others(vault: Vault, place: MailboxPlace, sought: int) -> list[Listing]:
    """Return what the other members' mailboxes of this medium list, to reference it instead of copying it.

    Looking costs no more than copying: of each mailbox the newest runs are read, up to one that is larger than all that
    is sought.
    """
    most = max(sought, SMALL_RUN)
    found = []
    members = {str(row[0]) for row in vault.store.rows("SELECT node FROM member")}
    for node in place.nodes(vault.group):
        if node == vault.node or node.text not in members:
            continue
        try:
            head = read_head(place, vault.group, node)
            refs = head.head.runs if head is not None else ()
            newest = newest_runs(place, vault.group, node, refs, most)
            if newest:
                found.append(Listing(newest[::-1]))
        except (DataError, PeerError):
            continue
    return found
