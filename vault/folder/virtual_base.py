"""The virtual merge base of a new desk: what it has from the desks around it as its maker had it (CLAY-3, CLAY-24).

Who makes a shared folder a desk begins a history of its own, and so does each friend. The first time theirs comes in
there is no commit that both stand on; but a file that is still as the desk around had it is one of which this person
changed nothing, whoever made it so. The maker went on from it where their desk had it so at this very path, or where
they released it there themselves over nothing else. Whether they had what another released cannot be told from their
line of the desk around: that goes on, and what comes in by it is written to no folder that is a desk. Nor can it be
told from other files: that their desk began with the same bytes is a sign and no more, for two may mend one word, or
put in one picture, and one file may be brought alone. It is enough for what the folder was when it was first released.
And where a file went back to what it was, nobody can tell which of both times they had. In doubt a person is asked.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from vault.desks.diff import diff_trees
from vault.desks.edit import apply_changes
from vault.desks.pages import Entry
from vault.desks.ports import Objects
from vault.desks.tree import lookup
from vault.errors import DataError
from vault.folder.desks_around import noted_around
from vault.notes.folders import DeskAround
from vault.persons import linked
from vault.records import RecordHash
from vault.revisions.graph import ancestors, is_ancestor, json_texts, tree_is_here
from vault.revisions.history import CommitInfo, ReleaseInfo, commit_info, releases, releases_of

if TYPE_CHECKING:
    from vault.desks.ports import Source
    from vault.vault import Vault

__all__ = ["as_it_came", "is_all_as_it_came", "is_all_in"]


class _State(NamedTuple):
    """What the folder was in a desk around it by a release: its tree, that one's commit, node and Lamport counter."""

    tree: RecordHash
    commit: RecordHash
    node: str
    lamport: int


class _Asked(NamedTuple):
    """A file that a head has otherwise than my folder."""

    mine: Entry
    theirs: Entry


def as_it_came(
    objects: Objects, vault: Vault, desk: str, ours: RecordHash, heads: Sequence[RecordHash]
) -> RecordHash | None:
    """Return a tree of the files that friends changed and that are here as they had them; None where there are none.

    It stands for the common ancestor that is lacking. What the heads lack is left out: they may never have had it. So
    is what they have as it was before mine, and what one of them need not have had.

    Args:
        objects: where trees are read, and the new pages go.
        vault: whose folder.
        desk: the desk.
        ours: the tree that the heads are merged with.
        heads: commits of the desk.
    """
    try:
        desks_around = noted_around(vault, desk)
        found: dict[str, Entry | None] = {}
        doubtful: set[str] = set()
        for head in heads if desks_around else ():
            asked = {
                change.path: _Asked(change.before, change.after)
                for change in diff_trees(objects.source, ours, commit_info(vault.store, head).tree)
                if change.before is not None and change.after is not None
            }
            had = _had_by_both(vault, desks_around, head, asked)
            found |= {path: asked[path].mine for path in had}
            doubtful |= asked.keys() - had
        found = {path: mine for path, mine in found.items() if path not in doubtful}
        return apply_changes(objects, None, found) if found else None
    except DataError:  # then what both added is asked about
        return None


def is_all_as_it_came(
    source: Source, vault: Vault, came: RecordHash | None, ours: RecordHash, head: RecordHash
) -> bool:
    """Tell whether a new desk's folder holds nothing but what a head has too, or has changed since it came.

    Args:
        source: where all are read.
        vault: whose folder.
        came: what `as_it_came` gave for both.
        ours: the tree of the folder.
        head: a commit of the desk.
    """
    info = commit_info(vault.store, head)
    return bool(noted_around(vault, info.desk)) and is_all_in(source, came, ours, info.tree)


def is_all_in(source: Source, came: RecordHash | None, ours: RecordHash, theirs: RecordHash) -> bool:
    """Tell whether a tree holds nothing but what another one has too, or has changed since it came.

    Args:
        source: where all are read.
        came: what `as_it_came` gave for both.
        ours: the tree.
        theirs: the other one.
    """
    differing = (change for change in diff_trees(source, ours, theirs) if change.kind != "added")
    return all(came is not None and change.before == lookup(source, came, change.path) for change in differing)


