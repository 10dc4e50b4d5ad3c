"""The plan of a visit to a medium: one frozen value that is made once, shown, and carried out as it is (LAZ-13).

It holds what settles everything that can move: which numbers of my exposure log go, and the heads of the mailboxes as
they lay there; a head names its runs, and so its records, by digest. Counting is done only where somebody looks.
"""

from __future__ import annotations

from typing import NamedTuple

from lazy.people import label_of, left
from lazy.places.published import wrote
from lazy.problems import Problem
from lazy.receiving.receive import Receiver
from lazy.visits.exchange import MailboxReader, Reading
from lazy.visits.my_mailbox import my_mailbox
from lazy.visits.sending import Outgoing, Sending, plan_sending
from transports.mailbox import MailboxMedium
from vault.errors import DataError, PeerError, PlaceError
from vault.records import RecordHash, Verifier
from vault.vault import Vault
from vault.watch import Watch

__all__ = ["Amount", "VisitPlan", "amount", "plan_visit"]


class VisitPlan(NamedTuple):
    """What a visit to one medium does.

    Args:
        place: name of the place.
        place_id: what lies there says it is.
        sending: what of mine goes; None when nothing is to be sent.
        readings: the mailboxes to read, in order; None when nothing is to be read.
        faults: what is wrong with mailboxes that cannot be read, by node.
        nodes: whose mailboxes lie there, those with nothing but a request included.
    """

    place: str
    place_id: str
    sending: Sending | None
    readings: tuple[Reading, ...] | None
    faults: tuple[tuple[Verifier, Problem], ...] = ()
    nodes: tuple[Verifier, ...] = ()


class Amount(NamedTuple):
    """What a plan comes to.

    Args:
        sent: records of mine, and their bytes.
        received: records that are listed and missing here.
        named: those of them that my mailbox will name then, too.
        bytes_received: bytes that are read for them.
        problems: mailboxes of which nothing is read.
    """

    sent: Outgoing
    received: int
    named: int
    bytes_received: int
    problems: tuple[Problem, ...]


def plan_visit(
    vault: Vault, place: str, medium: MailboxMedium, *, push: bool, pull: bool, is_shown: bool = False
) -> VisitPlan:
    """Look at a medium and settle what a visit does there; nothing is written, here or there.

    Args:
        vault: who visits.
        place: its name.
        medium: it.
        push: whether anything is to go there.
        pull: whether anything is to be taken.
        is_shown: whether it is counted for a person: a visit that only pulls reads my own head itself, later.

    Raises:
        PlaceError: the medium is gone.
    """
    sending = plan_sending(vault, medium, place) if push else None
    if not pull:
        return VisitPlan(place, medium.place_id, sending, None)
    receiver = Receiver(vault, place)
    reader = MailboxReader(vault, medium, receiver, Watch())
    readings: list[Reading] = []
    faults: list[tuple[Verifier, Problem]] = []
    away = left(vault)
    nodes = tuple(node for node in medium.nodes(vault.group) if node.text not in away)
    for node in nodes:
        is_mine = node == vault.node and not receiver.holes.is_anything_missing()
        if is_mine and (not (push or is_shown) or _wrote_all(vault, place, medium, sending)):
            continue  # what lies there is mine, and `sending` knows it; of what a copy of me wrote it does not
        try:
            reading = reader.look(node)
        except PlaceError:
            raise
        except (DataError, PeerError) as error:
            who = label_of(vault, node.text)
            faults.append((node, Problem.in_mailbox(error, who, medium.kind, is_mine=node == vault.node)))
        else:
            readings += [reading] if reading is not None else []
    return VisitPlan(place, medium.place_id, sending, tuple(readings), tuple(faults), nodes)


def _wrote_all(vault: Vault, place: str, medium: MailboxMedium, sending: Sending | None) -> bool:
    """Tell whether what lies in my mailbox was written by this vault."""
    mine = (sending.mine if sending is not None else my_mailbox(vault, medium, place)).head
    return mine is None or wrote(vault, medium.place_id, place, mine)


def amount(vault: Vault, medium: MailboxMedium, plan: VisitPlan) -> Amount:
    """Count what a plan moves, from listings alone; nothing is written.

    Raises:
        PlaceError: the medium is gone.
    """
    sent = plan.sending.amount(vault, medium) if plan.sending is not None else Outgoing(0, 0)
    reader = MailboxReader(vault, medium, Receiver(vault, plan.place), Watch())
    counted: set[RecordHash] = set()
    problems = [problem for _, problem in plan.faults]
    received = named = size = 0
    # Mine first, as a restored vault reads it: what it lists already is not sent again, though friends list it too.
    for reading in sorted(plan.readings or (), key=lambda reading: reading.node != vault.node):
        who, is_mine = label_of(vault, reading.node.text), reading.node == vault.node
        if reading.doubt is not None:
            problems.append(Problem.in_mailbox(reading.doubt, who, medium.kind, is_mine=is_mine))
        try:
            records, stored = reader.missing(reading, counted)
        except PlaceError:
            raise
        except (DataError, PeerError) as error:
            problems.append(Problem.in_mailbox(error, who, medium.kind, is_mine=is_mine))
            continue
        received, size = received + records, size + stored
        named += records if reading.node != vault.node else 0
    return Amount(sent, received, named, size, tuple(problems))
