"""What friends changed where my rules do not let them: their heads stay out of my line (CLAY-80)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lazy.people import label_of
from vault.desks.diff import diff_trees
from vault.desks.tree import lookup
from vault.permits import Act, Permit, may, permits, ruling
from vault.records import RecordHash
from vault.revisions.graph import merge_bases, newest, only_above
from vault.revisions.history import CommitInfo, commit_info
from vault.vault import Vault

__all__ = ["Refused", "refused"]


class Refused(NamedTuple):
    """A head that is not taken in.

    Args:
        head: the commit.
        who: name of its signer.
        paths: what was changed there and may not be, sorted.
    """

    head: RecordHash
    who: str
    paths: tuple[str, ...]


def refused(vault: Vault, desk: str, mine: RecordHash | None, heads: Sequence[RecordHash]) -> list[Refused]:
    """Return the heads that change paths which their signers may not write, with those paths.

    A change counts as its signer's unless the same stands at the path in my line, or in the last commit on the way by
    somebody who may write there: who merges a friend's work does not make it their own, and who goes back to what a
    friend left behind does. Where histories criss-cross, what differs from any of the common ancestors is a change.

    Args:
        vault: whose rules.
        desk: the desk.
        mine: the head of my line, if any.
        heads: friends' commits that may be taken in.

    Raises:
        MissingObject, TreeError: a tree cannot be read.
    """
    rules = [rule for rule in permits(vault.store, desk) if rule.act is Act.WRITE]
    if not rules:
        return []
    found = []
    for head in heads:
        info = commit_info(vault.store, head)
        bases = merge_bases(vault.store, mine, head).commits if mine is not None else ()
        trees: list[RecordHash | None] = [commit_info(vault.store, base).tree for base in bases]
        changed: dict[str, RecordHash | None] = {}
        for tree in trees or [None]:
            for change in diff_trees(vault.store, tree, info.tree):
                changed[change.path] = change.after.hash if change.after is not None else None
        ways: list[CommitInfo] | None = None
        vouching: dict[Permit | None, list[CommitInfo]] = {}
        paths = []
        for path, now in changed.items():
            rule = ruling(rules, Act.WRITE, path)
            if may(vault.store, rule, info.signer, vault.node.text):
                continue
            if ways is None:
                ways = _way(vault, mine, head)
            if rule not in vouching:
                vouching[rule] = _vouching(vault, rule, ways, mine)
            if not any(_stands(vault, commit, path, now) for commit in vouching[rule]):
                paths.append(path)
        if paths:
            found.append(Refused(head, label_of(vault, info.signer), tuple(sorted(paths))))
    return found


def _way(vault: Vault, mine: RecordHash | None, head: RecordHash) -> list[CommitInfo]:
    """Return my head and the commits between, those whose trees are here."""
    own = [mine] if mine is not None else []
    way = sorted(only_above(vault.store, {head.text}, {one.text for one in own}))
    found = [commit_info(vault.store, commit) for commit in own + list(map(RecordHash.parse, way))]
    here = vault.store.have([info.tree for info in found])
    return [info for info in found if info.tree in here]


def _vouching(
    vault: Vault, rule: Permit | None, ways: Sequence[CommitInfo], mine: RecordHash | None
) -> list[CommitInfo]:
    """Return my head, and the last commits on the way by those whom a rule lets write."""
    allowed = [info for info in ways if may(vault.store, rule, info.signer, vault.node.text)]
    last = {mine, *newest(vault.store, [info.hash for info in allowed])}
    return [info for info in allowed if info.hash in last]


def _stands(vault: Vault, commit: CommitInfo, path: str, now: RecordHash | None) -> bool:
    entry = lookup(vault.store, commit.tree, path)
    return (entry.hash if entry is not None else None) == now
