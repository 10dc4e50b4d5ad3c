"""Old content goes, by explicit choice, after it was said what goes (`lace prune`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lace_tui.errors import BadArguments
from lace_tui.screens.cards import Card
from lace_tui.screens.dialogs import PlanPage, Question
from lace_tui.screens.marks import BAD, GOOD, NOTE, QUIET, STRONG, mark
from lace_tui.words.needed import needed_text
from vault.content.prune import plan_prune, prune
from vault.content.prune_plan import Pruning
from vault.plural import bytes_text, more_lines, plural

if TYPE_CHECKING:
    from textual.content import Content

    from lace_tui.screens.host import Refused
    from lace_tui.screens.place import PlaceScreen
    from vault.vault import Vault
    from vault.watch import Watch

__all__ = ["ask_prune"]

_NAMED = 12  # commits of a plan


def _count(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and 0 < int(text) < 10**9):
        raise BadArguments("That is not a number of revisions.", hint="Type one, at least 1.")
    return int(text)


def ask_prune(asker: PlaceScreen, action_id: str) -> None:
    """Ask how many revisions keep their content, say what would go, and let it go."""

    def named(typed: str | None, refused: Refused) -> None:
        if typed:
            keep = _count(typed)
            asker.lace.begin(
                "Prune: making the plan",
                lambda vault, watch: _plan(vault, keep, watch),
                lambda plan: _planned(asker, action_id, keep, plan),
                refused=refused,
            )

    text = "How many of each desk's newest revisions keep their files? Of older ones that you never released, and of"
    text += " releases where a rule of the desk says so, they would go; the plan comes first."
    asker.lace.put(Question("Prune", text, "1", check=_count), named)


def _plan(vault: Vault, keep: int, watch: Watch) -> Pruning:
    """Return the plan; where nothing goes and something lacks a copy, ask the next sync for it at once."""
    plan = plan_prune(vault, keep=keep, watch=watch)
    if plan.unproven and not (plan.commits or plan.files or plan.packs):
        prune(vault, keep=keep, watch=watch)
    return plan


def _planned(asker: PlaceScreen, action_id: str, keep: int, plan: Pruning, *, is_anew: bool = False) -> Card | None:
    if not (plan.lets_go or plan.packs):
        return Card("Prune: nothing to do", (mark("= Nothing here is old and unneeded.", GOOD), *_staying(plan)))
    command = f"lace prune --keep {keep}"
    lines = (
        [mark("! Something changed since you saw the plan, so nothing was done. It is now:", BAD)] if is_anew else []
    )
    lines += [*_plan_lines(plan), mark(command, NOTE)]

    def do(vault: Vault, watch: Watch) -> tuple[Pruning, bool]:
        with vault.lock.held():
            now = plan_prune(vault, keep=keep, watch=watch)
            is_same = (now.commits, now.files, now.unreached) == (plan.commits, plan.files, plan.unreached)
            return (prune(vault, keep=keep, watch=watch) if is_same else now), is_same

    def done(told: tuple[Pruning, bool]) -> Card | None:
        made, is_done = told
        return _pruned(made) if is_done else _planned(asker, action_id, keep, made, is_anew=True)

    def decided(is_agreed: bool | None) -> None:
        if is_agreed:
            asker.lace.begin("Prune", do, done, command)

    asker.lace.open_page(asker, action_id, PlanPage("Prune: the plan", lines, "let it go"), decided)
    return None


def _plan_lines(plan: Pruning) -> list[Content]:
    about = "up to" if plan.left else "about"
    lines = [mark(f"{_what(plan)} would go for good: {about} {bytes_text(plan.freed)}.", STRONG)]
    lines += [mark(f"  {commit.desk}@{commit.number}") for commit in plan.commits[:_NAMED]]
    lines += [mark(line, QUIET) for line in more_lines(len(plan.commits), _NAMED)]
    lines += [*_unreached(plan), *_staying(plan)]
    lines.append(mark("What was signed stays: messages, versions, who and when."))
    return lines


def _staying(plan: Pruning) -> list[Content]:
    """Return what to say of files that rules are about and that stay."""
    lines = []
    if plan.unproven:
        what = plural(plan.unproven, "old released file")
        text = f"{what} would go too, but no place you know has a copy of your own: after this a sync with one makes it"
        lines.append(mark(text, QUIET))
    if plan.needed:
        lines.append(mark(needed_text(plan.needed), QUIET))
    return lines


def _what(plan: Pruning) -> str:
    """Return what goes, as the beginning of a sentence."""
    parts = [plural(len(plan.commits), "old commit")] if plan.commits else []
    parts += [plural(plan.files, "old released file")] if plan.files else []
    if parts:
        return f"The content of {' and of '.join(parts)}"
    return (
        "Content that no revision here has any more (as after an undo)"
        if plan.unreached
        else "What was cut off before it ended"
    )


def _unreached(plan: Pruning) -> list[Content]:
    """Return what to say of what no revision has, where it goes beside other content."""
    if not plan.unreached or not (plan.commits or plan.files):
        return []
    return [mark("  and content that no revision here has any more (as after an undo)", QUIET)]


def _pruned(done: Pruning) -> Card:
    free = f": {bytes_text(done.freed)} are free again" if done.freed else ""
    what = _what(done)
    lines = [mark(f"= {what[0].lower()}{what[1:]} is gone{free}", GOOD), *_unreached(done)]
    if done.read:
        more = " more" if done.freed else ""
        lines.append(
            mark(f"{bytes_text(done.read)}{more} are read by another program: prune again once it ended", QUIET)
        )
    return Card("Prune: done", tuple(lines))
