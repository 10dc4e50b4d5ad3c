"""Bounds of one evaluation (FAC-12).

`tuples` and `rounds` mean the same on every machine, so two peers that run one program over equal facts break them
together. `seconds`, `steps` and `temp_pages` protect this machine only. Every breach fails the whole evaluation.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Limits"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one evaluation.

    Args:
        tuples: the most derived tuples, all derived predicates together.
        rounds: the most rounds of one recursion; a chain of n steps takes n rounds.
        seconds: the most time by the given clock.
        steps: the most instructions of SQLite's machine, for whoever gives no clock; some ten seconds.
        temp_pages: the most pages (4 KiB each) of derived tuples and given facts.

    Raises:
        ValueError: a bound is not positive.
    """

    tuples: int = 1_000_000
    rounds: int = 100_000
    seconds: float = 10.0
    steps: int = 400_000_000
    temp_pages: int = 65_536  # 256 MiB

    def __post_init__(self) -> None:
        if min(self.tuples, self.rounds, self.seconds, self.steps, self.temp_pages) <= 0:
            raise ValueError("A limit of an evaluation must be positive.")
