"""One side of a link that stays open: it rests at a fixed point, and goes on in rounds and epochs (INT-127..129).

A round begins where something was stored, and advertises what is new. An epoch begins where a side presents another
operand: both sides say anew what they propose, and make another plan. What is known of the peer is kept for a plan that
stays the same.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from lazy.interlace.announced import Announced
from lazy.interlace.establish import my_setup
from lazy.interlace.ledger import Ledger
from lazy.interlace.link import LinkConfig
from lazy.interlace.machine import InterlaceMachine
from lazy.interlace.messages import Effect, FullListing, Message, Setup, Summaries
from lazy.interlace.negotiate import Hello
from lazy.interlace.peerstate import PeerState
from lazy.interlace.plan import PolicyModule
from lazy.interlace.port import RecordPort
from lazy.interlace.result import Cursor
from lazy.interlace.states import Event, Phase
from vault.records import Verifier

__all__ = ["OpenMachine"]


class OpenMachine(InterlaceMachine):
    """One side of one link that stays open.

    Args:
        config: this side and its link; of another epoch, with the operand of that.
        port: the vault's records.
        cursor: the peer's advertisement state from an earlier exchange (INT-92).
    """

    stays_open: ClassVar[bool] = True

    def __init__(self, config: LinkConfig, port: RecordPort, cursor: Cursor | None = None) -> None:
        super().__init__(config, port, cursor)
        self.epoch = 0
        self.is_renewing = False
        self._is_woken = False
        self._former_plan = ""

    @property
    def may_begin_anew(self) -> bool:
        """Whether the peer may begin another round or another epoch now."""
        return self.phase is Phase.FIXED or self._is_woken or self.is_renewing

    def _receive(self, message: Message, proven: Verifier | None) -> tuple[Effect, ...]:
        announces = isinstance(message, Summaries | FullListing)
        if announces and self.is_renewing:
            return ()  # of the epoch that ends; the peer hears of the new one next
        first: tuple[Effect, ...] = ()
        if isinstance(message, Setup) and (self.phase is Phase.FIXED or self._is_woken):
            first = self._renew(None)
        elif announces and self.phase is Phase.FIXED:
            first = self._wake(None)
        effects = super()._receive(message, proven)
        self._is_woken = self.is_renewing = False
        return (*first, *effects)

    def _wake(self, module: PolicyModule | None) -> tuple[Effect, ...]:
        """Begin another round, or another epoch with another operand.

        Raises:
            MachineMisuse: an operand changes away from a fixed point.
        """
        if module is not None:
            return self._renew(module)
        if not self._enter(Event.WAKE):
            return ()
        self._begin_round()
        self._is_woken = True
        return (self._advertise(),)

    def _begin_round(self) -> None:
        self.ledger = Ledger()
        self._closed_by = None

    def _renew(self, module: PolicyModule | None) -> tuple[Effect, ...]:
        """Begin a new epoch: my setup again; what is known of the peer is kept for a plan that stays the same."""
        cursor = self.result.cursor
        if not self._enter(Event.RENEW):
            return ()
        self._begin_round()
        # The new start is not before any time that the old epoch has reached, so TickTAI never goes back.
        terms = replace(self.config.terms, tai=self._need_ticks().mine)
        chosen = self.config.module if module is None else module
        prepared = self.config.prepared if module is None else None
        self.config = replace(self.config, terms=terms, module=chosen, prepared=prepared)
        self._former_plan = self._need_agreed().plan_id
        self.plan = self.agreed = None
        self._cursor = cursor or self._cursor
        self._peer_state, self._listed, self._own = PeerState(None), False, Announced()
        self._is_woken, self.is_renewing = False, True
        return (self._send(my_setup(self.config)),)

    def _negotiate(self, theirs: Hello, proven: Verifier | None) -> tuple[Effect, ...]:
        self.epoch += bool(self._former_plan) and self._former_plan != self._need_plan().id
        return super()._negotiate(theirs, proven)
