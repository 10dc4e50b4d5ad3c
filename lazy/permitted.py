"""What friends changed where my rules do not let them: their heads stay out of my line (CLAY-80)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lazy.people import label_of
from vault.desks.diff import diff_trees
from vault.desks.tree import lookup
from vault.graph import ancestors, merge_bases
from vault.history import CommitInfo, commit_info
from vault.permits import Act, Permit, may, permits, ruling
from vault.records import RecordHash
from vault.vault import Vault

__all__ = ["Refused", "refused"]


@dataclass(frozen=True, slots=True)
class Refused:
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

    A change counts as its signer's unless the same stands at the path in my line, or in a commit on the way by
    somebody who may write there: who merges a friend's work does not make it their own.

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
    known = ancestors(vault.store, mine) if mine is not None else set()
    found = []
    for head in heads:
        info = commit_info(vault.store, head)
        bases = merge_bases(vault.store, mine, head).commits if mine is not None else ()
        base = commit_info(vault.store, bases[0]).tree if bases else None
        ways: list[CommitInfo] | None = None
        paths = []
        for change in diff_trees(vault.store, base, info.tree):
            rule = ruling(rules, Act.WRITE, change.path)
            if may(vault.store, rule, info.signer, vault.node.text):
                continue
            if ways is None:
                ways = _way(vault, mine, head, known)
            now = change.after.hash if change.after is not None else None
            if not any(_vouches(vault, rule, commit, change.path, now) for commit in ways):
                paths.append(change.path)
        if paths:
            found.append(Refused(head, label_of(vault, info.signer), tuple(sorted(paths))))
    return found


def _way(vault: Vault, mine: RecordHash | None, head: RecordHash, known: set[str]) -> list[CommitInfo]:
    """Return my head and the commits between, those whose trees are here."""
    way = [RecordHash.parse(text) for text in sorted(ancestors(vault.store, head) - known)]
    found = [commit_info(vault.store, commit) for commit in ([mine] if mine is not None else []) + way]
    here = vault.store.have([info.tree for info in found])
    return [info for info in found if info.tree in here]


def _vouches(vault: Vault, rule: Permit | None, commit: CommitInfo, path: str, now: RecordHash | None) -> bool:
    if not may(vault.store, rule, commit.signer, vault.node.text):
        return False
    entry = lookup(vault.store, commit.tree, path)
    return (entry.hash if entry is not None else None) == now
