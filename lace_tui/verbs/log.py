"""`log`: what happened, newest first, or who changed a path and when."""

from __future__ import annotations

import argparse
import sys

from lace_tui.cli.context import Context
from lace_tui.cli.folder import desk_of, own_path
from lace_tui.cli.missing import told_if_missing
from lace_tui.cli.output import Answer, times
from lace_tui.errors import BadArguments
from lace_tui.words.inert import inert
from lace_tui.words.times import moment
from lazy.log import lines_of_paths, log_lines
from lazy.people import label_of, node_of
from vault.commands import as_option, as_typed
from vault.desk_folders import known_desk
from vault.plural import few
from vault.typed import masked, shown
from vault.vault import Vault

__all__ = ["configure", "run"]


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the verb's own arguments."""
    del verb
    parser.add_argument("--desk", metavar="D", help="only this desk")
    parser.add_argument("--node", metavar="N", help="only this person")
    parser.add_argument("-n", dest="number", metavar="K", type=int, default=20, help="at most this many (20)")
    parser.add_argument("paths", metavar="PATH", nargs="*", help="only commits that changed something there")


def run(context: Context, args: argparse.Namespace) -> Answer | int:
    """Do what the verb says."""
    with context.open_vault() as vault, told_if_missing(vault):
        return _log(context, args, vault)


def _log(context: Context, args: argparse.Namespace, vault: Vault) -> Answer:
    node = node_of(vault, args.node) if args.node else None
    if args.number < 1:
        raise BadArguments("lace log -n: the number must be at least 1.")
    limit = min(args.number, sys.maxsize)
    found = log_lines(vault, desk=args.desk, node=node, limit=1 if args.paths else limit)
    if args.desk and not found:
        known_desk(vault, args.desk)
    paths: list[str] = []
    if args.paths:
        desk = args.desk or desk_of(context, vault, None)
        for text in args.paths:
            if masked(text) != text:  # a password in it is told to nobody
                raise BadArguments(f"lace log: {shown(text)} is an address, and the log is asked about paths.")
        paths = [own_path(context, vault, path, desk, _log_there) for path in args.paths]
        with context.watching() as watch:
            found = lines_of_paths(vault, desk, paths, node=node, limit=limit, watch=watch)
    names = {who: label_of(vault, who) for who in {line.node for line in found}}
    entries = [
        {
            "hash": line.hash,
            "app": line.app,
            "name": line.name,
            "node": line.node,
            "who": names[line.node],
            "seq": line.seq,
            "lamport": line.lamport,
            **times(line.tai),
            "message": line.message,
            "after_cut": line.after_cut,
            **({"paths": list(line.paths)} if paths else {}),
        }
        for line in found
    ]
    texts = []
    for line in found:
        late = "  (after the cut)" if line.after_cut else ""
        late += f"  ({inert(few(line.paths))})" if list(line.paths) != paths else ""
        texts.append(f"{moment(line.tai.to_utc_iso())}  {inert(line.sentence(names[line.node]))}{late}")
        if context.verbose:
            texts.append(f"    {line.hash}")
    return Answer({"entries": entries}, "\n".join(texts) or "Nothing happened yet.")


def _log_there(desk: str, path: str) -> str:
    return as_typed(f"log {as_option('--desk', desk)}", path)
