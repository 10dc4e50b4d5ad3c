"""What happened in the group as far as this vault knows: commits, releases, decisions, people."""

from __future__ import annotations

from dataclasses import dataclass

from lazy.people import label_of
from vault.history import sealed_record
from vault.profile import Commit, LabelRecord, Member, NodeCard, Release, Resolution, Revocation, read
from vault.records import RecordHash, Tai
from vault.vault import Vault

__all__ = ["LogLine", "log_lines"]

_OF_DESKS = (Commit.APP, LabelRecord.APP, Release.APP, Resolution.APP)
_APPS = (*_OF_DESKS, Member.APP, NodeCard.APP, Revocation.APP, "lace/founding")


@dataclass(frozen=True, slots=True)
class LogLine:
    """One sealed record that says something to a person.

    Args:
        hash: the record.
        app: its kind, such as `lace/release`.
        name: its Name, such as `main/1.0.0`.
        node: verifier text of who sealed it.
        seq: Seq of the log entry of that node which shares it, or None while it is not shared by its own.
        lamport: Lamport of that entry, or None.
        tai: when it was sealed, for display.
        message: what its author wrote, or whom it names.
    """

    hash: RecordHash
    app: str
    name: str
    node: str
    seq: int | None
    lamport: int | None
    tai: Tai
    message: str
    after_cut: bool = False
    """Whether its author was revoked and it does not count any more; it stays readable."""


def log_lines(vault: Vault, *, desk: str | None = None, node: str | None = None, limit: int = 20) -> list[LogLine]:
    """Return the newest lines first.

    The order is that of the times their authors gave, which is for display; where those are equal, of arrival here.
    Releases and resolutions appear once their content is here.

    Args:
        vault: whose knowledge.
        desk: only commits, releases and resolutions of this desk.
        node: verifier text; only what it sealed.
        limit: at most this many.
    """
    apps = _OF_DESKS if desk is not None else _APPS
    marks = ",".join("?" * len(apps))
    rows = vault.store.rows(
        "SELECT b.kind, b.digest, b.bytes FROM rec r JOIN body b USING (p)"  # noqa: S608 - only marks
        " JOIN sym n ON n.id = r.signer LEFT JOIN commits c USING (p) LEFT JOIN release e USING (p)"
        " LEFT JOIN resolution d USING (p) LEFT JOIN label l USING (p)"
        # Content has no name in this table, so the index passes over it.
        f" WHERE r.name IS NOT NULL AND r.app IN (SELECT id FROM sym WHERE s IN ({marks}))"
        " AND ifnull(e.visible, 1) IN (1, 2) AND ifnull(d.visible, 1) IN (1, 2)"
        " AND (? IS NULL OR coalesce(c.desk, e.desk, d.desk, l.desk) = ?) AND (? IS NULL OR n.s = ?)"
        " ORDER BY r.tai DESC, r.p DESC LIMIT ?",
        *apps,
        desk,
        desk,
        node,
        node,
        limit,
    )
    return [_line(vault, RecordHash(str(kind), bytes(digest)), bytes(stored)) for kind, digest, stored in rows]


def _line(vault: Vault, record: RecordHash, stored: bytes) -> LogLine:
    seal = sealed_record(stored)
    value = read(seal)
    message = ""
    if isinstance(value, Commit | Release):
        message = value.message
    elif isinstance(value, Resolution):
        message = value.reason
    elif isinstance(value, Member | NodeCard):
        message = value.label
    elif isinstance(value, Revocation):
        message = f"{label_of(vault, value.node.text)}: {value.reason}".removesuffix(": ")
    shared = vault.store.rows(
        "SELECT g.seq, g.lamport FROM link k JOIN log g ON g.p = k.p JOIN sym s ON s.id = k.data"
        " WHERE k.t = ? AND s.s = 'entry' AND g.node = ? ORDER BY g.seq, g.hash LIMIT 1",
        record.text,
        seal.signer.text,
    )
    seq, lamport = (int(str(value)) for value in shared[0]) if shared else (None, None)
    plex = seal.plex
    late = vault.store.rows(
        "SELECT 1 FROM body b WHERE b.digest = ?1 AND b.kind = ?2 AND b.p NOT IN (SELECT p FROM shared) AND ?3 <> ?4"
        " AND ?3 NOT IN (SELECT node FROM member)",
        record.digest,
        record.kind,
        seal.signer.text,
        vault.node.text,
    )
    return LogLine(record, plex.app, plex.name, seal.signer.text, seq, lamport, plex.tai, message, bool(late))
