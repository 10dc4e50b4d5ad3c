"""Change sets in files: `diff --changes` writes one, `commit --changes` takes one in."""

from __future__ import annotations

import json
from pathlib import Path

from lace_tui.cli.context import Context
from lazy.address import ResolvedCommit
from vault.desks.changeset import ChangeSet, change_set, parse, values
from vault.desks.edit import select_paths
from vault.desks.memory import MemoryObjects
from vault.desks.patches import PatchMismatch
from vault.files import read_bounded
from vault.vault import Vault

__all__ = ["read_changes", "write_changes"]

_LIMIT = 256 << 20  # bytes of one file of changes


def write_changes(
    context: Context, vault: Vault, before: ResolvedCommit, after: ResolvedCommit, path: str = ""
) -> None:
    """Write what leads from one tree to another, at and below a path of both, to standard output."""
    objects = MemoryObjects(fallback=vault.store)
    tree = select_paths(objects, objects, vault.group, before.tree, after.tree, [path])
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
