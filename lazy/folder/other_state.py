"""Which other state a folder looks at, by its address: who releases that folder shares that one (CLAY-24, LAZ-45)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lazy.people import label_of
from vault.folder.checked_out import checkout_of
from vault.folder.held_rules import looked_at, looked_until
from vault.names import SELF
from vault.records import RecordHash
from vault.revisions.history import revision_of
from vault.vault import Vault

if TYPE_CHECKING:
    from vault.folder.work import Changes

__all__ = ["committed_state", "other_state"]

_MINE = """
SELECT r.commit_hash FROM rev r JOIN commits c ON c.hash = r.commit_hash
WHERE c.tree = ? AND r.desk = ? AND r.node = ? AND c.hash <> ? ORDER BY r.number DESC LIMIT 1"""
_RELEASED = """
SELECT e.node, e.version FROM release e JOIN commits c ON c.hash = e.commit_hash
WHERE c.tree = ? AND e.desk = ? AND c.hash <> ? AND e.visible = 1 ORDER BY e.p DESC LIMIT 1"""


def other_state(vault: Vault, found: Changes) -> str:
    """Return the address of the state that a folder was brought to as a whole, and may have been edited in since.

    Args:
        vault: whose folder.
        found: what changed there since the commit that it stands on.

    Returns:
        Of several with the same content the newest of mine; empty where the folder looks at none, and where no revision
        or release has what it looks at, as after an undo.

    Raises:
        StoreDamaged: what it looks at rotted.
    """
    base = checkout_of(vault, found.desk)
    if base is None:
        return ""
    if not found.items:
        return committed_state(vault, found.desk, base.commit)
    return _address(vault, found.desk, looked_at(vault, found.desk), base.commit)


def committed_state(vault: Vault, desk: str, commit: RecordHash) -> str:
    """Return the same of the state that the folder looked at until a commit of all of it; empty where that was none."""
    return _address(vault, desk, looked_until(vault, commit), commit)


def _address(vault: Vault, desk: str, tree: RecordHash | None, without: RecordHash) -> str:
    if tree is None:
        return ""
    store, me = vault.store, vault.node.text
    for (commit,) in store.rows(_MINE, tree.text, desk, me, without.text):
        head = revision_of(store, me, desk, RecordHash.parse(str(commit)))
        return f"{desk}@{head.number}" if head is not None else ""
    for node, version in store.rows(_RELEASED, tree.text, desk, without.text):
        return f"{SELF if node == me else label_of(vault, str(node))}/{desk}@{version}"
    return ""
