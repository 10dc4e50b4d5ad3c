"""The seven limits of a round: names, units, defaults, and their negotiation (INT-71..73, INT-157..163)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Final, NamedTuple, Self

from lazy.interlace.errors import NegotiationFailed
from lazy.interlace.facts import Fact

__all__ = ["DEFAULT_LIMITS", "RANGES", "LimitRange", "Limits", "decimal", "read_decimal"]

_MIB = 1024 * 1024
_DECIMAL = re.compile(r"0|[1-9][0-9]{0,18}")


class LimitRange(NamedTuple):
    """What a limit may be: the least and the largest value, and its unit."""

    least: int
    largest: int
    unit: str


# The least values let any two honest vaults finish; a peer that offers less only wants the round to fail.
RANGES: Final[Mapping[str, LimitRange]] = {
    "max_fact_block_bytes": LimitRange(4096, 1 << 40, "bytes"),
    "max_advertisement_records": LimitRange(1, 1 << 40, "records"),
    "max_partition_summaries": LimitRange(1, 1 << 40, "summaries"),
    "max_narrowing_depth": LimitRange(2, 43, "characters of a prefix"),
    "max_total_transferred_bytes": LimitRange(1, 1 << 50, "bytes"),
    "max_loop_iterations": LimitRange(1, 1 << 20, "iterations"),
    "phase_timeout_seconds": LimitRange(1, 1 << 20, "seconds"),
}


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one round; the field names are the names in `HelloLimit` facts.

    Args:
        max_fact_block_bytes: bytes of one fact block (INT-157).
        max_advertisement_records: records in one partition or one listing (INT-158).
        max_partition_summaries: summaries that each side may send in an exchange (INT-159).
        max_narrowing_depth: characters that the prefix of a partition may have (INT-160).
        max_total_transferred_bytes: record bytes that each side may send in a round (INT-161).
        max_loop_iterations: how often a round may advertise (INT-162).
        phase_timeout_seconds: seconds of silence after which a phase has failed (INT-163). It is read as
            silence, because a phase that moves a large release over a slow line takes minutes.

    Raises:
        NegotiationFailed: a value is outside the supported range (INT-73).
    """

    max_fact_block_bytes: int = 64 * _MIB
    max_advertisement_records: int = 100_000
    max_partition_summaries: int = 16_384
    max_narrowing_depth: int = 12
    max_total_transferred_bytes: int = 1024 * _MIB
    max_loop_iterations: int = 16
    phase_timeout_seconds: int = 30

    def __post_init__(self) -> None:
        for name, value in self.items():
            _check(name, value)

    def items(self) -> tuple[tuple[str, int], ...]:
        """Return every limit with its name, sorted by name."""
        return tuple(sorted((field.name, getattr(self, field.name)) for field in fields(self)))

    def to_facts(self) -> tuple[Fact, ...]:
        """Return the limits as `HelloLimit` facts."""
        return tuple(Fact("HelloLimit", (name, str(value))) for name, value in self.items())

    def negotiate(self, theirs: Self) -> Self:
        """Return the smaller of the two, limit by limit (INT-71)."""
        other = dict(theirs.items())
        return type(self)(**{name: min(value, other[name]) for name, value in self.items()})

    @classmethod
    def from_pairs(cls, pairs: Iterable[tuple[str, str]]) -> Self:
        """Read what a peer advertises; absent names do not narrow, unknown ones mean nothing (INT-72).

        Raises:
            NegotiationFailed: the value of a known name is malformed or out of range (INT-73).
        """
        values = {name: span.largest for name, span in RANGES.items()}
        for name, text in pairs:
            if name in values:
                values[name] = min(values[name], _check(name, read_decimal(text, f"The limit {name}")))
        return cls(**values)


def read_decimal(text: str, what: str) -> int:
    """Return the number written as decimal digits without sign or leading zero.

    Raises:
        NegotiationFailed: the text has any other form (INT-73).
    """
    if _DECIMAL.fullmatch(text) is None:
        raise NegotiationFailed(f"{what} is {text[:40]!r}, which is not a decimal number.")
    return int(text)


def decimal(text: str) -> int | None:
    """Return the number written as decimal digits without sign or leading zero, or None."""
    return int(text) if _DECIMAL.fullmatch(text) else None


def _check(name: str, value: int) -> int:
    span = RANGES[name]
    if not span.least <= value <= span.largest:
        raise NegotiationFailed(
            f"The limit {name} is {value} {span.unit}; {span.least} to {span.largest} can be accepted."
        )
    return value


DEFAULT_LIMITS: Final = Limits()
