"""Reading verbs of the family "Work": the log, content of any revision, what differs, copies."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from lace_tui.cli.context import Context
from lace_tui.cli.difftext import folder_differences, shown_differences, tree_differences
from lace_tui.cli.errors import EXIT_DONE, BadArguments
from lace_tui.cli.folder import (
    CASE_HELP,
    DESK_HELP,
    desk_of,
    desk_path,
    notices,
    own_path,
    refuse_other_desk,
)
from lace_tui.cli.inert import inert
from lace_tui.cli.output import Answer, moment, times
from lace_tui.cli.permits import permit_text, permit_values
from lazy.address import ResolvedCommit, awaited, resolve
from lazy.folder.bringing_back import require_there
from lazy.log import lines_of_paths, log_lines
from lazy.people import label_of, node_of
from vault.commands import as_option, as_typed
from vault.content.keeping import explained
from vault.desk_folders import Desk, add_desk, desks, known_desk, mapped_folder, unmapped
from vault.desks.chunks import MissingObject, check_here, entry_pieces
from vault.desks.edit import NoSuchPath
from vault.desks.ignore import IGNORE_FILE
from vault.desks.tree import lookup
from vault.desks.worktree import Problem
from vault.folder.unshared import Part, parts_of_others, unshared_of, way_to_take_out
from vault.folder.work import changes, checkout_of
from vault.plural import few, plural
from vault.revisions.history import commit_info, line_head, releases, revision_of, shown_version, unreleased
from vault.revisions.kept_states import kept_states
from vault.revisions.labels import labels, set_label
from vault.typed import masked, shown
from vault.vault import Vault

if TYPE_CHECKING:
    from lace_tui.cli.changesets import EmptyDesk

__all__ = ["configure", "run"]


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the verb's own arguments."""
    for names, options in _ARGUMENTS.get(verb, ()):
        parser.add_argument(*names, **options)


def run(context: Context, args: argparse.Namespace) -> Answer | int:
    """Do what the verb says."""
    with context.open_vault() as vault:
        try:
            return _VERBS[context.verb](context, args, vault)
        except MissingObject as error:
            raise awaited(vault, error) or explained(vault.store, error) from error


def _log(context: Context, args: argparse.Namespace, vault: Vault) -> Answer:
    node = node_of(vault, args.node) if args.node else None
    if args.number < 1:
        raise BadArguments("lace log -n: the number must be at least 1.")
    limit = min(args.number, sys.maxsize)
    found = log_lines(vault, desk=args.desk, node=node, limit=1 if args.paths else limit)
    if args.desk and not found:
        known_desk(vault, args.desk)
    paths: list[str] = []
    if args.paths:
        desk = args.desk or desk_of(context, vault, None)
        for text in args.paths:
            if masked(text) != text:  # a password in it is told to nobody
                raise BadArguments(f"lace log: {shown(text)} is an address, and the log is asked about paths.")
        paths = [own_path(context, vault, path, desk, _log_there) for path in args.paths]
        with context.watching() as watch:
            found = lines_of_paths(vault, desk, paths, node=node, limit=limit, watch=watch)
    names = {who: label_of(vault, who) for who in {line.node for line in found}}
    entries = [
        {
            "hash": line.hash,
            "app": line.app,
            "name": line.name,
            "node": line.node,
            "who": names[line.node],
            "seq": line.seq,
            "lamport": line.lamport,
            **times(line.tai),
            "message": line.message,
            "after_cut": line.after_cut,
            **({"paths": list(line.paths)} if paths else {}),
        }
        for line in found
    ]
    texts = []
    for line in found:
        late = "  (after the cut)" if line.after_cut else ""
        late += f"  ({inert(few(line.paths))})" if list(line.paths) != paths else ""
        texts.append(f"{moment(line.tai.to_utc_iso())}  {inert(line.sentence(names[line.node]))}{late}")
        if context.verbose:
            texts.append(f"    {line.hash}")
    return Answer({"entries": entries}, "\n".join(texts) or "Nothing happened yet.")


