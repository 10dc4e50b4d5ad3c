"""Publishing: what I share, brought onto a place as my mailbox (architecture, decision 4).

The exposure log says what became shared since the number I last published there, so the cost follows what is new. A
place whose head is not the one I wrote (rolled back, replaced, written by a copy of me) is compared in full instead.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from itertools import chain

from lazy.belonging.beacon import due_on
from lazy.people import is_member
from lazy.places.published import Rest, Span, left_as, wrote
from lazy.places.sealing import is_under_new_key, rebased
from lazy.visits.additions import additions, exposed_bytes, exposed_sizes, missing, others
from lazy.visits.copying import clear_unnamed, copy_wanted
from lazy.visits.mine import ANEW, Mine, MyListing, listing_of, my_mailbox, noted
from lazy.visits.my_head import next_head, remember, shown
from lazy.visits.only_there import carried, going_away
from lazy.visits.own_copies import lies_in, own_spans, spans_of
from lazy.visits.room import require_room_at
from lazy.visits.sending import Outgoing, Sending, plan_sending
from lazy.visits.terms import vector_told
from transports.errors import PlaceFull
from transports.index.runs import BundleRef, bundles_named
from transports.listing import Listing
from transports.mailbox import Mailbox, MailboxMedium, MailboxWriter
from transports.proven import Proven
from transports.publishing import Addition, Gone, Publication, publish, recover_bundles
from transports.reading import SeenHead
from vault.errors import DataError
from vault.notes.people import ADMISSION
from vault.records import RecordHash
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
        spans = own_spans(vault, (0, plan.upto), lambda record: lies_in(listing, record, vault.node))
        known = MyListing(vault, medium, plan.mine, Proven())
        remember(vault, medium, name, head, plan.upto, left.rest._replace(copied=known.copied_with(spans)))


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
    proven = proven or Proven()
    done = _publish_all(vault, medium, name, plan, watch, proven, rotten)
    # A head of its own for what a prune alone waits for: nothing that happens on the way keeps back what is new.
    try:
        return done.and_then(copy_wanted(vault, medium, name, watch, since=plan.mine.at))
    except DataError:  # an index run of mine is damaged, and is written anew; the next visit makes the copies
        plan = plan_sending(vault, medium, name)
        anew = plan._replace(mine=Mine(plan.mine.head, 0, trusted=False))
        return done.and_then(_publish(vault, medium, name, anew, watch, proven, ()))


def _publish_all(
    vault: Vault,
    medium: MailboxMedium,
    name: str,
    plan: Sending,
    watch: Watch,
    proven: Proven,
    rotten: Collection[str],
) -> Outgoing:
    """Publish what a plan says; in the place of copies for a prune that a visit began and left, where it needs that."""
    try:
        return _publish(vault, medium, name, plan, watch, proven, rotten)
    except PlaceFull:
        if plan.is_anew or not clear_unnamed(vault, medium):
            raise
        # The head may be there already, and no number is used twice: it is looked at again.
        plan = plan._replace(mine=my_mailbox(vault, medium, name))
        return _publish(vault, medium, name, plan, watch, proven, rotten)


def _publish(
    vault: Vault,
    medium: MailboxMedium,
    name: str,
    plan: Sending,
    watch: Watch,
    proven: Proven,
    rotten: Collection[str],
) -> Outgoing:
    """Write what a plan says, show it, and take note of what then lies there."""
    mailbox = Mailbox(medium, vault.group, vault.node)
    writer = mailbox.writer()
    known = MyListing(vault, medium, plan.mine, proven, rotten)
    done, rest = _written(vault, medium, writer, plan, watch, known)
    head = next_head(vault, medium, name, plan.mine, done, plan.vector)
    beacon = due_on(vault, medium)
    if beacon is not None:
        writer.put_beacon(beacon, with_head=head is not None)
    if head is None:
        if beacon is not None or not plan.mine.trusted:  # a run that was cut off may have written the head
            writer.verify_written()
        writer.leave_plain()  # which that one may not have come to
        remember(vault, medium, name, plan.mine.head, plan.upto, rest)
        return Outgoing(0, 0)
    sealed = shown(vault, writer, head)
    if is_member(vault, vault.node.text) and vault.store.note(ADMISSION) is None:
        writer.remove_request()
    writer.verify_written()  # before anything goes: it may be all that is left of what a prune let go of
    if plan.is_anew:
        named = {ref.name for ref in done.runs} | {line.split(" ")[1] for line in rest.files}
        writer.discard([name for name in mailbox.files() if name not in named])
        rebased(vault, medium.place_id, name)
    writer.discard([*done.obsolete, *{*rotten}.difference(bundle.name for bundle in done.bundles)])
    remember(vault, medium, name, SeenHead(head, sealed), plan.upto, rest)
    return Outgoing(done.copied + done.referenced, 0, done.copied, head.number)


def _written(
    vault: Vault,
    medium: MailboxMedium,
    writer: MailboxWriter,
    plan: Sending,
    watch: Watch,
    known: MyListing,
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
    if plan.upto <= mine.at and mine.trusted and not leaving:
        return Publication(mine.head.head.runs if mine.head else ()), mine.rest
    try:
        return _bring(vault, medium, writer, plan, known, watch, leaving)
    except DataError:
        # What lies there is not whole: begin anew, with what is still good of it.
        begun = MyListing(vault, medium, ANEW, known.proven)
        gone = [ref.name for ref in mine.head.head.runs] if mine.head else []
        return _bring(vault, medium, writer, plan._replace(mine=ANEW), begun, watch, leaving, instead=gone)


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
    head = next_head(vault, medium, "", ANEW, done, vector)
    if head is None:
        return Outgoing(0, 0)
    shown(vault, writer, head)
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
    lacking = missing(vault, medium, (mine.at, plan.upto), known, sources, begins=begins, watch=watch)
    beside = frozenset(lacking.copied)
    require_room_at(vault, medium, (mine.at, plan.upto), sum(lacking.sizes))
    is_listed = known.whole() if leaving or lost or len(unnamed) else Listing([])
    over = carried(vault, medium, [*leaving, known.lies_lost()], unnamed, is_listed, watch.is_stopped)
    references = (*lacking.references, *over.references)
    used = bundles_named(references)
    done = publish(
        known.mailbox,
        writer,
        runs=known.runs,
        listing=known.of_additions(),
        additions=chain(
            _first_of(vault, lost, plan.upto, known.beside), additions(vault, lacking, watch, known), over.copied
        ),
        references=references,
        gone=Gone(lost, known.away(), instead),
        cancel=watch.is_stopped,
    )
    # What lies in another's bundle goes with it, and the listing may have named it there before.
    spans: Iterable[Span] = [(mine.at, plan.upto)]
    if len(known.of_additions()) or any(bundle.mailbox != vault.node for bundle in used):
        of_mine = [run for run in lacking.references if any(b and b.mailbox == vault.node for b in run.named())]
        named = [known.of_additions(), *map(Listing, ([run] for run in of_mine))]
        if any(map(len, named)):
            spans = own_spans(
                vault,
                (mine.at, plan.upto),
                lambda record: record in beside or any(lies_in(listing, record, vault.node) for listing in named),
            )
        else:  # as at a first visit, which names thousands of a friend's and copies a few
            spans = spans_of(vault, (mine.at, plan.upto), beside)
    return done, Rest(files | noted(done.bundles) | noted(used), known.copied_with(spans))


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
    return done, bundles_named((*lacking.references, *over.references))
