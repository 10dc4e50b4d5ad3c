"""The most memory that a step takes, whatever the size of a file, of a listing or of what is new.

Each step runs in a process of its own. What grows: one file that is carried from folder to folder, a mailbox that lists
a million records, a hundred thousand small records that are new, and a first meeting about 200,000 files.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.bench.content import MIB, in_child
from tests.bench.ingest import written
from tests.bench.table import Figure
from tests.faults.circle import Hostile
from tests.people import ROOT, Person, person_in
from tests.vault.vaults import befriend, found, write
from transports.drop.place import Drop
from transports.index.runs import RunBuilder
from vault.records import RecordHash
from vault.releasing import release

__all__ = ["figures"]

_MEMORY_MB = 200
_RUN = 250_000  # entries
_FOLDER = 100  # files
# A process begins with the peak of whoever starts it, and this one made a listing of a million records: a small one
# stands between them.
_WAIT = """
import os, subprocess, sys
running = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, used = os.wait4(running.pid, 0)
print(used.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def figures(quick: bool) -> Iterator[Figure]:
    """Yield peaks of every step, beside the promise."""
    mib, listed, fresh, files = (32, 30_000, 2_000, 5_000) if quick else (2_048, 1_000_000, 100_000, 200_000)
    for what, peak in (*_file(mib), *_listing(listed), *_new(fresh), *_meeting(files)):
        yield Figure("memory", what, peak, "MB", "the promise", _MEMORY_MB, 1)


def _file(mib: int) -> Iterator[tuple[str, float]]:
    """One large file, from folder to stick to folder."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        alice = found(root)
        write(alice, "a.txt", "one\n")
        release(alice, None, "First")
        befriend(root, alice, "bob").close()
        alice.close()
        draw = random.Random(1).randbytes
        with (root / "alice" / "film.bin").open("wb") as file:
            for _ in range(mib // 16 or 1):
                file.write(draw(16 * MIB))
        for who, act in (
            ("alice", "commit"), ("alice", "release"), ("alice", "sync"), ("bob", "sync"), ("bob", "update")
        ):  # fmt: skip
            yield f"a file of {mib} MiB: {act} of {who}", in_child(act, root / who).peak


def _listing(count: int) -> Iterator[tuple[str, float]]:
    """A mailbox that lists so many records; none of them is wanted, which only reading all of it tells."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        alice = found(root)
        write(alice, "a.txt", "one\n")
        release(alice, None, "First")
        befriend(root, alice, "bob").close()
        hostile = Hostile(alice, Drop.open(root / "stick"))
        writer = hostile.drop.writer(alice.group, alice.node)
        runs = list(hostile.runs())
        place = hostile.somewhere()
        draw = random.Random(2).randbytes
        for _ in range(0, count, _RUN):
            builder = RunBuilder()
            for _ in range(min(_RUN, count)):
                builder.add(RecordHash("P", draw(32)), "lace/data", place)
            runs.append(writer.add_run(builder.build()))
        writer.publish_head(hostile.head(runs).encode())
        alice.close()
        yield f"a listing of {count} records: sync of bob", in_child("sync", root / "bob").peak


def _new(count: int) -> Iterator[tuple[str, float]]:
    """So many small sealed records that are new."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name) / "home"
        written(root, count)
        for who in ("alice", "bob"):
            yield f"{count} new small records: sync of {who}", in_child("sync", root / who).peak


def _meeting(count: int) -> Iterator[tuple[str, float]]:
    """A first meeting about a folder of so many files, as commands: all of them go out, come in and are written."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        alice, bob = (person_in(root, who) for who in ("alice", "bob"))
        alice.lace("init", "--name", "alice")
        alice.lace("place", "add", "stick", str(root / "stick"))
        bob.lace("accept", alice.lace("invite", "bob")["invite"])
        for start in range(0, count, _FOLDER):
            folder = alice.folder / f"notes-{start // _FOLDER:05}"
            folder.mkdir()
            for number in range(start, min(start + _FOLDER, count)):
                (folder / f"note-{number:07}-of-some-length.md").write_text(f"note {number}\n" * 8)
        for person, *words in (
            (alice, "release", "1.0.0"), (alice, "sync", "stick"), (bob, "sync", "stick"), (bob, "update")
        ):  # fmt: skip
            yield f"a first meeting about {count} files: {words[0]} of {person.name}", _peak(person, words)


def _peak(person: Person, words: list[str]) -> float:
    """Return the most memory that a command takes, in MB."""
    command = [sys.executable, "-c", _WAIT, sys.executable, "-m", "lace_tui", *words]
    environ = {**person.variables, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=person.folder, env=environ, capture_output=True, text=True, check=True)
    return int(done.stdout) / 1000
