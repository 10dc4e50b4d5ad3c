"""Releases that came with a visit which was cut off before it could tell of them (APP-13).

What a visit stored stays, also where the place goes away in the middle; the next visit that ends tells of it.
"""

from __future__ import annotations

import json

from vault.revisions.history import ReleasesShown
from vault.store.store import Store
from vault.writer import Writer

__all__ = ["forget_unheard", "note_unheard", "unheard_since"]

_SINCE = "unheard since"  # setting of the store: which releases were visible when a visit last told what came


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


def forget_unheard(w: Writer) -> None:
    """Forget it: a visit tells of all now."""
    if w.store.meta(_SINCE):
        w.store.drop_meta(_SINCE)
