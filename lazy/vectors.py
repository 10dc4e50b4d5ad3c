"""Version vectors: mine, and what each peer last said of itself (LAZ-28 to LAZ-32).

How they count and compare stands in `vault.nodelog`; here they are read, kept and shown.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from lazy.people import label_of, peers
from vault.desk_folders import MAIN
from vault.errors import DataError
from vault.nodelog import VectorEntry, VersionVector, compare
from vault.persons import newer_keys
from vault.records import Tai, Verifier, b64a
from vault.revisions.history import line_head, unreleased
from vault.vault import Vault
from vault.writer import Writer

__all__ = [
    "Mark",
    "ahead_behind",
    "my_vector",
    "note_met",
    "person_vectors",
    "unreleased_told",
    "vector_here",
    "vectors",
]


class Mark(NamedTuple):
    """One entry of a version vector: a node, its highest contiguous Seq, the digest there (B64A), a fork."""

    node: str
    name: str
    seq: int
    digest: str
    forked: bool

    @property
    def hash(self) -> str:
        """The hash text of the log entry there: of its Plex, which two Seals of one entry share."""
        return f"P.{self.digest}.H3"


def vector_here(vault: Vault) -> VersionVector:
    """Return this vault's version vector."""
    return _vector(vault.store.rows("SELECT node, seq, plex, forked FROM vector"))


def _known_vectors(vault: Vault) -> dict[str, VersionVector]:
    """Return what each node last said of itself that said anything, by its verifier text."""
    found: dict[str, list[tuple[Any, ...]]] = {}
    for node, *entry in vault.store.rows("SELECT node, of_node, seq, plex, forked FROM peer_vector"):
        found.setdefault(str(node), []).append(tuple(entry))
    return {node: _vector(rows) for node, rows in found.items()}


def person_vectors(vault: Vault) -> dict[str, VersionVector]:
    """Return what each node last said of itself, and for an older key what its newer ones have (LAZ-54).

    Whoever went on under a new key says nothing more under the old one, and nobody need wait for that.
    """
    found = _known_vectors(vault)
    for older, newer in newer_keys(vault.store).items():
        said = [vector_here(vault) if node == vault.node.text else found.get(node) for node in sorted({older, *newer})]
        found[older] = _highest(vector for vector in said if vector is not None)
    return found


def _highest(vectors: Iterable[VersionVector]) -> VersionVector:
    """Return what several vectors say together: of each node the highest entry."""
    found: dict[Verifier, VectorEntry] = {}
    for vector in vectors:
        for node, entry in vector.items():
            if node not in found or (entry.seq, entry.forked) > (found[node].seq, found[node].forked):
                found[node] = entry
    return VersionVector(found)


def my_vector(vault: Vault) -> dict[str, Mark]:
    """Return this vault's version vector by node, for people."""
    return _marks(vector_here(vault), _Names(vault))


def vectors(vault: Vault) -> dict[str, dict[str, Mark]]:
    """Return `self` and every peer's last known vector, by name then node."""
    names, known = _Names(vault), _known_vectors(vault)
    found = {"self": _marks(vector_here(vault), names)}
    found.update({person.name: _marks(known.get(person.node, VersionVector()), names) for person in peers(vault)})
    return found


class _Names(dict[str, str]):
    """The names of nodes, each looked up once."""

    def __init__(self, vault: Vault) -> None:
        super().__init__()
        self._vault = vault

    def __missing__(self, node: str) -> str:
        name = self[node] = label_of(self._vault, node)
        return name


def _vector(rows: Iterable[tuple[Any, ...]]) -> VersionVector:
    found: dict[Verifier, VectorEntry] = {}
    for node, seq, plex, forked in rows:
        with suppress(DataError, ValueError):  # what rotted is said again at the next visit
            found[Verifier.parse(str(node))] = VectorEntry(int(seq), bytes(plex), bool(forked))
    return VersionVector(found)


def _marks(vector: VersionVector, names: _Names) -> dict[str, Mark]:
    return {
        node.text: Mark(node.text, names[node.text], entry.seq, b64a.encode(entry.plex_digest), entry.forked)
        for node, entry in vector.items()
    }


def ahead_behind(
    mine: Mapping[Verifier, VectorEntry], theirs: Mapping[Verifier, VectorEntry], cut: Collection[Verifier] = ()
) -> tuple[int, int]:
    """Return how many log entries I have that they lack, and they have that I lack; missing counts as 0 (LAZ-29).

    Of a log that forked nothing is counted but the news of it: who knows of the fork has at least one entry that who
    does not lacks. Of a log that was cut (`cut`) nothing beyond what counts here is lacking.
    """
    difference = compare(mine, theirs)
    forks = set(difference.forks)
    ahead = sum(r.last - r.first + 1 for r in difference.ahead if r.node not in forks and r.node not in cut)
    behind = sum(r.last - r.first + 1 for r in difference.behind if r.node not in forks and r.node not in cut)
    for node in forks.difference(cut):
        here, there = (vector.get(node, VectorEntry.NONE).forked for vector in (mine, theirs))
        if not (here and there):
            ahead += here or not there
            behind += there or not here
    return ahead, behind


def unreleased_told(vault: Vault) -> int | None:
    """Return how many commits I tell friends that I keep to myself, None where that is not to be told (H-30).

    Whoever shares each commit tells that it is none, which shows no more than those do: so friends know until when
    they have all of the line (CLAY-16).
    """
    head = line_head(vault.store, vault.node.text, MAIN)
    if head is not None and vault.settings.shares_commits:
        shared = "SELECT 1 FROM shared JOIN rev USING (p) WHERE rev.hash = ?"
        if vault.store.rows(shared, head.rev.text):
            return 0
    return unreleased(vault, MAIN) if vault.settings.get("announce-unreleased") else None


def note_met(
    w: Writer,
    node: Verifier,
    said: Mapping[Verifier, VectorEntry],
    *,
    place: str,
    now: Tai,
    said_at: Tai,
    unreleased: int | None,
    is_newest: bool = False,
) -> None:
    """Keep what a peer itself says it holds: the evidence that moves the queue (LAZ-32, LAZ-47).

    Args:
        w: the open transaction.
        node: who says it.
        said: its vector.
        place: where it was met last, which need not be where it said what counts of all this.
        now: when, for display.
        said_at: when it said so, by its own clock; a clock ahead of mine counts as mine.
        unreleased: commits it says it keeps to itself.
        is_newest: it said so just now, over a channel that proves it. A head on a medium may be older than one seen
            elsewhere: it takes no number back, but that a log forked is never forgotten, and ends where it says.
    """
    for of_node, entry in said.items():
        w.store.run(
            "INSERT INTO peer_vector VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT(node, of_node) DO UPDATE"
            " SET seq = ?3, plex = ?4, forked = ?5 WHERE ?6 OR ?5 OR (NOT forked AND ?3 >= seq)",
            node.text,
            of_node.text,
            entry.seq,
            entry.plex_digest,
            int(entry.forked),
            int(is_newest),
        )
    w.store.run(
        "INSERT INTO met VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT(node) DO UPDATE SET tai = ?2, place = ?3,"
        " unreleased = CASE WHEN ?5 >= said THEN ?4 ELSE unreleased END, said = max(said, ?5)",
        node.text,
        now.text,
        place,
        unreleased,
        min(now, said_at).text,
    )
