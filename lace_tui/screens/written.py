"""What writing into the folder would do and did: plans of updates and undos; cards of these and of decisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from textual.content import Content

from lace_tui.keys.keymap import key_of
from lace_tui.model.view import ID_SHOWN
from lace_tui.screens.cards import Card
from lace_tui.screens.marks import BAD, GOOD, NOTE, PLAIN, QUIET, STRONG, mark
from lace_tui.words.written import (
    UNFINISHED,
    clash_text,
    deleted_lines,
    ended_lines,
    files_moved_text,
    moved_text,
    parts_lines,
    planned_kept_lines,
    room_lines,
    skipped_lines,
    text_lines,
)
from vault.desks.paths import files_in
from vault.errors import LaceError
from vault.plural import few, more_lines, plural

if TYPE_CHECKING:
    from lazy.folder.last_act import Undone
    from lazy.folder.permitted import Refused
    from lazy.folder.updated import HeadConflict, Updated
    from lazy.resolving.resolve import Resolved
    from vault.desks.plan import Skip
    from vault.errors import EnvironmentFault

__all__ = [
    "Decided",
    "late_lines",
    "out_lines",
    "path_lines",
    "plan_lines",
    "plans_lines",
    "resolved_card",
    "undo_lines",
    "undone_card",
    "update_card",
    "updates_card",
]

_MAIN = "main"  # the desk that is meant where none is named
_PATHS = 12  # of a plan


def plans_lines(plans: Mapping[str, Updated | EnvironmentFault], keys: Mapping[str, str]) -> list[Content]:
    """Return what an update would do to one desk, or to each of several; `keys` are those that the person changed."""
    lines: list[Content] = []
    for desk, plan in plans.items():
        if len(plans) > 1 or desk != _MAIN:
            lines.append(mark(f"{desk}:", STRONG))
        if isinstance(plan, LaceError):
            lines += [mark(f"! {plan.message}", BAD), mark(plan.hint)]
        else:
            lines += plan_lines(plan, keys)
    return lines


def plan_lines(plan: Updated, keys: Mapping[str, str]) -> list[Content]:
    """Return what an update would do, for a person to agree to; `keys` are those that the person changed."""
    from vault.revisions.history import Relation  # whoever has a plan has loaded it

    lines: list[Content] = []
    out, moves = plan.not_taken, plan.moves
    if plan.saves and plan.relation not in {Relation.SAME, Relation.AHEAD}:  # of those the app does nothing
        lines.append(mark("Your own changes are committed first."))
    match plan.relation:
        case Relation.BEHIND:
            lines.append(mark(f"Your folder follows {plan.taken.source}."))
        case Relation.MERGEABLE:
            lines.append(mark(f"Your work and that of {plan.taken.source} are merged into one commit."))
        case Relation.CONFLICTING:
            lines.append(mark(f"! These do not merge by themselves with {plan.taken.source}:", BAD))
            lines += path_lines([f"  ! {clash_text(clash)}" for clash in plan.clashes], BAD)
            lines += [mark(line) for line in deleted_lines(plan.clashes)]
            lines.append(mark("No file changes; the conflict is noted, for you to decide."))
            lines += _held_back_lines(plan.conflict)
        case _ if not out.refused:
            lines.append(mark("There is nothing to bring in."))
    merged = set(plan.merged)
    paths = [f"  {path}{' (merged)' if path in merged else ''}" for path in moves.written]
    paths += [f"- {path}" for path in moves.deleted]
    lines += [*path_lines(paths), *out_lines(moves.left_out), *_refused_lines(out.refused, keys)]
    lines += [mark(line) for line in ended_lines(plan, planned=True)]
    lines += [mark(line, NOTE) for line in room_lines(out.more)]
    if out.waiting:
        lines.append(mark(_keeping_out(out.waiting, keys), BAD))
    if out.lacking:
        lines.append(mark(f"{plural(out.lacking, 'release')} not all here: lace links", NOTE))
        lines += [mark(line, NOTE) for line in parts_lines(out.parts, is_lost=out.is_lost)]
    if out.away:
        way = f"{key_of('sync-all', keys)} on Home syncs all places"
        lines.append(mark(f"! The content of {out.away}, which is yours, is not here: {way}", BAD))
    return lines


def _held_back_lines(conflict: HeadConflict | None) -> list[Content]:
    count = conflict.held_back if conflict is not None else 0
    return [mark(f"{plural(count, 'other file comes', 'other files come')} with whatever you decide")] if count else []


def _refused_lines(refused: Sequence[Refused], keys: Mapping[str, str]) -> list[Content]:
    """Return what stays out because of a rule of the desk: who changed it, and which paths."""
    lines: list[Content] = []
    for out in refused:
        told = f"! Not taken in: {out.who} changed what your desk's rules keep"
        told += f" ({key_of('desks', keys)} in History shows them, or: lace desk permits)"
        lines += [mark(told, BAD), *path_lines([f"  {path}" for path in out.paths])]
    return lines


def _keeping_out(waiting: Sequence[str], keys: Mapping[str, str]) -> str:
    """Return which conflicts keep out what is newest: with an older version that waits beside it, more are open."""
    count, named = len(waiting), few([one[:ID_SHOWN] for one in waiting])
    keep = "keeps" if count == 1 else "keep"
    lists = f"{key_of('go-conflicts', keys)} lists all that are open"
    return f"! {plural(count, 'open conflict')} {keep} what is newest out: {named} ({lists})"


def undo_lines(plan: Undone) -> list[Content]:
    """Return what taking back the last act would do, for a person to agree to."""
    lines = [mark(f"{plan.what}.", STRONG)]
    if plan.is_unfinished:
        lines.append(mark(UNFINISHED, NOTE))
    if plan.written or plan.deleted:
        lines.append(mark(f"{moved_text(plan.written, plan.deleted, planned=True)}:"))
        lines += path_lines([*(f"  {path}" for path in plan.written), *(f"- {path}" for path in plan.deleted)])
    lines += [mark(line, BAD if line.startswith("!") else NOTE) for line in planned_kept_lines(plan)]
    return [*lines, *out_lines(plan.left_out), mark("lace undo", NOTE)]


def undone_card(told: tuple[Undone, Sequence[str]], kept: Sequence[str] = ()) -> Card:
    """Return the card of an act that was just taken back, with what to say of files that were saved meanwhile.

    Before it, in sentences, where that is kept which nothing else here holds.
    """
    done, late = told
    lines = [mark(f"= {done.what}", GOOD)]
    if done.written or done.deleted:
        lines.append(mark(moved_text(done.written, done.deleted)))
    lines += late_lines(kept)
    return Card("Undo: done", (*lines, *out_lines(done.left_out), *late_lines(late)), bool(late))


def out_lines(left_out: Sequence[Skip]) -> list[Content]:
    """Return what to say of what came and is not written to the folder (APP-12)."""
    return [mark(line, BAD) for line in skipped_lines(left_out)]


def late_lines(late: Sequence[str]) -> list[Content]:
    """Return what to say of files that were saved while the folder was written."""
    return [mark(line, BAD if line.startswith("!") else "") for line in late]


def path_lines(paths: list[str], style: str = PLAIN) -> list[Content]:
    """Return paths, each with a sign, of which the first few are named."""
    more = [mark(line, QUIET) for line in more_lines(len(paths), _PATHS)]
    return [*(mark(path, style) for path in paths[:_PATHS]), *more]


def updates_card(done: Mapping[str, tuple[Updated, Sequence[str]]], keys: Mapping[str, str]) -> Card:
    """Return the card of updates that just ended; one of them is most often all there is.

    `keys` are those that the person changed.
    """
    cards = [(desk, update_card(one, late, keys)) for desk, (one, late) in done.items()]
    if list(done) == [_MAIN]:
        return cards[0][1]
    lines = [line for desk, card in cards for line in (mark(f"{desk}:", STRONG), *card.lines)]
    bad = next((card.title for _, card in cards if card.is_bad), "")
    return Card(bad or "Update: done", tuple(lines), bool(bad))


def update_card(done: Updated, late: Sequence[str], keys: Mapping[str, str]) -> Card:
    """Return the card of an update that just ended, with what to say of files that were saved meanwhile.

    `keys` are those that the person changed.
    """
    out, taken = done.not_taken, done.taken
    if done.conflict is not None:
        needs = "needs" if len(done.conflict.paths) == 1 else "need"
        lines = [mark(f"! {plural(len(done.conflict.paths), 'path')} {needs} you; no file was changed", BAD)]
        lines += _held_back_lines(done.conflict)
        lines += [mark(line, NOTE) for line in room_lines(out.more)]
        lists, opens = key_of("go-conflicts", keys), key_of("resolve", keys)
        lines.append(mark(f"next: {lists} lists the conflict, and {opens} opens it"))
        return Card("Update: a conflict", tuple(lines), is_bad=True)
    moved = moved_text(done.moves.written, done.moves.deleted)
    lines = [mark(f"= {moved}, {len(done.merged)} merged", GOOD)]
    if taken.sources:
        lines.append(mark(f"from {', '.join(taken.sources)}: {', '.join(map(str, taken.versions))}"))
    lines += [mark(line) for line in ended_lines(done)]
    if done.saved:
        lines.append(mark("your own changes were committed first", QUIET))
    lines += [mark(line, NOTE) for line in room_lines(out.more)]
    if out.waiting:
        lines.append(mark(_keeping_out(out.waiting, keys), BAD))
    lines += [*out_lines(done.moves.left_out), *_refused_lines(out.refused, keys), *late_lines(late)]
    return Card("Update: done", tuple(lines), bool(late or out.refused))


class Decided(NamedTuple):
    """Decisions that were just made.

    Args:
        done: what each came to.
        following: the command that lets friends know of them; empty when they need none.
        left: ids of the conflicts that are still open.
        late: what to say of files that were saved meanwhile, and what to do first.
    """

    done: tuple[Resolved, ...]
    following: str
    left: tuple[str, ...] = ()
    late: tuple[str, ...] = ()

    @property
    def clashes(self) -> list[str]:
        """Paths that my own newer work and a decision both changed."""
        return [path for one in self.done for path in one.conflicts]


def resolved_card(decided: Decided, keys: Mapping[str, str]) -> Card:
    """Return the card of decisions that were just made; `keys` are those that the person changed."""
    done, left = decided.done, decided.clashes
    moved = files_moved_text(sum(files_in(one.written) for one in done), sum(files_in(one.deleted) for one in done))
    lines = [mark(f"= {plural(len(done), 'conflict')} decided, {moved}", GOOD)]
    lines += out_lines([skip for one in done for skip in one.left_out])
    texts = [mark(line, BAD) for one in done for line in text_lines(one.texts)]
    lines += texts
    if left:
        lines.append(mark(f"! your newer work and the decision both changed {few(left)}", BAD))
        lines.append(mark(f"next: {decided.following}"))
    elif decided.following and not decided.late:
        syncs = key_of("sync-all", keys)
        lines.append(mark(f"next: {syncs} on Home, or {decided.following}, so that your friends learn of it"))
    return Card("Resolve: done", (*lines, *late_lines(decided.late)), bool(left or texts or decided.late))
