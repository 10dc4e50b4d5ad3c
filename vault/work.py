"""What one person does in one folder, offline: see changes, commit, release, read, check out (LAZ-1, LAZ-45).

Every act here is one transaction of `Vault.writing`. A commit is sealed and not shared; a release gives a commit a
version and shares it through the node's log. Nothing here knows a peer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from vault.desk_folders import MAIN, scanned_folder, within
from vault.desks.diff import Change, diff_trees
from vault.desks.ports import MemoryObjects
from vault.desks.worktree import Problem, snapshot
from vault.errors import CallerError
from vault.graph import ancestors, newest
from vault.history import commit_info, commit_time, has_released, highest_version, line_head, releases
from vault.names import Version
from vault.profile import Commit, Revision, plain_text
from vault.records import RecordHash
from vault.space import require_room
from vault.totals import keep_totals
from vault.unfinished import (
    StoredDirCache,
    checkout_tree,
    finish_checkout,
    finish_checkouts,
    finished_if_possible,
    forget_unfinished,
    tree_if_finished,
)
from vault.vault import Vault
from vault.writer import Writer

__all__ = [
    "MAIN",
    "Changes",
    "Checkout",
    "Committed",
    "NothingToRelease",
    "Released",
    "VersionTaken",
    "Watch",
    "adopt_commit",
    "changes",
    "checkout_of",
    "checkout_tree",
    "commit",
    "finish_checkouts",
    "is_first",
    "next_version",
    "nothing_new",
    "record_commit",
    "release",
    "seal_commit",
    "seal_release",
    "set_checkout",
    "shares_commits",
    "shown_version",
    "unreleased",
]


class VersionTaken(CallerError):
    """A released version is immutable (CYB-5)."""

    code = "version-taken"
    exit_code = 2
    hint = "Choose a higher version, or leave it out and lace proposes one."


class NothingToRelease(CallerError):
    """There is no commit to release, or nothing changed since the last release."""

    code = "nothing-to-release"
    exit_code = 2
    hint = "Change something first, or name a version to release the same content again."


class Watch(NamedTuple):
    """How long work is watched and stopped; passed down to every loop over files or records.

    Args:
        progress: called with (done, total or 0 when unknown, what).
        cancelled: raises `Cancelled` when the person asked to stop.
        moved: called with (records done, records in all, bytes done, bytes in all, what) while records travel;
            `progress` is told instead when it is absent.
    """

    progress: Callable[[int, int, str], None] = lambda _done, _total, _what: None
    cancelled: Callable[[], None] = lambda: None
    moved: Callable[[int, int, int, int, str], None] | None = None

    def travelled(self, done: int, total: int, size: int, total_size: int, what: str) -> None:
        """Say how many records and bytes of a transfer are done."""
        if self.moved is not None:
            self.moved(done, total, size, total_size, what)
        else:
            self.progress(done, total, what)


class Checkout(NamedTuple):
    """What the folder stands on: the parent of the next commit.

    Args:
        commit: the commit checked out.
        tree: its root tree.
        also: commits with the same tree that the next commit names as parents too, so that crossing merges die out.
    """

    commit: RecordHash
    tree: RecordHash
    also: tuple[RecordHash, ...] = ()


def _of_kind(items: tuple[Change, ...], kind: str) -> list[str]:
    return [item.path for item in items if item.kind == kind]


class Changes(NamedTuple):
    """How the folder differs from what it stands on."""

    desk: str
    tree: RecordHash
    items: tuple[Change, ...]
    problems: tuple[Problem, ...]

    def paths(self, kind: str) -> list[str]:
        """Return the paths of one kind of change: `added`, `changed` or `deleted`."""
        return _of_kind(self.items, kind)


class Committed(NamedTuple):
    """One commit that was made."""

    commit: RecordHash
    desk: str
    revision: int
    items: tuple[Change, ...]
    problems: tuple[Problem, ...]

    def paths(self, kind: str) -> list[str]:
        """Return the paths of one kind of change: `added`, `changed` or `deleted`."""
        return _of_kind(self.items, kind)


class Released(NamedTuple):
    """One release that was made, with the commit made for it, if any."""

    release: RecordHash
    version: Version
    desk: str
    commit: RecordHash
    seq: int
    content_sha512: str
    committed: Committed | None
    files: int
    bytes: int
    first: bool


def nothing_new(vault: Vault, desk: str) -> NothingToRelease:
    """Return why a release without a version would share nothing."""
    if vault.store.rows("SELECT 1 FROM release WHERE node = ? AND desk = ? LIMIT 1", vault.node.text, desk):
        return NothingToRelease(f"Nothing changed in {desk} since your last release.")
    return NothingToRelease(f"{desk} holds nothing new: it is as your friends released it.")


def checkout_of(vault: Vault, desk: str = MAIN) -> Checkout | None:
    """Return what the folder stands on, or None before the first commit."""
    row = vault.store.rows("SELECT commit_hash, tree, also FROM checkout WHERE desk = ?", desk)
    if not row:
        return None
    commit, tree, also = (str(value) for value in row[0])
    return Checkout(RecordHash.parse(commit), RecordHash.parse(tree), tuple(RecordHash.parse(h) for h in also.split()))


def set_checkout(w: Writer, desk: str, checkout: Checkout) -> None:
    """Record what the folder stands on from now."""
    w.store.run(
        "INSERT INTO checkout VALUES (?, ?, ?, ?) ON CONFLICT(desk) DO UPDATE"
        " SET commit_hash = excluded.commit_hash, tree = excluded.tree, also = excluded.also",
        desk,
        checkout.commit.text,
        checkout.tree.text,
        " ".join(commit.text for commit in checkout.also),
    )


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
    """
    left = () if is_dry else finished_if_possible(vault, desk, watch)
    base = checkout_of(vault, desk)
    cache = StoredDirCache(vault, desk)
    if overlay is None:  # an empty one is false
        overlay = MemoryObjects(fallback=vault.store, trees_only=True)
    snap = snapshot(
        scanned_folder(vault, desk),
        group=vault.group,
        source=overlay,
        sink=overlay,
        base=base.tree if base else None,
        bulk=MemoryObjects(trees_only=True),  # no merge reads lines of a large file
        cache=cache,
        now_ns=vault.around.now_ns(),
        cancel=watch.cancelled,
        progress=watch.travelled,
        without=within(vault, desk),
        processes=vault.around.processors,
    )
    if base is not None and snap.root == base.tree:
        cache.keep_if_free(vault)
    root = tree_if_finished(vault, desk, snap.root, overlay, watch) if is_dry else snap.root
    items = snap.changes if root == snap.root else None
    if items is None:
        items = tuple(diff_trees(overlay, base.tree if base else None, root))
    return Changes(desk, root, items, tuple(sorted((*left, *snap.problems))))


