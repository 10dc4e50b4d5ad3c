"""What a tree has otherwise than what was released last of my line: what a release of it brings to friends (LAZ-45)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from vault.content.totals import Since, desk_totals
from vault.desks.diff import Change, diff_trees
from vault.desks.differences import net_of
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
            with it what such a release has otherwise than my last one and this one.
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
        last: the commit that was released last, as `last_shared` gives it; where that is None, a friend's release that
            was merged is compared with, for every friend's folder has that.
        tree: what is released after it.
        source: where that is read.
        head: the last commit of my line, be it that of the release itself.
        step: how the tree differs from the one that the folder stood on, where that was just compared.
        files: how many files the tree holds, where they were just counted.

    Returns:
        None where nothing of it or below it was released, or a directory of that is not here any more.
    """
    try:
        if last is None:
            below = newest(vault.store, [other.hash for other in _merged(vault, desk, head, last, tree)])
            if not below:
                return None
            last = below[0]
        before = commit_info(vault.store, last).tree
        items = tuple(step.changes if step is not None and step.tree == before else diff_trees(source, before, tree))
        of = desk_totals(vault.store, desk, before)[0] if files is None else files - net_of(items)[0]
        merged = _merged(vault, desk, head, last, tree)
        for other in merged:
            items = _without_theirs(vault, items, last, other)
        theirs = _theirs(vault, source, before, last, merged)
        over = _over(source, tree, theirs)
    except DataError:  # let go of since
        return None
    found = {item.path: item for item in (*_against(theirs, items), *over)}
    came = [one for one in theirs if one.before is None and one.after is not None and not one.after.is_dir]
    items = tuple(found[path] for path in sorted(found))
    return SinceRelease(items, len(_lost(items)), of + len({one.path for one in came}))


def _theirs(
    vault: Vault, source: Source, before: RecordHash, last: RecordHash, merged: Sequence[CommitInfo]
) -> list[Change]:
    """Return what friends' releases changed that were merged since mine, as against my last one where that has it.

    Every friend's folder has it, and neither my release before nor the one to come may. What a later one of these
    releases took away itself is not theirs any more.
    """
    above = {*newest(vault.store, [other.hash for other in merged])}
    found: list[Change] = []
    for other in merged:
        if other.hash not in above:
            continue
        bases = _bases(vault, last, other)
        for path, kind, _, entry in diff_trees(source, bases[0] if bases else None, other.tree):
            if all(lookup(source, base, path) != entry for base in bases):
                found.append(Change(path, kind, lookup(source, before, path), entry))
    return found


def _over(source: Source, tree: RecordHash, theirs: Sequence[Change]) -> list[Change]:
    """Return what a tree has otherwise than friends' releases, where it has what my last release had, or nothing.

    Other differences to my last release are told anyway. Of two friends' releases either may be what it has.
    """
    found: dict[str, Change] = {}
    settled: set[str] = set()
    for path, _, mine, entry in theirs:
        now = lookup(source, tree, path)
        if now == entry:
            settled.add(path)
        elif now is None and entry is not None and mine is None:
            found[path] = Change(path, "deleted", entry, None)
        elif now is not None and now == mine and not (now.is_dir or (entry is not None and entry.is_dir)):
            found[path] = Change(path, "added" if entry is None else "changed", entry, now)
    return [item for path, item in found.items() if path not in settled]


def _against(theirs: Sequence[Change], items: Sequence[Change]) -> list[Change]:
    """Return differences as against friends' releases: what they came to have is changed, and what they lost is new."""
    has = {one.path: one.after for one in theirs if one.after is not None and not one.after.is_dir}
    lost = {one.path for one in theirs if one.after is None} - has.keys()

    def against(item: Change) -> Change:
        path, kind, _, after = item
        if after is None or after.is_dir:
            return item
        if kind == "added" and path in has:
            return Change(path, "changed", has[path], after)
        return Change(path, "added", None, after) if kind == "changed" and path in lost else item

    return [against(item) for item in items]


def _bases(vault: Vault, last: RecordHash, other: CommitInfo) -> list[RecordHash]:
    """Return the trees of what my last release and a friend's have in common."""
    return [commit_info(vault.store, base).tree for base in merge_bases(vault.store, last, other.hash).commits]


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
    for before in _bases(vault, last, other) if alike else ():
        alike -= {item.path for item in items if lookup(vault.store, before, item.path) == item.after}
    return tuple(item for item in items if item.path not in alike)


def _merged(vault: Vault, desk: str, head: RecordHash, last: RecordHash | None, tree: RecordHash) -> list[CommitInfo]:
    """Return the commits below the release of `tree` that friends released, and that were merged since `last`."""
    seen, left, found = {*([last] if last is not None else [])}, [head], list[CommitInfo]()
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
