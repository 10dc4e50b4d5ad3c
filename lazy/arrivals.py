"""What a visit brought: records, exchange by exchange, and what became visible, disputed or known of who belongs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from lazy.receiving.membership_news import MemberNews
from vault.desk_folders import MAIN
from vault.names import Version
from vault.plural import plural
from vault.records import RecordHash
from vault.records.hash_list import HashList

__all__ = ["Arrivals", "ExchangeResult", "NewRelease"]


class NewRelease(NamedTuple):
    """A release that became visible by this sync.

    Args:
        release: its hash.
        desk: whose state it is.
        version: its version.
        node: who released it.
        name: their name here.
        files: paths it adds or changes.
        deleted: paths it deletes.
    """

    release: RecordHash
    desk: str
    version: Version
    node: str
    name: str
    files: int
    deleted: int = 0

    @property
    def changed(self) -> str:
        """What it changes, in the words that every list has for it: `3 files, 1 deleted`."""
        told = [plural(self.files, "file")] if self.files else []
        told += [f"{self.deleted} deleted"] if self.deleted else []
        return ", ".join(told) or "no file changed"

    @property
    def sentence(self) -> str:
        """Who released it, and what it changes, in words."""
        where = "" if self.desk == MAIN else f"{self.desk} "
        return f"{self.name} released {where}{self.version}: {self.changed}"


class ExchangeResult(NamedTuple):
    """One interlace exchange with one peer or its mailbox (the Interlace-Result, INT-131).

    Args:
        peer: the peer's name here.
        peer_verifier: its verifier text.
        link_id: label of the link, or None while unproven (INT-74 to INT-76).
        plan_id: `E.` of the plan.
        advertised: records its listing names that were looked at.
        received: records stored.
        rejected: records refused, with code and reason.
        not_available: records advertised whose bytes could not be read there.
        fixed_point: whether nothing requestable was left.
        rounds: loops of request, transfer and validation.
        closed_by: what ended it: `fixed-point`, or a reason.
        cursor_updated: whether the cursor on this mailbox moved.
        late: records of nobody who belongs that came in it: they are judged when all of the place was read.
        sent: records given to the peer; what is put on a medium is given to nobody alone, and the visit counts it.
    """

    peer: str
    peer_verifier: str
    link_id: str | None
    plan_id: str | None
    advertised: int
    received: Sequence[RecordHash]
    rejected: tuple[tuple[RecordHash, str, str], ...]
    not_available: tuple[RecordHash, ...]
    fixed_point: bool
    rounds: int
    closed_by: str
    cursor_updated: bool
    late: tuple[RecordHash, ...] = ()
    sent: int = 0

    def and_then(self, later: ExchangeResult) -> ExchangeResult:
        """Return this exchange and a later one of the same visit with the same peer as one."""
        received = HashList(self.received)
        received.extend(later.received)  # packed as they are: a pass may have brought a million
        return later._replace(
            received=received,
            rejected=(*self.rejected, *later.rejected),
            late=(*self.late, *later.late),
            rounds=self.rounds + later.rounds,
            advertised=max(self.advertised, later.advertised),
        )


@dataclass(slots=True)
class Arrivals:
    """What one visit brought here.

    Args:
        exchanges: one with each mailbox or peer that was looked at.
        awaited: the refused records of people who asked to belong.
        told_before: the refused records of which a person was told by an earlier visit.
        releases: that became visible, also those of an earlier visit that was cut off before it told of them.
        new_conflicts: ids.
        admitted: names of people whom I let in, and of new keys that a member let in, as their own mailbox says.
        membership: others who came or went by what it brought, or what came since a visit told last.
        joined: whether it brought the word that made me a member.
        left_out: after a sync about a part of what is shared: whether something else is still to be fetched.
    """

    exchanges: list[ExchangeResult] = field(default_factory=list)
    awaited: frozenset[RecordHash] = frozenset()
    told_before: frozenset[RecordHash] = frozenset()
    releases: list[NewRelease] = field(default_factory=list)
    new_conflicts: list[str] = field(default_factory=list)
    admitted: list[str] = field(default_factory=list)
    membership: list[MemberNews] = field(default_factory=list)
    joined: bool = False
    left_out: bool = False

    def add(self, exchange: ExchangeResult) -> None:
        """Add an exchange to an earlier one of this visit with the same peer, else beside the others."""
        for at, old in enumerate(self.exchanges):
            if old.peer_verifier == exchange.peer_verifier:
                self.exchanges[at] = old.and_then(exchange)
                return
        self.exchanges.append(exchange)

    def follow(self, before: Arrivals) -> None:
        """Tell also what an earlier visit brought, which came to nothing else."""
        self.exchanges[:0] = before.exchanges
        self.awaited |= before.awaited
        self.told_before |= before.told_before
        self.releases[:0] = before.releases
        self.new_conflicts[:0] = before.new_conflicts
        self.admitted[:0] = before.admitted
        self.membership[:0] = before.membership

    @property
    def received(self) -> HashList:
        """All records stored, in order."""
        found = HashList()
        for exchange in self.exchanges:
            found.extend(exchange.received)
        return found

    @property
    def rejected(self) -> list[tuple[RecordHash, str, str]]:
        """All records refused."""
        return [record for exchange in self.exchanges for record in exchange.rejected]

    @property
    def disputed(self) -> list[tuple[RecordHash, str, str]]:
        """The refused ones but those of somebody who asked to belong, which come again, and those told of before."""
        return [entry for entry in self.rejected if entry[0] not in self.awaited | self.told_before]