def commit(
    vault: Vault, message: str, paths: Sequence[str] = (), *, desk: str = MAIN, watch: Watch = Watch()
) -> Committed | None:
    """Commit what changed in the folder, or only at and below `paths`; None when nothing changed.

    The commit is sealed and not shared (LAZ-57), unless the settings say that commits are (H-29).

    Raises:
        NoRoom: a large file does not fit on the disk of the vault; nothing was changed.
    """
    finish_checkouts(vault, watch)
    with vault.writing() as w:
        made = seal_commit(w, vault, message, paths, desk=desk, watch=watch, is_queued=True)
        if made and shares_commits(vault):
            from vault.permits import check_readers  # noqa: PLC0415 - a commit that stays here needs none

            w.flush()
            head = line_head(vault.store, vault.node.text, desk)
            check_readers(vault, desk, commit_info(vault.store, made.commit).tree)
            w.log([made.commit, *([head.rev] if head else ())])
        if made:
            w.audit(
                "seal-commit",
                made.commit.text,
                {"desk": desk, "revision": str(made.revision)},
                motivation=message,
            )
        return made


def shares_commits(vault: Vault) -> bool:
    """Tell whether each commit is shared: by the setting `share`, or because every commit is pushed."""
    settings = vault.settings
    return settings.get("share") == "commits" or settings.get("sync-strategy") == "on-commit"


