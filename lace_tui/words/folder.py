"""What is said of the shared folder: what a release would share, how many paths are listed, and how it is updated."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lace_tui.words.inert import inert
from vault.commands import as_typed
from vault.desks.causes import Cause
from vault.errors import LaceError
from vault.files import read_bounded

if TYPE_CHECKING:
    from vault.desks.choosing import Problem

__all__ = ["SAME", "SHOWN", "sharing_note", "still_shared_lines", "update_of"]

SAME = 5  # problems of one reason that are listed
SHOWN = 20  # problems and paths listed in a text before the rest is counted


def still_shared_lines(problems: Sequence[Problem]) -> list[str]:
    """Tell what goes on being shared though the rules name it, a few: whoever releases next wants to know it first."""
    same = [problem for problem in problems if problem.cause is Cause.STILL_SHARED]
    lines = [f"{inert(problem.path)} {problem.reason}." for problem in same[:SAME]]
    return lines + ([f"And {len(same) - SAME} more of the same: lace status --tree"] if len(same) > SAME else [])


def sharing_note(root: Path, path: Path) -> str:
    """Return what to say of a file that a release would share; empty where none would.

    Args:
        root: the shared folder that somebody stands in; `path` itself where they stand in none.
        path: of the file, absolute.
    """
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
    from vault.desks.ignore import IGNORE_FILE, MAX_IGNORE_BYTES, Ignore  # few commands write there

    try:
        rules = Ignore(read_bounded(root / IGNORE_FILE, MAX_IGNORE_BYTES))
    except LaceError:
        return False
    return rules.matches(path.relative_to(root).as_posix(), is_dir=path.is_dir())


def update_of(desk: str, *, is_only: bool) -> str:
    """Return the command that updates the folder of a desk, wherever it is typed; the only desk needs no name."""
    return "lace update" if is_only else as_typed("update", desk)
