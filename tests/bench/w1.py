"""Ten thousand notes from one person's folder to another's, over a stick, beside git, rsync and restic (W1).

Ours: one release, which commits; sync the stick; the friend syncs and updates, all verified and on the disk. Git's:
add, commit, push to a repository on the same medium, clone. Files are created at very different speeds from one minute
to the next, so only the ratios of one repeat mean anything: what is given is the median of those. Nothing is deleted
until the last repeat is over: ext4 passes over every inode freed in the last minutes before it takes a new one, so
that whoever comes after a deletion creates files up to ten times slower.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median

from tests.bench import notes
from tests.bench.content import Cost, in_child, size_of
from tests.bench.table import Figure
from tests.vault.vaults import befriend, found, write
from vault.releasing import release

__all__ = ["figures"]

_MEMORY_MB = 200
_STEPS = (("alice", "release"), ("alice", "sync"), ("bob", "sync"), ("bob", "update"))


def figures(quick: bool) -> Iterator[Figure]:
    """Yield the whole way, the commit alone, the bytes on the road, and the memory."""
    files, repeats = (500, 1) if quick else (10_000, 5)
    with tempfile.TemporaryDirectory() as name:
        runs = [_repeat(Path(name) / str(seed), files, seed) for seed in range(repeats)]
    what = f"{files} notes"

    def middle(name: str) -> float:
        return median(run[name] for run in runs)

    def paired(name: str, peer: str) -> float:
        """Return a peer's figure that gives the median of the paired ratios."""
        return middle(name) / median(run[name] / run[peer] for run in runs)

    way = "git add + commit + push + clone"
    yield Figure("W1", f"{what}: commit + sync + update", middle("lace"), "s", way, paired("lace", "git"), 0.5)
    yield Figure("W1", f"{what}: the same", middle("lace cpu"), "CPU s", way, paired("lace cpu", "git cpu"))
    add = "git add + commit"
    yield Figure("W1", f"{what}: commit and release", middle("commit"), "s", add, paired("commit", "git commit"))
    pack = middle("git bytes") / 1e6
    road = {who: middle(f"bytes after {who} sync") / 1e6 for who in ("alice", "bob")}
    yield Figure("W1", f"{what}: onto the stick", road["alice"], "MB", "git's pack", pack, 0.8)
    yield Figure("W1", f"{what}: and what the friend lists there", road["bob"], "MB", "git's pack", pack)
    for step in _STEPS:
        yield Figure("W1", f"{what}: {' '.join(step)}", middle(f"{' '.join(step)} cpu"), "CPU s")
    for peer in ("rsync", "restic"):
        if shutil.which(peer):
            yield Figure("W1", f"{what}: commit + sync + update", middle("lace"), "s", peer, paired("lace", peer))
    yield Figure("W1", f"{what}: peak memory", middle("peak"), "MB", "the promise", _MEMORY_MB, 1)


def _repeat(root: Path, files: int, seed: int) -> dict[str, float]:
    root.mkdir()
    alice = found(root)
    write(alice, "first.txt", "one\n")
    release(alice, None, "First")
    befriend(root, alice, "bob").close()
    alice.close()
    notes.fill((root / "alice", root / "git"), files, random.Random(seed))
    os.sync()
    got: dict[str, float] = {}
    before = size_of(root / "stick")
    costs: dict[str, Cost] = {}
    for who, act in _STEPS:
        costs[f"{who} {act}"] = in_child(act, root / who)
        got[f"bytes after {who} {act}"] = float(size_of(root / "stick") - before)
    got |= {f"{step} cpu": cost.cpu for step, cost in costs.items()}
    got["lace"] = sum(cost.wall for cost in costs.values())
    got["lace cpu"] = sum(cost.cpu for cost in costs.values())
    got["commit"] = costs["alice release"].wall
    got["peak"] = max(cost.peak for cost in costs.values())
    assert size_of(root / "bob") > 0
    assert sum(1 for path in (root / "bob").rglob("*.json")) == files
    _git_way(root, got)
    for peer, carry in (("rsync", _rsync), ("restic", _restic)):
        if shutil.which(peer):
            got[peer] = _timed(partial(carry, root))[0]
    return got


def _git_way(root: Path, got: dict[str, float]) -> None:
    _run("git", "init", "-q", "--bare", str(root / "bare.git"))
    _run("git", "-C", str(root / "bare.git"), "config", "receive.unpackLimit", "1")
    _run("git", "-C", str(root / "bare.git"), "config", "receive.autogc", "false")
    work = str(root / "git")
    _run("git", "init", "-q", work)
    named = (
        "git",
        "-C",
        work,
        "-c",
        "user.name=x",
        "-c",
        "user.email=x@example.org",
        "-c",
        "gc.auto=0",
        "-c",
        "maintenance.auto=false",
    )

    def commit() -> None:
        _run(*named, "add", "-A")
        _run(*named, "commit", "-q", "-m", "x")

    def carry() -> None:
        _run(*named, "push", "-q", str(root / "bare.git"), "HEAD:refs/heads/main")
        _run("git", "clone", "-q", "--no-local", "-b", "main", str(root / "bare.git"), str(root / "clone"))

    got["git commit"], cpu = _timed(commit)
    wall, more = _timed(carry)
    got["git"], got["git cpu"] = got["git commit"] + wall, cpu + more
    got["git bytes"] = float(sum(path.stat().st_size for path in (root / "bare.git").rglob("*.pack")))


def _rsync(root: Path) -> None:
    _run("rsync", "-a", f"{root}/git/", f"{root}/rsync-stick/", "--exclude=.git")
    _run("rsync", "-a", f"{root}/rsync-stick/", f"{root}/rsync-bob/")


def _restic(root: Path) -> None:
    environ = {**os.environ, "RESTIC_PASSWORD": "x", "RESTIC_CACHE_DIR": f"{root}/cache"}
    for words in (("init",), ("backup", f"{root}/rsync-stick"), ("restore", "latest", "--target", f"{root}/restored")):
        command = ["restic", "-q", "-r", f"{root}/restic", *words]
        subprocess.run(command, check=True, capture_output=True, env=environ)


def _run(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True)


def _timed(act: Callable[[], object]) -> tuple[float, float]:
    cpu, wall = os.times(), time.perf_counter()
    act()
    after = os.times()
    spent = after.children_user + after.children_system - cpu.children_user - cpu.children_system
    return time.perf_counter() - wall, spent
