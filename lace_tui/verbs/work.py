"""Writing verbs of the family "Work": see what changed, commit, update."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from lace_tui.cli.context import Context
from lace_tui.cli.errors import EXIT_DONE, EXIT_PERSON, BadArguments
from lace_tui.cli.folder import (
    DESK_HELP,
    SHOWN,
    UNFINISHED,
    after_kept,
    changes_of,
    counted,
    desk_of,
    desk_option,
    desk_path,
    held_back_text,
    kept_lines,
    moved_lines,
    moved_text,
    notices,
    parts_lines,
    paths_of,
    say_pushed,
    sign,
    skipped_lines,
    update_data,
)
from lace_tui.cli.inert import inert
from lace_tui.cli.keeping import keep
from lace_tui.cli.output import Answer, Paint
from lace_tui.cli.quick import changes_stamp
from lazy.remembered import CHANGES, generation
from vault.commands import as_typed
from vault.desk_folders import desks, unmapped
from vault.folder.dir_cache import StoredDirCache
from vault.folder.work import MAIN, Changes, Committed, Unchanged, changes, commit, shares_commits
from vault.names import Version
from vault.revisions.history import Relation
from vault.revisions.versions import highest_version, next_version
from vault.vault import Vault

if TYPE_CHECKING:
    from lazy.folder.update import Updated
    from vault.desks.diff import Change

__all__ = ["configure", "run"]

_FINISHED = "The last update of this folder was cut off."


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the verb's own arguments."""
    for names, options in _ARGUMENTS.get(verb, ()):
        parser.add_argument(*names, **options)


def run(context: Context, args: argparse.Namespace) -> Answer:
    """Do what the verb says."""
    with context.open_vault() as vault:
        return _VERBS[context.verb](context, args, vault)


# Changes and commits


