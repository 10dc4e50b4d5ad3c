"""What trees reach here, noted in temporary tables of the store, and what nothing reaches any more (`lace prune`).

A commit that was taken back leaves its lists and its content in the store. Whatever came from others is shared, or was
never stored, so of what is not shared only I could have made use; and it goes once nothing here names it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from contextlib import suppress
from typing import Final

from vault.desks.absent_paths import ABSENT
from vault.errors import DataError
from vault.notes.registry import note_of
from vault.profile import DATA_APP, TREE_APP
from vault.records import RecordHash
from vault.store import Store
from vault.store.sharing import Sharing
from vault.vault import Vault
from vault.watch import Watch

__all__ = ["held_beside", "note_reached", "note_unreached", "start_notes"]

_TABLES: Final = ("keep", "gone", "desk", "tomb", "part", "named", "loose")
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


def start_notes(vault: Vault) -> None:
    """Make the temporary tables, empty."""
    for table in _TABLES:
        vault.store.run(f"CREATE TEMP TABLE IF NOT EXISTS prune_{table}(p INTEGER PRIMARY KEY)")
        vault.store.run(f"DELETE FROM temp.prune_{table}")  # noqa: S608 - our own table names


def note_reached(
    vault: Vault,
    table: str,
    roots: Iterable[RecordHash],
    watch: Watch,
    *,
    unneeded: bool = False,
    also_shared: bool = False,
    pages_only: bool = False,
    since: int = 0,
) -> set[RecordHash]:
    """Note every record that these trees reach in a temporary table.

    Args:
        vault: whose.
        table: which one.
        roots: root trees, or any records.
        watch: a person may stop it.
        unneeded: leave out those that stay, and what is shared.
        also_shared: leave out only those that stay.
        pages_only: note lists of names alone, and no content.
        since: leave out what has a position before this one, and what is reached by it alone.

    Returns:
        What was met on the way and is not here.
    """
    db = vault.store.db
    known = f"SELECT value FROM json_each(?1) WHERE value NOT IN (SELECT p FROM temp.prune_{table})"  # noqa: S608
    if unneeded:
        known += " AND value NOT IN (SELECT p FROM temp.prune_keep)"
    if unneeded and not also_shared:
        known += " AND value NOT IN (SELECT p FROM shared)"
    if pages_only:
        known += _PAGES
    if since:
        known += " AND value >= ?2"

    def enter(positions: list[int]) -> set[int]:
        watch.cancelled()
        asked = "[" + ",".join(map(str, positions)) + "]"
        found = {int(row[0]) for row in db.execute(known, (asked, since) if since else (asked,))}
        db.executemany(_SET.format(table), [(p,) for p in found])
        return found

    return Sharing(db).walk(sorted(roots, key=str), enter)


def note_unreached(vault: Vault, watch: Watch) -> int:
    """Note among what goes the content and lists that nothing here reaches; return how many records that are.

    After what stays was noted, and what goes of old commits: what is left needs no walk. Lists alone stay until content
    goes with them: each update that finds nothing here leaves one, of an empty folder.
    """
    store = vault.store
    named: set[RecordHash] = set()
    for (kept,) in (*store.rows(_NAMED), *_notes(store)):
        text = kept.decode("utf-8", "replace") if isinstance(kept, bytes) else str(kept)
        for name in _NAME.findall(text):
            with suppress(DataError):  # a note that is meant otherwise
                named.add(RecordHash.parse(name))
    note_reached(vault, "named", named, watch, unneeded=True)
    found = store.run(_LOOSE).rowcount
    if not store.rows(_CONTENT):
        return 0
    store.run("INSERT INTO temp.prune_gone SELECT p FROM temp.prune_loose")
    return int(found)


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
        start_notes(vault)
        trees = {RecordHash.parse(str(tree)) for (tree,) in store.rows(_OTHERS, commit.text, first)}
        note_reached(vault, "named", trees, watch, unneeded=True, since=first)
        return {each for each, p in places.items() if store.rows(_HELD, p)}
