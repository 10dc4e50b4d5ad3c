"""When a talk with a git host is given up: after silence, and where it hardly gets on for all its words (faults 15).

Git says itself how far it is; what the host says comes with `remote:` before it and moves nothing. What came is put
into order and proven here, after the host sent all of it, and what was pushed is there: neither moves a byte. Over ssh
a host can write what git would say, so none of it counts without end.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from transports.errors import PlaceUnreachable
from transports.layout import RATE_FLOOR
from vault.lock import Patience

__all__ = ["Pace", "SentTooMuch"]

_ANSWER_LIMIT = 32 << 20  # bytes of standard output that a host can make lace hold
_LUMP = 64_000  # bytes that a host may send as one, of which git tells nothing before all of it is here
_HELD = 1 << 20  # bytes that git calls written, over https, before it sends the first of them
_LINE = 4096  # bytes of one line that are looked at
_STEP = re.compile(
    rb"(Enumerating objects|Counting objects|Compressing objects|Writing objects|Receiving objects|Unpacking objects"
    rb"|Resolving deltas|Checking connectivity): +(\d{1,12})(%?)(?:[^|]*, (\d{1,9}(?:\.\d{1,2})?) (bytes|[KMG]iB) \|)?"
)
_HUNDRED = 100
_TRAVEL = frozenset({b"Writing objects", b"Receiving objects"})  # by their bytes: a small object is no progress
_UNITS = {b"bytes": 0, b"KiB": 10, b"MiB": 20, b"GiB": 30}
_AGAIN = "Run the same command again: it goes on from what was carried over."


class SentTooMuch(PlaceUnreachable):
    """A host sends more than what was asked for can be."""

    code = "sent-too-much"
    hint = "Ask the owner of the repository what was pushed there."


class Pace:
    """Whether a talk gets on, by what git says and by what arrives.

    Args:
        shown: the place as a person may see it.
        patience: how long silence and hardly any progress are waited through.
        arrived: returns the bytes of a fetch that are here; none for another talk.
        limit: how many there may be.
    """

    def __init__(
        self, shown: str, patience: Patience, arrived: Callable[[], int] | None = None, limit: int = 0
    ) -> None:
        self._shown, self._patience = shown, patience
        self._arrived, self._limit = arrived, limit
        self._silent = self._stuck = 0.0  # seconds
        self._answered = self._written = self._moved = 0  # bytes
        self._furthest: dict[bytes, int] = {}
        self._is_writing = False
        self._is_through = False  # whatever travels has travelled
        self._was_heard = self._got_on = False  # since time was last taken note of
        self._is_there = False  # whether anything was ever heard
        self._tail = b""

    def heard(self, name: str, data: bytes) -> None:
        """Take note of what git said on its standard output, `out`, or on its standard error."""
        self._was_heard = self._is_there = True
        if name == "out":
            self._answered += len(data)
            return
        *lines, self._tail = re.split(rb"[\r\n]", self._tail[-_LINE:] + data)
        for line in lines:
            self._note(line)

    def passed(self, seconds: float) -> None:
        """Take note of time that passed until what was heard last.

        Raises:
            PlaceUnreachable: nothing was heard for too long, or hardly anything moved.
            SentTooMuch: more came than may.
        """
        size = self._arrived() if self._arrived is not None else self._written
        if self._answered > _ANSWER_LIMIT or (self._arrived is not None and size > self._limit):
            raise SentTooMuch(f"{self._shown} sends more than a place may, so the talk was ended.")
        moved = size + self._answered - self._moved
        if moved < 0 or moved >= min(RATE_FLOOR * self._patience.window, _LUMP):  # what came whole arrives no longer
            self._moved, self._got_on = self._moved + moved, True
        self._silent = 0.0 if self._was_heard else self._silent + seconds
        self._stuck = 0.0 if self._got_on else self._stuck + seconds
        self._was_heard = self._got_on = False
        if self._is_unheard() or self._stuck >= self._longest():
            raise PlaceUnreachable(self._told(), hint=_AGAIN)

    def _is_unheard(self) -> bool:
        """Tell whether nobody answers; of one who did, so much may be under way at once that git is silent as long."""
        return not self._is_there and self._silent >= self._patience.silence

    def _longest(self) -> float:
        """Return the seconds that may go by without progress: more where git itself still sends what it wrote."""
        is_held = self._is_through and self._arrived is None
        return self._patience.window + (min(self._written, _HELD) // RATE_FLOOR if is_held else 0)

    def _note(self, line: bytes) -> None:
        match = _STEP.match(line)
        if match is None:
            return
        what, number, percent, amount, unit = match.groups()
        if what in _TRAVEL:
            self._is_writing = what == b"Writing objects"
            self._written = max(self._written, int(float(amount) * (1 << _UNITS[unit])) if amount else 0)
            self._is_through = self._is_through or (number, percent) == (b"100", b"%")
            if not self._is_through:
                return
        # A count without an end is one of doublings: some forty are enough for all the objects there can be.
        far = min(int(number), _HUNDRED) if percent else int(number).bit_length() - 1
        if far > self._furthest.get(what + percent, -1):
            self._furthest[what + percent], self._got_on = far, True

    def _told(self) -> str:
        window = self._longest()
        if self._is_unheard():
            return f"{self._shown} said nothing for {self._patience.silence:.0f} seconds, so the talk was ended."
        if not self._is_through:
            does = "takes" if self._is_writing else "sends"
            return f"{self._shown} {does} fewer than {RATE_FLOOR} bytes a second, so the talk was ended."
        if self._arrived is None:
            return f"{self._shown} took all that was sent, and did not say in {window:.0f} seconds whether it keeps it."
        return f"Git did not get on in {window:.0f} seconds with what {self._shown} sent, so it was ended."
