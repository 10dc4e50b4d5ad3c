"""`desk permit` and `desk permits`: who may write and who may read at a path of one's own desk (CLAY-80)."""

from __future__ import annotations

import argparse

from lace_tui.acts.desk_rules import permit_typed
from lace_tui.cli.context import Context
from lace_tui.cli.folder import DESK_HELP, desk_of
from lace_tui.cli.output import Answer
from lace_tui.words.inert import inert
from lace_tui.words.permits import permit_text, permit_values
from vault.permits import permits
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
        if context.verb == "desk permits":
            return _listed(vault, desk_of(context, vault, args.desk))
        return Answer(*permit_typed(vault, context.cwd.absolute(), args))


def _listed(vault: Vault, desk: str) -> Answer:
    rules = permits(vault.store, desk)
    text = (
        "\n".join(permit_text(vault, rule) for rule in rules) or f"Everybody may write and read all of {inert(desk)}."
    )
    return Answer({"desk": desk, "permits": [permit_values(vault, rule) for rule in rules]}, text)
