"""The ticks of one link: when each side is ready, and the time at which both stand (INT-83..90, invariant 9)."""

from __future__ import annotations

from lazy.interlace.negotiate import Negotiated, check_tick_ready
from vault.records import Tai

__all__ = ["Ticks"]


class Ticks:
    """The ready times of both sides, from a negotiation on.

    One that the peer was not told before it is told with it: what this side proposes as the start is not earlier.

    Args:
        agreed: what was negotiated: both begin at its start.

    Attributes:
        mine: when this side is ready.
        theirs: when the peer is.
    """

    def __init__(self, agreed: Negotiated) -> None:
        self._agreed = agreed
        self._untold: Tai | None = None
        self.mine = self.theirs = agreed.start

    @property
    def now(self) -> Tai:
        """TickTAI: the smaller of the two ready times (INT-88)."""
        return min(self.mine, self.theirs)

    def take_theirs(self, text: str) -> None:
        """Take the ready time that the peer sent.

        Raises:
            NegotiationFailed: as `check_tick_ready`.
        """
        self.theirs = check_tick_ready(text, self._agreed, self.theirs)

    def take_mine(self, ready: Tai) -> None:
        """Be ready at a time, and tell the peer with what is sent next.

        Raises:
            NegotiationFailed: as `check_tick_ready`.
        """
        self.mine = self._untold = check_tick_ready(ready.text, self._agreed, self.mine)

    def to_tell(self) -> Tai | None:
        """Return my ready time once after it was taken, to be sent to the peer."""
        told, self._untold = self._untold, None
        return told
