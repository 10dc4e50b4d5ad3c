"""Reading the mailboxes of a medium, pass by pass, until one brings nothing new: no record, and nobody admitted."""

from __future__ import annotations

from lazy.arrivals import Arrivals
from lazy.belonging.admitting import consider
from lazy.belonging.requests import has_room
from lazy.people import is_member, label_of, left
from lazy.places.registry import Place
from lazy.problems import Problem, written_anew
from lazy.receiving.closed import closed_records
from lazy.visits.exchange import MailboxReader, Reading, Taken
from lazy.visits.owners import StrangersMailbox, gathered
from lazy.visits.plans import VisitPlan
from transports.mailbox import MailboxMedium
from vault.errors import DataError, LaceError, PeerError, PlaceError
from vault.records import Verifier, parse_record
from vault.space import NoRoom
from vault.vault import Vault
from vault.watch import Watch

__all__ = ["Passes"]

_MAX_PASSES = 16  # one that brings nothing new ends it long before


class Passes:
    """The passes of one visit.

    Args:
        vault: who visits.
        place: where.
        medium: the same, opened.
        reader: reads one mailbox.
        came: what the visit brings; exchanges and who was admitted are added to it.
        watch: progress and cancel.
    """

    def __init__(
        self, vault: Vault, place: Place, medium: MailboxMedium, reader: MailboxReader, came: Arrivals, watch: Watch
    ) -> None:
        self._vault, self._place, self._medium = vault, place, medium
        self._reader, self._came, self._watch = reader, came, watch
        self._readings: dict[Verifier, Reading] = {}
        self._no_room: NoRoom | None = None  # in the last pass
        self.problems: list[Problem] = []
        """What was wrong with mailboxes in the last pass: what was so in one before may have come right."""

    def read(self, plan: VisitPlan, *, reads_mine: bool, admits: bool) -> None:
        """Read the planned mailboxes, then all there are, until a pass brings nothing new.

        A mailbox that could not be read as planned is looked at again after the first pass: somebody may belong by
        then, and what was encrypted may be readable.

        Args:
            plan: what was looked at before.
            reads_mine: whether my own mailbox is read too.
            admits: whether who asks to belong may be let in.

        Raises:
            NoRoom: the disk has none for what is listed, and nothing came from any other mailbox.
            PlaceError: the medium went away.
            Cancelled: the person stopped it.
        """
        self._readings = {reading.node: reading for reading in plan.readings or ()}
        away = left(self._vault)
        faults = dict(plan.faults)
        for number in range(1, _MAX_PASSES + 1):
            self.problems, self._no_room = [], None
            progress = False
            nodes = plan.nodes if number == 1 else self._medium.nodes(self._vault.group)
            for done, node in enumerate(nodes):
                if node.text in away:
                    continue
                self._watch.progress(done, len(nodes), "read mailboxes")
                self._watch.cancelled()
                if node != self._vault.node and admits:
                    progress |= self._admit(node)
                if number == 1 and node in faults:
                    self.problems.append(faults[node])
                elif reads_mine if node == self._vault.node else number > 1 or node in self._readings:
                    progress |= self._read_one(node)
                if node in self._readings and (doubt := self._readings[node].doubt) is not None:
                    self._blame(node, doubt)
            if not progress:
                break
        self.problems = gathered(self._vault, nodes, self.problems)
        if self._no_room is not None and not any(exchange.received for exchange in self._came.exchanges):
            raise self._no_room

    def _admit(self, node: Verifier) -> bool:
        """Look at a node's request; tell whether somebody was admitted. What a member left there asks for nothing."""
        vault = self._vault
        if is_member(vault, node.text):
            return False
        try:
            stored = self._medium.read_request(vault.group, node)
            if stored is None:
                return False
            name = consider(vault, self._place.name, parse_record(stored), node, keeps=has_room(vault))
        except (DataError, PeerError) as error:
            self._blame(node, error)
            return False
        if name is None:
            return False
        self._came.admitted.append(name)
        return True

    def _read_one(self, node: Verifier) -> bool:
        """Run the exchange with one mailbox as it was first looked at; tell whether it brought anything new."""
        try:
            taken = self._take(node)
        except NoRoom as error:
            self._no_room = error
            self._blame(node, error)
            return False
        if taken is None:
            return False
        self._tell_unread(node, taken)
        self._came.add(taken.exchange)
        return bool(taken.exchange.received)

    def _take(self, node: Verifier) -> Taken | None:
        """Return what a mailbox gave; None where it gave nothing, and why is told.

        Raises:
            NoRoom: the disk has none for what it lists.
        """
        try:
            reading = self._readings.get(node) or self._reader.look(node)
            if reading is None:
                return None
            self._readings[node] = reading
            return self._reader.take(reading)
        except PlaceError:
            raise
        except StrangersMailbox as error:
            self._blame(node, error)
            return Taken(error.exchange, {}, frozenset()) if error.exchange is not None else None
        except (DataError, PeerError) as error:
            self._blame(node, error)
            return None

    def _tell_unread(self, node: Verifier, taken: Taken) -> None:
        """Say what a mailbox lists and did not give."""
        who, lost, kind = label_of(self._vault, node.text), taken.exchange.not_available, self._place.kind
        if taken.closed:
            self.problems.append(closed_records(who, len(taken.closed), kind))
        if lost:
            count = len(lost)
            what = f"{'1 record' if count == 1 else f'{count} records'} that it lists could not be read here."
            ways = written_anew(who, kind, is_mine=node == self._vault.node)
            self.problems.append(Problem("not-available", f"{what} {taken.unread[lost[0]]} ({lost[0]})", who, *ways))

    def _blame(self, node: Verifier, error: LaceError) -> None:
        """Say what is wrong with a mailbox."""
        name, is_mine = label_of(self._vault, node.text), node == self._vault.node
        self.problems.append(Problem.in_mailbox(error, name, self._place.kind, is_mine=is_mine))
