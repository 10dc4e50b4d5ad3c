"""What the verbs of "Work" share: paths a person typed, what the scan noticed, counts in words."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

from lace_tui.cli.context import Context
from lace_tui.cli.errors import BadArguments
from lace_tui.cli.inert import inert
from lace_tui.cli.output import Paint
from vault.commands import as_option, as_typed
from vault.desk_folders import MAIN, desk_at, desks, folder_of, known_desk
from vault.desks.paths import BadPath, split_path
from vault.desks.worktree import Problem
from vault.errors import CallerError, LaceError
from vault.files import keep_out, read_bounded
from vault.folder.work import Changes, Committed
from vault.plural import plural
from vault.vault import Vault

if TYPE_CHECKING:
    from lazy.folder.update import Updated
    from lazy.results import PlaceResult
    from vault.desks.plan import Skip

__all__ = [
    "DESK_HELP",
    "SHOWN",
    "UNFINISHED",
    "OutsideFolder",
    "after_kept",
    "changes_of",
    "counted",
    "desk_of",
    "desk_option",
    "desk_path",
    "expanded",
    "held_back_text",
    "kept_lines",
    "late_lines",
    "moved_lines",
    "moved_text",
    "note_inside",
    "notices",
    "parts_lines",
    "paths_of",
    "place_of",
    "say_pushed",
    "sharing_note",
    "sign",
    "skipped_data",
    "skipped_lines",
    "target_of",
    "update_data",
]

DESK_HELP = "the desk (that of the folder you are in)"
UNFINISHED = "The last update of this folder was cut off, and would be finished first."
SHOWN = 20  # problems and paths listed in a text before the rest is counted


class OutsideFolder(CallerError):
    """A path leads out of the shared folder."""

    code = "outside-folder"
    hint = "Name files in the shared folder."


def desk_of(context: Context, vault: Vault, name: str | None) -> str:
    """Return the desk a person named, or else the one in whose folder they are.

    Raises:
        NoSuchDesk: there is none of that name.
    """
    return known_desk(vault, name) if name else desk_at(vault, context.cwd.absolute())


def desk_option(context: Context, vault: Vault, desk: str) -> str:
    """Return what a command takes, typed where the person is, to be about a desk; empty where it is so by itself."""
    return "" if desk == desk_of(context, vault, None) else f" {inert(as_option('--desk', desk))}"


def desk_path(context: Context, vault: Vault, text: str, desk: str = MAIN, *, is_on_disk: bool = False) -> str:
    """Return a path that a person typed, relative to the desk's folder; empty for the folder itself.

    It is typed from where the person stands, as a shell has it. Where that leads out of the desk, and the person stands
    elsewhere, it is as the desk calls it: so is every path of a friend's desk that has no folder here.

    Some disks spell an accent as a letter of its own, and so does a shell that completes their names: a tree does not.

    Args:
        context: where it was typed.
        vault: whose folder.
        text: as typed.
        desk: the desk.
        is_on_disk: what stands there is meant by its very spelling.

    Raises:
        OutsideFolder: it leads out of it.
        BadArguments: no file in a desk can be called so.
    """
    is_mapped = desk == MAIN or any(known.name == desk for known in desks(vault))
    folder = (folder_of(vault, desk) if is_mapped else vault.folder).absolute()
    # Text alone decides: a link in the folder is an entry of its own and must not be followed.
    path = os.path.normpath(os.path.join(context.cwd.absolute(), text))  # noqa: PTH118
    relative = os.path.relpath(path, folder)
    if not is_mapped or (_leads_out(relative) and _leads_out(os.path.relpath(context.cwd.absolute(), folder))):
        path = os.path.normpath(os.path.join(folder, text))  # noqa: PTH118
        relative = os.path.relpath(path, folder)
    if _leads_out(relative):
        if desk == MAIN:
            raise OutsideFolder(f"{text} lies outside the shared folder {folder}.")
        way = "Name files in the folder of that desk."
        raise OutsideFolder(f"{text} lies outside the folder of {desk}, {folder}.", hint=way)
    relative = "" if relative == os.curdir else relative.replace(os.sep, "/")
    if not (is_on_disk and os.path.lexists(path)):
        relative = normalize("NFC", relative)
    try:
        split_path(relative)
    except BadPath as error:
        raise BadArguments(error.message, hint=error.hint) from error
    return relative


def _leads_out(relative: str) -> bool:
    return relative == os.pardir or relative.startswith(os.pardir + os.sep)


def paths_of(found: Changes | Committed) -> dict[str, list[str]]:
    """Return the changed paths by kind, as JSON has them."""
    return {kind: found.paths(kind) for kind in ("added", "changed", "deleted")}


def notices(context: Context, problems: Sequence[Problem]) -> list[dict[str, str]]:
    """Tell what was skipped or is doubtful in the folder, and return it for JSON."""
    shown = problems if context.verbose else problems[:SHOWN]
    for problem in shown:
        left = "; it was left out" if problem.kind == "skipped" else ""
        context.say(f"{inert(problem.path)} {problem.reason}{left}.")
    if len(shown) < len(problems):
        context.say(f"And {len(problems) - len(shown)} more; see all with -v.")
    return [{"path": problem.path, "reason": problem.reason, "kind": problem.kind} for problem in problems]


def expanded(text: str) -> Path:
    """Return a path that a person typed, with `~` as a home where it is somebody's, as a shell has it."""
    path = Path(text)
    try:
        return path.expanduser()
    except RuntimeError:
        return path


