"""`resolve`: a person's decision on what disagrees (LAZ-39 to LAZ-44)."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from lace_tui.cli.context import Context
from lace_tui.cli.noted_decision import decided_before, noting, recorded
from lace_tui.cli.output import Answer, Paint
from lace_tui.cli.picking import Pick, choices_of, require_fitting
from lace_tui.cli.unanswered import answered_once
from lace_tui.errors import BadArguments
from lace_tui.words.folder import SHOWN
from lace_tui.words.inert import inert
from lace_tui.words.written import (
    after_kept,
    kept_lines,
    moved_lines,
    moved_text,
    skipped_data,
    skipped_lines,
    text_data,
    text_lines,
)
from lazy.conflicts import conflict_of, conflicts, is_still_open
from lazy.contested import Conflict, Side
from lazy.files import write_lazy_files
from lazy.folder.heads import ending_with
from lazy.folder.unanswered import AGAIN
from lazy.resolving.chosen import unasked
from lazy.resolving.opening import own_in
from lazy.resolving.picks import Choices
from lazy.resolving.planning import Planned, plan_accept, plan_merged, plan_prefer
from lazy.resolving.resolve import (
    Noted,
    Resolved,
    accept_resolution,
    next_step,
    resolve_merged,
    resolve_prefer,
)
from lazy.resolving.unedited import Unedited, beside_preferred, unedited
from vault.desks.paths import is_at_or_below
from vault.names import Version
from vault.plural import few
from vault.records import RecordHash
from vault.revisions.history import releases
from vault.vault import Vault
from vault.watch import Watch

__all__ = ["configure", "run"]

_VERB = "resolve"
_UNDECIDED = {"resolution": None, "status": "pending", "release": None, "commit": None}
_Edited = Callable[[str], bytes | None]


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add how a conflict is decided."""
    del verb
    parser.add_argument("conflict", metavar="CONFLICT", nargs="?", help="an id, or [DESK@]VERSION when only one fits")
    how = parser.add_mutually_exclusive_group(required=True)
    how.add_argument(
        "--prefer",
        metavar="SIDE",
        help="keep one side, all of it or (of files that both changed) only where they clash: local, remote, a person"
        " (bob:2 of several by bob) or a release",
    )
    how.add_argument("--merged", metavar="VERSION", help="release a merge under a new version")
    how.add_argument(
        "--accept", nargs="?", const="", default=None, metavar="PROPOSER", help="accept what a friend decided"
    )
    parser.add_argument(
        "--path",
        action=Pick,
        metavar="P",
        help="with --merged: a path, named from where you are; with --accept: one where decisions clash ...",
    )
    parser.add_argument("--region", action=Pick, metavar="N", help="... with --merged: one clashing region of it ...")
    parser.add_argument("--take", action=Pick, metavar="SIDE", help="... and whose content or lines it gets, or both")
    parser.add_argument("--files", metavar="DIR", default="", help="with --merged: clashing files as edited in DIR")
    parser.add_argument("--all", action="store_true", help="with --prefer: every open conflict")
    parser.add_argument(
        "-y", "--yes", action="store_true", help="do not ask about files that would stay without a friend's work"
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would change, and change nothing")
    parser.add_argument("-m", "--message", default="", metavar="REASON", help="why; friends can read it")
    parser.set_defaults(picks=[])


def run(context: Context, args: argparse.Namespace) -> Answer:
    """Do what the verb says.

    Raises:
        NoSuchConflict, NoSuchSide, VersionTaken, FolderInTheWay: the decision cannot be made so.
        PathUndecided: nobody chose for a path, or was asked of it.
        BadArguments: --path and --take do not go together.
    """
    if not args.dry_run:
        return answered_once(context, lambda vault: _resolve(context, vault, args))
    with context.open_vault() as vault:
        return _resolve(context, vault, args)


def _resolve(context: Context, vault: Vault, args: argparse.Namespace) -> Answer:
    require_fitting(args)
    if args.all:
        return _resolve_all(context, vault, args)
    if args.conflict is None:
        raise BadArguments("lace resolve: which conflict?", hint="Name its id or version: lace conflicts lists them.")
    again = None if args.dry_run else decided_before(context, vault, args)
    if again is not None:
        write_lazy_files(vault)
        return _resolved(vault, *again, is_again=True)
    choices = choices_of(context, vault, args)
    if args.dry_run:
        return _planned(context, vault, args, choices)
    as_is = _unedited(context, vault, args, choices)
    _require_asked(context, args, as_is)
    if not _agrees(context, args, as_is):
        data = {**_UNDECIDED, "unedited": _unedited_data(as_is)}
        return Answer.declined(data, f"Nothing was decided. {_way(args)}")
    own = _own(context, vault, args, choices, as_is)
    read: dict[str, str] = {}
    choices = replace(choices, edited=recorded(choices.edited, read))
    with context.watching() as watch:
        done = _decide(vault, args, choices, watch, noting(context, vault, args, as_is, read))
    write_lazy_files(vault)
    return _resolved(vault, done, as_is, own)


def _own(
    context: Context, vault: Vault, args: argparse.Namespace, choices: Choices, as_is: Sequence[Unedited]
) -> tuple[str, ...]:
    """Return what a merge would release of the folder that nobody released, beside what is chosen or named already."""
    if args.merged is None:
        return ()
    named = {*choices.takes, *choices.regions, *(one.path for one in as_is)}
    with context.watching() as watch:
        return tuple(path for path in own_in(vault, args.conflict, watch) if not is_at_or_below(path, named))


def _own_lines(own: Sequence[str], *, is_planned: bool = False) -> list[str]:
    """Say what of the folder goes to friends with a merge, though it was released by nobody (LAZ-39)."""
    verb = "would release" if is_planned else "released"
    return [f"It {verb} what was yours alone, too: {few([inert(path) for path in own], SHOWN)}"] if own else []


def _way(args: argparse.Namespace) -> str:
    """Return how to decide otherwise about files that would stay as they are."""
    return f"Edit those files, or choose: {'' if args.merged else '--merged VERSION '}--path P --take SIDE"


def _unedited(context: Context, vault: Vault, args: argparse.Namespace, choices: Choices) -> tuple[Unedited, ...]:
    if args.accept is not None:
        return ()
    with context.watching() as watch:
        if args.prefer is not None:
            return beside_preferred(vault, args.conflict, args.prefer, watch=watch)
        return unedited(vault, args.conflict, choices, watch=watch)


def _unedited_data(as_is: Sequence[Unedited]) -> list[dict[str, Any]]:
    return [{"path": one.path, "side": one.side, "without": list(one.without)} for one in as_is]


def _unedited_lines(as_is: Sequence[Unedited]) -> list[str]:
    """Say of each path whose it is as it stands, and whose work is not in it."""
    lines = []
    for one in as_is[:SHOWN]:
        whose = "yours" if one.is_local else f"{inert(one.side)}'s"
        without = " and ".join(f"{inert(word)}'s" for word in one.without)
        lines.append(f"{inert(one.path)}: {whose} as it stands; {without} is not in it")
    return lines + ([f"and {len(as_is) - SHOWN} more"] if len(as_is) > SHOWN else [])


def _require_asked(context: Context, args: argparse.Namespace, as_is: Sequence[Unedited]) -> None:
    """Refuse where nobody can be asked a merge that takes what nobody was asked of (LAZ-42).

    Raises:
        PathUndecided: it would.
    """
    if paths := _unasked(context, args, as_is):
        raise unasked(paths)


def _unasked(context: Context, args: argparse.Namespace, as_is: Sequence[Unedited]) -> list[str]:
    """Return the paths for which a merge is refused here: nobody can be asked about them, and no --yes agrees."""
    if args.merged is None or args.yes or (context.is_terminal and not context.json):
        return []
    return [one.path for one in as_is if one.is_unasked]


def _agrees(context: Context, args: argparse.Namespace, as_is: Sequence[Unedited]) -> bool:
    """Ask a person at a terminal whether files shall stay without a friend's work; nobody else is asked."""
    if not as_is or not context.is_terminal or context.json or args.yes:
        return True
    for line in _unedited_lines(as_is):
        context.say(f"! {line}")
    return context.agrees("Release it so?" if args.merged else "Decide it so?")


def _planned(context: Context, vault: Vault, args: argparse.Namespace, choices: Choices) -> Answer:
    with context.watching() as watch:
        plan = _plan(vault, args, choices, watch)
    conflict, moves, clashes = plan
    written, gone = moves.written, moves.deleted
    as_is = _unedited(context, vault, args, choices)
    own, refused = _own(context, vault, args, choices, as_is), _unasked(context, args, as_is)
    data = {
        "planned": True,
        "conflict": conflict.id,
        **_UNDECIDED,
        "written": written,
        "deleted": gone,
        "skipped": skipped_data(moves.left_out),
        "unedited": _unedited_data(as_is),
        "own": own,
        "unasked": refused,
        "conflicts": clashes,
    }
    count = moved_text(written, gone, planned=True)

    def text(paint: Paint) -> str:
        lines = [f"{conflict.id}: {count} in your folder{':' if written or gone or clashes else '.'}"]
        lines += [*moved_lines(written, gone, None), *skipped_lines(moves.left_out)]
        lines += _clash_lines(clashes, paint)
        told = [*_unedited_lines(as_is), *_own_lines(own, is_planned=True)]
        few_of = few([inert(path) for path in refused])
        told += [f"It is refused without --yes, for nobody was asked about {few_of}"] if refused else []
        return "\n".join(lines + [f"! {line}" for line in told])

    return Answer(data, text, exit_code=1 if clashes else 0)


def _plan(vault: Vault, args: argparse.Namespace, choices: Choices, watch: Watch) -> Planned:
    if args.prefer is not None:
        return plan_prefer(vault, args.conflict, args.prefer, watch=watch)
    if args.merged is not None:
        return plan_merged(vault, args.conflict, Version.parse(args.merged), choices, watch=watch)
    return plan_accept(vault, args.conflict, args.accept, choices.takes, watch=watch)


def _clash_lines(paths: Sequence[str], paint: Paint) -> list[str]:
    return [f"  {paint.warn('!')} {inert(path)}: your newer work and the decision differ" for path in paths]


def _resolve_all(context: Context, vault: Vault, args: argparse.Namespace) -> Answer:
    """Decide every open conflict for one side; what was settled by an earlier decision is passed over.

    What ends with another one comes behind that: to decide it first would be to decide it anew.
    """
    answers: list[Answer] = []
    found = conflicts(vault)
    above = ending_with(vault, found)
    for listed in sorted(found, key=lambda one: one.id in above):
        other = above.get(listed.id)
        if not is_still_open(vault, listed.id) or (other is not None and is_still_open(vault, other.id)):
            continue
        args.conflict = listed.id
        if args.dry_run:
            answers.append(_planned(context, vault, args, Choices()))
            continue
        as_is = _unedited(context, vault, args, Choices())
        if not _agrees(context, args, as_is):
            told = f"{inert(listed.id)} was not decided. {_way(args)}"
            left = {"conflict": listed.id, **_UNDECIDED, "unedited": _unedited_data(as_is)}
            answers.append(Answer.declined(left, told))
            continue
        with context.watching() as watch:
            answers.append(_resolved(vault, _decide(vault, args, Choices(), watch, lambda _w, _done: None), as_is))
    if answers and not args.dry_run:
        write_lazy_files(vault)

    def text(paint: Paint) -> str:
        parts = [a.text if isinstance(a.text, str) else a.text(paint) for a in answers]
        return "\n".join(parts) or "no conflicts"

    data = {"planned": args.dry_run, "resolved": [answer.data for answer in answers]}
    is_declined = bool(answers) and all(answer.is_declined for answer in answers)
    return Answer(data, text, max((answer.exit_code for answer in answers), default=0), is_declined=is_declined)


def _resolved(
    vault: Vault,
    done: Resolved,
    as_is: Sequence[Unedited] = (),
    own: Sequence[str] = (),
    *,
    is_again: bool = False,
) -> Answer:
    from lace_tui.words.releases import doubt_lines  # each verb loads what it needs

    desk = conflict_of(vault, done.conflict).desk
    following = after_kept(vault, desk) if done.kept else next_step(vault, done)
    doubt, is_cut = doubt_lines(vault)
    following = "lace adopt" if is_cut else following
    data = {
        "conflict": done.conflict,
        "resolution": done.resolution,
        "status": done.status,
        "release": done.release,
        "commit": done.commit,
        "written": done.written,
        "deleted": done.deleted,
        "kept": done.kept,
        "skipped": skipped_data(done.left_out),
        "texts": text_data(done.texts),
        "unedited": _unedited_data(as_is),
        "own": own,
        "unasked": [],  # what was decided was agreed to
        "conflicts": done.conflicts,
        "already": is_again,
        "counts": not doubt,
        "doubt": doubt,
        "next": following or None,
    }
    said, late = _decided(vault, done), kept_lines(vault, desk, done.kept)

    def text(paint: Paint) -> str:
        lines = [f"{paint.good('=')} {said}", *moved_lines(done.written, done.deleted)]
        lines += [*skipped_lines(done.left_out), *text_lines(done.texts), *late]
        lines += [AGAIN] if is_again else []
        lines += [f"{paint.warn('!')} {line}" for line in [*_unedited_lines(as_is), *_own_lines(own)]]
        lines += [*_clash_lines(done.conflicts, paint), *doubt]
        lines += [f"Next: {inert(following)}"] if following else []
        return "\n".join(lines)

    return Answer(data, text, exit_code=1 if done.conflicts or done.kept else 0)


def _side_of(conflict: Conflict, release: RecordHash | None) -> Side | None:
    return next((side for side in conflict.sides if release is not None and side.release == release), None)


def _decided(vault: Vault, done: Resolved) -> str:
    """Return in a sentence what counts from now on, and what that did to the folder."""
    conflict = conflict_of(vault, done.conflict)
    side = _side_of(conflict, done.release)
    what = f"{inert(conflict.desk)} {conflict.version}" if conflict.version else inert(conflict.desk)
    if side is not None:
        how = f": the side of {inert(side.word)} counts"
    elif done.release is not None:
        named = [str(one.version) for one in releases(vault.store, conflict.desk) if one.hash == done.release]
        how = f" by a merge, released as {', '.join(named)}"
    else:
        how = " by a merge"
    if done.conflicts:
        return f"{what} is decided{how}. Nothing changed in your folder:"
    if not done.written and not done.deleted:
        return f"{what} is decided{how}. Your folder stays as it is."
    return f"{what} is decided{how}. {moved_text(done.written, done.deleted)} in your folder:"


def _decide(vault: Vault, args: argparse.Namespace, choices: Choices, watch: Watch, noted: Noted) -> Resolved:
    if args.prefer is not None:
        return resolve_prefer(vault, args.conflict, args.prefer, args.message, watch=watch, noted=noted)
    if args.merged is not None:
        version = Version.parse(args.merged)
        return resolve_merged(vault, args.conflict, version, choices, args.message, watch=watch, noted=noted)
    return accept_resolution(vault, args.conflict, args.accept, choices.takes, watch=watch, noted=noted)
