"""How a visit to a place ended: it did what it was for, could do nothing, was only let read, or may sign nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from vault.errors import LaceError, PlaceError

__all__ = ["Done", "Ending", "Held", "Queued", "Refused"]


@dataclass(frozen=True, slots=True)
class Done:
    """What the visit was for is done.

    Args:
        safe_to_remove: whether all was written through to a drop, so that it may be pulled out.
    """

    safe_to_remove: bool = False


@dataclass(frozen=True, slots=True)
class Queued:
    """Nothing could be done there; what waits for it stays queued (LAZ-24, LAZ-47).

    Args:
        can_wait: nothing is to be mended: the place is away, or never takes anything from here.
    """

    can_wait: bool

    @classmethod
    def by(cls, error: LaceError) -> Self:
        """Return how a visit ended that came to nothing but this error."""
        return cls(isinstance(error, PlaceError) and error.can_wait)


@dataclass(frozen=True, slots=True)
class Refused:
    """It could be read and not written; what waits for it stays queued.

    Args:
        why: as the place says it.
    """

    why: PlaceError


@dataclass(frozen=True, slots=True)
class Held:
    """A vault that may sign nothing, as a copy or a restored one: what came is stored, and counts once that is settled.

    Args:
        why: what a person is to settle.
        refusal: why it could be read and not written, if that was found out before; what waits for it stays queued.
    """

    why: LaceError
    refusal: PlaceError | None = None


Ending = Done | Queued | Refused | Held
