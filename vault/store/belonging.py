"""Who belongs, as tables: `member`, `former` and the state of each `revocation`, from `vault.membership`.

A cut names an entry by Seq and digest, so what counts of a revoked node is the chain of entries that leads to it, and
not whatever else was sealed under the same numbers.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Final

from vault.profile import read
from vault.records import RecordHash, Seal, Verifier

if TYPE_CHECKING:
    from vault.membership import Cut, Membership, Revocation
    from vault.nodelog import LogStep

__all__ = ["PENDING", "Belonging", "steps"]

_APPLIED: Final = "applied"
PENDING: Final = "pending"  # a node above its target has to agree
_VOID: Final = "void"  # its signer was cut before, its target was, or nobody shares it yet

_CHAIN: Final = """
WITH RECURSIVE chain(seq, hash, prev) AS (
    SELECT seq, hash, prev FROM log WHERE node = ?1 AND seq = ?2 AND plex = ?3
    UNION SELECT l.seq, l.hash, l.prev FROM chain c JOIN log l ON l.node = ?1 AND l.seq = c.seq - 1 AND l.hash = c.prev
) SELECT seq, hash, prev FROM chain ORDER BY seq, hash"""
_SHARING: Final = """
SELECT g.seq, g.lamport, g.plex, g.hash FROM link k JOIN log g ON g.p = k.p JOIN sym s ON s.id = k.data
WHERE s.s = 'entry' AND k.t = ?1 AND g.node = ?2 ORDER BY g.seq, g.lamport, g.hash"""


class Belonging:
    """The tables of belonging of one store connection."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def has_revocations(self) -> bool:
        """Tell whether somebody was ever revoked, so that every log entry may change who belongs."""
        return self._db.execute("SELECT 1 FROM revocation LIMIT 1").fetchone() is not None

    def settle(self, founding: str) -> set[str]:
        """Bring the tables to their answer for the records present; return the nodes that stand otherwise now."""
        membership = self._membership(founding)
        if membership is None:
            return set()
        cards = {
            str(node): str(label)
            for node, label in self._db.execute("SELECT node, label FROM card ORDER BY tai, label")
        }
        members: dict[str, tuple[object, ...]] = {}
        former: dict[str, tuple[object, ...]] = {}
        for admission in membership.all:
            node = admission.node.text
            label = cards.get(node) or admission.label or "founder"
            row = (node, label, admission.depth, admission.admitted_by.text if admission.admitted_by else None)
            cut = membership.cuts.get(admission.node)
            if cut is None:
                members[node] = row
            else:
                by = membership.applied[admission.node].record
                former[node] = (*row, cut.seq, cut.digest, by.text if by else "")
        was = self._who_counts()
        self._write("member", members)
        self._write("former", former)
        self._note_states(membership)
        now = self._who_counts()
        return {node for node in was.keys() | now.keys() if was.get(node) != now.get(node)}

    def cut(self, node: str) -> Cut | None:
        """Return where a node was cut, or None."""
        row = self._db.execute("SELECT seq, plex FROM former WHERE node = ?", (node,)).fetchone()
        if row is None:
            return None
        from vault.membership import Cut  # hardly anybody was ever cut

        return Cut(int(row[0]), bytes(row[1]))

    def chain(self, node: str, cut: Cut) -> list[tuple[int, str, str | None]]:
        """Return the entries here that lead to a cut, as Seq, hash and the entry before; without gaps from its end."""
        rows = self._db.execute(_CHAIN, (node, cut.seq, cut.digest)).fetchall()
        return [(int(seq), str(entry), None if prev is None else str(prev)) for seq, entry, prev in rows]

    def counted(self, node: str, cut: Cut) -> tuple[list[str], int, bytes]:
        """Return the entries here that are shared of a log that was cut, and Seq and Plex digest of where it counts to.

        Until all that leads to the cut is here, nothing counts, and Seq is 0: how much of the rest came depends on who
        was met before the cut was heard of, so friends would differ, for good where nobody has the entry that it names.
        """
        chain = self.chain(node, cut)
        is_whole = bool(chain) and chain[0][0] == 1
        return [entry for _, entry, _ in chain], cut.seq if is_whole else 0, cut.digest if is_whole else b""

    def counting(self, node: str) -> set[str]:
        """Return the entries that count of a revoked node's log; none if it was not revoked."""
        cut = self.cut(node)
        if cut is None:
            return set()
        entries, last, _ = self.counted(node, cut)
        return set(entries) if last else set()

    def _membership(self, founding: str) -> Membership | None:
        from vault.membership import members_of  # who belongs seldom changes
        from vault.profile import Founding, Member

        value = self._value(RecordHash.parse(founding).digest)
        if not isinstance(value, Founding):
            return None
        admissions = [
            read(_sealed(bytes(r[0])))
            for r in self._db.execute("SELECT b.bytes FROM admission a JOIN body b USING (p) ORDER BY p")
        ]
        members = [value for value in admissions if isinstance(value, Member)]
        return members_of(value, members, self._revocations(), self._shares)

    def _revocations(self) -> list[Revocation]:
        from vault.membership import Revocation
        from vault.profile import Revocation as RevocationRecord

        found = []
        for (stored,) in self._db.execute(
            "SELECT b.bytes FROM revocation v JOIN body b USING (p) ORDER BY p"
        ).fetchall():
            value = read(_sealed(bytes(stored)))
            if not isinstance(value, RevocationRecord):
                continue
            row = self._db.execute(_SHARING, (value.hash.text, value.signer.text)).fetchone()
            if row is not None:  # nobody said it until a log entry shares it
                found.append(
                    Revocation(
                        target=value.node,
                        last_seq=value.last_seq,
                        digest=value.digest,
                        signer=value.signer,
                        seq=int(row[0]),
                        lamport=int(row[1]),
                        entry=bytes(row[2]),
                        record=value.hash,
                        kept=value.kept,
                    )
                )
        return found

    def _shares(self, node: Verifier, record: RecordHash, cut: Cut) -> bool:
        """Tell whether an entry of a node's log that leads to its cut shares a record."""
        sharing = self._db.execute(_SHARING, (record.text, node.text)).fetchall()
        within = {str(entry) for seq, _, _, entry in sharing if int(seq) <= cut.seq}
        return bool(within) and any(entry in within for _, entry, _ in self.chain(node.text, cut))

    def _value(self, digest: bytes) -> object:
        row = self._db.execute("SELECT bytes FROM body WHERE digest = ?", (digest,)).fetchone()
        return None if row is None else read(_sealed(bytes(row[0])))

    def _who_counts(self) -> dict[str, tuple[object, ...]]:
        """Map each node to what decides how much of it counts."""
        found: dict[str, tuple[object, ...]] = {
            str(node): () for (node,) in self._db.execute("SELECT node FROM member")
        }
        for node, seq, plex in self._db.execute("SELECT node, seq, plex FROM former"):
            found[str(node)] = (int(seq), bytes(plex))
        return found

    def _write(self, table: str, rows: dict[str, tuple[object, ...]]) -> None:
        """Change the rows that differ and no others."""
        was = {str(row[0]): tuple(row) for row in self._db.execute(f"SELECT * FROM {table}")}  # noqa: S608 - our names
        gone = [(node,) for node in was.keys() - rows.keys()]
        self._db.executemany(f"DELETE FROM {table} WHERE node = ?", gone)  # noqa: S608
        for node in sorted(rows):
            if was.get(node) != rows[node]:
                marks = ", ".join("?" * len(rows[node]))
                self._db.execute(f"INSERT OR REPLACE INTO {table} VALUES ({marks})", rows[node])  # noqa: S608

    def _note_states(self, membership: Membership) -> None:
        states = {r.record.text: _APPLIED for r in membership.applied.values() if r.record}
        states |= {r.record.text: PENDING for r in membership.pending if r.record}
        self._db.executemany(
            "UPDATE revocation SET state = ?1 WHERE hash = ?2 AND state <> ?1",
            [
                (states.get(str(text), _VOID), str(text))
                for (text,) in self._db.execute("SELECT hash FROM revocation").fetchall()
            ],
        )


def steps(db: sqlite3.Connection, node: str, first: int) -> list[LogStep]:
    """Return what counting needs of the entries of a node's log that are here, in the order of their Seq."""
    from vault.nodelog import LogStep

    rows = db.execute(
        "SELECT seq, plex, prev, hash FROM log WHERE node = ? AND seq >= ? ORDER BY seq, hash", (node, first)
    )
    return [LogStep(int(seq), bytes(plex), prev, str(entry)) for seq, plex, prev, entry in rows]


def _sealed(stored: bytes) -> Seal:
    from vault.records.parse import parse_record  # a commit reads no record back

    record = parse_record(stored, verify=False)
    assert isinstance(record, Seal)  # noqa: S101 - the query selects sealed kinds only
    return record
