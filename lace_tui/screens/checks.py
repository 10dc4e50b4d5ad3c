"""A check of the whole vault, and its repair once that is agreed to (`lace fsck`; APP-1, APP-13)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from lace_tui.acts.checking import checked, checked_lines, tell
from lace_tui.screens.cards import Card
from lace_tui.screens.dialogs import Page, PlanPage
from lace_tui.screens.marks import BAD, GOOD, NOTE, PLAIN, QUIET, STRONG, mark
from vault.errors import LaceError
from vault.fsck.unopened import mend_first
from vault.plural import more_lines, plural
from vault.store.database import StoreDamaged
from vault.vault import Vault

if TYPE_CHECKING:
    from pathlib import Path

    from textual.content import Content

    from lace_tui.acts.checking import Checked
    from lace_tui.screens.place import PlaceScreen
    from vault.surroundings import Surroundings
    from vault.watch import Watch

__all__ = ["ask_check"]

_CHECK, _REPAIR = "lace fsck", "lace fsck --repair"
_NAMED = 40  # lines of a report; a store that lost a table may name each of its records
_TONES = {"bad": BAD, "good": GOOD, "note": QUIET, "plain": PLAIN}


def ask_check(asker: PlaceScreen, action_id: str) -> None:
    """Check everything; where something is wrong that a repair mends, say what, and repair it once that is agreed to.

    Args:
        asker: the place that it was asked for in.
        action_id: what asks for it.
    """
    asker.lace.begin_unopened("Check everything", _check, partial(_told, asker, action_id), _CHECK)


def _check(folder: Path, around: Surroundings, watch: Watch) -> Checked | StoreDamaged:
    """Return what a check found, or why the store cannot be read at all, which a repair may mend too."""
    try:
        return checked(lambda: Vault(folder, around, mending=True), watch, repairing=False)
    except StoreDamaged as error:
        return error


def _repair(seen: Checked | StoreDamaged, folder: Path, around: Surroundings, watch: Watch) -> Checked:
    first = mend_first(folder, around)
    if not isinstance(seen, StoreDamaged):  # its report was read: what it names may go now
        try:
            with Vault(folder, around) as vault:
                tell(vault, seen)
        except LaceError:
            pass  # it opens to be mended alone; what was not noted is told once more
    return checked(lambda: Vault(folder, around, mending=True), watch, repairing=True, first=first)


def _told(asker: PlaceScreen, action_id: str, found: Checked | StoreDamaged) -> Card | None:
    """Say what a check found, and ask where a repair helps."""
    if isinstance(found, StoreDamaged):
        helps, lines = found.hint == StoreDamaged.hint, [mark(f"! {found.message}", BAD), mark(found.hint)]
        title = "Check: the store is damaged"
    elif found.report.ok:
        return Card("Check: all is whole", tuple(_lines(found, asker)))
    else:
        helps, lines = found.helps, _lines(found, asker)
        title = f"Check: {plural(len(found.report.bad), 'thing')} wrong"
    following = f"next: {asker.key_of('check')} in Audit, or {_REPAIR}"
    card = Card(title, (*lines, *([mark(following)] if helps else [])), is_bad=True)

    def decided(is_agreed: bool | None) -> None:
        if is_agreed:
            asker.lace.begin_unopened("Repair", partial(_repair, found), partial(_repaired, asker), _REPAIR)
        else:
            asker.lace.keep(card)

    if helps:
        told = "A repair makes anew what follows from the records, and fetches from places what rotted."
        lines = [*lines, mark(told, STRONG), mark("What it cannot bring back it puts aside, in .vault/damaged.")]
        page: Page = PlanPage(title, [*lines, mark(_REPAIR, NOTE)], "repair", "leave it")
    else:
        page = Page(title, lines, _CHECK)
    asker.lace.open_page(asker, action_id, page, decided)
    return None


def _repaired(asker: PlaceScreen, found: Checked) -> Card:
    is_whole = found.report.ok
    return Card(
        "Repair: done" if is_whole else "Repair: not all is whole", tuple(_lines(found, asker)), is_bad=not is_whole
    )


def _lines(found: Checked, asker: PlaceScreen) -> list[Content]:
    told = list(checked_lines(found, f"{asker.key_of('refused')} in Audit"))
    lines = [mark(f"{head} {text}".strip(), _TONES[tone]) for tone, head, text in told[:_NAMED]]
    more = [mark(f"{line}: {_CHECK} lists all", QUIET) for line in more_lines(len(told), _NAMED)]
    return [*lines, *more]
