"""`Shared`: what is reachable from the log entries that count, kept transitively closed as a local fact.

The closure is extended some hundred records at a time with set look-ups, so its cost follows what is new, and its
memory does not follow the size of a file. A reference to a record that is not here is a *hole*: it is named, and the
closure goes on from it when the record arrives. Each record that becomes shared gets the next number of the exposure
log, which is what a writer's cursor on a medium counts (architecture, decision 8).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Protocol, TypeAlias

from vault.desks.pages import listed
from vault.profile import DATA_APP, TREE_APP, read, recent
from vault.records import RecordHash
from vault.store.database import StoreDamaged, insert_many, select_in
from vault.store.holes import HoleTable, Want
from vault.store.numbers import beyond
from vault.store.packread import PackDamaged
from vault.store.previous_pages import PreviousPages

if TYPE_CHECKING:
    from vault.profile import ProfileValue

__all__ = ["Found", "Held", "Sharing", "Walked"]

_COMMIT = "lace/commit"
_LINES = frozenset({_COMMIT, "lace/rev"})

_PRESENT = f"""
SELECT b.kind, b.digest, b.p, s.s, CASE WHEN s.s = '{DATA_APP}' AND r.size > 0 THEN x''
    WHEN s.s = '{TREE_APP}' THEN substr(stored(b.p, b.bytes), -r.size)
    WHEN b.bytes <> x'' THEN b.bytes ELSE stored(b.p, b.bytes) END
FROM body b JOIN rec r USING (p) JOIN sym s ON s.id = r.app WHERE b.digest IN"""  # noqa: S608

# What stands before a commit or revision in the store, with what is known of its links and whether it is shared.
_BEFORE = """
SELECT b.kind, b.digest, b.p, s.s, x.content, w.s, k.t FROM body b JOIN rec r USING (p) JOIN sym s ON s.id = r.app
    JOIN link k ON k.p = b.p JOIN sym n ON n.id = k.name AND n.s = '+Link' JOIN sym w ON w.id = k.data
    LEFT JOIN shared x ON x.p = b.p
