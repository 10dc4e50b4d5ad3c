"""One flipped bit in every class of file of a vault and of a place: found, named, and healed or explained.

    python -m tests.faults.bits [CLASS...] [--bits N] [--seed S]

A flip that changes nothing which anybody reads (a free byte of the database) may stay unnoticed; everything else is
named by `fsck`, and `fsck --repair` brings back what another has, or says what to do (APP-13, APP-14, CYB-11).
"""

from __future__ import annotations

import argparse
import gc
import random
import shutil
import sqlite3
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from lazy.mend import examine, mend
from lazy.sync import sync
from tests.vault.vaults import around, lived_in, write
from vault.errors import LaceError
from vault.folder.work import commit
from vault.fsck.report import BadThing
from vault.records import Verifier, parse_record
from vault.releasing import release
from vault.settings_file import save_settings
from vault.vault import Vault

__all__ = ["CLASSES", "Bits", "main", "sweep"]

Flip = Callable[["Bits", random.Random], str]


@dataclass(frozen=True)
class Class:
    """One class of things that rot.

    Args:
        name: of the class.
        flip: flips a bit in one of them and returns which.
        kinds: what `fsck` may call it.
        heals: whether a repair brings everything back; else it says what to do.
        may_miss: whether a bit may lie where nobody reads it.
        may_end: whether the vault may refuse to be opened at all, with a way out.
        costs_nothing: whether a repair puts nothing aside, since the bytes themselves are whole.
    """

    name: str
    flip: Flip
    kinds: frozenset[str]
    heals: bool
    may_miss: bool = False
    may_end: bool = False
    costs_nothing: bool = False