def _log_there(desk: str, path: str) -> str:
    return as_typed(f"log {as_option('--desk', desk)}", path)


def _cat(context: Context, args: argparse.Namespace, vault: Vault) -> int:
    found = resolve(vault, args.address)
    path = desk_path(context, vault, args.path, found.desk)
    require_there(vault, path, found)
    entry = lookup(vault.store, found.tree, path) if path else None
    if entry is None or entry.is_dir:
        way = f"Name a file in it; see what it has: {as_typed('read y', found.what, args.path)}"
        raise NoSuchPath(f"{path or '.'} is a folder in {found.what}.", hint=way)
    check_here(vault.store, entry)
    for piece in entry_pieces(vault.store, entry):
        context.write_bytes(piece)
    return EXIT_DONE


def _diff(context: Context, args: argparse.Namespace, vault: Vault) -> Answer | int:
    if args.changes:
        if len(args.words) not in {2, 3}:
            way = "For example: lace diff main@1 main@2 --changes"
            raise BadArguments("lace diff --changes: name two addresses, and perhaps a path.", hint=way)
        from lace_tui.cli.changesets import side_of, write_changes  # noqa: PLC0415 - each verb loads what it needs

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


def _desks(context: Context, args: argparse.Namespace, vault: Vault) -> Answer:
    del context, args
    rows = [_desk_row(vault, desk) for desk in desks(vault)]
    known = {row["desk"] for row in rows}
    elsewhere = sorted({found.desk for found in releases(vault.store)} - known)

    def text(_paint: object) -> str:
        lines = [
            f"{inert(row['desk'])}  revision {row['revision']}  {row['shown']}  {inert(str(row['folder']))}"
            + (f"  with {inert(', '.join(row['kept']))}" if row["kept"] else "")
            for row in rows
        ]
        lines += [
            f"{inert(desk)}  of a friend; map it with: {inert(as_typed('desk add', desk, 'DIR'))}" for desk in elsewhere
        ]
        return "\n".join(lines)

    return Answer({"desks": rows, "unmapped": elsewhere}, text)


def _desk_row(vault: Vault, desk: Desk) -> dict[str, Any]:
    head = line_head(vault.store, vault.node.text, desk.name)
    own = max((found.version for found in releases(vault.store, desk.name, node=vault.node.text)), default=None)
    return {
        "desk": desk.name,
        "folder": mapped_folder(vault, desk.name),
        "revision": head.number if head else 0,
        "version": own,
        "unreleased": unreleased(vault, desk.name),
        "shown": shown_version(vault, desk.name),
        "labels": labels(vault.store, vault.node.text, desk.name),
        "kept": [state.label for state in kept_states(vault.store, desk.name)],
    }


def _desk_add(context: Context, args: argparse.Namespace, vault: Vault) -> Answer:
    is_known = args.name in unmapped(vault)
    made = add_desk(vault, args.name, desk_path(context, vault, args.folder, is_on_disk=True))
    first = f"lace release 1.0.0 {as_option('--desk', made.name)}"
    following = inert(as_typed("update", made.name) if is_known else first)
    head = line_head(vault.store, vault.node.text, made.name)
    following = f"\nNext: {following}" if head is None else ""
    since = "already" if made.already else "from now on, and main leaves it alone"
    told = "".join(f"\n{inert(desk)} was moved with it." for desk in made.along)
    if made.held_around:
        around = inert(made.held_around)
        told += f"\nWhat {IGNORE_FILE} of {around} keeps out stays out of it too, until you commit it by name."
    if made.permits:
        told += "\nRules of the desk around it hold in it, until you change them with lace desk permit:"
        for owner, rule in made.permits:
            told += f"\n  {permit_text(vault, rule)}" + (f"  in {inert(owner)}" if owner != made.name else "")
    still, sentences = _still_elsewhere(vault, made)
    told += "".join(f"\n{inert(sentence)}" for sentence in sentences)
    return Answer(
        {
            "desk": made.name,
            "folder": vault.folder / made.dir,
            "revision": head.number if head else 0,
            "already": made.already,
            "unshared": still,
            "permits": [{"desk": owner, **permit_values(vault, rule)} for owner, rule in made.permits],
        },
        f"{inert(made.dir)} is the desk {inert(made.name)} {since}.{told}{following}",
    )


