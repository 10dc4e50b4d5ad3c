"""Many signed commits made, carried and verified, beside git with ssh signatures (W6).

In one process first, where only the work counts; then one command a commit, where Python's start does. A release at
the end shares all commits with their numbers, and the friend verifies each. The person's own edit of the file is timed
on neither side: a disk that is flushed makes it wait for longer than a commit takes. What a commit cannot go below is
printed too. In one process: a look at the folder, three signatures, the digests, and rows of the same size in one
flushed transaction of SQLite, with nothing that says what they mean; and the same with the rows of all tables of a
store, their indexes and sums, and nothing that works out what they say. As a command: a Python that loads the three C
libraries and makes one such transaction. git flushes nothing.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from statistics import median

from blake3 import blake3
from nacl.bindings import crypto_sign, crypto_sign_keypair

from lazy.sync import sync
from tests.bench.table import Figure
from tests.vault.vaults import befriend, found, write
from vault.folder.work import commit
from vault.releasing import release
from vault.store.database import insert_many
from vault.store.guard import install

__all__ = ["figures"]

_ROOT = Path(__file__).parents[2]
_LACE = f"import sys; sys.path.insert(0, {str(_ROOT)!r}); from lace_tui.__main__ import main; sys.exit(main())"
_COMMANDS = 20
_ROWS, _ROW_BYTES = 5, 600  # of one commit: the content, its tree, the commit, its number, the audit entry
_SIGNED = 3  # of these
_NODE = f"V.{'0' * 43}.H3"
_BARE = """
import sqlite3, sys, blake3, nacl.bindings
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("PRAGMA synchronous=FULL")
db.execute("INSERT INTO body(digest, bytes) VALUES (randomblob(32), randomblob(600))")
"""


def figures(quick: bool) -> Iterator[Figure]:
    """Yield making, carrying with verification, and one command a commit, each beside git."""
    count, repeats = (50, 1) if quick else (2_000, 3)
    runs = [_repeat(count) for _ in range(repeats)]

    def middle(name: str) -> float:
        return median(run[name] for run in runs)

    what = f"{count} signed commits"
    yield Figure("W6", f"{what}: make, one process", middle("make"), "s", "git commit -S", middle("git make"), 0.05)
    cpu = "git commit -S, CPU"
    yield Figure("W6", f"{what}: make, CPU", middle("make CPU"), "CPU s", cpu, middle("git make CPU"))
    yield Figure("W6", f"{what}: make, one process", middle("make"), "s", "bare work", middle("bare"))
    yield Figure("W6", f"{what}: bare work", middle("bare"), "s", "git commit -S", middle("git make"))
    yield Figure("W6", f"{what}: bare rows, all tables", middle("bare rows"), "s", "git commit -S", middle("git make"))
    against = "git clone + verify-commit"
    yield Figure("W6", f"{what}: sync and verify", middle("carry"), "s", against, middle("git carry"), 0.05)
    yield Figure(
        "W6", "one command a commit", 1000 * middle("command"), "ms", "git commit -S", 1000 * middle("git command"), 4
    )
    yield Figure("W6", "one command a commit, CPU", 1000 * middle("command CPU"), "CPU ms", cpu, middle("git CPU ms"))
    yield Figure("W6", "a bare Python that commits", 1000 * middle("start CPU"), "CPU ms", cpu, middle("git CPU ms"))


def _repeat(count: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        alice = found(root)
        write(alice, "a.txt", "0\n")
        release(alice, None, "First")
        bob = befriend(root, alice, "bob")
        # One clock for both: hers goes on at each commit.
        bob.around = replace(bob.around, processors=len(os.sched_getaffinity(0)), now_ns=alice.around.now_ns)
        got: dict[str, float] = {}
        got["make"] = got["make CPU"] = 0.0
        for number in range(count):
            write(alice, "a.txt", f"{number + 1}\n")
            begun, worked = time.perf_counter(), time.process_time()
            commit(alice, f"Step {number}")
            got["make"] += time.perf_counter() - begun
            got["make CPU"] += time.process_time() - worked
        begun = time.perf_counter()
        release(alice, None, "All of them")
        sync(alice, ["stick"])
        (result,) = sync(bob, ["stick"])
        got["carry"] = time.perf_counter() - begun
        assert not result.problems
        assert len(result.came.received) >= 2 * count
        alice.close()
        bob.close()
        got["bare"] = _bare(root, count)
        got["bare rows"] = _bare_rows(root, alice.store.path, count)
        _git(root, count, got)
        _commands(root, got)
        return got


def _bare(root: Path, count: int) -> float:
    """Return the seconds of as many commits' signatures, digests and flushed rows, and of looking at one file."""
    _, key = crypto_sign_keypair()
    folder = root / "bare"
    folder.mkdir()
    (folder / "a.txt").write_text("0\n")
    db = sqlite3.connect(root / "rows.db", isolation_level=None)
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA synchronous=FULL")
    db.execute("CREATE TABLE body(p INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, bytes BLOB NOT NULL)")
    begun = time.perf_counter()
    for _ in range(count):
        rows = _made(folder, key)
        db.execute("BEGIN IMMEDIATE")
        db.executemany("INSERT INTO body(digest, bytes) VALUES (?, ?)", rows)
        db.execute("COMMIT")
    taken = time.perf_counter() - begun
    db.close()
    return taken


