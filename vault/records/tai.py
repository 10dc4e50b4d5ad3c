"""TAI, the sortable time of record versions: SI seconds since 1970-01-01T00:00:00 TAI (REC-42..45).

It orders versions and proves nothing about when a signer worked. It is never local time and never UTC text;
the two conversions here need the offset TAI - UTC, which has been 37 s since 2017 and is an argument, because
a table inside lace would be wrong after the next leap second.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import lru_cache
from typing import ClassVar, NamedTuple, Self

from vault.records.errors import TaiError

__all__ = ["LEAP_SECONDS", "MAX_SECONDS", "Tai"]

LEAP_SECONDS = 37
MAX_SECONDS = 9_999_999_999
_NS = 1_000_000_000
_LEAP_NS = LEAP_SECONDS * _NS
_LAST_NS = MAX_SECONDS * _NS + _NS - 1
_EPOCH = datetime(1970, 1, 1)


@lru_cache(maxsize=16)
def _utc_iso(seconds: int) -> str:
    """Return a second of UTC as text; what one action writes mostly names the same one."""
    return (_EPOCH + timedelta(seconds=seconds)).isoformat()


class _TaiFields(NamedTuple):
    seconds: int
    nanos: int


class Tai(_TaiFields):
    """One instant on the TAI scale; it orders by time.

    Args:
        seconds: 0 to 9,999,999,999.
        nanos: 0 to 999,999,999.

    Raises:
        TaiError: a field is out of range.
    """

    __slots__ = ()
    ZERO: ClassVar[Tai]

    def __new__(cls, seconds: int, nanos: int = 0) -> Self:  # noqa: D102 - the class says it
        if not (0 <= seconds <= MAX_SECONDS and 0 <= nanos < _NS):
            raise TaiError(f"{seconds} seconds and {nanos} nanoseconds cannot be written as TAI")
        return tuple.__new__(cls, (seconds, nanos))

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the instant written as ten digits, a colon and nine digits.

        Raises:
            TaiError: any other shape (REC-43).
        """
        if not (len(text) == 20 and text[10] == ":" and text.isascii() and (text[:10] + text[11:]).isdigit()):
            shown = text if len(text) <= 40 else text[:37] + "..."
            raise TaiError(f"{shown!r} is not TAI: ten digits, a colon and nine digits are needed")
        return tuple.__new__(cls, (int(text[:10]), int(text[11:])))

    @classmethod
    def from_unix_ns(cls, ns: int, leap: int = LEAP_SECONDS) -> Self:
        """Return the instant of a clock that counts nanoseconds since 1970-01-01T00:00:00 UTC (REC-44).

        Args:
            ns: what `time.time_ns()` returns.
            leap: TAI - UTC in seconds at that time.

        Raises:
            TaiError: the instant cannot be written as TAI.
        """
        return cls._of_ns(ns + leap * _NS)

    @classmethod
    def of_clock(cls, ns: int) -> Self:
        """Return what a clock says, or the nearest instant that can be written: a wild clock stops no work (LAZ-16).

        Args:
            ns: what `time.time_ns()` returns, whatever it is.
        """
        return cls._nearest(ns + _LEAP_NS)

    @classmethod
    def _nearest(cls, ns: int) -> Self:
        if not 0 <= ns <= _LAST_NS:
            ns = min(max(ns, 0), _LAST_NS)
        return tuple.__new__(cls, divmod(ns, _NS))

    @classmethod
    def _of_ns(cls, ns: int) -> Self:
        seconds, nanos = divmod(ns, _NS)
        return cls(seconds, nanos)

    @property
    def total_ns(self) -> int:
        """Nanoseconds since the epoch of TAI."""
        return self.seconds * _NS + self.nanos

    @property
    def text(self) -> str:
        """The instant as it stands in a record."""
        return "%010d:%09d" % self  # noqa: UP031 - half the time of a format string, once a record

    def later(self, ns: int) -> Self:
        """Return the instant `ns` nanoseconds later, or the last that can be written."""
        return self._nearest(self.total_ns + ns)

    def to_utc_iso(self, leap: int = LEAP_SECONDS) -> str:
        """Return the instant as UTC text for people, such as `2021-12-31T23:59:23.000000000Z`.

        For display only: times before 2017 are off by the leap seconds that came later.
        """
        return f"{_utc_iso(self.seconds - leap)}.{self.nanos:09d}Z"

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Tai({self.text})"


Tai.ZERO = Tai(0, 0)
