"""Many signed commits made, carried and verified, beside git with ssh signatures (W6).

In one process first, where only the work counts; then one command a commit, where Python's start does. A release at
the end shares all commits with their numbers, and the friend verifies each. The person's own edit of the file is timed
on neither side: a disk that is flushed makes it wait for longer than a commit takes.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median

from lazy.sync import sync
from tests.bench.table import Figure
from tests.vault.vaults import befriend, found, write
from vault.work import commit, release

__all__ = ["figures"]

_ROOT = Path(__file__).parents[2]
_LACE = f"import sys; sys.path.insert(0, {str(_ROOT)!r}); from lace_tui.__main__ import main; sys.exit(main())"
_COMMANDS = 20


def figures(quick: bool) -> Iterator[Figure]:
    """Yield making, carrying with verification, and one command a commit, each beside git."""
    count, repeats = (50, 1) if quick else (2_000, 3)
    runs = [_repeat(count) for _ in range(repeats)]

    def middle(name: str) -> float:
        return median(run[name] for run in runs)

    what = f"{count} signed commits"
    yield Figure("W6", f"{what}: make, one process", middle("make"), "s", "git commit -S", middle("git make"), 0.05)
    against = "git clone + verify-commit"
    yield Figure("W6", f"{what}: sync and verify", middle("carry"), "s", against, middle("git carry"), 0.05)
    yield Figure(
        "W6", "one command a commit", 1000 * middle("command"), "ms", "git commit -S", 1000 * middle("git command"), 4
    )


def _repeat(count: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        alice = found(root)
        write(alice, "a.txt", "0\n")
        release(alice, None, "First")
        bob = befriend(root, alice, "bob")
        bob.around = replace(bob.around, processors=len(os.sched_getaffinity(0)))
        got: dict[str, float] = {}
        got["make"] = 0.0
        for number in range(count):
            write(alice, "a.txt", f"{number + 1}\n")
            begun = time.perf_counter()
            commit(alice, f"Step {number}")
            got["make"] += time.perf_counter() - begun
        begun = time.perf_counter()
        release(alice, None, "All of them")
        sync(alice, ["stick"])
        (result,) = sync(bob, ["stick"])
        got["carry"] = time.perf_counter() - begun
        assert not result.problems
        assert len(result.received) >= 2 * count
        alice.close()
        bob.close()
        _git(root, count, got)
        _commands(root, got)
        return got


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
    got["git make"] = 0.0
    for number in range(count):
        (work / "a.txt").write_text(f"{number}\n")
        begun = time.perf_counter()
        _run("git", "-C", str(work), "add", "a.txt")
        _run("git", "-C", str(work), "commit", "-q", "-S", "-m", f"Step {number}")
        got["git make"] += time.perf_counter() - begun
    got["git command"] = got["git make"] / count
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
    taken = 0.0
    for number in range(_COMMANDS):
        (folder / "a.txt").write_text(f"{number}\n")
        begun = time.perf_counter()
        lace("commit", "-m", f"Step {number}")
        taken += time.perf_counter() - begun
    got["command"] = taken / _COMMANDS


def _run(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True)
