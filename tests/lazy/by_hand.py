"""Decisions and releases that are sealed by hand, whatever they say."""

from __future__ import annotations

from collections.abc import Sequence

from lazy.people import label_of
from vault.desks.edit import apply_changes
from vault.desks.ports import Objects
from vault.desks.tree import lookup
from vault.names import Version
from vault.profile import Commit, Release, Resolution, Revision
from vault.records import RecordHash
from vault.revisions.history import line_head, releases
from vault.vault import Vault

CONTESTED = Version(2, 0, 0)


def released_by(vault: Vault, version: Version, name: str) -> tuple[RecordHash, RecordHash]:
    """Somebody's release of a version, and its commit."""
    found = (one for one in releases(vault.store, "main", version=version) if label_of(vault, one.node) == name)
    return next((one.hash, one.commit) for one in found)


def sides_of(vault: Vault) -> list[RecordHash]:
    return [released_by(vault, CONTESTED, name)[1] for name in ("alice", "bob")]


def commit_by_hand(vault: Vault, tree: RecordHash, parents: Sequence[RecordHash]) -> RecordHash:
    """A commit by hand, whatever it is built on."""
    with vault.writing() as w:
        plex = Commit.to_plex(
            group=vault.group, desk="main", parents=tuple(sorted(parents)), tree=tree, message="by hand", tai=w.tai()
        )
        return w.seal(plex).hash


def decide_by_hand(
    vault: Vault,
    result: RecordHash,
    chosen: RecordHash | None = None,
    merged: RecordHash | None = None,
    more: Sequence[RecordHash] = (),
) -> RecordHash:
    """A resolution of the contested version by hand, whatever its result is."""
    with vault.writing() as w:
        sides = [released_by(vault, CONTESTED, name)[0] for name in ("alice", "bob")]
        sides += more
        plex = Resolution.to_plex(
            group=vault.group,
            desk="main",
            version=CONTESTED,
            sides=sides,
            chosen=chosen,
            release=merged,
            result=result,
            tai=w.tai(),
        )
        sealed = w.seal(plex).hash
        w.log([sealed])
    return sealed


def tree_by_hand(vault: Vault, tree: RecordHash, *paths: str, like: str = "a.txt") -> RecordHash:
    """A tree with a file of it at further paths."""
    with vault.writing() as w:
        entry = lookup(vault.store, tree, like)
        return apply_changes(Objects(vault.store, w, vault.group), tree, dict.fromkeys(paths, entry))


def release_by_hand(vault: Vault, version: Version, tree: RecordHash, parents: Sequence[RecordHash]) -> RecordHash:
    """A release by hand of a commit built on these alone, whatever the maker's line has; the commit is returned."""
    made = commit_by_hand(vault, tree, parents)
    head = line_head(vault.store, vault.node.text, "main")
    with vault.writing() as w:
        line = Revision.to_plex(
            group=vault.group,
            desk="main",
            number=head.number + 1 if head else 1,
            commit=made,
            prev=head.rev if head else None,
            tai=w.tai(),
        )
        plex = Release.to_plex(
            group=vault.group,
            desk="main",
            version=version,
            commit=made,
            rev=w.seal(line).hash,
            content_sha512=vault.store.content_sum(tree),
            message="",
            tai=w.tai(),
        )
        w.log([w.seal(plex).hash])
    return made
