"""What an act did to the folder, in words and as JSON: written, deleted, left as it is, not written."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from itertools import chain, islice, repeat
from typing import TYPE_CHECKING, Any

from lace_tui.words.folder import SHOWN
from lace_tui.words.inert import inert
from vault.commands import as_typed
from vault.desk_folders import MAIN
from vault.desks.paths import FolderPath, files_in
from vault.folder.meanwhile import path_as_typed
from vault.notes.revisions import MOST_KEPT
from vault.plural import few, more_lines, plural
from vault.vault import Vault

if TYPE_CHECKING:
    from lazy.folder.last_act import Undone
    from lazy.folder.updated import HeadConflict, Updated
    from lazy.resolving.kept_texts import KeptText
    from vault.desks.path_conflict import PathConflict
    from vault.desks.plan import Skip

__all__ = [
    "FINISHED",
    "UNFINISHED",
    "after_kept",
    "changes_of",
    "clash_lines",
    "clash_text",
    "deleted_lines",
    "ended_lines",
    "files_moved_text",
    "kept_as_lines",
    "kept_lines",
    "late_lines",
    "moved_lines",
    "moved_text",
    "opening_lines",
    "parts_lines",
    "planned_kept_lines",
    "pushed_out_lines",
    "room_lines",
    "skipped_data",
    "skipped_lines",
    "text_data",
    "text_lines",
    "update_data",
]

UNFINISHED = "The last update of this folder was cut off, and would be finished first."
_DELETED = "delete/edit"  # its name in `vault.desks.path_conflict`, which few answers need
_MOVED = "A file that was moved and rewritten counts as deleted."
FINISHED = "The last update of this folder was cut off."


def _held_back_text(count: int) -> str:
    """Return what to say of files that wait for a decision about others: whoever keeps a side loses none of them."""
    what, come = ("1 other file waits", "comes") if count == 1 else (f"{count} other files wait", "come")
    return f"{what} for that, and {come} with the decision: --prefer counts for the paths above alone"


def moved_text(written: Iterable[str], deleted: Iterable[str], *, planned: bool = False) -> str:
    """Return how many files of a folder are, or would be, written and deleted, in words; an empty folder is none."""
    return files_moved_text(files_in(written), files_in(deleted), planned=planned)


def files_moved_text(written: int, deleted: int, *, planned: bool = False) -> str:
    """Return the same of as many files."""
    if not written and not deleted:
        return "no file would change" if planned else "no file changed"
    would = "would be " if planned else ""
    if not written:
        return f"{plural(deleted, 'file')} {would}deleted"
    return f"{plural(written, 'file')} {would}written" + (f", {deleted} deleted" if deleted else "")


def opening_lines(done: Updated, act: str) -> list[str]:
    """Return what went before an update or a merge, or would: one that was cut off, and a commit of what was dirty."""
    lines = [UNFINISHED] if done.is_unfinished else [FINISHED] if done.is_finished else []
    if done.saves:
        return [*lines, f"Your changes would be committed first, as 'before {act}'."]
    return [*lines, f"Your changes were committed first, as 'before {act}'."] if done.saved is not None else lines


def planned_kept_lines(done: Undone) -> list[str]:
    """Return what an undo would keep under a name, since nothing else here holds it."""
    if not done.lone:
        return []
    kept = f"What nothing else here holds would be kept under a name: {inert(few(done.lone))}."
    return [kept, *pushed_out_lines(done.pushed_out, planned=True)]


def pushed_out_lines(what: str, *, planned: bool = False) -> list[str]:
    """Return which kept state gives its room to another, or would; nothing where that is none."""
    last = f"only the last {MOST_KEPT} are"
    said = (
        f"would be kept no more, for {last}: have back first what you want of it"
        if planned
        else f"is kept no more: {last}"
    )
    return [f"! {inert(what)} {said}."] if what else []


def kept_as_lines(vault: Vault, done: Undone) -> list[str]:
    """Return where that is kept which nothing else here holds after an undo, and how it is had back."""
    if not done.kept_as:
        return []
    above = os.path.commonpath(done.lone) if done.lone else ""  # of an undo that was cut off they may not be known
    what = f": {inert(few(done.lone))}" if done.lone else ""
    back = as_typed("checkout", done.kept_as, path_as_typed(vault, done.desk, above) if above else "PATH")
    return [
        f"What nothing else here holds is kept as {inert(done.kept_as)}{what}.",
        f"It stays until {MOST_KEPT} others, or a prune, push it out.",
        f"To have it back: {inert(back)}",
        *pushed_out_lines(done.pushed_out),
    ]


def clash_lines(conflict: HeadConflict, who: str) -> list[str]:
    """Return which files two lines changed in the same places, and how many others wait for a decision about them."""
    whose = f"{who} and you" if conflict.is_mine else who
    lines = [f"! {whose} changed the same places; nothing was changed in your folder:"]
    lines += [f"  {inert(clash_text(clash))}" for clash in conflict.paths[:SHOWN]]
    lines += [*more_lines(len(conflict.paths), SHOWN), *deleted_lines(conflict.paths)]
    return [*lines, f"{_held_back_text(conflict.held_back)}."] if conflict.held_back else lines


def clash_text(clash: PathConflict) -> str:
    """Return a path that needs a person and why: with its name before a side renamed it, by which others have it."""
    return f"{clash.path}{f', renamed from {clash.old}' if clash.old else ''} ({clash.kind})"


def deleted_lines(clashes: Sequence[PathConflict]) -> list[str]:
    """Return what delete/edit means, where a path clashes so: who moved a file and rewrote it deleted nothing."""
    if not any(clash.kind == _DELETED for clash in clashes):
        return []
    return [f"{_DELETED}: one side has it no more, the other changed it.", _MOVED]


def ended_lines(done: Updated, *, planned: bool = False) -> list[str]:
    """Return which conflicts ended by what was taken in, or would: who was told of one hears that it is over."""
    has = "would end" if planned else "has ended"
    return [f"Conflict {one.id} {has}: {inert(one.what)}." for one in done.ended]


def moved_lines(written: Sequence[str], deleted: Sequence[str], most: int | None = SHOWN) -> list[str]:
    """Return the paths that a folder got, and with a dash those it lost; at most so many."""
    paths = chain(zip(repeat(" "), written), zip(repeat("-"), deleted))
    shown = [f"{sign} {inert(path)}{'/' if isinstance(path, FolderPath) else ''}" for sign, path in islice(paths, most)]
    return [*shown, *more_lines(len(written) + len(deleted), len(shown))]


def kept_lines(vault: Vault, desk: str, kept: Sequence[str]) -> list[str]:
    """Return what to say of files that were saved while the folder was written, and what to do."""
    if not kept:
        return []
    from vault.folder.checkout_journal import is_unfinished
    from vault.folder.meanwhile import saved_meanwhile  # hardly any file is saved meanwhile

    what = "so left as they are"
    if not is_unfinished(vault, desk):
        what = "and merged with what was written"
    elif set(kept) <= _waiting(vault, desk):
        what += ", for they do not merge with what came"
    elif saved_meanwhile(vault, desk):  # none after a checkout, which moves no line
        what += f" ({inert(changes_of(desk))} merges into them what came)"
    return [f"! Saved by you while the folder was written, {what}:", *moved_lines(kept, ())]


def text_lines(texts: Sequence[KeptText]) -> list[str]:
    """Return where each text lies that somebody wrote for a file which got something else (APP-13, LAZ-39)."""
    return [
        f"! What you wrote for {inert(text.path)} is not the result: it lies in {inert(str(text.file))} for a week."
        for text in texts
    ]


def text_data(texts: Sequence[KeptText]) -> list[dict[str, str]]:
    """Return the same for `--json`."""
    return [{"path": text.path, "file": str(text.file)} for text in texts]


def after_kept(vault: Vault, desk: str) -> str:
    """Return what to do next with files that were saved while the folder was written."""
    waiting = sorted(_waiting(vault, desk))
    if not waiting:
        return changes_of(desk)
    from vault.folder.meanwhile import keep_command  # hardly any file is saved meanwhile

    keep = keep_command(vault, desk, waiting if len(waiting) <= SHOWN else ())
    return f"{keep}, or move away those that are to be as they came, and {changes_of(desk)}"


def late_lines(vault: Vault, desk: str, kept: Sequence[str]) -> tuple[str, ...]:
    """Return what to say of such files and what to do next, where an act has no answer of its own for it."""
    from vault.folder.checkout_journal import is_unfinished  # hardly any file is saved meanwhile

    lines = kept_lines(vault, desk, kept)
    return (*lines, f"next: {inert(after_kept(vault, desk))}") if kept and is_unfinished(vault, desk) else tuple(lines)


def _waiting(vault: Vault, desk: str) -> set[str]:
    """Return the files, saved while the folder was written, that no command merges by itself."""
    from vault.folder.meanwhile import clashing  # hardly any file is saved meanwhile
    from vault.watch import Watch

    return set(clashing(vault, desk, Watch()))


def changes_of(desk: str) -> str:
    """Return the command that lists what changed in a desk, and finishes what was left of an update."""
    return "lace changes" if desk == MAIN else as_typed("changes", desk)


def update_data(done: Updated) -> dict[str, Any]:
    """Return what `update` and `merge` both answer of how two lines came together."""
    return {
        "relation": done.relation,
        "commit": done.commit,
        "revision": done.revision,
        "written": list(done.moves.written),
        "deleted": list(done.moves.deleted),
        "kept": list(done.moves.kept),
        "unfinished": done.is_unfinished,
        "merged": list(done.merged),
        "conflicts": [
            {"path": clash.path, "kind": clash.kind, "is_text": clash.is_text, "renamed_from": clash.old or None}
            for clash in done.clashes
        ],
        "clashes_with_mine": done.conflict.is_mine if done.conflict else None,
        "held_back": done.conflict.held_back if done.conflict else 0,
        "conflict": (done.conflict.id or None) if done.conflict else None,
        "ended": [one.id for one in done.ended],
        "saved": done.saved,
        "saves": done.saves,
        "skipped": skipped_data(done.moves.left_out),
    }


def room_lines(more: int) -> list[str]:
    """Return what to say of so many releases for which one merge had no room."""
    if not more:
        return []
    come = plural(more, "more release comes", "more releases come")
    return [f"! {come} with the next update: a merge has room for so many, and no more"]


def parts_lines(parts: Sequence[str], *, is_lost: bool) -> list[str]:
    """Return what to say of releases of which only parts are here: how those are had, and the rest (FAC-20).

    Args:
        parts: the commands that bring them.
        is_lost: whether the rest was refused here.
    """
    if not parts:
        return []
    said = [f"  what is here of it comes with: {inert(command)}" for command in parts]
    if is_lost:
        return [*said, "  the rest was refused here, and no sync brings it: lace links"]
    return [*said, "  the rest comes with: lace sync - then lace update takes in all of it"]


def skipped_data(left_out: Sequence[Skip]) -> list[dict[str, str]]:
    """Return what came and is not written to the folder, as JSON has it."""
    return [{"path": skip.path, "reason": skip.reason} for skip in left_out]


def skipped_lines(left_out: Sequence[Skip]) -> list[str]:
    """Return what to say of it (APP-12)."""
    lines = [f"! Not written to your folder: {inert(skip.path)} {inert(skip.reason)}." for skip in left_out[:SHOWN]]
    return [*lines, f"! And {len(left_out) - SHOWN} more."] if len(left_out) > SHOWN else lines
