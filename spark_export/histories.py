"""The tables that no single query gives: changed paths, the audit trail, and the syncs in it.

What a release changed is told against the nearest commit before it whose files are shared. Of what lies between only
the lineage is everybody's: its files may be private, and only who made it could tell of them (APP-8).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from vault.audit.entries import AuditEntry, read_audit
from vault.desks.diff import diff_trees
from vault.desks.pages import Entry
from vault.errors import DataError
from vault.frames import BadFrame
from vault.records import RecordHash, Seal, parse_record
from vault.records.hashes import is_record
from vault.sexp import Symbol, dumps
from vault.store import Store
from vault.store.packread import PackDamaged

__all__ = ["HISTORIES", "Compared", "Slice", "compared"]

_SYNCS: Final = frozenset({"lazy-sync", "lazy-push", "lazy-pull", "lazy-serve"})
# The first release of each commit, and the tree of a parent whose files are shared; of several parents that with the
# lowest hash, which is the same in everybody's vault.
_RELEASED: Final = """
    SELECT e.p, c.hash, c.desk, c.signer, c.tree, (SELECT t.tree FROM parent a JOIN commits t ON t.hash = a.parent
        JOIN shared s ON s.p = t.p WHERE a.child = c.hash AND s.content = 1 ORDER BY a.parent LIMIT 1)
    FROM release e JOIN {scope} USING (p) JOIN commits c ON c.hash = e.commit_hash
    WHERE e.p BETWEEN ? AND ? AND NOT EXISTS (
        SELECT 1 FROM release o JOIN {whole} USING (p) WHERE o.commit_hash = e.commit_hash AND o.p < e.p)
    ORDER BY e.p"""
_PARENTS: Final = """
    SELECT a.parent, CASE s.content WHEN 1 THEN t.tree END FROM parent a
    LEFT JOIN commits t ON t.hash = a.parent LEFT JOIN shared s ON s.p = t.p WHERE a.child = ? ORDER BY a.parent"""


class Slice(NamedTuple):
    """Which part of a table is read.

    Args:
        scope: SQL of the positions that are read: a name or a constant sub-query.
        whole: the same of all that may ever be read; another one where `scope` is a part of it.
        details: whether what audit entries are about is read, too.
        first: lowest position.
        last: highest position.
        lacks: is told of each row that is left out, by its position, and of a record that is damaged here.
    """

    scope: str
    whole: str
    details: bool
    first: int
    last: int
    lacks: Callable[[int, RecordHash], object] = lambda _position, _record: None


class Compared(NamedTuple):
    """A release, and what it is compared with.

    Args:
        position: of the release.
        commit: hash text of the released commit.
        desk: its desk.
        node: who made it.
        tree: hash text of its root tree.
        before: the root tree before it; None where nothing before it is shared.
    """

    position: int
    commit: str
    desk: str
    node: str
    tree: str
    before: str | None


def compared(store: Store, part: Slice) -> Iterator[Compared]:
    """Yield the first release of each commit with the tree that it is compared with, by position."""
    query = _RELEASED.format(scope=part.scope, whole=part.whole)
    for position, commit, desk, node, tree, before in store.rows(query, part.first, part.last):
        yield Compared(position, commit, desk, node, tree, before or _shared_before(store, commit))


def _shared_before(store: Store, commit: str) -> str | None:
    """Return the tree of the nearest commit before one whose files are shared."""
    seen, level = {commit}, [commit]
    while level:
        rows = [row for child in level for row in store.rows(_PARENTS, child)]
        if trees := [(parent, tree) for parent, tree in rows if tree is not None]:
            return str(min(trees)[1])
        level = sorted({str(parent) for parent, _ in rows} - seen)
        seen.update(level)
    return None


def _paths(store: Store, part: Slice) -> Iterator[tuple[Any, ...]]:
    """Yield what each released commit changed against what was shared before it.

    Cost follows what changed: directories with equal hashes are not read.
    """
    for position, commit, desk, node, tree, before in compared(store, part):
        try:
            changes = list(diff_trees(store, RecordHash.parse(before) if before else None, RecordHash.parse(tree)))
        except (PackDamaged, BadFrame):
            part.lacks(position, RecordHash.parse(tree))
            continue
        except DataError:
            continue  # a page is missing or contradicts itself; the release does not count as visible either
        for change in changes:
            after = change.after
            yield (
                position,
                commit,
                desk,
                node,
                change.path,
                change.kind,
                _kind(after or change.before),
                after.size if after else None,
                after.hash.text if after else None,
            )


def _kind(entry: Entry | None) -> str:
    if entry is None:
        return "file"
    if entry.is_dir:
        return "directory"
    return "link" if entry.kind == "l" else "file"


def _entries(store: Store, part: Slice) -> Iterator[tuple[int, Seal, AuditEntry]]:
    rows = store.db.execute(
        "SELECT b.p, b.kind, b.digest, b.bytes FROM audit a JOIN body b USING (p) WHERE b.p BETWEEN ? AND ?"
        " ORDER BY b.p",
        (part.first, part.last),
    )
    for position, kind, digest, stored in rows:
        name = RecordHash(str(kind), bytes(digest))
        if not is_record(name, bytes(stored)):
            part.lacks(position, name)
            continue
        try:
            seal = parse_record(bytes(stored), verify=False)
            if isinstance(seal, Seal):
                yield position, seal, read_audit(seal)
        except DataError:
            continue  # the gap in the numbers tells of it


def _audit(store: Store, part: Slice) -> Iterator[tuple[Any, ...]]:
    for position, seal, entry in _entries(store, part):
        tai = entry.tai.text
        yield (
            entry.sequence,
            position,
            seal.hash.text,
            seal.plex.hash.text,
            entry.parent.text if entry.parent else None,
            seal.signer.text,
            seal.signature,
            entry.verb,
            tai,
            tai,
            _details(entry) if part.details else None,
        )


def _details(entry: AuditEntry) -> str:
    return dumps(
        (
            Symbol("action"),
            (Symbol("object"), entry.object),
            (Symbol("parameters"), *entry.parameters),
            (Symbol("motivation"), entry.motivation),
            (Symbol("relates-to"), *entry.relates_to),
        ),
        pretty=False,
    )


def _syncs(store: Store, part: Slice) -> Iterator[tuple[Any, ...]]:
    for position, _seal, entry in _entries(store, part):
        if entry.verb not in _SYNCS:
            continue
        told = dict(entry.parameters)
        tai = entry.tai.text
        counts = [_count(told.get(name)) for name in ("received", "rejected", "sent")]
        yield (entry.sequence, position, entry.verb, tai, tai, told.get("road"), *counts, told.get("problems"))


def _count(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) < 19 else None


HISTORIES: Final[dict[str, Callable[[Store, Slice], Iterator[tuple[Any, ...]]]]] = {
    "paths": _paths,
    "audit": _audit,
    "syncs": _syncs,
}
