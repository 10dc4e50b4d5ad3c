"""All notes of a vault; no row of the table `meta` is written that is not of one of them."""

from __future__ import annotations

from typing import Any, Final

from vault.notes import folders, own, people, places, revisions, rules
from vault.notes.note import Note

__all__ = ["NOTES", "note_of"]

NOTES: Final[tuple[Note[Any], ...]] = tuple(
    value
    for module in (own, people, rules, folders, revisions, places)
    for value in vars(module).values()
    if isinstance(value, Note)
)
"""Every note, in the order of the modules."""


def note_of(key: str) -> tuple[Note[Any], str] | None:
    """Return the note in a row of that key, and what it is about; None where it is none of this lace's."""
    for note in NOTES:
        about = note.about(key)
        if about is not None:
            return note, about
    return None
