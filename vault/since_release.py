"""What a tree has otherwise than what was released last of my line: what a release of it brings to friends (LAZ-45)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from vault.content.totals import Since, desk_totals, net_of
from vault.desks.diff import Change, diff_trees
from vault.desks.ports import Source
from vault.desks.tree import lookup
from vault.errors import DataError
from vault.records import RecordHash
from vault.revisions.graph import merge_bases, newest
from vault.revisions.history import CommitInfo, commit_info, releases_of
from vault.vault import Vault

__all__ = ["SinceRelease", "since_release"]


class SinceRelease(NamedTuple):
    """What a release brings, whatever was committed meanwhile.

    Args:
        items: what differs, in the order of their paths; nothing that a friend released so, and that was merged, and
            with it what such a release added and this one deletes.
        gone: how many files it deletes for every friend; none that lies under another name now.
        of: how many files were released before, with those that such releases added.
    """

    items: tuple[Change, ...]
    gone: int
    of: int

    @property
    def is_mostly_gone(self) -> bool:
        """Whether more than half of what was released is deleted."""
        return 2 * self.gone > self.of

    def paths(self, kind: str) -> list[str]:
        """Return the paths that are `added`, `changed` or `deleted`."""
        return [item.path for item in self.items if item.kind == kind]


def since_release(
    vault: Vault,
    desk: str,
    last: RecordHash | None,
    tree: RecordHash,
    source: Source,
    head: RecordHash,
    *,
    step: Since | None = None,
    files: int | None = None,
) -> SinceRelease | None:
    """Return what a tree of a desk has otherwise than what was released last of my line.

    Args:
        vault: whose line.
        desk: the desk.
        last: the commit that was released last, as `last_shared` gives it.
        tree: what is released after it.
        source: where that is read.
        head: the last commit of my line, be it that of the release itself.
        step: how the tree differs from the one that the folder stood on, where that was just compared.
        files: how many files the tree holds, where they were just counted.

    Returns:
        None where nothing was released, or a directory of it is not here any more.
    """
    if last is None:
        return None
    try:
        before = commit_info(vault.store, last).tree
        items = tuple(step.changes if step is not None and step.tree == before else diff_trees(source, before, tree))
        of = desk_totals(vault.store, desk, before)[0] if files is None else files - net_of(items)[0]
        merged = _merged(vault, desk, head, last, tree)
        for other in merged:
            items = _without_theirs(vault, items, last, other)
        came = _came(vault, source, last, merged)
        taken = tuple(one for one in came if lookup(source, tree, one.path) is None)
    except DataError:  # let go of since
        return None
    items = tuple(sorted((*items, *taken), key=lambda item: item.path))
    return SinceRelease(items, len(_lost(items)), of + sum(not _is_folder(one) for one in came))


def _came(vault: Vault, source: Source, last: RecordHash, merged: Sequence[CommitInfo]) -> tuple[Change, ...]:
    """Return what friends' releases added that were merged since mine, each as if it were deleted again.

    Neither my release before nor the one to come has what I took away of that, and every friend's folder has it. What a
    later one of these releases took away itself is not theirs any more.
    """
    before = commit_info(vault.store, last).tree
    above = {*newest(vault.store, [other.hash for other in merged])}
    found: dict[str, Change] = {}
    for other in merged:
        if other.hash not in above:
            continue
        bases = [commit_info(vault.store, base).tree for base in merge_bases(vault.store, last, other.hash).commits]
        for path, _, _, entry in diff_trees(source, bases[0] if bases else None, other.tree):
            is_theirs = entry is not None and all(lookup(source, base, path) is None for base in bases)
            if is_theirs and lookup(source, before, path) is None:
                found[path] = Change(path, "deleted", entry, None)
    return tuple(found.values())


def _is_folder(item: Change) -> bool:
    return item.before is not None and item.before.is_dir


def _lost(items: tuple[Change, ...]) -> list[str]:
    """Return the files that are deleted, but for as many of one content as came under other names."""
    came = Counter(item.after.hash for item in items if item.kind == "added" and item.after is not None)
    lost = []
    for item in items:
        if item.kind != "deleted" or item.before is None or item.before.is_dir:
            continue
        if came[item.before.hash] > 0:
            came[item.before.hash] -= 1
        else:
            lost.append(item.path)
    return lost


def _without_theirs(vault: Vault, items: tuple[Change, ...], last: RecordHash, other: CommitInfo) -> tuple[Change, ...]:
    """Return items but those that a friend's release changed so itself.

    What it only has as it was before both is no change of theirs: it may never have had what I take back.
    """
    alike = {item.path for item in items if lookup(vault.store, other.tree, item.path) == item.after}
    for base in merge_bases(vault.store, last, other.hash).commits if alike else ():
        before = commit_info(vault.store, base).tree
        alike -= {item.path for item in items if lookup(vault.store, before, item.path) == item.after}
    return tuple(item for item in items if item.path not in alike)


def _merged(vault: Vault, desk: str, head: RecordHash, last: RecordHash, tree: RecordHash) -> list[CommitInfo]:
    """Return the commits below the release of `tree` that friends released, and that were merged since `last`."""
    seen, left, found = {last}, [head], list[CommitInfo]()
    while left:
        commit = left.pop()
        if commit in seen:
            continue
        seen.add(commit)
        info = commit_info(vault.store, commit)
        if (commit, info.tree) != (head, tree) and releases_of(vault.store, [commit], desk):
            found.append(info)  # what is below it was released with it
        else:
            left += info.parents
    return found
