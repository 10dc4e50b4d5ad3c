"""What of old releases a coming merge may need, and all that holds the content of a state beside the rules (CLAY-79).

A fork point is a base no more once all lines that are known go on from something later. So what counts is the graph as
it stands: its heads, their nearest common ancestors, and what a head has in common with one of these. One side of each
merge here contains my head, so a base of it is among those, and they keep all content; or it is a member's last release
that was merged by one friend here, and by another who did not know of that. Where several of them are one base together
(`vault.folder.criss_cross`), further ones lie below. Their states are settled, so making that base tells which contents
are read; of a large file that one side alone changed these are none.

Who comes late, with a line nobody here knew of, may stand on a state that is let go of: the merge asks for it by name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vault.desks.memory import MemoryObjects
from vault.desks.ports import Part, Source
from vault.errors import DataError
from vault.folder.criss_cross import Made, base_of
from vault.profile import DATA_APP
from vault.records import RecordHash
from vault.revisions.graph import ancestors, nearest_common, newest
from vault.store import Store
from vault.watch import Watch

if TYPE_CHECKING:
    from vault.vault import Vault

__all__ = ["Needs", "needs"]

# A commit that somebody pointed at, or a folder stands on.
_NAMED = """
SELECT commit_hash FROM checkout UNION SELECT v.commit_hash FROM label l JOIN rev v ON v.hash = l.rev"""
# What nobody went on from, and where each member stands; of who was revoked only what nobody has taken in.
_HEADS = """
SELECT hash FROM commits WHERE hash NOT IN (SELECT parent FROM parent)
UNION SELECT r.commit_hash FROM rev r JOIN
(SELECT v.node, v.desk, max(v.number) AS number FROM rev v JOIN member USING (node) GROUP BY v.node, v.desk)
USING (node, desk, number)"""
# What each member made last that others have, by desk: whoever lacks what was made of several of these merges them too,
# and then all of them are bases together. Of me also what was shared with it.
_SHARED = """
SELECT r.commit_hash, max(r.number) FROM rev r JOIN commits c ON c.hash = r.commit_hash JOIN shared s ON s.p = c.p
WHERE r.node = ? AND s.content = 1 GROUP BY r.desk"""
_RELEASED = """
SELECT r.commit_hash, max(r.seq) FROM release r JOIN member USING (node) WHERE r.visible = 1 GROUP BY r.node, r.desk"""
_FORKS = "SELECT parent FROM parent GROUP BY parent HAVING count(*) > 1"
_DATA = """
SELECT 1 FROM rec WHERE p = ? AND app = (SELECT id FROM sym WHERE s = ?)"""


@dataclass(frozen=True, slots=True)
class Needs:
    """What holds content of a line.

    Args:
        commits: hash texts of those that keep all of it.
        contents: what is read of further ones when a virtual base is made.
    """

    commits: frozenset[str] = frozenset()
    contents: frozenset[RecordHash] = frozenset()


def needs(vault: Vault, line: Collection[str], watch: Watch) -> Needs:
    """Return what holds content of the commits of a line of mine.

    Where something is not here that a virtual base reads, every fork point is held: which of them it needs cannot be
    told.

    Args:
        vault: whose; inside a read or a write.
        line: the commits, as hash texts.
        watch: a person may stop it.
    """
    named = _named(vault.store, line)
    heads = named | {str(row[0]) for row in vault.store.rows(_HEADS)}
    found = _Search(vault.store, heads, set(line), watch)
    found.run()
    shared = (*vault.store.rows(_SHARED, vault.node.text), *vault.store.rows(_RELEASED))
    found.pair({str(commit) for commit, _ in shared} & set(line))
    reading = _Reads(vault.store)
    objects = MemoryObjects(fallback=reading)
    made: Made = {}
    try:
        for bases in sorted(found.several):
            watch.cancelled()
            base_of(objects, vault, bases, made)
    except DataError:
        forks = {str(row[0]) for row in vault.store.rows(_FORKS)}
        return Needs(frozenset(named | found.commits | forks))
    return Needs(frozenset(named | found.commits), frozenset(_contents(vault.store, reading.asked)))


def _named(store: Store, line: Collection[str]) -> set[str]:
    """Return commits that folders, labels and open conflicts are about; one whose heads a line has all is settled."""
    found = {str(row[0]) for row in store.rows(_NAMED)}
    found |= {each for row in store.rows("SELECT also FROM checkout") for each in str(row[0]).split()}
    for (heads,) in store.rows("SELECT heads FROM conflict"):
        about = set(str(heads).split())
        found |= about if not about <= set(line) else set()
    return found


def _contents(store: Store, asked: Iterable[RecordHash]) -> Iterator[RecordHash]:
    """Yield those of some records that are no lists: these stay without being asked for."""
    for record in asked:
        if store.rows(_DATA, store.position(record), DATA_APP):
            yield record


class _Search:
    """The search for merge bases among the heads of a line, and among these bases.

    Args:
        store: whose graph it is.
        heads: hash texts; some may not be here.
        line: hash texts; a head that has nothing in common with it is passed over.
        watch: a person may stop it.
    """

    def __init__(self, store: Store, heads: Collection[str], line: set[str], watch: Watch) -> None:
        self._store = store
        self._watch = watch
        self._bases: dict[frozenset[str], tuple[RecordHash, ...]] = {}
        self._below: dict[str, set[str]] = {}
        self._heads = [head for head in sorted(heads) if not line.isdisjoint(self._all_below(head))]
        self.commits: set[str] = set()
        self.several: set[tuple[RecordHash, ...]] = set()

    def run(self) -> None:
        """Find them; a base may have more in common with a head that has not taken it in."""
        waiting = list(self._heads)
        while waiting:
            this = waiting.pop()
            self._watch.cancelled()
            with_each = {base for head in self._heads if head != this for base in self._common(this, head)}
            self._note(newest(self._store, with_each))  # as where all of them are merged in one go
            fresh = {base.text for base in with_each} - self.commits
            self.commits |= fresh
            waiting += sorted(fresh)

    def pair(self, commits: Collection[str]) -> None:
        """Note these with the heads, and with each other, as what a merge may be made over; below them all is settled.

        Args:
            commits: hash texts of commits of the line.
        """
        asked = {*self._heads, *commits}
        # Of each only those that were asked for stay in memory: of a long line all that is below is much.
        below = {one: asked & (self._below.get(one) or ancestors(self._store, RecordHash.parse(one))) for one in asked}
        for one in commits:
            for other in asked:
                self._watch.cancelled()
                if one not in below[other] and other not in below[one]:
                    self._note(map(RecordHash.parse, sorted((one, other))))

    def _common(self, one: str, other: str) -> tuple[RecordHash, ...]:
        common = frozenset(self._all_below(one) & self._all_below(other))
        if common not in self._bases:
            self._bases[common] = nearest_common(self._store, common).commits
        self._note(self._bases[common])
        return self._bases[common]

    def _note(self, bases: Iterable[RecordHash]) -> None:
        key = tuple(bases)
        if len(key) > 1:
            self.several.add(key)

    def _all_below(self, commit: str) -> set[str]:
        """Return the hash texts of a commit and its ancestors."""
        if commit not in self._below:
            self._below[commit] = ancestors(self._store, RecordHash.parse(commit))
        return self._below[commit]


class _Reads:
    """A source that notes what is asked of another one."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.asked: set[RecordHash] = set()

    def content(self, record: RecordHash, /) -> bytes | None:
        """As of a source."""
        self.asked.add(record)
        return self._source.content(record)

    def pieces(self, record: RecordHash, /) -> Iterator[bytes] | None:
        """As of a source."""
        self.asked.add(record)
        return self._source.pieces(record)

    def part(self, record: RecordHash, /) -> Part | None:
        """As of a source."""
        self.asked.add(record)
        return self._source.part(record)

    def length(self, record: RecordHash, /) -> int | None:
        """As of a source; of what is not read only this is asked."""
        return self._source.length(record)
