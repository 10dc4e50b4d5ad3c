"""What a peer says it holds, over a channel that proves who speaks: the evidence that moves the queue (LAZ-47)."""

from __future__ import annotations

from lazy.live.standing import Standing
from vault.records import Tai, Verifier
from vault.writer import Writer

__all__ = ["note_vector"]


def note_vector(w: Writer, peer: Verifier, theirs: Standing, place: str, now: Tai) -> None:
    """Keep a peer's vector, and that it was met."""
    for entry in theirs.vector:
        w.store.run(
            "INSERT OR REPLACE INTO peer_vector VALUES (?, ?, ?, ?, ?)",
            peer.text,
            entry.node.text,
            entry.seq,
            entry.digest,
            int(entry.is_forked),
        )
    w.store.run("INSERT OR REPLACE INTO met VALUES (?, ?, ?, ?)", peer.text, now.text, place, theirs.unreleased)
