"""What an interlace reports when it ends (INT-131), and the cursor it leaves behind (INT-100)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from lazy.interlace.ads import Fields, Summary
from lazy.interlace.reasons import AbortReason, CloseReason
from vault.records import RecordHash

__all__ = ["Cursor", "InterlaceResult"]


@dataclass(frozen=True, slots=True)
class Cursor:
    """The last accepted advertisement state of a peer: local state, proof of nothing (INT-16, INT-100).

    Args:
        plan_id: the plan it belongs to; under another plan it means nothing (INT-129).
        source: the peer's verifier text or label.
        entries: what the peer advertised and this side could use.
        summaries: the partitions that were verified, by prefix; empty if there were no summaries.
    """

    plan_id: str
    source: str
    entries: Mapping[RecordHash, Fields] = field(default_factory=dict)
    summaries: Mapping[str, Summary] = field(default_factory=dict)


class InterlaceResult(NamedTuple):
    """What one side did in a round.

    Args:
        link_id: the Link-Id; empty unless both signers are proven (INT-74, INT-76).
        plan_id: the agreed plan; empty if there was none yet.
        peer: the proven verifier's text; empty if none is proven.
        received: records that were validated and stored, in order of arrival.
        rejected: records whose bytes did not validate or were refused, with the code of why (INT-154).
        not_available: what the peer could no longer send (INT-155).
        deferred: what was asked for and got no answer yet (INT-114).
        bytes_received: record bytes taken in.
        bytes_sent: record bytes given out.
        loops: how many iterations were begun.
        closed_by: why it ended.
        cursor_updated: whether `cursor` holds a complete new state of the peer.
        reason: the reason of the abort, if it was one.
        cursor: the peer's advertisement state to begin with next time.
    """

    link_id: str
    plan_id: str
    peer: str
    received: tuple[RecordHash, ...]
    rejected: tuple[tuple[RecordHash, str], ...]
    not_available: tuple[RecordHash, ...]
    deferred: tuple[RecordHash, ...]
    bytes_received: int
    bytes_sent: int
    loops: int
    closed_by: CloseReason
    cursor_updated: bool
    reason: AbortReason | None = None
    cursor: Cursor | None = None

    @property
    def is_fixed_point(self) -> bool:
        """Whether nothing is left that this side could still get; not a claim of equal stores (INT-10)."""
        return self.closed_by is CloseReason.FIXED_POINT
