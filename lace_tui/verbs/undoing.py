"""`undo`: the last local act taken back, or what would answer it."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from functools import partial
from typing import Any

from lace_tui.cli.context import Context
from lace_tui.cli.output import Answer
from lace_tui.cli.unanswered import answered_once
from lace_tui.errors import EXIT_DONE, EXIT_PERSON
from lace_tui.words.inert import inert
from lace_tui.words.written import (
    UNFINISHED,
    kept_as_lines,
    kept_lines,
    moved_lines,
    moved_text,
    planned_kept_lines,
    skipped_data,
    skipped_lines,
)
from lazy.folder.last_act import Undone
from lazy.folder.unanswered import AGAIN, moved_again, note_answer, unanswered
from lazy.folder.undo import undo
from vault.folder.checkout_journal import is_unfinished
from vault.vault import Vault
from vault.writer import Writer

__all__ = ["configure", "run"]


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the dry run."""
    del verb
    parser.add_argument("--dry-run", action="store_true", help="say what would be taken back, and change nothing")


def run(context: Context, args: argparse.Namespace) -> Answer:
    """Take back, and say what."""
    if args.dry_run:
        with context.open_vault() as vault:
            return _undo(context, vault, is_dry=True)
    return answered_once(context, partial(_undo, context, is_dry=False))


def _undo(context: Context, vault: Vault, *, is_dry: bool) -> Answer:
    known = unanswered(vault, "undo", [])
    if known is not None and not (known["desk"] and is_unfinished(vault, known["desk"])):
        return _answer(vault, _done_before(vault, known), is_dry=False, is_again=True)
    with context.watching() as watch:
        done = undo(vault, dry_run=is_dry, watch=watch, noted=partial(_note, vault))
        if known is not None and done.kept_as == known.get("kept_as"):  # one that was cut off, and goes on
            done = done._replace(lone=tuple(known.get("lone", ())))
        return _answer(vault, done, is_dry=is_dry)


def _note(vault: Vault, w: Writer, done: Undone) -> None:
    made = {name: getattr(done, name) for name in ("what", "desk", "revision", "lone", "kept_as", "pushed_out")}
    note_answer(w, vault, "undo", [], made, done.desk if done.written or done.deleted else "")


def _done_before(vault: Vault, known: Mapping[str, Any]) -> Undone:
    """Return what the last undo took back, where nobody was told of it."""
    moved = moved_again(vault, known["moves"])
    done = Undone(known["what"], known["desk"], known["revision"], **moved._asdict())
    return done._replace(
        lone=tuple(known.get("lone", ())), kept_as=known.get("kept_as", ""), pushed_out=known.get("pushed_out", "")
    )


def _answer(vault: Vault, done: Undone, *, is_dry: bool, is_again: bool = False) -> Answer:
    late = kept_lines(vault, done.desk, done.kept)
    data = {
        "undone": None if is_dry else done.what,
        "would_undo": done.what if is_dry else None,
        "desk": done.desk or None,
        "revision": done.revision,
        "written": list(done.written),
        "deleted": list(done.deleted),
        "kept": list(done.kept),
        "lone": list(done.lone),
        "kept_as": done.kept_as or None,
        "pushed_out": done.pushed_out or None,
        "skipped": skipped_data(done.left_out),
        "unfinished": done.is_unfinished,
        "already": is_again,
    }
    count = moved_text(done.written, done.deleted, planned=is_dry)
    moved = f": {count}" if done.written or done.deleted else ""
    lines = [f"{inert(done.what)}{moved}.", *moved_lines(done.written, done.deleted)]
    lines += [*planned_kept_lines(done)] if done.kept_as == "" else kept_as_lines(vault, done)
    lines += [*skipped_lines(done.left_out), *late]
    if is_again:
        lines.insert(1, AGAIN)
    if done.is_unfinished:
        lines.insert(1, UNFINISHED)
    return Answer(data, "\n".join(lines), EXIT_PERSON if done.kept else EXIT_DONE)
