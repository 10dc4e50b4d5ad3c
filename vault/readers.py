"""What is shared of a desk, and whom its rules leave out of that (CLAY-80).

lace sends a release whole and to every member, so it makes none that somebody may not read. Members are those of the
moment: what was released goes to whoever any of them admits later, whatever the rules say.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress

from vault.commands import as_option, as_typed
from vault.desk_folders import desks, mapped_folder
from vault.desks.chunks import MissingObject
from vault.desks.pages import TreeError
from vault.desks.paths import is_at_or_below
from vault.desks.ports import Source
from vault.desks.tree import lookup
from vault.folder.unshared import OthersPath, paths_of_others, unshared_of, way_back, way_to_take_out
from vault.permits import Act, NotPermitted, Permit, may, permits
from vault.plural import few
from vault.records import RecordHash
from vault.revisions.history import commit_info, releases
from vault.vault import Vault

__all__ = ["check_readers", "released_to"]


def released_to(vault: Vault, desk: str, rule: Permit) -> list[str]:
    """Return the versions of a desk that have what a rule keeps members from reading: these stay readable to them.

    Args:
        vault: whose rules.
        desk: the desk.
        rule: one of its rules.

    Returns:
        The versions, lowest first; none where the rule leaves no member out.
    """
    if rule.act is not Act.READ or not _left_out(vault, rule):
        return []
    found = set()
    for release in releases(vault.store, desk):
        # A tree that rotted is told of by what reads it; the rule holds all the same.
        with suppress(MissingObject, TreeError):
            tree = commit_info(vault.store, release.commit).tree
            if not rule.path or lookup(vault.store, tree, rule.path) is not None:
                found.add(release.version)
    return [str(version) for version in sorted(found)]


def check_readers(vault: Vault, desk: str, tree: RecordHash, source: Source | None = None) -> None:
    """Refuse to share a tree that some member may not read all of; `source` has its pages, else the store.

    What it holds in the folder of another desk, or where that lay before, is for the rules of that one, but for what
    was released before.

    Raises:
        NotPermitted: it has a path with a rule that leaves a member out.
        MissingObject, TreeError: the tree cannot be read.
    """
    for rule, out in _leaving_out(vault, desk):
        if not rule.path or lookup(source or vault.store, tree, rule.path) is not None:
            where = rule.path or "the whole desk"
            back = _way_back(vault, desk, rule, tree, source)
            raise NotPermitted(
                f"Friends get a release whole, and {few(out)} may not read {where}.",
                hint=f"Let them with: {_let(vault, desk, rule)} - or "
                + (f"take out of {desk} what is another desk's: {back}" if back else f"move it out of {desk}."),
            )
    for at in paths_of_others(vault, desk):
        _check_others(vault, desk, at, tree, source)


def _check_others(vault: Vault, desk: str, at: OthersPath, tree: RecordHash, source: Source | None) -> None:
    """Refuse what a tree holds of another desk, and nobody has yet, where that desk's rules forbid it."""
    for rule, out in _leaving_out(vault, at.owner):
        fresh = unshared_of(vault, desk, tree, at, rule.path, source)
        if fresh:
            raise NotPermitted(
                f"Friends get a release whole, and {few(out)} may not read what {desk} still holds of the desk"
                f" {at.owner}: {few(fresh)}.",
                hint=f"Let them with: {_let(vault, at.owner, rule)} - or take it out of {desk}:"
                f" {way_to_take_out(vault, desk, at, fresh)}",
            )


def _way_back(vault: Vault, desk: str, rule: Permit, tree: RecordHash, source: Source | None) -> str:
    """Return what takes a part of another desk out of what a rule is about; empty where it is all in the own folder.

    No file can be moved out of that by hand.
    """
    root = mapped_folder(vault, desk)
    for at in paths_of_others(vault, desk) if rule.path else ():
        path = rule.path if is_at_or_below(rule.path, [at.path]) else at.path
        is_away = at.left is None or not os.path.lexists(root / path)
        if is_at_or_below(path, [rule.path]) and is_away and lookup(source or vault.store, tree, path) is not None:
            return way_back(vault, desk, path)
    return ""


def _leaving_out(vault: Vault, desk: str) -> Iterator[tuple[Permit, list[str]]]:
    """Yield the rules of a desk about reading that leave members out, with their names."""
    for rule in permits(vault.store, desk):
        out = _left_out(vault, rule) if rule.act is Act.READ else []
        if out:
            yield rule, out


def _left_out(vault: Vault, rule: Permit) -> list[str]:
    """Return the names of the members whom a rule leaves out, each once: somebody may have several keys."""
    members = vault.store.rows("SELECT node, label FROM member ORDER BY label, node")
    out = [str(label) for node, label in members if not may(vault.store, rule, str(node), vault.node.text)]
    return list(dict.fromkeys(out))


def _let(vault: Vault, desk: str, rule: Permit) -> str:
    return as_typed("desk permit", rule.path or ".", options=f"--read --anyone{_about(vault, desk)}")


def _about(vault: Vault, desk: str) -> str:
    """Return the option that makes a command one about a desk; empty where there is but one."""
    return f" {as_option('--desk', desk)}" if len(desks(vault)) > 1 else ""
