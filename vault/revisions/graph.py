"""The graph of commits: ancestors, newest heads, merge bases; most cost how far commits are apart (`paint`).

Nothing is chosen here by a hash or a clock: where several commits answer, all of them are returned, sorted only so
that everybody sees the same list.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from vault.records import RecordHash
from vault.revisions.paint import Colours, paint
from vault.store import Store

__all__ = [
    "MergeBases",
    "all_parents",
    "ancestors",
    "covered",
    "covered_by",
    "is_ancestor",
    "json_array",
    "json_texts",
    "merge_bases",
    "nearest_below",
    "nearest_common",
    "newest",
    "only_above",
    "parents_of",
    "tree_is_here",
]

_IS_RELEASED = "SELECT 1 FROM release WHERE commit_hash = ? AND visible = 1 LIMIT 1"
_FIRST_LOOK = 64  # commits that are looked at before anything is followed further; twice as many in each next look
_MOST_COLOURS = 128  # of more commits it costs less to go through all that is below
_OURS, _THEIRS = 1, 2
_COMMON = _OURS | _THEIRS
_SETTLED = _COMMON | 4  # below a base

_BELOW = """
WITH RECURSIVE up(h) AS (SELECT value FROM json_each(?) UNION SELECT parent FROM parent JOIN up ON child = h LIMIT ?)
SELECT h, parent FROM up LEFT JOIN parent ON child = h"""


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


def all_parents(store: Store, heads: Collection[str]) -> Mapping[str, Sequence[str]]:
    """Return the parents of some commits and of all that are below them, as hash texts."""
    return _parents_below(store, heads, -1)


def parents_of(store: Store, commits: Iterable[str]) -> dict[str, list[str]]:
    """Return the parents of some commits, as hash texts in their order; what has none is not in it."""
    query = "SELECT child, parent FROM parent WHERE child IN (SELECT value FROM json_each(?)) ORDER BY child, parent"
    found: dict[str, list[str]] = {}
    for child, parent in store.rows(query, json_texts(commits)):
        found.setdefault(str(child), []).append(str(parent))
    return found


def _parents_below(store: Store, heads: Collection[str], most: int) -> dict[str, list[str]]:
    """Return the same of so many of them, the nearest; of all for -1."""
    found: dict[str, list[str]] = {}
    for child, parent in store.rows(_BELOW, json_texts(heads), most):
        found.setdefault(child, []).extend(() if parent is None else (parent,))
    return found


def is_ancestor(store: Store, lower: RecordHash, *uppers: RecordHash) -> bool:
    """Tell whether a commit is one of others or an ancestor of one; it costs how far apart they are."""
    if not uppers or lower in uppers:
        return bool(uppers)
    return bool(covered(store, [lower.text], [upper.text for upper in uppers]))


def covered(store: Store, commits: Collection[str], uppers: Collection[str]) -> set[str]:
    """Return those of some commits that are among others or ancestors of one, as hash texts; costs as `covered_by`."""
    return covered_by(store, commits, [uppers])[0]


def covered_by(store: Store, commits: Collection[str], groups: Sequence[Collection[str]]) -> list[set[str]]:
    """Return of each group of commits which of some commits are in it or ancestors of one of it, as hash texts.

    It costs how far apart they are, not how long their history is, as long as few are not soon met. What is below
    several groups is gone through once.
    """
    asked, found, far = set(commits), list[set[str]](), list[int]()
    for at, group in enumerate(groups):
        most = max(_FIRST_LOOK, 2 * len(group))
        near = _first_ancestors(store, group, most)
        found.append(asked & near)
        if len(near) == most and found[at] != asked:
            far.append(at)
    left = sorted(set[str]().union(*(asked - found[at] for at in far)))
    if left:
        of = [groups[at] for at in far]
        colours = _painted(store, left, of) if len(left) <= _MOST_COLOURS else _painted_all(store, of)
        for number, at in enumerate(far):
            found[at] |= {commit for commit in left if colours.get(commit, 0) >> number & 1}
    return found


def _painted(store: Store, commits: Sequence[str], groups: Sequence[Collection[str]]) -> Colours:
    """Return the colours of what was met until it is known which of some commits each group met.

    The first are those of the groups; after them stands one for each commit.
    """
    every = (1 << len(groups)) - 1
    own = {commit: 1 << at for at, commit in enumerate(commits, len(groups))}
    start = _start(groups)
    for commit, colour in own.items():
        start[commit] = start.get(commit, 0) | colour

    def is_done(colours: Colours, edge: Collection[str]) -> bool:
        # A group met what it can of a commit where what is below the group is below that one too.
        lacking: dict[int, int] = {}  # by the groups that did not meet them, the commits
        for one, colour in own.items():
            if of := every & ~colours[one]:
                lacking[of] = lacking.get(of, 0) | colour
        return not any(colours[one] & of and them & ~colours[one] for one in edge for of, them in lacking.items())

    return paint(start, Parents(store), is_done)


def _painted_all(store: Store, groups: Sequence[Collection[str]]) -> Colours:
    """Return the colours of the groups on all that is below them, in one way down."""
    if len(groups) == 1:
        return dict.fromkeys(_first_ancestors(store, groups[0], -1), 1)
    start = _start(groups)
    below = all_parents(store, start)
    return paint(start, lambda _: below, lambda *_: False)


def _start(groups: Sequence[Collection[str]]) -> Colours:
    """Return a colour for each group, on each of its commits."""
    start: Colours = {}
    for at, group in enumerate(groups):
        for commit in group:
            start[commit] = start.get(commit, 0) | 1 << at
    return start


def _first_ancestors(store: Store, commits: Collection[str], most: int) -> set[str]:
    """Return the hash texts of commits and of the nearest of their ancestors, `most` altogether; all for -1."""
    rows = store.rows(
        "WITH RECURSIVE up(h) AS (SELECT value FROM json_each(?) UNION SELECT parent FROM parent JOIN up ON child = h"
        " LIMIT ?) SELECT h FROM up",
        json_texts(commits),
        most,
    )
    return {str(row[0]) for row in rows}


class Parents:
    """Reads the parents of commits for `paint`, with ever more of what is below them: a long way is few queries."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[str, list[str]] = {}
        self._most = _FIRST_LOOK

    def __call__(self, commits: Collection[str]) -> Mapping[str, Sequence[str]]:
        """Return the parents of these commits, and of what was read before."""
        lacking = [commit for commit in commits if commit not in self._known]
        if lacking:
            self._known |= _parents_below(self._store, lacking, max(self._most, 2 * len(lacking)))
            self._most *= 2
        return self._known


