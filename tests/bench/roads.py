"""The roads side by side: a first meeting, nothing new, ten new files, a far line, and the bare stream (W1, W4, W5).

The same notes travel over a drop, a live server and a git remote by the commands people type, and beside them git
itself, rsync and unison, in turn in one run. Commands run inside this process, as the app runs them; what they take as
processes of their own, Python's start and all, is printed beside that. Trips and bytes are what a sync says of itself.
A first meeting carries 10,000 files. What comes after it, nothing new and ten new files, is measured there and in a
folder of ten times as many, which is the size that the promises are for: what both take is mostly the looks at that
folder.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import zstandard

from tests.bench import notes
from tests.bench.table import Figure
from tests.live.proxies import line_to
from tests.live.servers import Server, serving
from tests.people import Person
from tests.transports.git_hosts import bare_repository
from vault.store.store import Store

__all__ = ["figures"]

_TEN = 10
_TYPED = 3  # turns whose commands are processes of their own
_FILES, _MANY = 10_000, 100_000
_KB = 1000
_RTT, _RATE = 0.6, 16_000  # seconds there and back; bytes a second, which is 128 kb/s
_GIT = ("git", "-c", "user.name=x", "-c", "user.email=x@example.org")


def figures(quick: bool) -> Iterator[Figure]:
    """Yield every road's figures beside git's and rsync's."""
    few, many = (30, 300) if quick else (_FILES, _MANY)
    for count in (few, many):
        with tempfile.TemporaryDirectory() as root, ExitStack() as stack:
            circle = _Circle(Path(root), count, stack)
            yield from _apart(partial(_first, circle, count, is_promised=count == few))
            yield from _nothing(circle, count, is_promised=count == many)
            yield from _ten(circle, count, repeats=1 if quick else 5, is_promised=count == many)
    with tempfile.TemporaryDirectory() as root, ExitStack() as stack:
        yield from _far(Path(root), 200_000 if quick else 2_000_000, stack)


class _Circle:
    """Alice, who has the files, and for each road a friend who gets them over it."""

    def __init__(self, root: Path, count: int, stack: ExitStack) -> None:
        self.root, self.seed = root, random.Random(count)
        self.alice = Person("alice", root / "homes" / "alice", root / "alice")
        self.git, self.clone, self.copy = root / "git", root / "clone", root / "copy"
        self.count = 0
        self.add(count)
        self.alice.lace("init", "--name", "alice", "--group", "friends")
        self.server: Server = stack.enter_context(serving(self.alice))
        roads = {"drop": str(root / "stick"), "git": str(bare_repository(root / "host.git")), "live": self.server.uri}
        for road, uri in roads.items():
            self.alice.lace("place", "add", road, uri)
        self.friends = {}
        for road in roads:
            friend = Person(road, root / "homes" / road, root / "friends" / road)
            friend.lace("accept", self.alice.lace("invite", road)["invite"], "--name", road)
            for other in roads:
                if other != road:
                    friend.lace("place", "remove", other)
            for who in (friend, self.alice, friend, self.alice):
                self.visit(who, road)
            self.friends[road] = friend

    def add(self, count: int) -> None:
        """Write so many new notes beside those that are there, for git too."""
        notes.fill((self.alice.folder, self.git), count, self.seed, self.count)
        self.count += count

    def visit(self, who: Person, road: str) -> dict[str, Any]:
        """Sync over a road; whoever serves need not."""
        return {} if who is self.alice and road == "live" else who.lace("sync", road)

    def typed(self, road: str) -> float:
        """Do as `carry`, each command as a process of its own; return the seconds."""
        began = time.perf_counter()
        if road != "live":
            _typed(self.alice, "sync", road)
        _typed(self.friends[road], "sync", road)
        _typed(self.friends[road], "update")
        return time.perf_counter() - began

    def carry(self, road: str) -> tuple[float, dict[str, Any], dict[str, Any]]:
        """Bring what alice has to the friend and into the folder; return the seconds and both results."""
        began = time.perf_counter()
        sent = self.visit(self.alice, road)
        got = self.visit(self.friends[road], road)
        self.friends[road].lace("update")
        return time.perf_counter() - began, sent, got


def _apart(measure: Callable[[], Iterator[Figure]]) -> list[Figure]:
    """Measure in a fork of this process: what a first meeting leaves in memory is in no command of a later day.

    With it each later look at a folder, which forks, took twice as long to begin.
    """
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(target=_measured, args=(measure, there), daemon=True)
    process.start()
    there.close()
    try:
        found: list[Figure] = here.recv()
    except EOFError:
        raise RuntimeError("a first meeting did not come to its end") from None
    finally:
        process.join()
    return found


def _measured(measure: Callable[[], Iterator[Figure]], told: Connection) -> None:
    told.send(list(measure()))


