"""What decisions on a version are built on: the commits above its sides, each after what it was made of (LAZ-42)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from vault.records import RecordHash
from vault.revisions.graph import json_texts, only_above, parents_of
from vault.store import Store

__all__ = ["Graph", "Made", "above_sides"]

_MADE = """
SELECT c.hash, c.tree, c.signer, c.signer IN (SELECT node FROM member),
    EXISTS (SELECT 1 FROM release WHERE commit_hash = c.hash), ifnull(s.content, 0)
FROM json_each(?) up CROSS JOIN commits c ON c.hash = up.value LEFT JOIN shared s ON s.p = c.p ORDER BY c.hash"""


class Made(NamedTuple):
    """A commit above the sides of a version.

    Args:
        tree: its root tree.
        signer: who made it.
        parents: hash texts; those that are not in the graph are sides, or below one.
        is_members: whether a member made it.
        is_released: whether anybody released it.
        is_shared: whether everybody is to have its tree, and not the commit alone.
    """

    tree: RecordHash
    signer: str
    parents: tuple[str, ...]
    is_members: bool
    is_released: bool
    is_shared: bool


Graph = Mapping[str, Made]


def above_sides(store: Store, sides: Iterable[RecordHash], results: Iterable[RecordHash]) -> Graph:
    """Return these results and what they are built on, but for what is in a side, by hash text, what is below first.

    Args:
        store: where they are.
        sides: commits.
        results: commits, whether or not they hold the sides.
    """
    given = {one.text for one in results}
    # Common history is long, and nobody decides about it: what is above it alone is looked at.
    rows = store.rows(_MADE, json_texts(given | only_above(store, given, {one.text for one in sides})))
    parents = parents_of(store, [str(row[0]) for row in rows])
    found = {
        str(text): Made(
            RecordHash.parse(str(tree)),
            str(signer),
            tuple(parents.get(str(text), ())),
            bool(is_members),
            bool(is_released),
            bool(content),
        )
        for text, tree, signer, is_members, is_released, content in rows
    }
    return {text: found[text] for text in _upwards(parents)}


def _upwards(parents: Mapping[str, Iterable[str]]) -> Iterable[str]:
    """Yield commits, each after those of its parents that are among them."""
    children: dict[str, list[str]] = {}
    waits = dict.fromkeys(parents, 0)
    for child, of in parents.items():
        for parent in of:
            if parent in parents:
                children.setdefault(parent, []).append(child)
                waits[child] += 1
    free = deque(text for text, count in waits.items() if not count)
    while free:
        text = free.popleft()
        yield text
        for child in children.get(text, ()):
            waits[child] -= 1
            if not waits[child]:
                free.append(child)
