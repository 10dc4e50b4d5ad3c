"""What happened in the group as far as this vault knows: commits, releases, decisions, people."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from lazy.people import label_of
from vault import profile
from vault.desks.edit import NoSuchPath
from vault.plural import few
from vault.profile import (
    CARD_APP,
    COMMIT_APP,
    FOUNDING_APP,
    LABEL_APP,
    MEMBER_APP,
    RELEASE_APP,
    RESOLUTION_APP,
    REVOCATION_APP,
    read,
)
from vault.records import RecordHash, Seal, Tai
from vault.revisions.history import sealed_record
from vault.vault import Vault
from vault.watch import Watch

__all__ = ["LogLine", "lines_of_paths", "log_lines"]

_OF_DESKS = (COMMIT_APP, LABEL_APP, RELEASE_APP, RESOLUTION_APP)
_APPS = (*_OF_DESKS, MEMBER_APP, CARD_APP, REVOCATION_APP, FOUNDING_APP)
_ALL = -1  # as SQL has it

# ?1 now, ?2 kinds, ?3 desk, ?4 node, ?5 limit
_DATED: Final = "SELECT p, tai FROM rec"
_BY_DATE: Final = "o.at DESC, r.p DESC"
# What a clock ahead of mine dated stands where it came, or it would stand for a year above all that follows it. A
# release brings its commits with the newest first, so of what came at one time the dates tell what was made last.
_PLACED: Final = (
    "SELECT p, coalesce(past, max(past) OVER (ORDER BY p), '')"
    " FROM (SELECT p, CASE WHEN tai <= ?1 THEN tai END AS past FROM rec WHERE name IS NOT NULL)"
)
_BY_PLACE: Final = "o.at DESC, r.tai DESC, r.p DESC"
_NEWEST: Final = (
    "WITH placed(p, at) AS ({}) SELECT b.kind, b.digest, b.bytes FROM rec r JOIN body b USING (p)"
    " JOIN placed o USING (p) JOIN sym n ON n.id = r.signer LEFT JOIN commits c USING (p)"
    " LEFT JOIN release e USING (p) LEFT JOIN resolution d USING (p) LEFT JOIN label l USING (p)"
    # Content has no name in this table, so the index passes over it.
    " WHERE r.name IS NOT NULL AND r.app IN (SELECT id FROM sym WHERE s IN (SELECT value FROM json_each(?2)))"
    " AND ifnull(e.visible, 1) IN (1, 2) AND ifnull(d.visible, 1) IN (1, 2)"
    " AND (?3 IS NULL OR coalesce(c.desk, e.desk, d.desk, l.desk) = ?3) AND (?4 IS NULL OR n.s = ?4)"
    " ORDER BY {} LIMIT ?5"
)


class LogLine(NamedTuple):
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
        act: what its author did, to follow their name in a sentence: `released main 1.0.0`.
        words: what its author wrote; empty where that is nothing.
        after_cut: whether its author was revoked and it does not count any more; it stays readable.
        paths: where the log was asked about paths, those that it changed, also by names they had before.
    """

    hash: RecordHash
    app: str
    name: str
    node: str
    seq: int | None
    lamport: int | None
    tai: Tai
    message: str
    act: str
    words: str
    after_cut: bool
    paths: tuple[str, ...] = ()

    def sentence(self, who: str) -> str:
        """Return all of it for people: who did what, and the first line of their words."""
        title, _, more = self.words.partition("\n")
        return f"{who} {self.act}" + (f": {title}" if title else "") + (" ..." if more else "")


def log_lines(vault: Vault, *, desk: str | None = None, node: str | None = None, limit: int = 20) -> list[LogLine]:
    """Return the newest lines first.

    The order is that of the times their authors gave, which is for display; where those are equal, of arrival here. A
    time that is still to come says only what came last of lines that arrived together: else such a line stands where
    it arrived (fault 21).
    Releases and resolutions appear once their content is here.

    Args:
        vault: whose knowledge.
        desk: only commits, releases and resolutions of this desk.
        node: verifier text; only what it sealed.
        limit: at most this many.
    """
    apps = _OF_DESKS if desk is not None else _APPS
    return _lines(vault, _rows(vault, apps, desk, node, limit))


def lines_of_paths(
    vault: Vault,
    desk: str,
    paths: Sequence[str],
    *,
    node: str | None = None,
    limit: int = 20,
    watch: Watch = Watch(),
) -> list[LogLine]:
    """Return the newest commits of a desk that changed something at or below some paths, as `log_lines` orders them.

    Args:
        vault: whose knowledge.
        desk: the desk.
        paths: relative to its folder; the empty path is all of it. A file is followed to the name it had before.
        node: verifier text; only what it sealed.
        limit: at most this many.
        watch: progress, in commits, and cancel.

    Raises:
        NoSuchPath: no commit that is here has anything there.
    """
    from vault.revisions.touching import Touching  # mostly all that happened is asked for

    touching = Touching(vault.store, paths, watch)
    found: list[LogLine] = []
    commits = _rows(vault, (COMMIT_APP,), desk, None, _ALL)
    for done, row in enumerate(commits):
        watch.progress(done, len(commits), "commits")
        changed = touching.changed(RecordHash(str(row[0]), bytes(row[1])))
        if changed:
            found += [line._replace(paths=changed) for line in _lines(vault, [row]) if node in {None, line.node}]
            if len(found) >= limit:
                break
    if not touching.met:
        raise NoSuchPath(f"No commit of {desk} that is here has {few(paths)}.")
    return found


