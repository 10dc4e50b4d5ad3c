"""How far a key is trusted, in the four words of a federation, and how the last sync with it ended (CYB-21, CYB-22).

The words are read off the membership, which alone decides; nothing is trusted by setting a word.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from lazy.noted_times import noted_utc
from lazy.noted_visits import noted_problems, noted_summary
from lazy.people import linked
from vault.vault import Vault

__all__ = ["PeerRecord", "SyncState", "Trust", "peer_record", "trust_of"]


class Trust(StrEnum):
    """How far a key is trusted."""

    UNKNOWN = "unknown"
    """Nobody admitted it, or it was revoked: what it seals is refused."""
    KNOWN = "known"
    """It asked to belong, or somebody gave its key: a member has to admit it before anything of it counts."""
    VERIFIED = "verified"
    """A member, by a chain of admissions from the founding."""
    TRUSTED = "trusted"
    """A member whom this vault's owner admitted, or a key of the owner's own."""


class SyncState(StrEnum):
    """How the last visit that met somebody ended."""

    NEVER = "never"
    IDLE = "idle"
    ERROR = "error"


class PeerRecord(NamedTuple):
    """What is known of a peer, from stored state only.

    Args:
        trust: how far its key is trusted.
        last_seen: ISO 8601 UTC of when its own word was last read, or None where that is not known.
        state: how the last visit that met it ended.
    """

    trust: Trust
    last_seen: str | None
    state: SyncState


def trust_of(vault: Vault, node: str) -> Trust:
    """Return how far a node is trusted, by the membership as it stands."""
    mine = linked(vault, vault.node.text)
    rows = vault.store.rows("SELECT admitted_by FROM member WHERE node = ?", node)
    if rows:
        return Trust.TRUSTED if node in mine or str(rows[0][0]) in mine else Trust.VERIFIED
    if vault.store.rows("SELECT 1 FROM former WHERE node = ?", node):
        return Trust.UNKNOWN
    asked = "SELECT 1 FROM request WHERE node = ?1 UNION ALL SELECT 1 FROM peer WHERE node = ?1"
    return Trust.KNOWN if vault.store.rows(asked, node) else Trust.UNKNOWN


def peer_record(vault: Vault, node: str, name: str) -> PeerRecord:
    """Return a peer's record.

    Args:
        vault: whose peer it is.
        node: verifier text.
        name: as problems of a visit call it.
    """
    trust = trust_of(vault, node)
    rows = vault.store.rows(
        "SELECT m.tai, s.result FROM met m LEFT JOIN last_sync s ON s.place = m.place WHERE m.node = ?", node
    )
    if not rows:
        return PeerRecord(trust, None, SyncState.NEVER)
    tai, result = rows[0]
    is_bad = any(peer == name for _, peer in noted_problems(noted_summary(result)))
    return PeerRecord(trust, noted_utc(tai), SyncState.ERROR if is_bad else SyncState.IDLE)
