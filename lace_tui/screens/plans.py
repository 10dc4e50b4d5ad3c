"""What Home does only after a plan was seen: an update, an undo, to let somebody in. Plans are made off the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lace_tui.model import deeds
from lace_tui.screens.cards import Card
from lace_tui.screens.dialogs import PlanPage, Question
from lace_tui.screens.marks import BAD, GOOD, QUIET, STRONG, mark
from lace_tui.screens.written import late_lines, path_lines, plans_lines, undo_lines, undone_card, updates_card
from lace_tui.words.inert import inert
from lace_tui.words.written import changes_of, files_moved_text
from transports.address import as_read
from vault.commands import as_typed
from vault.desks.paths import files_in
from vault.errors import EnvironmentFault

if TYPE_CHECKING:
    from lace_tui.model.view import Need, PlaceView
    from lace_tui.screens.host import Refused
    from lace_tui.screens.place import PlaceScreen
    from lazy.folder.updated import Updated
    from vault.vault import Vault
    from vault.watch import Watch

__all__ = ["ask_admit", "ask_folder", "ask_forget", "ask_redo", "ask_undo", "ask_update"]

_OTHER_PLAN = "! Something changed since you saw the plan, so nothing was done. The plan is now:"


def ask_undo(home: PlaceScreen) -> None:
    """Say what would be taken back, and ask."""

    def done(told: deeds.TakenBack) -> Card:
        home.lace.taken_back = told if told.again is not None else None
        card = undone_card((told.undone, told.late), told.kept)
        following = (mark(f"next: {home.key_of('redo')} does it again", QUIET),) if told.again is not None else ()
        return Card(card.title, (*card.lines, *following), card.is_bad)

    def planned(plan: deeds.UndoPlan) -> None:
        def decided(is_agreed: bool | None) -> None:
            if is_agreed:
                home.lace.begin("Undo", lambda vault, watch: deeds.undo_planned(vault, plan, watch), done, "lace undo")

        home.lace.open_page(home, "undo", PlanPage("Undo: the plan", undo_lines(plan.undone)), decided)

    if home.lace.can_start:
        home.lace.ask(deeds.plan_undo, planned, "undo", asked="Undo")


def ask_redo(home: PlaceScreen) -> None:
    """Say what would be done again that was taken back last, and ask; an update has a plan of its own."""
    told = home.lace.taken_back
    again = told.again if told is not None else None
    if told is None or again is None:
        home.notify("Nothing was taken back in this sitting that could be done again.", markup=False)
        return
    if again.do is None:
        ask_update(home)
        return

    def done(what: str) -> Card:
        home.lace.taken_back = None
        return Card("Redo: done", (mark(f"= {what}", GOOD), mark(f"next: {home.key_of('undo')} takes it back", QUIET)))

    def decided(is_agreed: bool | None) -> None:
        if is_agreed:
            home.lace.begin(
                "Redo", lambda vault, watch: deeds.redo(vault, told.before, again, watch), done, again.command
            )

    if home.lace.can_start:
        lines = [mark(again.what, STRONG), mark(again.command, QUIET)]
        home.app.push_screen(PlanPage("Redo: the plan", lines), decided)


def ask_admit(home: PlaceScreen, request: Need) -> None:
    """Say who asks to belong and how to know that it is they, and ask."""
    node = request.id.removeprefix("request ")
    lines = [
        mark(f"{request.title}. Whoever is let in reads all that is shared, and may let in others.", STRONG),
        *(mark(line) for line in request.detail),
        mark("Ask them, by a way that you trust, for the words of lace id. These must be the same:"),
        mark(deeds.words_of(node), STRONG),
        mark(request.command, QUIET),
    ]

    def done(words: str) -> Card:
        told = mark(f"= {request.who} is a member now: {words}", GOOD)
        following = mark(f"next: {home.key_of('sync')}, so that they and your friends learn of it")
        return Card("Admit: done", (told, following))

    def decided(is_agreed: bool | None) -> None:
        if is_agreed:
            home.lace.begin("Admit", lambda vault, _: deeds.let_in(vault, request.who, node), done, request.command)

    home.lace.open_page(home, "open", PlanPage("Let somebody in?", lines), decided)


def ask_forget(home: PlaceScreen, known: PlaceView, action_id: str = "forget-place") -> None:
    """Say what it means to forget a place, and ask; `action_id` asked for it."""
    name, command = known.place.name, as_typed("place remove", known.place.name)
    would = f"{name} would no longer be a place of yours: nothing would be synced there, and nothing wait for it."
    lines = [mark(would, STRONG)]
    lines.append(mark(f"What lies at {as_read(known.place.uri)} stays there, and what came from it stays here."))
    if known.records:
        lines.append(mark(f"! {known.records} never went there", BAD))
    lines.append(mark(command, QUIET))

    def done(_: object) -> Card:
        told = mark(f"= {name} is no longer a place", GOOD)
        return Card("A place: forgotten", (told, mark(f"next: {home.key_of('undo')} brings it back")))

    def decided(is_agreed: bool | None) -> None:
        if is_agreed:
            home.lace.begin(f"Forget {inert(name)}", lambda vault, _: deeds.remove_place(vault, name), done, command)

    home.lace.open_page(home, action_id, PlanPage("Forget a place?", lines), decided)


def ask_folder(home: PlaceScreen, need: Need) -> None:
    """Ask which sub-folder a desk that friends released is to have, and give it that one."""
    desk = need.id.removeprefix("desk ")
    text = f"Friends released {desk}, and its files have no folder here. Name a sub-folder of your shared folder: it is"
    text += " made where it is not there, and main leaves it alone from then on."

    def named(folder: str | None, refused: Refused) -> None:
        if folder:
            home.lace.begin(
                f"Folder of {inert(desk)}",
                lambda vault, _: deeds.give_folder(vault, desk, folder),
                done,
                as_typed("desk add", desk, folder),
                refused,
            )

    def done(where: str) -> Card:
        told = mark(f"= {where} is the desk {desk} from now on", GOOD)
        following = mark(f"next: {home.key_of('update')}, for what friends released")
        return Card(f"Folder of {desk}: done", (told, following))

    home.lace.put(Question(f"A folder for {desk}", text, desk), named)


def ask_update(home: PlaceScreen) -> None:
    """Plan an update, and ask."""

    def plan(vault: Vault, watch: Watch) -> deeds.CutOff | dict[str, Updated | EnvironmentFault]:
        return deeds.cut_off(vault, watch) or deeds.plan_updates(vault, watch)

    def planned(found: deeds.CutOff | dict[str, Updated | EnvironmentFault]) -> Card | None:
        if not isinstance(found, deeds.CutOff):
            return _planned(home, found)
        _cut_off(home, found)
        return None

    home.lace.begin("Update: making the plan", plan, planned)


def _cut_off(home: PlaceScreen, found: deeds.CutOff, *, is_anew: bool = False) -> None:
    """Ask whether what was cut off is to be written to its end; what is new is seen after it."""
    lines = [mark(_OTHER_PLAN, BAD)] if is_anew else []
    lines += [mark("! The last update was cut off: your folder is written in part. Still to be done:", BAD)]
    for desk, (written, deleted) in found.moves.items():
        if list(found.moves) != [deeds.MAIN]:
            lines.append(mark(f"{desk}:", STRONG))
        lines += path_lines([*(f"  {path}" for path in written), *(f"- {path}" for path in deleted)])
    count = sum(files_in(written) for written, _ in found.moves.values())
    gone = sum(files_in(deleted) for _, deleted in found.moves.values())

    following = mark(f"next: {home.key_of('update')}, for what is new since")

    def done(late: tuple[str, ...] | deeds.CutOff | None) -> Card | None:
        if late is None:
            nothing = mark("= what was cut off is written already, or waits for you; nothing was done now", GOOD)
            return Card("Update: nothing to do", (nothing, following))
        if isinstance(late, deeds.CutOff):
            _cut_off(home, late, is_anew=True)
            return None
        told = [
            mark(f"= what was cut off is written to its end: {files_moved_text(count, gone)}", GOOD),
            *late_lines(late),
        ]
        return Card("Update: done", (*told, following), bool(late))

    def decided(is_agreed: bool | None) -> None:
        if is_agreed:
            command = "; ".join(map(changes_of, found.moves))
            home.lace.begin("Update", lambda vault, watch: deeds.finish(vault, found, watch), done, command)

    home.lace.open_page(home, "update", PlanPage("Update: the plan", lines), decided)


def _planned(home: PlaceScreen, plans: dict[str, Updated | EnvironmentFault], *, is_anew: bool = False) -> Card | None:
    nothing = {deeds.Relation.SAME, deeds.Relation.AHEAD}
    good = {desk: plan for desk, plan in plans.items() if not isinstance(plan, EnvironmentFault)}
    doing = {desk: plan for desk, plan in good.items() if plan.relation not in nothing}
    lines = [mark(_OTHER_PLAN, BAD)] if is_anew else []
    lines += plans_lines(plans, home.lace.taste.keys)
    if not doing:
        is_bad = len(good) < len(plans) or any(plan.not_taken.waits_for_person for plan in good.values())
        return Card("Update: nothing to do", tuple(lines), is_bad)

    def done(told: dict[str, tuple[Updated, tuple[str, ...]]] | deeds.PlannedAnew) -> Card | None:
        if isinstance(told, deeds.PlannedAnew):
            return _planned(home, told.plans, is_anew=True)
        return updates_card(told, home.lace.taste.keys)

    def decided(is_agreed: bool | None) -> None:
        if is_agreed:
            command = "; ".join(map(deeds.update_desk, doing))
            home.lace.begin("Update", lambda vault, watch: deeds.updates(vault, doing, watch), done, command)

    home.lace.open_page(home, "update", PlanPage("Update: the plan", lines), decided)
    return None