def _first(circle: _Circle, count: int, *, is_promised: bool) -> Iterator[Figure]:
    """Release everything and carry it over each road, beside git's whole way."""
    began = time.perf_counter()
    circle.alice.lace("release", "1.0.0")
    made = time.perf_counter() - began
    git, pack = _git_first(circle)
    what = f"{count} files, first meeting"
    files = sorted(path for path in circle.alice.folder.rglob("*.json") if ".vault" not in path.parts)
    contents = b"".join(path.read_bytes() for path in files)
    least = len(zstandard.ZstdCompressor(level=1).compress(contents))
    yield Figure("W1", f"{what}: the contents alone, as one", least / _KB, "kB", "git's pack", pack / _KB)
    for road in circle.friends:
        seconds, sent, got = circle.carry(road)
        limit = 0.5 if is_promised else None
        yield Figure("W1", f"{what} by {road}", made + seconds, "s", "git add + commit + push + clone", git, limit)
        moved = int(got["bytes_received"] if road == "live" else sent["bytes_sent"])
        yield Figure("W1", f"{what} by {road}: bytes", moved / _KB, "kB", "git's pack", pack / _KB, 0.8)
        if road == "live":
            yield Figure("trips", f"{what} by live", got["round_trips"], "trips", "the promise", 4, 1)


def _nothing(circle: _Circle, count: int, *, is_promised: bool) -> Iterator[Figure]:
    """Sync where nothing is new, beside rsync and unison of the same folder."""
    _unison(circle)
    rsync, unison = _rsync(circle), _unison(circle)
    alone, whole = (0.3, 1.0) if is_promised else (None, None)
    for road, friend in circle.friends.items():
        friend.lace("changes")
        scan, _ = _timed(lambda friend=friend: friend.lace("changes"))  # type: ignore[misc]
        seconds, none = _timed(lambda friend=friend, road=road: friend.lace("sync", road))  # type: ignore[misc]
        what = f"nothing new in {count} by {road}"
        yield Figure("W4", what, seconds, "s", "rsync -a of the folder", rsync, alone)
        yield Figure("W4", f"{what}, with the scan", scan + seconds, "s", "rsync -a of the folder", rsync, whole)
        yield Figure("W4", f"{what}, with the scan", scan + seconds, "s", "unison of the folder", unison, whole)
        began = time.perf_counter()
        _typed(friend, "sync", road)
        typed = time.perf_counter() - began
        yield Figure("W4", f"{what}, as a command", typed, "s", "rsync -a of the folder", rsync)
        moved = none["bytes_received"] + none["bytes_sent"]
        yield Figure("W4", f"{what}: bytes", moved, "B", "the promise", 1000, 1)
        if road == "live":
            yield Figure("trips", what, none["round_trips"], "trips", "the promise", 1, 1)


def _ten(circle: _Circle, count: int, repeats: int, *, is_promised: bool) -> Iterator[Figure]:
    """Ten new files, released, carried over each road and checked out, beside git's whole way; again and again."""
    spent: dict[str, list[float]] = {road: [] for road in ("git itself", *circle.friends)}
    busy: dict[str, list[float]] = {road: [] for road in circle.friends}
    moved: dict[str, list[float]] = {road: [] for road in circle.friends}
    typed: dict[str, list[float]] = {road: [] for road in circle.friends}
    new: list[float] = []
    unison: list[float] = []
    trips = 0
    _unison(circle)
    for turn in range(repeats):
        circle.add(_TEN)
        before = _shared(circle.alice)
        began, ran = time.perf_counter(), time.process_time()
        circle.alice.lace("release", f"1.{turn + 1}.0")
        made, worked = time.perf_counter() - began, time.process_time() - ran
        new.append(_shared(circle.alice) - before)
        spent["git itself"].append(_git_ten(circle))
        unison.append(_unison(circle))
        for road in circle.friends:
            ran = time.process_time()
            seconds, sent, got = circle.carry(road)
            spent[road].append(made + seconds)
            busy[road].append(worked + time.process_time() - ran)
            moved[road].append(int(got["bytes_received"] if road == "live" else sent["bytes_sent"]))
            trips = max(trips, int(got["round_trips"]) if road == "live" else 0)
    for turn in range(min(repeats, _TYPED)):
        circle.add(_TEN)
        began = time.perf_counter()
        _typed(circle.alice, "release", f"2.{turn}.0")
        made = time.perf_counter() - began
        spent["git itself"].append(_git_ten(circle))
        for road, costs in typed.items():
            costs.append(made + circle.typed(road))
    git, beside = statistics.median(spent.pop("git itself")), statistics.median(unison)
    what, limit = f"ten new of {count}", 1.0 if is_promised else None
    for road, seconds_of in spent.items():
        yield Figure("W5", f"{what} by {road}", statistics.median(seconds_of), "s", "git add to merge", git, limit)
        yield Figure("W5", f"{what} by {road}", statistics.median(seconds_of), "s", "unison", beside, limit)
        apart = statistics.median(typed[road])
        yield Figure("W5", f"{what} by {road}, as commands", apart, "s", "git add to merge", git)
        yield Figure("W5", f"{what} by {road}, this process", statistics.median(busy[road]), "CPU s")
        kilobytes, records = statistics.median(moved[road]) / _KB, statistics.median(new) / _KB
        yield Figure("W5", f"{what} by {road}: bytes", kilobytes, "kB", "the new records", records, 2)
    yield Figure("trips", f"{what} by live", trips, "trips", "the promise", 2, 1)


