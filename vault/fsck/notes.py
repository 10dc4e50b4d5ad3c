"""Notes that rotted: a check names those that something waits for, and a repair drops what cannot be read (APP-13)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from vault.fsck.report import BadThing
from vault.notes.folders import LEFT_BEHIND
from vault.notes.note import BadNote, Note, Rotten
from vault.notes.registry import note_of
from vault.notes.rules import PERMITS
from vault.store import Store

__all__ = ["settle_notes", "unreadable_notes"]

# What private files rest on is told again otherwise, or let nobody in (`vault.fsck.rules`).
_ELSEWHERE: Final = (LEFT_BEHIND, PERMITS)
_NEVER_DROPPED: Final = {Rotten.TOLD_AGAIN, Rotten.WRITTEN_ANEW}
_SAID = "What is noted as {!r} cannot be read, and what needs it is refused. {} A repair drops it: lace fsck --repair"


def unreadable_notes(store: Store) -> list[BadThing]:
    """Name the notes that cannot be read and are never taken for none; of others, `guard` tells that they rotted."""
    return [
        BadThing("setting", note.key(about), "unreadable", _SAID.format(note.key(about), note.holds))
        for note, about, _ in _unreadable(store)
        if note.rotten is Rotten.REFUSED
    ]


def settle_notes(store: Store) -> None:
    """Leave of the notes that rotted what can be read; inside a transaction."""
    for note, about, text in _unreadable(store):
        rest = note.rest(text)
        if rest == note.form.none:
            store.drop_note(note, about)
        else:
            store.set_note(note, rest, about)


def _unreadable(store: Store) -> Iterator[tuple[Note[Any], str, str]]:
    for key, value in store.rows("SELECT key, value FROM meta ORDER BY key"):
        found = note_of(str(key))
        if found is None or found[0] in _ELSEWHERE or found[0].rotten in _NEVER_DROPPED:
            continue
        try:
            found[0].read(str(value))
        except BadNote:
            yield *found, str(value)
