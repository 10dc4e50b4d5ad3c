"""The verb "update": friends' released work comes into the folder, and what to do next."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lace_tui.cli.context import Context
from lace_tui.cli.folder import DESK_HELP, desk_of, desk_option
from lace_tui.cli.output import Answer
from lace_tui.errors import EXIT_DONE, EXIT_PERSON, BadArguments
from lace_tui.words.folder import SHOWN, update_of
from lace_tui.words.inert import inert
from lace_tui.words.written import (
    after_kept,
    changes_of,
    clash_lines,
    ended_lines,
    kept_lines,
    moved_lines,
    moved_text,
    opening_lines,
    parts_lines,
    room_lines,
    skipped_lines,
    update_data,
)
from vault.commands import as_option, as_typed
from vault.desk_folders import NoSuchDesk, desks, unmapped
from vault.names import Version
from vault.plural import more_lines
from vault.revisions.history import Relation
from vault.revisions.versions import highest_version, next_version
from vault.vault import Vault

if TYPE_CHECKING:
    from lazy.contested import Conflict
    from lazy.folder.permitted import Refused
    from lazy.folder.updated import NotTakenIn, TakenIn, Updated

    _Asked = tuple[Conflict, dict[str, Any]]  # one that keeps something out, and what `conflicts` says of it

__all__ = ["configure", "run"]


def configure(parser: argparse.ArgumentParser, _verb: str) -> None:
    """Add the verb's own arguments."""
    parser.add_argument("desk", metavar="DESK", nargs="?", help=DESK_HELP)
    parser.add_argument("--from", dest="peer", metavar="PEER[@VERSION]", help="only this friend's work")
    parser.add_argument("--dry-run", action="store_true", help="say what would happen, and change nothing")


def run(context: Context, args: argparse.Namespace) -> Answer:
    """Do what the verb says."""
    with context.open_vault() as vault:
        return _update(context, args, vault)


def _desk(context: Context, args: argparse.Namespace, vault: Vault) -> str:
    """Return the desk that is meant.

    Raises:
        NoSuchDesk: there is none of that name; where somebody has it, with what brings their work.
    """
    from lazy.people import peers

    try:
        return desk_of(context, vault, args.desk)
    except NoSuchDesk as error:
        if not args.peer and any(person.name == args.desk for person in peers(vault)):
            way = as_typed("update", options=as_option("--from", args.desk))
            error.hint = f"To have what {inert(args.desk)} released: {way}"
        raise


def _update(context: Context, args: argparse.Namespace, vault: Vault) -> Answer:
    from lazy.folder.update import update
    from vault.revisions.cases import parse_side

    desk = _desk(context, args, vault)
    peer, case = parse_side(args.peer) if args.peer else (None, None)
    if case is not None and not isinstance(case, Version):
        raise BadArguments(
            f"lace update takes whole releases, and {str(case)!r} is not a version.", hint="Write: --from PEER@X.Y.Z"
        )
    with context.watching() as watch:
        done = update(vault, desk, peer=peer, version=case, dry_run=args.dry_run, watch=watch)
    out = done.not_taken
    needs_person = bool(done.conflict or out.waiting or out.refused or done.moves.kept)
    asked = _asked(vault, out.waiting)
    following, told = _after_update(context, vault, desk, done, args.peer or "", asked)
    letting = [_letting_in(vault, desk, head) for head in out.refused]
    other, news = unmapped(vault), _other_news(vault, desk)
    if news and not following:
        following = told = update_of(news[0], is_only=False)
    data = {
        "planned": args.dry_run,
        "desk": desk,
        **update_data(done),
        "finished": done.is_finished,
        "waiting": list(out.waiting),
        "asked": [row for _, row in asked],
        "refused": [
            {"commit": head.head, "name": head.who, "paths": list(head.paths), "let_in": list(ways)}
            for head, ways in zip(out.refused, letting, strict=True)
        ],
        "away": out.away or None,
        "more": out.more,
        "lacking": out.lacking,
        "parts": list(out.parts),
        "parts_lost": out.is_lost,
        "sources": list(done.taken.sources),
        "versions": list(done.taken.versions),
        "decided": list(done.taken.decided),
        "unmapped": other,
        "news": news,
        "next": following or None,
    }
    lines = [
        *_update_lines(vault, done, desk, other, news, planned=args.dry_run),
        *_not_taken_lines(out, asked, letting, update_of(desk, is_only=len(desks(vault)) == 1)),
        *([f"Next: {told}"] if told else []),
    ]
    return Answer(data, "\n".join(lines), EXIT_PERSON if needs_person else EXIT_DONE)


