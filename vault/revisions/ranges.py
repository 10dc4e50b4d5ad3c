"""Range answers (nako): exactly what a copy of a line at revision a lacks of revision b (CLAY-54 to CLAY-57).

A range holds the numbers in (a, b], the commits that b reaches and a does not, and the trees and contents likewise.
Applied to a copy at a it gives the line at b; applied again it changes nothing. `lace record export` writes one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from vault.desks.chunks import part_of
from vault.desks.pages import PageRef, parse_page
from vault.errors import CallerError
from vault.profile import MAX_DIRECT_BYTES, TREE_APP, Revision
from vault.records import Plex, RecordHash, parse_record
from vault.revisions.graph import ancestors
from vault.revisions.history import Head, commit_info, line_head, revision, revisions, sealed_record
from vault.store import Store

__all__ = ["BadRange", "RangeAnswer", "on_the_way", "range_answer"]

_DOUBLED = (
    "SELECT 1 FROM rev WHERE node = ? AND desk = ? AND number BETWEEN ? AND ? GROUP BY number HAVING count(*) > 1"
)


class BadRange(CallerError):
    """The end of a range comes before its start."""

    code = "bad-range"
    exit_code = 2
    hint = "Name the older revision first, for example: main@3..7"


class RangeAnswer(NamedTuple):
    """What is new between two revisions of a line (H-23: both ends are told).

    Args:
        start: the revision the reader has; 0 for none.
        end: the revision it will have: the smaller of what was asked for and the head.
        numbers: number -> (revision record, commit) of each new number, in order.
        commits: records of the new commits, parents first where both are new.
        objects: records of the new trees and contents; a state that is not shared has none here.
    """

    start: int
    end: int
    numbers: dict[int, tuple[RecordHash, RecordHash]]
    commits: tuple[RecordHash, ...]
    objects: tuple[RecordHash, ...]

    def records(self) -> Iterator[RecordHash]:
        """Yield every record of the range once, in an order in which each can be taken in."""
        yield from self.objects
        yield from self.commits
        yield from (record for record, _ in self.numbers.values())


def range_answer(
    store: Store, node: str, desk: str, start: int, end: int, *, named: Collection[Head] = ()
) -> RangeAnswer:
    """Return what lies between two revisions of a line; cost follows its pages, never its contents.

    Where two revisions have a number between the two, that one counts which the end goes on from.

    Args:
        store: where the line is.
        node: verifier text of whose line.
        desk: the desk.
        start: the revision the reader has; 0 for none.
        end: the revision it is to have.
        named: which revisions are meant at the two, where several have the number; else the first by hash.

    Raises:
        BadRange: the end is before the start (CLAY-47).
        CommitMissing, TreeError: a commit or page cannot be read.
    """
    if end < start:
        raise BadRange(f"Revision {end} is before revision {start}.")
    head = line_head(store, node, desk)
    end = min(end, head.number if head else 0)
    numbers: dict[int, tuple[RecordHash, RecordHash]] = {}
    meant = {head.number: head for head in named}
    meant = {**on_the_way(store, node, desk, start, meant.get(end) or revision(store, node, desk, end)), **meant}
    for number in range(start + 1, end + 1):
        found = meant.get(number) or revision(store, node, desk, number)
        if found is None:
            break
        numbers[number] = (found.rev, found.commit)
    before = (meant.get(start) or revision(store, node, desk, start)) if start else None
    old = ancestors(store, before.commit) if before else set()
    old_states = frozenset(old)
    commits: list[RecordHash] = []
    for _, commit in numbers.values():
        commits += _new_commits(store, commit, old)
    objects = _Objects(store)
    for known in sorted(old_states):
        objects.know(commit_info(store, RecordHash.parse(known)).tree)
    for commit in commits:
        objects.add(commit_info(store, commit).tree)
    return RangeAnswer(start, end, numbers, tuple(commits), tuple(objects.found))


def on_the_way(store: Store, node: str, desk: str, start: int, end: Head | None) -> dict[int, Head]:
    """Return by number the revisions that lead to one, down to a start; none where no number of them is doubled."""
    found: dict[int, Head] = {}
    at = end if end is not None and store.rows(_DOUBLED, node, desk, start, end.number) else None
    while at is not None and at.number > start:
        found[at.number] = at
        prev = Revision.read(sealed_record(store.stored(at.rev) or b"")).prev
        at = next((one for one in revisions(store, node, desk, at.number - 1) if one.rev == prev), None)
    return found


def _new_commits(store: Store, commit: RecordHash, seen: set[str]) -> list[RecordHash]:
    """Return what a commit reaches and `seen` does not hold, parents first; adds it to `seen`."""
    order: list[RecordHash] = []
    stack: list[tuple[RecordHash, bool]] = [(commit, False)]
    while stack:
        at, is_done = stack.pop()
        if is_done:
            order.append(at)
            continue
        if at.text in seen or store.position(at) is None:
            continue
        seen.add(at.text)
        stack.append((at, True))
        stack += [(parent, False) for parent in commit_info(store, at).parents]
    return order


class _Objects:
    """Collects the records of trees that are not in what was there before; each is looked at once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._seen: set[RecordHash] = set()
        self.found: list[RecordHash] = []

    def know(self, tree: RecordHash) -> None:
        """Leave out what a tree reaches; each page of the older states is read once."""
        for _ in self._walk(tree, is_known=True):
            pass

    def add(self, tree: RecordHash) -> None:
        """Collect what a tree adds; nothing where the tree is not here."""
        self.found += self._walk(tree, is_known=False)

    def _walk(self, root: RecordHash, *, is_known: bool) -> Iterator[RecordHash]:
        """Yield what is new below a record, the lower ones first; of what is known, small contents are not read."""
        stack: list[tuple[RecordHash, bool]] = [(root, False)]
        while stack:
            at, is_done = stack.pop()
            if is_done:
                yield at
                continue
            if at in self._seen:
                continue
            stored = self._store.stored(at)
            if stored is None:
                continue
            self._seen.add(at)
            stack.append((at, True))
            for below, size in _below(stored):
                if is_known and size <= MAX_DIRECT_BYTES:
                    self._seen.add(below)
                else:
                    stack.append((below, False))


def _below(stored: bytes) -> list[tuple[RecordHash, int]]:
    """Return the records that a tree page or manifest names, each with its size; pages count as large."""
    record = parse_record(stored, verify=False)
    if not isinstance(record, Plex):
        return []
    if record.app == TREE_APP:
        found = []
        for item in parse_page(record.blob.data).items:
            is_page = isinstance(item, PageRef) or item.is_dir
            found.append((item.hash, MAX_DIRECT_BYTES + 1 if is_page else item.size))
        return found
    part = part_of(record)
    return [] if isinstance(part, bytes) else [(chunk.target, chunk.length) for chunk in part.chunks]
