"""What the verbs of "Work" share: paths a person typed, what the scan noticed, counts in words."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from unicodedata import normalize

from lace_tui.cli.context import Context
from lace_tui.cli.errors import BadArguments
from lace_tui.cli.inert import inert
from lace_tui.cli.output import Paint
from vault.commands import as_option
from vault.desk_folders import MAIN, desk_at, desks, known_desk, mapped_folder, within
from vault.desks.causes import Cause
from vault.desks.paths import BadPath, split_path
from vault.errors import CallerError, LaceError
from vault.files import read_bounded
from vault.vault import Vault

if TYPE_CHECKING:
    from lazy.results import PlaceResult
    from vault.desks.choosing import Problem
    from vault.folder.work import Changes, Committed
    from vault.since_release import SinceRelease

__all__ = [
    "CASE_HELP",
    "DESK_HELP",
    "SHOWN",
    "OutsideFolder",
    "Way",
    "desk_from",
    "desk_of",
    "desk_option",
    "desk_path",
    "desk_path_from",
    "expanded",
    "note_inside",
    "notices",
    "own_path",
    "paths_of",
    "place_from",
    "place_of",
    "refuse_other_desk",
    "say_pushed",
    "sharing_note",
    "sign",
    "still_shared_lines",
    "target_of",
]

Way = Callable[[str, str], str]
CASE_HELP = "a state of a desk; CASE is a number, version, label or date (the newest)"
DESK_HELP = "the desk (that of the folder you are in)"
SHOWN = 20  # problems and paths listed in a text before the rest is counted
_SAME = 5  # problems of one reason that are listed


class OutsideFolder(CallerError):
    """A path leads out of the shared folder."""

    code = "outside-folder"
    hint = "Name files in the shared folder."


def desk_of(context: Context, vault: Vault, name: str | None) -> str:
    """Return the desk a person named, or else the one in whose folder they are.

    Raises:
        NoSuchDesk: there is none of that name.
    """
    return desk_from(context.cwd.absolute(), vault, name)


def desk_from(here: Path, vault: Vault, name: str | None) -> str:
    """Return the same for whoever stands in `here`, an absolute path.

    Raises:
        NoSuchDesk: there is none of that name.
    """
    return known_desk(vault, name) if name else desk_at(vault, here)


def desk_option(context: Context, vault: Vault, desk: str) -> str:
    """Return what a command takes, typed where the person is, to be about a desk; empty where it is so by itself."""
    return "" if desk == desk_of(context, vault, None) else f" {inert(as_option('--desk', desk))}"


def desk_path(context: Context, vault: Vault, text: str, desk: str = MAIN) -> str:
    """Return a path as `desk_path_from` does, typed where the command runs.

    Raises:
        OutsideFolder, BadArguments: as there.
    """
    return desk_path_from(context.cwd.absolute(), vault, text, desk)


def desk_path_from(here: Path, vault: Vault, text: str, desk: str = MAIN, *, is_on_disk: bool = False) -> str:
    """Return a path that a person typed, relative to the desk's folder; empty for the folder itself.

    It is typed from where the person stands, as a shell has it. Where that leads out of the desk, and the person stands
    elsewhere, it is as the desk calls it: so is every path of a friend's desk that has no folder here.

    Some disks spell an accent as a letter of its own, and so does a shell that completes their names: a tree does not.

    Args:
        here: where it was typed, an absolute path.
        vault: whose folder.
        text: as typed.
        desk: the desk.
        is_on_disk: what stands there is meant by its very spelling.

    Raises:
        OutsideFolder: it leads out of it.
        BadArguments: no file in a desk can be called so.
    """
    is_mapped = desk == MAIN or any(known.name == desk for known in desks(vault))
    folder = (mapped_folder(vault, desk) if is_mapped else vault.folder).absolute()
    # Text alone decides: a link in the folder is an entry of its own and must not be followed.
    path = os.path.normpath(os.path.join(here, text))  # noqa: PTH118
    relative = os.path.relpath(path, folder)
    if not is_mapped or (_leads_out(relative) and _leads_out(os.path.relpath(here, folder))):
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


def own_path(context: Context, vault: Vault, text: str, desk: str, way: Way) -> str:
    """Return a path as `desk_path` does, where no other desk has its folder there (CLAY-3).

    Args:
        context: where it was typed.
        vault: whose folder.
        text: as typed.
        desk: the desk.
        way: what gives the command about another desk, from its name and what was typed.

    Raises:
        OutsideFolder: it leads out of the desk's folder, or into that of another desk.
        BadArguments: no file in a desk can be called so.
    """
    path = desk_path(context, vault, text, desk)
    refuse_other_desk(vault, desk, path, text, way)
    return path


def refuse_other_desk(vault: Vault, desk: str, path: str, text: str, way: Way) -> None:
    """Refuse a path of a desk that lies in the folder of another one; the arguments are those of `own_path`.

    Raises:
        OutsideFolder: it does.
    """
    if not any(f"{path}/".startswith(f"{folder}/") for folder in within(vault, desk)):
        return
    other = desk_at(vault, mapped_folder(vault, desk) / path)
    again = f"Name that desk: {way(other, text)} - or go to its folder."
    raise OutsideFolder(f"{text} lies in the desk {other}.", hint=again)


def _leads_out(relative: str) -> bool:
    return relative == os.pardir or relative.startswith(os.pardir + os.sep)


def paths_of(found: Changes | Committed | SinceRelease) -> dict[str, list[str]]:
    """Return the changed paths by kind, as JSON has them."""
    return {kind: found.paths(kind) for kind in ("added", "changed", "deleted")}


def notices(context: Context, problems: Sequence[Problem]) -> list[dict[str, str]]:
    """Tell what was skipped or is doubtful in the folder, a few of each reason, and return all of it for JSON."""
    of_reason: dict[tuple[str, str], list[Problem]] = {}
    for problem in problems:
        of_reason.setdefault((problem.reason, problem.kind), []).append(problem)
    lines: list[str] = []
    for same in of_reason.values():
        shown = same if context.verbose else same[:_SAME]
        for problem in shown:
            left = "; it was left out" if problem.kind == "skipped" else ""
            lines.append(f"{inert(problem.path)} {problem.reason}{left}.")
        if more := len(same) - len(shown):
            lines.append(f"And {more} more of the same: lace status --tree")
    most = lines if context.verbose else lines[:SHOWN]
    for line in most:
        context.say(line)
    if len(most) < len(lines):
        context.say("And others: lace status --tree")
    return [{"path": problem.path, "reason": problem.reason, "kind": problem.kind} for problem in problems]


def still_shared_lines(problems: Sequence[Problem]) -> list[str]:
    """Tell what goes on being shared though the rules name it, a few: whoever releases next wants to know it first."""
    same = [problem for problem in problems if problem.cause is Cause.STILL_SHARED]
    lines = [f"{inert(problem.path)} {problem.reason}." for problem in same[:_SAME]]
    return lines + ([f"And {len(same) - _SAME} more of the same: lace status --tree"] if len(same) > _SAME else [])


def expanded(text: str) -> Path:
    """Return a path that a person typed, with `~` as a home where it is somebody's, as a shell has it."""
    path = Path(text)
    try:
        return path.expanduser()
    except RuntimeError:
        return path