def _rows(vault: Vault, apps: Sequence[str], desk: str | None, node: str | None, limit: int) -> list[tuple[Any, ...]]:
    """Return kind, digest and stored bytes of the newest records of some kinds."""
    now = vault.around.tai().text
    is_ahead = bool(vault.store.rows("SELECT 1 FROM rec WHERE name IS NOT NULL AND tai > ? LIMIT 1", now))
    newest = _NEWEST.format(*((_PLACED, _BY_PLACE) if is_ahead else (_DATED, _BY_DATE)))
    return vault.store.rows(newest, now, json.dumps(apps), desk, node, limit)


def _lines(vault: Vault, rows: Sequence[tuple[Any, ...]]) -> list[LogLine]:
    found = [(RecordHash(str(kind), bytes(digest)), sealed_record(bytes(stored))) for kind, digest, stored in rows]
    numbers = _numbers(vault, [record for record, seal in found if seal.plex.app == COMMIT_APP])
    doubled = _doubled(vault, numbers)
    return [_line(vault, record, seal, numbers.get(record.text), record.text in doubled) for record, seal in found]


def _numbers(vault: Vault, commits: list[RecordHash]) -> dict[str, int]:
    """Return the number that each commit got first on its author's line, of those that have one."""
    rows = vault.store.rows(
        "SELECT c.hash, min(CAST(substr(r.name, length(c.desk) + 2) AS INTEGER)) FROM json_each(?) j"
        " JOIN commits c ON c.hash = j.value JOIN link k ON k.t = c.hash JOIN rec r ON r.p = k.p"
        " JOIN sym a ON a.id = r.app AND a.s = 'lace/rev' JOIN sym n ON n.id = r.signer AND n.s = c.signer"
        " GROUP BY c.hash",
        json.dumps([commit.text for commit in commits]),
    )
    return {str(commit): int(str(number)) for commit, number in rows}


def _doubled(vault: Vault, numbers: Mapping[str, int]) -> set[str]:
    """Return those commits whose number several revisions of their author's line have."""
    rows = vault.store.rows(
        "SELECT c.hash FROM json_each(?) j JOIN commits c ON c.hash = j.key WHERE"
        " (SELECT count(*) FROM rev r WHERE r.node = c.signer AND r.desk = c.desk AND r.number = j.value) > 1",
        json.dumps(numbers),
    )
    return {str(commit) for (commit,) in rows}


def _told(
    vault: Vault, value: profile.ProfileValue | None, seal: Seal, number: int | None, *, is_doubled: bool
) -> tuple[str, str]:
    """Return what somebody did, and what they wrote to it."""
    words = ""
    match value:
        case profile.Commit():
            case = f"{seal.hash} (one of several numbered {number})" if is_doubled else number
            act, words = f"committed {seal.plex.name}" + (f"@{case}" if number else ""), value.message
        case profile.Release():
            act, words = f"released {value.desk} {value.version}", value.message
        case profile.Resolution():
            act, words = f"decided {value.desk} {value.version} {_decided(vault, value)}", value.reason
        case profile.Revocation():
            act, words = f"revoked {label_of(vault, value.node.text)}", value.reason
        case profile.LabelRecord():
            act = f"labelled {value.desk}{_labelled(vault, value)} as {value.label}"
        case profile.Member():
            act = f"let {value.label} in"
        case profile.NodeCard():
            act = f"joined as {value.label}"
        case _:
            act = f"founded the group {seal.plex.group}"
    return act, words


def _decided(vault: Vault, value: profile.Resolution) -> str:
    if value.chosen is None:
        return "by a merge"
    rows = vault.store.rows("SELECT node FROM release WHERE hash = ?", value.chosen.text)
    return f"for the side of {label_of(vault, str(rows[0][0]))}" if rows else "for one side"


def _labelled(vault: Vault, value: profile.LabelRecord) -> str:
    rows = vault.store.rows(
        "SELECT number FROM rev WHERE node = ? AND desk = ? AND hash = ?",
        value.signer.text,
        value.desk,
        value.rev.text,
    )
    return f"@{rows[0][0]}" if rows else ""


def _line(vault: Vault, record: RecordHash, seal: Seal, number: int | None, is_doubled: bool) -> LogLine:
    value = read(seal)
    act, words = _told(vault, value, seal, number, is_doubled=is_doubled)
    message = words
    if isinstance(value, profile.Member | profile.NodeCard):
        message = value.label
    elif isinstance(value, profile.Revocation):
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
    author = seal.signer.text
    return LogLine(
        hash=record,
        app=plex.app,
        name=plex.name,
        node=author,
        seq=seq,
        lamport=lamport,
        tai=plex.tai,
        message=message,
        act=act,
        words=words,
        after_cut=bool(late),
    )
