"""Tables of the store, in three kinds, and the migrations that make them.

*Truth* is `body`, with `packed`, `frame` and `pack` for what rests in pack files: stored record bytes by arrival
position. *Local* tables hold what this person chose or saw and no record carries: places, cursors, refusals, the
checkout. *Derived* tables are views over the bodies; `lace fsck --repair` may delete them all and rebuild the identical
state.

Symbols (`sym`) intern texts that repeat, so that facts are integers. Content and tree records write no fact rows:
their facts are keyed and lazy (design: rules engine). Digests are 32-byte blobs; `kind` is the letter of the hash
text.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import lru_cache
from threading import Lock
from typing import Final

from vault.errors import EnvironmentFault
from vault.store.guard import changed, guard, install

__all__ = [
    "DERIVED_TABLES",
    "SCHEMA_VERSION",
    "VERSION_ORDER",
    "StoreTooNew",
    "copy_whole",
    "create_derived",
    "form_of",
    "lay_out",
    "lay_out_as",
    "lay_out_views",
    "migrate",
    "misshapen",
]


class StoreTooNew(EnvironmentFault):
    """The vault was written by a newer lace."""

    code = "vault-too-new"
    exit_code = 12
    hint = "Install a newer lace; nothing was changed."


_TRUTH: Final = """
CREATE TABLE body(p INTEGER PRIMARY KEY, kind TEXT NOT NULL, digest BLOB NOT NULL UNIQUE, bytes BLOB NOT NULL);
"""

# A record whose `bytes` are empty rests in a pack: `packed` names its frame, `frame` the bytes of a pack file.
_PACKS: Final = """
CREATE TABLE pack(id INTEGER PRIMARY KEY, size INTEGER NOT NULL);
CREATE TABLE frame(id INTEGER PRIMARY KEY, pack INTEGER NOT NULL, at INTEGER NOT NULL, stored INTEGER NOT NULL,
    raw INTEGER NOT NULL, form INTEGER NOT NULL, depth INTEGER NOT NULL, bases BLOB NOT NULL, sum BLOB NOT NULL);
CREATE TABLE packed(p INTEGER PRIMARY KEY, frame INTEGER NOT NULL, at INTEGER NOT NULL, size INTEGER NOT NULL);
CREATE INDEX packed_frame ON packed(frame);
"""

_LOCAL: Final = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE peer(name TEXT PRIMARY KEY, node TEXT NOT NULL UNIQUE) WITHOUT ROWID;
CREATE TABLE place(name TEXT PRIMARY KEY, kind TEXT NOT NULL, uri TEXT NOT NULL, place_id TEXT NOT NULL,
    peer TEXT) WITHOUT ROWID;
CREATE TABLE invitation(id TEXT PRIMARY KEY, secret BLOB NOT NULL, expires TEXT NOT NULL, label TEXT NOT NULL,
    used_by TEXT) WITHOUT ROWID;
CREATE TABLE request(node TEXT PRIMARY KEY, label TEXT NOT NULL, place TEXT NOT NULL, tai TEXT NOT NULL,
    problem TEXT NOT NULL, record BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE refused(digest BLOB PRIMARY KEY, kind TEXT NOT NULL, code TEXT NOT NULL, reason TEXT NOT NULL,
    source TEXT NOT NULL, tai TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE checkout(desk TEXT PRIMARY KEY, commit_hash TEXT NOT NULL, tree TEXT NOT NULL,
    also TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE dircache(desk TEXT NOT NULL, dir TEXT NOT NULL, blob BLOB NOT NULL, PRIMARY KEY(desk, dir)) WITHOUT ROWID;
CREATE TABLE exposure(at INTEGER PRIMARY KEY AUTOINCREMENT, p INTEGER NOT NULL UNIQUE);
CREATE TABLE seen(place_id TEXT NOT NULL, node TEXT NOT NULL, number INTEGER NOT NULL, head BLOB NOT NULL,
    runs TEXT NOT NULL, unreleased INTEGER, tai TEXT NOT NULL, whole INTEGER NOT NULL,
    PRIMARY KEY(place_id, node)) WITHOUT ROWID;
CREATE TABLE published(place_id TEXT PRIMARY KEY, number INTEGER NOT NULL, head BLOB NOT NULL,
    epoch TEXT NOT NULL, at INTEGER NOT NULL, seq INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE peer_vector(node TEXT NOT NULL, of_node TEXT NOT NULL, seq INTEGER NOT NULL, plex BLOB NOT NULL,
    forked INTEGER NOT NULL, PRIMARY KEY(node, of_node)) WITHOUT ROWID;
CREATE TABLE met(node TEXT PRIMARY KEY, tai TEXT NOT NULL, place TEXT NOT NULL, unreleased INTEGER) WITHOUT ROWID;
CREATE TABLE conflict(id TEXT PRIMARY KEY, desk TEXT NOT NULL, version TEXT NOT NULL, detected TEXT NOT NULL,
    accepted TEXT NOT NULL, heads TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE last_sync(place TEXT PRIMARY KEY, tai TEXT NOT NULL, result TEXT NOT NULL) WITHOUT ROWID;
"""