def _had_by_both(
    vault: Vault, desks_around: Sequence[DeskAround], head: RecordHash, asked: Mapping[str, _Asked]
) -> Collection[str]:
    """Return those of some files that are here as a desk around had them, and that the maker of a head went on from."""
    had: set[str] = set()
    doubtful: set[str] = set()
    begun = _beginnings(vault, head) if asked else []
    makers = {node for info in begun for node in linked(vault.store, info.signer)}
    shown = _shown(vault, head) if asked else []
    first = min((release.lamport for release in shown), default=math.inf)  # all that the maker had is below it
    trees = {*_trees_here(vault, shown), *(info.tree for info in begun)}
    for around in desks_around if asked else ():
        came = lookup(vault.store, commit_info(vault.store, around.commit).tree, around.path)
        if came is None or not came.is_dir:
            continue
        every = _states(vault, around)
        states = _each_once(every)
        surely = [one.commit for info in begun for one in _surely_had(vault, states, info.tree) if one.lamport < first]
        is_begun = bool(states) and is_ancestor(vault.store, states[0].commit, *surely)
        for path, (mine, theirs) in asked.items():
            values = _values(vault, states, path)
            if mine not in values or lookup(vault.store, came.hash, path) != mine:
                continue
            state, then = values[mine], values.get(theirs)
            known = [one for one in values.values() if one.node in makers or (is_begun and one == states[0])]
            others = {entry for entry in _up_to(values, mine) if values[entry] not in known}
            in_desk = {lookup(vault.store, tree, path) for tree in trees} if others else set()
            if mine in in_desk or others <= in_desk:
                had.add(path)
            is_older = then is not None and not is_ancestor(vault.store, state.commit, then.commit)
            if is_older or _went_back(vault, every, path, mine):
                doubtful.add(path)
    return had - doubtful


def _up_to(values: Mapping[Entry, _State], mine: Entry) -> list[Entry]:
    """Return what a file was before something and that: all that may be merged into it, had the maker it or not.

    What came in by the desk around, after the folder was a desk, may be merged into a file there, and nowhere else.
    """
    every = [*values]
    return every[: every.index(mine) + 1]


def _beginnings(vault: Vault, head: RecordHash) -> list[CommitInfo]:
    """Return the first commits of a head's history, each with the head's tree where its own is not here."""
    store = vault.store
    first = store.rows(
        "SELECT hash FROM commits WHERE hash IN (SELECT value FROM json_each(?))"
        " AND NOT EXISTS (SELECT 1 FROM parent WHERE child = hash)",
        json_texts(ancestors(store, head)),
    )
    found = [commit_info(store, RecordHash.parse(str(text))) for (text,) in first]
    tree = commit_info(store, head).tree
    return [info if tree_is_here(store, info.hash) else info._replace(tree=tree) for info in found]


def _shown(vault: Vault, head: RecordHash) -> list[ReleaseInfo]:
    """Return the releases of a head's history, the oldest first."""
    return releases_of(vault.store, [RecordHash.parse(text) for text in ancestors(vault.store, head)])


def _trees_here(vault: Vault, shown: Sequence[ReleaseInfo]) -> Iterator[RecordHash]:
    """Yield the trees of some releases that can be read here."""
    for release in shown:
        if tree_is_here(vault.store, release.commit):
            yield commit_info(vault.store, release.commit).tree


def _states(vault: Vault, around: DeskAround) -> list[_State]:
    """Return what a folder was in the releases of a desk around it, the oldest first."""
    found: list[_State] = []
    for release in releases(vault.store, around.desk):
        there = lookup(vault.store, commit_info(vault.store, release.commit).tree, around.path)
        if there is not None and there.is_dir:
            found.append(_State(there.hash, release.commit, release.node, release.lamport))
    return found


def _each_once(states: Sequence[_State]) -> list[_State]:
    """Return the first of the states of each tree."""
    found: dict[RecordHash, _State] = {}
    for state in states:
        found.setdefault(state.tree, state)
    return [*found.values()]


def _went_back(vault: Vault, states: Sequence[_State], path: str, entry: Entry) -> bool:
    """Tell whether a file became something again after it was something else; of two side by side neither did."""
    store = vault.store
    there = {tree: lookup(store, tree, path) == entry for tree in {state.tree for state in states}}
    at = [number for number, state in enumerate(states) if there[state.tree]]
    return any(
        is_ancestor(store, state.commit, *(states[later].commit for later in at if later > number))
        and any(is_ancestor(store, states[first].commit, state.commit) for first in at if first < number)
        for number, state in enumerate(states)
        if not there[state.tree] and at and at[0] < number < at[-1]
    )


def _values(vault: Vault, states: Sequence[_State], path: str) -> dict[Entry, _State]:
    """Return what a file was in some states, the oldest first, each with the first of them that has it so."""
    found: dict[Entry, _State] = {}
    for state in states:
        entry = lookup(vault.store, state.tree, path)
        if entry is not None:
            found.setdefault(entry, state)
    return found


def _oldest_with(vault: Vault, states: Sequence[_State], path: str, entry: Entry) -> _State | None:
    return next((state for state in states if lookup(vault.store, state.tree, path) == entry), None)


def _surely_had(vault: Vault, states: Sequence[_State], begun: RecordHash) -> list[_State]:
    """Return the states of which a tree has something that no older one has: who made it had them, and all below."""

    def is_sign(at: int, path: str, entry: Entry) -> bool:
        return lookup(vault.store, begun, path) == entry and _oldest_with(vault, states, path, entry) == states[at]

    return [
        state
        for at, state in enumerate(states)
        if any(
            change.after is not None and is_sign(at, change.path, change.after)
            for change in diff_trees(vault.store, states[at - 1].tree if at else None, state.tree)
        )
    ]
