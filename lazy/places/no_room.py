"""Which copies for a prune had no room on a place, so that not every visit writes them until it is full (CLAY-79).

They are tried again once something changed: fewer bytes wait, the place tells of room, or of more than then, or a day
went by.
"""

from __future__ import annotations

import json
from typing import Final, NamedTuple

from lazy.results import noted_summary
from vault.store import Store
from vault.writer import Writer

__all__ = ["WithoutRoom", "forget_without_room", "note_without_room", "without_room"]

_KEY: Final = "copies without room "  # setting of the store, followed by the name of a place
_AGAIN_NS: Final = 86_400 * 10**9
_MORE_BYTES: Final = 1 << 20  # free beside what was: on a disk that others write to, some comes and goes all the time


class WithoutRoom(NamedTuple):
    """Copies that had no room.

    Args:
        needed: bytes of all that waited.
        waited: bytes of what was to be written of it.
        free: bytes that the place told were free; None where it tells nothing.
        when: by the clock of that visit, in ns.
    """

    needed: int
    waited: int
    free: int | None
    when: int

    def is_so(self, needed: int, free: int | None, now: int) -> bool:
        """Tell whether nothing changed that lets them be tried again.

        >>> then = WithoutRoom(900, 900, None, 0)
        >>> then.is_so(900, None, 1), then.is_so(800, None, 1), then.is_so(900, 5, 1), then.is_so(900, None, 1 << 60)
        (True, False, False, False)
        """
        is_roomier = free is not None and (self.free is None or free >= self.free + min(self.needed, _MORE_BYTES))
        return needed >= self.needed and not is_roomier and 0 <= now - self.when < _AGAIN_NS


def without_room(store: Store, name: str) -> WithoutRoom | None:
    """Return what was noted of the place of that name; None where nothing was, or the note rotted (APP-13)."""
    told = noted_summary(store.meta(_KEY + name))
    if told.keys() != set(WithoutRoom._fields):
        return None
    if not all(type(part) is int or (part is None and field == "free") for field, part in told.items()):
        return None
    return WithoutRoom(**told)


def note_without_room(w: Writer, name: str, noted: WithoutRoom) -> None:
    """Take note, inside a write, of copies that had no room on the place of that name."""
    w.store.set_meta(_KEY + name, json.dumps(noted._asdict(), sort_keys=True))


def forget_without_room(w: Writer, name: str) -> None:
    """Take note, inside a write, that nothing is known to have no room there."""
    w.store.drop_meta(_KEY + name)