_DERIVED: Final = """
CREATE TABLE sym(id INTEGER PRIMARY KEY, s TEXT NOT NULL UNIQUE);
CREATE TABLE rec(p INTEGER PRIMARY KEY, grp INTEGER, app INTEGER, name TEXT, signer INTEGER, tai TEXT,
    size INTEGER NOT NULL, plex BLOB);
CREATE INDEX rec_name ON rec(app, name) WHERE name IS NOT NULL;
CREATE UNIQUE INDEX rec_plex ON rec(plex, p) WHERE plex IS NOT NULL;
CREATE TABLE field(p INTEGER NOT NULL, name INTEGER NOT NULL, idx INTEGER NOT NULL, val INTEGER NOT NULL,
    PRIMARY KEY(p, name, idx)) WITHOUT ROWID;
CREATE INDEX field_value ON field(name, val, p);
CREATE TABLE link(p INTEGER NOT NULL, name INTEGER NOT NULL, idx INTEGER NOT NULL, data INTEGER NOT NULL,
    t TEXT NOT NULL, PRIMARY KEY(p, name, idx)) WITHOUT ROWID;
CREATE INDEX link_target ON link(t, p);
CREATE TABLE counts(app INTEGER PRIMARY KEY, records INTEGER NOT NULL, bytes INTEGER NOT NULL);
CREATE TABLE log(node TEXT NOT NULL, seq INTEGER NOT NULL, hash TEXT NOT NULL, plex BLOB NOT NULL,
    prev TEXT, lamport INTEGER NOT NULL, p INTEGER NOT NULL, PRIMARY KEY(node, seq, hash)) WITHOUT ROWID;
CREATE TABLE vector(node TEXT PRIMARY KEY, seq INTEGER NOT NULL, plex BLOB NOT NULL, forked INTEGER NOT NULL)
    WITHOUT ROWID;
CREATE TABLE member(node TEXT PRIMARY KEY, label TEXT NOT NULL, depth INTEGER NOT NULL, admitted_by TEXT)
    WITHOUT ROWID;
CREATE TABLE former(node TEXT PRIMARY KEY, label TEXT NOT NULL, depth INTEGER NOT NULL, admitted_by TEXT,
    seq INTEGER NOT NULL, plex BLOB NOT NULL, revocation TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE revocation(p INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, signer TEXT NOT NULL, node TEXT NOT NULL,
    last_seq INTEGER NOT NULL, state TEXT NOT NULL);
CREATE TABLE admission(p INTEGER PRIMARY KEY, signer TEXT NOT NULL, node TEXT NOT NULL, invitation TEXT);
CREATE TABLE card(p INTEGER PRIMARY KEY, node TEXT NOT NULL, label TEXT NOT NULL, machine TEXT NOT NULL,
    tai TEXT NOT NULL);
CREATE TABLE commits(p INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, desk TEXT NOT NULL, tree TEXT NOT NULL,
    signer TEXT NOT NULL, tai TEXT NOT NULL);
CREATE TABLE parent(child TEXT NOT NULL, parent TEXT NOT NULL, PRIMARY KEY(child, parent)) WITHOUT ROWID;
CREATE TABLE rev(node TEXT NOT NULL, desk TEXT NOT NULL, number INTEGER NOT NULL, hash TEXT NOT NULL,
    commit_hash TEXT NOT NULL, p INTEGER NOT NULL, PRIMARY KEY(node, desk, number, hash)) WITHOUT ROWID;
CREATE TABLE label(p INTEGER PRIMARY KEY, node TEXT NOT NULL, desk TEXT NOT NULL, label TEXT NOT NULL,
    rev TEXT NOT NULL, hash TEXT NOT NULL);
CREATE INDEX label_name ON label(node, desk, label);
CREATE TABLE release(p INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, node TEXT NOT NULL, desk TEXT NOT NULL,
    version TEXT NOT NULL, commit_hash TEXT NOT NULL, sha512 TEXT NOT NULL, tai TEXT NOT NULL, seq INTEGER,
    lamport INTEGER, visible INTEGER NOT NULL);
CREATE INDEX release_version ON release(desk, version);
CREATE TABLE resolution(p INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, node TEXT NOT NULL, desk TEXT NOT NULL,
    version TEXT NOT NULL, chosen TEXT, release TEXT, result TEXT NOT NULL, tai TEXT NOT NULL,
    visible INTEGER NOT NULL);
CREATE TABLE side(p INTEGER NOT NULL, release TEXT NOT NULL, PRIMARY KEY(p, release)) WITHOUT ROWID;
CREATE TABLE shared(p INTEGER PRIMARY KEY, content INTEGER NOT NULL);
CREATE TABLE hole(want TEXT NOT NULL, content INTEGER NOT NULL, PRIMARY KEY(want, content)) WITHOUT ROWID;
CREATE TABLE sums(hash BLOB PRIMARY KEY, sha512 TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE audit(seq INTEGER PRIMARY KEY, p INTEGER NOT NULL, verb TEXT NOT NULL);
"""

