"""What a peer says it holds, over a channel that proves who speaks: the evidence that moves the queue (LAZ-47)."""

from __future__ import annotations

from lazy.live.standing import Standing
from lazy.vectors import note_met
from vault.nodelog import VectorEntry
from vault.records import Tai, Verifier
from vault.writer import Writer

__all__ = ["note_vector"]


def note_vector(w: Writer, peer: Verifier, theirs: Standing, place: str, now: Tai) -> None:
    """Keep a peer's vector, and that it was met; nothing of a vector that it did not tell."""
    said = {entry.node: VectorEntry(entry.seq, entry.digest, entry.is_forked) for entry in theirs.vector or ()}
    note_met(w, peer, said, place=place, now=now, said_at=now, unreleased=theirs.unreleased, is_newest=True)
