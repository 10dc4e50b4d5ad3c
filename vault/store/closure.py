"""`Closure`: all that a record reaches, as it is here, and what of it is not.

It is read some hundred records at a time with set look-ups, so its memory does not follow the size of a file.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Protocol, TypeAlias

from vault.desks.pages import listed
from vault.profile import DATA_APP, TREE_APP, read, recent
from vault.records import RecordHash
from vault.store.database import select_in
from vault.store.holes import Want
from vault.store.packread import PackDamaged

if TYPE_CHECKING:
    from vault.profile import ProfileValue

__all__ = ["STEP", "UNSIGNED", "Closure", "Found", "Held", "Walked", "is_leaf"]

STEP = 256
"""Records looked at together: a manifest lists 500, and the next step takes the last ones first."""

UNSIGNED = "P"
"""The kind of a record that nobody signed."""

_CLOSED = 200_000  # records known to be closed, so that what several walks remember of each other has an end

_PRESENT = f"""
SELECT b.kind, b.digest, b.p, s.s, CASE WHEN s.s = '{DATA_APP}' AND r.size > 0 THEN x''
    WHEN s.s = '{TREE_APP}' THEN substr(stored(b.p, b.bytes), -r.size)
    WHEN b.bytes <> x'' THEN b.bytes ELSE stored(b.p, b.bytes) END
