"""What friends changed where my rules do not let them: their heads stay out of my line (CLAY-80)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from lazy.people import label_of
from vault.commands import as_option, as_typed
from vault.desk_folders import desks
from vault.desks.diff import diff_trees
from vault.desks.tree import lookup
from vault.folder.meanwhile import path_as_typed
from vault.names import Version
from vault.permits import Act, Permit, letting, may, permit_options, permits, ruling
from vault.records import RecordHash
from vault.revisions.graph import is_ancestor, merge_bases, newest, only_above
from vault.revisions.history import CommitInfo, commit_info, releases_of
from vault.store import Store
from vault.vault import Vault

__all__ = ["KeptOut", "Refused", "kept_out", "last_refused", "letting_in", "refused"]


class Refused(NamedTuple):
    """A head that is not taken in.

    Args:
        head: the commit.
        who: name of its signer.
        paths: what was changed there and may not be, sorted.
        node: verifier text of its signer.
        rules: those that say so, by path.
        below: what of the same signer this stands on that the same rules keep out: what lets this in lets these in.
    """

    head: RecordHash
    who: str
    paths: tuple[str, ...]
    node: str
    rules: tuple[Permit, ...]
    below: tuple[RecordHash, ...] = ()


class KeptOut(NamedTuple):
    """The same, as a person is told of it.

    Args:
        head: the commit.
        who: name of who released it, else of its signer.
        version: under which it was released; None where it is no release.
        paths: what was changed there and may not be, sorted.
        commands: after which an update takes it in, as they are typed where the person is.
        below: earlier ones that come in with it.
    """

    head: RecordHash
    who: str
    version: Version | None
    paths: tuple[str, ...]
    commands: tuple[str, ...]
    below: tuple[RecordHash, ...] = ()


def refused(vault: Vault, desk: str, mine: RecordHash | None, heads: Sequence[RecordHash]) -> list[Refused]:
    """Return the heads that change paths which their signers may not write, with those paths.

    A change counts as its signer's unless the same stands at the path in my line, or in the last commit on the way by
    somebody who may write there: who merges a friend's work does not make it their own, and who goes back to what a
    friend left behind does. Where histories criss-cross, what differs from any of the common ancestors is a change.

    Args:
        vault: whose rules.
        desk: the desk.
        mine: the head of my line, if any.
        heads: friends' commits that may be taken in.

    Raises:
        MissingObject, TreeError: a tree cannot be read.
    """
    rules = [rule for rule in permits(vault.store, desk) if rule.act is Act.WRITE]
    if not rules:
        return []
    found = []
    for head in heads:
        info = commit_info(vault.store, head)
        bases = merge_bases(vault.store, mine, head).commits if mine is not None else ()
        trees: list[RecordHash | None] = [commit_info(vault.store, base).tree for base in bases]
        changed: dict[str, RecordHash | None] = {}
        for tree in trees or [None]:
            for change in diff_trees(vault.store, tree, info.tree):
                changed[change.path] = change.after.hash if change.after is not None else None
        ways: list[CommitInfo] | None = None
        vouching: dict[Permit, list[CommitInfo]] = {}
        paths, broken = [], set[Permit]()
        for path, now in changed.items():
            rule = ruling(rules, Act.WRITE, path)
            if rule is None or may(vault.store, rule, info.signer, vault.node.text):
                continue
            if ways is None:
                ways = _way(vault, mine, head)
            if rule not in vouching:
                vouching[rule] = _vouching(vault, rule, ways, mine)
            if not any(_stands(vault, commit, path, now) for commit in vouching[rule]):
                paths.append(path)
                broken.add(rule)
        if paths:
            by = tuple(sorted(broken, key=lambda one: one.path))
            found.append(Refused(head, label_of(vault, info.signer), tuple(sorted(paths)), info.signer, by))
    return found


def last_refused(store: Store, found: Iterable[Refused]) -> tuple[Refused, ...]:
    """Return what is not taken in, each once: the last of what one signer made is told for what it stands on.

    Args:
        store: where it is.
        found: all of it, what stands on other ones before these.
    """
    last: list[Refused] = []
    for out in found:
        for at, above in enumerate(last):
            is_same = above.node == out.node and set(out.rules) <= set(above.rules)
            if is_same and is_ancestor(store, out.head, above.head):
                last[at] = above._replace(below=(*above.below, out.head))
                break
        else:
            last.append(out)
    return tuple(last)


def letting_in(vault: Vault, desk: str, out: Refused) -> tuple[str, ...]:
    """Return the commands after which an update takes in a head that my rules keep out: one for each of those rules.

    Each rule then says of everybody else what it says now. They are spelled for where the person is.
    """
    named = f" {as_option('--desk', desk)}" if len(desks(vault)) > 1 else ""
    found = []
    for rule in (letting(vault.store, rule, out.node) for rule in out.rules):
        names = sorted(label_of(vault, node) for node in rule.nodes)
        options = permit_options(rule.act, names, is_white=rule.is_white)
        found.append(as_typed("desk permit", path_as_typed(vault, desk, rule.path or "."), options=f"{options}{named}"))
    return tuple(found)


def kept_out(vault: Vault, desk: str, heads: Sequence[Refused]) -> tuple[KeptOut, ...]:
    """Return what a person is told of heads that are not taken in."""
    found = []
    for out in heads:
        by = next(iter(releases_of(vault.store, [out.head], desk)), None)
        who, version = (label_of(vault, by.node), by.version) if by is not None else (out.who, None)
        found.append(KeptOut(out.head, who, version, out.paths, letting_in(vault, desk, out), out.below))
    return tuple(found)


def _way(vault: Vault, mine: RecordHash | None, head: RecordHash) -> list[CommitInfo]:
    """Return my head and the commits between, those whose trees are here."""
    own = [mine] if mine is not None else []
    way = sorted(only_above(vault.store, {head.text}, {one.text for one in own}))
    found = [commit_info(vault.store, commit) for commit in own + list(map(RecordHash.parse, way))]
    here = vault.store.have([info.tree for info in found])
    return [info for info in found if info.tree in here]


def _vouching(vault: Vault, rule: Permit, ways: Sequence[CommitInfo], mine: RecordHash | None) -> list[CommitInfo]:
    """Return my head, and the last commits on the way by those whom a rule lets write."""
    allowed = [info for info in ways if may(vault.store, rule, info.signer, vault.node.text)]
    last = {mine, *newest(vault.store, [info.hash for info in allowed])}
    return [info for info in allowed if info.hash in last]


def _stands(vault: Vault, commit: CommitInfo, path: str, now: RecordHash | None) -> bool:
    entry = lookup(vault.store, commit.tree, path)
    return (entry.hash if entry is not None else None) == now
