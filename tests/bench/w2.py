"""Large random files: 1 GiB in 64 files taken in beside git, and carried over every road beside rsync and git (W2).

All work in processes of their own, in turn; medians of the repeats. Nothing here compresses, so it shows what hashing,
cutting, writing and flushing cost. Each road ends in the friend's folder, with everything verified on the way.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, suppress
from functools import partial
from itertools import pairwise
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median

from tests.bench.bare import HASHED, PIECE, downloaded, serve_bare
from tests.bench.bare import serving as serving_bare
from tests.bench.content import MIB, Cost, begin, both, commit_git, git, in_child
from tests.bench.floor import copy, receive
from tests.bench.table import Figure
from tests.live.servers import serving
from tests.people import ROOT, Person
from tests.transports.git_hosts import bare_repository

__all__ = ["figures"]

_FILES = 64
_MEMORY_MB = 200
_ROADS = {"drop": 1.5, "live": 2.0, "git": 0.25}  # what each may take, of what its peer takes
_PEERS = {"drop": "rsync -a --fsync on and off", "live": "rsync -a", "git": "git push + clone"}
_FLOOR = "bare reads, digests, writes"  # see `tests.bench.floor`
_IDLE = "the same three commands with nothing new"
_LEAST = "one digest at each end, TLS, flush, copies"  # with the same server and client library
_DIGESTED = "the same with the digests that releases and contents ask for"
_HOUR = 3600.0
_Act = Callable[[], object]
_GIT = 3  # repeats of what takes plain git three minutes
_ROOM = 3  # times the bytes of a release: more than any one act writes of it


def figures(quick: bool) -> Iterator[Figure]:
    """Yield commit and release of many large files beside git, the memory they took, and the roads."""
    yield from _committed(quick)
    yield from _carried(quick)


def _committed(quick: bool) -> Iterator[Figure]:
    mib, repeats = (1, 1) if quick else (16, 5)
    mine: list[Cost] = []
    released: list[Cost] = []
    theirs: list[Cost] = []
    for number in range(repeats):
        with tempfile.TemporaryDirectory() as text:
            folder, repository = begin(Path(text))
            draw = random.Random(number).randbytes
            for file in range(_FILES):
                both(folder, repository, f"part-{file:02}", draw(mib * MIB))
            mine.append(in_child("commit", folder))
            theirs.append(commit_git(repository))
            released.append(in_child("release", folder))
    what = f"{_FILES * mib} MiB random in {_FILES} files"
    git = median(cost.wall for cost in theirs)
    yield Figure("W2", f"{what}: commit", median(c.wall for c in mine), "s", "git add + commit", git, 0.2)
    yield Figure(
        "W2",
        f"{what}: commit",
        median(c.cpu for c in mine),
        "CPU s",
        "git add + commit",
        median(c.cpu for c in theirs),
    )
    yield Figure("W2", f"{what}: release after it", median(c.wall for c in released), "s")
    peak = max(cost.peak for cost in [*mine, *released])
    yield Figure("W2", f"{what}: peak memory", peak, "MB", "the promise", _MEMORY_MB, 1)


def _carried(quick: bool) -> Iterator[Figure]:
    mib, repeats = (1, 1) if quick else (16, 5)
    every = [
        _roads(mib, number, [road for road in _ROADS if road != "git" or number < _GIT]) for number in range(repeats)
    ]
    for road, limit in _ROADS.items():
        runs = [run for run in every if f"{road} s" in run]
        what = f"{_FILES * mib} MiB random in {_FILES} files by {road}"
        for unit, bound in (("s", limit), ("CPU s", None)):
            mine, theirs = (median(run[f"{who} {unit}"] for run in runs) for who in (road, _PEERS[road]))
            if unit == "s" or road != "live":  # the server's CPU time is not seen here
                yield Figure("W2", what, mine, unit, _PEERS[road], theirs, bound)
            if road == "drop":
                floor = median(run[f"{_FLOOR} {unit}"] for run in runs)
                yield Figure("W2", f"{what}: {_FLOOR}", floor, unit, _PEERS[road], theirs)
                idle = median(run[f"{_IDLE} {unit}"] for run in runs)
                yield Figure("W2", f"{what}: these, and {_IDLE}", floor + idle, unit, _PEERS[road], theirs)
            elif road == "live" and unit == "s":
                for name in (_LEAST, _DIGESTED):
                    least = median(run[f"{name} s"] for run in runs)
                    yield Figure("W2", f"{what}: {name}", least, unit, _PEERS[road], theirs)


def _roads(mib: int, seed: int, roads: Collection[str]) -> dict[str, float]:
    """Carry the same release over some roads, and beside it each time what its peer does with the same files."""
    with tempfile.TemporaryDirectory() as text, ExitStack() as stack:
        root = Path(text)
        costs = _Costs(root, _FILES * mib * MIB)
        alice = Person("alice", root / "homes" / "alice", root / "alice")
        alice.lace("init", "--name", "alice", "--group", "friends")
        server = stack.enter_context(serving(alice))
        uris = {"drop": str(root / "stick"), "live": server.uri, "git": str(bare_repository(root / "host.git"))}
        for road, uri in uris.items():
            alice.lace("place", "add", road, uri)
        friends = {road: _friend(alice, root, road) for road in roads}
        draw = random.Random(seed).randbytes
        plain = root / "plain"
        plain.mkdir()
        git(plain, "init", "-q")
        for file in range(_FILES):
            both(alice.folder, plain, f"part-{file:02}", draw(mib * MIB))
        alice.lace("release", "1.0.0")
        commit_git(plain)
        for road, friend in friends.items():
            costs.note(road, *_carry(alice, friend, road))
            costs.note(_PEERS[road], *_peer(road, root, plain))
            assert (friend.folder / "part-00").read_bytes() == (plain / "part-00").read_bytes()
            if road == "drop":
                costs.note(_FLOOR, lambda: _bare(plain, root))
                for act in _carry(alice, friend, road):  # alice hears that it came
                    act()
                costs.note(_IDLE, *_carry(alice, friend, road))
            elif road == "live":
                _least(costs, root, plain)
            shutil.rmtree(friend.folder)
        return costs.got


def _friend(alice: Person, root: Path, road: str) -> Person:
    friend = Person(road, root / "homes" / road, root / road)
    friend.lace("accept", alice.lace("invite", road)["invite"], "--name", road)
    for place in _ROADS:
        if place != road:
            friend.lace("place", "remove", place)
    for who in (friend, alice, friend, alice):
        if who is friend or road != "live":
            who.lace("sync", road)
    return friend


def _carry(alice: Person, friend: Person, road: str) -> list[_Act]:
    """Return the commands that bring what alice has into her friend's folder."""
    acts: list[tuple[Person, list[str]]] = [(friend, ["sync", road]), (friend, ["update"])]
    if road != "live":
        acts.insert(0, (alice, ["sync", road]))

    def run(who: Person, words: list[str]) -> None:
        done = who.real(*words, timeout=_HOUR)
        assert done.code == 0, done.err

    return [partial(run, who, words) for who, words in acts]


