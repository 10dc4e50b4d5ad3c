"""What the verbs of "Work" share: paths a person typed, what the scan noticed, counts in words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lace_tui.acts.typed import Way, desk_from, desk_path_from, place_from, refuse_other_desk
from lace_tui.cli.context import Context
from lace_tui.cli.output import Paint
from lace_tui.words.folder import SAME, SHOWN, sharing_note
from lace_tui.words.inert import inert
from vault.commands import as_option
from vault.desk_folders import MAIN
from vault.vault import Vault

if TYPE_CHECKING:
    from lazy.results import PlaceResult
    from vault.desks.choosing import Problem
    from vault.folder.work import Changes, Committed
    from vault.since_release import SinceRelease

__all__ = [
    "CASE_HELP",
    "DESK_HELP",
    "desk_of",
    "desk_option",
    "desk_path",
    "note_inside",
    "notices",
    "own_path",
    "paths_of",
    "place_of",
    "say_pushed",
    "sign",
    "target_of",
]

CASE_HELP = "a state of a desk; CASE is a number, version, label or date (the newest)"
DESK_HELP = "the desk (that of the folder you are in)"


def desk_of(context: Context, vault: Vault, name: str | None) -> str:
    """Return the desk a person named, or else the one in whose folder they are.

    Raises:
        NoSuchDesk: there is none of that name.
    """
    return desk_from(context.cwd.absolute(), vault, name)


def desk_option(context: Context, vault: Vault, desk: str) -> str:
    """Return what a command takes, typed where the person is, to be about a desk; empty where it is so by itself."""
    return "" if desk == desk_of(context, vault, None) else f" {inert(as_option('--desk', desk))}"


def desk_path(context: Context, vault: Vault, text: str, desk: str = MAIN) -> str:
    """Return a path as `desk_path_from` does, typed where the command runs.

    Raises:
        OutsideFolder, BadArguments: as there.
    """
    return desk_path_from(context.cwd.absolute(), vault, text, desk)


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
        shown = same if context.verbose else same[:SAME]
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


def place_of(context: Context, text: str) -> Path:
    """Return a file or folder, in the shared one or not, that a person typed from where they stand."""
    return place_from(context.cwd.absolute(), text)


def target_of(context: Context, text: str) -> Path:
    """Return, as `place_of` does, what a command writes.

    Raises:
        InTheVault: it lies in the `.vault`.
    """
    from vault.outside import require_outside  # few commands write elsewhere

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
