"""Publishing: what I share, brought onto a place as my mailbox (architecture, decision 4).

The exposure log says what became shared since the number I last published there, so the cost follows what is new. A
place whose head is not the one I wrote (rolled back, replaced, written by a copy of me) is compared in full instead.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from itertools import chain
from typing import NamedTuple

from lazy.belonging.beacon import due_on
from lazy.people import is_member
from lazy.places.published import Rest, Span, left_as, wrote
from lazy.places.sealing import is_under_new_key, rebased
from lazy.visits.additions import Missing, additions, exposed_sizes, missing, others
from lazy.visits.copying import clear_unnamed, copy_wanted
from lazy.visits.my_head import next_head, remember, shown
from lazy.visits.my_mailbox import ANEW, MyListing, MyMailbox, listing_of, my_mailbox, noted
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
from vault.desks.pages import kept
from vault.errors import DataError
from vault.notes.people import ADMISSION
from vault.records import RecordHash
from vault.vault import Vault
from vault.watch import Watch

__all__ = ["publish_mine", "publish_once", "settle_published"]

_MANY = 50_000  # records
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
        MayNotSign: as `Vault.check_mark`; a copy of me signs no head.
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
    publisher = _Publisher(vault, medium, name, watch, proven or Proven(), set(), rotten)
    done = publisher.publish_with_room(plan)
    # A head of its own for what a prune alone waits for: nothing that happens on the way keeps back what is new.
    try:
        return done.and_then(copy_wanted(vault, medium, name, watch, since=plan.mine.at))
    except DataError:  # an index run of mine is damaged, and is written anew; the next visit makes the copies
        plan = plan_sending(vault, medium, name)
        anew = plan._replace(mine=MyMailbox(plan.mine.head, 0, trusted=False))
        return done.and_then(publisher._replace(rotten=()).publish(anew))


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
    publisher = _Publisher(vault, medium, "", watch, Proven(), set())
    writer = publisher.mailbox.writer()
    left = Listing(recover_bundles(publisher.mailbox, None))
    done, _ = publisher.write_alone(writer, (after, _END), left)
    head = next_head(vault, medium, "", ANEW, done, vector)
    if head is None:
        return Outgoing(0, 0)
    shown(vault, writer, head)
    writer.verify_written()
    damaged = frozenset(publisher.damaged)
    return Outgoing(done.copied + done.referenced, medium.count.written, done.copied, head.number, damaged=damaged)


class _Publisher(NamedTuple):
    """Who publishes, where to, and what is at hand for it: the same for all that one visit tries.

    Args:
        vault: whose mailbox it is.
        medium: where it lies.
        name: of the place; empty where the mailbox is finished with this visit.
        watch: progress and cancel.
        proven: what was read from this medium in this visit, and where.
        damaged: takes the names of records that are left out, for their bytes here are not theirs any more.
        rotten: names of bundles of mine in which something is damaged.
    """

    vault: Vault
    medium: MailboxMedium
    name: str
    watch: Watch
    proven: Proven
    damaged: set[RecordHash]
    rotten: Collection[str] = ()

    @property
    def mailbox(self) -> Mailbox:
        """My mailbox there."""
        return Mailbox(self.medium, self.vault.group, self.vault.node)

    def publish_with_room(self, plan: Sending) -> Outgoing:
        """Publish what a plan says, in the place of copies for a prune that a visit began and left if it must."""
        try:
            return self.publish(plan)
        except PlaceFull:
            if plan.is_anew or not clear_unnamed(self.vault, self.medium):
                raise
            # The head may be there already, and no number is used twice: it is looked at again.
            return self.publish(plan._replace(mine=my_mailbox(self.vault, self.medium, self.name)))

    def publish(self, plan: Sending) -> Outgoing:
        """Write what a plan says, show it, and take note of what then lies there."""
        vault, medium, name = self.vault, self.medium, self.name
        writer = self.mailbox.writer()
        done, rest = self._write(writer, plan)
        head = next_head(vault, medium, name, plan.mine, done, plan.vector)
        beacon = due_on(vault, medium)
        if beacon is not None:
            writer.put_beacon(beacon, with_head=head is not None)
        if head is None:
            if beacon is not None or not plan.mine.trusted:  # a run that was cut off may have written the head
                writer.verify_written()
            writer.leave_plain()  # which that one may not have come to
            remember(vault, medium, name, plan.mine.head, plan.upto, rest, is_whole=not self.damaged)
            return Outgoing(0, 0, damaged=frozenset(self.damaged))
        sealed = shown(vault, writer, head)
        if is_member(vault, vault.node.text) and vault.store.note(ADMISSION) is None:
            writer.remove_request()
        writer.verify_written()  # before anything goes: it may be all that is left of what a prune let go of
        if plan.is_anew:
            named = {ref.name for ref in done.runs} | {line.split(" ")[1] for line in rest.files}
            writer.discard([name for name in self.mailbox.files() if name not in named])
            rebased(vault, medium.place_id, name)
        writer.discard([*done.obsolete, *{*self.rotten}.difference(bundle.name for bundle in done.bundles)])
        remember(vault, medium, name, SeenHead(head, sealed), plan.upto, rest, is_whole=not self.damaged)
        sent, damaged = done.copied + done.referenced, frozenset(self.damaged)
        return Outgoing(sent, 0, done.copied, head.number, damaged=damaged)

    def _write(self, writer: MailboxWriter, plan: Sending) -> tuple[Publication, Rest]:
        """Write what a plan adds; return also what the mailbox then rests on.

        Nobody reads any of it before the head that names it.
        """
        mine = plan.mine
        leaving = going_away(self.vault, self.medium, is_anew=plan.is_anew)
        if plan.is_anew:
            left = Listing([])
            if writer.is_interrupted:
                good = is_under_new_key(self.vault, self.medium.place_id)
                left = Listing(recover_bundles(self.mailbox, None, good))
            done, used = self.write_alone(writer, (0, plan.upto), left, leaving)
            copied = () if self.damaged else ((0, plan.upto),)
            return done, Rest(noted(done.bundles) | noted(used), copied)
        if plan.upto <= mine.at and mine.trusted and not leaving:
            return Publication(mine.head.head.runs if mine.head else ()), mine.rest
        try:
            known = MyListing(self.vault, self.medium, mine, self.proven, self.rotten)
            return self._write_lacking(writer, (mine.at, plan.upto), known, leaving)
        except DataError:
            # What lies there is not whole: begin anew, with what is still good of it.
            known = MyListing(self.vault, self.medium, ANEW, self.proven)
            gone = [ref.name for ref in mine.head.head.runs] if mine.head else []
            return self._write_lacking(writer, (ANEW.at, plan.upto), known, leaving, instead=gone)

    def _write_lacking(
        self,
        writer: MailboxWriter,
        between: tuple[int, int],
        known: MyListing,
        leaving: list[Listing],
        *,
        instead: Collection[str] = (),
    ) -> tuple[Publication, Rest]:
        """Publish what a mailbox lacks, instead of runs that cannot be read; return also what it then rests on."""
        vault, medium, watch = self.vault, self.medium, self.watch
        if between[1] - between[0] > _MANY:
            kept.forget()  # no page is read from here on, and what is named of so many takes as much room
        sources = others(vault, medium, between)
        files, lost = known.files(), known.lost()
        begins = not known.runs or bool(lost)
        unnamed = _unnamed(known, writer)
        if begins or writer.is_interrupted:
            sources.insert(0, unnamed)
        lacking = missing(vault, medium, between, known, sources, begins=begins, watch=watch)
        sources.clear()  # a large listing takes as much as what is named of it
        require_room_at(vault, medium, between, sum(lacking.sizes))
        is_listed = known.whole() if leaving or lost or len(unnamed) else Listing([])
        over = carried(vault, medium, [*leaving, known.lies_lost()], unnamed, is_listed, watch.is_stopped)
        references = (*lacking.references, *over.references)
        used = bundles_named(references)
        first = _first_of(vault, lost, between[1], known.beside)
        done = publish(
            known.mailbox,
            writer,
            runs=known.runs,
            listing=known.of_additions(),
            additions=chain(first, additions(vault, lacking, watch, known), over.copied),
            references=references,
            gone=Gone(lost, known.away(), instead),
            cancel=watch.is_stopped,
        )
        self.damaged.update(done.damaged)
        spans = self._spans_copied(between, known, lacking, used)
        return done, Rest(files | noted(done.bundles) | noted(used), known.copied_with(spans))

    def write_alone(
        self, writer: MailboxWriter, between: tuple[int, int], left: Listing, leaving: Collection[Listing] = ()
    ) -> tuple[Publication, set[BundleRef]]:
        """Write a part of the exposure log as a mailbox that rests on nothing but what an interrupted run left.

        What only mailboxes that go away with it hold is carried over. Return also the bundles of what was left.
        """
        vault, medium, watch = self.vault, self.medium, self.watch
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
        self.damaged.update(done.damaged)
        return done, bundles_named((*lacking.references, *over.references))

    def _spans_copied(
        self, between: Span, known: MyListing, lacking: Missing, used: Collection[BundleRef]
    ) -> Iterable[Span]:
        """Return the spans of what was published that lie whole in bundles of mine.

        What lies in another's bundle goes with it, and the listing may have named it there before.
        """
        vault = self.vault
        is_all = not self.damaged and not len(known.of_additions())
        if is_all and all(bundle.mailbox == vault.node for bundle in used):
            return [between]
        beside = frozenset(lacking.copied) - self.damaged
        of_mine = [run for run in lacking.references if any(b and b.mailbox == vault.node for b in run.named())]
        named = [known.of_additions(), *map(Listing, ([run] for run in of_mine))]
        if not any(map(len, named)):  # as at a first visit, which names thousands of a friend's and copies a few
            return spans_of(vault, between, beside)
        return own_spans(
            vault,
            between,
            lambda record: record in beside or any(lies_in(listing, record, vault.node) for listing in named),
        )


def _unnamed(known: MyListing, writer: MailboxWriter) -> Listing:
    """Return what lies in my bundles there that no run of mine names: an interrupted run left them."""
    if not known.runs:
        return Listing(recover_bundles(known.mailbox, None))
    if writer.is_interrupted:
        return Listing(recover_bundles(known.mailbox, known.whole()))
    return Listing([])


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
