"""`merge`: a line into a desk of mine by a named strategy (CLAY-72 to CLAY-78)."""

from __future__ import annotations

import argparse

from lace_tui.cli.context import Context
from lace_tui.cli.output import Answer
from lace_tui.errors import EXIT_DONE, EXIT_PERSON, BadArguments
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
    skipped_lines,
    update_data,
)
from lazy.address import resolve
from lazy.conflict_words import deciding_command, next_to_decide
from lazy.conflicts import conflict_named
from lazy.files import write_lazy_files
from lazy.folder.desk_merge import merge_desk
from lazy.folder.updated import Updated
from vault.commands import as_typed, as_word
from vault.desk_folders import known_desk
from vault.desks.strategies import Strategy
from vault.revisions.history import Relation, commit_info

__all__ = ["configure", "run"]

_WORDS = {
    Strategy.INIT: "begin an empty desk with that line's state",
    Strategy.FINE: "go forward if that line contains yours; else fail",
    Strategy.MEET: "both sides' changes, if they are in different files",
    Strategy.MATE: "both sides' changes, if they are in different parts of files",
    Strategy.MELD: "both sides' changes; where they clash, as it was in the merge base",
    Strategy.ONLY_THIS: "exactly your content, as a merge",
    Strategy.ONLY_THAT: "exactly that line's content, as a merge",
    Strategy.TAKE_THIS: "your content, and files that only that line has",
    Strategy.TAKE_THAT: "that line's content, and files that only you have",
    Strategy.MEET_THIS: "as meet; your file where both changed it",
    Strategy.MEET_THAT: "as meet; that line's file where both changed it",
}


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add what is merged, into what, and how."""
    del verb
    parser.add_argument("desk", metavar="DESK", help="your desk; its folder follows")
    parser.add_argument("--from", dest="that", metavar="[PEER/]DESK[@CASE]", required=True, help="what is merged")
    words = "; ".join(f"{strategy}: {text}" for strategy, text in _WORDS.items())
    parser.add_argument("--strategy", metavar="S", required=True, help=words)
    parser.add_argument("--dry-run", action="store_true", help="say what would happen, and change nothing")


def run(context: Context, args: argparse.Namespace) -> Answer:
    """Do what the verb says.

    Raises:
        BadArguments: there is no such strategy, or what is to be merged is no commit.
        NoMergeBase, NotFastForward, DeskNotEmpty: it does not fit the two histories.
        NotYet, NotShared, Never: what is to be merged cannot be read.
    """
    try:
        strategy = Strategy(args.strategy)
    except ValueError as error:
        raise BadArguments(
            f"There is no strategy {args.strategy!r}.", hint=f"Take one of: {', '.join(Strategy)}."
        ) from error
    with context.open_vault() as vault:
        desk = known_desk(vault, args.desk)
        that = resolve(vault, args.that)
        if that.tree != commit_info(vault.store, that.commit).tree:
            raise BadArguments(
                f"lace merge: {inert(that.what)} is a state that was kept, and no commit that could be merged.",
                hint=f"Bring it back, or a path of it, and commit that: {as_typed('checkout', that.what)}",
            )
        with context.watching() as watch:
            done = merge_desk(vault, desk, that, strategy, dry_run=args.dry_run, watch=watch)
        if not args.dry_run:
            write_lazy_files(vault)
        noted = conflict_named(vault, done.conflict.id) if done.conflict and done.conflict.id else None
        following = next_to_decide(noted) if noted else after_kept(vault, desk) if done.moves.kept else ""
        following = changes_of(desk) if done.is_unfinished else following
        told = deciding_command(vault, noted) if noted and not done.is_unfinished else following
        if args.dry_run and done.conflict:  # which notes none
            following = as_typed("merge", desk, options=f"--from {as_word(args.that)} --strategy {strategy}")
            told = f"{following}, which notes the conflict; then lace resolve"
        late = kept_lines(vault, desk, done.moves.kept)
    data = {
        "planned": args.dry_run,
        "desk": desk,
        "from": that.what,
        "strategy": strategy,
        **update_data(done),
        "finished": done.is_finished,
        "next": following or None,
    }
    lines = _lines(done, that.what, late, planned=args.dry_run)
    if told:
        lines.append(f"Next: {told}")
    return Answer(data, "\n".join(lines), EXIT_PERSON if done.conflict or done.moves.kept else EXIT_DONE)


def _lines(done: Updated, that: str, late: list[str], *, planned: bool) -> list[str]:
    lines = opening_lines(done, "merge")
    count = moved_text(done.moves.written, done.moves.deleted, planned=planned)
    if done.conflict:
        return lines + clash_lines(done.conflict, inert(that))
    match done.relation:
        case Relation.BEHIND:
            lines.append(f"Your line goes forward to {inert(that)}: {count}.")
        case Relation.MERGEABLE:
            lines.append(f"{inert(that)} merged: {count}.")
        case _:
            lines.append(f"Nothing to do: your line has {inert(that)} already.")
    lines += [*moved_lines(done.moves.written, done.moves.deleted), *ended_lines(done, planned=planned)]
    return [*lines, *skipped_lines(done.moves.left_out), *late]
