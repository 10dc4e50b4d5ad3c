"""The app: first paint on a large vault, keys while a large sync runs, memory over a long sitting.

The peer of the first paint is a Textual program of one line, started in the same way in turn: once drawn without a
terminal, so that the terminal's own speed is left out of both, and once as people start it, on a terminal of its own.
"""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import signal
import sqlite3
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.bench.spark import _vault
from tests.bench.table import Figure
from tests.people import ROOT, Person
from vault.records import RecordHash

__all__ = ["figures"]

_HELLO = """
import time; began = time.perf_counter()
import asyncio, json
from textual.app import App
from textual.widgets import Static
class Hello(App):
    def compose(self):
        yield Static("hello")
async def main():
    async with Hello().run_test(size=(100, 30)) as pilot:
        print(json.dumps({"painted": time.perf_counter() - began}))
asyncio.run(main())
"""

_BARE = """
from textual.app import App
from textual.widgets import Static
class Hello(App):
    def compose(self):
        yield Static("hello")
Hello().run()
"""

_OPEN = """
import time; began = time.perf_counter()
import asyncio, json, os, resource, sys
from pathlib import Path
from lace_tui.app.lace import LaceApp
from lace_tui.cli.context import Context, World
folder = Path(sys.argv[1])
home = Path(sys.argv[2])
environ = {**os.environ, "HOME": str(home), "LACE_HOME": str(home / "lace")}
context = Context(World(environ=environ, cwd=folder))
app = LaceApp(lambda: folder, context.surroundings, here=str(folder), monotonic=time.monotonic)
"""

_PAINT = (
    _OPEN
    + """
async def main():
    async with app.run_test(size=(100, 30)) as pilot:
        painted = time.perf_counter() - began
        while app.view is None:
            await asyncio.sleep(0.005)
        print(json.dumps({"painted": painted, "read": time.perf_counter() - began}))
asyncio.run(main())
"""
)

_KEYS = (
    _OPEN
    + """
from textual import events
waits = []
async def press(key):
    done = asyncio.Event()
    t = time.perf_counter()
    app.post_message(events.Key(key, None))
    app.screen.call_after_refresh(done.set)
    await done.wait()
    waits.append(time.perf_counter() - t)
async def main():
    async with app.run_test(size=(100, 30)) as pilot:
        while app.view is None:
            await asyncio.sleep(0.01)
        app.post_message(events.Key("s", "s"))
        while app.job is None:
            await asyncio.sleep(0.01)
        while app.job is not None:
            for key in ("tab", "j", "k"):
                await press(key)
                await asyncio.sleep(0.02)
        assert app.card is not None and "Last sync" in app.card.title, app.card
        waits.sort()
        print(json.dumps({"count": len(waits), "p99": waits[int(len(waits) * 0.99)]}))
asyncio.run(main())
"""
)

_SIT = (
    _OPEN
    + """
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize() / 1e6
async def main():
    rounds = int(sys.argv[3])
    seen = []
    async with app.run_test(size=(100, 30)) as pilot:
        for number in range(rounds):
            for place in "12345681":
                await pilot.press(place)
                await app.workers.wait_for_complete()
            await pilot.press("f5", "j", "k", "question_mark", "escape")
            await app.workers.wait_for_complete()
            seen.append(resident())
    print(json.dumps({"early": seen[len(seen) // 4], "late": seen[-1]}))
asyncio.run(main())
"""
)


_ROWS = """
import asyncio, json, statistics, sys, time
from textual import events
from textual.app import App
from textual.content import Content
from lace_tui.screens.lines import Lines
class Rows:
    def __init__(self, count): self.count = count
    def __len__(self): return self.count
    def line(self, number): return Content(f"row {number} of a long log, with a message of some length")
    def key(self, number): return str(number)
    def text(self, number): return f"row {number}"
class Holder(App):
    done = asyncio.Event()
    def compose(self):
        yield Lines("Rows", "list")
    def on_lines_moved(self):
        self.screen.call_after_refresh(self.done.set)
async def main():
    app = Holder()
    waits = []
    async with app.run_test(size=(120, 40)) as pilot:
        lines = app.query_one(Lines)
        began = time.perf_counter()
        lines.fill(Rows(int(sys.argv[1])))
        filled = time.perf_counter() - began
        lines.focus()
        for key in ["pagedown", "j", "k", "pagedown", "G", "pageup", "g", "ctrl+d"] * int(sys.argv[2]):
            await asyncio.sleep(0.02)
            app.done.clear()
            began = time.perf_counter()
            app.post_message(events.Key(key, None))
            await app.done.wait()
            waits.append(time.perf_counter() - began)
    waits.sort()
    p99 = waits[int(len(waits) * 0.99)]
    print(json.dumps({"filled": filled, "median": statistics.median(waits), "p99": p99}))
asyncio.run(main())
"""


