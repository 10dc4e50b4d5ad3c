"""`bundle create` and `bundle apply`: a sync by one file."""

from __future__ import annotations

import argparse
from pathlib import Path

from lace_tui.cli.context import Context
from lace_tui.cli.folder import note_inside, place_of
from lace_tui.cli.output import Answer, Paint
from lace_tui.verbs.sync_report import answer
from lace_tui.words.inert import inert
from lazy.results import HasAll
from lazy.visits.carry import FriendsSteps, apply_bundle, create_bundle, friends_steps
from vault.commands import as_typed

__all__ = ["configure", "run"]


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the file and its options."""
    parser.add_argument("file", metavar="FILE", help="the file")
    if verb == "bundle create":
        parser.add_argument("--for", dest="peer", metavar="NAME", help="leave out what this peer has confirmed")
        parser.add_argument("--encrypt", action="store_true", help="let only members, or only that peer, read it")
    else:
        parser.add_argument("--dry-run", action="store_true", help="say what would come, and change nothing")


def run(context: Context, args: argparse.Namespace) -> Answer:
    """Write or read the file, and answer as a sync does."""
    path = place_of(context, args.file)
    with context.open_vault() as vault, context.watching() as watch:
        if context.verb == "bundle create":
            result = create_bundle(vault, path, peer=args.peer, encrypt=args.encrypt, watch=watch)
            made = answer(context, vault, [path.name], [result], "push")
            if isinstance(result.unmade, HasAll):
                nothing = {"file": None, "already": False, "friend_next": "", "nothing_new": True, "friend_first": None}
                return Answer({**made.data, **nothing}, made.text, exit_code=made.exit_code)
            note_inside(context, path)
            told = (
                ""
                if result.sent or not args.peer
                else f"Nothing in it is new to {inert(args.peer)}: it says only what you have."
            )
            steps = friends_steps(vault, path)
            return _with_step(made, path, told, steps, already=result.unmade is not None)
        result = apply_bundle(vault, path, dry_run=args.dry_run, watch=watch, tells_held=True)
        if args.dry_run:
            result.next = as_typed("bundle apply", args.file)
        return answer(context, vault, [path.name], [result], "pull")


def _with_step(made: Answer, path: Path, told: str, steps: FriendsSteps, *, already: bool) -> Answer:
    """Add to the answer what whoever gets the file types: no command of this vault's own is next."""
    first = made.text

    def text(paint: Paint) -> str:
        lines = [
            first(paint) if callable(first) else first,
            told,
            paint.warn(f"! {steps.first}") if steps.first else "",
        ]
        lines.append(f"Your friend types: {inert(steps.commands)}")
        return "\n".join(line for line in lines if line)

    data = {**made.data, "file": path, "already": already, "friend_next": steps.commands}
    data |= {"nothing_new": bool(told), "friend_first": steps.first or None}
    return Answer(data, text, exit_code=made.exit_code)