def _peer(road: str, root: Path, plain: Path) -> list[_Act]:
    """Return what a road's peer does with the same files."""
    if road == "git":
        bare = root / "plain.git"
        clone = ("clone", "-q", "--no-local", "-b", "main", str(bare), str(root / "clone"))
        return [
            partial(bare_repository, bare),
            partial(git, plain, "push", "-q", str(bare), "HEAD:refs/heads/main"),
            partial(git, root, *clone),
        ]
    flags = ("--fsync",) if road == "drop" else ()
    places = (plain, root / "rsync-stick", root / "rsync-off") if road == "drop" else (plain, root / "rsync-line")
    return [
        partial(subprocess.run, ["rsync", "-a", *flags, "--exclude=.git", f"{start}/", str(end)], check=True)
        for start, end in pairwise(places)
    ]


def _bare(plain: Path, root: Path) -> None:
    """Do in a process of its own what no program can save."""
    (root / "bare").mkdir()
    subprocess.run([sys.executable, "-m", "tests.bench.floor", str(plain), str(root / "bare")], check=True, cwd=ROOT)
    shutil.rmtree(root / "bare")


def _least(costs: _Costs, root: Path, plain: Path) -> None:
    """Carry the files as little as a live road can do, once with one digest at each end, once with all that are asked.

    Both end in one flushed file and copies of it; what the formats ask for is as in `tests.bench.floor`.
    """
    files = sorted(plain.glob("part-*"))
    sizes = {file.name: file.stat().st_size for file in files}
    pack, out = root / "least.pack", root / "least"

    def pieces() -> Iterator[bytes]:
        for file in files:
            with file.open("rb") as source:
                while piece := source.read(PIECE):
                    yield piece

    def carried() -> None:
        with pack.open("wb", buffering=0) as target:
            for piece in downloaded(server.port, sum(sizes.values()), HASHED):
                target.write(piece)
            os.fsync(target.fileno())
        copy(pack, out, sizes)

    def digested() -> None:
        receive(downloaded(server.port, sum(sizes.values()), HASHED), pack)
        copy(pack, out, sizes)

    with serving_bare(partial(serve_bare, pieces)) as server:
        for name, act in ((_LEAST, carried), (_DIGESTED, digested)):
            costs.note(name, act)
            assert (out / "part-00").read_bytes() == files[0].read_bytes()
            shutil.rmtree(out)
            pack.unlink()


class _Costs:
    """What was carried cost, by name: `s` by the clock and `CPU s` of all processes.

    Args:
        root: where files are made.
        size: bytes of a release.
    """

    def __init__(self, root: Path, size: int) -> None:
        self._root, self._size = root, size
        self.got: dict[str, float] = {}

    def note(self, name: str, *acts: _Act) -> None:
        """Do some things, and note what they cost together."""
        wall = cpu = 0.0
        for act in acts:
            self._touch_memory()
            before, begun = _children(), time.perf_counter()
            act()
            wall, cpu = wall + time.perf_counter() - begun, cpu + _children() - before
        self.got[f"{name} s"], self.got[f"{name} CPU s"] = wall, cpu

    def _touch_memory(self) -> None:
        """Have the memory at hand that files are about to fill: a virtual machine is given it when it is first touched.

        Whoever came first would pay for that, and what is not filled soon is taken back. What was written goes before
        a disk has taken all of it.
        """
        room, some = self._root / "room", bytes(MIB)
        with suppress(OSError), room.open("wb", buffering=0) as file:
            for _ in range(_ROOM * self._size // MIB):
                file.write(some)
        room.unlink(missing_ok=True)
        os.sync()


def _children() -> float:
    used = getrusage(RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