def seal_commit(
    w: Writer,
    vault: Vault,
    message: str,
    paths: Sequence[str] = (),
    *,
    desk: str = MAIN,
    watch: Watch = Watch(),
    parents: Sequence[RecordHash] = (),
    is_queued: bool = False,
) -> Committed | None:
    """Commit the folder inside a write; with `parents` even an unchanged folder gives a commit.

    What is new is in the store then; with `is_queued` some of it waits, so that one batch brings all of a commit.
    """
    left = finish_checkout(vault, desk, watch)
    base = checkout_of(vault, desk)
    cache = StoredDirCache(vault, desk)
    snap = snapshot(
        scanned_folder(vault, desk),
        group=vault.group,
        source=vault.store,
        sink=w,
        base=base.tree if base else None,
        cache=cache,
        now_ns=vault.around.now_ns(),
        cancel=watch.cancelled,
        progress=watch.travelled,
        without=within(vault, desk),
        processes=vault.around.processors,
        room=lambda size: require_room(vault.around, vault.dot, size, "Committing a large file"),
    )
    root = snap.root
    if paths:
        w.flush()
        from vault.desks.edit import select_paths  # noqa: PLC0415 - a whole commit needs none

        root = select_paths(vault.store, w, vault.group, base.tree if base else None, root, list(paths))
        w.flush()
    cache.keep()
    items = snap.changes if root == snap.root else None
    if items is None:
        w.flush()
        items = tuple(diff_trees(vault.store, base.tree if base else None, root))
    if not items and not parents:
        w.flush()
        return None
    standing = [base.commit, *base.also] if base else []
    above = newest(vault.store, [*parents, *standing])
    made = record_commit(w, vault, desk, root, above, message, is_queued=is_queued)
    if left and not paths:
        forget_unfinished(w, desk)
    return Committed(made[0], desk, made[1], items, tuple(sorted((*left, *snap.problems))))


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

    `is_queued` as in `seal_commit`.
    """
    known = [commit_time(vault.store, parent) for parent in parents]
    sealed = w.seal_later(
        Commit.to_plex(
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

    `is_queued` as in `seal_commit`.
    """
    head = line_head(vault.store, vault.node.text, desk)
    number = head.number + 1 if head else 1
    w.seal_later(
        Revision.to_plex(
            group=vault.group,
            desk=desk,
            number=number,
            commit=commit_hash,
            prev=head.rev if head else None,
            tai=w.tai(),
        )
    )
    set_checkout(w, desk, Checkout(commit_hash, root, tuple(also)))
    if not is_queued:
        w.flush()
    return number


def next_version(vault: Vault, desk: str = MAIN) -> Version:
    """Return the version proposed for the next release: the highest visible in the group plus one patch."""
    highest = highest_version(vault.store, desk)
    return highest.next_patch() if highest else Version(1, 0, 0)


def unreleased(vault: Vault, desk: str = MAIN) -> int:
    """Count my revisions after the last one that anybody released (advisory for friends, H-30)."""
    row = vault.store.rows(
        "SELECT count(*) FROM rev WHERE node = ?1 AND desk = ?2 AND number > ifnull((SELECT number FROM rev r"
        " WHERE node = ?1 AND desk = ?2 AND (EXISTS (SELECT 1 FROM release WHERE commit_hash = r.commit_hash)"
        " OR EXISTS (SELECT 1 FROM resolution WHERE result = r.commit_hash)) ORDER BY number DESC LIMIT 1), 0)",
        vault.node.text,
        desk,
    )
    return int(row[0][0])


def is_first(vault: Vault, desk: str, commit: RecordHash) -> bool:
    """Tell whether all of a commit would be new to friends: I released nothing, and nothing released is below it."""
    store = vault.store
    if has_released(store, desk, vault.node.text):
        return False
    below = ancestors(store, commit)
    return not any(text in below for (text,) in store.rows("SELECT commit_hash FROM release WHERE desk = ?", desk))


