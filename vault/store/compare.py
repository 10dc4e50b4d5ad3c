"""Comparing the derived tables of a store with the same tables built anew from its records (fsck).

The scratch store has the checked one attached as `live`, and no `body` of its own: `body` means the attached one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import sha512

from blake3 import blake3

from vault.errors import DataError
from vault.records import RecordHash
from vault.store.schema import DERIVED_TABLES
from vault.store.store import Store

__all__ = ["differences"]

_SHOWN = 60  # characters of one value in a sentence
# A round that was cut off leaves releases and resolutions to be judged by the next action, so hidden ones are
# compared only in what the record itself says.
_SETTLED_LATER = {
    "release": "p, hash, node, desk, version, commit_hash, sha512, tai",
    "resolution": "p, hash, node, desk, version, chosen, release, result, tai",
}


def differences(scratch: Store, me: str, founding: str | None, cancelled: Callable[[], None]) -> list[tuple[str, str]]:
    """Build all derived tables in the scratch store and name each table that differs, with its first difference.

    Args:
        scratch: an empty store with the checked one attached as `live`.
        me: verifier text of the vault's node.
        founding: hash text of the founding Seal, if it is here.
        cancelled: called while content is read; raises to stop.

    Raises:
        LaceError: the records cannot be built into views.
    """
    with scratch.transaction():
        scratch.build(me, founding, cancelled)
        found = dict(_forms(scratch))
        if "sums" not in found:
            _further_sums(scratch, cancelled)
        for table in DERIVED_TABLES:
            if table not in found and (what := _first_difference(scratch, table)):
                found[table] = what
        if "shared" not in found and (what := _exposure(scratch)):
            found["exposure"] = what
    return sorted(found.items())


def _forms(scratch: Store) -> Iterator[tuple[str, str]]:
    """Yield tables that are missing, or whose definition or indexes differ."""
    sql = "SELECT tbl_name, name, ifnull(sql, '') FROM {}.sqlite_master WHERE type IN ('table', 'index')"
    theirs = {tuple(row) for row in scratch.db.execute(sql.format("live"))}
    names = {name for _, name, _ in theirs}
    for table, name, definition in scratch.db.execute(sql.format("main")).fetchall():
        if table in DERIVED_TABLES and (table, name, definition) not in theirs:
            kind = "table" if name == table else "index"
            state = "has another form" if name in names else "is missing"
            yield table, f"the {kind} {name} {state}"


def _first_difference(scratch: Store, table: str) -> str:
    """Return the first row that one side has and the other has not, or nothing."""
    missing = f"SELECT * FROM main.{table} EXCEPT SELECT * FROM live.{table}"  # noqa: S608 - our own table names
    surplus = f"SELECT * FROM live.{table} EXCEPT SELECT * FROM main.{table}"  # noqa: S608
    if columns := _SETTLED_LATER.get(table):
        surplus = (
            f"SELECT * FROM (SELECT * FROM live.{table} WHERE visible <> 0"  # noqa: S608
            f" EXCEPT SELECT * FROM main.{table})"
        )
        hidden = f"SELECT {columns} FROM live.{table} WHERE visible = 0"  # noqa: S608
        row = scratch.db.execute(
            f"{hidden} EXCEPT SELECT {columns} FROM main.{table} LIMIT 1"  # noqa: S608
        ).fetchone()
        if row is not None:
            return f"{_shown(row)} follows from no record"
        missing = (
            f"SELECT * FROM main.{table} WHERE p NOT IN (SELECT p FROM live.{table} WHERE visible = 0)"  # noqa: S608
            f" EXCEPT SELECT * FROM live.{table}"
        )
    if table == "sums":
        kept = "SELECT hash, substr(sha512, 1, 128) FROM {}.sums"  # earlier versions kept no sizes of directories
        surplus = f"{kept.format('live')} EXCEPT {kept.format('main')}"
        among = " WHERE hash IN (SELECT hash FROM live.sums)" if _is_unsettled(scratch) else ""  # judging fills it
        missing = f"{kept.format('main')}{among} EXCEPT {kept.format('live')}"
    row = scratch.db.execute(f"{missing} LIMIT 1").fetchone()
    if row is not None:
        return f"{_shown(row)} is missing or other"
    row = scratch.db.execute(f"{surplus} LIMIT 1").fetchone()
    return f"{_shown(row)} follows from no record" if row is not None else ""


def _is_unsettled(scratch: Store) -> bool:
    """Tell whether a round was cut off, so that a release waits to be judged."""
    return bool(
        scratch.db.execute(
            "SELECT 1 FROM main.release m JOIN live.release l USING (p) WHERE l.visible = 0 AND m.visible <> 0 LIMIT 1"
        ).fetchone()
    )


def _exposure(scratch: Store) -> str:
    """Return what the exposure log has too much or too little of: it numbers exactly what is shared."""
    row = scratch.db.execute("SELECT p FROM main.shared EXCEPT SELECT p FROM live.exposure LIMIT 1").fetchone()
    if row is not None:
        return f"the shared record at position {row[0]} has no number"
    row = scratch.db.execute("SELECT p FROM live.exposure EXCEPT SELECT p FROM main.shared LIMIT 1").fetchone()
    return f"position {row[0]} is not shared" if row is not None else ""


def _further_sums(scratch: Store, cancelled: Callable[[], None]) -> None:
    """Compute what only the checked store has sums of: it is a cache and may hold more.

    That is trees that no release names, and files that were committed and not released yet.
    """
    known = {
        bytes(row[0]) for row in scratch.db.execute("SELECT hash FROM live.sums EXCEPT SELECT hash FROM main.sums")
    }
    if not known:
        return
    trees = scratch.db.execute(
        "SELECT b.digest FROM body b JOIN rec r USING (p) JOIN sym s ON s.id = r.app WHERE s.s = 'lace/tree'"
    ).fetchall()
    for (digest,) in trees:
        if blake3(b"lace-tree-sum/0 " + bytes(digest)).digest() in known:
            try:
                scratch.content_sum(RecordHash("P", bytes(digest)), lambda _read: cancelled())
            except DataError:
                continue  # its content is not whole here, so nothing may be known of it
    for row in scratch.db.execute("SELECT hash FROM live.sums EXCEPT SELECT hash FROM main.sums").fetchall():
        record = RecordHash("P", bytes(row[0]))
        total = sha512()
        try:
            pieces = scratch.pieces(record)
            for piece in pieces or ():
                cancelled()
                total.update(piece)
        except DataError:
            continue
        if pieces is not None:
            scratch.keep_sums({record: total.hexdigest()})


def _shown(row: tuple[object, ...]) -> str:
    parts = (value.hex() if isinstance(value, bytes) else str(value) for value in row)
    return "(" + ", ".join(part if len(part) <= _SHOWN else part[: _SHOWN - 3] + "..." for part in parts) + ")"
