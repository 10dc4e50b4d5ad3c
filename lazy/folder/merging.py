"""Merging heads into one tree, with the one base that the graph gives (architecture, One folder; CLAY-76).

Where histories criss-cross that is a virtual one (`vault.folder.criss_cross`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple

from lazy.people import label_of
from vault.commands import as_typed
from vault.content.keeping import LetGo, explained
from vault.desks.chunks import MissingObject
from vault.desks.memory import MemoryObjects
from vault.desks.merge import MergeOutcome, merge_trees, resolve_with
from vault.desks.path_conflict import PathConflict
from vault.desks.ports import Objects, Source
from vault.desks.tree import read_directory
from vault.folder.brought_paths import base_with_brought
from vault.folder.criss_cross import base_of
from vault.records import RecordHash
from vault.revisions.graph import ancestors, is_ancestor, merge_bases, newest
from vault.revisions.history import ReleaseInfo, commit_info, releases_of
from vault.vault import Vault

__all__ = ["Folded", "MergeStep", "base_between", "fold", "in_order", "is_past", "steps"]
__all__ += ["what_went_named"]


class Folded(NamedTuple):
    """What came of merging several heads.

    Args:
        outcome: of the last pair; without a root it is the first that clashes.
        merged: paths that are neither side's, of all pairs, in the order in which they were merged.
    """

    outcome: MergeOutcome
    merged: tuple[str, ...] = ()


def fold(
    objects: Objects,
    vault: Vault,
    heads: Sequence[RecordHash],
    *,
    ours: RecordHash | None,
    tree: RecordHash | None = None,
    also: Sequence[RecordHash] = (),
) -> Folded:
    """Merge several heads into one tree, mine first; stops at the first pair that does not merge cleanly.

    Args:
        objects: where trees and content are read, and merged ones go; its source sees what goes into the sink.
        vault: whose graph it is.
        heads: commits, none an ancestor of another.
        ours: mine, if any; it need not be one of them where one contains it.
        tree: stands for the first head's tree, when earlier merges or my folder changed it. Where nothing is mine yet,
            it is of a folder before its first commit, which is merged first, and with every head.
        also: further commits that mine contains: equal in content, or merged before.

    Raises:
        LetGo: content of a common ancestor is needed that was let go here; it can be asked for.
        MissingObject, TreeError: a tree or content that has to be merged is not here.
    """
    order, has_mine = in_order(vault, heads, ours)
    is_first = ours is None and tree is not None
    tree = tree or commit_info(vault.store, order[0]).tree
    merged: dict[str, None] = {}
    done = [] if is_first else [*(head for head in also if has_mine and head != order[0]), order[0]]
    outcome = MergeOutcome.clean(tree)
    for head in order if is_first else order[1:]:
        reading = MemoryObjects(fallback=objects.source)  # a virtual base is only read, never kept
        with what_went_named(vault, sorted(_bases(vault, done, head))):
            base = base_between(reading, vault, done, head)
            base = base_with_brought(reading, vault, base, tree, None if is_first else done, [head])
            outcome = merge_trees(
                objects._replace(source=reading),
                base,
                tree,
                commit_info(vault.store, head).tree,
                labels=(_label(vault, done[-1]) if done else label_of(vault, vault.node.text), _label(vault, head)),
            )
        if outcome.root is None:
            return Folded(outcome, tuple(merged))
        merged.update(dict.fromkeys(outcome.merged))
        tree = outcome.root
        done.append(head)
    return Folded(outcome, tuple(merged))


def _bases(vault: Vault, done: Sequence[RecordHash], head: RecordHash) -> set[RecordHash]:
    return {base for known in done for base in merge_bases(vault.store, known, head).commits}


def base_between(
    objects: MemoryObjects, vault: Vault, done: Sequence[RecordHash], head: RecordHash
) -> RecordHash | None:
    """Return the base tree between a head and those that were merged before it, as `base_of` makes it."""
    return base_of(objects, vault, newest(vault.store, _bases(vault, done, head)))


class MergeStep(NamedTuple):
    """One head merged with what those before it gave.

    Args:
        head: it.
        label: who made it, and which release it is.
        before: the tree of those before it.
        outcome: what came of it.
        after: the tree that the next one is merged with; where this one clashes, as it was before.
    """

    head: RecordHash
    label: str
    before: RecordHash
    outcome: MergeOutcome
    after: RecordHash


def steps(
    objects: Objects,
    vault: Vault,
    order: Sequence[RecordHash],
    *,
    tree: RecordHash | None = None,
    also: Sequence[RecordHash] = (),
    is_first: bool = False,
) -> Iterator[MergeStep]:
    """Merge heads as `fold` does, but go on where one clashes with those before it.

    Args:
        objects: as of `fold`.
        vault: whose graph it is.
        order: as `in_order` gives them.
        tree: stands for the first one's tree.
        also: further commits that the first one contains.
        is_first: whether the tree is of a folder before its first commit, with which every head is merged.

    Raises:
        LetGo, MissingObject, TreeError: as `fold`.
    """
    before, done = tree or commit_info(vault.store, order[0]).tree, [] if is_first else [*also, order[0]]
    for head in order if is_first else order[1:]:
        mine = done[-1] if done else None
        outcome = fold(objects, vault, [*done[-1:], head], ours=mine, tree=before, also=done).outcome
        after = outcome.root or resolve_with(outcome, {clash.path: "ours" for clash in outcome.conflicts})
        yield MergeStep(head, _label(vault, head), before, outcome, after)
        before = after
        done.append(head)


def in_order(vault: Vault, heads: Sequence[RecordHash], ours: RecordHash | None) -> tuple[list[RecordHash], bool]:
    """Return heads in the order they are merged in, and whether the first is mine or was built on it.

    What mine contains may be said of no other: it would seem to have taken back what it never had. Where mine went on
    from some of them, these come first: what clashes is named by what the others call it, as it is where mine is there.
    """
    held = {ours} if ours in heads else {head for head in heads if ours and is_ancestor(vault.store, ours, head)}
    first = held or {head for head in heads if ours and is_ancestor(vault.store, head, ours)}
    return sorted(heads, key=lambda head: (head not in first, head.text)), bool(held)


def is_past(
    source: Source, vault: Vault, commit: RecordHash, trees: Mapping[RecordHash, RecordHash], clash: PathConflict
) -> bool:
    """Tell whether others went on from what a commit has at a clashing path, so that it is no side there (LAZ-42).

    Args:
        source: where trees are read.
        vault: whose graph it is.
        commit: one of the heads.
        trees: of each head, by commit; for this one that of what the folder holds may stand.
        clash: of the path; its base may be a later state than that which this commit went on from.
    """
    here = clash.entry_in(source, trees[commit])
    if here == clash.base:
        return True
    others = [head for head, tree in trees.items() if head != commit and clash.entry_in(source, tree) != here]
    is_committed = trees[commit] == commit_info(vault.store, commit).tree  # then who built on it is no other side
    for head in others:
        below = merge_bases(vault.store, commit, head).commits
        before = [
            clash.entry_in(source, commit_info(vault.store, base).tree)
            for base in below
            if base != commit or not is_committed
        ]
        if before and all(entry == here for entry in before):
            return True
    return False


@contextmanager
def what_went_named(vault: Vault, commits: Sequence[RecordHash]) -> Iterator[None]:
    """Name the release whose content is needed and was let go of by a prune, with the way to get it back (CLAY-79).

    A friend who did not know the later releases may build on an old one after its content went, or go back to it.

    Args:
        vault: whose.
        commits: those whose content the block reads, the likeliest first.

    Raises:
        LetGo: in place of the `MissingObject` of what was let go.
    """
    try:
        yield
    except MissingObject as error:
        found = explained(vault.store, error)
        if not isinstance(found, LetGo):
            raise
        released = _holding(vault, commits, error.record)
        if released is None:
            raise found from error
        where = f"{label_of(vault, released.node)}/{released.desk}@{released.version}"
        raise LetGo(
            f"Content of {where} is needed for this, and was let go here.",
            hint=f"Get it back with: {as_typed('fetch', where)} - then sync, and try again.",
        ) from error


def _holding(vault: Vault, commits: Sequence[RecordHash], content: RecordHash) -> ReleaseInfo | None:
    """Return the release of one of some commits that has a content, else of what lies below: of a virtual base that is.

    Where it is a part of a content, as where only some came back, none says so: then it is the first of these commits.
    """
    near = releases_of(vault.store, commits)
    below = set[str]().union(*(ancestors(vault.store, commit) for commit in commits))
    far = sorted(releases_of(vault.store, [RecordHash.parse(text) for text in below]), key=lambda one: one.version)
    seen: set[RecordHash] = set()  # what is in one folder has been looked for

    def has(tree: RecordHash) -> bool:
        if tree in seen:
            return False
        seen.add(tree)
        with suppress(MissingObject):
            return any(
                entry.hash == content or (entry.is_dir and has(entry.hash))
                for entry in read_directory(vault.store, tree)
            )
        return False

    found = (one for one in [*near, *reversed(far)] if has(commit_info(vault.store, one.commit).tree))
    return next(found, next(iter([*near, *reversed(far)]), None))


def _label(vault: Vault, commit: RecordHash) -> str:
    info = commit_info(vault.store, commit)
    version = next((r.version for r in releases_of(vault.store, [commit], info.desk)), None)
    return label_of(vault, info.signer) + (f" {version}" if version else "")
