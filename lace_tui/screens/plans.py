"""What Home does only after a plan was seen: an update and an undo. The plan is made behind the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lace_tui import deeds
from lace_tui.screens.cards import Card, plans_lines, undo_lines, undone_card, updates_card
from lace_tui.screens.dialogs import PlanPage
from lace_tui.screens.marks import BAD, mark
from vault.errors import EnvironmentFault

if TYPE_CHECKING:
    from lace_tui.screens.place import Place
    from lazy.undo import Undone
    from lazy.update import Updated

__all__ = ["ask_undo", "ask_update"]

_OTHER_PLAN = "! Something changed since you saw the plan, so nothing was done. The plan is now:"


def ask_undo(home: Place) -> None:
    """Say what would be taken back, and ask."""

    def planned(plan: Undone) -> None:
        def decided(is_agreed: bool | None) -> None:
            if is_agreed:
                home.lace.begin(
                    "Undo", lambda vault, watch: deeds.undo_planned(vault, plan, watch), undone_card, "lace undo"
                )

        home.lace.open_page(home, "undo", PlanPage("Undo: the plan", undo_lines(plan)), decided)

    if home.lace.can_start:
        home.lace.ask(lambda vault: deeds.undo(vault, dry_run=True), planned, "undo", asked="Undo")


def ask_update(home: Place) -> None:
    """Plan an update, and ask."""
    home.lace.begin("Update: making the plan", deeds.plan_updates, lambda plans: _planned(home, plans))


def _planned(home: Place, plans: dict[str, Updated | EnvironmentFault], *, is_anew: bool = False) -> Card | None:
    nothing = {deeds.Relation.SAME, deeds.Relation.AHEAD}
    good = {desk: plan for desk, plan in plans.items() if not isinstance(plan, EnvironmentFault)}
    doing = {desk: plan for desk, plan in good.items() if plan.relation not in nothing}
    lines = [mark(_OTHER_PLAN, BAD)] if is_anew else []
    lines += plans_lines(plans)
    if not doing:
        is_bad = len(good) < len(plans) or any(plan.waiting or plan.away for plan in good.values())
        return Card("Update: nothing to do", tuple(lines), is_bad)

    def done(told: dict[str, tuple[Updated, tuple[str, ...]]] | deeds.PlannedAnew) -> Card | None:
        return _planned(home, told.plans, is_anew=True) if isinstance(told, deeds.PlannedAnew) else updates_card(told)

    def decided(is_agreed: bool | None) -> None:
        if is_agreed:
            command = "; ".join(map(deeds.update_desk, doing))
            home.lace.begin("Update", lambda vault, watch: deeds.updates(vault, doing, watch), done, command)

    home.lace.open_page(home, "update", PlanPage("Update: the plan", lines), decided)
    return None