def place_of(context: Context, text: str) -> Path:
    """Return a file or folder, in the shared one or not, that a person typed from where they stand."""
    return Path(os.path.normpath(context.cwd.absolute() / expanded(text)))


def target_of(context: Context, text: str) -> Path:
    """Return, as `place_of` does, what a command writes.

    Raises:
        InTheVault: it lies in the `.vault`.
    """
    path = place_of(context, text)
    if root := context.find_vault():
        keep_out(root / ".vault", path)
    return path


def note_inside(context: Context, path: Path) -> None:
    """Say of what was written inside the shared folder that friends would get it, unless `.laceignore` names it."""
    root = context.find_vault()
    told = sharing_note(root, context.cwd.absolute() / path) if root is not None else ""
    if told:
        context.say(told)


def sharing_note(root: Path, path: Path) -> str:
    """Return what `note_inside` says of an absolute path, where a shared folder is known; empty where nothing."""
    path = Path(os.path.normpath(path))
    if root not in path.parents or path.is_relative_to(root / ".vault") or _is_left_out(root, path):
        return ""
    name = inert(path.relative_to(root).as_posix())
    return f"{name} lies in your shared folder, so a release would share it: move it, or name it in .laceignore."


def _is_left_out(root: Path, path: Path) -> bool:
    """Tell whether the rules of the shared folder leave a path out; a desk's own are not asked."""
    from vault.desks.ignore import IGNORE_FILE, MAX_IGNORE_BYTES, Ignore  # noqa: PLC0415 - few commands write there

    try:
        rules = Ignore(read_bounded(root / IGNORE_FILE, MAX_IGNORE_BYTES))
    except LaceError:
        return False
    return rules.matches(path.relative_to(root).as_posix(), is_dir=path.is_dir())


def counted(found: Changes | Committed) -> str:
    """Return how much changed, in words."""
    parts = [f"{len(paths)} {kind}" for kind in ("added", "changed", "deleted") if (paths := found.paths(kind))]
    return ", ".join(parts) or "nothing changed"


def held_back_text(count: int) -> str:
    """Return what to say of files that wait for a decision about others: whoever keeps a side loses none of them."""
    what, come = ("1 other file waits", "comes") if count == 1 else (f"{count} other files wait", "come")
    return f"{what} for that, and {come} with the decision: --prefer counts for the paths above alone"


def moved_text(written: int, deleted: int, *, planned: bool = False) -> str:
    """Return how many files of a folder are, or would be, written and deleted, in words."""
    if not written and not deleted:
        return "no file would change" if planned else "no file changed"
    would = "would be " if planned else ""
    if not written:
        return f"{plural(deleted, 'file')} {would}deleted"
    return f"{plural(written, 'file')} {would}written" + (f", {deleted} deleted" if deleted else "")


def moved_lines(written: Sequence[str], deleted: Sequence[str], most: int | None = SHOWN) -> list[str]:
    """Return the paths that a folder got, and with a dash those it lost; at most so many."""
    lines = [*(f"  {inert(path)}" for path in written), *(f"- {inert(path)}" for path in deleted)]
    shown = lines[:most]
    return [*shown, f"  and {len(lines) - len(shown)} more"] if len(shown) < len(lines) else shown


