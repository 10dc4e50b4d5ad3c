"""How my folder of a desk stands to what friends released (LAZ-54)."""

from __future__ import annotations

from typing import NamedTuple

from lazy.conflicts import conflicts
from lazy.contested import Conflict, ConflictKind
from lazy.folder.heads import HeadsToTake, heads_to_update, permitted_heads, relation_to, with_agreed
from lazy.folder.permitted import Refused
from vault.desk_folders import desks
from vault.desks.chunks import MissingObject
from vault.desks.pages import TreeError
from vault.folder.checked_out import Checkout, checkout_of
from vault.kept_rows import RulesDamaged
from vault.revisions.history import Relation
from vault.vault import Vault

__all__ = ["Standing", "desks_with_news", "relation_of", "standing_beside"]

_NEWS = {Relation.BEHIND, Relation.MERGEABLE, Relation.UNRELATED}  # what an update would bring in


class Standing(NamedTuple):
    """How a folder stands to what friends released.

    Args:
        relation: to what an update would bring in.
        refused: what it would not, by my rules of who may write where.
    """

    relation: Relation
    refused: tuple[Refused, ...] = ()


def relation_of(vault: Vault, desk: str) -> Relation:
    """Return how my folder of a desk stands to what friends released, and whether a conflict of it is open (LAZ-54)."""
    with vault.store.reading():
        return standing_beside(vault, desk, conflicts(vault)).relation


def standing_beside(vault: Vault, desk: str, open_conflicts: list[Conflict]) -> Standing:
    """Return the same beside conflicts that are read already, and what my rules keep out of an update (CLAY-80)."""
    base = checkout_of(vault, desk)
    taken = _heads(vault, desk, base)
    if taken.waiting or any(one.kind is ConflictKind.HEAD and one.desk == desk for one in open_conflicts):
        return Standing(Relation.CONFLICTING, taken.refused)
    base = with_agreed(vault, desk, base) if base else None
    found = {relation_to(vault, base, head) for head in taken.heads}
    for worst in (Relation.UNRELATED, Relation.MERGEABLE, Relation.BEHIND):
        if worst in found:
            return Standing(worst, taken.refused)
    is_ahead = base is not None and found == {Relation.AHEAD}
    return Standing(Relation.AHEAD if is_ahead else Relation.SAME, taken.refused)


def _heads(vault: Vault, desk: str, base: Checkout | None) -> HeadsToTake:
    """Return what an update would take in; where that cannot be told by rules or content that rotted, all there is."""
    try:
        return permitted_heads(vault, desk, base, None, None)
    except (RulesDamaged, MissingObject, TreeError):  # whoever updates is told
        return heads_to_update(vault, desk)


def desks_with_news(vault: Vault) -> list[str]:
    """Return the desks into which an update would bring something, as far as is stored (LAZ-54), main first."""
    with vault.store.reading():
        open_conflicts = conflicts(vault)
        return [one.name for one in desks(vault) if standing_beside(vault, one.name, open_conflicts).relation in _NEWS]
