"""Views: everything a question needs that is not a record, kept beside the records and rebuilt from them.

Two steps inside the transaction that adds records. `Views.apply` writes what one record says by itself. `Views.settle`
then brings what depends on several records to its one answer for the set of records present: membership, version
vectors, the closure of what is shared (`Shared`), visible releases. Settling is incremental, and its result is a
function of the set of records and of who I am, never of their order: `lace fsck` rebuilds all of it and compares.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

from vault.profile import CONTENT_APPS, DATA_APP, read
from vault.records import Plex, RecordHash, Seal
from vault.store.at_hand import AtHand
from vault.store.belonging import Belonging, steps
from vault.store.database import insert_many
from vault.store.holes import HoleTable
from vault.store.sharing import Sharing
from vault.store.showing import Showing

if TYPE_CHECKING:
    from vault.desks.content import Contents
    from vault.membership import Cut
    from vault.nodelog import VectorEntry
    from vault.profile import (
        AuditRecord,
        Commit,
        LabelRecord,
        LogEntry,
        Member,
        NodeCard,
        Release,
        Resolution,
        Revision,
        Revocation,
    )

__all__ = ["Views"]

Row = tuple[object, ...]

_TOGETHER = 2_000  # records whose rows are written together
_AT_HAND = 4_096  # records of one transaction that sharing need not read again, besides content
_ADDED = 16_384  # records of one transaction that are noted though nobody may wait for them

_LOG = "lace/log"
_OF_BELONGING = frozenset({"lace/founding", "lace/member", "lace/node", "lace/revocation"})

_BEYOND = """SELECT 1 FROM log g JOIN shared s USING (p) LEFT JOIN vector v ON v.node = g.node
    WHERE g.node = ? AND g.seq > ifnull(v.seq, 0) AND NOT ifnull(v.forked, 0) LIMIT 1"""


class Views:
    """The views of one store connection; lives as long as the connection.

    Args:
        db: the store's connection.
        holes: what is missing in it.
        content_sum: computes the Content-SHA512 of a root tree that is complete here.
    """

    def __init__(self, db: sqlite3.Connection, holes: HoleTable, content_sum: Callable[[RecordHash], str]) -> None:
        self._db = db
        self._holes = holes
        self._at_hand = AtHand()
        self._sharing = Sharing(db, self._at_hand, holes)
        self._circle = Belonging(db)
        self._showing = Showing(db, self._sharing, self._circle, content_sum)
        self._rows: defaultdict[str, list[object]] = defaultdict(list)  # values, one row after the other
        self.forget()

    def forget(self) -> None:
        """Drop what is noted for settling, after a transaction was rolled back or settled."""
        self._rows.clear()
        self._taken = 0  # records whose rows wait to be written
        self._at_hand.clear()
        self._nodes: dict[str, int] = {}  # whose logs to settle, with the lowest Seq that is new
        self._added: list[RecordHash] = []
        self._most_added = _ADDED
        self._said = 0  # records that are at hand
        self._content: list[RecordHash] = []  # content and trees that may fill a hole
        self._belonging = False
        self._is_whole: bool | None = None
        self._revoking: bool | None = None

    def begin(self) -> None:
        """Begin a batch: ask the tables again whether anything is missing, for other processes fill holes too."""
        self._is_whole = None
        self._revoking = None

    def chain(self, node: str, cut: Cut) -> list[tuple[int, str, str | None]]:
        """Return the entries of a node's log that lead to a cut; see `Belonging.chain`."""
        return self._circle.chain(node, cut)

    def is_closed(self, root: RecordHash) -> bool:
        """Tell whether everything a record reaches with its content is here."""
        return self._sharing.is_whole() or self._sharing.is_closed(root)

    def apply(self, p: int, record: Plex | Seal) -> None:
        """Take what the record at position `p` says by itself, and note what must settle; `write` writes it."""
        if isinstance(record, Plex) and record.app in CONTENT_APPS:
            self._content.append(record.hash)
            if record.app == DATA_APP and record.blob.data:
                self._at_hand.put_contents((record.hash,), (p,))
            if len(self._content) >= _TOGETHER:
                self.write()
            return
        name = record.hash
        self._added.append(name)
        if len(self._added) > self._most_added:
            self._thin()
        value = read(record)
        if value is None or not isinstance(record, Seal):
            return
        app = value.APP
        if self._said < _AT_HAND:
            self._said += 1
            self._at_hand.put(name, (p, app, value))
        writer = _WRITERS.get(app)
        if writer is not None:
            insert, row, more = writer
            self._rows[insert] += row(p, value)
            if more is not None:
                self._rows[more[0]] += more[1](p, value)
            self._taken += 1
            if self._taken >= _TOGETHER:
                self.write()
        if app == _LOG:
            node, seq = record.signer.text, cast("LogEntry", value).seq
            self._nodes[node] = min(seq, self._nodes.get(node, seq))
            self._belonging = self._belonging or self._is_revoking()
        elif app in _OF_BELONGING:
            self._belonging = True
            self._revoking = None

    def apply_contents(self, positions: Sequence[int], contents: Contents) -> None:
        """Take what data records at these positions say by themselves, as `apply` does for one."""
        self._content += contents.records
        self._at_hand.put_contents(contents.records, positions)

    def write(self) -> None:
        """Write what `apply` took; before anything asks for it, and before the transaction ends."""
        for insert, values in self._rows.items():
            insert_many(self._db, insert, values)
        self._rows.clear()
        self._taken = 0
        content, self._content = self._content, []
        if not content or self._whole():
            return
        if len(self._added) + len(content) <= _AT_HAND:
            self._added += content
        else:  # a file has too many chunks to note those that nobody waits for
            wanted = self._holes.among(content)
            self._added += [record for record in content if record in wanted]

    def _thin(self) -> None:
        """Note no more of what was added than the first, which says that something was, and what somebody waits for."""
        first = self._added[0]
        wanted = set() if self._whole() else self._holes.among(self._added)
        self._added = [first, *(record for record in self._added[1:] if record in wanted)]
        self._most_added = max(_ADDED, 2 * len(self._added))

    def settle(self, *, me: str | None, founding: str | None, final: bool = True, parted: str = "") -> None:
        """Bring membership, vectors, sharing and visibility to their answer for the records present; see `Store`."""
        db = self._db
        turned: set[str] = set()
        if self._belonging and founding:
            turned = self._circle.settle(founding)
        # My own node counts whoever belongs: after `adopt` the old one no longer does, and the new one does.
        if parted:
            turned |= {parted, me or parted}
        for node, lowest in self._nodes.items():
            self._showing.renumber(node, lowest)
        self._nodes |= dict.fromkeys(turned, 0)
        members: set[str] = set()
        known: set[str] = set()
        if self._nodes:  # else nobody's log moves
            members = {str(row[0]) for row in db.execute("SELECT node FROM member")} | ({me} if me else set())
            known = members | {str(row[0]) for row in db.execute("SELECT node FROM former")}
            self._showing.hide(turned | self._nodes.keys() - members)
        is_less = self._turn_away(turned - known)
        is_back = bool(turned)  # whether something that kept a branch may keep it no more
        roots: list[RecordHash] = []
        for node in sorted(self._nodes.keys() & known):
            cut = self._circle.cut(node) if node != me else None  # my own log goes on here, whoever cut it
            if cut is None:
                more, is_forked = self._settle_vector(node, self._nodes[node])
                is_back |= is_forked
                is_less |= node in turned and self._shares_beyond(node)
            else:
                more, shrunk = self._settle_cut(node, cut, has_turned=node in turned)
                is_less |= shrunk
                is_back = True
            roots += more
        if is_back:
            self._showing.hide_beyond_forks()
        grown = self._share_anew(known, me) if is_less else self._sharing.extend(roots, self._added)
        self.forget()
        if grown:
            self._showing.hide_decisions()
        # Asked of the tables and not of memory: a round that was cut off is judged by the next action.
        if final and (grown or self._showing.has_hidden()):
            self._showing.settle(me or "")

    def _is_revoking(self) -> bool:
        if self._revoking is None:
            self.write()
            self._revoking = self._circle.has_revocations()
        return self._revoking

    def _whole(self) -> bool:
        if self._is_whole is None:
            self._is_whole = self._sharing.is_whole()
        return self._is_whole

    def _turn_away(self, nodes: set[str]) -> bool:
        """Drop the vectors of nodes that belong no more; tell whether something of their logs was shared until now."""
        gone = [(node,) for node in sorted(nodes)]
        if not gone:
            return False
        dropped = self._db.executemany("DELETE FROM vector WHERE node = ?", gone).rowcount > 0
        return dropped or any(self._shares_beyond(node) for node in nodes)

    def _shares_beyond(self, node: str) -> bool:
        """Tell whether entries of a log are shared that its vector does not reach, which ends where the log forks.

        Those that led to a cut were, also behind a gap, where nothing of the log counted.
        """
        return self._db.execute(_BEYOND, (node,)).fetchone() is not None

    def _settle_cut(self, node: str, cut: Cut, *, has_turned: bool) -> tuple[list[RecordHash], bool]:
        """Move the vector of a revoked node to its cut; return what is shared of its log, and whether that is less.

        Args:
            node: whose.
            cut: where.
            has_turned: whether it stands otherwise now, so that other entries of its log may have counted.
        """
        db = self._db
        row = db.execute("SELECT seq, plex, forked FROM vector WHERE node = ?", (node,)).fetchone()
        entries, seq, plex = self._circle.counted(node, cut)
        is_less = False
        if has_turned or (row is not None and (int(row[0]), bytes(row[1])) != (cut.seq, cut.digest)):
            were = db.execute("SELECT g.hash FROM log g JOIN shared s USING (p) WHERE g.node = ?", (node,))
            is_less = not {str(r[0]) for r in were} <= set(entries)
        if seq and row != (seq, plex, 0):
            db.execute("INSERT OR REPLACE INTO vector VALUES (?, ?, ?, 0)", (node, seq, plex))
            self._showing.hide([node])  # until then nothing of it counted
        elif not seq:
            db.execute("DELETE FROM vector WHERE node = ?", (node,))
        return [RecordHash.parse(entry) for entry in entries], is_less

    def _share_anew(self, known: set[str], me: str | None) -> bool:
        """Make the closure of what is shared anew, after something of it counts no more."""
        db = self._db
        db.execute("DELETE FROM shared")
        self._holes.clear()
        roots: list[RecordHash] = []
        for node in sorted(known):
            cut = self._circle.cut(node) if node != me else None
            if cut is not None:
                roots += [RecordHash.parse(entry) for entry in self._circle.counted(node, cut)[0]]
                continue
            row = db.execute("SELECT seq, forked FROM vector WHERE node = ?", (node,)).fetchone()
            if row is not None:
                upper = 2**63 - 1 if row[1] else int(row[0])
                rows = db.execute("SELECT hash FROM log WHERE node = ? AND seq <= ? ORDER BY seq, hash", (node, upper))
                roots += [RecordHash.parse(str(r[0])) for r in rows]
        self._sharing.extend(roots, [])
        db.execute("DELETE FROM exposure WHERE p NOT IN (SELECT p FROM shared)")
        return True

    def _settle_vector(self, node: str, lowest: int) -> tuple[list[RecordHash], bool]:
        """Move the vector of one node as far as its log is contiguous.

        Returns the log entries that are shared now, and whether the log is known to fork.

        Args:
            node: whose.
            lowest: lowest Seq that is new; a log that was without a fork can have one only from there on.
        """
        from vault.nodelog import VectorEntry, count  # a commit that stays here moves no vector

        db = self._db
        row = db.execute("SELECT seq, plex, forked FROM vector WHERE node = ?", (node,)).fetchone()
        before = VectorEntry(int(row[0]), bytes(row[1]), bool(row[2])) if row else VectorEntry.NONE
        new = 0 if before.forked else min(lowest, before.seq + 1)
        fork = db.execute(
            "SELECT min(seq) FROM (SELECT seq FROM log WHERE node = ? AND seq >= ?"
            " GROUP BY seq HAVING count(DISTINCT plex) > 1)",
            (node, new),
        ).fetchone()[0]
        start = before if fork is None or before.seq < fork else self._entry_at(node, int(fork) - 1)
        found = count(steps(db, node, start.seq), start, fork)
        if found != VectorEntry.NONE:  # a log that forks at its first entry counts for nothing, and says so
            db.execute(
                "INSERT INTO vector VALUES (?, ?, ?, ?) ON CONFLICT(node) DO UPDATE"
                " SET seq = excluded.seq, plex = excluded.plex, forked = excluded.forked",
                (node, found.seq, found.plex_digest, int(found.forked)),
            )
        elif row:
            db.execute("DELETE FROM vector WHERE node = ?", (node,))
        # Both branches of a fork are exchanged and kept, so beyond it everything counts as shared.
        upper = found.seq if fork is None else 2**63 - 1
        # Below the vector a second Seal over a Plex that counts may be new.
        lower = min(start.seq, lowest - 1) if not before.forked and fork is None else 0
        rows = db.execute(
            "SELECT hash FROM log WHERE node = ? AND seq > ? AND seq <= ? ORDER BY seq, hash", (node, lower, upper)
        )
        return [RecordHash.parse(str(row[0])) for row in rows], found.forked

    def _entry_at(self, node: str, seq: int) -> VectorEntry:
        from vault.nodelog import VectorEntry

        row = self._db.execute("SELECT plex FROM log WHERE node = ? AND seq = ? ORDER BY hash", (node, seq)).fetchone()
        return VectorEntry(seq, bytes(row[0])) if row else VectorEntry.NONE