def kept_lines(vault: Vault, desk: str, kept: Sequence[str]) -> list[str]:
    """Return what to say of files that were saved while the folder was written, and what to do."""
    if not kept:
        return []
    from vault.folder.meanwhile import saved_meanwhile  # noqa: PLC0415 - hardly any file is saved meanwhile
    from vault.folder.noted import is_unfinished  # noqa: PLC0415

    what = "so left as they are"
    if not is_unfinished(vault, desk):
        what = "and merged with what was written"
    elif set(kept) <= _waiting(vault, desk):
        what += ", for they do not merge with what came"
    elif saved_meanwhile(vault, desk):  # none after a checkout, which moves no line
        what += f" ({inert(changes_of(desk))} merges into them what came)"
    return [f"! Saved by you while the folder was written, {what}:", *moved_lines(kept, ())]


def after_kept(vault: Vault, desk: str) -> str:
    """Return what to do next with files that were saved while the folder was written."""
    waiting = sorted(_waiting(vault, desk))
    if not waiting:
        return changes_of(desk)
    from vault.folder.meanwhile import keep_command  # noqa: PLC0415 - hardly any file is saved meanwhile

    keep = keep_command(vault, desk, waiting if len(waiting) <= SHOWN else ())
    return f"{keep}, or move away those that are to be as they came, and {changes_of(desk)}"


def late_lines(vault: Vault, desk: str, kept: Sequence[str]) -> tuple[str, ...]:
    """Return what to say of such files and what to do next, where an act has no answer of its own for it."""
    from vault.folder.noted import is_unfinished  # noqa: PLC0415 - hardly any file is saved meanwhile

    lines = kept_lines(vault, desk, kept)
    return (*lines, f"next: {inert(after_kept(vault, desk))}") if kept and is_unfinished(vault, desk) else tuple(lines)


def _waiting(vault: Vault, desk: str) -> set[str]:
    """Return the files, saved while the folder was written, that no command merges by itself."""
    from vault.folder.meanwhile import clashing  # noqa: PLC0415 - hardly any file is saved meanwhile
    from vault.watch import Watch  # noqa: PLC0415

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
        "written": list(done.written),
        "deleted": list(done.deleted),
        "kept": list(done.kept),
        "unfinished": done.is_unfinished,
        "merged": list(done.merged),
        "conflicts": [{"path": clash.path, "kind": clash.kind, "is_text": clash.is_text} for clash in done.conflicts],
        "held_back": done.held_back,
        "conflict": done.conflict_id or None,
        "saved": done.saved,
        "skipped": skipped_data(done.left_out),
    }


def parts_lines(parts: Sequence[str]) -> list[str]:
    """Return what to say of releases of which only parts are here: how those are had, and the rest (FAC-20)."""
    if not parts:
        return []
    said = [f"  what is here of it comes with: {inert(command)}" for command in parts]
    return [*said, "  the rest comes with: lace sync - then lace update takes in all of it"]


def skipped_data(left_out: Sequence[Skip]) -> list[dict[str, str]]:
    """Return what came and is not written to the folder, as JSON has it."""
    return [{"path": skip.path, "reason": skip.reason} for skip in left_out]


def skipped_lines(left_out: Sequence[Skip]) -> list[str]:
    """Return what to say of it (APP-12)."""
    lines = [f"! Not written to your folder: {inert(skip.path)} {inert(skip.reason)}." for skip in left_out[:SHOWN]]
    return [*lines, f"! And {len(left_out) - SHOWN} more."] if len(left_out) > SHOWN else lines


def sign(paint: Paint, kind: str) -> str:
    """Return the mark that stands before a changed path."""
    return {"added": paint.good("+ "), "changed": paint.warn("~ "), "deleted": paint.bad("- ")}[kind]


def say_pushed(context: Context, results: Sequence[PlaceResult]) -> None:
    """Say what the strategy pushed by itself, and what stays queued; never a failure of the act it followed."""
    for result in results:
        if result.queued:
            why = result.problems[0].message if result.problems else "It cannot be reached."
            context.say(f"{inert(result.name)}: queued. {inert(why)}")
        else:
            context.say(f"{inert(result.name)}: pushed, {result.sent} records.")