# The numbers of a version, X.Y.Z: CAST reads the leading digits. An index answers for just these words.
_REST: Final = "substr(version, instr(version, '.') + 1)"
VERSION_ORDER: Final = (
    "CAST(version AS INTEGER)",
    f"CAST({_REST} AS INTEGER)",
    f"CAST(substr({_REST}, instr({_REST}, '.') + 1) AS INTEGER)",
)
# What a release asks of thousands of others: the highest version, who waits to be seen, what is released already,
# which log entry shares it.
_OF_RELEASES: Final = f"""
CREATE INDEX release_order ON release(desk, {", ".join(VERSION_ORDER)}) WHERE visible = 1;
CREATE INDEX release_hidden ON release(visible) WHERE visible = 0;
CREATE INDEX release_commit ON release(commit_hash);
CREATE INDEX resolution_result ON resolution(result);
CREATE INDEX log_position ON log(p);
"""

DERIVED_TABLES: Final = tuple(
    line.split("(")[0].split()[2] for line in _DERIVED.splitlines() if line.startswith("CREATE TABLE")
)


def misshapen(db: sqlite3.Connection) -> list[str]:
    """Return the names of tables, indexes and triggers that are not defined as this program defines them.

    Derived tables are left out: they are compared when they are built a second time.
    """
    return sorted({str(row[0]) for row in _wanted() ^ _definitions(db)})


def _wanted() -> set[tuple[object, ...]]:
    with _TURN:
        return _definitions(_empty())


def _definitions(db: sqlite3.Connection) -> set[tuple[object, ...]]:
    sql = "SELECT name, type, tbl_name, CAST(sql AS BLOB) FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'"
    return {tuple(row) for row in db.execute(sql) if row[2] not in DERIVED_TABLES}


def create_derived(db: sqlite3.Connection) -> None:
    """Make the derived tables anew, empty; the caller holds the transaction."""
    for table in DERIVED_TABLES:
        db.execute(f"DROP TABLE IF EXISTS {table}")
    _run(db, _DERIVED + _OF_RELEASES)


def _first(db: sqlite3.Connection) -> None:
    _run(db, _TRUTH)
    _run(db, _LOCAL)
    db.execute("INSERT INTO meta VALUES ('late-from', '0')")  # see `vault.late_content`; older stores have none
    create_derived(db)


def _second(db: sqlite3.Connection) -> None:
    """Checkouts that were begun and are not known to be written (APP-13)."""
    _run(
        db,
        "CREATE TABLE unfinished(desk TEXT PRIMARY KEY, before TEXT NOT NULL, after TEXT NOT NULL) WITHOUT ROWID;",
    )


def _packs(db: sqlite3.Connection) -> None:
    """Version 3: content may rest in packs; what lies in rows stays there."""
    _run(db, _PACKS)


def _quarantine(db: sqlite3.Connection) -> None:
    """Keep valid records of strangers without effect (LAZ-71)."""
    _run(
        db,
        "CREATE TABLE quarantine(digest BLOB PRIMARY KEY, kind TEXT NOT NULL, signer TEXT NOT NULL,"
        " size INTEGER NOT NULL, bytes BLOB NOT NULL);",
    )