def place_from(here: str | os.PathLike[str], text: str) -> Path:
    """Return a file or folder, in the shared one or not, that a person typed.

    Args:
        here: the folder they stand in; absolute.
        text: what they typed.
    """
    return Path(os.path.normpath(Path(here) / expanded(text)))


def place_of(context: Context, text: str) -> Path:
    """Return a file or folder, in the shared one or not, that a person typed from where they stand."""
    return place_from(context.cwd.absolute(), text)


def target_of(context: Context, text: str) -> Path:
    """Return, as `place_of` does, what a command writes.

    Raises:
        InTheVault: it lies in the `.vault`.
    """
    from vault.outside import require_outside  # noqa: PLC0415 - few commands write elsewhere

    path = place_of(context, text)
    if root := context.find_vault():
        require_outside(root / ".vault", path)
    return path


def note_inside(context: Context, path: Path) -> None:
    """Say of what was written inside the shared folder that friends would get it, unless `.laceignore` names it."""
    root = context.find_vault()
    target = context.cwd.absolute() / path
    told = sharing_note(root or target, target)
    if told:
        context.say(told)


def sharing_note(root: Path, path: Path) -> str:
    """Return what `note_inside` says of an absolute path, where `root` is the shared folder one is in, if any."""
    path = Path(os.path.normpath(path))
    around = next((folder for folder in path.parents if folder == root or (folder / ".vault").is_dir()), root)
    if around not in path.parents or path.is_relative_to(around / ".vault") or _is_left_out(around, path):
        return ""
    name, way = inert(path.relative_to(around).as_posix()), "move it, or name it in .laceignore."
    if around == root:
        return f"{name} lies in your shared folder, so a release would share it: {way}"
    return f"{name} lies in the shared folder {inert(str(around))}, so a release there would share it: {way}"


def _is_left_out(root: Path, path: Path) -> bool:
    """Tell whether the rules of the shared folder leave a path out; a desk's own are not asked."""
    from vault.desks.ignore import IGNORE_FILE, MAX_IGNORE_BYTES, Ignore  # noqa: PLC0415 - few commands write there

    try:
        rules = Ignore(read_bounded(root / IGNORE_FILE, MAX_IGNORE_BYTES))
    except LaceError:
        return False
    return rules.matches(path.relative_to(root).as_posix(), is_dir=path.is_dir())


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