def _after_update(
    context: Context, vault: Vault, desk: str, done: Updated, peer: str, asked: Sequence[_Asked]
) -> tuple[str, str]:
    """Return the command to run next, or nothing, and what a person is told of it: where they choose, the choices."""
    if done.conflict:
        return _deciding(vault, desk, done.conflict.id)
    if asked and not (done.is_unfinished or done.moves.kept):
        return _before_taking(vault, asked)
    following = _after_writing(context, vault, desk, done, peer)
    return following, following


def _before_taking(vault: Vault, asked: Sequence[_Asked]) -> tuple[str, str]:
    """Return what is next where conflicts keep something out: as `_after_update`."""
    from lazy.conflict_words import deciding_command, next_to_decide, update_command  # mostly nothing waits
    from lazy.conflicts import conflict_named

    if len(asked) > 1:
        return "lace conflicts", "lace conflicts"
    ((conflict, row),) = asked
    if row["ended_by"]:
        return update_command(conflict), update_command(conflict)
    if row["ends_with"]:
        conflict = conflict_named(vault, row["ends_with"]["id"])
    return next_to_decide(conflict), deciding_command(vault, conflict)


def _deciding(vault: Vault, desk: str, noted: str) -> tuple[str, str]:
    """Return what is next after an update that changed nothing, for both sides changed a file: as `_after_update`."""
    from lazy.conflict_words import deciding_command, next_to_decide, update_desk  # mostly no clash
    from lazy.conflicts import conflict_named

    if not noted:  # a dry run notes none
        return update_desk(desk), f"{update_desk(desk)}, which notes the conflict; then lace resolve"
    conflict = conflict_named(vault, noted)
    edit = f"edit and lace resolve {noted} --merged {next_version(vault, desk)}"
    return next_to_decide(conflict), f"{deciding_command(vault, conflict)}, or {edit}"


def _after_writing(context: Context, vault: Vault, desk: str, done: Updated, peer: str) -> str:
    """Return the command to run next where nothing is to be decided, or nothing."""
    if done.is_unfinished or done.moves.kept:
        return changes_of(desk) if done.is_unfinished else after_kept(vault, desk)
    if done.revision and done.not_taken.more:
        return as_typed("update", desk, options=as_option("--from", peer) if peer else "")
    if done.revision and not (done.taken.sources or done.taken.decided):  # my own line came, and that comes alone
        from lazy.conflict_words import update_desk
        from lazy.relation import desks_with_news

        if desk in desks_with_news(vault):
            return update_desk(desk)
    release = f"lace release{desk_option(context, vault, desk)}"
    return _first_meeting(vault) or (release if done.relation is Relation.MERGEABLE and done.revision else "")


def _first_meeting(vault: Vault) -> str:
    """Return the command that meets friends, where nothing came from any of them yet."""
    if vault.founding is not None:
        return ""
    from lace_tui.verbs.placing import meeting  # once in the life of a vault
    from lazy.places.registry import places

    return meeting(places(vault))


def _other_news(vault: Vault, desk: str) -> list[str]:
    """Return the other desks here that friends released something for: an update is about one desk alone."""
    if len(desks(vault)) == 1:
        return []
    from lazy.relation import desks_with_news  # a vault with one desk needs none of it

    return [name for name in desks_with_news(vault) if name != desk]