def _labels(db: sqlite3.Connection) -> None:
    """Version 5: names for numbers of a line, and desks that are mapped to folders (CLAY-3, CLAY-9)."""
    if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'label'").fetchone() is None:
        _run(db, _DERIVED[_DERIVED.index("CREATE TABLE label(") : _DERIVED.index("CREATE TABLE release(")])
    _run(db, "CREATE TABLE desk(name TEXT PRIMARY KEY, dir TEXT NOT NULL UNIQUE) WITHOUT ROWID;")


def _guarded(db: sqlite3.Connection) -> None:
    """Version 6: a sum over each local table; `migrate` makes them after the last step."""
    del db


def _live(db: sqlite3.Connection) -> None:
    """Version 7: cursors of live exchanges: mine on a peer's exposure log, and its own on mine as it last said."""
    _run(
        db,
        "CREATE TABLE live(node TEXT PRIMARY KEY, epoch TEXT NOT NULL, at INTEGER NOT NULL, mark TEXT NOT NULL,"
        " their_epoch TEXT NOT NULL, their_at INTEGER NOT NULL, their_mark TEXT NOT NULL) WITHOUT ROWID;",
    )


def _revoked(db: sqlite3.Connection) -> None:
    """Version 8: revocations, and the nodes that they cut."""
    for table, following in (("former", "CREATE TABLE revocation("), ("revocation", "CREATE TABLE admission(")):
        if db.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone() is None:
            _run(db, _DERIVED[_DERIVED.index(f"CREATE TABLE {table}(") : _DERIVED.index(following)])


def _indexed(db: sqlite3.Connection) -> None:
    """Version 9: indexes that keep the cost of a release apart from how many there are."""
    if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'release_order'").fetchone() is None:
        _run(db, _OF_RELEASES)


def _beacons(db: sqlite3.Connection) -> None:
    """Version 10: the beacons that were read, by whom they speak of and where (LAZ-20)."""
    _run(
        db,
        "CREATE TABLE beacon(node TEXT NOT NULL, place TEXT NOT NULL, tai TEXT NOT NULL, body BLOB NOT NULL,"
        " seen TEXT NOT NULL, PRIMARY KEY(node, place)) WITHOUT ROWID;",
    )


def _tombs(db: sqlite3.Connection) -> None:
    """Version 11: content that was let go here, what is still known of it, and whether it is asked for (CLAY-79)."""
    _run(
        db,
        "CREATE TABLE tomb(hash TEXT PRIMARY KEY, size INTEGER NOT NULL, sha512 TEXT NOT NULL, tai TEXT NOT NULL,"
        " wanted INTEGER NOT NULL) WITHOUT ROWID;",
    )


def _heard(db: sqlite3.Connection) -> None:
    """Version 12: when each friend itself last said where it stands, which a visit to an old mailbox does not move."""
    db.execute("ALTER TABLE met ADD COLUMN said TEXT NOT NULL DEFAULT ''")
    # By a clock ahead of mine it said so when I met it, as `note_met` takes it.
    db.execute("UPDATE met SET said = ifnull(min(tai, (SELECT max(tai) FROM seen WHERE seen.node = met.node)), '')")


def _of_copies(db: sqlite3.Connection) -> None:
    """Version 13: how each place was left, also of several that are one medium, and what my mailbox there rests on.

    Which of several was left so nobody knows: what lies there is told once each is visited.
    """
    _run(
        db,
        "CREATE TABLE published_by_name(place_id TEXT NOT NULL, name TEXT NOT NULL, number INTEGER NOT NULL,"
        " head BLOB NOT NULL, epoch TEXT NOT NULL, at INTEGER NOT NULL, seq INTEGER NOT NULL, files TEXT NOT NULL,"
        " copied TEXT NOT NULL, PRIMARY KEY(place_id, name)) WITHOUT ROWID;"
        "INSERT INTO published_by_name SELECT u.place_id, ifnull(p.name, ''), u.number, u.head, u.epoch, u.at, u.seq,"
        " ifnull(f.value, ''), ifnull(c.value, '') FROM published u LEFT JOIN place p ON p.place_id = u.place_id"
        " LEFT JOIN meta f ON f.key = 'files ' || u.place_id LEFT JOIN meta c ON c.key = 'copied ' || u.place_id;"
        "UPDATE published_by_name SET head = x'', at = 0, seq = 0"
        " WHERE place_id IN (SELECT place_id FROM place GROUP BY place_id HAVING count(*) > 1);"
        "DELETE FROM meta WHERE key IN (SELECT 'files ' || place_id FROM published);"
        "DELETE FROM meta WHERE key IN (SELECT 'copied ' || place_id FROM published);"
        "DROP TABLE published;"
        "ALTER TABLE published_by_name RENAME TO published;",
    )


