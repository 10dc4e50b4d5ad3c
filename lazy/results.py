"""What a sync did: one value that the command line prints and the app shows (INT-131, cli.md "Sync")."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Self

from lazy.arrivals import Arrivals
from lazy.endings import Done, Ending, Held, Queued, Refused
from lazy.problems import Problem, at_place
from vault.errors import LaceError, PlaceError

if TYPE_CHECKING:
    from transports.mailbox import ByteCount

__all__ = [
    "HasAll",
    "LiesThere",
    "PlaceResult",
    "Planned",
    "Traffic",
]


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
        came: what it brought.
        problems: what a person is told of beside that.
        sent: records put on the place, or that would be.
        traffic: what it cost.
        vector_before: Seq up to which each node's log counted here, by verifier text.
        vector_after: the same at the end.
        next: the command that a person wants now; empty for none.
        unmade: why no file was made where one was asked for.
        only_read: whether it took nothing of mine, as a vault beside mine whose key is not here or may not sign.
        waiting: records that came at a place visited after it, and were not put there in this sync.
        unreleased: commits that peers say they have not released, by name: none of our concern.
    """

    name: str
    kind: str
    planned: Planned | None = None
    ending: Ending = field(default_factory=Done)
    came: Arrivals = field(default_factory=Arrivals)
    problems: list[Problem] = field(default_factory=list)
    sent: int = 0
    traffic: Traffic = field(default_factory=Traffic)
    vector_before: dict[str, int] = field(default_factory=dict)
    vector_after: dict[str, int] = field(default_factory=dict)
    unreleased: dict[str, int] = field(default_factory=dict)
    unmade: HasAll | LiesThere | None = None
    only_read: bool = False
    waiting: int = 0
    next: str = ""

    @classmethod
    def undone(cls, name: str, kind: str, error: LaceError) -> Self:
        """Return the result of a visit that came to nothing but an error."""
        return cls(name, kind, ending=Queued.by(error), problems=[Problem.of(error, name)])

    def note_refusal(self, why: PlaceError) -> None:
        """Say once why the place took nothing, or nothing more."""
        at_place(why, self.name)
        self.ending = Refused(why)
        self.problems[:] = [problem for problem in self.problems if not problem.says(why)]
        self.problems.append(Problem.of(why, self.name))

    def follow(self, before: PlaceResult) -> None:
        """Tell also what an earlier visit to the place brought, which came to nothing else."""
        self.came.follow(before.came)
        self.sent += before.sent
        self.traffic = before.traffic.and_then(self.traffic)
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
        if isinstance(self.ending, Held):
            return self.ending.refusal
        return self.ending.why if isinstance(self.ending, Refused) else None

    @property
    def held(self) -> LaceError | None:
        """Why this vault may sign nothing."""
        return self.ending.why if isinstance(self.ending, Held) else None

    @property
    def safe_to_remove(self) -> bool:
        """Whether a drop may be pulled out."""
        return isinstance(self.ending, Done) and self.ending.safe_to_remove
