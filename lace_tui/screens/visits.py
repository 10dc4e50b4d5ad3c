"""Visits that a person asks for: one place or peer, every place after a plan, and what one would move (APP-5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from lace_tui.keys.actions import Scope
from lace_tui.model import deeds
from lace_tui.screens.cards import planned_card, sync_card
from lace_tui.screens.dialogs import PlanPage
from lace_tui.screens.marks import QUIET, STRONG, mark
from lace_tui.words.inert import inert
from vault.commands import as_typed

if TYPE_CHECKING:
    from lace_tui.model.view import PlaceView, Reach
    from lace_tui.screens.place import PlaceScreen

__all__ = ["plan_sync_all", "say_what_would_move", "sync_with"]


def _why_nowhere(asker: PlaceScreen) -> str:
    """Return why nothing is selected to sync with."""
    view = asker.lace.view
    if view is None:
        return "The vault is being read: press it again once its places are shown."
    if view.places or view.peers:
        return "Select a place or a peer."
    on_home = "" if asker.SCOPE is Scope.HOME else " on Home"  # elsewhere the key does something else, or nothing
    key = asker.key_of("new-place")
    return f"There is no place to sync with yet: press {key}{on_home}, or type lace place add NAME DIR"


def sync_with(asker: PlaceScreen, names: Sequence[str]) -> None:
    """Sync some places or peers; where none is named, say how to get one."""
    if not names:
        asker.notify(_why_nowhere(asker), markup=False)
        return
    began = asker.lace.monotonic()
    asker.lace.begin(
        f"Sync: {inert(', '.join(names))}",
        lambda vault, watch: deeds.sync(vault, list(names), watch=watch, tells_held=True),
        lambda results: sync_card(results, asker.lace.monotonic() - began, asker.lace.taste.keys),
        as_typed("sync", *names),
    )


def plan_sync_all(asker: PlaceScreen, known: Sequence[PlaceView], reach: Mapping[str, Reach]) -> None:
    """Say which places a sync with all of them would visit now, and ask."""
    if not known:
        asker.notify(_why_nowhere(asker), markup=False)
        return
    here = [p for p in known if (seen := reach.get(p.place.name)) is None or seen.is_here is not False]
    if not here:
        asker.notify("No place is here now.", markup=False)
        return
    names = [place.place.name for place in here]
    lines = [mark(f"Sync {len(names)} of {len(known)} places:")]
    lines += [mark(f"  {p.place.name}  ", STRONG) + mark(f"{p.to_send or 'nothing'} to send", QUIET) for p in here]
    away = [p.place.name for p in known if p.place.name not in names]
    if away:
        lines.append(mark(f"  not here: {', '.join(away)}", QUIET))

    def decided(is_agreed: bool | None) -> None:
        if is_agreed:
            sync_with(asker, names)

    asker.app.push_screen(PlanPage("Sync all", lines), decided)


def say_what_would_move(asker: PlaceScreen, target: str) -> None:
    """Say what a sync with a place or peer would move."""
    if not target:
        asker.notify(_why_nowhere(asker), markup=False)
        return
    asker.lace.begin(
        f"What would move: {inert(target)}",
        lambda vault, watch: deeds.sync(vault, [target], dry_run=True, watch=watch),
        lambda results: planned_card(results, asker.lace.taste.keys),
        as_typed("sync", target, options="--dry-run"),
    )
