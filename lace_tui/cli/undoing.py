"""`undo`: the last local act taken back, or what would answer it."""

from __future__ import annotations

import argparse

from lace_tui.cli.context import Context
from lace_tui.cli.errors import EXIT_DONE, EXIT_PERSON
from lace_tui.cli.folder import UNFINISHED, kept_lines, moved_lines, moved_text
from lace_tui.cli.inert import inert
from lace_tui.cli.output import Answer
from lazy.undo import undo

__all__ = ["configure", "run"]


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the dry run."""
    del verb
    parser.add_argument("--dry-run", action="store_true", help="say what would be taken back, and change nothing")


def run(context: Context, args: argparse.Namespace) -> Answer:
    """Take back, and say what."""
    with context.open_vault() as vault, context.watching() as watch:
        done = undo(vault, dry_run=args.dry_run, watch=watch)
        late = kept_lines(vault, done.desk, done.kept)
    data = {
        "undone": None if args.dry_run else done.what,
        "would_undo": done.what if args.dry_run else None,
        "desk": done.desk or None,
        "revision": done.revision,
        "written": list(done.written),
        "deleted": list(done.deleted),
        "kept": list(done.kept),
        "unfinished": done.is_unfinished,
    }
    lead = "Would be undone: " if args.dry_run else ""
    count = moved_text(len(done.written), len(done.deleted), planned=args.dry_run)
    moved = f": {count}" if done.written or done.deleted else ""
    lines = [f"{lead}{inert(done.what)}{moved}.", *moved_lines(done.written, done.deleted)]
    lines += late
    if done.is_unfinished:
        lines.insert(1, UNFINISHED)
    return Answer(data, "\n".join(lines), EXIT_PERSON if done.kept else EXIT_DONE)
