"""Every merge that may come of what lies in a vault: the bases that it has, worked out from the graph alone."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

from vault.desks.chunks import MissingObject, check_here
from vault.desks.memory import MemoryObjects
from vault.desks.tree import walk
from vault.folder.criss_cross import Made, base_of
from vault.records import RecordHash
from vault.revisions.graph import nearest_common
from vault.vault import Vault

__all__ = ["bases_to_come", "missing_of"]

# Where somebody may stand: what nobody went on from, what each released last, and what a folder here stands on.
_TIPS = """
SELECT hash FROM commits WHERE hash NOT IN (SELECT parent FROM parent)
UNION SELECT commit_hash FROM release JOIN (SELECT node, max(seq) AS seq FROM release GROUP BY node) USING (node, seq)
UNION SELECT commit_hash FROM checkout"""
_MOST = 6  # tips of which every set is looked at; of more every pair

Bases = dict[tuple[RecordHash, ...], RecordHash | None]


def bases_to_come(vault: Vault) -> Bases:
    """Return the base trees of all merges to come, by their commits; but for those that lack something already.

    Whoever goes on does so from one tip, or from several that they merged. One side is what a folder here stands on,
    with whatever else comes in; so the bases are those of what two sets of tips have in common.
    """
    tips = [str(row[0]) for row in vault.store.rows(_TIPS)]
    stood = {str(row[0]) for row in vault.store.rows("SELECT commit_hash FROM checkout")}
    below = {tip: _ancestors(vault, tip) for tip in tips}
    most = len(tips) if len(tips) <= _MOST else 2
    sets = [chosen for size in range(1, most + 1) for chosen in combinations(tips, size)]
    unions = {frozenset[str]().union(*(below[tip] for tip in chosen)) for chosen in sets}
    here = {frozenset[str]().union(one, *(below[tip] for tip in stood)) for one in unions}
    commons = {one & other for one in here for other in unions}
    found: Bases = {}
    objects, made = MemoryObjects(fallback=vault.store), _none()
    for bases in sorted({nearest_common(vault.store, common).commits for common in commons}):
        if bases and not _lacks(vault, objects, bases, made):
            found[bases] = made[bases]
    return found


def missing_of(vault: Vault, bases: Bases) -> list[tuple[RecordHash, ...]]:
    """Return the bases that cannot be made any more, lack a file, or come to another tree now."""
    objects, made = MemoryObjects(fallback=vault.store), _none()
    return [each for each, tree in bases.items() if _lacks(vault, objects, each, made) or made[each] != tree]


def _none() -> Made:
    return {}


def _lacks(vault: Vault, objects: MemoryObjects, bases: tuple[RecordHash, ...], made: Made) -> bool:
    try:
        tree = base_of(objects, vault, bases, made)
        for _, entry in walk(objects, tree) if tree is not None else ():
            if entry.kind == "f":
                check_here(objects, entry)
    except MissingObject:
        return True
    return False


def _ancestors(vault: Vault, commit: str) -> frozenset[str]:
    parents: dict[str, list[str]] = {}
    for child, parent in vault.store.rows("SELECT child, parent FROM parent"):
        parents.setdefault(str(child), []).append(str(parent))
    found, waiting = {commit}, [commit]
    while waiting:
        fresh: Iterable[str] = set(parents.get(waiting.pop(), ())) - found
        found.update(fresh)
        waiting += fresh
    return frozenset(found)
