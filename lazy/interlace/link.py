"""What a machine is told about its side and its link before it starts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from lazy.interlace.negotiate import HelloTerms
from lazy.interlace.plan import GROUP_SHARED, Executable, ModuleRegistry, PolicyModule
from vault.records import Verifier

__all__ = ["LinkConfig"]

_MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class LinkConfig:
    """What a machine needs to know of its side and of its link.

    Args:
        terms: what this side brings into the negotiation.
        here: this side's verifier.
        proves: whether the binding can prove `here` to the peer (INT-60).
        label: how this side is called where it is not proven (INT-31).
        peer: who the peer must prove to be; None if nobody in particular.
        peer_label: how the peer is called if it is not proven; stable for the exchange (INT-31).
        module: the policy this side presents as its operand.
        registry: the policies that can be run here.
        prepared: an executable kept from an earlier exchange under the same plan (INT-12).
        sends: whether this side offers anything (a pull does not).
        retries_deferred: whether a hash that got no answer is asked for again in this round (INT-115).
        max_requests: hashes in one request list (INT-109); by default as many as a listing may hold.
        serve_bytes: record bytes given out in one transfer phase; the rest is deferred (INT-112).
        transport: the address of the connection, if any.
        encrypted: whether the stream is proven to be confidential (INT-25).
    """

    terms: HelloTerms
    here: Verifier | None = None
    proves: bool = False
    label: str = "here"
    peer: Verifier | None = None
    peer_label: str = "there"
    module: PolicyModule = GROUP_SHARED
    registry: ModuleRegistry = field(default_factory=ModuleRegistry)
    prepared: Executable | None = None
    sends: bool = True
    retries_deferred: bool = True
    max_requests: int | None = None
    serve_bytes: int = 64 * _MIB
    transport: str = ""
    encrypted: bool = False

    @property
    def signer(self) -> Verifier | None:
        """The verifier this side proves, if it does."""
        return self.here if self.proves else None

    @property
    def source(self) -> str:
        """The source label of this side: its verifier text where it is proven (INT-30, INT-31)."""
        return self.signer.text if self.signer is not None else self.label

    @property
    def peer_source(self) -> str:
        """The peer's source label as expected before its hello."""
        return self.peer.text if self.peer is not None else self.peer_label
