"""`desk keep` and `fetch`: how long old releases keep their files here, and asking for what was let go (CLAY-79)."""

from __future__ import annotations

import argparse

from lace_tui.acts.desk_rules import keep_typed
from lace_tui.cli.context import Context
from lace_tui.cli.folder import CASE_HELP, DESK_HELP, desk_path
from lace_tui.cli.output import Answer
from lace_tui.words.folder import SHOWN
from lace_tui.words.inert import inert
from lazy.address import ResolvedCommit, resolve
from lazy.folder.bringing_back import require_there
from vault.content.keeping import fetch, give_up
from vault.plural import more_lines, plural
from vault.vault import Vault

__all__ = ["configure", "run"]


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the verb's own arguments."""
    if verb == "fetch":
        parser.add_argument("address", metavar="[PEER/]DESK[@CASE]", help=CASE_HELP)
        parser.add_argument("path", nargs="?", default="", metavar="PATH", help="only what is there (everything)")
        parser.add_argument("--cancel", action="store_true", help="stop asking, as where nobody has it any more")
        return
    parser.add_argument("path", nargs="?", metavar="PATH", help="with everything below it; . is the whole desk")
    parser.add_argument("newest", nargs="?", metavar="N", help="how many of each member's newest releases, or all")
    parser.add_argument("--desk", metavar="D", help=DESK_HELP)


def run(context: Context, args: argparse.Namespace) -> Answer:
    """Do what the verb says."""
    with context.open_vault() as vault:
        if context.verb == "fetch":
            return _fetch(context, args, vault)
        return Answer(*keep_typed(vault, context.cwd.absolute(), args))


def _fetch(context: Context, args: argparse.Namespace, vault: Vault) -> Answer:
    found = resolve(vault, args.address)
    path = desk_path(context, vault, args.path, found.desk) if args.path else ""
    require_there(vault, path, found)
    if args.cancel:
        return _give_up(vault, found, path)
    asked = fetch(vault, found.tree, path)
    if not asked:
        return Answer({"asked": [], "next": None}, "Nothing there was let go.")
    following = "lace sync --all"
    lines = _listed(f"{plural(len(asked), 'file')} of {inert(found.what)} asked for:", asked)
    return Answer({"asked": asked, "next": following}, "\n".join([*lines, f"Next: {following}"]))


def _give_up(vault: Vault, found: ResolvedCommit, path: str) -> Answer:
    given, begun = give_up(vault, found.tree, path)
    lines = _listed(f"{plural(len(given), 'file')} of {inert(found.what)} asked for no longer:", given) if given else []
    lines += _listed(f"{plural(len(begun), 'file')} came in part, and still asked for:", begun) if begun else []
    lines += ["Next: lace prune, which lets go of these again"] if begun else []
    data = {"cancelled": given, "in_part": begun, "next": "lace prune" if begun else None}
    return Answer(data, "\n".join(lines) or "Nothing there was asked for.")


def _listed(first: str, paths: list[str]) -> list[str]:
    return [first, *(f"  {inert(path)}" for path in paths[:SHOWN]), *more_lines(len(paths), SHOWN)]
