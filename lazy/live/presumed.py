"""What the other side of a live exchange probably has already, by the entries of logs that it says it knows.

It is no more than likely. Whoever probably has much is told names instead of records, or compared with in tiers: if it
was wrong that costs a turn and 33 bytes a record, and else it spares all of them.
"""

from __future__ import annotations

import math
from collections.abc import Set
from typing import Final

from lazy.live.cursors import known, place_of
from lazy.live.standing import Standing
from vault.records import RecordHash, Verifier
from vault.vault import Vault

__all__ = ["has_grown", "has_some", "knows_much"]

_HALF = 2
_MANY = 16  # records: a few small contents; the turn that fewer could spare costs as much
_MUCH = 64 << 10  # bytes of fewer records that are worth a turn
_MOST = 1_000_000  # records that are told by name in one answer
# From a place on, not along the log: so it costs what follows.
_SIZES: Final = (
    "SELECT b.kind, b.digest, r.size FROM exposure e CROSS JOIN body b USING (p) CROSS JOIN rec r USING (p)"
    " WHERE e.at > ?"
)
_ENTRIES: Final = "SELECT l.node, l.seq, l.hash FROM exposure e CROSS JOIN log l ON l.p = e.p WHERE e.at"


def knows_much(vault: Vault, peer: Verifier, theirs: Standing) -> bool:
    """Tell whether somebody without a place in my log has so much already that names are cheaper than records."""
    have = _said(vault, peer, theirs)
    mine = [(str(node), int(seq)) for node, seq in vault.store.rows("SELECT node, seq FROM vector")]
    common = sum(min(seq, have.get(node, 0)) for node, seq in mine)
    return common * _HALF >= sum(seq for _, seq in mine)


def has_some(vault: Vault, peer: Verifier, theirs: Standing, after: int, came: Set[RecordHash]) -> bool:
    """Tell whether somebody has some of the many records that follow their place in my log, though not from me.

    They gave them to me in a visit that only pulled, or was cut; or we both got them elsewhere. Where no entry of a log
    follows the place, what follows belongs to the one before.

    Args:
        vault: mine.
        peer: who it is.
        theirs: how they stand.
        after: their place.
        came: what they gave or listed in this exchange.
    """
    if not _is_much(vault, after, came):
        return False
    have = {**_said(vault, peer, theirs), peer.text: math.inf}
    rows = vault.store.rows(f"{_ENTRIES} > ?", after)
    entries = [(str(node), int(seq)) for node, seq, name in rows if RecordHash.parse(str(name)) not in came]
    if not entries:
        before = vault.store.rows(f"{_ENTRIES} <= ? ORDER BY e.at DESC LIMIT 1", after)
        return any(str(node) == peer.text for node, _, _ in before)
    return any(seq <= have.get(node, 0) for node, seq in entries)


def has_grown(vault: Vault, peer: Verifier) -> bool:
    """Tell whether much became shared here since somebody read my log: they need my whole vector to see what of it."""
    place = place_of(vault, known(vault, peer).theirs)
    return place is not None and _is_much(vault, place, frozenset(), most=_MANY)


def _is_much(vault: Vault, after: int, came: Set[RecordHash], most: int = _MOST) -> bool:
    """Tell whether much became shared after a place, and not more than names are told of, besides what came.

    It is counted up to so many: who never reads my log would make each visit count it.
    """
    sql = "SELECT count(*) FROM (SELECT 1 FROM exposure WHERE at > ? LIMIT ?)"
    count = int(vault.store.rows(sql, after, len(came) + most + 1)[0][0]) - len(came)
    if count >= _MANY:
        return count <= _MOST
    rows = vault.store.rows(_SIZES, after) if count > 0 else []
    sizes = (int(size or 0) for kind, digest, size in rows if RecordHash(str(kind), bytes(digest)) not in came)
    return sum(sizes) >= _MUCH


def _said(vault: Vault, peer: Verifier, theirs: Standing) -> dict[str, int]:
    """Return how far somebody knows each log: as they say, or as they said last."""
    if theirs.vector is None:
        said = vault.store.rows("SELECT of_node, seq FROM peer_vector WHERE node = ?", peer.text)
        return {str(node): int(seq) for node, seq in said}
    return {entry.node.text: entry.seq for entry in theirs.vector}
