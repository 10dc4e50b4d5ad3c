"""Who may write and who may read at a path of a desk: white and black lists, kept by each for its own line (CLAY-80).

A rule is about a path and everything below it; the rule with the longest path that fits decides. Where there is none,
everybody may do both. To *write* is to have a change taken into my line by `update` or `merge`. To *read* is to be
sent what I share: lace sends a release whole and to every member, so it makes none that somebody may not read. Members
are those of the moment: what was released goes to whoever any of them admits later, whatever the rules say.

The rules are mine, like the line: friends are not told of them, and they bind nobody but this vault.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from vault.commands import as_option, as_typed
from vault.desk_folders import desk_at, desks, mapped_folder, within
from vault.desks.paths import split_path
from vault.desks.ports import Source
from vault.desks.tree import lookup
from vault.errors import CallerError
from vault.persons import linked
from vault.plural import few
from vault.records import RecordHash
from vault.revisions.unshared import unshared_at, way_to_take_out
from vault.store import Store
from vault.vault import Vault

__all__ = ["MAX_RULES", "Act", "BadPermit", "NotPermitted", "Permit", "check_readers", "may", "permits", "ruling"]
__all__ += ["set_permit"]

MAX_RULES = 1_000
_KEY = "permits "  # setting of the store: one desk's rules


class Act(StrEnum):
    """What a rule is about."""

    READ = "read"
    WRITE = "write"


class NotPermitted(CallerError):
    """A rule of this desk does not let somebody read or write at a path."""

    code = "not-permitted"
    exit_code = 2
    hint = "See the rules with: lace desk permits - and change one with: lace desk permit"


class BadPermit(CallerError):
    """A desk has too many rules."""

    code = "bad-permit"
    exit_code = 2
    hint = "Take a rule back with: lace desk permit PATH --write --anyone"


@dataclass(frozen=True, slots=True)
class Permit:
    """One rule.

    Args:
        path: relative to the desk; empty for all of it.
        act: what it is about.
        is_white: whether the list names those who may, or those who may not.
        nodes: verifier texts, sorted; another key of the same person counts as listed.
    """

    path: str
    act: Act
    is_white: bool
    nodes: tuple[str, ...]

    def __post_init__(self) -> None:
        if "/".join(split_path(self.path)) != self.path:
            raise BadPermit(f"{self.path} is not a path in a desk.")
        if self.nodes != tuple(sorted(set(self.nodes))):
            raise BadPermit("The people of a rule are sorted, each once.")

    def covers(self, path: str) -> bool:
        """Tell whether a path is this one or below it; whole names count (H-38)."""
        return not self.path or path == self.path or path.startswith(self.path + "/")


def permits(store: Store, desk: str) -> tuple[Permit, ...]:
    """Return the rules of a desk, by path, then act."""
    text = store.meta(_KEY + desk)
    if not text:
        return ()
    return tuple(
        Permit(str(path), Act(act), bool(is_white), tuple(map(str, nodes)))
        for path, act, is_white, nodes in json.loads(text)
    )


def set_permit(vault: Vault, desk: str, rule: Permit) -> None:
    """Keep a rule in place of the one for its path and act; a black list of nobody takes it back where none is above.

    Raises:
        BadPermit: there are too many.
        Locked, StoreUnwritable: it cannot be kept.
    """
    with vault.writing() as w:
        others = [old for old in permits(w.store, desk) if (old.path, old.act) != (rule.path, rule.act)]
        if rule.is_white or rule.nodes or ruling(others, rule.act, rule.path) is not None:
            others.append(rule)
        if len(others) > MAX_RULES:
            raise BadPermit(f"A desk has at most {MAX_RULES} rules.")
        kept = sorted(others, key=lambda each: (each.path, each.act))
        text = json.dumps([[each.path, each.act, each.is_white, each.nodes] for each in kept], ensure_ascii=False)
        w.store.set_meta(_KEY + desk, text if kept else "")
        w.audit(
            "lace-permit",
            f"{desk}/{rule.path}".rstrip("/"),
            {"act": rule.act, "only" if rule.is_white else "not": " ".join(rule.nodes)},
        )


def ruling(rules: Iterable[Permit], act: Act, path: str) -> Permit | None:
    """Return the rule that decides at a path, or None."""
    return max(
        (rule for rule in rules if rule.act is act and rule.covers(path)), key=lambda r: len(r.path), default=None
    )


def may(store: Store, rule: Permit | None, node: str, me: str) -> bool:
    """Tell whether a rule lets a node do what it is about; I and my other keys always may."""
    if rule is None:
        return True
    person = linked(store, node)
    return me in person or rule.is_white != person.isdisjoint(rule.nodes)


def check_readers(vault: Vault, desk: str, tree: RecordHash, source: Source | None = None) -> None:
    """Refuse to share a tree that some member may not read all of; `source` has its pages, else the store.

    What it holds in the folder of another desk is for the rules of that one, but for what was released before.

    Raises:
        NotPermitted: it has a path with a rule that leaves a member out.
        MissingObject, TreeError: the tree cannot be read.
    """
    for rule, out in _leaving_out(vault, desk):
        if not rule.path or lookup(source or vault.store, tree, rule.path) is not None:
            where = rule.path or "the whole desk"
            raise NotPermitted(
                f"Friends get a release whole, and {few(out)} may not read {where}.",
                hint=f"Let them with: {_let(vault, desk, rule)} - or move it out of {desk}.",
            )
    for folder in sorted(within(vault, desk)):
        _check_mapped(vault, desk, folder, tree, source)


def _check_mapped(vault: Vault, desk: str, folder: str, tree: RecordHash, source: Source | None) -> None:
    """Refuse what a tree holds in the folder of another desk, and nobody has yet, where that desk's rules forbid it."""
    inner = desk_at(vault, mapped_folder(vault, desk) / folder)
    for rule, out in _leaving_out(vault, inner):
        path = f"{folder}/{rule.path}".rstrip("/")
        fresh = unshared_at(vault, desk, tree, path, source)
        if fresh:
            way = way_to_take_out(vault, desk, folder)
            raise NotPermitted(
                f"Friends get a release whole, and {few(out)} may not read what {desk} still holds of the desk {inner}:"
                f" {few(fresh)}.",
                hint=f"Let them with: {_let(vault, inner, rule)}"
                + (f" - or take it out of {desk}: {way}" if way else "."),
            )


def _leaving_out(vault: Vault, desk: str) -> Iterator[tuple[Permit, list[str]]]:
    """Yield the rules of a desk about reading that leave members out, with their names."""
    rules = [rule for rule in permits(vault.store, desk) if rule.act is Act.READ]
    members = vault.store.rows("SELECT node, label FROM member ORDER BY label, node") if rules else []
    for rule in rules:
        out = [str(label) for node, label in members if not may(vault.store, rule, str(node), vault.node.text)]
        if out:
            yield rule, out


def _let(vault: Vault, desk: str, rule: Permit) -> str:
    return as_typed("desk permit", rule.path or ".", options=f"--read --anyone{_about(vault, desk)}")


def _about(vault: Vault, desk: str) -> str:
    """Return the option that makes a command one about a desk; empty where there is but one."""
    return f" {as_option('--desk', desk)}" if len(desks(vault)) > 1 else ""
