"""One file brought back as an older or a friend's revision has it, after its plan (CLAY-24, CYB-8)."""

from __future__ import annotations

from typing import NamedTuple

from lace_tui.screens.cards import Card
from lace_tui.screens.dialogs import PlanPage
from lace_tui.screens.listing import Listing
from lace_tui.screens.marks import BAD, GOOD, NOTE, QUIET, STRONG, mark
from lace_tui.screens.old_revisions import foreseen_lines
from lace_tui.screens.written import out_lines
from lace_tui.words.inert import inert
from lace_tui.words.written import pushed_out_lines
from lazy.address import ResolvedCommit
from lazy.folder.bringing_back import bring_back, plan_bring_back
from lazy.folder.checkout_files import CheckedOut, Foreseen
from lazy.folder.saving import UncommittedChanges
from vault.commands import as_typed
from vault.vault import Vault
from vault.watch import Watch

__all__ = ["offer_file"]


class _Plan(NamedTuple):
    """What bringing a file back would do, and whether what was edited there is committed first."""

    foreseen: Foreseen
    keeps_edits: bool


def _plan(vault: Vault, at: ResolvedCommit, path: str, watch: Watch = Watch()) -> _Plan:
    """Return what bringing a path back would do; what was edited there is kept in a revision of its own."""
    try:
        return _Plan(plan_bring_back(vault, at, path, watch), keeps_edits=False)
    except UncommittedChanges:
        return _Plan(plan_bring_back(vault, at, path, watch, keeps_edits=True), keeps_edits=True)


def _as_planned(vault: Vault, at: ResolvedCommit, path: str, plan: _Plan, watch: Watch) -> CheckedOut | _Plan:
    """Bring a path back as agreed to; where another plan would be done by now, return that one and do nothing."""
    with vault.lock.held():
        now = _plan(vault, at, path, watch)
        return bring_back(vault, at, path, watch, keeps_edits=plan.keeps_edits) if now == plan else now


def offer_file(place: Listing, at: ResolvedCommit, path: str, typed: str) -> None:
    """Show what bringing back one file would do, and do it when agreed.

    Args:
        place: the list of files.
        at: the revision that has it.
        path: of the file, as its desk calls it.
        typed: the same path as a command takes it.
    """

    def planned(plan: _Plan, first: str = f"{path} becomes as {at.what} has it:") -> None:
        if not (plan.foreseen.moved or plan.foreseen.left_out):
            place.notify(f"{inert(path)} is like that already.", markup=False)
            return
        act = as_typed("checkout", at.what, typed, options="--keep-edits" if plan.keeps_edits else "")
        lines = [mark(first, STRONG), *(mark(line) for line in foreseen_lines(plan.foreseen))]
        lines += out_lines(plan.foreseen.left_out)
        if plan.keeps_edits:
            lines.append(mark("! You edited it: your edit is committed first, and what comes over it too.", BAD))
        else:
            lines.append(mark("Nothing else changes; it is an uncommitted change then.", QUIET))
        lines.append(mark(act, NOTE))

        def decided(is_agreed: bool | None) -> None:
            if is_agreed:
                place.lace.begin("Check out", lambda vault, watch: _as_planned(vault, at, path, plan, watch), done, act)

        place.lace.open_page(place, "bring-file", PlanPage("Bring a file back: the plan", lines), decided)

    def done(what: CheckedOut | _Plan) -> Card | None:
        if isinstance(what, CheckedOut):
            return _card(what, at.what, path, place)
        planned(what, f"Your folder changed meanwhile, and nothing was done. {path} becomes as {at.what} has it:")
        return None

    place.lace.ask(lambda vault: _plan(vault, at, path), planned, "plan", asked="Check out")


def _card(done: CheckedOut, what: str, path: str, place: Listing) -> Card:
    lines = [mark(f"= {path} is as in {what}", GOOD)]
    if done.saved is not None:
        lines.append(mark(f"what you edited there is kept as {done.desk}@{done.saved}"))
    if done.revision is not None:
        lines.append(mark(f"what is there now is committed as {done.desk}@{done.revision}"))
    lines += [mark(line, BAD) for line in pushed_out_lines(done.pushed_out)]
    lines += out_lines([skip for skip in done.result.skipped if not skip.blocking])
    late = [skip for skip in done.result.skipped if skip.blocking]
    lines += [mark(f"! {skip.path} {skip.reason}, so it is left as it is", BAD) for skip in late]
    keep = "" if done.revision is not None else f"{place.key_of('commit')} in History commits it; "
    lines.append(mark(f"next: {keep}{place.key_of('undo')} takes it back"))
    return Card("Check out: done", tuple(lines), bool(late))