def _log(p: int, value: LogEntry) -> Row:
    prev = value.prev.text if value.prev else None
    digest = bytearray(value.plex_digest)
    return value.signer.text, value.seq, value.hash.text, digest, prev, value.lamport, p


def _member(p: int, value: Member) -> Row:
    return p, value.signer.text, value.node.text, value.invitation


def _revocation(p: int, value: Revocation) -> Row:
    return p, value.hash.text, value.signer.text, value.node.text, value.last_seq


def _card(p: int, value: NodeCard) -> Row:
    return p, value.signer.text, value.label, value.machine or "", value.tai.text


def _commit(p: int, value: Commit) -> Row:
    return p, value.hash.text, value.desk, value.tree.text, value.signer.text, value.tai.text


def _parents(_p: int, value: Commit) -> Row:
    child = value.hash.text
    return tuple(text for parent in value.parents for text in (child, parent.text))


def _revision(p: int, value: Revision) -> Row:
    return value.signer.text, value.desk, value.number, value.hash.text, value.commit.text, p


def _label(p: int, value: LabelRecord) -> Row:
    return p, value.signer.text, value.desk, value.label, value.rev.text, value.hash.text


def _release(p: int, value: Release) -> Row:
    head = (p, value.hash.text, value.signer.text, value.desk, str(value.version), value.commit.text)
    return *head, value.content_sha512, value.tai.text