def _made(folder: Path, key: bytes) -> list[tuple[bytes, bytes]]:
    """Look at a folder, and return as many digests with their bytes as a commit makes, the first of them signed."""
    for entry in os.scandir(folder):
        entry.stat()
        Path(entry.path).read_bytes()
    made = [os.urandom(_ROW_BYTES) for _ in range(_ROWS)]
    for record in made[:_SIGNED]:
        crypto_sign(record, key)
    return [(blake3(record).digest(), record) for record in made]


def _bare_rows(root: Path, store: Path, count: int) -> float:
    """Return the seconds of the same with rows like those of a commit in all tables of a copy of a store."""
    _, key = crypto_sign_keypair()
    shutil.copy(store, root / "tables.db")
    with closing(sqlite3.connect(root / "tables.db", isolation_level=None, cached_statements=256)) as db:
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=FULL")
        db.execute("PRAGMA wal_autocheckpoint=4000")  # as a store has it
        install(db)
        first, number = db.execute("SELECT max(p) + 1, (SELECT max(number) + 1 FROM rev) FROM body").fetchone()
        begun = time.perf_counter()
        for at in range(count):
            _write_rows(db, first + at * _ROWS, number + at, _made(root / "bare", key))
        return time.perf_counter() - begun


def _write_rows(db: sqlite3.Connection, first: int, number: int, made: list[tuple[bytes, bytes]]) -> None:
    """Write rows like those of one commit, by one statement a table or two, all of whose values are at hand."""
    texts = [f"S.{blake3(digest).hexdigest()[:43]}.H3" for digest, _ in made]
    commit, revision, entry, page, content = range(first, first + _ROWS)
    tai = f"{number:010}:000000000"
    db.execute("BEGIN IMMEDIATE")
    db.execute("UPDATE checkout SET commit_hash = ?, tree = ? WHERE desk = 'main'", texts[:2])
    db.execute("UPDATE dircache SET blob = ? WHERE desk = 'main' AND dir = ''", (made[0][1][:170],))
    body = [value for p, (digest, stored) in enumerate(made, first) for value in (p, "S", digest, stored)]
    insert_many(db, "INSERT INTO body VALUES (?, ?, ?, ?)", body)
    sealed = zip((commit, revision, entry), ("main", f"main/{number}", f"{number}"), made, strict=False)
    records = [value for p, name, (digest, _) in sealed for value in (p, 1, 1, name, 1, tai, 1, digest[::-1])]
    insert_many(db, "INSERT INTO rec VALUES (?, ?, ?, ?, ?, ?, ?, ?)", records)
    insert_many(db, "INSERT INTO rec(p, grp, app, size) VALUES (?, ?, ?, ?)", [page, 1, 1, 1, content, 1, 1, 1])
    db.execute("INSERT INTO field VALUES (?, 1, 0, 1)", (entry,))
    named = zip((commit, commit, revision, revision, entry), (0, 1, 0, 1, 0), texts, strict=True)
    insert_many(db, "INSERT INTO link VALUES (?, ?, ?, ?, ?)", [v for p, idx, t in named for v in (p, 1, idx, 1, t)])
    db.execute("UPDATE counts SET records = records + 1, bytes = bytes + 600")
    db.execute("INSERT INTO commits VALUES (?, ?, 'main', ?, ?, ?)", (commit, *texts[:3], tai))
    db.execute("INSERT INTO parent VALUES (?, ?)", texts[:2])
    db.execute("INSERT INTO rev VALUES (?, 'main', ?, ?, ?, ?)", (_NODE, number, *texts[:2], revision))
    db.execute("INSERT INTO audit SELECT max(seq) + 1, ?, 'seal-commit' FROM audit", (entry,))
    db.execute("UPDATE meta SET value = CAST(value + 1 AS TEXT) WHERE key = 'generation'")
    db.execute("COMMIT")


