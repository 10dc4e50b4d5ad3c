"""What a part of the exposure log adds to my mailbox on a place: copied, or named where somebody else has it."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import compress
from sys import intern
from typing import NamedTuple

from lazy.visits.located import Located
from lazy.visits.my_mailbox import SMALL_RUN, MyListing
from transports.bundles.bundle import Near
from transports.index.runs import Run
from transports.listing import Listing, Read, in_bundles
from transports.mailbox import Mailbox, MailboxMedium
from transports.proven import Proven
from transports.publishing import Addition
from transports.reading import BasesFrom, fetch, newest_runs, read_head
from vault.errors import DataError, PeerError
from vault.profile import CARD_APP, FOUNDING_APP, MEMBER_APP, REVOCATION_APP
from vault.records import RecordHash
from vault.records.hash_list import HashList
from vault.store.batch_reads import ReadAhead
from vault.store.database import StoreDamaged
from vault.vault import Vault
from vault.watch import Watch

__all__ = ["Missing", "additions", "exposed_sizes", "missing", "others"]

# Copied into every mailbox, never referenced: who belongs must not hang on a bundle of somebody else.
_BELONGING = frozenset({CARD_APP, FOUNDING_APP, MEMBER_APP, REVOCATION_APP})
_new = tuple.__new__
_COPIED, _SOUGHT = -2, -1  # in place of the number of a source: it is copied in any case, or unless one is found
_LOADED_TOGETHER = 500  # records whose places in packs are asked for at once
_READ_TOGETHER = 10_000  # records whose places in other mailboxes are in memory at once


def _exposed_bytes(vault: Vault, after: int, upto: int) -> int:
    """Return the bytes of what a part of the exposure log shares."""
    ((size,),) = vault.store.rows(
        "SELECT ifnull(sum(ifnull(k.size, length(b.bytes))), 0) FROM exposure e JOIN body b USING (p)"
        " LEFT JOIN packed k USING (p) WHERE e.at > ? AND e.at <= ?",
        after,
        upto,
    )
    return int(size)


def exposed_sizes(vault: Vault, after: int, upto: int) -> Iterator[tuple[RecordHash, int]]:
    """Yield what a part of the exposure log shares, with the bytes of each."""
    for kind, digest, size in vault.store.rows(
        "SELECT b.kind, b.digest, ifnull(k.size, length(b.bytes)) FROM exposure e JOIN body b USING (p)"
        " LEFT JOIN packed k USING (p) WHERE e.at > ? AND e.at <= ? ORDER BY e.at",
        after,
        upto,
    ):
        yield RecordHash(str(kind), bytes(digest)), int(size)


class Missing(NamedTuple):
    """What my mailbox lacks of a part of the exposure log.

    Args:
        references: where some of it lies in other mailboxes of the medium.
        named: how many records these are, and their bytes.
        copied: what is copied, in the order of the log.
        apps: App of each of these.
        sizes: bytes of each of these.
        positions: of each of these in the store, as long as none is numbered anew.
    """

    references: tuple[Run, ...]
    named: tuple[int, int]
    copied: HashList
    apps: tuple[str, ...]
    sizes: array[int]
    positions: array[int]


def missing(
    vault: Vault,
    medium: MailboxMedium,
    between: tuple[int, int],
    known: MyListing,
    sources: list[Listing],
    *,
    begins: bool = False,
    watch: Watch = Watch(),
) -> Missing:
    """Return what my mailbox lacks of a part of the exposure log.

    Args:
        vault: whose it is.
        medium: where the mailbox lies.
        between: after which number of the log, and up to which.
        known: what the mailbox lists already.
        sources: listings that may name places of records on the same medium.
        begins: whether the mailbox is begun, perhaps because the one before goes away with this visit, as a plain one
            does when an encrypted one takes its place, or a part of it is gone: what others name of that one stays
            nowhere.
        watch: cancel, while others' mailboxes are read.

    Raises:
        Cancelled: the person stopped it.
        DataError: my own mailbox there is not whole.
        PlaceError: the medium went away.
    """
    located, apps, sizes, positions = _exposed(vault, between, known.of_additions())
    references = _locate(vault, medium, located, sources, known.proven, watch, begins=begins)
    is_copied = located.are_at(_COPIED, _SOUGHT)
    left = array("Q", compress(sizes, is_copied))
    named = len(sizes) - len(left), sum(sizes) - sum(left)
    copied = located.records if all(is_copied) else HashList(compress(located.records, is_copied))
    places = array("q", compress(positions, is_copied))
    return Missing(references, named, copied, tuple(compress(apps, is_copied)), left, places)


def additions(vault: Vault, lacking: Missing, watch: Watch, known: MyListing) -> Iterator[Addition]:
    """Yield what is to be copied into my mailbox.

    Args:
        vault: whose it is.
        lacking: what the mailbox lacks.
        watch: is told of progress.
        known: what the mailbox lists already.
    """
    records = lacking.copied
    beside: set[RecordHash] = set()
    done, moved = lacking.named
    count, total = done + len(records), moved + sum(lacking.sizes)

    def in_reach(base: RecordHash) -> bool:
        """Tell whether a record lies in my own mailbox here, where it stays as long as what rests on it."""
        if not beside:
            beside.update(records)  # of small files none is asked
        return base in beside or known.holds(base, max(total, SMALL_RUN))

    if done:
        watch.travelled(done, count, moved, total, "send")
    for start in range(0, len(records), _LOADED_TOGETHER):
        those = slice(start, start + _LOADED_TOGETHER)
        some = list(records[those])
        ahead = vault.store.read_ahead(some, lacking.positions[those])
        for record, app, size in zip(some, lacking.apps[those], lacking.sizes[those], strict=True):
            done += 1
            moved += size
            watch.travelled(done, count, moved, total, "send")
            near = None if ahead.rests_alone(record) else partial(_near, vault, record, in_reach)
            yield Addition(record, app, partial(_load, vault, record, ahead), near)


def _exposed(
    vault: Vault, between: tuple[int, int], listed: Listing
) -> tuple[Located, list[str], array[int], array[int]]:
    """Return the records of a part of the exposure log that are not listed, with how to seek each.

    Of each also its App, its size and its position.
    """
    # One text for each kind and App, and no object for each row: a first visit brings a hundred thousand of them.
    located = Located(between[1] - between[0])
    apps: list[str] = []
    sizes, positions = array("Q"), array("q")
    is_some_listed = len(listed) > 0
    for kind, digest, app, size, p in vault.store.db.execute(
        "SELECT b.kind, b.digest, s.s, ifnull(k.size, length(b.bytes)), p FROM exposure e JOIN body b USING (p)"
        " LEFT JOIN packed k USING (p) JOIN rec r USING (p)"
        " JOIN sym s ON s.id = r.app WHERE e.at > ? AND e.at <= ? ORDER BY e.at",
        between,
    ):
        record = _new(RecordHash, (intern(kind), digest))
        if not (record in located or (is_some_listed and record in listed)):
            located.add(record, _COPIED if app in _BELONGING else _SOUGHT)
            apps.append(intern(app))
            sizes.append(size)
            positions.append(p)
    return located, apps, sizes, positions


def _load(vault: Vault, record: RecordHash, ahead: ReadAhead) -> bytes | memoryview | None:
    """Return the stored bytes of a record; nothing where it is gone by now, and None where they are not its own."""
    if (stored := ahead.stored(record)) is not None:
        return stored
    try:
        return vault.store.stored(record) or b""
    except StoreDamaged:  # no more of it can be read
        raise
    except DataError:
        return None


def _near(vault: Vault, record: RecordHash, in_reach: Callable[[RecordHash], bool]) -> Near | None:
    """Return what a record rests on in the vault, if every reader of my mailbox can have all of it."""
    found = vault.store.resting_on(record)
    if not found or not all(in_reach(base) for base, _ in found):
        return None
    return Near(tuple(base for base, _ in found), b"".join(stored for _, stored in found))


def _locate(
    vault: Vault,
    medium: MailboxMedium,
    located: Located,
    sources: list[Listing],
    proven: Proven,
    watch: Watch,
    *,
    begins: bool,
) -> tuple[Run, ...]:
    """Return where records lie, and enter which are found: each place named by somebody is read before I name it too.

    Otherwise a mailbox that names a false place for my record would keep it from everybody who reads mine.
    """
    runs = []
    for at, source in enumerate(sources):
        is_another = begins and at > 0  # the first is what an interrupted run left in my own
        reads = source.reads(located.those_at(_SOUGHT))
        if is_another:
            reads = (read for read in reads if read[0].mailbox != vault.node)
        for record in _readable(vault, medium, source, reads, proven, watch):
            located.move(record, at)
        found = located.those_at(at)
        if found:
            runs.append(source.only(found))
    return tuple(runs)


def _readable(
    vault: Vault, medium: MailboxMedium, source: Listing, reads: Iterable[Read], proven: Proven, watch: Watch
) -> Iterator[RecordHash]:
    """Yield what was read where a source says it lies, in this visit before or just now."""
    unread: list[Read] = []
    count = 0
    for bundle, frame in reads:
        is_proven = proven.holds(bundle, frame)
        yield from (one.hash for one in compress(frame.slices, is_proven))
        if not all(is_proven):
            left = tuple(one for one, is_known in zip(frame.slices, is_proven, strict=True) if not is_known)
            unread.append((bundle, frame._replace(slices=left)))
            count += len(left)
        if count >= _READ_TOGETHER:
            yield from _read(vault, medium, source, unread, watch)
            unread, count = [], 0
    yield from _read(vault, medium, source, unread, watch)


def _read(
    vault: Vault, medium: MailboxMedium, source: Listing, reads: list[Read], watch: Watch
) -> Iterator[RecordHash]:
    """Yield what can be read where a source says it lies."""
    wanted = [one.hash for _, frame in reads for one in frame.slices]
    bases = BasesFrom(vault.store.stored_or_none)
    located, cancel = in_bundles(reads), watch.is_stopped
    for fetched in fetch(medium, vault.group, source, wanted, cancel=cancel, bases=bases, located=located):
        if fetched.record is not None:
            yield fetched.hash


def others(vault: Vault, medium: MailboxMedium, between: tuple[int, int]) -> list[Listing]:
    """Return what the other members' mailboxes of this medium list, to reference it instead of copying it.

    Looking costs no more than copying: of each mailbox the newest runs are read, up to one that is larger than all that
    is sought.
    """
    found = []
    sought: int | None = None  # which is read of each record, and only where somebody has a run of more than a few
    members = {str(row[0]) for row in vault.store.rows("SELECT node FROM member")}
    for node in medium.nodes(vault.group):
        if node == vault.node or node.text not in members:
            continue
        try:
            mailbox = Mailbox(medium, vault.group, node)
            head = read_head(mailbox)
            runs = head.head.runs if head is not None else ()
            if sought is None and any(run.size > SMALL_RUN for run in runs):
                sought = _exposed_bytes(vault, *between)
            newest = newest_runs(mailbox, runs, max(sought or 0, SMALL_RUN))
            if newest:
                found.append(Listing(newest[::-1]))
        except (DataError, PeerError):
            continue
    return found
