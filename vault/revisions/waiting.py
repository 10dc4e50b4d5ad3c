"""Waiting for revisions: single reads and ranges that are answered when there is something to say (CLAY-43 to CLAY-53).

Pure: who waits asks `step` after each commit, each foreign update and each tick of a clock, and is told what to
report. `Requests` keeps many of them, as a line's request manager does (CLAY-59 to CLAY-65).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from vault.records import Tai
from vault.revisions.cases import Case, Date, Number
from vault.revisions.reads import Outcome, ReadAnswer

__all__ = ["NEVER", "Closed", "Line", "Notice", "Request", "Requests", "Waiting", "brought_up"]

NEVER: Final = -1
"""What `Line.resolve` returns for a case that can never name a revision."""


class Line(NamedTuple):
    """How a line looks to somebody who waits.

    Args:
        head: the newest revision; 0 when there is none.
        resolve: a case -> the number it names now; None while it names none yet; `NEVER` when it never will.
        read: a number -> the answer at the path that is waited for.
    """

    head: int
    resolve: Callable[[Case], int | None]
    read: Callable[[int], ReadAnswer]


class Request(NamedTuple):
    """What is waited for: one case, or everything from one case to another (CLAY-43).

    Args:
        start: the case of a single read, or where a range begins; None is the head as it is at first.
        end: where a range ends; None never ends.
        is_range: whether it is a range.
    """

    start: Case | None = None
    end: Case | None = None
    is_range: bool = False

    @property
    def is_backwards(self) -> bool:
        """Whether its end is before its start by their own words, whatever the line will hold (CLAY-47)."""
        start, end = self.start, self.end
        if isinstance(start, Number) and isinstance(end, Number):
            return end.value < start.value
        return isinstance(start, Date) and isinstance(end, Date) and end.tai < start.tai

    @property
    def alarm(self) -> Tai | None:
        """When a clock has to wake it: the earlier of its dates (CLAY-50)."""
        dates = [case.tai for case in (self.start, self.end) if isinstance(case, Date)]
        return min(dates, default=None)


def brought_up(start: Case, head: int) -> Request:
    """Return what a read of a friend's whole desk becomes: everything from my head of it to that case (CLAY-62)."""
    return Request(Number(head), start, is_range=True)


class Notice(NamedTuple):
    """One answer: at which revision, and what is there."""

    number: int
    answer: ReadAnswer


class Closed(NamedTuple):
    """The end of waiting: answered, or closed with null because nothing can come any more (CLAY-51)."""

    is_null: bool


@dataclass(slots=True)
class Waiting:
    """One request and how far it was answered.

    Args:
        request: what is waited for.
    """

    request: Request
    closed: Closed | None = None
    _next: int | None = None
    _last: str | None = None

    def step(self, line: Line) -> list[Notice]:
        """Return what there is to report now; sets `closed` when that was all."""
        if self.closed is not None:
            return []
        return self._range(line) if self.request.is_range else self._single(line)

    def _single(self, line: Line) -> list[Notice]:
        number = line.head if self.request.start is None else line.resolve(self.request.start)
        if number is None:
            return []
        if number == NEVER:
            self.closed = Closed(is_null=True)
            return []
        answer = line.read(number)
        if answer.outcome is Outcome.NOT_YET:
            return []  # H-22: what may still come is waited for
        self.closed = Closed(is_null=answer.outcome is not Outcome.VALUE)
        return [Notice(number, answer)] if answer.outcome is Outcome.VALUE else []

    def _range(self, line: Line) -> list[Notice]:
        if self._next is None and not self._begin(line):
            return []
        end = None if self.request.end is None else line.resolve(self.request.end)
        if end == NEVER or (end is not None and self._next is not None and end < self._next and self._last is None):
            self.closed = Closed(is_null=True)  # CLAY-47: it ends before it begins
            return []
        found = []
        while self._next is not None and self._next <= (line.head if end is None else min(end, line.head)):
            answer = line.read(self._next)
            if answer.outcome is Outcome.NOT_YET:
                break
            if answer.outcome is Outcome.VALUE and answer.identity != self._last:
                found.append(Notice(self._next, answer))  # CLAY-45: commits elsewhere are silent
                self._last = answer.identity
            self._next += 1
        if end is not None and self._next is not None and self._next > end:
            self.closed = Closed(is_null=False)  # CLAY-48
        return found

    def _begin(self, line: Line) -> bool:
        """Find where a range begins; False while that is not known (CLAY-46)."""
        number = line.head if self.request.start is None else line.resolve(self.request.start)
        # What has not begun may wait, unless it is over: its end is here, so that nothing lies between (CLAY-46).
        is_over = number is None and self.request.end is not None and line.resolve(self.request.end) is not None
        if number == NEVER or is_over or self.request.is_backwards:
            self.closed = Closed(is_null=True)
            return False
        if number is None:
            return False
        self._next = number
        return True


@dataclass(slots=True)
class Requests:
    """A line's outstanding requests: two maps that mirror each other, and answers that are kept (CLAY-59, CLAY-60).

    Indexes only grow. A second identical single read is answered from what is kept, offline too (CLAY-61).
    """

    next_index: int = 0
    outstanding: dict[int, tuple[Hashable, Waiting]] = field(default_factory=dict)
    by_requester: dict[Hashable, int] = field(default_factory=dict)
    kept: dict[Request, Notice | None] = field(default_factory=dict)

    def ask(self, requester: Hashable, request: Request) -> Notice | Closed | int:
        """Take a request: an answer that is kept, its closing when null is kept, or the index under which it waits.

        A requester has one request; a new one takes the place of the old (cancelling uses the same address).
        """
        if not request.is_range and request in self.kept:
            kept = self.kept[request]
            return kept if kept is not None else Closed(is_null=True)
        self.cancel(requester)
        index, self.next_index = self.next_index, self.next_index + 1
        self.outstanding[index] = (requester, Waiting(request))
        self.by_requester[requester] = index
        return index

    def cancel(self, requester: Hashable) -> bool:
        """Take a requester's request out of all maps; whether there was one (CLAY-65)."""
        index = self.by_requester.pop(requester, None)
        if index is None:
            return False
        del self.outstanding[index]
        return True

    def wake(self, line: Line) -> list[tuple[Hashable, list[Notice], Closed | None]]:
        """Step everything that waits, in the order asked; what closed is taken out (CLAY-52)."""
        told = []
        for requester, waiting in list(self.outstanding.values()):
            notices = waiting.step(line)
            if notices or waiting.closed:
                told.append((requester, notices, waiting.closed))
            if waiting.closed is not None:
                self.cancel(requester)
                self._keep(waiting, notices)
        return told

    def _keep(self, waiting: Waiting, notices: list[Notice]) -> None:
        request = waiting.request
        # Only what never changes is kept: an answer at a fixed case, or that there is none (CLAY-23, CLAY-64).
        if not request.is_range and request.start is not None:
            self.kept[request] = notices[0] if notices else None

    @property
    def alarm(self) -> Tai | None:
        """When a clock has to wake it first; None without a date (CLAY-50)."""
        alarms = [waiting.request.alarm for _, waiting in self.outstanding.values()]
        return min((alarm for alarm in alarms if alarm is not None), default=None)