def _still_elsewhere(vault: Vault, made: Desk) -> tuple[list[str], list[str]]:
    """Return what other desks hold of a new or moved one and nobody has yet, and what to say of that."""
    still: list[str] = []
    said: list[str] = []
    for desk in desks(vault):
        head = line_head(vault.store, vault.node.text, desk.name)
        if head is None:
            continue
        tree = commit_info(vault.store, head.commit).tree
        for part in parts_of_others(vault, desk.name):
            if part.owner not in {made.name, *made.along}:
                continue
            found = unshared_of(vault, desk.name, tree, part)
            found = [name for name in found if name not in still]
            if found:
                still += found
                said.append(_still_said(vault, desk.name, part, found))
    return still, said


def _still_said(vault: Vault, desk: str, part: Part, found: list[str]) -> str:
    goes = "which goes" if len(found) == 1 else "which go"
    out = f"Take it out of that: {way_to_take_out(vault, desk, part, found)}"
    held = f"{plural(len(found), 'file')} of it" if part.left is None else f"{few(found)}, where it lay before"
    return f"{desk} still holds {held}, {goes} with its next release. {out}"


def _label(context: Context, args: argparse.Namespace, vault: Vault) -> Answer:
    made = set_label(vault, args.name, desk_of(context, vault, args.desk))
    travels = "Friends get it at the next sync." if made.is_shared else "It travels with the next release."
    since = "already." if made.already else f"from now on. {travels}"
    data = {name: getattr(made, name) for name in ("label", "desk", "revision", "record", "already")}
    return Answer(data, f"{inert(made.desk)} revision {made.revision} is {inert(made.label)} {since}")


_ADDRESS = (("address",), {"metavar": "[PEER/]DESK[@CASE]", "help": CASE_HELP})
_ARGUMENTS: dict[str, tuple[tuple[tuple[str, ...], dict[str, Any]], ...]] = {
    "log": (
        (("--desk",), {"metavar": "D", "help": "only this desk"}),
        (("--node",), {"metavar": "N", "help": "only this person"}),
        (("-n",), {"dest": "number", "metavar": "K", "type": int, "default": 20, "help": "at most this many (20)"}),
        (("paths",), {"metavar": "PATH", "nargs": "*", "help": "only commits that changed something there"}),
    ),
    "cat": (_ADDRESS, (("path",), {"metavar": "PATH", "help": "a file, named from the folder you are in"})),
    "diff": (
        (("words",), {"metavar": "A B PATH", "nargs": "*", "help": "two of DESK[@CASE], and perhaps a path"}),
        (("--changes",), {"action": "store_true", "help": "write what leads from A to B, for lace commit --changes"}),
    ),
}
_ARGUMENTS |= {
    "desk add": (
        (("name",), {"metavar": "NAME", "help": "its name, the same for every friend who shares it"}),
        (("folder",), {"metavar": "DIR", "help": "a sub-folder of the shared folder; it is made if it is not there"}),
    ),
    "label": (
        (("name",), {"metavar": "NAME", "help": "starts with a letter; used once"}),
        (("--desk",), {"metavar": "D", "help": DESK_HELP}),
    ),
}
_VERBS: dict[str, Callable[[Context, argparse.Namespace, Vault], Answer | int]] = {
    "log": _log,
    "cat": _cat,
    "diff": _diff,
    "desks": _desks,
    "desk add": _desk_add,
    "label": _label,
}
