"""One letter that rotted in each cell that no record carries: no command ends as a fault of lace, nor after a repair.

    python -m tests.faults.cells [TABLE...] [--cells K] [--seed N]

The vault has something in each local table: places, friends, desks, rules, drafts, a conflict, a beacon, a visit to
another vault, a stranger's request and record, content that was let go, a checkout that was cut off (APP-13, APP-14).
"""

from __future__ import annotations

import argparse
import random
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from tests.circle.world import open_vault
from tests.cli.conftest import make_pair
from tests.people import Person, person_in
from vault.profile import NodeCard
from vault.records import Seal, Tai
from vault.store import guard
from vault.suite import SigningKey

__all__ = ["TABLES", "Cell", "Cells", "grown", "main", "rotten"]

_EVE, _FAY = (SigningKey.from_seed(bytes([seed]) * 32) for seed in (8, 9))
_LOOKS = (
    ["status"],
    ["conflicts"],
    ["log"],
    ["peers"],
    ["requests"],
    ["quarantine"],
    ["beacon"],
    ["prune", "--dry-run"],
)
_ACTS = (["sync", "stick"], ["sync", "bobs"], ["release", "--yes"])
_FAULTS = frozenset({40, 70})  # what a rotten cell must not look like: a fault of a friend's program, or of lace
TABLES = (
    "beacon",
    "checkout",
    "conflict",
    "desk",
    "dircache",
    "invitation",
    "last_sync",
    "live",
    "met",
    "meta",
    "peer",
    "peer_vector",
    "place",
    "published",
    "quarantine",
    "refused",
    "request",
    "seen",
    "tomb",
    "unfinished",
)


def grown(root: Path) -> tuple[Person, Person]:
    """Return alice, who has something in each local table, and bob, below an empty directory."""
    alice, bob = make_pair(root)
    alice.lace("place", "add", "bobs", str(bob.folder))
    alice.lace("sync", "bobs")
    alice.lace("join", "fay", str(root / "fay"), "--key", _FAY.verifier.text)
    _strangers(root, alice)
    for desk in ("words", "diary"):
        alice.write(f"{desk}/text.txt", f"{desk}\n")
        alice.lace("desk", "add", desk, desk)
    alice.lace("release", "1.0.1", "--desk", "words")
    alice.lace("desk", "permit", ".", "--read", "--not", "bob", "--desk", "diary")
    for version in ("1.0.5", "1.0.6"):
        alice.write("film.bin", version * 10_000)
        alice.lace("release", version)
        for person in (alice, bob, alice):
            person.run("sync", "stick")
    alice.lace("desk", "keep", "film.bin", "1")
    alice.lace("prune", "--yes")
    for person in (alice, bob):
        person.lace("beacon", "--status", "busy", "--next", "on Sunday")
    for version, person in (("1.1.0", bob), ("1.2.0", alice)):
        person.write("notes.md", f"{person.name}\ntwo\nthree\nfour\nfive\n")
        person.lace("release", version)
        person.run("sync", "stick")
    alice.run("update")
    alice.run("sync", "bobs")
    with open_vault(alice) as vault:
        ((tree,),) = vault.store.rows("SELECT tree FROM checkout WHERE desk = 'words'")
        with vault.store.transaction():
            vault.store.run("INSERT INTO unfinished VALUES ('words', ?, ?)", tree, tree)
        vault.store.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return alice, bob


def _strangers(root: Path, alice: Person) -> None:
    """Let somebody be refused, and somebody ask to belong whose invitation is not known."""
    plex = NodeCard.to_plex(
        group=str(alice.lace("id")["group"]),
        node=_EVE.verifier,
        label="eve",
        machine=None,
        tai=Tai.parse("1700000000:000000000"),
    )
    alice.write(".laceignore", "*.records\n")
    alice.write("eve.records", Seal.sign(plex, _EVE).encode())
    alice.run("record", "put", "eve.records")
    cara = person_in(root, "cara")
    line = alice.lace("invite", "cara")["invite"]
    with open_vault(alice) as vault, vault.store.transaction():
        vault.store.run("DELETE FROM invitation")
    alice.lace("invite", "dora")
    cara.lace("accept", line, "--name", "cara")
    for person in (cara, alice):
        person.run("sync", "stick")


class Cell(NamedTuple):
    """One cell: in which table and column, in the row of which key, and what it holds."""

    table: str
    column: str
    keys: tuple[tuple[str, object], ...]
    value: object


