"""Change sets in files: `diff --changes` writes one, `commit --changes` takes one in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

from lace_tui.cli.context import Context
from lazy.address import ResolvedCommit, resolve
from lazy.people import node_of
from vault.desks.changeset import ChangeSet, change_set, parse, values
from vault.desks.edit import apply_changes, select_paths
from vault.desks.memory import MemoryObjects
from vault.desks.patches import PatchMismatch
from vault.files import read_bounded
from vault.revisions.cases import Number, parse_address
from vault.vault import Vault

__all__ = ["EmptyDesk", "read_changes", "side_of", "write_changes"]

_LIMIT = 256 << 20  # bytes of one file of changes


class EmptyDesk(NamedTuple):
    """Revision 0 of a desk, which holds nothing (CLAY-4).

    Args:
        desk: the desk.
        what: the address, for a person.
        tree: none.
    """

    desk: str
    what: str
    tree: None = None


def side_of(vault: Vault, text: str) -> ResolvedCommit | EmptyDesk:
    """Return what one of the two addresses of a change set means.

    Raises:
        As `resolve`, but for revision 0.
    """
    address = parse_address(text)
    if address.case != Number(0):
        return resolve(vault, text)
    if address.peer:
        node_of(vault, address.peer)
    return EmptyDesk(address.desk, str(address))


def write_changes(
    context: Context,
    vault: Vault,
    before: ResolvedCommit | EmptyDesk,
    after: ResolvedCommit | EmptyDesk,
    path: str = "",
) -> None:
    """Write what leads from one tree to another, at and below a path of both, to standard output."""
    objects = MemoryObjects(fallback=vault.store)
    goal = after.tree or apply_changes(objects.of(vault.group), None, {})
    tree = select_paths(objects.of(vault.group), before.tree, goal, [path])
    found = values(change_set(objects, before.tree, tree))
    context.write_bytes(json.dumps(found, ensure_ascii=False, indent=1).encode() + b"\n")


def read_changes(context: Context, name: str) -> ChangeSet:
    """Read a change set from a file, or from standard input for `-`.

    Raises:
        FileMissing, Unreadable: it cannot be read.
        PatchMismatch, PatchUnsupported: it is none.
    """
    if name == "-":
        data = context.world.stdin.buffer.read(_LIMIT + 1)
    else:
        data = read_bounded(context.cwd / Path(name), _LIMIT)
    if len(data) > _LIMIT:
        raise PatchMismatch(f"A file of changes has at most {_LIMIT} bytes.")
    try:
        return parse(json.loads(data))
    except (ValueError, RecursionError) as error:
        raise PatchMismatch("This is not a change set: it cannot be read as JSON.") from error