def figures(quick: bool) -> Iterator[Figure]:
    """Yield the promises of design's page about the app."""
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        person = _vault(root, 10_000 if quick else 100_000)
        _releases(person, 1_000 if quick else 10_000)
        yield from _paint(person, 3 if quick else 9)
        yield from _terminal(person, 3 if quick else 9)
        told = _run(_SIT, person, "4" if quick else "40")
        yield Figure(
            "app", "memory at the end of a sitting", told["late"], "MB", "after a quarter", told["early"], 1.15
        )
    yield from _rows(20 if quick else 60)
    with tempfile.TemporaryDirectory() as scratch:
        yield from _keys(Path(scratch), 64 if quick else 1024)


def _releases(person: Person, count: int) -> None:
    """Give the vault that many releases, all of one commit."""
    db = sqlite3.connect(person.folder / ".vault" / "store.db")
    # Their bytes are random, so they may be of no kind that the history reads.
    db.execute("INSERT INTO sym(s) VALUES ('bench/thing')")
    db.execute("UPDATE rec SET app = (SELECT id FROM sym WHERE s = 'bench/thing') WHERE p IN (SELECT p FROM body"
               " WHERE length(bytes) > 0 AND substr(bytes, 1, 2) <> X'F09F' AND kind = 'S')")  # fmt: skip
    like = db.execute("SELECT node, desk, commit_hash, sha512, tai, seq, lamport FROM release LIMIT 1").fetchone()
    last = int(db.execute("SELECT max(p) FROM release").fetchone()[0])
    example = RecordHash.parse(str(db.execute("SELECT hash FROM release").fetchone()[0]))
    db.executemany(
        "INSERT INTO release VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)",
        [
            (last + n, RecordHash(example.kind, os.urandom(32)).text, like[0], like[1], f"1.{n}.0", *like[2:])
            for n in range(1, count + 1)
        ],
    )
    db.commit()
    db.close()


def _run(script: str, person: Person | None = None, *words: str) -> dict[str, Any]:
    own = [str(person.folder), str(person.home)] if person else []
    environ = {**os.environ, "TEXTUAL_ANIMATIONS": "none"}
    done = subprocess.run(
        [sys.executable, "-c", script, *own, *words], stdout=subprocess.PIPE, cwd=ROOT, env=environ, check=True
    )
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def _paint(person: Person, repeats: int) -> Iterator[Figure]:
    hello, lace = [], []
    for _ in range(repeats):
        hello.append(_run(_HELLO)["painted"])
        lace.append(_run(_PAINT, person))
    bare = statistics.median(hello)
    painted = statistics.median(told["painted"] for told in lace)
    yield Figure("app", "first paint, large vault", painted, "s", "Textual's hello world", bare, 2)
    yield Figure("app", "everything of Home is read", statistics.median(told["read"] for told in lace), "s")


def _terminal(person: Person, repeats: int) -> Iterator[Figure]:
    """Yield the time from a person's `lace` and enter until the frame is on the terminal, with no vault read yet."""
    hello, lace = [], []
    for _ in range(repeats):
        hello.append(_until(b"hello", ["-c", _BARE], person))
        lace.append(_until(b"Places and peers", ["-m", "lace_tui"], person))
    bare, painted = statistics.median(hello), statistics.median(lace)
    yield Figure("app", "`lace` on a terminal, first frame", painted, "s", "Textual's hello world", bare, 2)


def _until(word: bytes, args: list[str], person: Person) -> float:
    """Start a program on a terminal of its own, and return the seconds until it shows a word."""
    environ = {**os.environ, "HOME": str(person.home), "LACE_HOME": str(person.home / "lace"), "TERM": "xterm-256color"}
    began = time.perf_counter()
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(person.folder)
        os.execve(sys.executable, [sys.executable, *args], {**environ, "PYTHONPATH": str(ROOT)})
    try:
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        seen = b""
        while word not in seen:
            if not select.select([terminal], [], [], 60)[0]:
                raise RuntimeError(f"{args} never showed {word!r}")
            seen += os.read(terminal, 1 << 16)
        return time.perf_counter() - began
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)


def _rows(repeats: int) -> Iterator[Figure]:
    """Yield what a key costs in a list of a million rows, against one of a thousand."""
    few, many = _run(_ROWS, None, "1000", str(repeats)), _run(_ROWS, None, "1000000", str(repeats))
    yield Figure("app", "a million rows are shown", many["filled"] * 1000, "ms", "100 ms", 100.0, 1)
    yield Figure("app", "key in a million rows", many["median"] * 1000, "ms", "a thousand", few["median"] * 1000, 1.5)
    yield Figure("app", "key in a million rows, p99", many["p99"] * 1000, "ms", "50 ms", 50.0, 1)


def _keys(root: Path, mebibytes: int) -> Iterator[Figure]:
    person = Person("alice", root / "home", root / "alice")
    person.write("a.txt", "a\n")
    person.lace("init", "--name", "alice")
    for number in range(mebibytes // 16):
        (person.folder / f"{number}.bin").write_bytes(os.urandom(16 << 20))
    person.lace("release", "1.0.0")
    person.lace("place", "add", "stick", str(root / "stick"))
    told = _run(_KEYS, person)
    what = f"key to repaint, p99, while {mebibytes} MiB sync"
    yield Figure("app", what, told["p99"] * 1000, "ms", "100 ms", 100.0, 1)
