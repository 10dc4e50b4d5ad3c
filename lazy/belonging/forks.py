"""Forks: two entries of one node's log under one Seq, as evidence that anybody can check (LAZ-65, LAZ-73).

Both branches are records like others: they are exchanged and kept, and the vector of that node stays at the last
common entry. The two Seals are the whole proof. Who it happened to goes on with `lace adopt`.
"""

from __future__ import annotations

from vault.nodelog import ForkProof
from vault.notes.note import Note
from vault.notes.people import FORKS, FORKS_TOLD
from vault.records import RecordHash, Verifier
from vault.vault import Vault
from vault.writer import Writer

__all__ = ["fork_ends", "forks", "has_forked", "note_forks", "tell_forks"]

_LOWEST = """SELECT node, min(seq) FROM (SELECT node, seq FROM log WHERE node = ifnull(?, node) GROUP BY node, seq
    HAVING count(DISTINCT plex) > 1) GROUP BY node ORDER BY node"""
_TWO = """SELECT stored(b.p, b.bytes) FROM log g JOIN body b USING (p) WHERE g.node = ? AND g.seq = ?
    GROUP BY g.plex ORDER BY min(g.hash) LIMIT 2"""


def forks(vault: Vault, node: str | None = None) -> list[ForkProof]:
    """Return the proof of each known fork, at its lowest Seq, by node; only one node's if it is given.

    Raises:
        RecordError: a stored entry is damaged.
    """
    found = []
    for who, seq in vault.store.rows(_LOWEST, node):
        one, other = (bytes(row[0]) for row in vault.store.rows(_TWO, who, seq))
        found.append(ForkProof.of(one, other))
    return found


def has_forked(vault: Vault, node: str) -> bool:
    """Tell whether two entries of a node's log are known under one Seq."""
    return bool(vault.store.rows("SELECT 1 FROM vector WHERE node = ? AND forked", node))


def fork_ends(vault: Vault, node: str) -> list[RecordHash]:
    """Return the last entry of each branch of a forked log that is here; nothing of a log that did not fork."""
    rows = vault.store.rows(
        "SELECT g.hash FROM vector v JOIN log g ON g.node = v.node AND g.seq > v.seq WHERE v.node = ? AND v.forked"
        " AND NOT EXISTS (SELECT 1 FROM log n WHERE n.node = g.node AND n.prev = g.hash AND n.seq = g.seq + 1)"
        " ORDER BY g.seq DESC, g.hash",
        node,
    )
    return [RecordHash.parse(str(row[0])) for row in rows]


def note_forks(w: Writer, vault: Vault) -> None:
    """Write each fork that is new here into the audit trail."""
    for node, seq in _fresh(w, vault, FORKS):
        for proof in forks(vault, node.text):
            pair = (proof.first.hash.text, proof.second.hash.text)
            w.audit("lace-fork", node.text, {"last-common": str(seq)}, relates_to=pair)


def tell_forks(w: Writer, vault: Vault) -> list[tuple[Verifier, int]]:
    """Return the nodes whose fork nobody here was told of, and the last Seq common to all; from now they were.

    A visit may note a fork and be cut off, or be a friend's at my server: so whoever tells a person asks here.
    """
    return _fresh(w, vault, FORKS_TOLD)


def _fresh(w: Writer, vault: Vault, noted: Note[tuple[str, ...]]) -> list[tuple[Verifier, int]]:
    """Return the forks of nodes that a note does not name, and name them there."""
    before = vault.store.note(noted)
    rows = vault.store.rows("SELECT node, seq FROM vector WHERE forked ORDER BY node")
    fresh = [(Verifier.parse(str(node)), int(seq)) for node, seq in rows if str(node) not in before]
    if fresh:
        w.store.set_note(noted, tuple(sorted({*before, *(node.text for node, _ in fresh)})))
    return fresh
