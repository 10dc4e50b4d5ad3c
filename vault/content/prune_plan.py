"""What a prune lets go of, and what stays: planned in one look at the store, and nothing is changed.

The content of a commit on my own line goes when nothing needs it: it was never shared and has no label, no folder
stands on it or looks at it, no conflict is about it, no merge can need it as its base, and it is none of the newest on
its desk. Of releases, content goes only where a rule of the desk says so, somebody else knows it, and it lies in
bundles of my own mailbox on a place (`vault.content.keeping`). What nothing here reaches any more goes as well, as what
a commit held that was taken back (`vault.content.reached`). Of the states that an undo kept under a name as many of the
newest stay as of revisions.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from typing import NamedTuple

from vault.content.copies import laid_down, note_laid_down
from vault.content.keeping import Letting, letting
from vault.content.reached import But, Reached, Table
from vault.desk_folders import desks
from vault.notes.folders import LOOKED
from vault.persons import linked
from vault.records import RecordHash
from vault.revisions.graph import json_texts
from vault.revisions.kept_states import kept_states
from vault.store import Store
from vault.store.repack import Repacking, plan_repack
from vault.vault import Vault
from vault.watch import Watch

__all__ = ["DeskSize", "KindSize", "PrunePlan", "PrunedCommit", "Pruning", "plan_of", "row_bytes"]


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

# Of a friend's state between releases only the commit came. Where my own merge made the same of it, and that goes, it
# holds nothing. Any other commit that no log shares may be of a key that I had before, or of somebody who was cut off.
_STAYING = """
SELECT hash, tree, signer FROM commits c
WHERE tree NOT IN (SELECT tree FROM commits WHERE hash IN (SELECT value FROM json_each(?1)))
OR signer IN (SELECT value FROM json_each(?2))
OR EXISTS (SELECT 1 FROM shared s WHERE s.p = c.p AND s.content = 1)
OR hash IN (SELECT commit_hash FROM release)
OR hash IN (SELECT parent FROM parent GROUP BY parent HAVING count(*) > 1)"""
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
        needed: contents that these rules are about too, and that stay because a coming merge, a label, a folder or an
            open conflict needs the state that has them, and nothing else holds them.
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
    needed: int = 0

    @property
    def lets_go(self) -> bool:
        """Whether content goes for good."""
        return bool(self.commits or self.files or self.unreached)


class PrunePlan(NamedTuple):
    """What a prune is to do, while the temporary tables hold which records that is about.

    Args:
        pruning: the same for a person.
        packs: how packs are written anew.
        unproven: the contents that lack a copy in a mailbox of mine.
    """

    pruning: Pruning
    packs: Repacking
    unproven: frozenset[RecordHash]


class _Old(NamedTuple):
    """A commit of mine that nobody else can have and nothing here stands on, and its tree."""

    commit: PrunedCommit
    tree: RecordHash


def plan_of(vault: Vault, keep: int, watch: Watch, strays: Sequence[int], noted: Collection[RecordHash]) -> PrunePlan:
    """Return what would go, inside a read or a write.

    Args:
        vault: whose.
        keep: how many of the newest revisions on each desk keep their content.
        watch: a person may stop it.
        strays: bytes of each piece that was left in packs.
        noted: what checkouts that were cut off need.

    Raises:
        ValueError: `keep` is below 1.
    """
    if keep < 1:
        raise ValueError(f"at least the newest revision keeps its content, not {keep}")
    reached = Reached(vault, watch)
    old, going = _old(vault, keep), letting(vault, watch)
    others = {one.commit.commit.text for one in old} | going.commits
    is_whole = _note_staying(vault, reached, others, going.keep, keep, noted)
    needed = sum(p is not None and not reached.stays(p) for p in map(vault.store.position, going.held))
    reached.note(Table.KEEP, going.needed)
    reached.note(Table.GONE, {one.tree for one in old}, But.STAYING_OR_SHARED)
    unreached = reached.note_unreached() if is_whole else 0
    files, unproven = _let_go(vault, reached, going, watch)
    packs = plan_repack(vault.store)
    pruning = _told(vault, reached, old, keep)._replace(
        freed=packs.freed + row_bytes(vault) + sum(strays),
        packs=len(packs.packs) + len(strays),
        files=files,
        unproven=len(unproven),
        needed=needed,
        left=sum(strays),
        unreached=unreached,
    )
    return PrunePlan(pruning, packs, frozenset(unproven))


def _old(vault: Vault, keep: int) -> list[_Old]:
    """Return the commits of which content may go, but for those that a folder looks at."""
    looked = dict(vault.store.notes(LOOKED))
    found = []
    for desk, number, commit, tree in vault.store.rows(_OLD, vault.node.text, min(keep, sys.maxsize)):
        one = _Old(PrunedCommit(str(desk), int(number), RecordHash.parse(str(commit))), RecordHash.parse(str(tree)))
        if looked.get(one.commit.desk) != one.tree:
            found.append(one)
    return found


def _told(vault: Vault, reached: Reached, old: Sequence[_Old], keep: int) -> Pruning:
    """Return what a person is told of what goes, once all of it is noted; of packs and rules nothing yet."""
    store = vault.store
    states = [(known.name, state) for known in desks(vault) for state in kept_states(store, known.name)[:-keep]]
    records, size = reached.going()
    kinds = store.rows(
        "SELECT s.s, c.records, c.bytes FROM counts c JOIN sym s ON s.id = c.app ORDER BY c.bytes DESC, s.s"
    )
    return Pruning(
        commits=tuple(one.commit for one in old if reached.goes(one.tree)),
        records=records,
        bytes=size,
        freed=0,
        packs=0,
        desks=tuple(_desks(vault.store, reached)),
        kinds=tuple(KindSize(str(app), int(count), int(total)) for app, count, total in kinds),
        kept=tuple(f"{desk}@{state.label}" for desk, state in states if reached.goes(state.tree)),
    )


def _let_go(vault: Vault, reached: Reached, going: Letting, watch: Watch) -> tuple[int, set[RecordHash]]:
    """Note the content that rules let go of; return of how many files, and what stays.

    A friend's vector counts log entries, so it proves no content; and a bundle of a friend's goes when they want. So
    what lies in no bundle of mine stays.
    """
    store = vault.store
    note_laid_down(store)
    proven: list[tuple[RecordHash, int, int]] = []
    unproven: set[RecordHash] = set()
    for record, size in going.drop.items():
        p = store.position(record)
        if p is None or reached.stays(p):
            continue
        reached.empty(Table.PART)
        reached.note(Table.PART, {record}, But.STAYING)
        if laid_down(store, f"prune_{Table.PART}"):
            proven.append((record, p, size))
        else:
            unproven.add(record)
    reached.note(Table.KEEP, unproven)  # what they have in common with others stays as well
    for record, p, size in proven:
        if not reached.stays(p):
            reached.note_position(Table.TOMB, p)
            reached.note(Table.GONE, {record}, But.STAYING)
            watch.progress(0, size, "prune")
    return reached.count(Table.TOMB), unproven


def _note_staying(
    vault: Vault,
    reached: Reached,
    old: Collection[str],
    others: Collection[RecordHash],
    keep: int,
    noted: Collection[RecordHash],
) -> bool:
    """Note what stays; tell whether all is here of what nobody else has.

    What a list names that is lost is not reached by it any more, and a backup may have that list.
    """
    store = vault.store
    mine, trees = set(noted), set(others)
    keys = linked(store, vault.node.text)
    for commit, tree, signer in store.rows(_STAYING, json_texts(old), json_texts(keys)):
        if str(commit) not in old:
            (mine if signer == vault.node.text else trees).add(RecordHash.parse(str(tree)))
    mine |= {RecordHash.parse(str(tree)) for (tree,) in store.rows("SELECT tree FROM checkout")}
    # Without it nothing would tell what the folder looks at from work of the person's.
    looked: set[RecordHash] = set()
    unnamed: set[RecordHash] = set()
    for _, tree in store.notes(LOOKED):
        if tree is not None:
            (looked if store.rows(_IS_STATE, tree.text) else unnamed).add(tree)
    reached.note(Table.KEEP, trees | looked)
    missing = reached.note(Table.KEEP, mine)
    states = {state.tree for known in desks(vault) for state in kept_states(store, known.name)[-keep:]}
    reached.note(Table.KEEP, states)
    # Of a commit that was taken back only names are asked for.
    reached.note(Table.KEEP, unnamed, But.CONTENT)
    # By their texts: one that rotted names nothing that is missing, and a check says so.
    return {each.text for each in missing}.issubset(str(row[0]) for row in store.rows("SELECT hash FROM tomb"))


def _desks(store: Store, reached: Reached) -> list[DeskSize]:
    found = []
    for (desk,) in store.rows("SELECT DISTINCT desk FROM commits ORDER BY desk"):
        reached.empty(Table.DESK)
        trees = {RecordHash.parse(str(row[0])) for row in store.rows("SELECT tree FROM commits WHERE desk = ?", desk)}
        reached.note(Table.DESK, trees)
        size = store.rows("SELECT ifnull(sum(r.size), 0) FROM temp.prune_desk JOIN rec r USING (p)")[0][0]
        commits = store.rows("SELECT count(*) FROM commits WHERE desk = ?", desk)[0][0]
        found.append(DeskSize(str(desk), int(commits), int(size)))
    return found


def row_bytes(vault: Vault) -> int:
    """Return the bytes of what goes that lies in rows of the store, while it is noted."""
    row = vault.store.rows("SELECT ifnull(sum(length(b.bytes)), 0) FROM temp.prune_gone JOIN body b USING (p)")
    return int(row[0][0])
