"""The graph of commits: ancestors, newest heads, merge bases; each question is one query, whatever its size.

Nothing is chosen here by a hash or a clock: where several commits answer, all of them are returned, sorted only so
that everybody sees the same list.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from vault.records import RecordHash
from vault.store import Store

__all__ = [
    "MergeBases",
    "ancestors",
    "is_ancestor",
    "json_array",
    "json_texts",
    "merge_bases",
    "nearest_below",
    "nearest_common",
    "newest",
    "tree_is_here",
]

_FIRST_LOOK = 64  # commits that are looked at on each side before either is followed further
_FURTHER = 8  # times as many in each look that follows


class MergeBases(NamedTuple):
    """The nearest common ancestors whose trees are here, sorted by hash text, and how many nearer ones were skipped.

    More than one: the histories criss-cross, and none of them alone is a base.
    """

    commits: tuple[RecordHash, ...]
    skipped: int


def ancestors(store: Store, commit: RecordHash) -> set[str]:
    """Return the hash texts of a commit and all its ancestors that are here."""
    rows = store.rows(
        "WITH RECURSIVE up(h) AS (SELECT ? UNION SELECT parent FROM parent JOIN up ON child = h) SELECT h FROM up",
        commit.text,
    )
    return {str(row[0]) for row in rows}


def is_ancestor(store: Store, lower: RecordHash, *uppers: RecordHash) -> bool:
    """Tell whether a commit is one of others or an ancestor of one.

    Both are followed down in turn, so that of two near each other it costs how far apart they are, not how long their
    history is; what several have below them is gone through once.
    """
    if not uppers or lower in uppers:
        return bool(uppers)
    above = {upper.text for upper in uppers}
    most = max(_FIRST_LOOK, 2 * len(above))
    while True:
        below = _first_ancestors(store, above, most)
        if lower.text in below:
            return True
        if len(below) < most or above <= _first_ancestors(store, {lower.text}, most):
            return False
        most *= _FURTHER


def _first_ancestors(store: Store, commits: Collection[str], most: int) -> set[str]:
    """Return the hash texts of commits and of the nearest of their ancestors, `most` altogether."""
    rows = store.rows(
        "WITH RECURSIVE up(h) AS (SELECT value FROM json_each(?) UNION SELECT parent FROM parent JOIN up ON child = h"
        " LIMIT ?) SELECT h FROM up",
        json_texts(commits),
        most,
    )
    return {str(row[0]) for row in rows}


def newest(store: Store, commits: Iterable[RecordHash]) -> list[RecordHash]:
    """Return those commits that are no ancestor of another one given, sorted by hash text."""
    given = {commit.text: commit for commit in commits}
    if len(given) < 2:
        return list(given.values())
    rows = store.rows(
        "WITH RECURSIVE ask(h) AS (SELECT value FROM json_each(?)), up(h) AS (SELECT parent FROM parent JOIN ask"
        " ON child = h UNION SELECT parent FROM parent JOIN up ON child = h)"
        # One of them is nobody's ancestor: when all the others were met, what lies further down is not looked at.
        " SELECT h FROM up CROSS JOIN ask USING (h) LIMIT ?",
        json_texts(given),
        len(given) - 1,
    )
    covered = {str(row[0]) for row in rows}
    return [given[text] for text in sorted(given.keys() - covered)]


def tree_is_here(store: Store, commit: RecordHash) -> bool:
    """Tell whether a commit's whole tree can be read here: it is mine, or it was shared with its content."""
    row = store.rows("SELECT tree FROM commits WHERE hash = ?", commit.text)
    if not row:
        return False
    tree = RecordHash.parse(str(row[0][0]))
    return store.position(tree) is not None and store.is_closed(tree)


def nearest_below(store: Store, commit: RecordHash) -> list[RecordHash]:
    """Return the nearest proper ancestors of a commit whose trees are here, each way down, sorted by hash text."""
    found: set[RecordHash] = set()
    frontier, seen = _parents(store, [commit.text]), {commit.text}
    while frontier:
        here = {text for text in frontier if tree_is_here(store, RecordHash.parse(text))}
        found.update(RecordHash.parse(text) for text in here)
        seen |= frontier
        frontier = _parents(store, frontier - here) - seen
    return newest(store, found)


def merge_bases(store: Store, ours: RecordHash, theirs: RecordHash) -> MergeBases:
    """Return the nearest common ancestors whose trees are here; none for unrelated histories.

    A nearer one whose tree is not here (an unreleased state) is skipped, and what lies below it is asked.
    """
    return nearest_common(store, ancestors(store, ours) & ancestors(store, theirs))


def nearest_common(store: Store, common: Collection[str]) -> MergeBases:
    """Return the same for what two commits have in common, as hash texts of all their common ancestors."""
    below: dict[str, list[str]] = {}
    above = dict.fromkeys(common, 0)  # children that are common and not skipped yet
    for child, parent in store.rows(
        "SELECT child, parent FROM parent WHERE child IN (SELECT value FROM json_each(?))", json_texts(common)
    ):
        below.setdefault(child, []).append(parent)
        above[parent] += 1
    heads = {text for text, count in above.items() if not count}
    skipped = 0
    found: set[str] = set()
    covered: set[str] = set()
    while heads:
        here = {text for text in heads if tree_is_here(store, RecordHash.parse(text))}
        found |= here
        if len(here) == len(heads):
            break
        skipped += len(heads) - len(here)
        _cover(covered, here, below)
        following = [parent for head in heads - here for parent in below.get(head, ())]
        for parent in following:
            above[parent] -= 1
        heads = {parent for parent in following if not above[parent]} - covered
    return MergeBases(tuple(newest(store, map(RecordHash.parse, found))), skipped)


def _cover(covered: set[str], commits: Iterable[str], below: Mapping[str, list[str]]) -> None:
    """Add commits and all that is below them to what is covered, each once."""
    waiting = list(commits)
    while waiting:
        commit = waiting.pop()
        if commit not in covered:
            covered.add(commit)
            waiting += below.get(commit, ())


def _parents(store: Store, commits: Collection[str]) -> set[str]:
    rows = store.rows(
        "SELECT DISTINCT parent FROM parent WHERE child IN (SELECT value FROM json_each(?))", json_texts(commits)
    )
    return {str(row[0]) for row in rows}


def json_array(values: Iterable[str]) -> str:
    """Return the JSON array of values that are JSON already: numbers, and hash texts in quotes, which need no escape.

    The library that makes any takes longer to load than a short command has.
    """
    return f"[{','.join(values)}]"


def json_texts(texts: Iterable[str]) -> str:
    """Return the JSON array of texts that need no escape, as hash texts are."""
    return json_array(f'"{text}"' for text in texts)
