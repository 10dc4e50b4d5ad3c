"""`desk permit` and `desk permits`: who may write and who may read at a path of one's own desk (CLAY-80)."""

from __future__ import annotations

import argparse
import os
from functools import partial
from pathlib import Path

from lace_tui.cli.context import Context
from lace_tui.cli.folder import DESK_HELP, desk_of, desk_path, refuse_other_desk
from lace_tui.cli.inert import inert
from lace_tui.cli.output import Answer
from lace_tui.cli.permits import permit_text, permit_values
from lazy.people import node_of
from vault.commands import as_option, as_typed, as_words
from vault.desk_folders import mapped_folder
from vault.permits import Act, Permit, permits, set_permit
from vault.vault import Vault

__all__ = ["configure", "run"]


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add what a rule is about and whom it names."""
    if verb == "desk permits":
        parser.add_argument("desk", nargs="?", metavar="DESK", help=DESK_HELP)
        return
    parser.add_argument("path", metavar="PATH", help="with everything below it; . is the whole desk")
    act = parser.add_mutually_exclusive_group(required=True)
    act.add_argument("--write", action="store_true", help="whose changes update and merge take in")
    act.add_argument("--read", action="store_true", help="who may be sent it: no release that others would get is made")
    who = parser.add_mutually_exclusive_group(required=True)
    who.add_argument("--only", nargs="+", metavar="NAME", help="these and you")
    who.add_argument("--not", dest="but", nargs="+", metavar="NAME", help="all but these")
    who.add_argument("--anyone", action="store_true", help="everybody, as without a rule")
    parser.add_argument("--desk", metavar="D", help=DESK_HELP)


def run(context: Context, args: argparse.Namespace) -> Answer:
    """Do what the verb says."""
    with context.open_vault() as vault:
        desk = desk_of(context, vault, args.desk)
        if context.verb == "desk permits":
            return _listed(vault, desk)
        nodes = tuple(sorted({node_of(vault, name) for name in (args.only or args.but or ())}))
        act = Act.WRITE if args.write else Act.READ
        rule = Permit(desk_path(context, vault, args.path, desk), act, bool(args.only), nodes)
        known = {(old.path, old.act) for old in permits(vault.store, desk)}
        if not (args.anyone and (rule.path, act) in known):  # one from before the folder was a desk may be taken back
            there = partial(_there, context, args, vault, mapped_folder(vault, desk) / rule.path)
            refuse_other_desk(vault, desk, rule.path, args.path, there)
        set_permit(vault, desk, rule)
        return Answer({"desk": desk, **permit_values(vault, rule)}, permit_text(vault, rule))


def _there(context: Context, args: argparse.Namespace, vault: Vault, target: Path, desk: str, _: str) -> str:
    """Return the command that makes the rule in the desk in whose folder a path lies."""
    inside = target.relative_to(mapped_folder(vault, desk)).as_posix()
    if (desk_path(context, vault, inside, desk) or os.curdir) != inside:  # where the person is it is another path
        inside = os.path.relpath(target, context.cwd)
    act = "--write" if args.write else "--read"
    who = "--anyone" if args.anyone else f"{'--only' if args.only else '--not'} {as_words(*args.only or args.but)}"
    return as_typed("desk permit", inside, options=f"{act} {who} {as_option('--desk', desk)}")


def _listed(vault: Vault, desk: str) -> Answer:
    rules = permits(vault.store, desk)
    text = (
        "\n".join(permit_text(vault, rule) for rule in rules) or f"Everybody may write and read all of {inert(desk)}."
    )
    return Answer({"desk": desk, "permits": [permit_values(vault, rule) for rule in rules]}, text)
