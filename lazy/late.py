"""Content that came late: after the round that brought the log entry which shares it (LAZ-47).

A friend's vector shows a log entry whether or not its content came with it. So whoever had the entry from me before the
content may lack that, and a file for them holds what came late since. That it did is noted as a number of the exposure
log when the round ends: nobody can tell it from the records afterwards.
"""

from __future__ import annotations

from typing import NamedTuple

from vault.store import Store
from vault.writer import Writer

__all__ = ["Lacking", "before_late", "lacking", "note_late"]

_KEY = "late"  # setting of the store: numbers of the exposure log, each followed by what came late, in order
_KEPT = 256
_HOLES = "SELECT DISTINCT want FROM hole"


class Lacking(NamedTuple):
    """What shared records reached and was missing here when a round began, and the end of the exposure log then."""

    wants: frozenset[str]
    top: int


def lacking(store: Store) -> Lacking:
    """Return what is missing now; mostly nothing."""
    wants = frozenset(str(want) for (want,) in store.rows(_HOLES))
    return Lacking(wants, int(store.rows("SELECT ifnull(max(at), 0) FROM exposure")[0][0]) if wants else 0)


def note_late(w: Writer, before: Lacking) -> None:
    """Note at the end of a round that something came which was missing when it began, if it did."""
    if not before.wants or before.wants <= {str(want) for (want,) in w.store.rows(_HOLES)}:
        return
    known = _numbers(w.store)
    if not known or known[-1] < before.top:
        w.store.set_meta(_KEY, " ".join(map(str, [*known, before.top][-_KEPT:])))


def before_late(store: Store, known: int) -> int | None:
    """Return the number of the exposure log, `known` or later, after which the first content came late; None for none.

    Of what was forgotten it is `known`: a file holds too much rather than too little.
    """
    numbers = _numbers(store)
    if len(numbers) == _KEPT and known < numbers[0]:
        return known
    return next((number for number in numbers if number >= known), None)


def _numbers(store: Store) -> list[int]:
    return [int(word) for word in store.meta(_KEY).split()]
