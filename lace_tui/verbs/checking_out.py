"""The verb `checkout`: the folder, a path of it, or a copy elsewhere, as a revision has it (CLAY-24)."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

from lace_tui.cli.context import Context
from lace_tui.cli.folder import CASE_HELP, desk_option, note_inside, own_path, target_of
from lace_tui.cli.missing import told_if_missing
from lace_tui.cli.output import Answer
from lace_tui.errors import EXIT_DONE, EXIT_PERSON, BadArguments
from lace_tui.words.inert import inert
from lace_tui.words.written import (
    FINISHED,
    UNFINISHED,
    kept_lines,
    moved_lines,
    moved_text,
    pushed_out_lines,
    skipped_data,
    skipped_lines,
)
from lazy.address import ResolvedCommit, resolve
from lazy.folder.bringing_back import bring_back, plan_bring_back
from lazy.folder.checkout_files import CheckedOut
from lazy.folder.copying_out import copy_out
from lazy.folder.going_back import check_out, plan_check_out
from vault.commands import as_typed
from vault.desk_folders import known_desk
from vault.desks.paths import files_in
from vault.folder.checked_out import checkout_of
from vault.plural import plural
from vault.vault import Vault

__all__ = ["configure", "run"]

_STAYS = "What is new there beside that stays as it is, uncommitted."


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the verb's own arguments."""
    del verb
    parser.add_argument("address", metavar="[PEER/]DESK[@CASE]", help=CASE_HELP)
    parser.add_argument("path", metavar="PATH", nargs="?", help="only this file or sub-folder")
    parser.add_argument("--to", metavar="DIR", help="write a copy there instead")
    parser.add_argument(
        "--keep-edits",
        action="store_true",
        help="with PATH: commit what was edited there first, then what comes over it",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="say what would become of the folder, and change nothing"
    )


def run(context: Context, args: argparse.Namespace) -> Answer:
    """Do what the verb says.

    Raises:
        BadArguments: the options do not fit each other.
        NotYet, NotShared, Never, Pruned, Contested: the revision cannot be read.
        NoSuchPath, UncommittedChanges, FolderInTheWay, FolderNotMade: as `lazy.folder.going_back` and `bringing_back`.
    """
    with context.open_vault() as vault, told_if_missing(vault, args.address, *filter(None, [args.path])):
        return _checkout(context, args, vault)


def _checkout(context: Context, args: argparse.Namespace, vault: Vault) -> Answer:
    found = resolve(vault, args.address)
    if args.to and args.path:
        raise BadArguments("lace checkout: a copy holds everything; name a path, or --to DIR.")
    if args.to and (args.dry_run or args.keep_edits):
        raise BadArguments("lace checkout: --dry-run and --keep-edits are about the folder, and --to writes elsewhere.")
    if args.to:
        return _copy(context, vault, found, target_of(context, args.to))
    desk = known_desk(vault, found.desk)
    path = own_path(context, vault, args.path, desk, partial(as_typed, "checkout")) if args.path else ""
    if args.keep_edits and not path:
        raise BadArguments(
            "lace checkout: --keep-edits is about one file or sub-folder.",
            hint=f"Commit all that was edited first: lace commit -m TEXT - then: {as_typed('checkout', found.what)}",
        )
    if args.dry_run:
        return _planned_checkout(context, vault, found, path, keeps_edits=args.keep_edits)
    with context.watching() as watch:
        if path:
            done = bring_back(vault, found, path, watch, keeps_edits=args.keep_edits)
        else:
            done = check_out(vault, found, watch)
    kept = _committed_text(done, args.path) if path else _line_text(context, vault, done, found)
    return _answer(vault, found, done, path, kept)