def _changes(context: Context, args: argparse.Namespace, vault: Vault) -> Answer:
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
        "notices": notices(context, found.problems),
    }

    def text(paint: Paint) -> str:
        whence = {new: old for old, new in moved.items()}
        lines = [
            paint.warn("> ") + f"{inert(whence[item.path])} -> {inert(item.path)}"
            if item.path in whence
            else sign(paint, item.kind) + inert(item.path) + _folder_mark(item)
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
    from vault.desks.renames import moved_paths  # noqa: PLC0415 - mostly nothing is moved

    return dict(sorted(moved_paths(found.items).items()))


def _folder_mark(item: Change) -> str:
    """Return what tells a folder, which is recorded only while nothing is in it, from a file of its name."""
    entry = item.after or item.before
    return "/ (an empty folder)" if entry is not None and entry.is_dir else ""


def _keep(vault: Vault, number: str, found: Changes, answer: Answer) -> None:
    """Keep the answer that nothing changed, so that asking again costs a look at the folder and no more."""
    from vault.desks.glance import LOOKS, told_by  # noqa: PLC0415

    top = StoredDirCache(vault, MAIN).load(LOOKS)
    told = told_by(top)
    if told is not None and told[1] == found.tree.digest:
        keep(vault, CHANGES, number, answer, depends=changes_stamp(str(vault.folder), top))


def _conflicted(vault: Vault, desk: str) -> list[str]:
    """Return the paths of heads that do not merge cleanly, sorted."""
    from lazy.conflicts import conflicts  # noqa: PLC0415 - each verb loads what it needs
    from lazy.contested import ConflictKind  # noqa: PLC0415 - each verb loads what it needs

    found: set[str] = set()
    for conflict in conflicts(vault):
        if conflict.kind is ConflictKind.HEAD and conflict.desk == desk:
            from lazy.resolving.opening import clashing  # noqa: PLC0415 - mostly nothing is in conflict

            found.update(clashing(vault, conflict))
    return sorted(found)


def _commit(context: Context, args: argparse.Namespace, vault: Vault) -> Answer:
    from lace_tui.cli.message import message_from  # noqa: PLC0415 - each verb loads what it needs
    from lazy.strategy import Occasion, follow  # noqa: PLC0415

    desk = desk_of(context, vault, args.desk)
    paths = [desk_path(context, vault, path, desk) for path in args.paths]
    message = message_from(context, vault, args.message)
    with context.watching() as watch:
        if args.changes:
            if paths:
                raise BadArguments("lace commit: either paths or --changes.", hint="The file says which paths change.")
            from lace_tui.cli.changesets import read_changes  # noqa: PLC0415
            from lazy.folder.change_sets import commit_changes  # noqa: PLC0415

            changed = read_changes(context, args.changes)
            made: Committed | Unchanged = commit_changes(vault, desk, changed, message, watch)
        else:
            made = commit(vault, message, paths, desk=desk, watch=watch)
        pushed = follow(vault, Occasion.COMMIT, watch) if made else []
    told = notices(context, made.problems)
    if not made:
        nothing: dict[str, Any] = {"commit": None, "desk": desk, "revision": None}
        nothing |= {"added": [], "changed": [], "deleted": [], "notices": told, "pushed": []}
        return Answer(nothing, "Nothing changed.")
    data = {
        "commit": made.commit,
        "desk": desk,
        "revision": made.revision,
        **paths_of(made),
        "notices": told,
        "pushed": [result.name for result in pushed if not result.queued],
    }
    release = f"lace release{desk_option(context, vault, desk)}"
    where = "Friends get it too." if shares_commits(vault) else f"It stays with you until a release: {release}"
    say_pushed(context, pushed)
    return Answer(data, f"Committed {desk} revision {made.revision}: {counted(made)}.\n{where}")


# Update


def _update_of(desk: str) -> str:
    """Return the command that updates a desk."""
    return as_typed("update", desk)


def _update(context: Context, args: argparse.Namespace, vault: Vault) -> Answer:
    from lazy.folder.update import update  # noqa: PLC0415
    from vault.revisions.cases import parse_side  # noqa: PLC0415

    desk = desk_of(context, vault, args.desk)
    peer, case = parse_side(args.peer) if args.peer else (None, None)
    if case is not None and not isinstance(case, Version):
        raise BadArguments(
            f"lace update takes whole releases, and {str(case)!r} is no version.", hint="Write: --from PEER@X.Y.Z"
        )
    with context.watching() as watch:
        done = update(vault, desk, peer=peer, version=case, dry_run=args.dry_run, watch=watch)
    needs_person = bool(done.conflicts or done.waiting or done.refused or done.kept)
    following = _after_update(vault, desk, done)
    other, news = unmapped(vault), _other_news(vault, desk)
    following = following or (_update_of(news[0]) if news else "")
    data = {
        "planned": args.dry_run,
        "desk": desk,
        **update_data(done),
        "finished": done.is_finished,
        "waiting": list(done.waiting),
        "refused": [{"commit": out.head, "name": out.who, "paths": list(out.paths)} for out in done.refused],
        "away": done.away or None,
        "lacking": done.lacking,
        "parts": list(done.parts),
        "sources": list(done.sources),
        "versions": list(done.versions),
        "unmapped": other,
        "news": news,
        "next": following or None,
    }
    lines = [
        *_update_lines(vault, done, desk, other, news, planned=args.dry_run),
        *([f"Next: {following}"] if following else []),
    ]
    return Answer(data, "\n".join(lines), EXIT_PERSON if needs_person else EXIT_DONE)


def _after_update(vault: Vault, desk: str, done: Updated) -> str:
    """Return the command to run next, or nothing."""
    from lazy.conflict_words import deciding_command  # noqa: PLC0415 - only an update needs it
    from lazy.conflicts import conflict_named  # noqa: PLC0415 - only an update needs it

    if done.conflicts:
        name, version = done.conflict_id, next_version(vault, desk)
        if not name:  # a dry run notes none
            return "lace update, which notes the conflict; then lace resolve"
        keep = deciding_command(vault, conflict_named(vault, name))
        return f"{keep}, or edit and lace resolve {name} --merged {version}"
    if done.is_unfinished or done.kept:
        return changes_of(desk) if done.is_unfinished else after_kept(vault, desk)
    if done.waiting:
        several = len(done.waiting) > 1
        return "lace conflicts" if several else deciding_command(vault, conflict_named(vault, done.waiting[0]))
    if done.revision and not (done.sources or done.decided):  # my own line came, and that comes alone
        from lazy.conflict_words import update_desk  # noqa: PLC0415
        from lazy.status import desks_with_news  # noqa: PLC0415

        if desk in desks_with_news(vault):
            return update_desk(desk)
    return _first_meeting(vault) or ("lace release" if done.relation is Relation.MERGEABLE and done.revision else "")


def _first_meeting(vault: Vault) -> str:
    """Return the command that meets friends, where nothing came from any of them yet."""
    if vault.founding is not None:
        return ""
    from lace_tui.verbs.placing import meeting  # noqa: PLC0415 - once in the life of a vault
    from lazy.places.known import places  # noqa: PLC0415

    return meeting(places(vault))


def _other_news(vault: Vault, desk: str) -> list[str]:
    """Return the other desks here that friends released something for: an update is about one desk alone."""
    if len(desks(vault)) == 1:
        return []
    from lazy.status import desks_with_news  # noqa: PLC0415 - a vault with one desk needs none of it

    return [name for name in desks_with_news(vault) if name != desk]


def _update_lines(
    vault: Vault, done: Updated, desk: str, other: Sequence[str], news: Sequence[str], *, planned: bool
) -> list[str]:
    lines = [UNFINISHED] if done.is_unfinished else [_FINISHED] if done.is_finished else []
    if done.saved is not None:
        lines.append("Your changes were committed first, as 'before update'.")
    source = _source(done)
    count = moved_text(len(done.written), len(done.deleted), planned=planned)
    if done.conflicts:
        lines.append(f"! {source} and you changed the same places; nothing was changed in your folder:")
        lines += [f"  {inert(clash.path)} ({clash.kind})" for clash in done.conflicts]
        lines += [f"{held_back_text(done.held_back)}."] if done.held_back else []
    elif done.relation is Relation.BEHIND:
        lines.append(f"{source}: {count}.")
    elif done.relation is Relation.MERGEABLE:
        merged = f", {len(done.merged)} merged line by line" if done.merged else ""
        lines.append(f"{source} merged with yours: {count}{merged}.")
    elif done.is_finished or done.is_unfinished:
        lines.append(f"{'That is all there is to do' if planned else 'Now it is finished'}: {count}.")
    elif not done.waiting and not done.refused and not done.away:
        lines.append(_nothing_new(vault, done, desk, is_alone=not (other or news)))
    lines += [
        f"{inert(name)} was released too, and has no folder here: {inert(as_typed('desk add', name, 'DIR'))}"
        for name in other
    ]
    lines += [f"{inert(name)} has news too: {inert(_update_of(name))}" for name in news]
    if not done.conflicts:
        lines += moved_lines(done.written, done.deleted)
    lines += skipped_lines(done.left_out)
    lines += kept_lines(vault, desk, done.kept)
    if done.waiting:
        lines.append(f"! Not taken in before you decide: {', '.join(done.waiting)} (see: lace conflicts)")
        lines += _both_lines(vault, done.waiting)
    if done.lacking:
        what = "1 release is" if done.lacking == 1 else f"{done.lacking} releases are"
        lines.append(f"{what} not all here: lace links")
        lines += parts_lines(done.parts)
    if done.away:
        what = f"{inert(done.away)}, which is yours"
        lines.append(f"! Not taken in, for its content is not here: {what}: lace sync --all")
    for out in done.refused:
        lines.append(f"! Not taken in: {inert(out.who)} changed what your desk's rules keep (see: lace desk permits)")
        lines += [f"  {inert(path)}" for path in out.paths[:SHOWN]]
        lines += [f"  and {len(out.paths) - SHOWN} more"] if len(out.paths) > SHOWN else []
    return lines


def _both_lines(vault: Vault, ids: Sequence[str]) -> list[str]:
    """Return how to have what all sides of a version did, where keeping one leaves something out."""
    from lace_tui.verbs.conflicts import conflicts_data, others_line  # noqa: PLC0415 - mostly nothing is in conflict
    from lazy.conflicts import conflict_named  # noqa: PLC0415 - as above

    rows = conflicts_data(vault, [conflict_named(vault, name) for name in ids])
    return [f"  {told}" for row in rows if (told := others_line(row))]


def _nothing_new(vault: Vault, done: Updated, desk: str, *, is_alone: bool) -> str:
    """Return why nothing came; of a desk that nobody released, as before the first sync, the folder has not all."""
    if not done.lacking and highest_version(vault.store, desk) is None:
        return f"Nothing of {desk} was released yet, as far as is known here."
    what = "all that is here of what was released" if done.lacking else "everything that was released"
    return f"Nothing new: your folder has {what}{'.' if is_alone else f' of {desk}.'}"


def _source(done: Updated) -> str:
    if not done.sources:
        decided = ", ".join(map(str, done.decided))
        return f"The decision on {decided}" if decided else "Another line of yours"
    return inert(done.whose)


_DESK = (("--desk",), {"metavar": "D", "help": DESK_HELP})
_DESK_FIRST = (("desk",), {"metavar": "DESK", "nargs": "?", "help": DESK_HELP})
_ARGUMENTS: dict[str, tuple[tuple[tuple[str, ...], dict[str, Any]], ...]] = {
    "changes": (_DESK_FIRST,),
    "commit": (
        (("-m",), {"dest": "message", "metavar": "TEXT", "help": "what you did and why"}),
        _DESK,
        (("--changes",), {"metavar": "FILE", "help": "commit what this file changes; - is standard input"}),
        (("paths",), {"metavar": "PATH", "nargs": "*", "help": "only what changed there"}),
    ),
    "update": (
        _DESK_FIRST,
        (("--from",), {"dest": "peer", "metavar": "PEER[@CASE]", "help": "only this friend's work"}),
        (("--dry-run",), {"action": "store_true", "help": "say what would happen, and do nothing"}),
    ),
}
_VERBS: dict[str, Callable[[Context, argparse.Namespace, Vault], Answer]] = {
    "changes": _changes,
    "commit": _commit,
    "update": _update,
}
