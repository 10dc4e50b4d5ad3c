"""Publishing: what I share, brought onto a place as my mailbox (architecture, decision 4).

The exposure log says what became shared since the number I last published there, so the cost follows what is new. A
place whose head is not the one I wrote (rolled back, replaced, written by a copy of me) is compared in full instead.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from itertools import chain

from lazy.belonging.beacon import due_on
from lazy.interlace.plan import GROUP_SHARED, SELECTOR
from lazy.people import is_member
from lazy.places.published import Part, Published, Rest, keep_published, last_number, left_as, published, wrote
from lazy.places.sealing import is_under_new_key, rebased
from lazy.vectors import unreleased_told
from lazy.visits.additions import additions, exposed_bytes, exposed_sizes, missing, others
from lazy.visits.mine import ANEW, Mine, MyListing, listing_of, my_mailbox, noted
from lazy.visits.only_there import carried, going_away
from lazy.visits.own_copies import NOTHING, Wanted, copies, lies_in, not_mine, own_parts, parts_of, wanted_here
from lazy.visits.room import require_room_at
from lazy.visits.sending import Outgoing, Sending, plan_sending
from lazy.visits.terms import hello_lines, vector_told
from transports.errors import PlaceFull
from transports.index.runs import BundleRef
from transports.listing import Listing
from transports.mailbox import Mailbox, MailboxMedium, MailboxWriter
from transports.proven import Proven
from transports.publishing import Addition, Gone, Publication, publish, recover_bundles
from transports.reading import SeenHead
from transports.snapshot import LogReach, SnapshotHead
from vault.content.copies import drop_wanted
from vault.errors import DataError
from vault.records import RecordHash, Seal
from vault.vault import Vault
from vault.watch import Watch

__all__ = ["publish_mine", "publish_once", "settle_published"]

_END = (1 << 63) - 1  # after every number of the exposure log


def settle_published(vault: Vault, medium: MailboxMedium, name: str) -> None:
    """Take note that a mailbox lists all that is shared, where the cursor of it is not believed any more.

    Raises:
        PlaceError: the medium went away.
    """
    plan = plan_sending(vault, medium, name)
    head = plan.mine.head
    if head is None or plan.mine.trusted or plan.is_anew:
        return
    left = left_as(vault, medium.place_id, name, head)
    if left is not None and not plan.amount(vault, medium).records:
        listing = listing_of(vault, medium, plan.mine) or Listing([])
        parts = own_parts(vault, (0, plan.upto), lambda record: lies_in(listing, record, vault.node))
        known = MyListing(vault, medium, plan.mine, Proven())
        _remember(vault, medium, name, head, plan.upto, left.rest._replace(copied=known.copied_with(parts)))


def publish_mine(
    vault: Vault,
    medium: MailboxMedium,
    watch: Watch = Watch(),
    *,
    name: str,
    planned: Sending | None = None,
    on_other: Callable[[], None] | None = None,
    proven: Proven | None = None,
    rotten: Collection[str] = (),
) -> Outgoing:
    """Bring my mailbox on a place up to date; nothing new means nothing written.

    Only the committed store is read, so nothing leaves before the mark's `done`. A mailbox of mine that was wiped,
    rolled back or damaged there is brought back whole.

    Args:
        vault: whose mailbox it is.
        medium: where it lies.
        watch: progress and cancel.
        name: of the place, which tells it from others that are the same medium.
        planned: what goes, as it was settled and perhaps shown before; settled now without it.
        on_other: called before anything is written where my mailbox shows a head that this vault did not write: it
            was restored, or a copy of it wrote, and reads what that one said first.
        proven: what was read from this medium in this visit, and where; it is not read again to be named.
        rotten: names of bundles of mine in which something is damaged; they go once what is whole of them is elsewhere.

    Raises:
        PlaceError: the medium refuses; the mailbox still shows its former state.
        VaultBehindMark, OtherMachine, ...: as `Vault.check_mark`; a copy of me signs no head.
        Cancelled: the person stopped it.
    """
    if vault.founding is None:
        return Outgoing(0, 0)
    vault.check_mark()
    plan = planned or plan_sending(vault, medium, name)
    if on_other is not None and plan.mine.head is not None and not wrote(vault, medium.place_id, name, plan.mine.head):
        on_other()
        vault.check_mark()
        plan = plan_sending(vault, medium, name)  # what that one said is mine too
    wanted = wanted_here(vault, plan.mine)
    proven = proven or Proven()
    try:
        return _publish_with(vault, medium, name, plan, watch, proven, rotten, wanted)
    except PlaceFull:
        if plan.is_anew or not wanted.records:
            raise
        # What a prune alone waits for keeps nothing else back: it stays noted, for a place that has room.
        # The head may be there already, and no number is used twice: it is looked at again.
        plan = plan._replace(mine=my_mailbox(vault, medium, name))
        done = _publish_with(vault, medium, name, plan, watch, proven, rotten, NOTHING)
        return done._replace(waited=sum(one.size for one in wanted.records.values()))


def _publish_with(
    vault: Vault,
    medium: MailboxMedium,
    name: str,
    plan: Sending,
    watch: Watch,
    proven: Proven,
    rotten: Collection[str],
    wanted: Wanted,
) -> Outgoing:
    """Write what a plan says and these copies, show it, and take note of what then lies there."""
    mailbox = Mailbox(medium, vault.group, vault.node)
    writer = mailbox.writer()
    known = MyListing(vault, medium, plan.mine, proven, rotten)
    done, rest = _written(vault, medium, writer, plan, watch, known, wanted)
    head = _head(vault, medium, name, plan.mine, done, plan.vector)
    beacon = due_on(vault, medium)
    if beacon is not None:
        writer.put_beacon(beacon, with_head=head is not None)
    if head is None:
        if beacon is not None or not plan.mine.trusted:  # a run that was cut off may have written the head
            writer.verify_written()
        writer.leave_plain()  # which that one may not have come to
        _remember(vault, medium, name, plan.mine.head, plan.upto, rest, wanted)
        return Outgoing(0, 0)
    sealed = _shown(vault, writer, head)
    if plan.is_anew:
        named = {ref.name for ref in done.runs} | {line.split(" ")[1] for line in rest.files}
        writer.discard([name for name in mailbox.files() if name not in named])
        rebased(vault, medium.place_id, name)
    writer.discard([*done.obsolete, *{*rotten}.difference(bundle.name for bundle in done.bundles)])
    if is_member(vault, vault.node.text) and not vault.store.meta("admission"):
        writer.remove_request()
    writer.verify_written()
    _remember(vault, medium, name, SeenHead(head, sealed), plan.upto, rest, wanted)
    return Outgoing(done.copied + done.referenced, 0, done.copied, head.number)


def _written(
    vault: Vault,
    medium: MailboxMedium,
    writer: MailboxWriter,
    plan: Sending,
    watch: Watch,
    known: MyListing,
    wanted: Wanted,
) -> tuple[Publication, Rest]:
    """Write what a plan adds; return also what the mailbox then rests on.

    Nobody reads any of it before the head that names it.
    """
    mine = plan.mine
    leaving = going_away(vault, medium, is_anew=plan.is_anew)
    if plan.is_anew:
        left = Listing([])
        if writer.is_interrupted:
            good = is_under_new_key(vault, medium.place_id)
            left = Listing(recover_bundles(Mailbox(medium, vault.group, vault.node), None, good))
        done, used = _publish_alone(vault, medium, writer, (0, plan.upto), left, watch, leaving)
        return done, Rest(noted(done.bundles) | noted(used), ((0, plan.upto),))
    if plan.upto <= mine.at and mine.trusted and not leaving and not wanted.records:
        return Publication(mine.head.head.runs if mine.head else ()), mine.rest
    try:
        return _bring(vault, medium, writer, plan, known, watch, leaving, wanted)
    except DataError:
        # What lies there is not whole: begin anew, with what is still good of it.
        begun = MyListing(vault, medium, ANEW, known.proven)
        gone = [ref.name for ref in mine.head.head.runs] if mine.head else []
        return _bring(vault, medium, writer, plan._replace(mine=ANEW), begun, watch, leaving, wanted, instead=gone)


def _shown(vault: Vault, writer: MailboxWriter, head: SnapshotHead) -> Seal:
    """Seal a head and let readers find it."""
    sealed = Seal.sign(head.to_plex(vault.group), vault.key())
    writer.publish_head(sealed.encode(), [ref.name for ref in head.runs])
    return sealed


def publish_once(vault: Vault, medium: MailboxMedium, after: int, watch: Watch = Watch()) -> Outgoing:
    """Write what became shared after a number of the exposure log as a mailbox of its own, and finish it.

    What an interrupted run left there is used again.

    Raises:
        PlaceError: the medium refuses.
        Cancelled: the person stopped it.
    """
    vault.check_mark()
    with vault.store.reading():
        vector = vector_told(vault)
    mailbox = Mailbox(medium, vault.group, vault.node)
    writer = mailbox.writer()
    left = Listing(recover_bundles(mailbox, None))
    done, _ = _publish_alone(vault, medium, writer, (after, _END), left, watch)
    head = _head(vault, medium, "", ANEW, done, vector)
    if head is None:
        return Outgoing(0, 0)
    _shown(vault, writer, head)
    writer.verify_written()
    return Outgoing(done.copied + done.referenced, medium.count.written, done.copied, head.number)


def _bring(
    vault: Vault,
    medium: MailboxMedium,
    writer: MailboxWriter,
    plan: Sending,
    known: MyListing,
    watch: Watch,
    leaving: list[Listing],
    wanted: Wanted,
    *,
    instead: Collection[str] = (),
) -> tuple[Publication, Rest]:
    """Publish what a mailbox lacks, instead of runs that cannot be read; return also what it then rests on."""
    mine = plan.mine
    sources = others(vault, medium, exposed_bytes(vault, mine.at, plan.upto))
    files, lost = known.files(), known.lost()
    begins = not known.runs or bool(lost)
    unnamed = Listing([])
    if not known.runs:
        unnamed = Listing(recover_bundles(known.mailbox, None))
    elif writer.is_interrupted:
        unnamed = Listing(recover_bundles(known.mailbox, known.whole()))
    if begins or writer.is_interrupted:
        sources.insert(0, unnamed)
    lacking = missing(
        vault, medium, (mine.at, plan.upto), known, sources, begins=begins, alone=wanted.records, watch=watch
    )
    beside = frozenset(lacking.copied)
    waited = not_mine(wanted, known.whole(), vault.node) if wanted.records else {}
    left = [record for record in waited if record not in beside and record in unnamed]  # by a visit that was cut off
    beside |= frozenset(left)
    more = sum(one.least for record, one in waited.items() if record not in beside)
    require_room_at(vault, medium, (mine.at, plan.upto), sum(lacking.sizes), more)
    is_listed = known.whole() if leaving or lost or wanted.records or len(unnamed) else Listing([])
    over = carried(vault, medium, [*leaving, known.lies_lost()], unnamed, is_listed, watch.is_stopped)
    references = (*lacking.references, *over.references, *([unnamed.only(left)] if left else []))
    used = {bundle for run in references for bundle in run.named() if bundle is not None}
    done = publish(
        known.mailbox,
        writer,
        runs=known.runs,
        listing=known.whole() if wanted.records else known.of_additions(),
        additions=chain(
            _first_of(vault, lost, plan.upto, known.beside),
            additions(vault, lacking, watch, known),
            copies(vault, wanted, beside),
            over.copied,
        ),
        references=references,
        gone=Gone(lost, known.away(), instead),
        cancel=watch.is_stopped,
    )
    # What lies in another's bundle goes with it, and the listing may have named it there before.
    parts: Iterable[Part] = [(mine.at, plan.upto)]
    if len(known.of_additions()) or any(bundle.mailbox != vault.node for bundle in used):
        of_mine = [run for run in lacking.references if any(b and b.mailbox == vault.node for b in run.named())]
        named = [known.of_additions(), *map(Listing, ([run] for run in of_mine))]
        if any(map(len, named)):
            parts = own_parts(
                vault,
                (mine.at, plan.upto),
                lambda record: record in beside or any(lies_in(listing, record, vault.node) for listing in named),
            )
        else:  # as at a first visit, which names thousands of a friend's and copies a few
            parts = parts_of(vault, (mine.at, plan.upto), beside)
    copied = known.copied_with([*parts, *((each.at - 1, each.at) for each in wanted.records.values())])
    return done, Rest(files | noted(done.bundles) | noted(used), copied)


def _first_of(
    vault: Vault, lost: Mapping[RecordHash, str], upto: int, beside: tuple[RecordHash, str] | None
) -> Iterator[Addition]:
    """Yield the last record of a bundle that is gone, or one beside its only one, to begin the new one.

    In the former order it would come out alike, and git at a host takes in nothing under the name of an object that it
    has damaged.
    """
    if beside is not None:
        chosen = [beside[0]]
    else:
        chosen = [record for record, _ in exposed_sizes(vault, 0, upto) if record in lost][-1:] if len(lost) > 1 else []
    for each in chosen:
        stored = vault.store.stored_or_none(each)
        if stored:
            yield Addition(each, lost[each], load=partial(bytes, stored))


def _publish_alone(
    vault: Vault,
    medium: MailboxMedium,
    writer: MailboxWriter,
    between: tuple[int, int],
    left: Listing,
    watch: Watch,
    leaving: Collection[Listing] = (),
) -> tuple[Publication, set[BundleRef]]:
    """Write a part of the exposure log as a mailbox that rests on nothing but what an interrupted run left.

    What only mailboxes that go away with it hold is carried over. Return also the bundles of what was left.
    """
    known = MyListing(vault, medium, ANEW, Proven())
    lacking = missing(vault, medium, between, known, [left], watch=watch)
    require_room_at(vault, medium, between, sum(lacking.sizes))
    over = carried(vault, medium, leaving, left if leaving else Listing([]), (), watch.is_stopped)
    done = publish(
        known.mailbox,
        writer,
        runs=(),
        listing=None,
        additions=chain(additions(vault, lacking, watch, known), over.copied),
        references=(*lacking.references, *over.references),
        cancel=watch.is_stopped,
    )
    return done, lacking.bundles() | over.bundles()


def _head(
    vault: Vault, medium: MailboxMedium, name: str, mine: Mine, done: Publication, vector: tuple[LogReach, ...]
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


def _remember(
    vault: Vault,
    medium: MailboxMedium,
    name: str,
    head: SeenHead | None,
    at: int,
    rest: Rest,
    wanted: Wanted = NOTHING,
) -> None:
    if head is None:
        return
    seq = next((entry.seq for entry in head.head.vector if entry.node == vault.node), 0)
    left = Published(
        number=head.head.number,
        head=head.seal.hash.digest,
        epoch=vault.store.meta("epoch"),
        at=at,
        seq=seq,
        rest=rest,
    )
    if published(vault, medium.place_id, name) != left:
        with vault.writing(receiving=True) as w:
            keep_published(w, medium.place_id, name, left)
    if wanted.contents:
        with vault.writing(receiving=True) as w:
            drop_wanted(w, wanted.contents)
