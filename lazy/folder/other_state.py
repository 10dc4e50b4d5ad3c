"""Which other state a folder looks at, by its address: who releases that folder shares that one (CLAY-24, LAZ-45)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lazy.people import label_of
from vault.folder.checked_out import checkout_of
from vault.folder.held_rules import looked_at, looked_until
from vault.names import SELF
from vault.records import RecordHash
from vault.revisions.history import last_shared, revision_of, shared_before
from vault.vault import Vault

if TYPE_CHECKING:
    from vault.folder.work import Changes

__all__ = ["OtherState", "committed_state", "other_state"]

_MINE = """
SELECT r.number FROM rev r JOIN commits c ON c.hash = r.commit_hash
WHERE c.tree = ? AND r.desk = ? AND r.node = ? AND c.hash <> ? AND r.number < ? ORDER BY r.number DESC LIMIT 1"""
_RELEASED = """
SELECT e.node, e.version FROM release e JOIN commits c ON c.hash = e.commit_hash
WHERE c.tree = ? AND e.desk = ? AND c.hash <> ? AND e.visible = 1 ORDER BY e.p DESC LIMIT 1"""
_UNRELEASED = """
SELECT number, commit_hash FROM rev WHERE node = ? AND desk = ? AND number <= ? AND number > ? ORDER BY number DESC"""
_END = (1 << 63) - 1  # after every revision


class OtherState(NamedTuple):
    """A state that a folder looks at as a whole, or looked at until a commit of it that was not released yet.

    Args:
        address: of several with the same content the newest of mine.
        newest: number of the revision that was the newest of my line before that commit; None where the look goes on.
    """

    address: str
    newest: int | None = None


def other_state(vault: Vault, found: Changes) -> OtherState | None:
    """Return the state that a folder was brought to as a whole, and may have been edited and committed in since.

    Args:
        vault: whose folder.
        found: what changed there since the commit that it stands on.

    Returns:
        None where the folder looks at none, and where no revision or release has what it looks at, as after an undo.

    Raises:
        StoreDamaged: what it looks at rotted.
    """
    base = checkout_of(vault, found.desk)
    if base is None:
        return None
    tree = looked_at(vault, found.desk) if found.items else None
    if tree is None:
        is_shared = last_shared(vault, found.desk) == base.commit
        return None if is_shared else committed_state(vault, found.desk, base.commit)
    address = _address(vault, found.desk, tree, base.commit, _END)
    return OtherState(address) if address else None


def committed_state(vault: Vault, desk: str, commit: RecordHash) -> OtherState | None:
    """Return the same of the last commit of all of a look up to that one, and after what was released before it."""
    store, me = vault.store, vault.node.text
    head = revision_of(store, me, desk, commit)
    if head is None:
        return None
    for number, text in store.rows(_UNRELEASED, me, desk, head.number, shared_before(vault, desk, commit) or 0):
        one = RecordHash.parse(str(text))
        if (tree := looked_until(vault, one)) is not None:
            address = _address(vault, desk, tree, one, int(number))
            return OtherState(address, int(number) - 1) if address else None
    return None


def _address(vault: Vault, desk: str, tree: RecordHash, without: RecordHash, below: int) -> str:
    store, me = vault.store, vault.node.text
    for (number,) in store.rows(_MINE, tree.text, desk, me, without.text, below):
        return f"{desk}@{number}"
    for node, version in store.rows(_RELEASED, tree.text, desk, without.text):
        return f"{SELF if node == me else label_of(vault, str(node))}/{desk}@{version}"
    return ""
