"""The tables that no single query gives: changed paths, the audit trail, and the syncs in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from vault.audit.entries import AuditEntry, read_audit
from vault.desks.diff import diff_trees
from vault.desks.pages import Entry
from vault.errors import DataError
from vault.records import RecordHash, Seal, parse_record
from vault.sexp import Symbol, dumps
from vault.store import Store

__all__ = ["HISTORIES"]

_SYNCS: Final = frozenset({"lazy-sync", "lazy-push", "lazy-pull"})
_RELEASED: Final = """
    SELECT e.p, e.commit_hash, c.desk, c.signer, c.tree,
        (SELECT t.tree FROM parent a JOIN commits t ON t.hash = a.parent WHERE a.child = c.hash ORDER BY a.parent)
    FROM release e JOIN commits c ON c.hash = e.commit_hash WHERE e.p BETWEEN ? AND ? ORDER BY e.p"""


def _paths(store: Store, _details: bool, first: int, last: int) -> Iterator[tuple[Any, ...]]:
    """Yield what each released commit changed against its first parent whose tree is here.

    Cost follows what changed: directories with equal hashes are not read.
    """
    seen: set[str] = set()
    for position, commit, desk, node, tree, before in store.rows(_RELEASED, first, last):
        if commit in seen:
            continue
        seen.add(commit)
        base = RecordHash.parse(before) if before else None
        if base is not None and store.position(base) is None:
            base = None  # its owner shared only the lineage
        try:
            changes = list(diff_trees(store, base, RecordHash.parse(tree)))
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


def _entries(store: Store, first: int, last: int) -> Iterator[tuple[int, Seal, AuditEntry]]:
    rows = store.db.execute(
        "SELECT b.p, b.bytes FROM audit a JOIN body b USING (p) WHERE b.p BETWEEN ? AND ? ORDER BY b.p", (first, last)
    )
    for position, stored in rows:
        try:
            seal = parse_record(bytes(stored), verify=False)
            if isinstance(seal, Seal):
                yield position, seal, read_audit(seal)
        except DataError:
            continue  # the gap in the numbers tells of it


def _audit(store: Store, details: bool, first: int, last: int) -> Iterator[tuple[Any, ...]]:
    for position, seal, entry in _entries(store, first, last):
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
            _details(entry) if details else None,
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


def _syncs(store: Store, _wanted: bool, first: int, last: int) -> Iterator[tuple[Any, ...]]:
    for position, _seal, entry in _entries(store, first, last):
        if entry.verb not in _SYNCS:
            continue
        told = dict(entry.parameters)
        tai = entry.tai.text
        counts = [_count(told.get(name)) for name in ("received", "rejected", "sent")]
        yield (entry.sequence, position, entry.verb, tai, tai, told.get("road"), *counts, told.get("problems"))


def _count(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) < 19 else None


HISTORIES: Final[dict[str, Callable[[Store, bool, int, int], Iterator[tuple[Any, ...]]]]] = {
    "paths": _paths,
    "audit": _audit,
    "syncs": _syncs,
}
