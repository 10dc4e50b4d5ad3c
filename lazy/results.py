"""What a sync did: one value that the command line prints and the app shows (INT-131, cli.md "Sync")."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from lazy.endings import Done, Ending, Held, Queued, Refused
from lazy.problems import Problem
from vault.commands import as_typed, words_of
from vault.errors import LaceError, PlaceError
from vault.names import Version
from vault.plural import plural
from vault.records import RecordHash
from vault.records.hash_list import HashList

if TYPE_CHECKING:
    from transports.mailbox import ByteCount

__all__ = [
    "ExchangeResult",
    "HasAll",
    "LiesThere",
    "NewRelease",
    "PlaceResult",
    "Planned",
    "Traffic",
    "noted_problems",
    "noted_summary",
    "sync_command",
    "synced",
]


def sync_command(name: str) -> str:
    """Return the command that syncs with a place or peer, as it is typed: a name may hold a space or begin with a dash.

    >>> sync_command("-x")
    'lace sync -- -x'
    """
    return as_typed("sync", name)


def noted_summary(text: object) -> dict[str, Any]:
    """Return what was noted of a visit; nothing of a note that rotted, as the next visit writes it anew (APP-13)."""
    try:
        told = json.loads(str(text))
    except (ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}


def noted_problems(summary: Mapping[str, Any]) -> set[tuple[str, str]]:
    """Return code and peer of each problem that was noted of a visit."""
    told = summary.get("problems")
    problems = [problem for problem in told if isinstance(problem, dict)] if isinstance(told, list) else []
    return {(str(problem.get("code", "")), str(problem.get("peer", ""))) for problem in problems}


def synced(command: str) -> str:
    """Return the place or peer that a `sync_command` is about; empty for any other command."""
    words = words_of(command)
    return words[-1] if words[:2] == ["lace", "sync"] and len(words) > len(("lace", "sync")) else ""


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


class Planned(NamedTuple):
    """What a dry run counted, beside the records that would be sent; nothing was changed anywhere (LAZ-13).

    Args:
        bytes_to_send: stored bytes of the records that would be sent.
        records_to_receive: advertised records that are missing here.
        bytes_to_receive: their bytes as they rest there; None where the place does not say.
        bytes_free: bytes that are free there, where that is surely less than what would be sent takes; else None.
    """

    bytes_to_send: int = 0
    records_to_receive: int = 0
    bytes_to_receive: int | None = None
    bytes_free: int | None = None


class Traffic(NamedTuple):
    """What a visit moved, and waited for.

    Args:
        bytes_read: from the place.
        bytes_written: to the place.
        round_trips: that were waited for, after the connection was made.
    """

    bytes_read: int = 0
    bytes_written: int = 0
    round_trips: int = 0

    @classmethod
    def of(cls, count: ByteCount) -> Self:
        """Return what was counted up to now."""
        return cls(count.read, count.written, count.trips)

    def and_then(self, later: Traffic) -> Traffic:
        """Return what two visits cost together."""
        return Traffic(*(mine + theirs for mine, theirs in zip(self, later, strict=True)))


@dataclass(frozen=True, slots=True)
class HasAll:
    """No file was made for a peer who has everything.

    Args:
        peer: their name here.
    """

    peer: str


@dataclass(frozen=True, slots=True)
class LiesThere:
    """No file was made, since the same command made it before."""


@dataclass(slots=True)
class PlaceResult:
    """One place, read and written once.

    Args:
        name: the place's name.
        kind: its kind.
        planned: what a dry run counted; None after a visit that moved what there was.
        ending: how it ended; `Done` until something else is known.
        exchanges: one with each mailbox or peer that was looked at.
        problems: what a person is told of beside them.
        admitted: names of people who were let in by this visit.
        releases: that became visible, also those of an earlier visit that was cut off before it told of them.
        new_conflicts: ids.
        sent: records put on the place, or that would be.
        traffic: what it cost.
        vector_before: Seq up to which each node's log counted here, by verifier text.
        vector_after: the same at the end.
        next: the command that a person wants now; empty for none.
        joined: whether this visit brought the word that made me a member.
        awaited: the refused records of people who asked to belong.
        unmade: why no file was made where one was asked for.
        left_out: after a sync about a part of what is shared: whether something else is still to be fetched.
        only_read: whether it took nothing of mine, as a vault beside mine whose key is not on this machine.
        unreleased: commits that peers say they have not released, by name: none of our concern.
    """

    name: str
    kind: str
    planned: Planned | None = None
    ending: Ending = field(default_factory=Done)
    exchanges: list[ExchangeResult] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    admitted: list[str] = field(default_factory=list)
    releases: list[NewRelease] = field(default_factory=list)
    new_conflicts: list[str] = field(default_factory=list)
    sent: int = 0
    traffic: Traffic = field(default_factory=Traffic)
    vector_before: dict[str, int] = field(default_factory=dict)
    vector_after: dict[str, int] = field(default_factory=dict)
    unreleased: dict[str, int] = field(default_factory=dict)
    joined: bool = False
    awaited: frozenset[RecordHash] = frozenset()
    unmade: HasAll | LiesThere | None = None
    left_out: bool = False
    only_read: bool = False
    next: str = ""

    @classmethod
    def undone(cls, name: str, kind: str, error: LaceError) -> Self:
        """Return the result of a visit that came to nothing but an error."""
        return cls(name, kind, ending=Queued.by(error), problems=[Problem.of(error, name)])

    def follow(self, before: PlaceResult) -> None:
        """Tell also what an earlier visit to the place brought, which came to nothing else."""
        self.exchanges[:0] = before.exchanges
        self.admitted[:0] = before.admitted
        self.releases[:0] = before.releases
        self.new_conflicts[:0] = before.new_conflicts
        self.sent += before.sent
        self.traffic = before.traffic.and_then(self.traffic)
        self.awaited |= before.awaited
        own = before.refusal and before.refusal.code  # why there was a second visit
        self.problems[:0] = [one for one in before.problems if one.code != own and one not in self.problems]
        self.vector_before = before.vector_before

    @property
    def queued(self) -> bool:
        """Whether nothing could be done there."""
        return isinstance(self.ending, Queued)

    @property
    def refusal(self) -> PlaceError | None:
        """Why it could be read and not written."""
        return self.ending.why if isinstance(self.ending, Refused) else None

    @property
    def held(self) -> LaceError | None:
        """Why this vault may sign nothing."""
        return self.ending.why if isinstance(self.ending, Held) else None

    @property
    def safe_to_remove(self) -> bool:
        """Whether a drop may be pulled out."""
        return isinstance(self.ending, Done) and self.ending.safe_to_remove

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
        """The refused ones but those of somebody who asked to belong: they come again once they are a member."""
        return [entry for entry in self.rejected if entry[0] not in self.awaited]
