"""Releases and conflicts that came with a visit which was cut off before it could tell of them (APP-13, LAZ-38).

What a visit stored stays, also where the place goes away in the middle; the next visit that ends tells of it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from vault.revisions.history import ReleasesShown
from vault.store.store import Store
from vault.writer import Writer

__all__ = ["forget_unheard", "note_unheard", "note_unheard_conflicts", "unheard_conflicts", "unheard_since"]

_SINCE = "unheard since"  # setting of the store: which releases were visible when a visit last told what came
_CONFLICTS = "conflicts unheard"  # setting of the store: ids of those that were new to a visit and told by none


def unheard_since(store: Store) -> ReleasesShown | None:
    """Return what was visible before visits that told nothing of what came; None where each told, as mostly."""
    kept = store.meta(_SINCE)
    try:
        top, aside = json.loads(kept or "[]")
        return ReleasesShown(int(top), frozenset(map(int, aside)))
    except (ValueError, TypeError):  # also where it rotted: then what came is told by `lace status` alone
        return None


def note_unheard(w: Writer, before: ReleasesShown) -> None:
    """Note what was visible before a visit that something came of; what an earlier one noted stays."""
    if not w.store.meta(_SINCE):
        w.store.set_meta(_SINCE, json.dumps([before.top, sorted(before.aside)]))


def unheard_conflicts(store: Store) -> list[str]:
    """Return the ids of conflicts that visits found to be new and told nobody of, also this one, oldest first."""
    return store.meta(_CONFLICTS).split()


def note_unheard_conflicts(w: Writer, fresh: Sequence[str]) -> None:
    """Note the ids of conflicts that are new to a visit, be it mine or a friend's at my server."""
    if fresh:
        w.store.set_meta(_CONFLICTS, " ".join([*unheard_conflicts(w.store), *fresh]))


def forget_unheard(w: Writer) -> None:
    """Forget both: a visit tells of all now."""
    for setting in (_SINCE, _CONFLICTS):
        if w.store.meta(setting):
            w.store.drop_meta(setting)
