"""`diff`: what differs between two states, or between the folder and what it stands on."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lace_tui.acts.typed import refuse_other_desk
from lace_tui.cli.context import Context
from lace_tui.cli.difftext import shown_differences
from lace_tui.cli.folder import desk_of, desk_path, notices
from lace_tui.cli.missing import told_if_missing
from lace_tui.cli.output import Answer
from lace_tui.errors import EXIT_DONE, BadArguments
from lace_tui.words.difftext import folder_differences, tree_differences
from vault.commands import as_typed
from vault.desk_folders import desks
from vault.desks.edit import NoSuchPath
from vault.folder.checked_out import checkout_of
from vault.folder.work import changes
from vault.revisions.history import revision_of
from vault.vault import Vault

if TYPE_CHECKING:
    from lace_tui.cli.changesets import EmptyDesk
    from lazy.address import ResolvedCommit
    from vault.desks.choosing import Problem

__all__ = ["configure", "run"]


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the verb's own arguments."""
    del verb
    parser.add_argument("words", metavar="A B PATH", nargs="*", help="two of DESK[@CASE], and perhaps a path")
    parser.add_argument(
        "--changes", action="store_true", help="write what leads from A to B, for lace commit --changes"
    )


def run(context: Context, args: argparse.Namespace) -> Answer | int:
    """Do what the verb says."""
    with context.open_vault() as vault, told_if_missing(vault):
        return _diff(context, args, vault)


def _diff(context: Context, args: argparse.Namespace, vault: Vault) -> Answer | int:
    if args.changes:
        if len(args.words) not in {2, 3}:
            way = "For example: lace diff main@1 main@2 --changes"
            raise BadArguments("lace diff --changes: name two addresses, and perhaps a path.", hint=way)
        from lace_tui.cli.changesets import side_of, write_changes  # each verb loads what it needs

        one, other = (side_of(vault, word) for word in args.words[:2])
        write_changes(context, vault, one, other, _path_of_both(context, args, vault, one, other))
        return EXIT_DONE
    if len(args.words) not in {0, 2, 3}:
        raise BadArguments(
            "lace diff takes two addresses and perhaps a path, or nothing for the folder.",
            hint="For example: lace diff main@1 main@2 notes.md",
        )
    path = ""
    problems: Sequence[Problem] = ()
    if args.words:
        from lazy.address import resolve  # mostly the folder is asked about

        before, after = (resolve(vault, word) for word in args.words[:2])
        path = _path_of_both(context, args, vault, before, after)
        names = (before.what, after.what)
        differences = tree_differences(vault, before, after, path)
    else:
        with context.watching() as watch:
            found = changes(vault, desk_of(context, vault, None), watch)
        problems = found.problems
        names = (_checked_out(vault, found.desk), "folder")
        differences = folder_differences(vault, found, names)
    data = {
        "before": names[0],
        "after": names[1],
        **{kind: [d.path for d in differences if d.kind == kind] for kind in ("added", "changed", "deleted")},
        "files": [{"path": d.path, "kind": d.kind, "lines": list(d.lines)} for d in differences],
        "notices": notices(context, problems),
    }
    return Answer(data, lambda paint: shown_differences(differences, paint) or "Nothing differs.")


def _path_of_both(
    context: Context,
    args: argparse.Namespace,
    vault: Vault,
    before: ResolvedCommit | EmptyDesk,
    after: ResolvedCommit | EmptyDesk,
) -> str:
    """Return the path that a diff is about, which one of its sides has; empty where none is named."""
    if len(args.words) < 3:
        return ""
    from lazy.address import ResolvedCommit  # mostly the folder is asked about
    from lazy.folder.bringing_back import require_there

    _require_one_desk(before, after)
    path = desk_path(context, vault, args.words[2], before.desk)
    try:
        require_there(vault, path, *(side for side in (before, after) if isinstance(side, ResolvedCommit)))
    except NoSuchPath:
        if any(known.name == before.desk for known in desks(vault)):
            refuse_other_desk(vault, before.desk, path, args.words[2], _diff_there)
        raise
    return path


def _diff_there(desk: str, path: str) -> str:
    return as_typed("diff", f"{desk}@CASE", f"{desk}@CASE", path)


def _require_one_desk(before: ResolvedCommit | EmptyDesk, after: ResolvedCommit | EmptyDesk) -> None:
    if before.desk != after.desk:
        raise BadArguments(
            f"lace diff: a path is one of a desk, and {before.what} and {after.what} are of two.",
            hint=f"Compare all of both: {as_typed('diff', before.what, after.what)}",
        )


def _checked_out(vault: Vault, desk: str) -> str:
    base = checkout_of(vault, desk)
    found = revision_of(vault.store, vault.node.text, desk, base.commit) if base else None
    return f"{desk}@{found.number}" if found else "nothing"
