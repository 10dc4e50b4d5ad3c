"""Reads: six questions about a line at one revision, with three outcomes (CLAY-17 to CLAY-25, CLAY-53).

A *value* is the same for ever at a fixed revision. *Never* means that no value can come. *Not yet* means that one may:
whoever waits for it asks `vault.revisions.waiting`. Friends' lines are read as one's own (CLAY-58).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, NamedTuple

from vault.notes.own import NODE
from vault.records import RecordHash, Tai
from vault.revisions.history import Head, commit_info, line_head, revision, revision_of
from vault.revisions.labels import labels
from vault.revisions.nodes import EMPTY, Node, NodeReader
from vault.revisions.ranges import on_the_way
from vault.store import Store

__all__ = ["Care", "Outcome", "ReadAnswer", "read_line", "read_tree", "store_ids", "was_pruned"]


class Care(StrEnum):
    """What is asked."""

    STORE = "u"
    DESK = "v"
    NUMBER = "w"
    FILE = "x"
    SHALLOW = "y"
    FULL = "z"


class Outcome(StrEnum):
    """What became of a read (CLAY-24)."""

    VALUE = "value"
    NEVER = "never"
    NOT_YET = "not-yet"
    NOT_SHARED = "not-shared"
    PRUNED = "pruned"


class ReadAnswer(NamedTuple):
    """What a read answered.

    Args:
        outcome: which of the outcomes.
        number: the revision that was read; 0 is the empty one.
        value: plain values, as JSON has them; None where there is nothing.
        identity: equal for two answers with the same data at the path; empty unless a value.
    """

    outcome: Outcome
    number: int = 0
    value: Any = None
    identity: str = ""


NEVER = ReadAnswer(Outcome.NEVER)
NOT_YET = ReadAnswer(Outcome.NOT_YET)


def read_line(
    store: Store,
    node: str,
    desk: str,
    number: int | None,
    care: Care,
    path: str = "",
    reader: NodeReader | None = None,
    *,
    commit: RecordHash | None = None,
) -> ReadAnswer:
    """Answer a read of a line.

    Args:
        store: where the line is.
        node: verifier text of whose line.
        desk: the desk.
        number: the revision; 0 is the empty one, None the head as it is now.
        care: what is asked.
        path: relative to the desk; empty for the whole.
        reader: keeps nodes between reads.
        commit: which revision is meant, where several have the number; else the first by hash.

    Raises:
        CommitMissing, TreeError, NodeTooLarge: what is there cannot be read.
    """
    head = line_head(store, node, desk)
    if care is Care.STORE:
        # CLAY-17: the store has no past.
        return NEVER if number is not None or path else _value(head.number if head else 0, store_ids(store))
    if care in {Care.NUMBER, Care.DESK} and path:
        return NEVER  # CLAY-19, H-21
    if number is None:
        number = head.number if head else 0
    if number == 0:
        return _empty(care, node, desk)
    found = revision(store, node, desk, number) if commit is None else revision_of(store, node, desk, commit)
    return _at_revision(store, found, care, path, reader or NodeReader(store))


def _at_revision(store: Store, found: Head | None, care: Care, path: str, reader: NodeReader) -> ReadAnswer:
    if found is None:
        return NOT_YET  # CLAY-14
    number = found.number
    info = commit_info(store, found.commit)
    if care is Care.NUMBER:
        return _value(number, {"number": number, "date": Tai.parse(info.tai).to_utc_iso(), "tai": info.tai})
    if care is Care.DESK:
        return _value(number, _desk_state(store, found, info.tree))
    return _at_tree(store, found.node, number, info.tree, care, path, reader)


def read_tree(store: Store, node: str, tree: RecordHash, care: Care, path: str = "") -> ReadAnswer:
    """Answer a read of a state that stands in no line, as one that is kept under a name: it has no number (APP-4).

    Args:
        store: where it is.
        node: verifier text of whose desk it is of.
        tree: what it holds.
        care: what is asked; of a line, or of the store, such a state says nothing.
        path: relative to the desk; empty for the whole.

    Raises:
        TreeError, NodeTooLarge: what is there cannot be read.
    """
    if care in {Care.STORE, Care.DESK, Care.NUMBER}:
        return NEVER
    return _at_tree(store, node, 0, tree, care, path, NodeReader(store))


def _at_tree(
    store: Store, node: str, number: int, tree: RecordHash, care: Care, path: str, reader: NodeReader
) -> ReadAnswer:
    if not store.have([tree]):
        return _missing(store, node, number, tree)
    at = reader.at(tree, path)
    if care is not Care.FILE:
        return ReadAnswer(Outcome.VALUE, number, at.shallow() if care is Care.SHALLOW else at.full(), at.hash())
    return _file(store, number, at)


def _file(store: Store, number: int, at: Node) -> ReadAnswer:
    if at.content is None:
        return ReadAnswer(Outcome.VALUE, number, None, "-")  # CLAY-20
    gone = store.rows("SELECT 1 FROM tomb WHERE hash = ?", at.content.text) and store.position(at.content) is None
    outcome = Outcome.PRUNED if gone else Outcome.VALUE  # CLAY-79
    return ReadAnswer(outcome, number, {"content": at.content.text, "size": at.size}, at.content.text)


def _missing(store: Store, node: str, number: int, tree: RecordHash) -> ReadAnswer:
    """Say why the content of a revision is not here; a friend's state between two releases never was (CLAY-24)."""
    if store.holes.among({tree}):
        return NOT_YET
    return ReadAnswer(Outcome.PRUNED if was_pruned(store, node) else Outcome.NOT_SHARED, number)