class Bits:
    """A vault with a life behind it, on a stick with a friend's, which can be put back to how it was.

    Args:
        root: an empty directory.
    """

    def __init__(self, root: Path) -> None:
        self.root = root / "now"
        self._ready = root / "ready"
        self.root.mkdir(parents=True)
        alice, bob = lived_in(self.root)
        draw = random.Random(5).randbytes
        (alice.folder / "film.bin").write_bytes(draw(700_000))
        write(alice, "long.txt", "".join(f"line {number}\n" for number in range(3_000)))
        release(alice, None, "Large")
        for vault in (alice, bob, alice):
            sync(vault, ["stick"])
        write(alice, "draft.txt", "".join(f"draft {number}\n" for number in range(2_000)))
        film = (alice.folder / "film.bin").read_bytes()
        (alice.folder / "film.bin").write_bytes(film[:350_000] + b"!" + film[350_000:])  # it rests on what was released
        commit(alice, "Draft")
        settings = alice.settings.set("share", "commits").set("sync-interval", "77")
        with alice.lock.held():
            save_settings(alice, settings.set("share", "releases"))
        for vault in (alice, bob):
            vault.store.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            vault.close()
        shutil.copytree(self.root, self._ready)
        self.whole = self.dump()
        with closing(self.db()) as db:
            rows = db.execute("SELECT digest FROM body JOIN exposure USING (p)").fetchall()
        self.shared = {bytes(row[0]) for row in rows}

    def back(self) -> None:
        """Put everything back."""
        shutil.rmtree(self.root)
        shutil.copytree(self._ready, self.root)

    @property
    def dot(self) -> Path:
        """Alice's `.vault`."""
        return self.root / "alice" / ".vault"

    @property
    def mailbox(self) -> Path:
        """Alice's mailbox on the stick."""
        with closing(self.db()) as db:
            (node,) = db.execute("SELECT value FROM meta WHERE key = 'node'").fetchone()
        return next((self.root / "stick").rglob(Verifier.parse(node).key.hex()))

    def db(self) -> sqlite3.Connection:
        """Open the store past the program; what is written so is not added to the sums."""
        db = sqlite3.connect(self.dot / "store.db", isolation_level=None)
        db.create_function("mix", -1, lambda total, *_values: total)
        return db

    def open(self) -> Vault:
        """Open alice's vault."""
        return Vault(self.root / "alice", around(self.root, "alice"))

    def dump(self) -> dict[str, object]:
        """Return everything that the database says."""
        with closing(self.db()) as db:
            tables = db.execute("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name").fetchall()
            found: dict[str, object] = {
                "schema": tables,
                "version": db.execute("PRAGMA user_version").fetchone(),
            }
            for kind, name, _, _ in tables:
                if kind == "table" and not name.startswith("sqlite_"):
                    found[name] = sorted(db.execute(f"SELECT * FROM {name}"), key=repr)
            return found

    def cell(self, rng: random.Random, query: str) -> str:
        """Flip a bit of a cell: `query` gives table, column and rowid or a condition, and the value."""
        with closing(self.db()) as db:
            rows = db.execute(query).fetchall()
            filled = [row for row in rows if row[3] not in (None, b"", "")]
            assert filled, query
            table, column, where, value = rng.choice(filled)
            as_text, as_number = isinstance(value, str), isinstance(value, int)
            data = bytearray(
                value.encode() if as_text else value.to_bytes(8, "big", signed=True) if as_number else value
            )
            at = rng.randrange(len(data) * 8)
            if as_text:
                at = at // 8 * 8 + rng.randrange(7)  # it stays a text that can be stored
            data[at // 8] ^= 1 << at % 8
            changed: object = bytes(data)
            if as_text:
                changed = bytes(data).decode()
            elif as_number:
                changed = int.from_bytes(data, "big", signed=True)
            try:
                db.execute(f"UPDATE {table} SET {column} = ? WHERE {where}", (changed,))
            except sqlite3.IntegrityError:  # another row has just that, and no database holds two
                return self.cell(rng, query)
            return f"{table}.{column} where {where}, bit {at}"

    def file(self, rng: random.Random, paths: Iterator[Path] | list[Path], before: int = 0) -> str:
        """Flip a bit of one of some files, within the first `before` bytes if that is given."""
        path = rng.choice(sorted(path for path in paths if path.is_file() and path.stat().st_size))
        data = bytearray(path.read_bytes())
        at = rng.randrange((before or len(data)) * 8)
        data[at // 8] ^= 1 << at % 8
        path.write_bytes(data)
        return f"{path.relative_to(self.root)}, bit {at}"


def _bodies(condition: str) -> str:
    return f"SELECT 'body', 'bytes', 'p = ' || p, bytes FROM body WHERE {condition}"


_SHARED = "p IN (SELECT p FROM exposure)"
_APP = "p IN (SELECT p FROM rec JOIN sym ON sym.id = app WHERE s = '{}')"


def _private(kind: str) -> str:
    return _bodies(f"p NOT IN (SELECT p FROM exposure) AND {_APP.format(kind)}")


def _manifest(bits: Bits, rng: random.Random) -> str:
    """Flip a bit of a list of chunks, which rests in a row or in a pack as it is long."""
    return bits.cell(rng, _bodies(f"{_SHARED} AND {_APP.format('lace/data')} AND instr(bytes, 'Chunk+Link')"))


def _draft(bits: Bits, rng: random.Random) -> str:
    """Flip a bit where content rests that nobody else has, and whose file lies in the folder still."""
    with closing(bits.db()) as db:
        rows = db.execute(
            "SELECT f.pack, f.at, f.stored FROM frame f WHERE EXISTS (SELECT 1 FROM packed k WHERE k.frame = f.id"
            f" AND k.p NOT IN (SELECT p FROM exposure) AND k.{_APP.format('lace/data')})"
        ).fetchall()
    pack, at, size = rng.choice(rows)
    path = bits.dot / "packs" / f"{pack:08d}.pack"
    data = bytearray(path.read_bytes())
    bit = rng.randrange(at * 8, (at + size) * 8)
    data[bit // 8] ^= 1 << bit % 8
    path.write_bytes(data)
    return f"{path.name}, bit {bit}"


def _local(bits: Bits, rng: random.Random) -> str:
    """Flip a bit of a cell of any local table."""
    with closing(bits.db()) as db:
        names = [str(row[0]) for row in db.execute("SELECT name FROM guard ORDER BY name")]
        columns = [
            (name, row[1])
            for name in names
            for row in db.execute(f"PRAGMA table_info({name})").fetchall()
            if any(value not in (None, b"", "") for (value,) in db.execute(f"SELECT {row[1]} FROM {name}"))
        ]
        table, column = rng.choice(columns)
        keys = [row[1] for row in db.execute(f"PRAGMA table_info({table})") if row[5]]
        where = " || ' AND ' || ".join(f"'{key} = ' || quote({key})" for key in keys)
    skip = " WHERE key NOT IN ('status', 'generation')" if table == "meta" else ""
    return bits.cell(rng, f"SELECT '{table}', '{column}', {where}, {column} FROM {table}{skip}")


def _identity(bits: Bits, rng: random.Random) -> str:
    """Flip a bit of a setting that says whose vault it is."""
    key = rng.choice(("founding", "founding_plex", "group", "instance", "name", "node"))
    return bits.cell(rng, f"SELECT 'meta', 'value', 'key = ' || quote(key), value FROM meta WHERE key = '{key}'")


def _frame(bits: Bits, rng: random.Random) -> str:
    """Flip a bit of what says how a frame of a pack with shared content is read."""
    column = rng.choice(("pack", "at", "stored", "raw", "form", "depth", "sum"))
    return bits.cell(
        rng,
        f"SELECT 'frame', '{column}', 'id = ' || f.id, {column} FROM frame f WHERE"
        " NOT EXISTS (SELECT 1 FROM packed k WHERE k.frame = f.id AND k.p NOT IN (SELECT p FROM exposure))",
    )


def _draft_frame(bits: Bits, rng: random.Random) -> str:
    """Flip a bit of what says how a frame is read in which content rests that nobody else has."""
    column = rng.choice(("id", "pack", "at", "stored", "raw", "form", "depth", "sum"))
    return bits.cell(
        rng,
        f"SELECT 'frame', '{column}', 'id = ' || f.id, {column} FROM frame f WHERE"
        " EXISTS (SELECT 1 FROM packed k WHERE k.frame = f.id AND k.p NOT IN (SELECT p FROM exposure))",
    )


def _packed(bits: Bits, rng: random.Random) -> str:
    """Flip a bit of what says where shared content rests."""
    column = rng.choice(("frame", "at", "size"))
    return bits.cell(rng, f"SELECT 'packed', '{column}', 'p = ' || p, {column} FROM packed WHERE {_SHARED}")


def _draft_place(column: str) -> Flip:
    """Return what flips a bit of where content rests in its frame that nobody else has."""
    drafts = f"SELECT 'packed', '{column}', 'p = ' || p, {column} FROM packed WHERE NOT {_SHARED}"
    return lambda bits, rng: bits.cell(rng, drafts)


def _draft_rest(column: str) -> Flip:
    """Return what flips a bit of where the frame of such content lies, or of what it rests on."""
    drafts = f"SELECT 'frame', '{column}', 'id = ' || id, {column} FROM frame WHERE id IN (SELECT frame FROM packed)"
    return lambda bits, rng: bits.cell(rng, drafts)


def _unfinished(bits: Bits, rng: random.Random) -> str:
    """Flip a bit of the note that a checkout is being written."""
    with closing(Vault(bits.root / "alice", around(bits.root, "alice"))) as vault, vault.store.transaction():
        (tree,) = vault.store.rows("SELECT tree FROM checkout")[0]
        vault.store.run("INSERT INTO unfinished VALUES ('main', ?, ?)", tree, tree)
    return bits.cell(rng, "SELECT 'unfinished', 'after', '1', after FROM unfinished")


def _checkout(bits: Bits, rng: random.Random) -> str:
    """Flip a bit of what the folder stands on."""
    column = rng.choice(("commit_hash", "tree"))
    return bits.cell(rng, f"SELECT 'checkout', '{column}', '1', {column} FROM checkout")


def _pack_row(bits: Bits, rng: random.Random) -> str:
    """Flip a bit of the number of a pack in the list of packs."""
    return bits.cell(rng, "SELECT 'pack', 'id', 'id = ' || id, id FROM pack")


def _type(bits: Bits, rng: random.Random) -> str:
    """Give a value the type and length that one bit makes of it: an empty text, or no bytes."""
    with closing(bits.db()) as db:
        tables = db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
        columns = [
            (name, str(column), str(kind))
            for (name,) in tables.fetchall()
            if name != "body" and db.execute(f"SELECT 1 FROM {name}").fetchone()
            for _, column, kind, _, _, is_key in db.execute(f"PRAGMA table_info({name})").fetchall()
            if kind and not is_key  # SQLite itself keeps what is no number from being the number of a row
        ]
        table, column, kind = rng.choice(columns)
        values = db.execute(f"SELECT {column} FROM {table} WHERE {column} IS NOT NULL").fetchall() or [(None,)]
        (value,) = rng.choice(values)
        empty = "x''" if kind == "TEXT" else "''"
        db.execute(f"UPDATE {table} SET {column} = {empty} WHERE {column} IS ?", (value,))
    return f"{table}.{column} is {empty} where it was {value!r}"


def _version(bits: Bits, rng: random.Random) -> str:
    """Flip a bit of the number of the store's form, in the header of its file."""
    path = bits.dot / "store.db"
    data = bytearray(path.read_bytes())
    at = rng.randrange(60 * 8, 64 * 8)
    data[at // 8] ^= 1 << at % 8
    path.write_bytes(data)
    return f"store.db, bit {at}"


def _pack_size(bits: Bits, rng: random.Random) -> str:
    """Flip a bit of how long a pack is, downwards: what lies beyond would be cut off."""
    with closing(bits.db()) as db:
        pack, size = db.execute("SELECT id, size FROM pack").fetchone()
        bit = rng.choice([bit for bit in range(30) if size >> bit & 1])
        db.execute("UPDATE pack SET size = ? WHERE id = ?", (size ^ 1 << bit, pack))
    return f"size of pack {pack}, bit {bit}"


def _definition(bits: Bits, rng: random.Random) -> str:
    """Flip a bit of how a table or trigger is defined."""
    with closing(bits.db()) as db:
        name, sql = rng.choice(db.execute("SELECT name, sql FROM sqlite_master WHERE sql <> ''").fetchall())
        at = rng.randrange(len(sql) * 7)
        sql = sql[: at // 7] + chr(ord(sql[at // 7]) ^ 1 << at % 7) + sql[at // 7 + 1 :]
        db.execute("PRAGMA writable_schema=ON")
        db.execute("UPDATE sqlite_master SET sql = ? WHERE name = ?", (sql, name))
    return f"definition of {name}, bit {at}"


def _letter(bits: Bits, rng: random.Random) -> str:
    """Flip the high bit of a letter of a record's headers, which are ASCII: what is no text is met before a digest."""
    with closing(bits.db()) as db:
        rows = db.execute("SELECT p, bytes FROM body WHERE length(bytes) > 0").fetchall()
        p, stored = rng.choice(rows)
        data = bytearray(stored)
        at = rng.randrange(data.find(b"\n\n") if b"\n\n" in data else len(data))
        data[at] ^= 0x80
        db.execute("UPDATE body SET bytes = ? WHERE p = ?", (bytes(data), p))
    return f"body {p}, high bit of byte {at}"


def _is(*kinds: str) -> frozenset[str]:
    return frozenset(kinds)


_ALL = (
    Class("record", lambda b, r: b.cell(r, _bodies(f"{_SHARED} AND length(bytes) > 0")), _is("record"), True),
    Class("letter", _letter, _is("record", "audit"), False),
    Class("manifest", _manifest, _is("record"), True),
    Class("content", lambda b, r: b.file(r, (b.dot / "packs").glob("*.pack")), _is("record", "pack"), True),
    Class("draft", _draft, _is("record", "pack"), True),
    Class("commit", lambda b, r: b.cell(r, _private("lace/commit")), _is("record"), False),
    Class("audit", lambda b, r: b.cell(r, _private("lace/audit")), _is("audit"), False),
    Class("pack-head", lambda b, r: b.file(r, (b.dot / "packs").glob("*.pack"), 8), _is("pack"), True),
    Class("pack-size", _pack_size, _is("pack"), True),
    Class("pack-row", _pack_row, _is("pack"), True),
    Class("checkout", _checkout, _is("local"), True),
    Class("type", _type, _is("local", "store", "view"), False, may_end=True),
    Class("version", _version, _is(), False, may_miss=True, may_end=True),
    Class("config", lambda b, r: b.file(r, [b.dot / "config.toml"]), _is("setting"), False),
    Class("readable", lambda b, r: b.file(r, (b.dot / "lazy").rglob("*.sexp")), _is("file"), True),
    Class("key", lambda b, r: b.file(r, (b.root / "home-alice" / "keys").iterdir()), _is("key"), False),
    Class("mark", lambda b, r: b.file(r, (b.root / "home-alice" / "marks").iterdir()), _is("setting"), False),
    Class("identity", _identity, _is("setting", "local"), True),
    Class("frame", _frame, _is("record", "pack", "store"), True, may_miss=True, may_end=True),
    Class("draft-frame", _draft_frame, _is("record", "pack", "store"), True, may_miss=True),
    Class("packed", _packed, _is("record", "store"), True),
    *(
        Class(f"packed-{column}", _draft_place(column), _is("record", "store"), True, costs_nothing=True)
        for column in ("at", "size", "frame")
    ),
    *(
        Class(f"frame-{column}", _draft_rest(column), _is("record", "pack", "store"), True, costs_nothing=True)
        for column in ("bases", "pack")
    ),
    Class("heads", lambda b, r: b.file(r, (b.dot / "heads").iterdir()), _is(), True, may_miss=True),
    Class("local", _local, _is("local", "setting"), False, may_end=True),
    Class("unfinished", _unfinished, _is("local"), True),
    Class("store", lambda b, r: b.file(r, [b.dot / "store.db"]), _is(), False, may_miss=True, may_end=True),
    Class("definition", _definition, _is("store", "local", "view"), False, may_end=True),
    Class("marker", lambda b, r: b.file(r, [b.root / "stick" / "lace-drop.txt"]), _is("place"), True),
    Class("head", lambda b, r: b.file(r, b.mailbox.glob("head.rec")), _is("place"), True),
    Class("run", lambda b, r: b.file(r, b.mailbox.glob("*.run")), _is("place"), True),
    Class("bundle", lambda b, r: b.file(r, b.mailbox.glob("*.bnd")), _is("place"), True),
)
CLASSES = {each.name: each for each in _ALL}


def sweep(bits: Bits, name: str, count: int, seed: int) -> tuple[list[str], int]:
    """Flip so many single bits of one class.

    Nobody collects garbage while one is judged: what a circle holds on to is to be closed by whoever opened it.

    Returns:
        What was wrong, and how many flips changed nothing that anybody reads.
    """
    rng = random.Random(f"{name} {seed}")
    faults, unread = [], 0
    for _ in range(count):
        bits.back()
        which = CLASSES[name].flip(bits, rng)
        gc.collect()
        gc.disable()
        try:
            unread += _judge(bits, CLASSES[name])
        except Exception:
            faults.append(f"{which}: {traceback.format_exc(limit=-3)}")
        finally:
            gc.enable()
    return faults, unread


def _judge(bits: Bits, kind: Class) -> bool:
    """Check and repair; tell whether the flip changed nothing that anybody reads."""
    try:
        with bits.open() as vault:
            found = examine(vault)
    except LaceError as error:
        _may(kind.may_end, error)
        return False
    named: tuple[BadThing, ...] = (*found.bad, *found.notes)
    if not named:
        assert kind.may_miss, "nothing was found"
        assert bits.dump() == bits.whole, "nothing was found, and the database says something else"
        return True
    assert not kind.kinds or kind.kinds & {bad.kind for bad in named}, named
    try:
        with bits.open() as vault:
            done = mend(vault)
            left = examine(vault)
    except LaceError as error:
        _may(not kind.heals, error)
        return False
    if kind.costs_nothing:
        assert done.lost == ()
    if kind.heals:
        assert done.ok, done.bad
        assert left.ok, left.bad
        assert {bad.name for bad in found.bad} <= {bad.name for bad in done.repaired}, (found.bad, done.repaired)
    else:
        assert left.ok or all(_says_what_to_do(bad) for bad in done.bad), done.bad
    if not {bad.kind for bad in done.bad} & {"setting", "key", "store"}:
        with bits.open() as vault:
            for digest, stored in vault.store.db.execute("SELECT digest, stored(p, bytes) FROM body").fetchall():
                assert parse_record(stored).hash.digest == digest
            have = {bytes(row[0]) for row in vault.store.rows("SELECT digest FROM body")}
            assert bits.shared <= have, f"{len(bits.shared - have)} shared records are gone"
    return False


def _may(allowed: bool, error: LaceError) -> None:
    """Take an error that ended a check or a repair only where that is allowed, and only with a way out."""
    if not allowed or not error.hint:
        raise error


def _says_what_to_do(bad: BadThing) -> bool:
    return any(word in bad.message for word in ("lace ", "sync", "backup")) or bad.kind in {"audit", "view"}


def main(words: list[str]) -> int:
    """Sweep the classes named, or all."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.bits", description=__doc__)
    parser.add_argument("classes", nargs="*", metavar="CLASS", help=", ".join(CLASSES))
    parser.add_argument("--bits", type=int, default=50, help="of each class")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(words)
    top = Path(tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
    bad = 0
    try:
        bits = Bits(top)
        for name in args.classes or CLASSES:
            faults, unread = sweep(bits, name, args.bits, args.seed)
            bad += len(faults)
            unread_text = f", {unread} where nobody reads" if unread else ""
            print(f"{name}: {args.bits} bits, {len(faults)} faults{unread_text}", flush=True)  # noqa: T201
            for what in faults[:4]:
                print(f"  {what}"[:1500], flush=True)  # noqa: T201
    finally:
        with suppress(OSError):
            shutil.rmtree(top)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
