"""Releases and conflicts that came with a visit which was cut off before it could tell of them (APP-13, LAZ-38).

What a visit stored stays, also where the place goes away in the middle, or this vault may sign nothing yet; the next
visit that ends tells of it. So it does of what a friend brought to my server, which tells it there, perhaps to nobody.
"""

from __future__ import annotations

from collections.abc import Sequence

from vault.notes.own import CONFLICTS_UNHEARD, UNHEARD_SINCE
from vault.revisions.history import ReleasesShown
from vault.store.store import Store
from vault.writer import Writer

__all__ = ["forget_unheard", "note_unheard", "note_unheard_conflicts", "unheard_conflicts", "unheard_since"]


def unheard_since(store: Store) -> ReleasesShown | None:
    """Return what was visible before visits that told nothing of what came; None where each told, as mostly."""
    kept = store.note(UNHEARD_SINCE)  # none also where it rotted: then what came is told by `lace status` alone
    return ReleasesShown(kept[0], frozenset(kept[1])) if kept is not None else None


def note_unheard(w: Writer, before: ReleasesShown) -> None:
    """Note what was visible before a visit that something came of, or may have; what an earlier one noted stays."""
    if w.store.note(UNHEARD_SINCE) is None:
        w.store.set_note(UNHEARD_SINCE, (before.top, tuple(sorted(before.aside))))


def unheard_conflicts(store: Store) -> tuple[str, ...]:
    """Return the ids of conflicts that visits found to be new and told nobody of, also this one, oldest first."""
    return store.note(CONFLICTS_UNHEARD)


def note_unheard_conflicts(w: Writer, fresh: Sequence[str]) -> None:
    """Note the ids of conflicts that are new to a visit, be it mine or a friend's at my server."""
    if fresh:
        w.store.set_note(CONFLICTS_UNHEARD, (*unheard_conflicts(w.store), *fresh))


def forget_unheard(w: Writer) -> None:
    """Forget both: a visit tells of all now."""
    if w.store.has_note(UNHEARD_SINCE):
        w.store.drop_note(UNHEARD_SINCE)
    if w.store.has_note(CONFLICTS_UNHEARD):
        w.store.drop_note(CONFLICTS_UNHEARD)
