"""Letting go of old content by explicit choice (`lace prune`).

The content of a commit on my own line goes when nothing needs it: it was never shared and has no label, no folder
stands on it or looks at it, no conflict is about it, no merge can need it as its base, and it is none of the newest on
its desk. The commits stay, with messages, parents and order, so nothing that was signed becomes untrue; only their
files can be read no more. Of releases, content goes only where a rule of the desk says so, somebody else knows it, and
it lies in bundles of my own mailbox on a place (`vault.content.keeping`). What lacks such a copy is noted, and the next
visit to a place makes it. What nothing here reaches any more goes as well, as what a commit held that was taken back
(`vault.content.reached`). Of the states that an undo kept under a name as many of the newest stay as of revisions.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from hashlib import sha512
from typing import NamedTuple

from vault.content.copies import laid_down, note_laid_down, want_copies
from vault.content.keeping import Letting, letting
from vault.content.reached import note_reached, note_unreached, start_notes
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
from vault.notes.folders import LOOKED
from vault.notes.own import NODE
from vault.records import RecordHash
from vault.revisions.kept_states import kept_states, let_go_of_states
from vault.space import require_room
from vault.store import Store
from vault.store.database import none_reads_before
from vault.store.repack import Repacking, plan_repack, repack
from vault.vault import Vault
from vault.watch import Watch

__all__ = ["DeskSize", "KindSize", "PrunedCommit", "Pruning", "plan_prune", "prune"]


_KEPT = "SELECT 1 FROM temp.prune_keep WHERE p = ?"

# Commits of mine with a revision, that no one else can have and nothing here stands on. Two lines that part have their
# last common commit where a commit has two children, so every possible merge base is kept.
_OLD = """
SELECT r.desk, r.number, c.hash, c.tree FROM rev r JOIN commits c ON c.hash = r.commit_hash
WHERE r.node = ?1 AND c.signer = ?1
AND r.number <= (SELECT max(n.number) FROM rev n WHERE n.node = ?1 AND n.desk = r.desk) - ?2
AND NOT EXISTS (SELECT 1 FROM shared s WHERE s.p = c.p AND s.content = 1)
AND c.hash NOT IN (SELECT commit_hash FROM release)
AND c.hash NOT IN (SELECT result FROM resolution)
AND c.hash NOT IN (SELECT v.commit_hash FROM label l JOIN rev v ON v.hash = l.rev)
AND c.hash NOT IN (SELECT parent FROM parent GROUP BY parent HAVING count(*) > 1)
AND NOT EXISTS (SELECT 1 FROM checkout k WHERE k.commit_hash = c.hash OR instr(k.also, c.hash))
AND NOT EXISTS (SELECT 1 FROM conflict f WHERE instr(f.heads, c.hash))
ORDER BY r.desk, r.number"""

_IS_STATE = "SELECT 1 FROM commits WHERE tree = ? LIMIT 1"


class PrunedCommit(NamedTuple):
    """A commit of which content goes.

    Args:
        desk: its desk.
        number: its revision on my line.
        commit: which.
    """

    desk: str
    number: int
    commit: RecordHash


class DeskSize(NamedTuple):
    """How much content the commits of one desk reach here, all of them together.

    Args:
        desk: which.
        commits: how many commits.
        bytes: content and lists, before compression; what two desks share counts for both.
    """

    desk: str
    commits: int
    bytes: int


class KindSize(NamedTuple):
    """How much the records of one kind are.

    Args:
        kind: the `App`.
        records: how many.
        bytes: of their bodies, before compression.
    """

    kind: str
    records: int
    bytes: int


class Pruning(NamedTuple):
    """What a prune does, or did.

    Args:
        commits: of which content goes, by desk and number.
        records: content and tree records that go.
        bytes: of their bodies, before compression.
        freed: bytes on the disk: of packs that go, and of rows whose room is used again.
        packs: packs that are written anew or removed.
        desks: size by desk, before.
        kinds: size by kind, before.
        files: contents of files in old releases that the desks' rules let go of (`vault.content.keeping`).
        unproven: contents that these rules are about too, and that stay because no mailbox of mine on a place I know
            has all of them in bundles of its own.
        read: bytes of packs that go with the next prune, since somebody who reads them was in the midst of it.
        left: bytes in packs that a writer or a prune left when it was cut off: freed, or still read.
        unreached: how many of the records are of no commit, since nothing here reaches them any more.
        kept: the states that were kept under a name and of which content goes, as addresses.
    """

    commits: tuple[PrunedCommit, ...]
    records: int
    bytes: int
    freed: int
    packs: int
    desks: tuple[DeskSize, ...]
    kinds: tuple[KindSize, ...]
    files: int = 0
    unproven: int = 0
    read: int = 0
    left: int = 0
    unreached: int = 0
    kept: tuple[str, ...] = ()

    @property
    def lets_go(self) -> bool:
        """Whether content goes for good."""
        return bool(self.commits or self.files or self.unreached)


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
        plan, _, _ = _plan(vault, keep, watch, strays, _noted_then(vault, watch))
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
        done, packs, unproven = _plan(vault, keep, watch, strays, _noted(vault))
        want_copies(w, unproven)
        if not done.lets_go and not packs.packs:
            return done
        require_room(vault.around, vault.dot, 2 * packs.staying, "Writing the packs anew")
        before = _pack_bytes(vault)
        gone = [int(row[0]) for row in store.rows("SELECT p FROM temp.prune_gone ORDER BY p")]
        rows = _row_bytes(vault)
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


def _plan(
    vault: Vault, keep: int, watch: Watch, strays: Sequence[int], noted: set[RecordHash]
) -> tuple[Pruning, Repacking, set[RecordHash]]:
    """Return what would go, how packs are written anew then, and which contents lack a copy in a mailbox of mine.

    Of checkouts that were cut off, what is `noted` stays.
    """
    if keep < 1:
        raise ValueError(f"at least the newest revision keeps its content, not {keep}")
    store = vault.store
    start_notes(vault)
    looked = dict(store.notes(LOOKED))
    old = [
        row
        for row in store.rows(_OLD, vault.node.text, min(keep, sys.maxsize))
        if (tree := looked.get(str(row[0]))) is None or tree.text != row[3]
    ]
    trees = {str(row[2]): RecordHash.parse(str(row[3])) for row in old}
    going = letting(vault)
    states = [(known.name, state) for known in desks(vault) for state in kept_states(store, known.name)[:-keep]]
    is_whole = _keep(vault, set(trees) | going.commits, going.keep, keep, noted, watch)
    note_reached(vault, "gone", set(trees.values()), watch, unneeded=True)
    unreached = note_unreached(vault, watch) if is_whole else 0
    files, unproven = _let_go(vault, going, watch)
    packs = plan_repack(store)
    count, size = store.rows("SELECT count(*), ifnull(sum(r.size), 0) FROM temp.prune_gone JOIN rec r USING (p)")[0]
    return (
        Pruning(
            commits=tuple(
                PrunedCommit(str(desk), int(number), RecordHash.parse(str(commit)))
                for desk, number, commit, _ in old
                if _is_going(store, trees[str(commit)])
            ),
            records=int(count),
            bytes=int(size),
            freed=packs.freed + _row_bytes(vault) + sum(strays),
            packs=len(packs.packs) + len(strays),
            desks=tuple(_desks(vault, watch)),
            kinds=tuple(
                KindSize(str(app), int(records), int(total))
                for app, records, total in store.rows(
                    "SELECT s.s, c.records, c.bytes FROM counts c JOIN sym s ON s.id = c.app ORDER BY c.bytes DESC, s.s"
                )
            ),
            files=files,
            unproven=len(unproven),
            left=sum(strays),
            unreached=unreached,
            kept=tuple(f"{desk}@{state.label}" for desk, state in states if _is_going(store, state.tree)),
        ),
        packs,
        unproven,
    )


def _is_going(store: Store, tree: RecordHash) -> bool:
    """Tell whether something of a tree goes; of one that a later revision has again, all of it stays."""
    return bool(store.rows("SELECT 1 FROM body JOIN temp.prune_gone USING (p) WHERE digest = ?", tree.digest))


def _strays(vault: Vault) -> list[int]:
    """Return the bytes of each piece that a writer or a prune that was cut off left in packs; none while one writes."""
    try:
        with vault.lock.held(timeout=0):  # or the pack that is being written just now would count
            return vault.store.packs.left()
    except (EnvironmentFault, OSError):
        return []


def _let_go(vault: Vault, going: Letting, watch: Watch) -> tuple[int, set[RecordHash]]:
    """Note the content that rules let go of in the temporary tables; return of how many files, and what stays.

    A friend's vector counts log entries, so it proves no content; and a bundle of a friend's goes when they want. So
    what lies in no bundle of mine stays.
    """
    store = vault.store
    note_laid_down(store)
    proven: list[tuple[RecordHash, int, int]] = []
    unproven: set[RecordHash] = set()
    for record, size in going.drop.items():
        p = store.position(record)
        if p is None or store.rows(_KEPT, p):
            continue
        store.run("DELETE FROM temp.prune_part")
        note_reached(vault, "part", {record}, watch, unneeded=True, also_shared=True)
        if laid_down(store, "prune_part"):
            proven.append((record, p, size))
        else:
            unproven.add(record)
    note_reached(vault, "keep", unproven, watch)  # what they have in common with others stays as well
    for record, p, size in proven:
        if not store.rows(_KEPT, p):
            store.run("INSERT OR IGNORE INTO temp.prune_tomb VALUES (?)", p)
            note_reached(vault, "gone", {record}, watch, unneeded=True, also_shared=True)
            watch.progress(0, size, "prune")
    return int(store.rows("SELECT count(*) FROM temp.prune_tomb")[0][0]), unproven


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


def _keep(
    vault: Vault, old: set[str], others: set[RecordHash], keep: int, noted: set[RecordHash], watch: Watch
) -> bool:
    """Note what stays; tell whether all is here of what nobody else has.

    What a list names that is lost is not reached by it any more, and a backup may have that list.
    """
    store = vault.store
    mine: set[RecordHash] = set()
    trees = set(others)
    for commit, tree, signer in store.rows("SELECT hash, tree, signer FROM commits"):
        if str(commit) not in old:
            (mine if signer == vault.node.text else trees).add(RecordHash.parse(str(tree)))
    mine |= {RecordHash.parse(str(tree)) for (tree,) in store.rows("SELECT tree FROM checkout")} | noted
    # Without it nothing would tell what the folder looks at from work of the person's.
    looked: set[RecordHash] = set()
    unnamed: set[RecordHash] = set()
    for _, tree in store.notes(LOOKED):
        if tree is not None:
            (looked if store.rows(_IS_STATE, tree.text) else unnamed).add(tree)
    note_reached(vault, "keep", trees | looked, watch)
    missing = note_reached(vault, "keep", mine, watch)
    states = {state.tree for known in desks(vault) for state in kept_states(store, known.name)[-keep:]}
    note_reached(vault, "keep", states, watch)
    # Of a commit that was taken back only names are asked for.
    note_reached(vault, "keep", unnamed, watch, pages_only=True)
    return not missing.difference(RecordHash.parse(str(row[0])) for row in store.rows("SELECT hash FROM tomb"))


def _noted(vault: Vault) -> set[RecordHash]:
    """Return the trees between which checkouts were cut off, or left files as they are."""
    rows = vault.store.rows("SELECT before, after FROM unfinished")
    return {RecordHash.parse(str(tree)) for row in rows for tree in row if tree}


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


def _desks(vault: Vault, watch: Watch) -> list[DeskSize]:
    store = vault.store
    found = []
    for (desk,) in store.rows("SELECT DISTINCT desk FROM commits ORDER BY desk"):
        store.run("DELETE FROM temp.prune_desk")
        trees = {RecordHash.parse(str(row[0])) for row in store.rows("SELECT tree FROM commits WHERE desk = ?", desk)}
        note_reached(vault, "desk", trees, watch)
        size = store.rows("SELECT ifnull(sum(r.size), 0) FROM temp.prune_desk JOIN rec r USING (p)")[0][0]
        commits = store.rows("SELECT count(*) FROM commits WHERE desk = ?", desk)[0][0]
        found.append(DeskSize(str(desk), int(commits), int(size)))
    return found


def _row_bytes(vault: Vault) -> int:
    row = vault.store.rows("SELECT ifnull(sum(length(b.bytes)), 0) FROM temp.prune_gone JOIN body b USING (p)")
    return int(row[0][0])


def _pack_bytes(vault: Vault) -> int:
    return int(vault.store.rows("SELECT ifnull(sum(size), 0) FROM pack")[0][0])
