"""What the trees of decisions have beside the sides of a version, and whether one keeps what it says (LAZ-42).

What is asked of the same trees is answered once, however many decisions have them. Of few pairs of trees is kept what
differs, since one record of a friend may be a tree of as many files as they like.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from vault.desks.chunks import MissingObject
from vault.desks.diff import diff_trees
from vault.desks.pages import Entry, TreeError
from vault.desks.paths import twin_key
from vault.records import RecordHash
from vault.store import Store

__all__ = ["Kept", "Sides", "Trees"]

_SIDES = -1  # whose paths those are in which the sides differ
_HELD = 16  # pairs of trees

_Changes = Mapping[str, Entry | None]  # what stands at a path that differs; None where nothing does
Sides = frozenset[RecordHash]  # root trees of the sides of a version


class Kept(NamedTuple):
    """What is asked of a decision's tree (`Trees.keeps`).

    Args:
        sides: those that the decision names.
        kept: what it says that it keeps.
        tree: what its result has.
        earlier: of the last decisions below it, sorted.
        gone: of commits below it whose makers belong no more, sorted.
        is_all_here: whether these are all such commits; else anything may be theirs that no side disputes.
    """

    sides: Sides
    kept: RecordHash
    tree: RecordHash
    earlier: tuple[RecordHash, ...]
    gone: tuple[RecordHash, ...]
    is_all_here: bool


class Trees:
    """The trees of the decisions on one version.

    Args:
        store: where they are.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._differ: dict[tuple[RecordHash, RecordHash], _Changes] = {}
        self._disputed: dict[Sides, frozenset[str]] = {}
        self._answered: dict[Kept, bool] = {}

    def keeps(self, asked: Kept) -> bool:
        """Tell whether a decision's tree is what it keeps, with what those have that it is built on, and no more."""
        if asked.tree == asked.kept and set(asked.earlier) <= {asked.tree}:
            return True
        if asked not in self._answered:
            self._answered[asked] = self._keeps(asked)
        return self._answered[asked]

    def _keeps(self, asked: Kept) -> bool:
        sides = asked.sides
        try:
            disputed = self._contested(sides)
            befores = [self._beside(sides, one) for one in asked.earlier]
            given = set(chain.from_iterable([*befores, *(self._beside(sides, one) for one in asked.gone)]))
            changed = self._changes(asked.kept, asked.tree)
            if not asked.is_all_here:
                given |= changed.keys() - disputed
            return _follows(changed, given, disputed) and not _lacks(self._beside(sides, asked.tree), befores, disputed)
        except MissingObject:  # it was let go here, after all of it was here
            return True
        except TreeError:
            return False

    def has_all_of(self, sides: Sides, tree: RecordHash, other: RecordHash) -> bool:
        """Tell whether a tree has all that another one has beside the sides, or what clashes with it."""
        if tree == other:
            return True
        try:
            return not _lacks_of(self._beside(sides, tree), self._beside(sides, other), self._contested(sides))
        except (MissingObject, TreeError):
            return False

    def _contested(self, sides: Sides) -> frozenset[str]:
        """Return the paths in which sides differ."""
        if sides not in self._disputed:
            first, *others = sorted(sides, key=str)
            changes = (diff_trees(self._store, first, one) for one in others)
            self._disputed[sides] = frozenset(change.path for change in chain.from_iterable(changes))
        return self._disputed[sides]

    def _beside(self, sides: Sides, tree: RecordHash) -> _Changes:
        """Return what a tree has otherwise than all of the sides."""
        disputed = self._contested(sides)
        changes = self._changes(min(sides, key=str), tree)
        return {path: entry for path, entry in changes.items() if path not in disputed}

    def _changes(self, before: RecordHash, after: RecordHash) -> _Changes:
        found = self._differ.pop((before, after), None)
        if found is None:
            found = {change.path: change.after for change in diff_trees(self._store, before, after)}
        self._differ[before, after] = found  # the one that was asked last stands last
        if len(self._differ) > _HELD:
            del self._differ[next(iter(self._differ))]
        return found


def _follows(changed: Collection[str], beside: Collection[str], contested: Collection[str]) -> bool:
    """Tell whether paths are of what earlier decisions changed beside the sides, or cannot stand beside that.

    A file stands in the way of a folder, and of a name that some disks take for the same: who decides says which stays.
    """
    if not changed:
        return True
    keys, disputed = set(map(_key, beside)), set(map(_key, contested))
    above = {upper for key in keys for upper in _upwards(key)}

    def is_of_it(path: str) -> bool:
        whole = _key(path)
        return any(at in keys or (at in above and (at == whole or at in disputed)) for at in _upwards(whole))

    return all(map(is_of_it, changed))


def _lacks(has: _Changes, befores: Sequence[_Changes], contested: Collection[str]) -> bool:
    """Tell whether a tree lacks what earlier ones have beside the sides, but for where these clash.

    They clash where they have a path otherwise, where one cannot stand beside what another has or the sides dispute,
    and where two took away one file, to give it names of their own, say: there a person chose.
    """
    entries: dict[str, set[Entry | None]] = {}
    owners: dict[str, set[int]] = {}
    for at, before in enumerate(befores):
        for path, entry in before.items():
            entries.setdefault(path, set()).add(entry)
            owners.setdefault(path, set()).add(at)
    agreed = {path: next(iter(found)) for path, found in entries.items() if len(found) == 1}
    lacking = [path for path, entry in agreed.items() if path not in has or has[path] != entry]
    if not lacking:
        return False
    at_key, above = _by_key({**{path: {_SIDES} for path in contested}, **owners})
    moved = {at for path, entry in agreed.items() if entry is None and len(owners[path]) > 1 for at in owners[path]}

    def clashes(path: str) -> bool:
        if agreed[path] is not None and len(owners[path]) == 1 and owners[path] <= moved:
            return True
        whole = _key(path)
        near = above.get(whole, set()).union(*(at_key.get(at, ()) for at in _upwards(whole)))
        return not near <= owners[path]

    return not all(map(clashes, lacking))


def _lacks_of(has: _Changes, other: _Changes, contested: Collection[str]) -> bool:
    """Tell the same of a tree and one other, of which many may be asked: no key is made of what the other one has."""
    lacking = other.keys() - has.keys()
    if not lacking:
        return False
    at_key, above = _by_key({path: {_SIDES} for path in chain(contested, has)})
    is_moved = any(entry is None and path in other and other[path] is None for path, entry in has.items())

    def clashes(path: str) -> bool:
        whole = _key(path)
        return (is_moved and other[path] is not None) or whole in above or any(at in at_key for at in _upwards(whole))

    return not all(map(clashes, lacking))


def _by_key(owners: Mapping[str, set[int]]) -> tuple[dict[str, set[int]], dict[str, set[int]]]:
    """Return whose paths stand at a key, and whose stand somewhere below it."""
    at_key: dict[str, set[int]] = {}
    above: dict[str, set[int]] = {}
    for path, of in owners.items():
        whole = _key(path)
        at_key.setdefault(whole, set()).update(of)
        for upper in list(_upwards(whole))[1:]:
            above.setdefault(upper, set()).update(of)
    return at_key, above


def _key(path: str) -> str:
    return "/".join(map(twin_key, path.split("/")))


def _upwards(path: str) -> Iterator[str]:
    """Yield a path and the folders it is in."""
    while path:
        yield path
        path = path.rpartition("/")[0]
