"""Content that came late: after the round or write that brought the log entry which shares it (LAZ-47).

A friend's vector shows a log entry whether or not its content came with it. So whoever had the entry from me before the
content may lack that, and a file for them holds what came late since. That it did is noted as a number of the exposure
log in the very transaction that stores it: nobody can tell it from the records afterwards.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from vault.notes.own import LATE, LATE_FROM, MOST_LATE
from vault.records import RecordHash
from vault.store import Store

__all__ = ["Lacking", "before_late", "lacking", "note_from_here", "note_late"]


class Lacking(NamedTuple):
    """What shared records reached and was missing here at some time, and the end of the exposure log then."""

    wants: frozenset[str]
    top: int


def lacking(store: Store, among: Collection[RecordHash] | None = None) -> Lacking:
    """Return what is missing now, mostly nothing; only what is `among` some records if they are given."""
    if not store.holes.any():
        return Lacking(frozenset(), 0)
    wants = store.holes.all() if among is None else store.holes.among(among)
    return Lacking(frozenset(want.text for want in wants), store.exposed())


def note_late(store: Store, before: Lacking, came: Iterable[RecordHash]) -> None:
    """Note it if something of what comes was missing before; inside the transaction that stores that."""
    if not before.wants or not any(record.text in before.wants for record in came):
        return
    known = store.note(LATE)
    if not known or known[-1] < before.top:
        store.set_note(LATE, (*known, before.top)[-MOST_LATE:])


def before_late(store: Store, known: int) -> int | None:
    """Return the number of the exposure log, `known` or later, after which the first content came late; None for none.

    Of what was forgotten, or never noted, it is `known`: a file holds too much rather than too little.
    """
    numbers, noted_from = store.note(LATE), store.note(LATE_FROM)
    if noted_from is None or known < max(noted_from, numbers[0] if len(numbers) == MOST_LATE else 0):
        return known
    return next((number for number in numbers if number >= known), None)


def note_from_here(store: Store) -> None:
    """Say that what comes late was noted from here on, where that was not said yet; inside a transaction."""
    if store.note(LATE_FROM) is None:
        store.set_note(LATE_FROM, store.exposed())
