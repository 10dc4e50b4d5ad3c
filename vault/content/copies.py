"""Which content lies in bundles of my own mailbox on some place, and which is to be copied there (CLAY-79).

My mailbox may name content where it lies in a friend's bundle on the same medium. That goes when the friend wants it,
so it is no copy of mine, and a prune lets go of none that has no other. It notes what lacks one; a visit makes it.
"""

from __future__ import annotations

from collections.abc import Iterable

from vault.notes.own import COPIES_WANTED, EPOCH, MOST_COPIES_WANTED
from vault.records import RecordHash
from vault.store import Store
from vault.store.closure import Closure
from vault.writer import Writer

__all__ = ["drop_wanted", "laid_down", "note_laid_down", "reached", "want_copies", "wanted_copies"]

_NUMBER = "SELECT e.at FROM body b JOIN exposure e USING (p) WHERE b.kind = ? AND b.digest = ?"
_COPIED = "SELECT u.at, u.copied FROM published u JOIN place USING (place_id, name) WHERE u.epoch = ?"
_NOT_LAID_DOWN = """
SELECT 1 FROM temp.{} LEFT JOIN exposure e USING (p) WHERE e.at IS NULL OR e.at <=
    ifnull((SELECT l.after FROM temp.laid_down l WHERE l.upto >= e.at ORDER BY l.upto LIMIT 1), e.at) LIMIT 1"""


def note_laid_down(store: Store) -> None:
    """Note in a temporary table which parts of the exposure log lie in bundles of mine; neighbours are one part."""
    merged: list[tuple[int, int]] = []
    for after, upto in sorted(
        part for at, text in store.rows(_COPIED, store.note(EPOCH)) for part in _parts(str(text), int(at))
    ):
        if merged and after <= merged[-1][1]:
            begin, end = merged.pop()
            merged.append((begin, max(end, upto)))
        else:
            merged.append((after, upto))
    store.run("CREATE TEMP TABLE IF NOT EXISTS laid_down(upto INTEGER PRIMARY KEY, after INTEGER NOT NULL)")
    store.run("DELETE FROM temp.laid_down")
    store.db.executemany("INSERT INTO temp.laid_down(after, upto) VALUES (?, ?)", merged)


def laid_down(store: Store, table: str) -> bool:
    """Tell whether all records of a temporary table lie in the parts that `note_laid_down` noted."""
    return not store.rows(_NOT_LAID_DOWN.format(table))


def _parts(text: str, at: int) -> list[tuple[int, int]]:
    """Return the parts of the log that a place notes, as far as it is believed; none where the note rotted (APP-13)."""
    try:
        parts = [(int(after), min(int(upto), at)) for after, upto in (word.split("-") for word in text.split())]
    except ValueError:
        return []
    return [part for part in parts if part[0] < part[1]]


def want_copies(w: Writer, contents: Iterable[RecordHash]) -> None:
    """Note which contents the next visit is to copy into my mailbox, in place of what was noted before.

    Of many it is those that come first in the exposure log: a place notes parts of that, and no more than some.
    """
    ordered = sorted((_number(w.store, each), each.text, each) for each in contents)
    wanted = tuple(each for _, _, each in ordered[:MOST_COPIES_WANTED])
    if w.store.note(COPIES_WANTED) != wanted:
        w.store.set_note(COPIES_WANTED, wanted)


def _number(store: Store, content: RecordHash) -> int:
    rows = store.rows(_NUMBER, content.kind, content.digest)
    return int(rows[0][0]) if rows else 0


def wanted_copies(store: Store) -> tuple[RecordHash, ...]:
    """Return the contents that lack a copy; what of them rotted a prune notes again."""
    return store.note(COPIES_WANTED)


def drop_wanted(w: Writer, contents: Iterable[RecordHash]) -> None:
    """Take note that these have a copy now."""
    made = set(contents)
    want_copies(w, [each for each in wanted_copies(w.store) if each not in made])


def reached(store: Store, contents: Iterable[RecordHash]) -> list[int]:
    """Return the positions of what is here of some contents, in order."""
    found: set[int] = set()

    def enter(positions: list[int]) -> set[int]:
        fresh = set(positions) - found
        found.update(fresh)
        return fresh

    Closure(store.db).walk(sorted(contents, key=str), enter)
    return sorted(found)
