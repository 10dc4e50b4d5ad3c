"""`Sharing`: what is reachable from the log entries that count, kept transitively closed as a local fact.

The closure is extended some hundred records at a time with set look-ups, so its cost follows what is new, and its
memory does not follow the size of a file. A reference to a record that is not here is a *hole*: it is named, and the
closure goes on from it when the record arrives. Each record that becomes shared gets the next number of the exposure
log, which is what a writer's cursor on a medium counts (architecture, decision 8).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from vault.profile import TREE_APP
from vault.records import RecordHash
from vault.store.closure import STEP, UNSIGNED, Closure, Found, Held, is_leaf
from vault.store.database import StoreDamaged, insert_many, select_in
from vault.store.holes import HoleTable, Want
from vault.store.numbers import beyond
from vault.store.previous_pages import PreviousPages

__all__ = ["Sharing"]

_COMMIT = "lace/commit"
_LINES = frozenset({_COMMIT, "lace/rev"})

# What stands before a commit or revision in the store, with what is known of its links and whether it is shared.
_BEFORE = """
SELECT b.kind, b.digest, b.p, s.s, x.content, w.s, k.t FROM body b JOIN rec r USING (p) JOIN sym s ON s.id = r.app
    JOIN link k ON k.p = b.p JOIN sym n ON n.id = k.name AND n.s = '+Link' JOIN sym w ON w.id = k.data
    LEFT JOIN shared x ON x.p = b.p