def _answer(vault: Vault, found: ResolvedCommit, done: CheckedOut, path: str, kept: str) -> Answer:
    """Return what to say of a folder that follows another revision now, or a path of it.

    Args:
        vault: whose folder it is.
        found: that revision.
        done: what became of the folder.
        path: which path; empty for all of it.
        kept: what to say of what was there before.
    """
    desk, result = done.desk, done.result
    shown, written = path or "The folder", [*result.written, *result.deleted]
    late = [skip.path for skip in result.skipped if skip.blocking]
    out = [skip for skip in result.skipped if not skip.blocking]
    more = (*pushed_out_lines(done.pushed_out), *skipped_lines(out), *kept_lines(vault, desk, late))
    kept += "".join(f"\n{line}" for line in more)
    before = f"{FINISHED}\n" if done.is_finished else ""
    return Answer(
        {
            "planned": False,
            "commit": found.commit,
            "desk": desk,
            "what": found.what,
            "to": vault.folder,
            "written": list(result.written),
            "deleted": list(result.deleted),
            "skipped": skipped_data(result.skipped),
            "saved": done.saved,
            "revision": done.revision,
            "pushed_out": done.pushed_out or None,
            "stays": done.stays,
            "saves": done.saved is not None,
            "commits": done.revision is not None,
            "unfinished": False,
            "finished": done.is_finished,
        },
        f"{before}{inert(shown)} is as in {inert(found.what)} now: {plural(files_in(written), 'file')} changed.{kept}"
        if written or result.skipped
        else f"{before}{inert(shown)} is as in {inert(found.what)} already.",
        EXIT_PERSON if late else EXIT_DONE,
    )


def _line_text(context: Context, vault: Vault, done: CheckedOut, found: ResolvedCommit) -> str:
    """Return what to say of the line after its folder went to another revision as a whole."""
    desk = done.desk
    base = checkout_of(vault, desk)
    if done.stays:
        return f"\n{_STAYS}"
    if base is not None and base.tree == found.tree:
        return f"\nNothing is uncommitted in {desk}."
    where = desk_option(context, vault, desk)
    return (
        f"\nThe line did not move, so these are uncommitted changes: keep them with lace commit -m TEXT{where}\n"
        f"To go back to the newest: {inert(as_typed('checkout', desk))}"
    )


def _committed_text(done: CheckedOut, typed: str) -> str:
    """Return where that is kept which a path held before and holds now; empty where nothing was committed."""
    if done.revision is None:
        return ""
    now = f"\nWhat is there now is committed: {inert(done.desk)} revision {done.revision}."
    if done.saved is None:
        return now
    first = f"{done.desk}@{done.saved}"
    back = inert(as_typed("checkout", first, typed))
    return (
        f"\nWhat was edited there is kept as {inert(first)}, 'before checkout'.{now}\nTo have your edits back: {back}"
    )


def _planned_checkout(context: Context, vault: Vault, found: ResolvedCommit, path: str, *, keeps_edits: bool) -> Answer:
    """Say what a checkout would do to the folder, and change nothing."""
    with context.watching() as watch:
        if path:
            plan = plan_bring_back(vault, found, path, watch, keeps_edits=keeps_edits)
        else:
            plan = plan_check_out(vault, found, watch)
    written = [name for kind, name in plan.moved if kind != "deleted"]
    deleted = [name for kind, name in plan.moved if kind == "deleted"]
    count = moved_text(written, deleted, planned=True)
    lines = [UNFINISHED] if plan.is_unfinished else []
    lines += [f"{inert(path or 'The folder')} would be as in {inert(found.what)}: {count}."]
    lines += moved_lines(written, deleted)
    lines += [_STAYS] if plan.stays else []
    lines += ["What was edited there would be committed first, as 'before checkout'."] if plan.saves else []
    lines += ["What comes there would be committed."] if plan.commits else []
    data = {
        "planned": True,
        "commit": found.commit,
        "desk": known_desk(vault, found.desk),
        "what": found.what,
        "to": vault.folder,
        "written": written,
        "deleted": deleted,
        "skipped": skipped_data(plan.left_out),
        "saved": None,
        "revision": None,
        "pushed_out": None,
        "stays": plan.stays,
        "saves": plan.saves,
        "commits": plan.commits,
        "unfinished": plan.is_unfinished,
        "finished": False,
    }
    return Answer(data, "\n".join([*lines, *skipped_lines(plan.left_out)]))


def _copy(context: Context, vault: Vault, found: ResolvedCommit, to: Path) -> Answer:
    """Write a copy of a tree into another folder."""
    with context.watching() as watch:
        result = copy_out(vault, found, to, watch)
    for skip in result.skipped:
        context.say(f"{inert(skip.path)} {skip.reason}; it was left out.")
    note_inside(context, to)
    return Answer(
        {
            "planned": False,
            "commit": found.commit,
            "desk": found.desk,
            "what": found.what,
            "to": to,
            "written": list(result.written),
            "deleted": [],
            "skipped": skipped_data(result.skipped),
        },
        f"{plural(files_in(result.written), 'file')} of {inert(found.what)} written to {inert(str(to))}.",
    )