def _mixed(_db: sqlite3.Connection) -> None:
    """Change no table: the sums of the local ones are made anew, of the bytes of their values (`vault.store.guard`)."""


_MIGRATIONS: Final = (
    _first,
    _second,
    _packs,
    _quarantine,
    _labels,
    _guarded,
    _live,
    _revoked,
    _indexed,
    _beacons,
    _tombs,
    _heard,
    _of_copies,
    _mixed,
)
SCHEMA_VERSION: Final = len(_MIGRATIONS)
_WATCHED: Final = 6  # the first version whose local tables have sums
_LAST_VERSION: Final = 255  # more steps than there will ever be


def lay_out(db: sqlite3.Connection) -> None:
    """Bring an empty file to this program's schema in one transaction; one that was begun stays as it is.

    Nobody else may write meanwhile. Made step by step, tables and triggers take ten times as long, and SQLite flushes
    what it wrote after each step.
    """
    if _version(db) == 0 and not _definitions(db):
        with _TURN:
            copy_whole(_empty(), db)


def lay_out_as(db: sqlite3.Connection, version: int) -> None:
    """Bring an empty store to the form of a former version, so that what such a store holds fits into it."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as older:
        install(older)
        _step_up(older, 0, version)
        copy_whole(older, db)


def lay_out_views(db: sqlite3.Connection) -> None:
    """Make the derived tables alone, and the log that numbers what is shared, in the caller's transaction.

    A store that lacks the others asks those of one that is attached to it.
    """
    exposure = next(line for line in _LOCAL.splitlines() if line.startswith("CREATE TABLE exposure("))
    _run(db, _DERIVED + _OF_RELEASES + exposure)


def form_of(db: sqlite3.Connection) -> int:
    """Return the version whose form the tables of a store have, whatever became of its number."""
    version = _version(db)
    return version if 0 < version < SCHEMA_VERSION and _definitions(db) != _wanted() else SCHEMA_VERSION


def copy_whole(source: sqlite3.Connection, target: sqlite3.Connection) -> None:
    """Let one database be a copy of another, in one transaction of the target's.

    Raises:
        sqlite3.OperationalError: somebody kept the target all the time, or it cannot be written.
    """
    source.backup(target, progress=_given_up)


def _given_up(code: int, _left: int, _total: int) -> None:
    if code == sqlite3.SQLITE_BUSY:  # after all the patience of the connection; Python would ask for ever
        raise sqlite3.OperationalError("database is locked")


@lru_cache(maxsize=1)
def _empty() -> sqlite3.Connection:
    """Return an empty store in memory, to be used by one thread at a time."""
    db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    install(db)
    migrate(db)
    return db


_TURN: Final = Lock()


def migrate(db: sqlite3.Connection) -> None:
    """Bring a store to this program's schema, one transaction a step.

    The version is four bytes that nothing proves. Where the tables have the form of now and it says another one that is
    older, or that no lace will ever have, it has rotted and is set right (APP-13). A local table that had rotted before
    is still told as that by `guard.changed`.

    Raises:
        StoreTooNew: the store's version is above `SCHEMA_VERSION`; nothing was changed.
    """
    version = _version(db)
    is_odd = version < SCHEMA_VERSION or version > _LAST_VERSION
    if is_odd and (held := _definitions(db)) and held == _wanted():
        db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        return
    if version > SCHEMA_VERSION:
        raise StoreTooNew(f"This vault has store version {version}; this lace reads up to version {SCHEMA_VERSION}.")
    _step_up(db, max(0, version), SCHEMA_VERSION)


def _step_up(db: sqlite3.Connection, version: int, upto: int) -> None:
    is_watched = version >= _WATCHED
    for step in range(version, upto):
        db.execute("BEGIN IMMEDIATE")
        try:
            if max(0, _version(db)) == step:
                rotten = changed(db, step) if is_watched else ()
                _MIGRATIONS[step](db)
                # After each step, or whoever goes on after a cut would take what the step changed for damage.
                if is_watched or step + 1 == upto >= _WATCHED:
                    guard(db, DERIVED_TABLES, rotten, step + 1)
                db.execute(f"PRAGMA user_version = {step + 1}")
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:  # a disk that is full has SQLite end it by itself
                db.execute("ROLLBACK")
            raise


def _version(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def _run(db: sqlite3.Connection, script: str) -> None:
    # executescript would commit the transaction under our feet
    for statement in script.split(";"):
        if statement.strip():
            db.execute(statement)