WHERE b.p < ? AND b.p >= ? AND s.s IN ('lace/commit', 'lace/rev') ORDER BY b.p, k.idx"""
_NARROW = 4  # records of a level that may be the end of a line
_FAR = 4_096  # positions before it that are looked through at once

_STEP = 256  # records looked at together: a manifest lists 500, and the next step takes the last ones first

_QUEUE = 8_192  # wants of one level

_CLOSED = 200_000  # records known to be closed, so that what several walks remember of each other has an end

_SHARED = "SELECT p, content FROM shared WHERE p IN"

_WRITTEN_TOGETHER = 4_096  # missing records that are noted together

_UNSIGNED = "P"
# Position and App of a record that is here, with its stored bytes, none for content, or with what they say, or with
# the links of a commit or revision: their word and target.
Found: TypeAlias = "tuple[int, str, bytes | ProfileValue | list[tuple[str, str]]]"


class Held(Protocol):
    """Records that were stored a moment ago."""

    @property
    def get(self) -> Callable[[RecordHash], Found | None]:
        """Returns what is known of a record, or None."""


class Walked:
    """What one walk learned that others need not look at again, while nothing is stored or let go between them.

    Attributes:
        stuck: of sealed records that lack something: one record that they lack.
        closed: what was met of roots that lack nothing, and of which nothing was let go.
    """

    __slots__ = ("closed", "stuck")

    def __init__(self) -> None:
        self.stuck: dict[RecordHash, RecordHash] = {}
        self.closed: set[Want] = set()


class Sharing:
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
        self._db = db
        self._holes = HoleTable(db) if holes is None else holes
        self._missing: set[Want] = set()  # met on the way and not noted yet
        self._at_hand: Held = {} if at_hand is None else at_hand
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
            step = waiting[-_STEP:]
            del waiting[-_STEP:]
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
        for record in self._present(list(let_go)):
            self._db.execute("INSERT OR IGNORE INTO sums VALUES (?, ?)", (record.digest, let_go[record]))
            self._db.execute("DELETE FROM tomb WHERE hash = ?", (record.text,))

    def walk(self, roots: Iterable[RecordHash], enter: Callable[[list[int]], set[int]]) -> set[RecordHash]:
        """Go through what is here of these trees and their content, some hundred records at a time.

        Args:
            roots: root trees, or any records.
            enter: takes positions that were met; returns those to go on from, so that nothing is walked twice.

        Returns:
            What was met and is not here.
        """
        waiting: list[Want] = [(root, True) for root in roots]
        missing: set[RecordHash] = set()
        while waiting:
            step = waiting[-_STEP:]
            del waiting[-_STEP:]
            present = self._present([want[0] for want in step])
            missing.update(want[0] for want in step if want[0] not in present)
            fresh = enter(sorted({p for p, _, _ in present.values()}))
            inner = [each for each, found in present.items() if found[0] in fresh and not self._is_leaf(found)]
            waiting += dict.fromkeys(
                child for each in inner for child in self._children(each, present[each], content=True)
            )
        return missing

    def is_closed(self, root: RecordHash) -> bool:
        """Tell whether everything `root` reaches is here, or let go; walks it all, so only asked while there are holes.

        What was let go and is asked for again counts as here for what came before that, and was shown: whatever came
        later waits until all of it is here, as for any other content.
        """
        return self.lacking(root) is None

    def lacking(self, root: RecordHash, walked: Walked | None = None) -> RecordHash | None:
        """Return one record that `root` reaches and that keeps it from being closed, itself included; else None.

        It is the same one at each call: the links of a record are followed in the order in which they stand (CLO-35).

        Args:
            root: where to begin.
            walked: what walks from other roots learned; is told what this one did (CLO-62).
        """
        walked = Walked() if walked is None else walked
        stuck = walked.stuck
        via: dict[RecordHash, RecordHash] = {}  # sealed records, and which sealed record led there first
        known = self._present([root])
        if root not in known:
            return root
        asked = f"(wanted = 1 OR wanted >= {known[root][0]})"  # earlier versions kept 1, and not when that was
        is_all_here = True  # and nothing let go, which counts as here for some roots alone
        seen: set[Want] = set()
        waiting: list[Want] = [(root, True)]
        while waiting:
            step = [want for want in dict.fromkeys(waiting[-_STEP:]) if want not in seen]
            del waiting[-_STEP:]
            present = self._present([want[0] for want in step])
            lacking = {want for want in step if want[0] not in present}
            is_all_here = is_all_here and not lacking
            if lacking and (still := lacking - self._gone(lacking, f"(wanted = 0 OR {asked})")):
                return _note_way(min(still)[0], via, stuck)
            if stuck and (ends := [record for record, _ in step if record in stuck]):
                return _note_way(ends[0], via, stuck)
            inner = [want for want in step if want[0] in present and not self._is_leaf(present[want[0]])]
            # Perhaps not yet all here.
            coming = self._let_go({want[0].text for want in inner}, asked) if self._has_let_go() else set()
            is_all_here = is_all_here and not coming
            inner = [want for want in inner if want[0].text not in coming]
            seen.update(inner)  # of content there is too much to remember, and nothing below it
            following: dict[Want, None] = {}
            for want in inner:
                children = self._children(want[0], present[want[0]], content=want[1])
                following.update(dict.fromkeys(children))
                if want[0].kind != _UNSIGNED:
                    for child, _ in children:
                        via.setdefault(child, want[0])
            waiting += [want for want in following if want not in seen and want not in walked.closed]
        if is_all_here:
            if len(walked.closed) > _CLOSED:
                walked.closed.clear()
            walked.closed |= seen
        return None

    def _note_missing(self) -> None:
        """Note what was missing, but for what was let go: many at once, in the order of the table."""
        missing, self._missing = self._missing, set()
        if missing:
            missing -= self._gone(missing, "wanted = 0")
            self._holes.add((record, content or record.kind == _UNSIGNED) for record, content in missing)

    def _level(self, wants: list[Want]) -> tuple[list[Want], bool]:
        """Share one level of the closure with what is at hand below it; return what follows and if anything was new."""
        at_hand = self._at_hand
        present = self._present([want[0] for want in wants])
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
            have_content[p] = with_all = content or record.kind == _UNSIGNED
            if not isinstance(said, bytes) or record in before:
                self._done[p] = with_all
            fresh[p] = int(with_all)
            if self._is_leaf(found):
                continue
            if found[1] == _COMMIT and content:
                commits.append(p)
            items = anew.get(record)
            children = (
                self._children(record, found, content=content) if items is None else [(item, True) for item in items]
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

    def _gone(self, wants: Collection[Want], how: str) -> set[Want]:
        """Return those of some wants that were let go here; see `_let_go`."""
        if not self._has_let_go():
            return set()
        let_go = self._let_go({record.text for record, may_go in wants if may_go}, how)
        return {want for want in wants if want[1] and want[0].text in let_go}

    def _has_let_go(self) -> bool:
        """Tell whether anything was let go here: in most vaults nothing was, and no name of a record is asked for."""
        return self._db.execute("SELECT 1 FROM tomb LIMIT 1").fetchone() is not None

    def _let_go(self, texts: Collection[str], how: str) -> set[str]:
        """Return those of some records that were let go here on purpose: nothing waits for them but who asks again."""
        query = f"SELECT hash FROM tomb WHERE {how} AND hash IN"  # noqa: S608 - our own words and numbers
        return {str(row[0]) for row in select_in(self._db, query, list(texts))}

    def _present(self, records: Sequence[RecordHash]) -> dict[RecordHash, Found]:
        """Map the records that are here to what is known of them; see `Found`.

        Raises:
            PackDamaged: a page cannot be read, so nobody can tell what it reaches.
        """
        at_hand = self._at_hand
        held = ((record, at_hand.get(record)) for record in records)
        found: dict[RecordHash, Found] = {record: known for record, known in held if known is not None}
        digests = list({record.digest for record in records if record not in found})
        for kind, digest, p, app, stored in select_in(self._db, _PRESENT, digests):
            name = RecordHash(kind, bytes(digest))
            if stored is None:
                raise PackDamaged(f"The bytes stored for {name} are not that record.")
            found[name] = (int(p), str(app), bytes(stored))
        return found

    @staticmethod
    def _is_leaf(found: Found) -> bool:
        return not found[2]

    @staticmethod
    def _children(record: RecordHash, found: Found, *, content: bool) -> list[Want]:
        _, app, stored = found
        if isinstance(stored, list):
            return [(RecordHash.parse(text), word == "tree") for word, text in stored if content or word != "tree"]
        if not isinstance(stored, bytes):
            return _reaches()(stored, with_content=content)
        if not stored:
            return []
        if app == TREE_APP:
            return [(child, True) for child in listed(stored)]
        from vault.records.parse import parse_record  # noqa: PLC0415 - a commit reads no record back

        value = recent(record) or read(parse_record(stored, verify=False))
        reached = [] if value is None else _reaches()(value, with_content=content)
        return [(part, False) for part, _ in reached] if app == DATA_APP else reached


def _bodies_of_pages(present: Mapping[RecordHash, Found]) -> dict[RecordHash, bytes]:
    """Return of some records those that are pages of directories, as they are stored."""
    return {record: body for record, (_, app, body) in present.items() if app == TREE_APP and isinstance(body, bytes)}


def _note_way(end: RecordHash, via: Mapping[RecordHash, RecordHash], stuck: dict[RecordHash, RecordHash]) -> RecordHash:
    """Note of what led to `end` that it lacks the same; return what."""
    lacking = stuck.get(end, end)
    if lacking.kind != _UNSIGNED:  # content may be let go, and then it depends on who reaches it
        at = via.get(end)
        while at is not None and at not in stuck:
            stuck[at] = lacking
            at = via.get(at)
    return lacking


class _Reaches(Protocol):
    def __call__(self, value: ProfileValue, /, *, with_content: bool) -> list[Want]: ...


@cache
def _reaches() -> _Reaches:
    from vault.nodelog import reaches  # noqa: PLC0415 - a commit that stays here shares nothing

    return reaches
