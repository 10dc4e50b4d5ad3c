"""What a side that listens tells of its state in tiers, instead of every name of it (INT-99; docs/formats.md).

It keeps nothing between two requests: a client that goes on asking names the place of the log by which it was answered
first, and the log only grows.
"""

from __future__ import annotations

from typing import NamedTuple

from lazy.interlace.errors import InterlaceAbort, ListingTooLarge
from lazy.interlace.limits import DEFAULT_LIMITS
from lazy.interlace.tiers import Offer, answer, answer_hints, read_asks
from lazy.live.cursors import ExposureCursor, mark_at
from lazy.live.shelves import own_shelf
from lazy.live.standing import Standing
from transports.errors import BadStream
from vault.notes.own import EPOCH
from vault.vault import Vault

__all__ = ["DIGEST_BYTES", "HINTS_FROM", "TierAnswer", "tell"]

DIGEST_BYTES = 32
HINTS_FROM = 256  # shared records; the names of fewer cost little


class TierAnswer(NamedTuple):
    """An answer in tiers.

    Args:
        offer: the answer.
        here: the place of my log that it is as of.
        is_equal: whether the other side predicted just this state, so that each has all of the other's log.
    """

    offer: Offer
    here: ExposureCursor
    is_equal: bool = False


def tell(vault: Vault, theirs: Standing, asks: bytes, *, may_write: bool) -> TierAnswer | None:
    """Answer hints, or asks that follow on an earlier answer; None where that cannot be done, and names serve better.

    That is where the log is another one by now, and where more would have to be told than may be told at once.

    Raises:
        BadStream: they break the format.
    """
    shelf = own_shelf(vault, theirs.as_of, may_write=may_write)
    if shelf is None:
        return None
    here = ExposureCursor(vault.store.note(EPOCH), shelf.top, mark_at(vault, shelf.top))
    try:
        if theirs.as_of is not None:
            return TierAnswer(answer(shelf, read_asks(asks), DEFAULT_LIMITS), here)
        offer = answer_hints(shelf, theirs.hints[:-DIGEST_BYTES], DEFAULT_LIMITS)
    except ListingTooLarge:
        return None
    except InterlaceAbort as error:
        raise BadStream(f"The client cannot be answered: {error.message}") from error
    return TierAnswer(offer, here, offer.state == theirs.hints[-DIGEST_BYTES:])