def was_pruned(store: Store, node: str) -> bool:
    """Tell whether content of a line that is missing here, and was never shared, went with a prune (CLAY-79)."""
    return node == store.note(NODE) and bool(store.rows("SELECT 1 FROM audit WHERE verb = 'lace-prune' LIMIT 1"))


def _value(number: int, value: dict[str, Any]) -> ReadAnswer:
    return ReadAnswer(Outcome.VALUE, number, value, repr(value))


def _empty(care: Care, node: str, desk: str) -> ReadAnswer:
    """Answer at revision 0, which has no data for any path (CLAY-14, CLAY-53)."""
    match care:
        case Care.NUMBER:
            return _value(0, {"number": 0, "date": None, "tai": None})
        case Care.DESK:
            return _value(0, {"node": node, "desk": desk, "head": 0, "tree": None, "numbers": {}, "labels": {}})
        case Care.FILE:
            return ReadAnswer(Outcome.VALUE, 0, None, "-")
        case _:
            value = EMPTY.shallow() if care is Care.SHALLOW else EMPTY.full()
            return ReadAnswer(Outcome.VALUE, 0, value, EMPTY.hash())


def _desk_state(store: Store, at: Head, tree: RecordHash) -> dict[str, Any]:
    """Return head, numbers, labels and tree as they were at a revision (CLAY-18).

    Where several revisions have a number, that one is under it which leads here, and all are under `doubled`.
    """
    commits: dict[int, list[str]] = {}
    rows = store.rows(
        "SELECT number, commit_hash FROM rev WHERE node = ? AND desk = ? AND number <= ? ORDER BY number, hash",
        at.node,
        at.desk,
        at.number,
    )
    for number, commit in rows:
        commits.setdefault(int(number), []).append(str(commit))
    leading = on_the_way(store, at.node, at.desk, 0, at)
    doubled = {str(number): found for number, found in commits.items() if len(found) > 1}
    return {
        "node": at.node,
        "desk": at.desk,
        "head": at.number,
        "tree": tree.text,
        "numbers": {
            str(number): leading[number].commit.text if number in leading else found[0]
            for number, found in commits.items()
        },
        **({"doubled": doubled} if doubled else {}),
        "labels": {name: number for name, number in labels(store, at.node, at.desk).items() if number <= at.number},
    }


def store_ids(store: Store) -> dict[str, Any]:
    """Return every commit and content of the store, as it is now (CLAY-1, CLAY-17)."""
    contents = store.rows(
        "SELECT b.kind, b.digest FROM rec r JOIN body b USING (p) JOIN sym s ON s.id = r.app WHERE s.s = 'lace/data'"
        " ORDER BY b.digest"
    )
    return {
        "commits": [str(row[0]) for row in store.rows("SELECT hash FROM commits ORDER BY hash")],
        "contents": [RecordHash(str(kind), bytes(digest)).text for kind, digest in contents],
    }