def shown_version(vault: Vault, desk: str = MAIN) -> str:
    """Return where my line of a desk stands, for people: `1.2.0`, `1.2.0+3` three commits later, or `unversioned`.

    The version is that of the last commit of my line that anybody released, or that settled a conflict (CYB-7).
    """
    rows = vault.store.rows(
        "SELECT max(number), commit_hash FROM rev r WHERE node = ? AND desk = ?"
        " AND (EXISTS (SELECT 1 FROM release WHERE commit_hash = r.commit_hash)"
        " OR EXISTS (SELECT 1 FROM resolution WHERE result = r.commit_hash))",
        vault.node.text,
        desk,
    )
    base = rows[0][1]
    if base is None:
        return "unversioned"
    found = vault.store.rows(
        "SELECT version FROM release WHERE commit_hash = ?1 UNION SELECT version FROM resolution WHERE result = ?1",
        base,
    )
    version, later = max(Version.parse(str(row[0])) for row in found), unreleased(vault, desk)
    return f"{version}+{later}" if later else str(version)


def release(
    vault: Vault,
    version: Version | None = None,
    message: str = "",
    *,
    desk: str = MAIN,
    watch: Watch = Watch(),
) -> Released:
    """Commit what is changed, give the commit a version, and share it in this node's log.

    Raises:
        VersionTaken: the version is already released by somebody visible here.
        NothingToRelease: no commit yet, or nothing new and no version named.
        NotPermitted: a member would get what the desk's rules do not let them read; nothing was changed.
    """
    finish_checkouts(vault, watch)
    with vault.writing() as w:
        version_text = version or next_version(vault, desk)
        if releases(vault.store, desk, version=version_text) or vault.store.rows(
            "SELECT 1 FROM release WHERE node = ? AND desk = ? AND version = ?",
            vault.node.text,
            desk,
            str(version_text),
        ):
            raise VersionTaken(
                f"{desk} {version_text} is already released.",
                hint=f"The next free version is {next_version(vault, desk)}.",
            )
        w.is_releasing = True
        committed = seal_commit(w, vault, message or f"Release {version_text}", desk=desk, watch=watch)
        if committed is None and version is None and not unreleased(vault, desk):
            raise nothing_new(vault, desk)
        return seal_release(w, vault, version_text, message, committed, desk=desk, watch=watch)


def seal_release(
    w: Writer,
    vault: Vault,
    version: Version,
    message: str,
    committed: Committed | None = None,
    *,
    desk: str = MAIN,
    together: Callable[[RecordHash], Sequence[RecordHash]] = lambda _release: (),
    watch: Watch = Watch(),
) -> Released:
    """Release the head of my line inside a write, and share it in my log.

    A write makes one log entry, since the mark counts one intended entry at a time; `together` is given the release
    and returns further records to share in that same entry.
    """
    from vault.labels import unshared_labels  # noqa: PLC0415 - a commit needs neither
    from vault.permits import check_readers  # noqa: PLC0415
    from vault.profile import MAX_ENTRIES, Release  # noqa: PLC0415

    head = line_head(vault.store, vault.node.text, desk)
    if head is None:
        raise NothingToRelease(
            f"There is nothing in {desk} yet.", hint="Put files into its folder first, and run the same command again."
        )
    first = is_first(vault, desk, head.commit)
    tree = commit_info(vault.store, head.commit).tree
    check_readers(vault, desk, tree)
    content = vault.store.content_sum(tree, watch.cancelled)
    sealed = w.seal(
        Release.to_plex(
            group=vault.group,
            desk=desk,
            version=version,
            commit=head.commit,
            rev=head.rev,
            content_sha512=content,
            message=plain_text(message),
            tai=w.tai(),
        )
    )
    more = [*together(sealed.hash)]
    more += unshared_labels(w, vault.node.text, desk, MAX_ENTRIES - 1 - len(more))
    watch.cancelled()  # from here on it is released
    entry = w.log([sealed.hash, *more])
    told = {"release": sealed.hash.text, "seq": str(entry.seq)}
    w.audit("seal-release", f"{desk}@{version}", told, motivation=message)
    files, size = keep_totals(w.store, desk, tree)
    return Released(sealed.hash, version, desk, head.commit, entry.seq, content, committed, files, size, first)