FROM body b JOIN rec r USING (p) JOIN sym s ON s.id = r.app WHERE b.digest IN"""  # noqa: S608

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


class Closure:
    """What records reach in one store.

    Args:
        db: the store's connection.
        at_hand: records that were stored a moment ago and need not be read again.
    """

    def __init__(self, db: sqlite3.Connection, at_hand: Held | None = None) -> None:
        self._db = db
        self._at_hand: Held = {} if at_hand is None else at_hand

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
            step = waiting[-STEP:]
            del waiting[-STEP:]
            present = self.present([want[0] for want in step])
            missing.update(want[0] for want in step if want[0] not in present)
            fresh = enter(sorted({p for p, _, _ in present.values()}))
            inner = [each for each, found in present.items() if found[0] in fresh and not is_leaf(found)]
            waiting += dict.fromkeys(
                child for each in inner for child in self.children(each, present[each], content=True)
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
        known = self.present([root])
        if root not in known:
            return root
        search = _Search(self, known[root][0], Walked() if walked is None else walked)
        waiting: list[Want] = [(root, True)]
        while waiting:
            step = waiting[-STEP:]
            del waiting[-STEP:]
            following = search.below(step)
            if search.lacking is not None:
                return search.lacking
            waiting += following
        search.note_closed()
        return None

    def gone(self, wants: Collection[Want], how: str) -> set[Want]:
        """Return those of some wants that were let go here; see `let_go`."""
        if not self.has_let_go():
            return set()
        let_go = self.let_go({record.text for record, may_go in wants if may_go}, how)
        return {want for want in wants if want[1] and want[0].text in let_go}

    def has_let_go(self) -> bool:
        """Tell whether anything was let go here: in most vaults nothing was, and no name of a record is asked for."""
        return self._db.execute("SELECT 1 FROM tomb LIMIT 1").fetchone() is not None

    def let_go(self, texts: Collection[str], how: str) -> set[str]:
        """Return those of some records that were let go here on purpose: nothing waits for them but who asks again.

        Args:
            texts: of the records.
            how: what is to hold of them in the table of what was let go, as SQL of our own words and numbers.
        """
        query = f"SELECT hash FROM tomb WHERE {how} AND hash IN"  # noqa: S608 - our own words and numbers
        return {str(row[0]) for row in select_in(self._db, query, list(texts))}

    def present(self, records: Sequence[RecordHash]) -> dict[RecordHash, Found]:
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
    def children(record: RecordHash, found: Found, *, content: bool) -> list[Want]:
        """Return what a record reaches by itself, each with whether its content is reached as well.

        Args:
            record: its name.
            found: what `present` says of it.
            content: whether its own content is reached.
        """
        _, app, stored = found
        if isinstance(stored, list):
            return [(RecordHash.parse(text), word == "tree") for word, text in stored if content or word != "tree"]
        if not isinstance(stored, bytes):
            return _reaches()(stored, with_content=content)
        if not stored:
            return []
        if app == TREE_APP:
            return [(child, True) for child in listed(stored)]
        from vault.records.parse import parse_record  # a commit reads no record back

        value = recent(record) or read(parse_record(stored, verify=False))
        reached = [] if value is None else _reaches()(value, with_content=content)
        return [(part, False) for part, _ in reached] if app == DATA_APP else reached


class _Search:
    """One walk from a root, for something that keeps it from being closed.

    Args:
        closure: what records reach.
        position: of the root.
        walked: what walks from other roots learned.

    Attributes:
        lacking: what it found.
    """

    def __init__(self, closure: Closure, position: int, walked: Walked) -> None:
        self._closure, self._walked = closure, walked
        self._asked = f"(wanted = 1 OR wanted >= {position})"  # earlier versions kept 1, and not when that was
        self._via: dict[RecordHash, RecordHash] = {}  # sealed records, and which sealed record led there first
        self._seen: set[Want] = set()
        self._is_all_here = True  # and nothing let go, which counts as here for some roots alone
        self.lacking: RecordHash | None = None

    def below(self, wants: Iterable[Want]) -> list[Want]:
        """Return what follows some wants; nothing once what is lacking was found."""
        closure, seen, stuck = self._closure, self._seen, self._walked.stuck
        step = [want for want in dict.fromkeys(wants) if want not in seen]
        present = closure.present([want[0] for want in step])
        lacking = {want for want in step if want[0] not in present}
        self._is_all_here = self._is_all_here and not lacking
        if lacking and (still := lacking - closure.gone(lacking, f"(wanted = 0 OR {self._asked})")):
            self.lacking = self._note_way(min(still)[0])
            return []
        if stuck and (ends := [record for record, _ in step if record in stuck]):
            self.lacking = self._note_way(ends[0])
            return []
        inner = [want for want in step if want[0] in present and not is_leaf(present[want[0]])]
        # Perhaps not yet all here.
        coming = closure.let_go({want[0].text for want in inner}, self._asked) if closure.has_let_go() else set()
        self._is_all_here = self._is_all_here and not coming
        inner = [want for want in inner if want[0].text not in coming]
        seen.update(inner)  # of content there is too much to remember, and nothing below it
        following: dict[Want, None] = {}
        for want in inner:
            children = closure.children(want[0], present[want[0]], content=want[1])
            following.update(dict.fromkeys(children))
            if want[0].kind != UNSIGNED:
                for child, _ in children:
                    self._via.setdefault(child, want[0])
        return [want for want in following if want not in seen and want not in self._walked.closed]

    def _note_way(self, end: RecordHash) -> RecordHash:
        """Note of what led to `end` that it lacks the same; return what."""
        stuck = self._walked.stuck
        lacking = stuck.get(end, end)
        if lacking.kind != UNSIGNED:  # content may be let go, and then it depends on who reaches it
            at = self._via.get(end)
            while at is not None and at not in stuck:
                stuck[at] = lacking
                at = self._via.get(at)
        return lacking

    def note_closed(self) -> None:
        """Note of a walk that found nothing what other walks need not go through."""
        if self._is_all_here:
            closed = self._walked.closed
            if len(closed) > _CLOSED:
                closed.clear()
            closed |= self._seen


def is_leaf(found: Found) -> bool:
    """Tell whether a record that is here reaches nothing by itself."""
    return not found[2]


class _Reaches(Protocol):
    def __call__(self, value: ProfileValue, /, *, with_content: bool) -> list[Want]: ...


@cache
def _reaches() -> _Reaches:
    from vault.nodelog import reaches  # a commit that stays here shares nothing

    return reaches
