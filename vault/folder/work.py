"""What one person does in one folder, offline: see changes, commit, check out (LAZ-1, LAZ-45).

Every act here is one transaction of `Vault.writing`. A commit is sealed and not shared; `vault.releasing` gives it a
version and shares it. Nothing here knows a peer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from vault import profile
from vault.desk_folders import MAIN, mapped_folder
from vault.desks.choosing import Problem
from vault.desks.diff import Change
from vault.desks.differences import differences
from vault.desks.memory import MemoryObjects
from vault.desks.ports import Objects
from vault.desks.worktree import Snapshot
from vault.folder.checked_out import Checkout, checkout_of, contained, set_checkout
from vault.folder.checkout_journal import left_as_they_are
from vault.folder.dir_cache import StoredDirCache
from vault.folder.divergence import note_left_behind, refuse_apart
from vault.folder.gone_desks import notices_of_gone
from vault.folder.held_rules import forget_idle, held_by, looked_at, note_committed
from vault.folder.looking import look, take
from vault.folder.unfinished import (
    finish_checkout,
    finish_checkouts,
    finished_if_possible,
    tree_if_finished,
)
from vault.folder.unnamed import refuse_unnamed
from vault.profile import plain_text
from vault.records import RecordHash
from vault.revisions.graph import newest
from vault.revisions.history import commit_info, commit_time, line_head
from vault.vault import Vault
from vault.watch import Watch
from vault.writer import Writer

__all__ = [
    "Changes",
    "Committed",
    "Unchanged",
    "adopt_commit",
    "beside",
    "changes",
    "commit",
    "record_commit",
    "save_before",
    "seal_commit",
    "share_commit",
]


def _of_kind(items: Sequence[Change], kind: str) -> list[str]:
    return [item.path for item in items if item.kind == kind]


class Changes(NamedTuple):
    """How the folder differs from what it stands on."""

    desk: str
    tree: RecordHash
    items: Sequence[Change]
    problems: tuple[Problem, ...]

    def paths(self, kind: str) -> list[str]:
        """Return the paths of one kind of change: `added`, `changed` or `deleted`."""
        return _of_kind(self.items, kind)


class Committed(NamedTuple):
    """One commit that was made; its items are what differs from the tree `base`, which the folder stood on."""

    commit: RecordHash
    desk: str
    revision: int
    items: Sequence[Change]
    problems: tuple[Problem, ...]
    base: RecordHash | None = None

    def paths(self, kind: str) -> list[str]:
        """Return the paths of one kind of change: `added`, `changed` or `deleted`."""
        return _of_kind(self.items, kind)


@dataclass(frozen=True, slots=True)
class Unchanged:
    """No commit was made, for there is nothing to commit; it counts as false.

    Args:
        problems: what was left out, or is doubtful, though nothing else changed.
    """

    problems: tuple[Problem, ...] = ()

    def __bool__(self) -> Literal[False]:
        """Whether a commit was made."""
        return False


def changes(
    vault: Vault,
    desk: str = MAIN,
    watch: Watch = Watch(),
    *,
    overlay: MemoryObjects | None = None,
    is_dry: bool = False,
) -> Changes:
    """Compare the folder with what it stands on; reads only files whose stat changed.

    It changes nothing, but it finishes a checkout that was cut off.

    Args:
        vault: whose folder.
        desk: the desk.
        watch: progress and cancel.
        overlay: takes the trees, and the content too if it keeps it, for a caller that goes on with them.
        is_dry: finish nothing; what a cut-off checkout has still to write counts as written.

    Raises:
        NoSuchDesk, FolderGone, Unreadable, Cancelled: as `vault.folder.looking.look`.
        MissingObject, TreeError: the tree that the folder stands on is not whole here.
    """
    left = () if is_dry else finished_if_possible(vault, desk, watch)
    base = checkout_of(vault, desk)
    cache = StoredDirCache(vault, desk)
    if overlay is None:  # an empty one is false
        overlay = MemoryObjects(fallback=vault.store, trees_only=True)
    snap = look(vault, desk, base.tree if base else None, overlay, cache, watch)
    if base is not None and snap.root == base.tree:
        cache.keep_if_free(vault, snap.put_back)
    root = tree_if_finished(vault, desk, snap.root, overlay, watch) if is_dry else snap.root
    items = snap.changes if root == snap.root else None
    if items is None:
        items = differences(overlay, base.tree if base else None, root)
    told = notices_of_gone(vault, desk, items)
    return Changes(desk, root, items, tuple(sorted((*left, *told, *snap.problems))))


def commit(
    vault: Vault, message: str, paths: Sequence[str] = (), *, desk: str = MAIN, watch: Watch = Watch()
) -> Committed | Unchanged:
    """Commit what changed in the folder, or only at and below `paths`.

    The commit is sealed and not shared (LAZ-57), unless the settings say that commits are (H-29).

    Raises:
        NoRoom: a large file does not fit on the disk of the vault; nothing was changed.
        OwnWorkApart: my line holds work that the folder does not have and an update brings in; it comes first.
        SavedMeanwhile: as `seal_commit`.
    """
    finished = finish_checkouts(vault, watch, desk)
    waiting = left_as_they_are(vault, desk) if finished else ()
    told = [notice for notice in finished if notice.path not in waiting]  # those are found once more
    with vault.writing() as w:
        refuse_apart(w, vault, desk, is_unshared=True)
        made = seal_commit(w, vault, message, paths, desk=desk, watch=watch, is_queued=True)
        if made:
            share_commit(w, vault, desk, made.commit)
            w.audit(
                "seal-commit",
                made.commit.text,
                {"desk": desk, "revision": str(made.revision)},
                motivation=message,
            )
        problems = tuple(sorted({*told, *made.problems}))
        return made._replace(problems=problems) if made else Unchanged(problems)


def share_commit(w: Writer, vault: Vault, desk: str, made: RecordHash) -> None:
    """Share the commit that is now the head of my line of a desk, where each is shared; inside its write.

    Raises:
        NotPermitted: a member may not read all that it holds.
    """
    if not vault.settings.shares_commits:
        return
    from vault.readers import check_readers  # a commit that stays here needs none

    w.flush()
    head = line_head(vault.store, vault.node.text, desk)
    check_readers(vault, desk, commit_info(vault.store, made).tree)
    w.log([made, *([head.rev] if head else ())])


def seal_commit(
    w: Writer,
    vault: Vault,
    message: str,
    paths: Sequence[str] = (),
    *,
    desk: str = MAIN,
    watch: Watch = Watch(),
    is_queued: bool = False,
) -> Committed | Unchanged:
    """Commit the folder inside a write.

    Args:
        w: the write.
        vault: whose folder.
        message: as the person wrote it.
        paths: what is committed, at and below them; all that changed where there are none.
        desk: of the folder.
        watch: progress and cancel.
        is_queued: let some of what is new wait for the end of the write, so that one batch brings all of a commit;
            else it is in the store when this returns.

    Raises:
        SavedMeanwhile: it would take back what an update brought, in files that were saved meanwhile and not named.
        RulesUnclear: files are new that nobody named, and a rule cannot be used that may be meant to keep them out.
        FolderGone: the folder is gone; or files are new that nobody named, and may be those of a desk whose folder is.
        FolderEmptied: every file is gone from the folder, and nobody named it.
    """
    left = finish_checkout(vault, desk, watch)
    if left:
        # Hardly any file is saved meanwhile.
        from vault.folder.meanwhile import check_taken, not_named, take_named

        check_taken(vault, desk, paths)
    found = _found(w, vault, desk, paths, watch)
    root, items = _named(w, vault, found.on, found.snap, paths)
    if not items:
        found.cache.keep()
        w.flush()
        return Unchanged(tuple(sorted((*left, *found.snap.problems))))
    refuse_unnamed(vault, desk, found.on, items, found.snap.problems, paths)
    above = newest(vault.store, contained(found.base))
    made, number = record_commit(w, vault, desk, root, above, message, is_queued=is_queued)
    note_committed(w, desk, found.looked, made)
    found.cache.keep()  # what was asked before holds until something is written
    if left:
        take_named(vault, desk, paths)
        left = not_named(left, paths)
    return Committed(made, desk, number, items, tuple(sorted((*left, *found.snap.problems))), found.on)


class _Found(NamedTuple):
    """How a commit found its folder.

    Args:
        base: what it stands on.
        snap: what it holds, which is stored.
        cache: what the scan saw, to be kept with what was stored.
        looked: the tree of another state that it looks at.
    """

    base: Checkout | None
    snap: Snapshot
    cache: StoredDirCache
    looked: RecordHash | None

    @property
    def on(self) -> RecordHash | None:
        """The tree that it stands on."""
        return self.base.tree if self.base is not None else None


def _found(w: Writer, vault: Vault, desk: str, paths: Sequence[str], watch: Watch) -> _Found:
    """Store what is new in a folder, and forget former rules that keep out nothing any more.

    Raises:
        NoSuchDesk, FolderGone, Unreadable, Cancelled: as `vault.folder.looking.take`.
    """
    base = checkout_of(vault, desk)
    cache = StoredDirCache(vault, desk, spills=True)
    held = held_by(vault, desk, paths)
    snap = take(w, vault, desk, base.tree if base else None, cache, watch, held)
    looked = looked_at(vault, desk)
    is_clean = base is not None and snap.root == base.tree
    forget_idle(w, desk, held, snap.problems, is_clean=is_clean, folder=mapped_folder(vault, desk))
    return _Found(base, snap, cache, looked)


def _named(
    w: Writer, vault: Vault, base: RecordHash | None, snap: Snapshot, paths: Sequence[str]
) -> tuple[RecordHash, Sequence[Change]]:
    """Return the tree that a commit of these paths, or of all, has, and how it differs from the base."""
    root = snap.root
    if paths:
        w.flush()
        from vault.desks.edit import select_paths  # a whole commit needs none

        root = select_paths(Objects(vault.store, w, vault.group), base, root, list(paths))
        w.flush()
    if root == snap.root and snap.changes is not None:
        return root, snap.changes
    w.flush()
    return root, differences(vault.store, base, root)


def beside(vault: Vault, desk: str, commits: Sequence[RecordHash]) -> list[RecordHash]:
    """Return what stands beside my line (`Checkout.also`) and is in none of these commits."""
    base = checkout_of(vault, desk)
    if base is None or not base.also:
        return []
    return [one for one in newest(vault.store, [*commits, *base.also]) if one not in commits]


def save_before(
    w: Writer, vault: Vault, act: str, paths: Sequence[str] = (), *, desk: str, watch: Watch
) -> Committed | None:
    """Commit what changed in the folder, or at and below `paths` alone, before `act` writes there; None for nothing.

    It stands in the trail as an act of its own, so that it can be taken back like any commit.

    Raises:
        SavedMeanwhile, RulesUnclear, FolderGone, FolderEmptied: as `seal_commit`.
    """
    made = seal_commit(w, vault, f"before {act}", paths, desk=desk, watch=watch)
    if made:
        parameters = {"desk": desk, "revision": str(made.revision)}
        w.audit("seal-commit", made.commit.text, parameters, motivation=f"before {act}")
    return made or None


def record_commit(
    w: Writer,
    vault: Vault,
    desk: str,
    root: RecordHash,
    parents: Sequence[RecordHash],
    message: str,
    *,
    is_queued: bool = False,
) -> tuple[RecordHash, int]:
    """Seal a commit of a tree and number it on my line; the folder stands on it from now.

    Args:
        w: the write.
        vault: whose line.
        desk: of the line.
        root: the tree.
        parents: of the commit; what stood beside my line is added.
        message: as the person wrote it.
        is_queued: as in `seal_commit`.

    Returns:
        The commit, and its number on the line.

    Raises:
        CommitMissing: a parent is not here.
    """
    parents = [*parents, *beside(vault, desk, parents)][: max(profile.MAX_PARENTS, len(parents))]
    known = [commit_time(vault.store, parent) for parent in parents]
    sealed = w.seal_later(
        profile.Commit.to_plex(
            group=vault.group,
            desk=desk,
            parents=tuple(parents),
            tree=root,
            message=plain_text(message),
            tai=w.tai(*known),
        )
    )
    return sealed.hash, adopt_commit(w, vault, desk, sealed.hash, root, is_queued=is_queued)


def adopt_commit(
    w: Writer,
    vault: Vault,
    desk: str,
    commit_hash: RecordHash,
    root: RecordHash,
    also: Sequence[RecordHash] = (),
    *,
    is_queued: bool = False,
) -> int:
    """Give a commit the next number of my line and make the folder stand on it; return the number.

    Args:
        w: the write.
        vault: whose line.
        desk: of the line.
        commit_hash: the commit, of whoever made it.
        root: its tree.
        also: what stands beside it from now (`Checkout.also`).
        is_queued: as in `seal_commit`.
    """
    head = line_head(vault.store, vault.node.text, desk)
    number = head.number + 1 if head else 1
    w.seal_later(
        profile.Revision.to_plex(
            group=vault.group,
            desk=desk,
            number=number,
            commit=commit_hash,
            prev=head.rev if head else None,
            tai=w.tai(),
        )
    )
    if head is not None:
        base = checkout_of(vault, desk)
        note_left_behind(w, desk, head, [commit_hash, *also, *contained(base)])
    set_checkout(w, desk, Checkout(commit_hash, root, tuple(also)))
    if not is_queued:
        w.flush()
    return number
