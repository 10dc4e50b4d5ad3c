"""`desks`, `desk add` and `label`: the desks of this vault, a sub-folder as one of them, and names of revisions."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from lace_tui.acts.desk_rules import desk_add, desk_row
from lace_tui.cli.context import Context
from lace_tui.cli.folder import DESK_HELP, desk_of
from lace_tui.cli.missing import told_if_missing
from lace_tui.cli.output import Answer
from lace_tui.words.inert import inert
from vault.commands import as_typed
from vault.desk_folders import desks
from vault.revisions.history import releases
from vault.revisions.labels import set_label
from vault.vault import Vault

__all__ = ["configure", "run"]


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the verb's own arguments."""
    if verb == "desk add":
        parser.add_argument("name", metavar="NAME", help="its name, the same for every friend who shares it")
        parser.add_argument(
            "folder", metavar="DIR", help="a sub-folder of the shared folder; it is made if it is not there"
        )
    elif verb == "label":
        parser.add_argument("name", metavar="NAME", help="starts with a letter; used once")
        parser.add_argument("--desk", metavar="D", help=DESK_HELP)


def run(context: Context, args: argparse.Namespace) -> Answer | int:
    """Do what the verb says."""
    with context.open_vault() as vault, told_if_missing(vault):
        return _VERBS[context.verb](context, args, vault)


def _desks(context: Context, args: argparse.Namespace, vault: Vault) -> Answer:
    del context, args
    rows = [desk_row(vault, desk) for desk in desks(vault)]
    known = {row["desk"] for row in rows}
    elsewhere = sorted({found.desk for found in releases(vault.store)} - known)

    def text(_paint: object) -> str:
        lines = [
            f"{inert(row['desk'])}  revision {row['revision']}  {row['shown']}  {inert(str(row['folder']))}"
            + (f"  with {inert(', '.join(row['kept']))}" if row["kept"] else "")
            for row in rows
        ]
        lines += [
            f"{inert(desk)}  of a friend; map it with: {inert(as_typed('desk add', desk, 'DIR'))}" for desk in elsewhere
        ]
        return "\n".join(lines)

    return Answer({"desks": rows, "unmapped": elsewhere}, text)


def _desk_add(context: Context, args: argparse.Namespace, vault: Vault) -> Answer:
    return Answer(*desk_add(vault, context.cwd.absolute(), args))


def _label(context: Context, args: argparse.Namespace, vault: Vault) -> Answer:
    made = set_label(vault, args.name, desk_of(context, vault, args.desk))
    travels = "Friends get it at the next sync." if made.is_shared else "It travels with the next release."
    since = "already." if made.already else f"from now on. {travels}"
    data = {name: getattr(made, name) for name in ("label", "desk", "revision", "record", "already")}
    data["shared"] = made.is_shared
    return Answer(data, f"{inert(made.desk)} revision {made.revision} is {inert(made.label)} {since}")


_VERBS: dict[str, Callable[[Context, argparse.Namespace, Vault], Answer]] = {
    "desks": _desks,
    "desk add": _desk_add,
    "label": _label,
}