class Cells:
    """The cells of alice's vault, each of which can rot.

    Args:
        alice: whose.
    """

    def __init__(self, alice: Person) -> None:
        self.alice = alice

    def of(self, table: str) -> list[Cell]:
        """Return the cells of a table that hold something."""
        with closing(self._db()) as db:
            info = db.execute(f"PRAGMA table_info({table})").fetchall()
            names, keys = [row[1] for row in info], [row[1] for row in info if row[5]]
            found = []
            for row in db.execute(f"SELECT * FROM {table}"):
                values = dict(zip(names, row, strict=True))
                key = tuple((name, values[name]) for name in keys)
                filled = [(name, value) for name, value in values.items() if value not in {None, "", b""}]
                found += [Cell(table, name, key, value) for name, value in filled]
        return found

    def rot(self, cell: Cell, value: object) -> bool:
        """Put another value into a cell past what watches it; tell whether the table takes that."""
        where = " AND ".join(f"{name} IS ?" for name, _ in cell.keys)
        with closing(self._db()) as db, db:
            triggers = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
            for name, _ in triggers:
                db.execute(f"DROP TRIGGER {name}")
            change = f"UPDATE OR IGNORE {cell.table} SET {cell.column} = ? WHERE {where}"
            done = db.execute(change, (value, *(key for _, key in cell.keys))).rowcount
            for _, sql in triggers:
                db.execute(sql)
        return done == 1

    def faults(self) -> list[str]:
        """Run commands, a repair and commands again; return which ended as a fault of lace, or as before the repair."""
        wrong = []
        for words in (*_LOOKS, *_ACTS, ["update"], ["fsck"], ["fsck", "--repair"]):
            wrong += self._run(words, frozenset({70}))
        wrong += self._run(["fsck"], frozenset(range(1, 100)))
        for words in (*_LOOKS, *_ACTS):
            wrong += self._run(words, _FAULTS | {41, 42})
        return wrong

    def _run(self, words: list[str], refused: frozenset[int]) -> list[str]:
        done = self.alice.run(*words)
        return (
            [f"lace {' '.join(words)}: {done.code}: {(done.err or done.text)[-300:]}"] if done.code in refused else []
        )

    def _db(self) -> sqlite3.Connection:
        db = sqlite3.connect(self.alice.folder / ".vault" / "store.db")
        guard.install(db)
        return db


def rotten(value: object) -> Iterator[object]:
    """Yield what a cell may hold after one letter or bit of it rotted."""
    if isinstance(value, str):
        middle = len(value) // 2
        for at, letter in ((middle, "~"), (0, chr(ord(value[0]) ^ 2)), (len(value) - 1, chr(ord(value[-1]) ^ 1))):
            yield value[:at] + letter + value[at + 1 :]
    elif isinstance(value, bytes):
        for at in (0, len(value) // 2):
            yield value[:at] + bytes([value[at] ^ 64]) + value[at + 1 :]
    elif isinstance(value, int):
        yield from (value ^ 1 << 40, -value - 1)


def main(words: list[str]) -> int:
    """Let each cell of the tables named rot, or of all; print what came of each table, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.cells", description=__doc__)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=", ".join(TABLES))
    parser.add_argument("--cells", type=int, default=0, help="of each table at most, drawn by lot; else all")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(words)
    if unknown := {*args.tables}.difference(TABLES):
        parser.error(f"no local table is called {', '.join(sorted(unknown))}")
    top = Path(tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
    bad = 0
    try:
        (top / "now").mkdir()
        cells = Cells(grown(top / "now")[0])
        shutil.copytree(top / "now", top / "kept")
        for table in args.tables or TABLES:
            drawn = cells.of(table)
            if args.cells < len(drawn) and args.cells:
                drawn = random.Random(args.seed).sample(drawn, args.cells)
            tried, faults = _sweep(cells, top, drawn)
            bad += len(faults)
            print(f"{table}: {len(drawn)} cells, {tried} values, {len(faults)} faults", *faults, sep="\n  ", flush=True)  # noqa: T201
    finally:
        shutil.rmtree(top, ignore_errors=True)
    return 1 if bad else 0


def _sweep(cells: Cells, top: Path, drawn: list[Cell]) -> tuple[int, list[str]]:
    """Let these cells rot, a value at a time, each in the world as it was kept; return how many, and what was wrong."""
    tried, faults = 0, []
    for cell, value in [(one, value) for one in drawn for value in rotten(one.value)]:
        shutil.rmtree(top / "now")
        shutil.copytree(top / "kept", top / "now")
        if cells.rot(cell, value):
            tried += 1
            wrong = cells.faults()
            if wrong:
                faults.append("\n    ".join([f"{cell.column} {cell.keys} {value!r:.80}", *wrong]))
    return tried, faults


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
