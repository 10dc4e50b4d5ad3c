"""What counts of one member about one version: of who contradicts themselves, no more than a decision can name.

It is chosen by the records alone, in the order of their maker's log, so that everybody has the same whatever came
first. What counts once goes on to count, however much its maker adds: who built on it or accepted it keeps it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from vault.names import Version
from vault.records import RecordHash
from vault.revisions.graph import json_texts
from vault.revisions.history import ReleaseInfo
from vault.store import Store

if TYPE_CHECKING:
    from vault.profile import Resolution

__all__ = ["MOST_RELEASES", "MOST_TREES", "as_logged", "counted", "counted_decisions", "first_trees"]

MOST_RELEASES = 8  # of one member under one version; a resolution names 64 sides
MOST_TREES = 8  # of the results of one member's decisions on one version; each is compared path by path
_SEQ = (
    "SELECT k.t, min(g.seq) FROM link k JOIN sym s ON s.id = k.data JOIN log g ON g.p = k.p"
    " WHERE s.s = 'entry' AND g.node = ? AND k.t IN (SELECT value FROM json_each(?)) GROUP BY k.t"
)


def counted(releases: Iterable[ReleaseInfo]) -> list[ReleaseInfo]:
    """Return the releases that may be sides of a contested version, in the order given (H-17, LAZ-42).

    Of each member and version that is the first of each content, then further ones of the same, by Seq.
    """
    of_member: dict[tuple[str, str, Version], list[ReleaseInfo]] = {}
    given = list(releases)
    for release in given:
        of_member.setdefault((release.node, release.desk, release.version), []).append(release)
    chosen = {release.hash for several in of_member.values() for release in _first(several)}
    return [release for release in given if release.hash in chosen]


def _first(several: list[ReleaseInfo]) -> list[ReleaseInfo]:
    if len(several) <= MOST_RELEASES:
        return several
    contents: set[str] = set()
    order: list[tuple[bool, int, str, ReleaseInfo]] = []
    for release in sorted(several, key=lambda one: (one.seq, one.hash.text)):
        order.append((release.content_sha512 in contents, release.seq, release.hash.text, release))
        contents.add(release.content_sha512)
    return [release for *_, release in sorted(order, key=lambda one: one[:3])[:MOST_RELEASES]]


def counted_decisions(store: Store, trees: Mapping[Resolution, RecordHash]) -> list[Resolution]:
    """Return the decisions on a version that are looked at, in the order given (LAZ-42).

    Of each member these are the ones whose results have one of the first trees that any result of theirs had.

    Args:
        store: where they are.
        trees: the decisions, each with the root tree of its result.
    """
    of_member: dict[str, list[Resolution]] = {}
    for value in trees:
        of_member.setdefault(str(value.signer), []).append(value)
    chosen: set[RecordHash] = set()
    for several in of_member.values():
        first = first_trees(store, {value: trees[value] for value in several})
        chosen.update(value.hash for value in several if trees[value] in first)
    return [value for value in trees if value.hash in chosen]


def first_trees(store: Store, trees: Mapping[Resolution, RecordHash]) -> set[RecordHash]:
    """Return the root trees by which one member's decisions on a version are looked at: at most `MOST_TREES` (LAZ-42).

    Args:
        store: where they are.
        trees: the decisions, each with the root tree of its result.
    """
    every = set(trees.values())
    if len(every) <= MOST_TREES:
        return every
    return set(list(dict.fromkeys(trees[value] for value in as_logged(store, list(trees))))[:MOST_TREES])


def as_logged(store: Store, decisions: Sequence[Resolution]) -> list[Resolution]:
    """Return one member's decisions in the order of their log; those that no entry of it shares stand last."""
    hashes = json_texts(value.hash.text for value in decisions)
    seqs = {str(text): int(seq) for text, seq in store.rows(_SEQ, str(decisions[0].signer), hashes)}
    last = max(seqs.values(), default=0) + 1
    return sorted(decisions, key=lambda value: (seqs.get(value.hash.text, last), value.hash.text))