WHERE b.p < ? AND b.p >= ? AND s.s IN ('lace/commit', 'lace/rev') ORDER BY b.p, k.idx"""
_NARROW = 4  # records of a level that may be the end of a line
_FAR = 4_096  # positions before it that are looked through at once

_QUEUE = 8_192  # wants of one level

_SHARED = "SELECT p, content FROM shared WHERE p IN"

_WRITTEN_TOGETHER = 4_096  # missing records that are noted together


class Sharing(Closure):
    """The `shared` and `exposure` tables of one store connection, and what goes into and out of its `hole` table.

    Args:
        db: the store's connection.
        at_hand: records that were stored a moment ago and need not be read again.
        holes: its holes, where something of them is known.
    """

    def __init__(
        self,
        db: sqlite3.Connection,
        at_hand: Held | None = None,
        holes: HoleTable | None = None,
    ) -> None:
        super().__init__(db, at_hand)
        self._holes = HoleTable(db) if holes is None else holes
        self._missing: set[Want] = set()  # met on the way and not noted yet
        self._done: dict[int, bool] = {}  # what was at hand and is shared by now, and whether with its content
        self._before: dict[RecordHash, Found] = {}  # the line that is being followed, read ahead
        self._narrow = 0  # consecutive levels of one or two records, as in a long chain
        self._previous = PreviousPages(db)

    def is_whole(self) -> bool:
        """Tell whether nothing that is shared is missing here."""
        return not self._holes.any()

    def holes(self) -> list[RecordHash]:
        """Return the missing records that shared records reach, sorted."""
        return sorted(self._holes.all())

    def extend(self, roots: Iterable[RecordHash], added: Sequence[RecordHash]) -> bool:
        """Extend the closure by new roots and by records that arrived; tell whether anything was added."""
        self._done.clear()
        self._missing.clear()  # of a run that was cut off and taken back
        self._narrow = 0
        waiting: list[Want] = [(root, True) for root in roots]
        waiting += self._holes.fill(added)
        grown = False
        while waiting:
            step = waiting[-STEP:]
            del waiting[-STEP:]
            following, more = self._level(step)
            waiting += following
            grown = grown or more
            if len(self._missing) >= _WRITTEN_TOGETHER:
                self._note_missing()
        self._note_missing()
        self._before.clear()
        if grown and added and self.is_whole():
            self._take_back()
        return grown

    def _take_back(self) -> None:
        """Forget that content was let go that is back, with the sum that was proven of it.

        Not before all of it is: a large one comes in many records, and until the last of them that sum stands for it.
        """
        let_go = {
            RecordHash.parse(str(text)): str(sha512)
            for text, sha512 in self._db.execute("SELECT hash, sha512 FROM tomb WHERE wanted > 0")
        }
        for record in self.present(list(let_go)):
            self._db.execute("INSERT OR IGNORE INTO sums VALUES (?, ?)", (record.digest, let_go[record]))
            self._db.execute("DELETE FROM tomb WHERE hash = ?", (record.text,))

    def _note_missing(self) -> None:
        """Note what was missing, but for what was let go: many at once, in the order of the table."""
        missing, self._missing = self._missing, set()
        if missing:
            missing -= self.gone(missing, "wanted = 0")
            self._holes.add((record, content or record.kind == UNSIGNED) for record, content in missing)

    def _level(self, wants: list[Want]) -> tuple[list[Want], bool]:
        """Share one level of the closure with what is at hand below it; return what follows and if anything was new."""
        at_hand = self._at_hand
        present = self.present([want[0] for want in wants])
        before = self._read_ahead(present)
        # What is at hand is new: none of it is shared yet but what `_done` says.
        positions = sorted({found[0] for record, found in present.items() if at_hand.get(record) is None})
        have_content = {int(p): bool(content) for p, content in select_in(self._db, _SHARED, positions)}
        fresh: dict[int, int] = {}
        following: dict[Want, None] = {}
        commits: list[int] = []  # whose trees follow
        pages = {record: found for record, found in present.items() if found[0] not in have_content}
        anew = self._previous.listed(_bodies_of_pages(pages))
        queue = [(record, content, present.get(record) or before.get(record)) for record, content in wants]
        for record, content, found in queue:  # grows by what is at hand: a long chain is one level and not thousands
            if found is None:
                self._missing.add((record, content))
                continue
            p, _, said = found
            had = have_content.get(p)
            if had is None:
                had = self._done.get(p)
            if had or (had is not None and not content):
                continue
            have_content[p] = with_all = content or record.kind == UNSIGNED
            if not isinstance(said, bytes) or record in before:
                self._done[p] = with_all
            fresh[p] = int(with_all)
            if is_leaf(found):
                continue
            if found[1] == _COMMIT and content:
                commits.append(p)
            items = anew.get(record)
            children = (
                self.children(record, found, content=content) if items is None else [(item, True) for item in items]
            )
            for child in children:
                held = at_hand.get(child[0]) or before.get(child[0])
                if held is not None and len(queue) < _QUEUE:
                    queue.append((*child, held))
                else:
                    following[child] = None
        self._expose(fresh)
        self._previous.expect(commits)
        return list(following), bool(fresh)

    def _expose(self, fresh: Mapping[int, int]) -> None:
        """Note what is shared now, by position and whether with its content, and number what is for the first time.

        Raises:
            StoreDamaged: no number is left, as one of them rotted.
        """
        insert_many(
            self._db,
            "INSERT INTO shared VALUES (?, ?) ON CONFLICT(p) DO UPDATE SET content = max(content, excluded.content)",
            list(chain.from_iterable(fresh.items())),
        )
        try:
            insert_many(self._db, "INSERT OR IGNORE INTO exposure(p) VALUES (?)", list(fresh))
        except sqlite3.OperationalError as fault:
            if beyond(self._db):  # SQLite says that the disk is full where the numbers are
                raise StoreDamaged("A number of the records that are shared has rotted.") from fault
            raise

    def _read_ahead(self, present: Mapping[RecordHash, Found]) -> Mapping[RecordHash, Found]:
        """Return what probably follows a level: a line of commits that was never shared stands one before the other.

        Each level of hardly a record lets it look twice as far, so a short line costs no more than itself.
        """
        self._before.clear()
        ends = [p for p, app, _ in present.values() if app in _LINES]
        if not ends or len(present) > _NARROW:
            self._narrow = 0
            return self._before
        self._narrow += 1
        first, reach = min(ends), min(2**self._narrow, _FAR)
        if reach < _FAR // 512:
            return self._before
        for kind, digest, p, app, content, word, target in self._db.execute(_BEFORE, (first, first - reach)):
            record = RecordHash(kind, bytes(digest))
            found = self._before.get(record)
            if found is None:
                found = self._before[record] = (int(p), str(app), [])
                if content is not None:
                    self._done[int(p)] = bool(content)
            if isinstance(found[2], list):
                found[2].append((str(word), str(target)))
        return self._before


def _bodies_of_pages(present: Mapping[RecordHash, Found]) -> dict[RecordHash, bytes]:
    """Return of some records those that are pages of directories, as they are stored."""
    return {record: body for record, (_, app, body) in present.items() if app == TREE_APP and isinstance(body, bytes)}