def _update_lines(
    vault: Vault, done: Updated, desk: str, other: Sequence[str], news: Sequence[str], *, planned: bool
) -> list[str]:
    lines = opening_lines(done, "update")
    source = _source(done.taken)
    moves = done.moves
    count = moved_text(moves.written, moves.deleted, planned=planned)
    if done.conflict:
        lines += clash_lines(done.conflict, source)
    elif done.relation is Relation.BEHIND:
        lines.append(f"{source}: {count}.")
    elif done.relation is Relation.MERGEABLE:
        merged = f", {len(done.merged)} merged line by line" if done.merged else ""
        lines.append(f"{source} merged with yours: {count}{merged}.")
    elif done.is_finished or done.is_unfinished:
        lines.append(f"{'That is all there is to do' if planned else 'Now it is finished'}: {count}.")
    elif not done.not_taken.waits_for_person:
        is_whole = not done.not_taken.lacking
        lines.append(_nothing_new(vault, desk, is_whole=is_whole, is_alone=not (other or news)))
    lines += [
        f"{inert(name)} was released too, and has no folder here: {inert(as_typed('desk add', name, 'DIR'))}"
        for name in other
    ]
    lines += [f"{inert(name)} has news too: {inert(update_of(name, is_only=False))}" for name in news]
    if not done.conflict:
        lines += moved_lines(moves.written, moves.deleted)
    lines += ended_lines(done, planned=planned)
    lines += skipped_lines(moves.left_out)
    return lines + kept_lines(vault, desk, moves.kept)


def _not_taken_lines(
    out: NotTakenIn, asked: Sequence[_Asked], letting: Sequence[tuple[str, ...]], update: str
) -> list[str]:
    """Return what stays out, and what would bring it in.

    Args:
        out: it.
        asked: the conflicts that keep something out.
        letting: the commands that let in each head which rules keep out.
        update: the command that takes it in then.
    """
    lines = room_lines(out.more)
    if out.waiting:
        lines.append(f"! Not taken in before you decide: {', '.join(out.waiting)} (see: lace conflicts)")
        lines += _asked_lines(asked)
    if out.lacking:
        what = "1 release is" if out.lacking == 1 else f"{out.lacking} releases are"
        lines.append(f"{what} not all here: lace links")
        lines += parts_lines(out.parts, is_lost=out.is_lost)
    if out.away:
        what = f"{inert(out.away)}, which is yours"
        lines.append(f"! Not taken in, for its content is not here: {what}: lace sync --all")
    for head, ways in zip(out.refused, letting, strict=True):
        lines.append(f"! Not taken in: {inert(head.who)} changed what your desk's rules keep (see: lace desk permits)")
        lines += [f"  {inert(path)}" for path in head.paths[:SHOWN]]
        lines += more_lines(len(head.paths), SHOWN)
        lines.append(f"  To let it in: {inert('; '.join((*ways, update)))}")
    return lines


def _letting_in(vault: Vault, desk: str, head: Refused) -> tuple[str, ...]:
    """Return the commands after which an update takes in what the rules of a desk keep out."""
    from lazy.folder.permitted import letting_in  # mostly nobody has such rules

    return letting_in(vault, desk, head)


def _asked_lines(asked: Sequence[_Asked]) -> list[str]:
    """Return of each conflict what clashes, what is proposed, and how to have all sides, or what ends it."""
    from lace_tui.verbs.conflicts import asked_lines, ending_words  # mostly nothing is in conflict

    lines: list[str] = []
    for one, row in asked:
        ending = ending_words(one, row)
        lines += [f"  {one.id}: {ending}"] if ending else asked_lines(one, row)
    return lines


def _asked(vault: Vault, ids: Sequence[str]) -> list[_Asked]:
    """Return conflicts that keep something out, each with what `conflicts` says of it."""
    if not ids:
        return []
    from lace_tui.verbs.conflicts import conflicts_data  # mostly nothing is in conflict
    from lazy.conflicts import conflicts  # as above

    every = conflicts(vault)
    found = [one for one in every if one.id in ids]
    return list(zip(found, conflicts_data(vault, found, every), strict=True))


def _nothing_new(vault: Vault, desk: str, *, is_whole: bool, is_alone: bool) -> str:
    """Return why nothing came; of a desk that nobody released, as before the first sync, my line has not all."""
    if is_whole and highest_version(vault.store, desk) is None:
        return f"Nothing of {desk} was released yet, as far as is known here."
    what = "everything that was released" if is_whole else "all that is here of what was released"
    return f"Nothing new: your line has {what}{'.' if is_alone else f' of {desk}.'}"


def _source(taken: TakenIn) -> str:
    """Return whose work is taken, as a sentence begins with it; a name stays as it is."""
    return inert(taken.whose) or taken.source[0].upper() + taken.source[1:]
