"""What was asked for and what became of it, in one round of one side (INT-109..119, invariants 4 and 5)."""

from __future__ import annotations

from collections.abc import Mapping

from lazy.interlace.errors import TransferLimitExceeded, UnexpectedResponse
from lazy.interlace.messages import RequestList, Responses
from lazy.interlace.states import Event
from vault.records import RecordHash

__all__ = ["Ledger"]


class Ledger:
    """The books of a round.

    `requests` is the list of the present transfer phase; `outstanding` what of it has no answer yet, and is
    empty between phases; `deferred` what had no answer when its phase ended. `held`, `rejected` and
    `not_available` are settled: they are not asked for again in this round. Of the present iteration, the last of
    `loops`, it says whether either side `has_asked` and whether anything `has_moved`.
    """

    def __init__(self) -> None:
        self.requests: tuple[RecordHash, ...] = ()
        self.outstanding: set[RecordHash] = set()
        self.deferred: dict[RecordHash, None] = {}
        self.held: set[RecordHash] = set()
        self.received: list[RecordHash] = []
        self.rejected: dict[RecordHash, str] = {}
        self.not_available: dict[RecordHash, None] = {}
        self.bytes_received = 0
        self.bytes_sent = 0
        self.loops = 0
        self.has_asked = False
        self.has_moved = False
        self.has_stalled = False
        self._is_answered = False

    def settled(self, *, with_deferred: bool) -> set[RecordHash]:
        """Return what is not to be asked for: settled, and if wanted also what was deferred (INT-115)."""
        done: set[RecordHash] = self.held | self.rejected.keys() | self.not_available.keys()
        return done | self.deferred.keys() if with_deferred else done

    def begin_iteration(self) -> None:
        """Begin anew to ask, also for what was deferred."""
        self.loops += 1
        self.has_asked = self.has_moved = self.has_stalled = False

    def meaning_of(self, theirs: RequestList, most_loops: int) -> Event:
        """Say what the peer's request list means beside my own, from what both sides have seen."""
        if self.requests or theirs.hashes:
            return Event.REQUESTS
        if not self.has_asked:
            return Event.EXHAUSTED if self.deferred else Event.QUIET
        return Event.DRAINED if self.has_moved and self.loops < most_loops else Event.EXHAUSTED

    def begin_transfer(self) -> None:
        """Note that the request list is out: all of it is outstanding."""
        self.outstanding = set(self.requests)
        self.has_asked = True
        self._is_answered = False

    def check(self, responses: Responses, limit: int) -> None:
        """Check answers before anything is done with them.

        Raises:
            UnexpectedResponse: one is not outstanding, or is given twice (INT-52, INT-117, INT-153).
            TransferLimitExceeded: more bytes came than a round may take (INT-152).
        """
        answered = [*(record for record, _ in responses.records), *responses.not_available]
        if len(set(answered)) != len(answered) or not self.outstanding.issuperset(answered):
            raise UnexpectedResponse("The peer answered with a record that is not outstanding.")
        if self.bytes_received + sum(len(data) for _, data in responses.records) > limit:
            raise TransferLimitExceeded(f"The peer sent more than the {limit} bytes a round may take.")

    def settle(self, responses: Responses, refused: Mapping[RecordHash, str]) -> None:
        """Enter checked answers and what was refused of them, with a code."""
        self.bytes_received += sum(len(data) for _, data in responses.records)
        answered = [*(record for record, _ in responses.records), *responses.not_available]
        self.outstanding.difference_update(answered)
        for record in self.deferred.keys() & answered:
            del self.deferred[record]
        stored = [record for record, _ in responses.records if record not in refused]
        self.received += stored
        self.held.update(stored)
        self.rejected.update(refused)
        self.not_available.update(dict.fromkeys(responses.not_available))
        self._is_answered |= bool(answered)
        self.has_moved |= bool(answered)

    def end_transfer(self) -> None:
        """End the phase: what has no answer is deferred (INT-114)."""
        self.deferred.update((record, None) for record in self.requests if record in self.outstanding)
        # Asking once more in this iteration for what was just deferred would not end.
        self.has_stalled = not self._is_answered
        self.outstanding.clear()
