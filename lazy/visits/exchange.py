"""One exchange with one mailbox: the interlace machine over a passive medium (H-11, INT-120).

The order at reading: seal and number of the head; run digests over the unfiltered listing; plan; filter; request;
transfer; full validation; membership; closure. A mailbox whose head was read whole before costs one small read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from lazy.arrivals import ExchangeResult
from lazy.people import former, is_member, label_of
from lazy.places.copies import Copies
from lazy.places.published import wrote
from lazy.places.seen import LeftMailboxes, SeenMailbox, is_known_line, remember_seen, seen_before
from lazy.receiving.cuts import who_counts
from lazy.receiving.mailbox_left import LOOKED_AT, UNREAD, Left
from lazy.receiving.receive import Receiver
from lazy.vectors import note_met
from lazy.visits.listing_parts import parts_of
from lazy.visits.owners import StrangersMailbox, check_owner, is_strange, told_of
from lazy.visits.terms import hello_facts, terms
from lazy.visits.transfer import Transfer
from transports.address import AddressKind
from transports.encrypted.sealed import SealedPlace
from transports.errors import MailboxGone, MissingFile, RolledBack, TwoStates
from transports.layout import ONE_FILE
from transports.listing import Listing
from transports.mailbox import Mailbox, MailboxMedium
from transports.proven import Proven
from transports.reading import SeenHead, read_head, read_listing
from transports.snapshot import check_number
from vault.nodelog import VectorEntry
from vault.records import RecordHash, Verifier
from vault.vault import Vault
from vault.watch import Watch
from vault.writer import Writer

if TYPE_CHECKING:
    from lazy.interlace.ads import Fields
    from lazy.interlace.mailbox import MailboxExchange
    from lazy.interlace.result import InterlaceResult
    from lazy.visits.scoping import ScopedSync

__all__ = ["MailboxReader", "Reading", "Taken"]


class Reading(NamedTuple):
    """One mailbox as a visit found it. Its head names every run by its digest, so it settles what can be read.

    Args:
        node: whose.
        head: the head that lay there.
        doubt: what is told of it though it is read.
    """

    node: Verifier
    head: SeenHead
    doubt: TwoStates | None = None


class Taken(NamedTuple):
    """What one mailbox brought.

    Args:
        exchange: what became of what it lists.
        unread: what it listed and did not give, and why.
        closed: what of that rests on bytes here that are encrypted to others: the medium is sound, and I am not meant
            yet.
    """

    exchange: ExchangeResult
    unread: Mapping[RecordHash, str]
    closed: frozenset[RecordHash]


class MailboxReader:
    """Reads the mailboxes of one medium into one vault.

    Args:
        vault: the reader's vault.
        medium: whose mailboxes are read.
        receiver: takes what comes in; one a visit.
        watch: progress and cancel.
        scope: what is fetched of content; everything when there is none.
    """

    def __init__(
        self,
        vault: Vault,
        medium: MailboxMedium,
        receiver: Receiver,
        watch: Watch,
        scope: ScopedSync | None = None,
    ) -> None:
        self._vault = vault
        self._scope = scope
        self._medium = medium
        self._receiver = receiver
        self._watch = watch
        self.proven = Proven()
        """Where on the medium large records lie that were read; naming these places needs no second look."""
        self._unchanged: dict[Verifier, SeenHead] = {}
        self._left = LeftMailboxes(vault, medium)
        self._copies = Copies(vault, medium.place_id, receiver.source)

    def look(self, node: Verifier) -> Reading | None:
        """Settle what is to be read of a node's mailbox; None for none, or mine as I left it while nothing is missing.

        That another head of its number was seen here is a doubt about it (CYB-18): what it lists may lie nowhere else,
        and shows whether its owner's log forked.

        Raises:
            MailboxGone: a copy behind a web server showed it before.
            RolledBack: its head is older than the one seen here before (CYB-18); of a copy that is natural.
            PeerError, DataError: it breaks a rule; the rest of the visit goes on.
            PlaceError: the medium is gone.
        """
        head = read_head(self._mailbox(node))
        if head is None and self._is_gone(node):
            raise MailboxGone("The mailbox that was read before is not here, or it is encrypted.")
        if head is None or (self._is_mine(node, head) and not self._receiver.holes.is_anything_missing()):
            return None
        check_owner(self._vault, node, head)
        seen = seen_before(self._vault, self._medium.place_id, node)
        doubt = None
        try:
            check_number(seen.mark if seen else None, head.mark)
        except TwoStates as error:
            doubt = error
        except RolledBack:
            if not self._copies.lags(node, head.head.number):
                raise
        return Reading(node, head, doubt)

    def take(self, reading: Reading) -> Taken | None:
        """Run the exchange with a mailbox as it was looked at; None when there is nothing new in it.

        Raises:
            StrangersMailbox: its owner is no member, and nothing in it says otherwise.
            NoRoom: the disk has none for what is listed; it may be a lie, so the rest of the visit goes on.
            PeerError, DataError, PlaceError: as `look`.
        """
        try:
            return self._take(reading)
        except MissingFile:
            again = self.look(reading.node)  # its owner merged runs since: the new head names what is there
            return self._take(again) if again is not None else None

    def _take(self, reading: Reading) -> Taken | None:
        node, head = reading.node, reading.head
        # Judged again: what another mailbox brought since may say who belongs.
        proven = check_owner(self._vault, node, head)
        seen = self._left.before(node)
        received = len(self._receiver.received)
        if is_strange(self._vault, node):
            proven = self._prove(node, head, seen)
        self._copies.show(node, head.head.number, in_plain=self._is_in_plain(node))
        if self._is_read(head, seen):
            if seen is not None and seen.mark == head.mark:  # one that lags says nothing of today
                self._unchanged[node] = head
            return None
        return self._run(node, head, self._listing(node, head, seen), proven=proven, since=received)

    def _is_read(self, head: SeenHead, seen: SeenMailbox | None) -> bool:
        """Tell whether everything that a head names was dealt with before: of a copy that lags, at the one ahead.

        Where that one was read only in part, because it is damaged there or for a path, the copy may hold the rest. And
        a copy of a lower number lags only where it goes no other way than the one ahead: a fork has lower ones too.
        """
        if seen is None or not seen.covers(head) or not seen.left.is_still(self._receiver.holes):
            return False
        return seen.mark == head.mark or is_known_line(self._vault, head)

    def _listing(self, node: Verifier, head: SeenHead, seen: SeenMailbox | None) -> Listing:
        """Return what a mailbox lists, without the runs that were dealt with before."""
        known = seen.runs if seen and seen.left.is_still(self._receiver.holes) else frozenset()
        return read_listing(self._mailbox(node), head.head, seen=known)

    def missing(self, reading: Reading, counted: set[RecordHash]) -> tuple[int, int]:
        """Count what `take` would ask for at most: what is listed, missing here and never refused; writes nothing.

        Args:
            reading: the mailbox as it was looked at.
            counted: what was counted in others, which is left out; what is counted here is added.

        Returns:
            Records, and the bytes that are read for them.

        Raises:
            StrangersMailbox: its owner is no member as far as is known now.
            PeerError, DataError, PlaceError: as `take`.
        """
        node, head = reading.node, reading.head
        if is_strange(self._vault, node):
            raise StrangersMailbox
        seen = seen_before(self._vault, self._medium.place_id, node)
        if self._is_read(head, seen):
            return 0, 0
        listing = self._listing(node, head, seen)
        records = {record for record, _ in listing.items()} - counted
        records -= self._vault.store.have(records)
        records -= self._receiver.refused_before()
        counted |= records
        return len(records), sum(frame.stored for reads in listing.locate(records) for frame in reads.frames)

    def _mailbox(self, node: Verifier) -> Mailbox:
        return Mailbox(self._medium, self._vault.group, node)

    # Checks

    def _prove(self, node: Verifier, head: SeenHead, seen: SeenMailbox | None) -> bool:
        """Look in a stranger's mailbox for what makes its owner a member (decision 4); tell whether that is so now.

        What the mailboxes of other strangers brought in this visit counts too, so a pass may change the answer.

        Raises:
            StrangersMailbox: its owner is none.
        """
        receiver, number = self._receiver, len(self._receiver.received)
        if seen is not None and seen.covers(head) and seen.left == LOOKED_AT:
            raise StrangersMailbox
        from lazy.receiving.unproven import Unproven  # a stranger is rare

        unproven = Unproven(self._vault, self._medium, receiver, self._watch.is_stopped)
        is_whole = unproven.look(node, head.head, lambda: not is_strange(self._vault, node))
        if not is_strange(self._vault, node):
            return is_member(self._vault, node.text)
        with self._vault.writing(receiving=True) as w:
            remember_seen(w, self._medium.place_id, node, head, LOOKED_AT if is_whole else UNREAD)
        raise StrangersMailbox(told_of(self._vault, node, receiver.received[number:]))

    def _is_mine(self, node: Verifier, head: SeenHead) -> bool:
        """Tell whether this vault wrote a head last: of my own mailbox, as it was left here."""
        return node == self._vault.node and wrote(self._vault, self._medium.place_id, self._receiver.source, head)

    def _is_gone(self, node: Verifier) -> bool:
        """Tell whether a mailbox is missing where nobody but who copies writes: elsewhere its owner takes it away."""
        is_copy = self._medium.kind == AddressKind.HTTP and node != self._vault.node
        return is_copy and is_member(self._vault, node.text) and self._copies.has_shown(node)

    def _is_in_plain(self, node: Verifier) -> bool:
        """Tell whether a mailbox lies in plain where a web server may have a copy, which is asked for it again then."""
        if self._medium.kind not in {AddressKind.DROP, AddressKind.HTTP}:
            return False
        return not (isinstance(self._medium, SealedPlace) and self._medium.has_opened(self._vault.group, node))

    # The exchange

    def _exchange(
        self, node: Verifier, head: SeenHead, apps: dict[RecordHash, str], *, reached: bool, proven: bool
    ) -> MailboxExchange:
        """Return a round with this mailbox, or with a part of it, that is to begin."""
        # The machine is needed where something is new: it takes longer to load than to find that nothing is.
        from lazy.interlace.link import LinkConfig
        from lazy.interlace.mailbox import MailboxExchange, PeerSnapshot
        from lazy.visits.mailbox_port import MailboxPort

        fields: dict[str, Fields] = {app: (("App", 0, app),) for app in set(apps.values())}
        snapshot = PeerSnapshot(
            signer=node if proven and node != self._vault.node else None,
            module_id=head.head.operand,
            hello=hello_facts(head.head.hello),
            listing={record: fields[app] for record, app in apps.items()},
            facet=head.head.facet,
        )
        config = LinkConfig(
            terms=terms(self._vault.around.tai()), here=self._vault.node, peer_label=f"mailbox:{node.key.hex()}"
        )
        if self._scope is not None:
            config = replace(config, module=self._scope.module, registry=self._scope.registry)
        return MailboxExchange(config, MailboxPort(self._receiver, apps, reached=reached), snapshot)

    def _run(self, node: Verifier, head: SeenHead, listing: Listing, *, proven: bool, since: int) -> Taken:
        """Run rounds until one is not ended by its byte limit, for each part; report them as one exchange."""
        receiver = self._receiver
        # What was only weighed, in the mailbox of somebody who is no member, was brought by nobody yet.
        refused, waiting = {refusal.hash for refusal in receiver.refusals}, set(receiver.strangers) - receiver.weighed
        # In a scope nothing is said of what is missing, which is much there and takes long to sum.
        stood, before = who_counts(self._vault), Left.now(receiver.holes) if self._scope is None else UNREAD
        mailbox = self._mailbox(node)
        transfer = Transfer(
            self._vault, mailbox, listing, lambda: read_listing(mailbox, head.head), self._watch, self.proven
        )
        result, loops = self._rounds(node, head, transfer, proven=proven)
        with self._vault.writing(receiving=True) as w:
            # Who stands otherwise makes records count that were refused when this exchange began.
            is_read = stood == who_counts(w) and not transfer.unread and result.is_fixed_point
            has_all = is_read and not receiver.holes.any()
            now = Left.now(receiver.holes) if is_read and (has_all or self._scope is None) else UNREAD
            # What this exchange made known to be missing may lie in runs that were not read this time, and in a scope
            # some of what is missing was not asked for.
            left = now if has_all or now == before else UNREAD
            self._left.note(w, node, head, left, stood=stood, owes=receiver.owes)
            self._note_vector(w, node, head)
        exchange = ExchangeResult(
            peer=label_of(self._vault, node.text),
            peer_verifier=node.text,
            link_id=result.link_id or None,
            plan_id=result.plan_id or None,
            advertised=len(listing),
            received=receiver.received[since:],
            rejected=tuple((r.hash, r.code, r.reason) for r in receiver.refusals if r.hash not in refused),
            late=tuple(record for record in receiver.strangers if record not in waiting | receiver.weighed),
            not_available=tuple(record for record in transfer.unread if record not in transfer.closed),
            fixed_point=result.is_fixed_point,
            rounds=max(loops, 1),
            closed_by=result.closed_by.value,
            cursor_updated=has_all,
        )
        return Taken(exchange, transfer.unread, frozenset(transfer.closed))

    def _rounds(
        self, node: Verifier, head: SeenHead, transfer: Transfer, *, proven: bool
    ) -> tuple[InterlaceResult, int]:
        """Run the rounds; return how they ended, and how many moved records."""
        loops = 0
        result: InterlaceResult | None = None
        parts = parts_of(transfer.listing, head.head.operand, self._receiver, is_scoped=self._scope is not None)
        for part, reached in chain(parts, [({}, False)]):
            if not part and result is not None:
                break
            done, moved = self._rounds_of(node, head, part, transfer, reached=reached, proven=proven)
            loops += moved
            result = done if result is None or result.is_fixed_point else result
        assert result is not None  # noqa: S101 - an empty part is run when there is none
        return result, loops

    def _rounds_of(
        self,
        node: Verifier,
        head: SeenHead,
        part: dict[RecordHash, str],
        transfer: Transfer,
        *,
        reached: bool,
        proven: bool,
    ) -> tuple[InterlaceResult, int]:
        """Run rounds about a part of what is listed until one is not ended by its byte limit; as `_rounds`."""
        loops = 0
        while True:
            exchange = self._exchange(node, head, part, reached=reached, proven=proven)
            wanted, is_cut = exchange.start(), False
            while wanted:
                loops += 1
                is_cut = transfer.run(exchange, wanted)
                wanted = exchange.end_transfer()
            if not is_cut:
                return exchange.result or exchange.cancel(), loops
            if reached:  # what came is missing no more, and the round does not look whether it is here
                left = self._receiver.holes.among(part)
                part = {record: app for record, app in part.items() if record in left}

    # What stays

    def note_end(self, w: Writer) -> None:
        """Keep how the visit leaves the mailboxes: in the transaction that remembers what it refused."""
        self.note_unchanged(w)
        self._left.note_end(w)
        if self._medium.kind != ONE_FILE:  # it may be called as a place is, and is seldom read again
            self._copies.note(w)

    def note_unchanged(self, w: Writer) -> None:
        """Keep that those were met in whose mailboxes nothing was new."""
        for node, head in self._unchanged.items():
            self._note_vector(w, node, head)
        self._unchanged.clear()

    def _note_vector(self, w: Writer, node: Verifier, head: SeenHead) -> None:
        """Keep what the peer's own sealed head says it holds: the evidence that moves the queue (LAZ-47)."""
        if node == self._vault.node or self._vault.founding is None or former(self._vault, node.text) is not None:
            return
        note_met(
            w,
            node,
            {entry.node: VectorEntry(entry.seq, entry.digest, entry.is_forked) for entry in head.head.vector},
            place=self._receiver.source,
            now=self._vault.around.tai(),
            said_at=head.head.tai,
            unreleased=head.head.unreleased,
        )
