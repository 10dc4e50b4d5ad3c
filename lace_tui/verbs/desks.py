"""`desks`, `desk add` and `label`: the desks of this vault, a sub-folder as one of them, and names of revisions."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from lace_tui.cli.context import Context
from lace_tui.cli.folder import DESK_HELP, desk_of, desk_path
from lace_tui.cli.inert import inert
from lace_tui.cli.missing import told_if_missing
from lace_tui.cli.output import Answer
from lace_tui.cli.permits import permit_text, permit_values
from vault.commands import as_option, as_typed
from vault.desk_folders import Desk, add_desk, desks, mapped_folder, unmapped
from vault.desks.ignore import IGNORE_FILE
from vault.folder.unshared import OthersPath, paths_of_others, unshared_of, way_to_take_out
from vault.plural import few, plural
from vault.revisions.history import commit_info, line_head, releases, shown_version, unreleased
from vault.revisions.kept_states import kept_states
from vault.revisions.labels import labels, set_label
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
    rows = [_desk_row(vault, desk) for desk in desks(vault)]
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


def _desk_row(vault: Vault, desk: Desk) -> dict[str, Any]:
    head = line_head(vault.store, vault.node.text, desk.name)
    own = max((found.version for found in releases(vault.store, desk.name, node=vault.node.text)), default=None)
    return {
        "desk": desk.name,
        "folder": mapped_folder(vault, desk.name),
        "revision": head.number if head else 0,
        "version": own,
        "unreleased": unreleased(vault, desk.name),
        "shown": shown_version(vault, desk.name),
        "labels": labels(vault.store, vault.node.text, desk.name),
        "kept": [state.label for state in kept_states(vault.store, desk.name)],
    }


def _desk_add(context: Context, args: argparse.Namespace, vault: Vault) -> Answer:
    is_known = args.name in unmapped(vault)
    made = add_desk(vault, args.name, desk_path(context, vault, args.folder, is_on_disk=True))
    first = f"lace release 1.0.0 {as_option('--desk', made.name)}"
    following = inert(as_typed("update", made.name) if is_known else first)
    head = line_head(vault.store, vault.node.text, made.name)
    following = f"\nNext: {following}" if head is None else ""
    since = "already" if made.already else "from now on, and main leaves it alone"
    told = "".join(f"\n{inert(desk)} was moved with it." for desk in made.along)
    if made.held_around:
        around = inert(made.held_around)
        told += f"\nWhat {IGNORE_FILE} of {around} keeps out stays out of it too, until you commit it by name."
    if made.permits:
        told += "\nRules of the desk around it hold in it, until you change them with lace desk permit:"
        for owner, rule in made.permits:
            told += f"\n  {permit_text(vault, rule)}" + (f"  in {inert(owner)}" if owner != made.name else "")
    still, sentences = _still_elsewhere(vault, made)
    told += "".join(f"\n{inert(sentence)}" for sentence in sentences)
    return Answer(
        {
            "desk": made.name,
            "folder": vault.folder / made.dir,
            "revision": head.number if head else 0,
            "already": made.already,
            "unshared": still,
            "permits": [{"desk": owner, **permit_values(vault, rule)} for owner, rule in made.permits],
        },
        f"{inert(made.dir)} is the desk {inert(made.name)} {since}.{told}{following}",
    )


def _still_elsewhere(vault: Vault, made: Desk) -> tuple[list[str], list[str]]:
    """Return what other desks hold of a new or moved one and nobody has yet, and what to say of that."""
    still: list[str] = []
    said: list[str] = []
    for desk in desks(vault):
        head = line_head(vault.store, vault.node.text, desk.name)
        if head is None:
            continue
        tree = commit_info(vault.store, head.commit).tree
        for at in paths_of_others(vault, desk.name):
            if at.owner not in {made.name, *made.along}:
                continue
            found = unshared_of(vault, desk.name, tree, at)
            found = [name for name in found if name not in still]
            if found:
                still += found
                said.append(_still_said(vault, desk.name, at, found))
    return still, said


def _still_said(vault: Vault, desk: str, at: OthersPath, found: list[str]) -> str:
    goes = "which goes" if len(found) == 1 else "which go"
    out = f"Take it out of that: {way_to_take_out(vault, desk, at, found)}"
    held = f"{plural(len(found), 'file')} of it" if at.left is None else f"{few(found)}, where it lay before"
    return f"{desk} still holds {held}, {goes} with its next release. {out}"


def _label(context: Context, args: argparse.Namespace, vault: Vault) -> Answer:
    made = set_label(vault, args.name, desk_of(context, vault, args.desk))
    travels = "Friends get it at the next sync." if made.is_shared else "It travels with the next release."
    since = "already." if made.already else f"from now on. {travels}"
    data = {name: getattr(made, name) for name in ("label", "desk", "revision", "record", "already")}
    return Answer(data, f"{inert(made.desk)} revision {made.revision} is {inert(made.label)} {since}")


_VERBS: dict[str, Callable[[Context, argparse.Namespace, Vault], Answer]] = {
    "desks": _desks,
    "desk add": _desk_add,
    "label": _label,
}
