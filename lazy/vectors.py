"""Version vectors: mine, and what each peer's own sealed head last said (LAZ-28 to LAZ-32)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lazy.people import label_of, peers
from vault.records import b64a
from vault.vault import Vault

__all__ = ["Mark", "ahead_behind", "my_vector", "vectors"]


@dataclass(frozen=True, slots=True)
class Mark:
    """One entry of a version vector: a node, its highest contiguous Seq, the digest there (B64A), a fork."""

    node: str
    name: str
    seq: int
    digest: str
    forked: bool


def my_vector(vault: Vault) -> dict[str, Mark]:
    """Return this vault's version vector by node."""
    return _marks(vault, vault.store.rows("SELECT node, seq, plex, forked FROM vector ORDER BY node"))


def vectors(vault: Vault) -> dict[str, dict[str, Mark]]:
    """Return `self` and every peer's last known vector, by name then node."""
    found = {"self": my_vector(vault)}
    for person in peers(vault):
        rows = vault.store.rows(
            "SELECT of_node, seq, plex, forked FROM peer_vector WHERE node = ? ORDER BY of_node", person.node
        )
        found[person.name] = _marks(vault, rows)
    return found


def _marks(vault: Vault, rows: list[tuple[Any, ...]]) -> dict[str, Mark]:
    return {
        str(node): Mark(
            str(node),
            label_of(vault, str(node)),
            int(seq),
            b64a.encode(bytes(plex)),
            bool(forked),
        )
        for node, seq, plex, forked in rows
    }


def ahead_behind(mine: dict[str, Mark], theirs: dict[str, Mark]) -> tuple[int, int]:
    """Return how many log entries I have that they lack, and they have that I lack; missing counts as 0 (LAZ-29)."""
    ahead = behind = 0
    for node in mine.keys() | theirs.keys():
        a = mine[node].seq if node in mine else 0
        b = theirs[node].seq if node in theirs else 0
        ahead += max(a - b, 0)
        behind += max(b - a, 0)
    return ahead, behind
