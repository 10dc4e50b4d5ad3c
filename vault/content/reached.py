"""What trees reach here, noted in temporary tables of the store, and what nothing reaches any more (`lace prune`).

A commit that was taken back leaves its lists and its content in the store. Whatever came from others is shared, or was
never stored, so of what is not shared only I could have made use; and it goes once nothing here names it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from contextlib import suppress
from enum import Enum, StrEnum
from typing import Final

from vault.desks.absent_paths import ABSENT
from vault.errors import DataError
from vault.notes.registry import note_of
from vault.profile import DATA_APP, TREE_APP
from vault.records import RecordHash
from vault.store import Store
from vault.store.closure import Closure
from vault.vault import Vault
from vault.watch import Watch

__all__ = ["But", "Reached", "Table", "held_beside"]

_SET: Final = "INSERT OR IGNORE INTO temp.prune_{} VALUES (?)"
_NAME: Final = re.compile(r"P\.[0-9A-Za-z_~]{43}\.H3")

# Commits have trees of their own; what else may name content is no more than a few records and notes.
_NAMED: Final = f"""
SELECT k.t FROM link k JOIN rec r USING (p) JOIN sym s ON s.id = r.app
WHERE substr(k.t, 1, 2) = 'P.' AND s.s <> 'lace/commit'
UNION ALL SELECT blob FROM dircache WHERE dir = '{ABSENT}'"""  # noqa: S608 - our own word
_LOOSE: Final = f"""
INSERT INTO temp.prune_loose SELECT p FROM rec WHERE app IN (SELECT id FROM sym WHERE s IN ('{DATA_APP}', '{TREE_APP}'))
AND p NOT IN (SELECT p FROM shared) AND p NOT IN (SELECT p FROM temp.prune_keep)
AND p NOT IN (SELECT p FROM temp.prune_gone) AND p NOT IN (SELECT p FROM temp.prune_named)"""  # noqa: S608
_CONTENT: Final = f"""
SELECT 1 FROM temp.prune_loose JOIN rec USING (p) WHERE app = (SELECT id FROM sym WHERE s = '{DATA_APP}') LIMIT 1"""  # noqa: S608
# Whatever a shared commit reaches is shared.
_OTHERS: Final = """
SELECT tree FROM commits WHERE hash <> ? AND p > ? AND p NOT IN (SELECT p FROM shared WHERE content = 1)"""
_HELD: Final = """
SELECT 1 WHERE EXISTS (SELECT 1 FROM shared WHERE p = ?1) OR EXISTS (SELECT 1 FROM temp.prune_named WHERE p = ?1)"""
_PAGES: Final = f"""
 AND value IN (SELECT p FROM rec WHERE app = (SELECT id FROM sym WHERE s = '{TREE_APP}'))"""  # noqa: S608


class Table(StrEnum):
    """What records are noted for."""

    KEEP = "keep"  # they stay
    GONE = "gone"  # they go
    TOMB = "tomb"  # contents that rules let go of
    DESK = "desk"  # of one desk
    PART = "part"  # of one content
    NAMED = "named"  # by what is no commit
    LOOSE = "loose"  # nothing reaches them


class But(Enum):
    """What is not noted of what trees reach, nor what that alone reaches."""

    NOTHING = ""
    STAYING = " AND value NOT IN (SELECT p FROM temp.prune_keep)"
    STAYING_OR_SHARED = " AND value NOT IN (SELECT p FROM temp.prune_keep) AND value NOT IN (SELECT p FROM shared)"
    CONTENT = _PAGES


class Reached:
    """The temporary tables of a store in which records are noted, empty at first.

    Args:
        vault: whose; inside a read or a write, for as long as they are used.
        watch: a person may stop it.
    """

    def __init__(self, vault: Vault, watch: Watch) -> None:
        self._store = vault.store
        self._watch = watch
        for table in Table:
            self._store.run(f"CREATE TEMP TABLE IF NOT EXISTS prune_{table}(p INTEGER PRIMARY KEY)")
            self.empty(table)

    def empty(self, table: Table) -> None:
        """Forget what is noted in a table."""
        self._store.run(f"DELETE FROM temp.prune_{table}")  # noqa: S608 - our own table names

    def note(
        self, table: Table, roots: Iterable[RecordHash], but: But = But.NOTHING, *, since: int = 0
    ) -> set[RecordHash]:
        """Note every record that these trees reach.

        Args:
            table: where.
            roots: root trees, or any records.
            but: what is left out.
            since: leave out what has a position before this one, and what is reached by it alone.

        Returns:
            What was met on the way and is not here.
        """
        db = self._store.db
        known = f"SELECT value FROM json_each(?1) WHERE value NOT IN (SELECT p FROM temp.prune_{table})"  # noqa: S608
        known += but.value + (" AND value >= ?2" if since else "")

        def enter(positions: list[int]) -> set[int]:
            self._watch.cancelled()
            asked = "[" + ",".join(map(str, positions)) + "]"
            found = {int(row[0]) for row in db.execute(known, (asked, since) if since else (asked,))}
            db.executemany(_SET.format(table), [(p,) for p in found])
            return found

        return Closure(db).walk(sorted(roots, key=str), enter)

    def note_position(self, table: Table, position: int) -> None:
        """Note one record, and nothing that it reaches."""
        self._store.run(_SET.format(table), position)

    def note_unreached(self) -> int:
        """Note among what goes the content and lists that nothing here reaches; return how many records that are.

        After what stays was noted, and what goes of old commits: what is left needs no walk. Lists alone stay until
        content goes with them: each update that finds nothing here leaves one, of an empty folder.
        """
        self.note(Table.NAMED, _named(self._store), But.STAYING_OR_SHARED)
        found = self._store.run(_LOOSE).rowcount
        if not self._store.rows(_CONTENT):
            return 0
        self._store.run("INSERT INTO temp.prune_gone SELECT p FROM temp.prune_loose")
        return int(found)

    def stays(self, position: int) -> bool:
        """Tell whether a record is noted to stay."""
        return bool(self._store.rows("SELECT 1 FROM temp.prune_keep WHERE p = ?", position))

    def goes(self, tree: RecordHash) -> bool:
        """Tell whether something of a tree goes; of one that a later revision has again, all of it stays."""
        row = "SELECT 1 FROM body JOIN temp.prune_gone USING (p) WHERE digest = ?"
        return bool(self._store.rows(row, tree.digest))

    def going(self) -> tuple[int, int]:
        """Return how many records go, and their bytes before compression."""
        row = "SELECT count(*), ifnull(sum(r.size), 0) FROM temp.prune_gone JOIN rec r USING (p)"
        records, size = self._store.rows(row)[0]
        return int(records), int(size)

    def count(self, table: Table) -> int:
        """Return how many records are noted in a table."""
        return int(self._store.rows(f"SELECT count(*) FROM temp.prune_{table}")[0][0])  # noqa: S608


def _named(store: Store) -> set[RecordHash]:
    """Return what is named by records and notes that are no commits."""
    named: set[RecordHash] = set()
    for (kept,) in (*store.rows(_NAMED), *_notes(store)):
        text = kept.decode("utf-8", "replace") if isinstance(kept, bytes) else str(kept)
        for name in _NAME.findall(text):
            with suppress(DataError):  # a note that is meant otherwise
                named.add(RecordHash.parse(name))
    return named


def _notes(store: Store) -> list[tuple[object, ...]]:
    """Return the texts of the notes that content stays for, also of those that this lace does not know."""
    rows = store.rows("SELECT key, CAST(value AS BLOB) FROM meta")
    known = ((note_of(str(key)), value) for key, value in rows)
    return [(value,) for found, value in known if found is None or found[0].names_content]


def held_beside(vault: Vault, contents: Collection[RecordHash], commit: RecordHash, watch: Watch) -> set[RecordHash]:
    """Return those of some contents that are here also without a commit of mine that nobody has.

    What I wrote names what was stored before it, so nothing older than the contents is looked at. A content that went
    with a prune and came again counts as newer than it is: it may be left out here, and is never named wrongly.

    Args:
        vault: whose.
        contents: of files.
        commit: the one that may go.
        watch: a person may stop it.
    """
    store = vault.store
    places = {each: p for each in contents if (p := store.position(each)) is not None}
    if not places:
        return set()
    first = min(places.values())
    with store.reading():
        reached = Reached(vault, watch)
        trees = {RecordHash.parse(str(tree)) for (tree,) in store.rows(_OTHERS, commit.text, first)}
        reached.note(Table.NAMED, trees, But.STAYING_OR_SHARED, since=first)
        return {each for each, p in places.items() if store.rows(_HELD, p)}
