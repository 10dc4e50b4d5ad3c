"""What `resolve` is told of paths: whose content or lines each gets, and what was edited elsewhere (LAZ-39)."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any

from lace_tui.cli.context import Context
from lace_tui.cli.folder import desk_path, place_of
from lace_tui.errors import BadArguments, FolderMissing
from lazy.conflicts import conflict_named
from lazy.resolving.picks import Choices, PicksContradict
from vault.desks.paths import BadPath
from vault.desks.tree import lookup
from vault.files import FileTooLarge, read_bounded
from vault.records import RecordHash
from vault.revisions.history import commit_info
from vault.vault import Vault

__all__ = ["Pick", "choices_of", "edited_in", "require_fitting"]

_EDITED_LIMIT = 32 << 20  # bytes: what is ever held in one piece
_EDITED_HINT = "Put it where it belongs in the desk's folder, and decide without --files."
_PICK_HINT = "For example: --path a.txt --take local, or --path a.txt --region 1 --take bob --region 2 --take both"


class Pick(argparse.Action):
    """Collects `--path P --take SIDE` and `--path P --region N --take SIDE` in the order they stand."""

    def __call__(self, _parser: Any, namespace: argparse.Namespace, value: Any, option: str | None = None) -> None:
        """Add what one option says to the picks so far."""
        picks: list[_Picked] = [*(getattr(namespace, "picks", None) or [])]
        match option:
            case "--path":
                picks.append(_Picked(value))
            case _ if not picks:
                raise BadArguments(f"lace resolve: {option} stands before any --path.", hint=_PICK_HINT)
            case "--region":
                picks[-1].number = _number(value)
            case _ if picks[-1].number:
                number, picks[-1].number = picks[-1].number, 0
                picks[-1].again |= picks[-1].regions.get(number, value) != value
                picks[-1].regions[number] = value
            case _:
                picks[-1].again |= (picks[-1].side or value) != value
                picks[-1].side = value
        namespace.picks = picks


class _Picked:
    """One path as the words so far say."""

    __slots__ = ("again", "number", "path", "regions", "side")

    def __init__(self, path: str) -> None:
        self.path = path
        self.side = ""
        self.regions: dict[int, str] = {}
        self.number = 0  # of a region whose side comes next
        self.again = False  # whether something else was chosen for the same before


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text)):
        raise BadArguments(f"lace resolve: {text!r} is not the number of a region.", hint=_PICK_HINT)
    return int(text)


def require_fitting(args: argparse.Namespace) -> None:
    """Require that the words of a decision go together.

    Raises:
        BadArguments: they do not.
    """
    picks: list[_Picked] = args.picks
    for pick in picks:
        if pick.number or not (pick.side or pick.regions) or (pick.side and pick.regions):
            raise BadArguments(f"lace resolve: --path {pick.path} needs its --take.", hint=_PICK_HINT)
    if args.merged is None and (args.files or any(pick.regions for pick in picks)):
        raise BadArguments("lace resolve: --region and --files go with --merged VERSION.")
    if picks and args.prefer is not None:
        raise BadArguments("lace resolve: --path and --take go with --merged VERSION or --accept.")
    if args.all and (args.prefer is None or args.conflict is not None):
        raise BadArguments("lace resolve: --all goes with --prefer SIDE, and without a conflict.")


def choices_of(context: Context, vault: Vault, args: argparse.Namespace) -> Choices:
    """Return what was chosen by path, typed from where the person stands, by region and in files.

    A path that no side has there is as the desk calls it, where a side has that.

    Raises:
        NoSuchConflict: as `resolve_merged`.
        PicksContradict: two things were chosen for one path.
        OutsideFolder, BadArguments: a path leads out of the conflict's desk, or is none.
        FolderMissing: there are no such files.
    """
    picks: list[_Picked] = deepcopy(args.picks)  # what was typed stays: by it the same words are known again
    if picks:
        conflict = conflict_named(vault, args.conflict)
        known = [*(side.commit for side in conflict.sides), *(one.result for one in conflict.proposals)]
        trees = [commit_info(vault.store, commit).tree for commit in (*known, *conflict.results)]
        for pick in picks:
            typed, pick.path = pick.path, desk_path(context, vault, pick.path, conflict.desk)
            if not _has(vault, trees, pick.path) and _has(vault, trees, typed):  # as the app writes its command
                pick.path = typed
    chosen = _by_path(picks)
    return Choices(
        {path: pick.side for path, pick in chosen.items() if pick.side},
        {path: pick.regions for path, pick in chosen.items() if pick.regions},
        edited_in(context, args),
    )


def edited_in(context: Context, args: argparse.Namespace) -> Callable[[str], bytes | None]:
    """Return what reads the files that were edited elsewhere, by path; None for a path that has none.

    Raises:
        FolderMissing: there are no such files.
    """
    folder = place_of(context, args.files) if args.files else None
    if folder is not None and not folder.is_dir():
        way = "Name the folder that holds the edited files; it is made by: lace conflicts --drafts DIR"
        raise FolderMissing(f"There is no folder {folder}.", hint=way)
    return partial(_edited, folder)


def _by_path(picks: Sequence[_Picked]) -> dict[str, _Picked]:
    """Return what was chosen for each path, also where a path was named for each of its regions.

    Raises:
        PicksContradict: two things were chosen for one path, or for one region of it.
    """
    found: dict[str, _Picked] = {}
    for pick in picks:
        known = found.setdefault(pick.path, pick)
        both = known.regions.keys() & pick.regions.keys()
        differ = [number for number in both if known.regions[number] != pick.regions[number]]
        if known.side != pick.side or differ or pick.again:
            where = f"region {differ[0]} of {pick.path}" if differ else pick.path
            raise PicksContradict(f"Two things were chosen for {where}.")
        known.regions.update(pick.regions)
    return found


def _has(vault: Vault, trees: Sequence[RecordHash], path: str) -> bool:
    try:
        return any(path and lookup(vault.store, tree, path) is not None for tree in trees)
    except BadPath:
        return False


def _edited(folder: Path | None, path: str) -> bytes | None:
    """Return a file as the person merged it, or None where they made none."""
    file = folder / path if folder is not None else None
    if file is None or not file.is_file():
        return None
    try:
        return read_bounded(file, _EDITED_LIMIT)
    except FileTooLarge as error:
        raise FileTooLarge(f"{file} is too large to be merged by hand.", hint=_EDITED_HINT) from error
