"""The one way in which the folder of a desk is looked at: what stays out, what is held, and what is remembered."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from vault.desk_folders import folder_of, scanned_folder, within
from vault.desks.choosing import Names, rules_of
from vault.desks.folder import open_root
from vault.desks.memory import MemoryObjects
from vault.desks.ports import Objects
from vault.desks.scan import Ports, Scanning
from vault.desks.scancache import context_of
from vault.desks.worktree import Snapshot, snapshot
from vault.files import Unreadable
from vault.folder.held_rules import held_by
from vault.space import require_room

if TYPE_CHECKING:
    from collections.abc import Callable

    from vault.desks.former_ignore import Held
    from vault.folder.dir_cache import StoredDirCache
    from vault.records import RecordHash
    from vault.vault import Vault
    from vault.watch import Watch
    from vault.writer import Writer

__all__ = ["context_now", "look", "scanning", "take"]


def look(
    vault: Vault, desk: str, base: RecordHash | None, overlay: MemoryObjects, cache: StoredDirCache, watch: Watch
) -> Snapshot:
    """Return what the folder of a desk holds now; nothing is written but into `overlay` and `cache`.

    Args:
        vault: whose folder.
        desk: the desk.
        base: the tree that it is compared with.
        overlay: takes the trees, and the content too if it keeps it.
        cache: what is known of directories that did not change.
        watch: progress and cancel.

    Raises:
        NoSuchDesk, FolderGone: as `scanned_folder`.
        Unreadable: the folder, or the rules in it, cannot be read.
        Cancelled: the person stopped it.
    """
    bulk = MemoryObjects(trees_only=True)  # no merge reads lines of a large file
    ports = Ports(overlay.of(vault.group), cache, vault.around.now_ns, bulk)
    return snapshot(scanned_folder(vault, desk), ports, base, scanning(vault, desk, watch, held_by(vault, desk)))


def take(
    w: Writer, vault: Vault, desk: str, base: RecordHash | None, cache: StoredDirCache, watch: Watch, held: Held
) -> Snapshot:
    """Return what the folder of a desk holds now, with all that is new in it stored by a write.

    Args:
        w: the write.
        vault: whose folder.
        desk: the desk.
        base: the tree that it is compared with.
        cache: what is known of directories that did not change.
        watch: progress and cancel.
        held: former rules that hold on.

    Raises:
        NoRoom: a large file does not fit on the disk of the vault.
        NoSuchDesk, FolderGone, Unreadable, Cancelled: as `look`.
    """
    # How much of many small files is new, nobody knows before each is read.
    vault.store.packs.room = lambda size: require_room(vault.around, vault.dot, size, "What this commit stores next")
    ports = Ports(Objects(vault.store, w, vault.group), cache, vault.around.now_ns, settle=w.flush)
    how = scanning(
        vault, desk, watch, held, lambda size: require_room(vault.around, vault.dot, size, "Committing a large file")
    )
    return snapshot(scanned_folder(vault, desk), ports, base, how)


def scanning(
    vault: Vault, desk: str, watch: Watch, held: Held, room: Callable[[int], object] = lambda _size: None
) -> Scanning:
    """Return how the folder of a desk is scanned, with former rules that hold on; `room` as `Scanning` takes it."""
    return Scanning(
        cancel=watch.cancelled,
        progress=watch.travelled,
        without=within(vault, desk),
        held=held,
        processes=vault.around.processors,
        home=vault.dot,
        room=room,
    )


def context_now(vault: Vault, desk: str) -> bytes | None:
    """Return the context of a scan of a desk's folder as it is now; None where its rules cannot be told."""
    folder, without = folder_of(vault, desk), within(vault, desk)
    with contextlib.suppress(OSError, Unreadable):
        fd = open_root(folder)
        try:
            names = Names(rules_of(folder, fd), without, held_by(vault, desk))
        finally:
            os.close(fd)
        return context_of(vault.group, names.digest, without)
    return None
