"""What pages list that the pages before them did not: who changes ten files of a large folder lists all of it anew.

Whatever a shared page lists is shared too, or is a hole, or was let go here, and is so whoever else lists it. So of a
page that lists it again nothing is asked for it. Which page came before is only a hint, which commits and the pages
above give: that it is shared is asked of the table each time, and its bytes are proven.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping, Sequence

from vault.desks.page_diff import new_items
from vault.desks.pages import listed
from vault.profile import TREE_APP
from vault.records import RecordHash
from vault.records.hashes import is_record
from vault.store.database import select_in

__all__ = ["PreviousPages", "tree_before"]

# Of commits, the trees of the nearest ones before them that are shared with their content, the farthest first.
_BEFORE = """
WITH RECURSIVE up(tree, hash, steps) AS (
    SELECT tree, hash, 0 FROM commits WHERE p IN (SELECT value FROM json_each(?1))
    UNION SELECT up.tree, a.parent, steps + 1 FROM up JOIN parent a ON a.child = up.hash
    WHERE steps < ?2 AND (steps = 0 OR NOT EXISTS (
        SELECT 1 FROM commits c JOIN shared s USING (p) WHERE c.hash = up.hash AND s.content = 1)))
SELECT up.tree, o.tree FROM up JOIN commits o ON o.hash = up.hash JOIN shared s ON s.p = o.p AND s.content = 1
WHERE steps > 0 AND o.tree <> up.tree ORDER BY steps DESC"""
_FAR = 64  # commits that were not shared
_SHARED = f"""
SELECT b.digest, r.size, stored(b.p, b.bytes) FROM body b JOIN shared USING (p) JOIN rec r USING (p)
    JOIN sym s ON s.id = r.app WHERE b.kind = 'P' AND s.s = '{TREE_APP}' AND b.digest IN"""  # noqa: S608 - our own words
_MOST = 20_000  # pages that are to come: some 8 MB


def tree_before(db: sqlite3.Connection, tree: RecordHash) -> RecordHash | None:
    """Return the tree that the nearest commit before shared, of the last commit of a root tree; None if none did."""
    found = db.execute("SELECT p FROM link JOIN commits USING (p) WHERE t = ? ORDER BY p DESC LIMIT 1", (tree.text,))
    return _trees_before(db, [int(p) for (p,) in found]).get(tree)


class PreviousPages:
    """Which page stood before in the place of one that is to come.

    Args:
        db: the store's connection.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._before: dict[RecordHash, RecordHash] = {}

    def expect(self, commits: Sequence[int]) -> None:
        """Take the commits at these positions, which are shared: their trees come next."""
        for tree, before in _trees_before(self._db, commits).items():
            self._note(tree, before)

    def listed(self, pages: Mapping[RecordHash, bytes]) -> dict[RecordHash, list[RecordHash]]:
        """Return what these pages list, but for what a page does that came before and is shared, or is one of them.

        Args:
            pages: their bodies. They are shared from now on, and whatever is returned for them is shared or noted as
                missing before anything else is asked.
        """
        before = {page: self._before.pop(page) for page in pages if page in self._before}
        bodies = self._shared({*before.values()})
        found: dict[RecordHash, list[RecordHash]] = {}
        for page in _oldest_first(pages, before):
            body = pages[page]
            was = bodies.get(before[page]) if page in before else None
            found[page] = listed(body) if was is None else self._anew(body, was)
            bodies[page] = body
        return found

    def _anew(self, body: bytes, was: bytes) -> list[RecordHash]:
        items = new_items(body, was)
        for item in items:
            if item.before is not None:
                self._note(item.record, item.before)
        return [item.record for item in items]

    def _note(self, page: RecordHash, before: RecordHash) -> None:
        if len(self._before) >= _MOST:  # most of these never came
            self._before.clear()
        self._before[page] = before

    def _shared(self, pages: Collection[RecordHash]) -> dict[RecordHash, bytes]:
        """Return the bodies of those of some pages that are shared and whole."""
        bodies: dict[RecordHash, bytes] = {}
        for digest, size, stored in select_in(self._db, _SHARED, [page.digest for page in pages]):
            page = RecordHash("P", bytes(digest))
            if is_record(page, stored):
                bodies[page] = stored[-size:]
        return bodies


def _trees_before(db: sqlite3.Connection, commits: Sequence[int]) -> dict[RecordHash, RecordHash]:
    """Return the trees of commits at some positions, each with another one that a commit before it shared."""
    rows = db.execute(_BEFORE, ("[" + ",".join(map(str, commits)) + "]", _FAR)) if commits else ()
    return {RecordHash.parse(str(tree)): RecordHash.parse(str(before)) for tree, before in rows}


def _oldest_first(pages: Collection[RecordHash], before: Mapping[RecordHash, RecordHash]) -> list[RecordHash]:
    """Return some pages, each behind the one before it; where that leads in a circle, one of them has none."""
    order: dict[RecordHash, None] = {}
    for page in pages:
        line: dict[RecordHash, None] = {}
        at: RecordHash | None = page
        while at is not None and at in pages and at not in order and at not in line:
            line[at] = None
            at = before.get(at)
        order.update(dict.fromkeys(reversed(line)))
    return [*order]