def _children() -> float:
    """Return the seconds of the processor that ended processes took."""
    took = os.times()
    return took.children_user + took.children_system


def _git(root: Path, count: int, got: dict[str, float]) -> None:
    key = root / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    (root / "signers").write_text(f"x@example.org {key.with_suffix('.pub').read_text()}")
    work = root / "git"
    _run("git", "init", "-q", str(work))
    for name, value in {
        "user.name": "x",
        "user.email": "x@example.org",
        "gpg.format": "ssh",
        "user.signingkey": str(key),
        "gpg.ssh.allowedSignersFile": str(root / "signers"),
        "gc.auto": "0",
        "maintenance.auto": "false",
    }.items():
        _run("git", "-C", str(work), "config", name, value)
    got["git make"], worked = 0.0, _children()
    for number in range(count):
        (work / "a.txt").write_text(f"{number}\n")
        begun = time.perf_counter()
        _run("git", "-C", str(work), "add", "a.txt")
        _run("git", "-C", str(work), "commit", "-q", "-S", "-m", f"Step {number}")
        got["git make"] += time.perf_counter() - begun
    got["git make CPU"] = _children() - worked
    got["git command"], got["git CPU ms"] = got["git make"] / count, 1000 * got["git make CPU"] / count
    begun = time.perf_counter()
    _run("git", "clone", "-q", "--no-local", str(work), str(root / "clone"))
    _run("git", "-C", str(root / "clone"), "config", "gpg.ssh.allowedSignersFile", str(root / "signers"))
    hashes = subprocess.run(
        ["git", "-C", str(root / "clone"), "rev-list", "HEAD"], check=True, capture_output=True, text=True
    )
    _run("git", "-C", str(root / "clone"), "verify-commit", *hashes.stdout.split())
    got["git carry"] = time.perf_counter() - begun


def _commands(root: Path, got: dict[str, float]) -> None:
    folder = root / "commands"
    folder.mkdir()
    # An installed program has its byte code beside it; the first commands write it here.
    environ = {**os.environ, "LACE_HOME": str(root / "commands-home"), "PYTHONPYCACHEPREFIX": str(root / "byte-code")}
    environ.pop("PYTHONDONTWRITEBYTECODE", None)

    def lace(*words: str) -> None:
        command = [sys.executable, "-c", _LACE, *words]
        subprocess.run(command, cwd=folder, env=environ, check=True, capture_output=True)

    lace("init", "--name", "alice")
    (folder / "a.txt").write_text("first\n")
    lace("commit", "-m", "First")
    taken, worked = 0.0, _children()
    for number in range(_COMMANDS):
        (folder / "a.txt").write_text(f"{number}\n")
        begun = time.perf_counter()
        lace("commit", "-m", f"Step {number}")
        taken += time.perf_counter() - begun
    got["command"], got["command CPU"] = taken / _COMMANDS, (_children() - worked) / _COMMANDS
    worked = _children()
    for _ in range(_COMMANDS):
        _run(sys.executable, "-c", _BARE, str(root / "rows.db"))
    got["start CPU"] = (_children() - worked) / _COMMANDS


def _run(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True)
