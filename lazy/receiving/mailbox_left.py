"""How a mailbox is left: read or not, and what was missing here by then (LAZ-63; decision 10).

A mailbox that was read to its end while the same was missing has nothing of it, as long as its head stays. So a gap
that nobody can fill costs one look at each mailbox, and not one a visit.
"""

from __future__ import annotations

from typing import NamedTuple

from lazy.receiving.holes import Holes

__all__ = ["ALL_HERE", "LOOKED_AT", "UNREAD", "Left"]

_FIRST_SUM = 3  # from here on a code stands for what was missing


class Left(NamedTuple):
    """How a mailbox is left. It is one of the constants below, or stands for what was missing when all was read.

    Args:
        code: as the column `whole` of the table `seen` keeps it.
    """

    code: int

    @staticmethod
    def now(holes: Holes) -> Left:
        """Return how a mailbox is left whose whole listing is dealt with now."""
        missing = holes.sum_of_missing()
        return ALL_HERE if missing is None else Left(missing + _FIRST_SUM)

    def is_still(self, holes: Holes) -> bool:
        """Tell whether the whole listing was dealt with, and nothing else is missing here now than then."""
        if self in {UNREAD, LOOKED_AT} or (self == ALL_HERE and holes.is_anything_missing()):  # told without a sum
            return False
        return self == Left.now(holes)


UNREAD = Left(0)
"""Something that it lists is still to be dealt with, or who belongs changed since."""
ALL_HERE = Left(1)
"""All was dealt with, and nothing at all was missing here."""
LOOKED_AT = Left(2)
"""It is a stranger's: what says there who belongs was read, and nothing else."""