def _typed(person: Person, *words: str) -> None:
    """Run a command as a process of its own."""
    done = person.real("--json", *words)
    if done.code:
        raise RuntimeError(f"lace {' '.join(words)}: {done.err}")


def _shared(person: Person) -> int:
    """Return the bytes of all records that a vault shares."""
    with Store(person.folder / ".vault" / "store.db") as store:
        sizes = "SELECT ifnull(sum(ifnull(k.size, length(b.bytes))), 0) FROM shared JOIN body b USING (p)"
        return int(store.rows(f"{sizes} LEFT JOIN packed k USING (p)")[0][0])


def _far(root: Path, size: int, stack: ExitStack) -> Iterator[Figure]:
    """A release of noise over a line that is far and thin."""
    circle = _Circle(root, 1, stack)
    friend = circle.friends["live"]
    circle.alice.lace("release", "1.0.0")
    circle.carry("live")
    (circle.alice.folder / "noise.bin").write_bytes(circle.seed.randbytes(size))
    circle.alice.lace("release", "1.1.0")
    line = stack.enter_context(line_to(circle.server.port))
    line.delay, line.rate = _RTT / 2, _RATE
    friend.lace("place", "remove", "live")
    friend.lace("place", "add", "far", circle.server.uri.replace(str(circle.server.port), str(line.port)))
    seconds, got = _timed(lambda: friend.lace("sync", "far"))
    # Connecting takes a turn for TCP and one for TLS; they are not the exchange's.
    ideal = size / _RATE + (got["round_trips"] + 2) * _RTT
    yield Figure(
        "far", f"{size / 1e6:g} MB of noise at 128 kb/s, 600 ms", seconds, "s", "its bytes and trips", ideal, 1.05
    )
    yield Figure("trips", "a release over a far line", got["round_trips"], "trips", "the promise", 2, 1)


def _timed(act: Callable[[], dict[str, Any]]) -> tuple[float, dict[str, Any]]:
    began = time.perf_counter()
    found = act()
    return time.perf_counter() - began, found


def _run(*words: str, cwd: Path) -> None:
    subprocess.run(words, cwd=cwd, check=True, capture_output=True)


def _git_first(circle: _Circle) -> tuple[float, int]:
    """Return git's seconds for the whole way, and the bytes of its pack."""
    bare = circle.root / "bare.git"
    _run("git", "init", "-q", "--bare", str(bare), cwd=circle.root)
    began = time.perf_counter()
    _run("git", "init", "-q", cwd=circle.git)
    _run("git", "add", "-A", cwd=circle.git)
    _run(*_GIT, "commit", "-q", "-m", "x", cwd=circle.git)
    _run("git", "push", "-q", str(bare), "HEAD:refs/heads/main", cwd=circle.git)
    _run("git", "clone", "-q", "--no-local", "-b", "main", str(bare), str(circle.clone), cwd=circle.root)
    seconds = time.perf_counter() - began
    packs = (circle.clone / ".git" / "objects" / "pack").glob("*.pack")
    return seconds, sum(path.stat().st_size for path in packs)


def _git_ten(circle: _Circle) -> float:
    bare = circle.root / "bare.git"
    began = time.perf_counter()
    _run("git", "add", "-A", cwd=circle.git)
    _run(*_GIT, "commit", "-q", "-m", "x", cwd=circle.git)
    _run("git", "push", "-q", str(bare), "HEAD:refs/heads/main", cwd=circle.git)
    _run("git", "pull", "-q", "--ff-only", cwd=circle.clone)
    return time.perf_counter() - began


def _rsync(circle: _Circle) -> float:
    """Return rsync's seconds for nothing new; nothing where there is no rsync."""
    if shutil.which("rsync") is None:
        return 0.0
    words = ("rsync", "-a", "--exclude=.git", f"{circle.git}/", str(circle.copy))
    _run(*words, cwd=circle.root)
    began = time.perf_counter()
    _run(*words, cwd=circle.root)
    return time.perf_counter() - began


def _unison(circle: _Circle) -> float:
    """Return unison's seconds for bringing the folder up to date elsewhere; nothing where there is no unison."""
    if shutil.which("unison") is None:
        return 0.0
    other, home = circle.root / "other", circle.root / "unison"
    other.mkdir(exist_ok=True)
    words = ("unison", "-batch", "-ui", "text", "-silent", "-ignore", "Path .git", str(circle.git), str(other))
    environ = {**os.environ, "UNISON": str(home), "HOME": str(circle.root)}
    began = time.perf_counter()
    subprocess.run(words, cwd=circle.root, check=True, capture_output=True, env=environ)
    return time.perf_counter() - began