def newest(store: Store, commits: Iterable[RecordHash]) -> list[RecordHash]:
    """Return those commits that are no ancestor of another one given, sorted by hash text."""
    given = {commit.text: commit for commit in commits}
    if len(given) < 2:
        return list(given.values())
    lower = covered(store, given, _parents(store, given))
    return [given[text] for text in sorted(given.keys() - lower)]


def tree_is_here(store: Store, commit: RecordHash) -> bool:
    """Tell whether a commit's whole tree can be read here: it is mine, or it was shared with its content."""
    row = store.rows("SELECT tree FROM commits WHERE hash = ?", commit.text)
    if not row:
        return False
    tree = RecordHash.parse(str(row[0][0]))
    return store.position(tree) is not None and store.is_closed(tree)


def nearest_below(store: Store, commit: RecordHash, *, released: bool = False) -> list[RecordHash]:
    """Return the nearest proper ancestors of a commit whose trees are here, each way down, sorted by hash text.

    Args:
        store: the vault's store.
        commit: the commit.
        released: whether only those count of which a release is shown.
    """
    found: set[RecordHash] = set()
    frontier, seen = _parents(store, [commit.text]), {commit.text}
    while frontier:
        here = {text for text in frontier if tree_is_here(store, RecordHash.parse(text))}
        if released:
            here = {text for text in here if store.rows(_IS_RELEASED, text)}
        found.update(RecordHash.parse(text) for text in here)
        seen |= frontier
        frontier = _parents(store, frontier - here) - seen
    return newest(store, found)


def merge_bases(store: Store, ours: RecordHash, theirs: RecordHash) -> MergeBases:
    """Return the nearest common ancestors whose trees are here; none for unrelated histories.

    A nearer one whose tree is not here (an unreleased state) is skipped, and what lies below it is asked.
    """
    here: dict[str, bool] = {}

    def is_base(commit: str) -> bool:
        if commit not in here:
            here[commit] = tree_is_here(store, RecordHash.parse(commit))
        return here[commit]

    def passes(commit: str, colours: int) -> int:
        return _SETTLED if colours == _COMMON and is_base(commit) else colours

    def is_done(colours: Colours, edge: Collection[str]) -> bool:
        return all(colours[commit] == _SETTLED for commit in edge)

    start = {ours.text: _OURS, theirs.text: _THEIRS} if ours != theirs else {ours.text: _COMMON}
    colours = paint(start, Parents(store), is_done, passes)
    common = [commit for commit, colour in colours.items() if colour == _COMMON]
    found = newest(store, [RecordHash.parse(commit) for commit in common if is_base(commit)])
    skipped = {commit for commit in common if not is_base(commit)}
    return MergeBases(tuple(found), len(_uncovered(store, skipped, [base.text for base in found])))


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


def only_above(store: Store, uppers: Collection[str], lowers: Collection[str]) -> set[str]:
    """Return the commits that some are or are built on, and others are not, as hash texts (a range: `lowers..uppers`).

    It costs as `covered_by`.
    """

    def is_done(colours: Colours, edge: Collection[str]) -> bool:
        return all(colours[commit] != _OURS for commit in edge)

    start = {**dict.fromkeys(uppers, _OURS), **dict.fromkeys(lowers, _THEIRS)}
    colours = paint(start, Parents(store), is_done)
    return _uncovered(store, {commit for commit, colour in colours.items() if colour == _OURS}, lowers)


def _uncovered(store: Store, commits: set[str], uppers: Collection[str]) -> set[str]:
    """Return those of some commits that are not among others and no ancestor of one, as hash texts."""
    if not commits:
        return commits
    below = Parents(store)(commits)
    lowest = [one for one in commits if commits.isdisjoint(below[one])]
    # Whoever has one of them has the lowest below it.
    return commits - covered(store, commits, uppers) if covered(store, lowest, uppers) else commits


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
