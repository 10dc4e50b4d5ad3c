"""Letting go of old content by explicit choice (`lace prune`).

What goes is planned by `vault.content.prune_plan`. The commits stay, with messages, parents and order, so nothing that
was signed becomes untrue; only their files can be read no more. What lacks a copy in a mailbox of mine is noted, and
the next visit to a place makes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha512

from vault.content.copies import want_copies
from vault.content.prune_plan import Pruning, plan_of, row_bytes
from vault.desk_folders import desks
from vault.desks.absent_paths import ABSENT
from vault.desks.edit import apply_changes
from vault.desks.memory import MemoryObjects
from vault.desks.ports import Objects
from vault.desks.tree import lookup
from vault.errors import EnvironmentFault
from vault.folder.checkout_journal import noted_trees
from vault.folder.finishing import finishing
from vault.folder.unfinished import finish_checkouts
from vault.lock import LOCK_SECONDS
from vault.notes.own import NODE
from vault.records import RecordHash
from vault.revisions.kept_states import let_go_of_states
from vault.space import require_room
from vault.store import Store
from vault.store.database import none_reads_before
from vault.store.repack import repack
from vault.vault import Vault
from vault.watch import Watch

__all__ = ["plan_prune", "prune"]


def plan_prune(vault: Vault, *, keep: int = 1, watch: Watch = Watch()) -> Pruning:
    """Say what would go, and change nothing.

    Args:
        vault: whose.
        keep: how many of the newest revisions on each desk keep their content; at least 1.
        watch: a person may stop it.

    Raises:
        ValueError: `keep` is below 1.
    """
    strays = _strays(vault)
    is_read = bool(strays) and not none_reads_before(vault.store.db)
    with vault.store.reading():
        plan = plan_of(vault, keep, watch, strays, _noted_then(vault, watch)).pruning
    return _without_read(plan, strays) if is_read else plan


def prune(vault: Vault, *, keep: int = 1, watch: Watch = Watch()) -> Pruning:
    """Let go of old content, in one transaction; the files of old packs are removed after it committed.

    What somebody reads meanwhile, as a long export does, stays readable: its files go with the next prune, or repair.

    Args:
        vault: whose.
        keep: as `plan_prune`.
        watch: told of progress; a person may stop it, and nothing was changed.

    Returns:
        What was done. Nothing is signed where nothing was to do.

    Raises:
        ValueError: `keep` is below 1.
        NoRoom: the packs that are written anew do not fit beside the old ones; nothing was changed.
        PackDamaged, BadFrame: what stays is damaged; nothing was changed.
        DiskFull, NotWritable, Locked: nothing was changed.
    """
    finish_checkouts(vault, watch)
    strays = _strays(vault)
    with vault.lock.held(timeout=LOCK_SECONDS):
        vault.store.packs.clear()
        done = _prune(vault, keep, watch, strays)
        left = _strays(vault)
    return _without_read(done, left)


def _without_read(done: Pruning, left: Sequence[int]) -> Pruning:
    """Return what is freed without packs that stay, since somebody reads them."""
    return done._replace(freed=max(0, done.freed - sum(left)), packs=max(0, done.packs - len(left)), read=sum(left))


def _prune(vault: Vault, keep: int, watch: Watch, strays: Sequence[int]) -> Pruning:
    with vault.writing() as w:
        store = w.store
        done, packs, unproven = plan_of(vault, keep, watch, strays, _noted(vault))
        want_copies(w, unproven)
        if not done.lets_go and not packs.packs:
            return done
        require_room(vault.around, vault.dot, 2 * packs.staying, "Writing the packs anew")
        before = _pack_bytes(vault)
        gone = [int(row[0]) for row in store.rows("SELECT p FROM temp.prune_gone ORDER BY p")]
        rows = row_bytes(vault)
        _note(store, w.tai().text)
        repack(store, packs, gone, watch)
        for p in gone:
            store.forget(p)
        store.packs.let_go(packs.packs)
        # The scan cache may name what is gone; only the row of what this disk cannot hold says what nothing else knows.
        store.run("DELETE FROM dircache WHERE dir <> ?", ABSENT)
        for known in desks(vault):
            let_go_of_states(store, known.name, keep)
        watch.progress(0, 0, "rebuild")
        store.rebuild(store.note(NODE), vault.founding, watch.cancelled)
        done = done._replace(freed=max(0, before - _pack_bytes(vault)) + rows + sum(strays))
        w.audit(
            "lace-prune",
            vault.name,
            {
                "commits": str(len(done.commits)),
                "files": str(done.files),
                "unreached": str(done.unreached),
                "records": str(done.records),
                "freed": str(done.freed),
            },
            relates_to=[found.commit.text for found in done.commits][-64:],
        )
        w.afterwards(store.packs.clear)
        return done


def _strays(vault: Vault) -> list[int]:
    """Return the bytes of each piece that a writer or a prune that was cut off left in packs; none while one writes."""
    try:
        with vault.lock.held(timeout=0):  # or the pack that is being written just now would count
            return vault.store.packs.left()
    except (EnvironmentFault, OSError):
        return []


def _note(store: Store, tai: str) -> None:
    """Keep what must be known of content that was let go: its size, and the SHA-512 that its release signs.

    Of what was let go before both are known, and it may be here in part: it was asked for again, and did not all come.
    """
    rows = store.rows("SELECT b.kind, b.digest FROM temp.prune_tomb t JOIN body b USING (p)")
    for kind, digest in rows:
        record = RecordHash(str(kind), bytes(digest))
        if store.run("UPDATE tomb SET wanted = 0, tai = ? WHERE hash = ?", tai, record.text).rowcount:
            continue
        size, total = 0, sha512()
        for piece in store.pieces(record) or ():
            size += len(piece)
            total.update(piece)
        store.run("INSERT INTO tomb VALUES (?, ?, ?, ?, 0)", record.text, size, total.hexdigest(), tai)


def _noted(vault: Vault) -> set[RecordHash]:
    """Return the trees between which checkouts were cut off, or left files as they are."""
    desks = vault.store.rows("SELECT desk FROM unfinished")
    return {tree for (desk,) in desks for tree in noted_trees(vault, str(desk)) or () if tree is not None}


def _noted_then(vault: Vault, watch: Watch) -> set[RecordHash]:
    """Return what is noted of such checkouts once they are finished, as a prune does first: what files left need."""
    found: set[RecordHash] = set()
    for (desk,) in vault.store.rows("SELECT desk FROM unfinished"):
        late, trees = finishing(vault, desk, watch), noted_trees(vault, desk)
        if late is None or trees is None:
            continue
        before, after = trees
        old = {path: lookup(vault.store, before, path) if before is not None else None for path in late.kept}
        if old:
            narrowed = apply_changes(Objects(vault.store, MemoryObjects(), vault.group), after, old)
            found |= {after, *(entry.hash for entry in old.values() if entry is not None)}
            found |= vault.store.have([narrowed])
    return found


def _pack_bytes(vault: Vault) -> int:
    return int(vault.store.rows("SELECT ifnull(sum(size), 0) FROM pack")[0][0])
