"""Who may write and who may read at a path of a desk: white and black lists, kept by each for its own line (CLAY-80).

A rule is about a path and everything below it; the rule with the longest path that fits decides. Where there is none,
everybody may do both. To *write* is to have a change taken into my line by `update` or `merge`. To *read* is to be
sent what I share; `vault.readers` says how.

The rules are mine, like the line: friends are not told of them, and they bind nobody but this vault.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from vault.commands import as_word
from vault.desks.paths import is_at_or_below, split_path
from vault.errors import CallerError
from vault.kept_rows import kept_rows
from vault.notes.rules import MOST_RULES, PERMITS
from vault.persons import linked
from vault.store import Store
from vault.vault import Vault
from vault.writer import Writer

__all__ = ["Act", "BadPermit", "NotPermitted", "Permit", "letting", "may", "permit_around", "permit_options", "permits"]
__all__ += ["ruling", "set_permit", "shut"]


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
        return is_at_or_below(path, [self.path])


def permits(store: Store, desk: str) -> tuple[Permit, ...]:
    """Return the rules of a desk, by path, then act.

    Raises:
        RulesDamaged: they rotted (APP-13); that is never taken for no rules, by which everybody may read all.
    """
    return kept_rows(store, PERMITS, desk, _as_kept, f"Who may read and write in the desk {desk}")


def _as_kept(path: str, act: str, is_white: bool, nodes: tuple[str, ...]) -> Permit:
    return Permit(path, Act(act), is_white, nodes)


def shut(store: Store, desk: str) -> None:
    """Let nobody else read or write in a desk, in place of rules that rotted; inside a transaction."""
    _keep(store, desk, [Permit("", act, is_white=True, nodes=()) for act in Act])


def set_permit(vault: Vault, desk: str, rule: Permit) -> None:
    """Keep a rule in place of the one for its path and act; a black list of nobody takes it back where none is above.

    Raises:
        BadPermit: there are too many.
        RulesDamaged: those that are there cannot be read; nothing was changed.
        Locked, StoreUnwritable: it cannot be kept.
    """
    with vault.writing() as w:
        others = [old for old in permits(w.store, desk) if (old.path, old.act) != (rule.path, rule.act)]
        if rule.is_white or rule.nodes or ruling(others, rule.act, rule.path) is not None:
            others.append(rule)
        _keep(w.store, desk, others)
        _tell(w, desk, rule)


def permit_around(w: Writer, desk: str, around: str, below: str) -> tuple[Permit, ...]:
    """Let the rules of a desk about a folder in it hold on there, now that it is one of a desk of its own.

    Of what a desk has rules about itself, those are what its person wants; the others are taken over.

    Args:
        w: the write that maps the folder.
        desk: what the folder becomes.
        around: the desk around it.
        below: where the folder lies, relative to that one.

    Returns:
        The rules that the desk has from there now, by path, then act.

    Raises:
        BadPermit: there are too many.
        RulesDamaged: those of either cannot be read.
    """
    own, outer = permits(w.store, desk), permits(w.store, around)
    found = [replace(rule, path=rule.path[len(below) + 1 :]) for rule in outer if rule.path.startswith(f"{below}/")]
    found += [replace(rule, path="") for act in Act if (rule := ruling(outer, act, below)) is not None]
    acts = {rule.act for rule in own}
    taken = [rule for rule in found if rule.act not in acts and (rule.path or rule.is_white or rule.nodes)]
    if taken:
        _keep(w.store, desk, [*own, *taken])
    taken.sort(key=_order)
    for rule in taken:
        _tell(w, desk, rule)
    return tuple(taken)


def _keep(store: Store, desk: str, rules: Sequence[Permit]) -> None:
    if len(rules) > MOST_RULES:
        raise BadPermit(f"A desk has at most {MOST_RULES} rules.")
    kept = sorted(rules, key=_order)
    store.set_note(PERMITS, tuple((each.path, each.act, each.is_white, each.nodes) for each in kept), desk)


def _tell(w: Writer, desk: str, rule: Permit) -> None:
    """Note in the audit trail that a desk has a rule."""
    told = {"act": rule.act, "only" if rule.is_white else "not": " ".join(rule.nodes)}
    w.audit("lace-permit", f"{desk}/{rule.path}".rstrip("/"), told)


def _order(rule: Permit) -> tuple[str, Act]:
    return rule.path, rule.act


def ruling(rules: Iterable[Permit], act: Act, path: str) -> Permit | None:
    """Return the rule that decides at a path, or None."""
    return max(
        (rule for rule in rules if rule.act is act and rule.covers(path)), key=lambda r: len(r.path), default=None
    )


def letting(store: Store, rule: Permit, node: str) -> Permit:
    """Return a rule as it would be if it let a node do what it is about, and said the same of everybody else."""
    nodes = {*rule.nodes, node} if rule.is_white else set(rule.nodes) - linked(store, node)
    return replace(rule, nodes=tuple(sorted(nodes)))


def permit_options(act: str, names: Sequence[str], *, is_white: bool) -> str:
    """Return what stands behind the path where a rule about these people is typed."""
    who = " ".join(["--only" if is_white else "--not", *map(as_word, names)]) if names else "--anyone"
    return f"--{act} {who}"


def may(store: Store, rule: Permit | None, node: str, me: str) -> bool:
    """Tell whether a rule lets a node do what it is about; I and my other keys always may."""
    if rule is None:
        return True
    person = linked(store, node)
    return me in person or rule.is_white != person.isdisjoint(rule.nodes)
