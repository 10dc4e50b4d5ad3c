"""Notes of the store that private files rest on, read so that damage is refused and never taken for none of them.

Who may read and write, and what a desk holds of another one, stands in rows that no record carries (CLAY-80, APP-13).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from vault.errors import CallerError, DataError
from vault.notes.note import Note
from vault.store import Store

__all__ = ["RulesDamaged", "kept_rows"]

T = TypeVar("T")
R = TypeVar("R", bound=tuple[Any, ...])


class RulesDamaged(DataError):
    """What the store notes of who may read and write rotted: nothing is shared or taken in by it."""

    code = "rules-damaged"
    exit_code = 41
    hint = "Run: lace fsck --repair"


def kept_rows(store: Store, note: Note[tuple[R, ...]], about: str, make: Callable[..., T], what: str) -> tuple[T, ...]:
    """Return what each row of a note is made into.

    Args:
        store: that has it.
        note: of rows.
        about: what it is about.
        make: is given what stands in a row.
        what: is kept there, as an error names it.

    Raises:
        RulesDamaged: it cannot be read, or `make` refuses a row.
    """
    try:
        return tuple(make(*row) for row in store.note(note, about))
    except (ValueError, CallerError, DataError) as error:
        raise RulesDamaged(f"{what} cannot be read: it is damaged in the store.") from error
