"""What an act is about to write over in a folder, kept first: an undo goes back to it, or its name does (APP-4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lazy.folder.acts import has_acted_since, last_entry
from vault.desks.edit import select_paths
from vault.desks.ports import Objects
from vault.folder.checked_out import checkout_of
from vault.folder.dir_cache import StoredDirCache
from vault.folder.held_rules import held_by
from vault.folder.looking import take
from vault.notes.revisions import PATH_UNDER_WAY, KeptState, PathUnderWay
from vault.records import RecordHash
from vault.revisions.kept_states import falls_out, keep_state
from vault.store import Store
from vault.vault import Vault
from vault.watch import Watch
from vault.writer import Writer

__all__ = ["Found", "begin", "begun", "end", "keep", "keep_found"]


class Found(NamedTuple):
    """What a folder holds at paths, on what it stands on otherwise.

    Args:
        tree: of both, which is stored.
        state: the same by its name; None where it is not to be kept.
        pushed_out: the name of the state that is kept no more since then; empty where none is.
    """

    tree: RecordHash
    state: KeptState | None
    pushed_out: str = ""


def keep_found(
    w: Writer,
    vault: Vault,
    desk: str,
    paths: Sequence[str],
    watch: Watch,
    *,
    is_to_keep: bool = True,
    on: RecordHash | None = None,
) -> Found | None:
    """Store what a folder holds at paths, and keep it as a state; None before the first commit.

    Args:
        w: the write, of the act that writes over it.
        vault: whose folder.
        desk: the desk.
        paths: relative to it.
        watch: progress and cancel.
        is_to_keep: whether it is kept by a name; else it is stored for this write.
        on: the tree that it is otherwise; without one, that on which the folder stands.

    Raises:
        NoSuchPath: nothing is at one, nor in that tree.
        NoRoom, FolderGone, Unreadable, Cancelled: as `vault.folder.looking.take`.
    """
    base = checkout_of(vault, desk)
    if base is None:
        return None
    snap = take(w, vault, desk, base.tree, StoredDirCache(vault, desk), watch, held_by(vault, desk))
    w.flush()
    tree = select_paths(Objects(vault.store, w, vault.group), on or base.tree, snap.root, paths)
    w.flush()
    return keep(w, vault, desk, tree) if is_to_keep else Found(tree, None)


def keep(w: Writer, vault: Vault, desk: str, tree: RecordHash) -> Found:
    """Keep a state of a desk that is stored."""
    pushed_out = falls_out(w.store, desk, tree)
    return Found(tree, keep_state(w.store, vault.node.text, desk, tree), pushed_out)


def begin(w: Writer, desk: str, words: Sequence[str], found: RecordHash | None) -> None:
    """Note that a checkout of a path is about to write, and which state it keeps; before its first file is written.

    Args:
        w: a write before that.
        desk: the desk.
        words: what tells the same command again.
        found: the tree of the state; None where the path was as the folder stands on it.
    """
    w.store.set_note(PATH_UNDER_WAY, PathUnderWay(last_entry(w.store), tuple(words), found), desk)


def begun(store: Store, desk: str, words: Sequence[str]) -> PathUnderWay | None:
    """Return what the same checkout noted before it was cut off; None where none was.

    Where a person did anything else here since, this one is no longer the same; visits and servers end nothing.
    """
    noted = store.note(PATH_UNDER_WAY, desk)
    if noted is None or noted.words != tuple(words) or has_acted_since(store, noted.last):
        return None
    return noted


def end(w: Writer, desk: str) -> None:
    """Note that it has written all, in the write that tells of it."""
    w.store.drop_note(PATH_UNDER_WAY, desk)
