"""What the benchmarks of large content share: a folder and a repository with the same files, and what a step costs.

Each step of lace runs in a child process, so that its peak memory is its own.
"""

from __future__ import annotations

import gc
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from lace_tui.__main__ import GARBAGE
from lace_tui.cli.quick import processors
from lazy.folder.update import update
from lazy.sync import sync
from tests.faults.circle import around
from tests.vault.vaults import around as friend_around
from vault import releasing
from vault.beginning import found_vault
from vault.folder import work
from vault.held_memory import hold_freed
from vault.surroundings import Surroundings
from vault.vault import Vault

__all__ = ["MIB", "Cost", "begin", "both", "commit_git", "git", "in_child", "opened", "size_of", "timed_git"]

MIB = 1 << 20
_ROOT = Path(__file__).parents[2]


class Cost(NamedTuple):
    """Seconds by the wall and of the processor, and the peak memory in MB."""

    wall: float
    cpu: float
    peak: float


def begin(root: Path) -> tuple[Path, Path]:
    """Make a vault and a repository; return their folders."""
    found_vault(root / "alice" / "f", around(root, "alice"), name="alice", group="friends").close()
    repository = root / "git"
    repository.mkdir()
    git(repository, "init", "-q")
    return root / "alice" / "f", repository


def both(folder: Path, repository: Path, name: str, content: bytes | bytearray) -> None:
    """Write the same file to both, down to the disk."""
    for place in (folder, repository):
        with (place / name).open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())


def git(repository: Path, *words: str) -> str:
    """Run git and return what it says."""
    program = shutil.which("git")
    if program is None:
        sys.exit("git is not installed, so there is nothing to compare with.")
    name = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    done = subprocess.run([program, "-C", str(repository), *name, *words], check=True, capture_output=True, text=True)
    return done.stdout


def commit_git(repository: Path) -> Cost:
    """Add and commit everything."""
    cpu, wall = _children(), time.perf_counter()
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "x")
    return Cost(time.perf_counter() - wall, _children() - cpu, 0)


def timed_git(repository: Path, *words: str) -> Cost:
    """Run git; its helpers count too."""
    cpu, wall = _children(), time.perf_counter()
    git(repository, *words)
    return Cost(time.perf_counter() - wall, _children() - cpu, 0)


def opened(folder: Path) -> Vault:
    """Open a vault that `begin` made, or a friend's beside it."""
    return Vault(folder, _world(folder))


def in_child(act: str, folder: Path) -> Cost:
    """Run `commit`, `release`, `sync` or `update` of a vault in a process of its own; its start is not counted."""
    command = [sys.executable, "-m", "tests.bench.content", act, str(folder)]
    environ = dict(os.environ)
    environ.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed program has byte code; here the first child writes it
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=_ROOT, env=environ)
    return Cost(*map(float, done.stdout.split()))


def size_of(folder: Path) -> int:
    """Return the bytes of all files below a directory."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _world(folder: Path) -> Surroundings:
    # The true clock: by one of the past every file is too young to be known by its stat, and is read again.
    if folder.name == "f":
        return replace(around(folder.parents[1], "alice"), now_ns=time.time_ns, processors=processors())
    around_friend = friend_around(folder.parent, folder.name)
    return replace(around_friend, now_ns=time.time_ns, entropy=os.urandom, processors=processors())


def _sync(vault: Vault) -> None:
    (result,) = sync(vault, ["stick"])
    assert not result.problems, result.problems


_ACTS: dict[str, Callable[[Vault], object]] = {
    "commit": lambda vault: work.commit(vault, "x"),
    "release": lambda vault: releasing.release(vault, None, "x"),
    "sync": _sync,
    "update": update,
}


def _main() -> None:
    gc.set_threshold(*GARBAGE)
    hold_freed()
    act, folder = sys.argv[1], Path(sys.argv[2])
    with opened(folder) as vault:
        cpu, wall = time.process_time(), time.perf_counter()
        _ACTS[act](vault)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(wall, cpu, _peak())


def _peak() -> float:
    """Return this process's own peak; what `getrusage` says begins with that of the process that started it."""
    status = Path("/proc/self/status")
    if status.is_file():
        return int(status.read_text().split("VmHWM:")[1].split()[0]) * 1024 / 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


if __name__ == "__main__":
    _main()