def _resolution(p: int, value: Resolution) -> Row:
    chosen = value.chosen.text if value.chosen else None
    release = value.release.text if value.release else None
    head = (p, value.hash.text, value.signer.text, value.desk, str(value.version), chosen, release)
    return *head, value.result.text, value.tai.text


def _sides(p: int, value: Resolution) -> Row:
    return tuple(each for side in value.sides for each in (p, side.text))


def _audit(p: int, value: AuditRecord) -> Row:
    return value.number, p, value.verb


# The statement that takes many rows of a kind of record, and what makes a row; and the same for what it has several of.
_Writer = tuple[str, Callable[..., Row]]
_WRITERS: dict[str, tuple[str, Callable[..., Row], _Writer | None]] = {
    _LOG: ("INSERT INTO log VALUES (?, ?, ?, ?, ?, ?, ?)", _log, None),
    "lace/member": ("INSERT INTO admission VALUES (?, ?, ?, ?)", _member, None),
    "lace/node": ("INSERT INTO card VALUES (?, ?, ?, ?, ?)", _card, None),
    "lace/revocation": ("INSERT INTO revocation VALUES (?, ?, ?, ?, ?, '')", _revocation, None),
    "lace/commit": (
        "INSERT INTO commits VALUES (?, ?, ?, ?, ?, ?)",
        _commit,
        ("INSERT OR IGNORE INTO parent VALUES (?, ?)", _parents),
    ),
    "lace/rev": ("INSERT INTO rev VALUES (?, ?, ?, ?, ?, ?)", _revision, None),
    "lace/label": ("INSERT INTO label VALUES (?, ?, ?, ?, ?, ?)", _label, None),
    "lace/release": ("INSERT INTO release VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL, 0)", _release, None),
    "lace/resolution": (
        "INSERT INTO resolution VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0)",
        _resolution,
        ("INSERT OR IGNORE INTO side VALUES (?, ?)", _sides),
    ),
    "lace/audit": ("INSERT OR IGNORE INTO audit VALUES (?, ?, ?)", _audit, None),
}
