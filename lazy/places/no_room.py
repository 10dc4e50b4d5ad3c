"""Which copies for a prune had no room on a place, so that not every visit writes them until it is full (CLAY-79).

They are tried again once something changed: fewer bytes wait, the place tells of room, or of more than then, or a day
went by. Where a place tells its room, so they are once more bytes wait.
"""

from __future__ import annotations

from typing import Final

from vault.notes.places import WITHOUT_ROOM, WithoutRoom
from vault.store import Store
from vault.writer import Writer

__all__ = ["forget_without_room", "is_still_so", "note_without_room", "without_room"]

_AGAIN_NS: Final = 86_400 * 10**9
_MORE_BYTES: Final = 1 << 20  # free beside what was: on a disk that others write to, some comes and goes all the time


def is_still_so(then: WithoutRoom, needed: int, free: int | None, now: int) -> bool:
    """Tell whether nothing changed that lets copies be tried again.

    >>> then = WithoutRoom(900, 900, None, 0)
    >>> [is_still_so(then, *now) for now in ((900, None, 1), (800, None, 1), (900, 5, 1), (900, None, 1 << 60))]
    [True, False, False, False]
    """
    is_roomier = free is not None and (then.free is None or free >= then.free + min(then.needed, _MORE_BYTES))
    return needed >= then.needed and not is_roomier and 0 <= now - then.when < _AGAIN_NS


def without_room(store: Store, name: str) -> WithoutRoom | None:
    """Return what was noted of the place of that name; None where nothing was, or the note rotted (APP-13)."""
    return store.note(WITHOUT_ROOM, name)


def note_without_room(w: Writer, name: str, noted: WithoutRoom) -> None:
    """Take note, inside a write, of copies that had no room on the place of that name."""
    w.store.set_note(WITHOUT_ROOM, noted, name)


def forget_without_room(w: Writer, name: str) -> None:
    """Take note, inside a write, that nothing is known to have no room there."""
    w.store.drop_note(WITHOUT_ROOM, name)
