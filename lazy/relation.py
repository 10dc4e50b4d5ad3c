"""How my folder of a desk stands to what friends released (LAZ-54)."""

from __future__ import annotations

from lazy.conflicts import conflicts
from lazy.contested import Conflict, ConflictKind
from lazy.folder.heads import heads_to_update, relation_to, with_agreed
from vault.desk_folders import desks
from vault.folder.checked_out import checkout_of
from vault.revisions.history import Relation
from vault.vault import Vault

__all__ = ["desks_with_news", "relation_beside", "relation_of"]

_NEWS = {Relation.BEHIND, Relation.MERGEABLE, Relation.UNRELATED}  # what an update would bring in


def relation_of(vault: Vault, desk: str) -> Relation:
    """Return how my folder of a desk stands to what friends released, and whether a conflict of it is open (LAZ-54)."""
    with vault.store.reading():
        return relation_beside(vault, desk, conflicts(vault))


def relation_beside(vault: Vault, desk: str, open_conflicts: list[Conflict]) -> Relation:
    """Return how my folder of a desk stands to what friends released, beside conflicts that are read already."""
    taken = heads_to_update(vault, desk)
    if taken.waiting or any(one.kind is ConflictKind.HEAD and one.desk == desk for one in open_conflicts):
        return Relation.CONFLICTING
    base = checkout_of(vault, desk)
    base = with_agreed(vault, desk, base) if base else None
    found = {relation_to(vault, base, head) for head in taken.heads}
    for worst in (Relation.UNRELATED, Relation.MERGEABLE, Relation.BEHIND):
        if worst in found:
            return worst
    if base is not None and found == {Relation.AHEAD}:
        return Relation.AHEAD
    return Relation.SAME


def desks_with_news(vault: Vault) -> list[str]:
    """Return the desks into which an update would bring something, as far as is stored (LAZ-54), main first."""
    with vault.store.reading():
        open_conflicts = conflicts(vault)
        return [found.name for found in desks(vault) if relation_beside(vault, found.name, open_conflicts) in _NEWS]
