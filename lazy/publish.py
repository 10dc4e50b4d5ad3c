"""Publishing: what I share, brought onto a place as my mailbox (architecture, decision 4).

The exposure log says what became shared since the number I last published there, so the cost follows what is new. A
place whose head is not the one I wrote (rolled back, replaced, written by a copy of me) is compared in full instead.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from sys import intern

from lazy.beacon import due_on
from lazy.interlace.plan import GROUP_SHARED, SELECTOR
from lazy.sealing import rebased, wants_rebase
from lazy.terms import hello_lines
from transports.bundle import Near
from transports.errors import MissingFile
from transports.listing import Listing
from transports.mailbox import MailboxPlace, MailboxWriter
from transports.publishing import Addition, Publication, publish, recover_bundles
from transports.reading import Proven, SeenHead, fetch, newest_runs, read_head, read_mailbox
from transports.runs import BundleRef, RunRef
from transports.snapshot import SnapshotHead, VectorEntry
from vault.errors import Cancelled, DataError, PeerError
from vault.profile import Founding, Member, NodeCard, Revocation
from vault.records import RecordHash, Seal, Verifier
from vault.vault import Vault
from vault.work import MAIN, Watch, unreleased

__all__ = ["Outgoing", "Sending", "exposed", "is_current", "pending", "plan_sending", "publish_mine", "publish_once"]

# Copied into every mailbox, never referenced: who belongs must not hang on a bundle of somebody else.
_BELONGING = frozenset({Founding.APP, Member.APP, NodeCard.APP, Revocation.APP})
_COPIED, _SOUGHT = -2, -1  # in place of the number of a source: it is copied in any case, or unless one is found
_END = (1 << 63) - 1  # after every number of the exposure log
_LOCATED_TOGETHER = 10_000  # records whose places in other mailboxes are in memory at once
_FILES = "files "  # setting of the store: the bundles that my mailbox on a place rests on
_SMALL_RUN = 64 * 1024  # bytes of an index run that is looked at whatever it may save


@dataclass(frozen=True, slots=True)
class Outgoing:
    """What publishing would put, or did put, on a place: records and their bytes, and the head written."""

    records: int
    bytes: int
    copied: int = 0
    number: int = 0


@dataclass(frozen=True, slots=True)
class _Mine:
    """My mailbox as it lies on the place, and where I stand there; trusted when it is what I left there."""

    head: SeenHead | None
    at: int
    trusted: bool


_ANEW = _Mine(None, 0, trusted=False)


@dataclass(frozen=True, slots=True)
class Sending:
    """What a visit puts on a place, settled before it begins: what became shared after one number up to another.

    The exposure log only grows at its end, so the two numbers name the same records whenever they are asked.

    Args:
        mine: my mailbox as it lies there.
        upto: the last number of the exposure log that goes.
        vector: what the head will say I hold: nothing beyond that number.
        is_anew: whether all of the mailbox is written again.
    """

    mine: _Mine
    upto: int
    vector: tuple[VectorEntry, ...]
    is_anew: bool

    def amount(self, vault: Vault, place: MailboxPlace) -> Outgoing:
        """Count what goes: records that the mailbox does not list yet, and their bytes."""
        mine = _ANEW if self.is_anew else self.mine
        try:
            listing = None if mine.trusted or self.is_anew else _listing(vault, place, mine)
        except DataError:
            listing = None
        records = size = 0
        for record, length in _exposed_sizes(vault, mine.at, self.upto):
            if listing is None or record not in listing:
                records += 1
                size += length
        return Outgoing(records, size)


def plan_sending(vault: Vault, place: MailboxPlace) -> Sending:
    """Settle what `publish_mine` adds to a place; writes nothing."""
    mine = _my_mailbox(vault, place)
    with vault.store.reading():  # the vector must not speak of a release that is not among the records read
        top, vector = exposed(vault), _vector(vault)
    return Sending(mine, top, vector, wants_rebase(vault, place.place_id))


def is_current(vault: Vault, done: Sending) -> bool:
    """Tell whether what was published in this visit is all there is to say: nothing was shared or learned since."""
    with vault.store.reading():
        return not done.is_anew and (exposed(vault), _vector(vault)) == (done.upto, done.vector)


def exposed(vault: Vault) -> int:
    """Return the last number of the exposure log."""
    return int(vault.store.rows("SELECT ifnull(max(at), 0) FROM exposure")[0][0])


def pending(vault: Vault, place: MailboxPlace) -> Outgoing:
    """Say what `publish_mine` would add to a place; writes nothing."""
    return plan_sending(vault, place).amount(vault, place)


def publish_mine(
    vault: Vault,
    place: MailboxPlace,
    watch: Watch = Watch(),
    *,
    planned: Sending | None = None,
    on_other: Callable[[], None] | None = None,
    proven: Proven | None = None,
) -> Outgoing:
    """Bring my mailbox on a place up to date; nothing new means nothing written.

    Only the committed store is read, so nothing leaves before the mark's `done`. A mailbox of mine that was wiped,
    rolled back or damaged there is brought back whole.

    Args:
        vault: whose mailbox it is.
        place: where it lies.
        watch: progress and cancel.
        planned: what goes, as it was settled and perhaps shown before; settled now without it.
        on_other: called before anything is written where my mailbox shows a head that this vault did not write: it
            was restored, or a copy of it wrote, and reads what that one said first.
        proven: what was read from this medium in this visit, and where; it is not read again to be named.

    Raises:
        PlaceError: the medium refuses; the mailbox still shows its former state.
        VaultBehindMark, OtherMachine, ...: as `Vault.check_mark`; a copy of me signs no head.
        Cancelled: the person stopped it.
    """
    if vault.founding is None:
        return Outgoing(0, 0)
    vault.check_mark()
    plan = planned or plan_sending(vault, place)
    if on_other is not None and plan.mine.head is not None and not _wrote(vault, place, plan.mine.head):
        on_other()
        vault.check_mark()
        plan = plan_sending(vault, place)  # what that one said is mine too
    writer = place.writer(vault.group, vault.node)
    done, files = _written(vault, place, writer, plan, watch, proven or Proven())
    head = _head(vault, place, plan.mine, done, plan.vector)
    beacon = due_on(vault, place)
    if beacon is not None:
        writer.put_beacon(beacon, with_head=head is not None)
    if head is None:
        if beacon is not None:
            writer.verify_written()
        _remember(vault, place, plan.mine.head, plan.upto, files)
        return Outgoing(0, 0)
    sealed = _shown(vault, writer, head)
    if plan.is_anew:
        named = {ref.name for ref in done.runs} | {ref.name for ref in done.bundles}
        writer.discard([name for name in place.files(vault.group, vault.node) if name not in named])
        rebased(vault, place.place_id)
    writer.discard(done.obsolete)
    if vault.store.rows("SELECT 1 FROM member WHERE node = ?", vault.node.text) and not vault.store.meta("admission"):
        writer.remove_request()
    writer.verify_written()
    _remember(vault, place, SeenHead(head, sealed), plan.upto, files)
    return Outgoing(done.copied + done.referenced, 0, done.copied, head.number)


def _written(
    vault: Vault, place: MailboxPlace, writer: MailboxWriter, plan: Sending, watch: Watch, proven: Proven
) -> tuple[Publication, set[str] | None]:
    """Write what a plan adds; return also the bundles that the mailbox then rests on, if those are others than before.

    Nobody reads any of it before the head that names it.
    """
    mine = plan.mine
    if plan.is_anew:
        done = _publish_alone(vault, place, writer, (0, plan.upto), [], watch)
        return done, _noted(done.bundles)
    if plan.upto <= mine.at and mine.trusted:
        return Publication(mine.head.head.runs if mine.head else ()), None
    try:
        return _bring(vault, place, writer, plan, _Known(vault, place, mine, proven), watch)
    except DataError:
        # What lies there is not whole: begin anew, with what is still good of it.
        return _bring(vault, place, writer, replace(plan, mine=_ANEW), _Known(vault, place, _ANEW, proven), watch)


def _shown(vault: Vault, writer: MailboxWriter, head: SnapshotHead) -> Seal:
    """Seal a head and let readers find it."""
    sealed = Seal.sign(head.to_plex(vault.group), vault.key())
    writer.publish_head(sealed.encode(), [ref.name for ref in head.runs])
    return sealed


def publish_once(vault: Vault, place: MailboxPlace, after: int, watch: Watch = Watch()) -> Outgoing:
    """Write what became shared after a number of the exposure log as a mailbox of its own, and finish it.

    What an interrupted run left there is used again.

    Raises:
        PlaceError: the medium refuses.
        Cancelled: the person stopped it.
    """
    vault.check_mark()
    with vault.store.reading():
        vector = _vector(vault)
    writer = place.writer(vault.group, vault.node)
    left = [Listing(recover_bundles(place, vault.group, vault.node, None))]
    done = _publish_alone(vault, place, writer, (after, _END), left, watch)
    head = _head(vault, place, _ANEW, done, vector)
    if head is None:
        return Outgoing(0, 0)
    _shown(vault, writer, head)
    writer.verify_written()
    return Outgoing(done.copied + done.referenced, place.count.written, done.copied, head.number)


class _Known:
    """What my mailbox lists already. Its runs are read where that is asked, and not to add a little to much."""

    def __init__(self, vault: Vault, place: MailboxPlace, mine: _Mine, proven: Proven) -> None:
        self._vault, self._place, self._mine = vault, place, mine
        self.proven = proven
        """What was read from this medium just now, and where."""
        self._listing: Listing | None = None
        self._newest: list[Listing] | None = None

    @property
    def runs(self) -> tuple[RunRef, ...]:
        """What its head names."""
        return self._mine.head.head.runs if self._mine.head else ()

    def whole(self) -> Listing:
        """Return the listing; read once.

        Raises:
            DataError: a run is damaged, or a bundle is missing that it rests on.
        """
        if self._listing is None:
            self._listing = _listing(self._vault, self._place, self._mine) or Listing([])
        return self._listing

    def of_additions(self) -> Listing:
        """Return what lists some of what is to be added, if anything does.

        Where the head is the one that this vault left, what became shared after the number noted with it is new there.

        Raises:
            DataError: as `whole`.
        """
        return Listing([]) if self._mine.trusted else self.whole()

    def holds(self, record: RecordHash, most: int) -> bool:
        """Tell whether a record lies in a bundle of mine, as far as runs say that are no larger than `most`.

        Raises:
            DataError: a run is damaged.
        """
        if self._newest is None:
            newest = newest_runs(self._place, self._vault.group, self._vault.node, self.runs, most)
            self._newest = [Listing([run]) for run in newest]
            if sum(map(len, self._newest)) != sum(map(len, newest)):
                self._newest = []  # something is withdrawn: what an older run says may count no more
        for listing in self._newest:
            entry = listing.entry(record)
            if entry is not None and entry.location is not None:
                bundle = entry.location.bundle
                return bundle is not None and bundle.mailbox == self._vault.node
        return False

    def files(self) -> set[str]:
        """Return the bundles that it rests on, as they are noted.

        Raises:
            DataError: as `whole`.
        """
        noted = self._vault.store.meta(_FILES + self._place.place_id).splitlines()
        return set(noted) if noted and self._mine.trusted else _noted(self.whole().bundles())


def _noted(bundles: Iterable[BundleRef]) -> set[str]:
    return {f"{ref.mailbox.key.hex()} {ref.name} {ref.size}" for ref in bundles}


def _bring(
    vault: Vault, place: MailboxPlace, writer: MailboxWriter, plan: Sending, known: _Known, watch: Watch
) -> tuple[Publication, set[str]]:
    """Publish what a mailbox lacks; return also the bundles it then rests on."""
    mine = plan.mine
    sought = sum(size for _, size in _exposed_sizes(vault, mine.at, plan.upto))
    sources = _others(vault, place, sought)
    if not known.runs:
        sources.insert(0, Listing(recover_bundles(place, vault.group, vault.node, None)))
    elif writer.is_interrupted:
        sources.insert(0, Listing(recover_bundles(place, vault.group, vault.node, known.whole())))
    used: set[BundleRef] = set()
    files = known.files()
    done = publish(
        place,
        vault.group,
        vault.node,
        writer,
        runs=known.runs,
        listing=known.of_additions(),
        additions=_additions(vault, place, (mine.at, plan.upto), watch, known, sources, used),
        cancel=_asked(watch),
    )
    return done, files | _noted(done.bundles) | _noted(used)


def _publish_alone(
    vault: Vault,
    place: MailboxPlace,
    writer: MailboxWriter,
    between: tuple[int, int],
    left: list[Listing],
    watch: Watch,
) -> Publication:
    """Write a part of the exposure log as a mailbox that rests on nothing but what an interrupted run left."""
    return publish(
        place,
        vault.group,
        vault.node,
        writer,
        runs=(),
        listing=None,
        additions=_additions(vault, place, between, watch, _Known(vault, place, _ANEW, Proven()), left, set()),
        cancel=_asked(watch),
    )


def _my_mailbox(vault: Vault, place: MailboxPlace) -> _Mine:
    try:
        head = read_head(place, vault.group, vault.node)
    except (DataError, PeerError):
        head = None
    row = vault.store.rows("SELECT head, epoch, at FROM published WHERE place_id = ?", place.place_id)
    if row and head is not None:
        known, epoch, at = row[0]
        is_mine = bytes(known) == head.seal.hash.digest and str(epoch) == vault.store.meta("epoch")
        if is_mine and _rests(vault, place, head):
            return _Mine(head, int(at), trusted=True)
    return _Mine(head, 0, trusted=False)


def _wrote(vault: Vault, place: MailboxPlace, head: SeenHead) -> bool:
    """Tell whether this vault wrote a head of its own mailbox last."""
    row = vault.store.rows("SELECT head FROM published WHERE place_id = ?", place.place_id)
    return bool(row) and bytes(row[0][0]) == head.seal.hash.digest


def _rests(vault: Vault, place: MailboxPlace, head: SeenHead) -> bool:
    """Tell whether the runs of my head and the bundles they rest on lie there in full size; reads no file."""
    wanted = [(vault.node.key.hex(), ref.name, ref.size) for ref in head.head.runs]
    for line in vault.store.meta(_FILES + place.place_id).splitlines():
        mailbox, name, size = line.split(" ")
        wanted.append((mailbox, name, int(size)))
    return _lie_there(vault, place, wanted)


def _lie_there(vault: Vault, place: MailboxPlace, wanted: Iterable[tuple[str, str, int]]) -> bool:
    files: dict[str, dict[str, int]] = {}
    for mailbox, name, size in wanted:
        if mailbox not in files:
            files[mailbox] = place.files(vault.group, Verifier(bytes.fromhex(mailbox)))
        if files[mailbox].get(name) != size:
            return False
    return True


def _listing(vault: Vault, place: MailboxPlace, mine: _Mine) -> Listing | None:
    """Return what my mailbox lists, or None when there is none.

    Raises:
        DataError: a run is damaged, or a bundle is missing that it rests on.
    """
    if mine.head is None:
        return None
    listing = read_mailbox(place, vault.group, vault.node, mine.head.head)
    if not _lie_there(vault, place, ((ref.mailbox.key.hex(), ref.name, ref.size) for ref in listing.bundles())):
        raise MissingFile("A bundle that my mailbox rests on is missing.")
    return listing


def _exposed_sizes(vault: Vault, after: int, upto: int) -> Iterator[tuple[RecordHash, int]]:
    for kind, digest, size in vault.store.rows(
        "SELECT b.kind, b.digest, ifnull(k.size, length(b.bytes)) FROM exposure e JOIN body b USING (p)"
        " LEFT JOIN packed k USING (p) WHERE e.at > ? AND e.at <= ? ORDER BY e.at",
        after,
        upto,
    ):
        yield RecordHash(str(kind), bytes(digest)), int(size)


def _additions(
    vault: Vault,
    place: MailboxPlace,
    between: tuple[int, int],
    watch: Watch,
    known: _Known,
    sources: list[Listing],
    used: set[BundleRef],
) -> Iterator[Addition]:
    # One text for each kind and App, and no object for each row: a first visit brings a hundred thousand of them.
    listed = known.of_additions()
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
    _locate(vault, place, located, sources, known.proven)
    total, moved = sum(sizes), 0

    def in_reach(base: RecordHash) -> bool:
        """Tell whether a record lies in my own mailbox here, where it stays as long as what rests on it."""
        return located.get(base, 0) < 0 or known.holds(base, max(total, _SMALL_RUN))

    for number, (record, app, size) in enumerate(zip(list(located), apps, sizes, strict=True), start=1):
        source = located[record]
        if source >= 0:
            del located[record]  # only what is copied is asked for again, and there may be a hundred thousand others
        moved += size
        watch.travelled(number, len(sizes), moved, total, "send")
        lies = sources[source].entry(record) if source >= 0 else None
        if lies is None or lies.location is None:
            yield Addition(
                record,
                app,
                load=lambda record=record: vault.store.stored(record) or b"",  # type: ignore[misc]
                near=lambda record=record: _near(vault, record, in_reach),  # type: ignore[misc]
            )
        else:
            if lies.location.bundle is not None:
                used.add(lies.location.bundle)
            yield Addition(record, app, location=lies.location)


def _near(vault: Vault, record: RecordHash, in_reach: Callable[[RecordHash], bool]) -> Near | None:
    """Return what a record rests on in the vault, if every reader of my mailbox can have all of it."""
    found = vault.store.resting_on(record)
    if not found or not all(in_reach(base) for base, _ in found):
        return None
    return Near(tuple(base for base, _ in found), b"".join(stored for _, stored in found))


def _locate(
    vault: Vault, place: MailboxPlace, located: dict[RecordHash, int], sources: list[Listing], proven: Proven
) -> None:
    """Enter which source says where a record lies: each place named by somebody is read before I name it too.

    Otherwise a mailbox that names a false place for my record would keep it from everybody who reads mine. Where a
    record lies takes some hundred bytes, so they are looked up some at a time, and only the source is kept.
    """
    for number, source in enumerate(sources):
        lacking = [record for record, at in located.items() if at == _SOUGHT]
        for part in source.batches(lacking, _LOCATED_TOGETHER):
            unread = []
            for record in part:
                entry = source.entry(record)
                if entry is not None and entry.location is not None and proven.holds(record, entry.location):
                    located[record] = number
                else:
                    unread.append(record)
            for fetched in fetch(place, vault.group, source, unread, here=vault.store.stored_or_none):
                entry = source.entry(fetched.hash)
                if fetched.record is not None and entry is not None and entry.location is not None:
                    located[fetched.hash] = number


def _others(vault: Vault, place: MailboxPlace, sought: int) -> list[Listing]:
    """Return what the other members' mailboxes of this medium list, to reference it instead of copying it.

    Looking costs no more than copying: of each mailbox the newest runs are read, up to one that is larger than all that
    is sought.
    """
    most = max(sought, _SMALL_RUN)
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


def _head(
    vault: Vault, place: MailboxPlace, mine: _Mine, done: Publication, vector: tuple[VectorEntry, ...]
) -> SnapshotHead | None:
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
        vector=vector,
        unreleased=unreleased(vault, MAIN) if announce else None,
    )
    if previous is not None and _says(previous) == _says(head):
        return None
    return head


def _says(head: SnapshotHead) -> tuple[object, ...]:
    steady = tuple(line for line in head.hello if not line.startswith("HelloTAI"))
    return (head.runs, head.vector, head.unreleased, head.operand, head.facet, steady, head.founding)


def _vector(vault: Vault) -> tuple[VectorEntry, ...]:
    rows = vault.store.rows("SELECT node, seq, plex, forked FROM vector WHERE seq > 0")
    entries = [
        VectorEntry(Verifier.parse(str(node)), int(seq), bytes(plex), bool(forked)) for node, seq, plex, forked in rows
    ]
    return tuple(sorted(entries, key=lambda entry: entry.node))


def _remember(vault: Vault, place: MailboxPlace, head: SeenHead | None, at: int, files: set[str] | None) -> None:
    if head is None:
        return
    seq = next((entry.seq for entry in head.head.vector if entry.node == vault.node), 0)
    values = (place.place_id, head.head.number, head.seal.hash.digest, vault.store.meta("epoch"), at, seq)
    if files is None and vault.store.rows("SELECT * FROM published WHERE place_id = ?", place.place_id) == [values]:
        return
    with vault.writing(receiving=True) as w:
        w.store.run("INSERT OR REPLACE INTO published VALUES (?, ?, ?, ?, ?, ?)", *values)
        if files is not None:
            w.store.set_meta(_FILES + place.place_id, "\n".join(sorted(files)))


def _asked(watch: Watch) -> Callable[[], bool]:
    def asked() -> bool:
        try:
            watch.cancelled()
        except Cancelled:
            return True
        return False

    return asked
