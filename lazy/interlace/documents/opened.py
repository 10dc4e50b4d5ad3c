"""An open exchange of two sides in this process: it rests at a fixed point and goes on when something changes.

What changes is seen by the number of the last record stored at a side (INT-125, INT-127), which wakes and orders and
decides nothing about what may be seen. A changed policy begins a new epoch of the same exchange (INT-128, INT-129).
What a peer advertised stays known between rounds, so a round in which little changed says little.
"""

from __future__ import annotations

from collections.abc import Callable

from lazy.interlace.documents.engine import Engine, EngineSide, Notice
from lazy.interlace.messages import Start, TickReached, Wake
from lazy.interlace.plan import PolicyModule
from lazy.interlace.reasons import CloseReason
from lazy.interlace.result import InterlaceResult
from lazy.interlace.states import ENDED, Phase
from vault.records import Tai

__all__ = ["OpenExchange"]

_ROUNDS = 16  # in one call; a store that grows with every look is looked at again by the next


class OpenExchange(Engine):
    """Two sides that stay together.

    Args:
        one: a side, with an `OpenMachine`.
        other: the other side, with one too.
        positions: for each side, gives the number of the last record stored there.
        serialised: as for `Engine`.
        notice: as for `Engine`.
    """

    def __init__(
        self,
        one: EngineSide,
        other: EngineSide,
        positions: tuple[Callable[[], int], Callable[[], int]],
        *,
        serialised: bool = True,
        notice: Callable[[Notice], None] | None = None,
    ) -> None:
        super().__init__(one, other, serialised=serialised, notice=notice)
        self._positions = positions
        self._seen: list[int] = [-1, -1]

    @property
    def is_open(self) -> bool:
        """Whether neither side has ended."""
        return not any(side.machine.phase in ENDED for side in self._sides)

    def settle(self) -> tuple[InterlaceResult, InterlaceResult] | None:
        """Go on until the fixed point, and return what the last round came to; None if nothing had changed.

        Raises:
            InterlaceAbort: a side broke a rule; both machines are over.
        """
        moved = False
        for _ in range(_ROUNDS):
            before = [position() for position in self._positions]
            changed = [index for index in (0, 1) if before[index] != self._seen[index]]
            if not changed or not self.is_open:
                break
            self._seen = before
            if self._sides[0].machine.phase is Phase.IDLE:
                self._move(Start(), (0, 1))
            else:
                self._move(Wake(), changed)
            moved = True
        return (self._sides[0].machine.result, self._sides[1].machine.result) if moved else None

    def present(self, index: int, module: PolicyModule) -> tuple[InterlaceResult, InterlaceResult]:
        """Let a side present another policy from now on, and go on to the fixed point (INT-128, INT-129).

        Raises:
            InterlaceAbort: a side broke a rule, for example cannot run that policy; both machines are over.
            MachineMisuse: the exchange has not begun.
        """
        self._seen = [position() for position in self._positions]
        self._move(Wake(module), (index,))
        return self._sides[0].machine.result, self._sides[1].machine.result

    def tick(self, tai: Tai) -> tuple[InterlaceResult, InterlaceResult]:
        """Let both clocks reach an aligned tick, and look again with it (INT-85..89).

        Raises:
            NegotiationFailed: the exchange has not begun, or the time is not aligned or goes back.
        """
        self._seen = [position() for position in self._positions]
        for side in self._sides:
            side.machine.handle(TickReached(tai))
        self._move(Wake(), (0, 1))
        return self._sides[0].machine.result, self._sides[1].machine.result

    def close(self) -> None:
        """End it at both sides; a later one begins anew (INT-130)."""
        self._close_both(CloseReason.CLOSED)
