"""What a new desk has from the desk around it: that came from friends, and is no change of mine (CLAY-3, CLAY-24).

Who makes a shared folder a desk begins a history of its own, and so does each friend. The first time theirs comes in
there is no commit that both stand on; but a file that is still as the desk around it had it from a friend is one of
which this person changed nothing. What they committed there themselves, and nobody else released, is theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from vault.desks.diff import diff_trees
from vault.desks.edit import apply_changes
from vault.desks.tree import Entry, lookup
from vault.errors import DataError
from vault.folder.around import Around, noted_around
from vault.revisions.history import commit_info, releases

if TYPE_CHECKING:
    from vault.desks.ports import Sink, Source
    from vault.records import RecordHash
    from vault.vault import Vault

__all__ = ["as_it_came", "is_all_as_it_came"]


def as_it_came(
    source: Source, sink: Sink, vault: Vault, desk: str, ours: RecordHash, heads: Sequence[RecordHash]
) -> RecordHash | None:
    """Return a tree of the files that friends changed and that are here as they came; None where there are none.

    It stands for the common ancestor that is lacking. What the heads lack is left out: they may never have had it.

    Args:
        source: where trees are read.
        sink: where the new pages go.
        vault: whose folder.
        desk: the desk.
        ours: the tree that the heads are merged with.
        heads: commits of the desk.
    """
    try:
        found: dict[str, Entry | None] = {}
        arounds = noted_around(vault, desk)
        asked: dict[str, Entry] = {}
        for head in heads if arounds else ():
            for change in diff_trees(source, ours, commit_info(vault.store, head).tree):
                if change.kind == "changed" and change.before is not None:
                    asked[change.path] = change.before
        for around in arounds if asked else ():
            came = lookup(vault.store, commit_info(vault.store, around.commit).tree, around.path)
            if came is not None and came.is_dir:
                same = {name: mine for name, mine in asked.items() if lookup(vault.store, came.hash, name) == mine}
                found |= _of_friends(vault, around, same)
        return apply_changes(source, sink, vault.group, None, found) if found else None
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
    if not noted_around(vault, info.desk):
        return False
    differing = (change for change in diff_trees(source, ours, info.tree) if change.kind != "added")
    return all(came is not None and change.before == lookup(source, came, change.path) for change in differing)


def _of_friends(vault: Vault, around: Around, asked: dict[str, Entry]) -> dict[str, Entry | None]:
    """Return those of some files of a folder that a friend released just so in the desk around it."""
    found: dict[str, Entry | None] = {}
    left = dict(asked)
    for release in reversed(releases(vault.store, around.desk)):
        if not left:
            break
        if release.node == vault.node.text:
            continue
        there = lookup(vault.store, commit_info(vault.store, release.commit).tree, around.path)
        if there is not None and there.is_dir:
            same = {name: mine for name, mine in left.items() if lookup(vault.store, there.hash, name) == mine}
            found |= same
            left = {name: mine for name, mine in left.items() if name not in same}
    return found
