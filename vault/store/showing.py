"""Showing: which releases and resolutions count and are wholly here, as the column `visible` of their tables.

Like every view a function of the records present and of who I am: whatever takes back what counted has what it
may have shown judged anew, and `settle` judges what is hidden. What is judged is remembered only in the tables, so a
round that was cut off is gone on with by the next action.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from vault.errors import DataError
from vault.records import RecordHash
from vault.store.belonging import Belonging
from vault.store.closure import Walked
from vault.store.database import select_in
from vault.store.sharing import Sharing
from vault.store.sums import PutOff

__all__ = ["Showing"]

VISIBLE, MISMATCH, AFTER_CUT = 1, -1, 2  # and 0 while it is hidden

# Records of a revoked node up to its cut are judged once its log is contiguous up to there. Perhaps nobody has the
# entry at the cut; while it is not here, nothing waits for it.
_AWAY: Final = """visible = 0 AND node <> ? AND node NOT IN (SELECT node FROM member) AND NOT EXISTS (
    SELECT 1 FROM former f JOIN log g ON g.node = f.node AND g.seq = f.seq AND g.plex = f.plex
    LEFT JOIN vector v ON v.node = f.node WHERE f.node = t.node AND ifnull(v.seq, 0) < f.seq)"""

_COUNTED: Final = """SELECT r.p, r.hash, r.commit_hash, r.sha512 FROM release r JOIN vector v ON v.node = r.node
    JOIN shared s ON s.p = r.p WHERE r.visible = 0 AND r.seq <= v.seq
    AND (r.node = ? OR r.node NOT IN (SELECT node FROM former)) ORDER BY r.p"""
_OF_FORMER: Final = """SELECT r.p, r.hash, r.commit_hash, r.sha512, r.node, g.hash FROM release r
    JOIN former f ON f.node = r.node JOIN link k ON k.t = r.hash JOIN sym s ON s.id = k.data AND s.s = 'entry'
    JOIN log g ON g.p = k.p AND +g.node = r.node WHERE r.visible = 0 AND r.node <> ? ORDER BY r.p"""

# The ends of branches that the forked node's next one keeps, and the hidden releases of one log entry.
_KEPT_ENDS: Final = """SELECT DISTINCT v.node, v.seq, g.seq, g.plex, n.node, n.hash
    FROM vector v JOIN log g ON g.node = v.node
    AND g.seq > v.seq JOIN link k ON k.t = g.hash JOIN sym s ON s.id = k.data AND s.s = 'entry'
    JOIN log n ON n.p = k.p JOIN vector w ON w.node = n.node AND n.seq <= w.seq
    JOIN admission a ON a.signer = v.node AND a.node = n.node JOIN field f ON f.p = a.p
    JOIN sym y ON y.id = f.name AND y.s = 'Person' WHERE v.forked = 1 ORDER BY v.node, g.seq, g.hash"""
_HIDDEN_OF: Final = """SELECT r.p, r.hash, r.commit_hash, r.sha512 FROM log g JOIN link k ON k.p = g.p
    JOIN sym s ON s.id = k.data AND s.s = 'entry' JOIN release r ON r.hash = k.t AND r.node = g.node
    JOIN shared x ON x.p = r.p WHERE g.hash = ? AND g.node = ? AND r.visible = 0 ORDER BY r.p"""

# From the release to what links it: the other way would read the whole log of its node.
_NUMBER: Final = """UPDATE release SET (seq, lamport) = (
    SELECT g.seq, g.lamport FROM link k CROSS JOIN log g ON g.p = k.p JOIN sym s ON s.id = k.data AND s.s = 'entry'
    WHERE k.t = release.hash AND +g.node = release.node ORDER BY g.seq, g.hash LIMIT 1)"""
_ANEW: Final = """hash IN (SELECT k.t FROM log g JOIN link k ON k.p = g.p WHERE g.node = ?1 AND g.seq >= ?2)
    AND +node = ?1 AND +seq >= ?2"""

# A person seals the decision and the commit that joins the sides in one act.
_RESULT: Final = """SELECT r.result, r.release, e.commit_hash FROM resolution r
    JOIN commits c ON c.hash = r.result AND c.desk = r.desk AND c.signer = r.node
    LEFT JOIN release e ON e.hash = r.release AND e.desk = r.desk WHERE r.p = ?"""
_SIDES: Final = """SELECT e.commit_hash FROM side s JOIN resolution r USING (p)
    LEFT JOIN release e ON e.hash = s.release AND e.desk = r.desk WHERE s.p = ?"""
# What is built on the sides alone holds nothing of an earlier decision, which may not be here.
_OTHERWISE: Final = """SELECT 1 FROM resolution r JOIN release e ON e.hash = r.chosen
    JOIN commits k ON k.hash = e.commit_hash JOIN commits c ON c.hash = r.result AND c.tree <> k.tree
    WHERE r.p = ? AND NOT EXISTS (SELECT 1 FROM parent WHERE child = r.result AND parent NOT IN (
        SELECT x.commit_hash FROM side s JOIN release x ON x.hash = s.release WHERE s.p = r.p))"""
# When all that are asked for were met, what lies further down is not looked at.
_HELD: Final = """WITH RECURSIVE ask(h) AS (SELECT value FROM json_each(?1)),
    up(h) AS (SELECT ?2 UNION SELECT parent FROM parent JOIN up ON child = h)
    SELECT h FROM up CROSS JOIN ask USING (h) LIMIT ?3"""

# What a hidden release waits for as a rule: what its commit names first, or the commit itself.
_LIKELY: Final = """SELECT r.hash, ifnull(c.tree, r.commit_hash) FROM release r
    LEFT JOIN commits c ON c.hash = r.commit_hash WHERE r.hash IN"""
_REMEMBERED: Final = 20_000  # hidden releases and resolutions of which is known what they lack

_Candidate = tuple[int, str, str, str]  # position, hash, commit and Content-SHA512 of a hidden release


class Showing:
    """What is visible of one store connection.

    Args:
        db: the store's connection.
        sharing: what is shared, and whether all that a record reaches is here.
        circle: who belongs, and what counts of who was revoked.
        content_sum: computes the Content-SHA512 of a root tree that is complete here.
    """

    def __init__(
        self, db: sqlite3.Connection, sharing: Sharing, circle: Belonging, content_sum: Callable[[RecordHash], str]
    ) -> None:
        self._db = db
        self._sharing = sharing
        self._circle = circle
        self._content_sum = content_sum
        self._lacks: dict[str, RecordHash] = {}  # what was hidden, and one record that it reaches and that was not here

    def has_hidden(self) -> bool:
        """Tell whether something waits to be judged."""
        hidden = "SELECT 1 FROM release WHERE visible = 0 UNION ALL SELECT 1 FROM resolution WHERE visible = 0 LIMIT 1"
        return self._db.execute(hidden).fetchone() is not None

    def hide(self, nodes: Iterable[str]) -> None:
        """Have all judged anew that these nodes released and decided."""
        for node in sorted(nodes):
            self._db.execute("UPDATE release SET visible = 0 WHERE node = ? AND visible <> 0", (node,))
            self._db.execute("UPDATE resolution SET visible = 0 WHERE node = ? AND visible <> 0", (node,))

    def hide_beyond_forks(self) -> None:
        """Have judged anew what lies beyond the forks of all nodes.

        Who learned of a fork late must see what everybody sees: nothing beyond the last common entry. And what was
        kept of it counts only as long as the entry does that keeps it.
        """
        self._db.execute(
            "UPDATE release SET visible = 0 WHERE visible <> 0 AND EXISTS"
            " (SELECT 1 FROM vector v WHERE v.node = release.node AND v.forked = 1 AND release.seq > v.seq)"
        )

    def hide_decisions(self) -> None:
        """Have resolutions judged anew that are shared now and were not, or the other way."""
        self._db.execute(
            "UPDATE resolution SET visible = 0 WHERE visible = ? AND p IN (SELECT p FROM shared)"
            " OR visible = ? AND p NOT IN (SELECT p FROM shared)",
            (AFTER_CUT, VISIBLE),
        )

    def renumber(self, node: str, lowest: int) -> None:
        """Bring the Seq of a node's releases up to date; the lowest counts that shares a release.

        Args:
            node: whose log has new entries.
            lowest: lowest Seq of these; one that was here from there on may share what they do.
        """
        entries = "SELECT count(*) FROM (SELECT 1 FROM log WHERE node = ? AND seq >= ? LIMIT 2)"
        if self._db.execute(entries, (node, lowest)).fetchone()[0] > 1:
            self._db.execute(f"{_NUMBER} WHERE {_ANEW}", (node, lowest))

    def settle(self, me: str) -> None:
        """Show the releases and resolutions whose log entry counts and whose own content is here and matches.

        That of a resolution is its result, which joins its sides.
        """
        db = self._db
        db.execute(f"{_NUMBER} WHERE visible = 0 AND seq IS NULL")
        whole = self._sharing.is_whole()
        counted: list[_Candidate] = db.execute(_COUNTED, (me,)).fetchall()
        counted += self._within_cuts(me) + self._kept_releases(me)
        for p, _, commit, claimed in counted if whole else self._closed(counted):
            if (matches := self._matches(commit, claimed)) is not None:
                db.execute("UPDATE release SET visible = ? WHERE p = ?", (VISIBLE if matches else MISMATCH, p))
        decided: list[_Candidate] = db.execute(
            "SELECT r.p, r.hash, '', '' FROM resolution r JOIN shared s ON s.p = r.p WHERE r.visible = 0 ORDER BY r.p"
        ).fetchall()
        for p, *_ in decided if whole else self._closed(decided):
            db.execute("UPDATE resolution SET visible = ? WHERE p = ?", (VISIBLE if self._joins(p) else MISMATCH, p))
        self._show_what_was(me)

    def _within_cuts(self, me: str) -> list[_Candidate]:
        """Return hidden releases of revoked nodes: of a log's branches only the one that its cut names counts."""
        counting: dict[str, set[str]] = {}
        found: dict[int, _Candidate] = {}
        for *candidate, node, entry in self._db.execute(_OF_FORMER, (me,)).fetchall():
            if node not in counting:
                counting[node] = self._circle.counting(node)
            if entry in counting[node]:
                p, hash_text, commit, claimed = candidate
                found[p] = (p, hash_text, commit, claimed)
        return list(found.values())

    def _kept_releases(self, me: str) -> list[_Candidate]:
        """Return hidden releases beyond a fork, on branches that the owner went on with (`adopt`).

        The owner's next node, whom the forked one admitted as its own, shares the last entry of each branch that it
        keeps: the entries that lead there from the last common one, and nothing behind a gap (LAZ-64).
        """
        from vault.membership import Cut  # a fork is rare

        db = self._db
        found: list[_Candidate] = []
        for node, last, seq, plex, keeper, kept in db.execute(_KEPT_ENDS).fetchall():
            if keeper != me and self._circle.cut(keeper) is not None and kept not in self._circle.counting(keeper):
                continue
            chain = self._circle.chain(str(node), Cut(int(seq), bytes(plex)))
            if not chain or chain[0][0] != 1:
                continue
            for _, entry, _ in chain[int(last) :]:
                found += db.execute(_HIDDEN_OF, (entry, node)).fetchall()
        return found

    def _show_what_was(self, me: str) -> None:
        """Keep what was accepted of nodes that are no members now readable, marked as after the cut."""
        db = self._db
        sql = f"SELECT p, hash, commit_hash, sha512 FROM release t WHERE {_AWAY} ORDER BY p"  # noqa: S608 - ours
        for p, _, commit, claimed in self._closed(db.execute(sql, (me,)).fetchall()):
            if self._matches(commit, claimed):
                db.execute("UPDATE release SET visible = ? WHERE p = ?", (AFTER_CUT, p))
        sql = f"SELECT p, hash, '', '' FROM resolution t WHERE {_AWAY} ORDER BY p"  # noqa: S608
        for p, *_ in self._closed(db.execute(sql, (me,)).fetchall()):
            state = AFTER_CUT if self._joins(p) else MISMATCH  # else it would be asked again at each write
            db.execute("UPDATE resolution SET visible = ? WHERE p = ?", (state, p))

    def _closed(self, candidates: list[_Candidate]) -> Iterator[_Candidate]:
        """Yield those of which everything is here that they reach.

        Most wait for content for days: while the record is not here that one lacked last time, nothing of it is walked.
        """
        waiting = self._waiting([candidate[1] for candidate in candidates])
        walked = Walked()
        for candidate in candidates:
            if candidate[1] in waiting:
                continue
            lacking = self._sharing.lacking(RecordHash.parse(candidate[1]), walked)
            if lacking is None:
                self._lacks.pop(candidate[1], None)
                yield candidate
            else:
                if len(self._lacks) >= _REMEMBERED:
                    self._lacks.clear()
                self._lacks[candidate[1]] = lacking

    def _waiting(self, texts: list[str]) -> set[str]:
        """Return those that reach a record that is neither here nor was let go, as far as a look tells."""
        db = self._db
        unknown = [text for text in texts if text not in self._lacks]
        likely = {str(text): RecordHash.parse(str(lacks)) for text, lacks in select_in(db, _LIKELY, unknown)}
        likely |= {text: self._lacks[text] for text in texts if text in self._lacks}
        lacks = set(likely.values())
        digests = [record.digest for record in lacks]
        here = {bytes(row[0]) for row in select_in(db, "SELECT digest FROM body WHERE digest IN", digests)}
        names = [record.text for record in lacks]
        let_go = {str(row[0]) for row in select_in(db, "SELECT hash FROM tomb WHERE hash IN", names)}
        return {text for text, record in likely.items() if record.digest not in here and record.text not in let_go}

    def _joins(self, p: int) -> bool:
        """Tell whether a resolution's result is its signer's commit that joins all sides, as its release does (LAZ-42).

        All that it reaches is here. A result that everybody has already would else decide for everybody. Built on the
        sides alone it has the content of the one that is chosen.
        """
        made = self._db.execute(_RESULT, (p,)).fetchone()
        sides = {commit for (commit,) in self._db.execute(_SIDES, (p,)).fetchall()}
        if made is None or None in sides:
            return False
        result, release, released = made
        if release is None:
            return self._holds(result, sides) and self._db.execute(_OTHERWISE, (p,)).fetchone() is None
        return released is not None and self._holds(released, sides) and self._holds(result, {released})

    def _holds(self, upper: str, lower: set[str]) -> bool:
        """Tell whether a commit is, or is built on, each of others."""
        asked = ",".join(f'"{commit}"' for commit in lower)
        return len(self._db.execute(_HELD, (f"[{asked}]", upper, len(lower))).fetchall()) == len(lower)

    def _matches(self, commit: str, claimed: str) -> bool | None:
        """Tell whether a commit's content is what its release says; None while it is not here, or was put off."""
        tree = self._db.execute("SELECT tree FROM commits WHERE hash = ?", (commit,)).fetchone()
        try:
            return self._content_sum(RecordHash.parse(str(tree[0]))) == claimed if tree is not None else None
        except (DataError, PutOff) as fault:  # a tree that contradicts itself harms its own release, never the round
            return False if isinstance(fault, DataError) else None
