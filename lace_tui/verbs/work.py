"""The verbs "changes" and "commit": what changed in the folder, and keeping it."""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING, Any

from lace_tui.cli.context import Context
from lace_tui.cli.folder import (
    DESK_HELP,
    desk_of,
    desk_option,
    notices,
    own_path,
    paths_of,
    say_pushed,
    sign,
)
from lace_tui.cli.output import Answer, Paint
from lace_tui.errors import BadArguments
from lace_tui.words.inert import inert
from vault.by_kind import counted
from vault.commands import as_option, as_typed
from vault.desk_folders import MAIN
from vault.folder.work import Changes, Committed, Unchanged, changes, commit
from vault.vault import Vault

if TYPE_CHECKING:
    from vault.desks.diff import Change

__all__ = ["configure", "run"]

_EMPTY = "an empty folder"


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the verb's own arguments."""
    if verb == "changes":
        parser.add_argument("desk", metavar="DESK", nargs="?", help=DESK_HELP)
        return
    parser.add_argument("-m", dest="message", metavar="TEXT", help="what you did and why")
    parser.add_argument("--desk", metavar="D", help=DESK_HELP)
    parser.add_argument("--changes", metavar="FILE", help="commit what this file changes; - is standard input")
    parser.add_argument(
        "--keep-out",
        action="store_true",
        help="commit that these files, which .laceignore names, are shared no more; they stay in the folder",
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would be kept out, and change nothing")
    parser.add_argument("paths", metavar="PATH", nargs="*", help="only what changed there")


def run(context: Context, args: argparse.Namespace) -> Answer:
    """Do what the verb says."""
    with context.open_vault() as vault:
        return _commit(context, args, vault) if context.verb == "commit" else _changes(context, args, vault)


def _changes(context: Context, args: argparse.Namespace, vault: Vault) -> Answer:
    from lazy.remembered import generation  # a commit keeps no answer

    desk = desk_of(context, vault, args.desk)
    number = generation(vault)
    with context.watching() as watch:
        found = changes(vault, desk, watch)
    conflicted, moved = _conflicted(vault, desk), _moved(found)
    data = {
        "desk": desk,
        **paths_of(found),
        "moved": [{"from": old, "to": new} for old, new in moved.items()],
        "conflicted": conflicted,
        "remarks": {item.path: told for item in found.items if (told := _remark(item))},
        "notices": notices(context, found.problems),
    }

    def text(paint: Paint) -> str:
        whence = {new: old for old, new in moved.items()}
        lines = [
            paint.warn("> ") + f"{inert(whence[item.path])} -> {inert(item.path)}"
            if item.path in whence
            else sign(paint, item.kind) + inert(item.path) + _remark_text(item)
            for item in found.items
            if item.path not in moved
        ]
        lines += [paint.warn("! ") + inert(path) for path in conflicted]
        return "\n".join(lines) or "Nothing changed."

    if desk == MAIN and not (found.items or found.problems or conflicted):
        _keep(vault, number, found, Answer(data, text))
    return Answer(data, text)


def _moved(found: Changes) -> dict[str, str]:
    """Return the new path of each file that was moved, sorted."""
    if not (found.paths("added") and found.paths("deleted")):
        return {}
    from vault.desks.moved_files import moved_paths  # mostly nothing is moved

    return dict(sorted(moved_paths(found.items).items()))


def _remark(item: Change) -> str:
    """Return what the sign before a path does not tell: a folder is recorded only while nothing is in it."""
    before, after = item.before, item.after
    entry = after or before
    if entry is not None and entry.is_dir:
        return _EMPTY
    if before is None or after is None:
        return ""
    if before.kind != after.kind:
        return "a link now" if after.kind == "l" else "a file now"
    if before.mode != after.mode:
        return "can be run as a program now" if after.mode == "x" else "can no longer be run as a program"
    return ""


def _remark_text(item: Change) -> str:
    told = _remark(item)
    return f"{'/' if told == _EMPTY else ''} ({told})" if told else ""


def _keep(vault: Vault, number: str, found: Changes, answer: Answer) -> None:
    """Keep the answer that nothing changed, so that asking again costs a look at the folder and no more."""
    from lace_tui.cli.keeping import keep  # a commit keeps no answer
    from lace_tui.cli.quick import changes_stamp
    from lazy.remembered import CHANGES
    from vault.desks.glance import LOOKS, told_by
    from vault.folder.dir_cache import StoredDirCache

    top = StoredDirCache(vault, MAIN).load(LOOKS)
    told = told_by(top)
    if told is not None and told[1] == found.tree.digest:
        keep(vault, CHANGES, number, answer, depends=changes_stamp(str(vault.folder), top))


def _conflicted(vault: Vault, desk: str) -> list[str]:
    """Return the paths of heads that do not merge cleanly, sorted."""
    from lazy.conflicts import conflicts  # each verb loads what it needs
    from lazy.contested import ConflictKind  # each verb loads what it needs

    found: set[str] = set()
    for conflict in conflicts(vault):
        if conflict.kind is ConflictKind.HEAD and conflict.desk == desk:
            from lazy.resolving.opening import clashing  # mostly nothing is in conflict

            found.update(clashing(vault, conflict))
    return sorted(found)


def _commit_there(option: str, desk: str, path: str) -> str:
    return as_typed(f"commit -m TEXT {as_option('--desk', desk)}{option}", path)


def _commit(context: Context, args: argparse.Namespace, vault: Vault) -> Answer:
    from lace_tui.cli.message import message_from  # each verb loads what it needs
    from lazy.strategy import Occasion, follow

    desk = desk_of(context, vault, args.desk)
    there = partial(_commit_there, " --keep-out" if args.keep_out else "")
    paths = [own_path(context, vault, path, desk, there) for path in args.paths]
    if args.keep_out:
        from lace_tui.verbs.keeping_out import kept_out  # hardly any commit keeps something out

        return kept_out(context, args, vault, desk, paths)
    if args.dry_run:
        raise BadArguments(
            "lace commit: --dry-run is about --keep-out.", hint="See what a commit would take with: lace changes"
        )
    message = message_from(context, vault, args.message)
    with context.watching() as watch:
        if args.changes:
            if paths:
                raise BadArguments("lace commit: either paths or --changes.", hint="The file says which paths change.")
            from lace_tui.cli.changesets import read_changes
            from lazy.folder.change_sets import commit_changes

            changed = read_changes(context, args.changes)
            made: Committed | Unchanged = commit_changes(vault, desk, changed, message, watch)
        else:
            made = commit(vault, message, paths, desk=desk, watch=watch)
        pushed = follow(vault, Occasion.COMMIT, watch) if made else []
    told = notices(context, made.problems)
    if not made:
        nothing: dict[str, Any] = {"commit": None, "desk": desk, "revision": None}
        nothing |= {"added": [], "changed": [], "deleted": [], "notices": told, "pushed": [], "queued": []}
        return Answer(nothing, "Nothing changed.")
    data = {
        "commit": made.commit,
        "desk": desk,
        "revision": made.revision,
        **paths_of(made),
        "notices": told,
        "pushed": [result.name for result in pushed if not result.queued],
        "queued": [result.name for result in pushed if result.queued],
        "shared": vault.settings.shares_commits,
    }
    release = f"lace release{desk_option(context, vault, desk)}"
    where = "Friends get it too." if vault.settings.shares_commits else f"It stays with you until a release: {release}"
    say_pushed(context, pushed)
    return Answer(data, f"Committed {desk} revision {made.revision}: {counted(made)}.\n{where}")
