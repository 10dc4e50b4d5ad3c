"""`cat`: a file as it is in any revision or release."""

from __future__ import annotations

import argparse

from lace_tui.cli.context import Context
from lace_tui.cli.folder import CASE_HELP, desk_path
from lace_tui.cli.missing import told_if_missing
from lace_tui.errors import EXIT_DONE
from lazy.address import resolve
from lazy.folder.bringing_back import require_there
from vault.commands import as_typed
from vault.desks.chunks import check_here, entry_pieces
from vault.desks.edit import NoSuchPath
from vault.desks.tree import lookup
from vault.vault import Vault

__all__ = ["configure", "run"]


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the verb's own arguments."""
    del verb
    parser.add_argument("address", metavar="[PEER/]DESK[@CASE]", help=CASE_HELP)
    parser.add_argument("path", metavar="PATH", help="a file, named from the folder you are in")


def run(context: Context, args: argparse.Namespace) -> int:
    """Do what the verb says."""
    with context.open_vault() as vault, told_if_missing(vault, args.address, args.path):
        return _cat(context, args, vault)


def _cat(context: Context, args: argparse.Namespace, vault: Vault) -> int:
    found = resolve(vault, args.address)
    path = desk_path(context, vault, args.path, found.desk)
    require_there(vault, path, found)
    entry = lookup(vault.store, found.tree, path) if path else None
    if entry is None or entry.is_dir:
        way = f"Name a file in it; see what it has: {as_typed('read y', found.what, args.path)}"
        raise NoSuchPath(f"{path or '.'} is a folder in {found.what}.", hint=way)
    check_here(vault.store, entry)
    for piece in entry_pieces(vault.store, entry):
        context.write_bytes(piece)
    return EXIT_DONE
