"""Many small files beside git, by the commands people type: what they cost, and what a small change adds.

Every pair runs in turn in the same process run, medians of the repeats. `quick` takes few files.
"""

from __future__ import annotations

import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tests.bench.table import Figure

__all__ = ["figures"]

_CHANGED = 10
_NAME = ("-c", "user.name=x", "-c", "user.email=x@example.org")
_WORK = "small"
_WHOLE = ("checkout", "main", "--to")
_GIT_WHOLE = ("checkout", "-q", "HEAD", "--", ".")


class _Cost(NamedTuple):
    """Seconds by the wall, and of the processor."""

    wall: float
    cpu: float


def figures(quick: bool) -> Iterator[Figure]:
    """Yield the promises about many small files, then how a change of ten files grows with the folder."""
    sizes = (200, 1_000, 3_000) if quick else (1_000, 10_000, 100_000)
    added: list[tuple[int, float, float]] = []
    for size in sizes:
        with tempfile.TemporaryDirectory() as root:
            pair = _Pair(Path(root), size)
            repeats = (1 if quick else 5) if size == sizes[-1] else 0
            yield from pair.compare(repeats)
            added.append((size, *pair.ten_file_release()))
    for name, column in (("vault", 1), ("wire", 2)):
        small = added[0][column]
        for row in added:
            is_last = row is added[-1]
            yield Figure(
                _WORK,
                f"ten of {row[0]} files: bytes to the {name}",
                row[column] / 1000,
                "kB",
                f"the same with {added[0][0]} files" if row is not added[0] else "",
                small / 1000 if row is not added[0] else None,
                # Each change rewrites the pages on its way, and they rest and travel as what changed of them.
                1.5 if is_last else None,
            )


class _Pair:
    """The same folder once as a vault and once as a git repository."""

    def __init__(self, root: Path, count: int) -> None:
        self.root = root
        self.count = count
        self.seed = random.Random(count)
        self.environ = {**os.environ, "LACE_HOME": str(root / "home"), "GIT_CONFIG_NOSYSTEM": "1"}
        self.folders = (root / "lace", root / "git")
        for folder in self.folders:
            folder.mkdir()
        self.paths = [f"d{number // 100:04}/file-{number:06}.txt" for number in range(count)]
        for path in self.paths:
            content = self.seed.randbytes(self.seed.randrange(100, 900)).hex().encode()
            for folder in self.folders:
                file = folder / path
                file.parent.mkdir(exist_ok=True)
                file.write_bytes(content)
        self._lace("init", "--name", "alice")
        self._lace("place", "add", "stick", str(root / "stick"))
        self._git("init", "-q")

    def compare(self, repeats: int) -> Iterator[Figure]:
        """Yield commit, look, small commit and whole checkout, each beside git."""
        first = self._both([lambda: self._lace("commit", "-m", "x"), self._commit])
        if not repeats:
            return
        where = f"{self.count} files"
        yield self._figure(f"first commit of {where}", [first], "git add -A && git commit", None)
        _settle()
        looks = [partial(self._lace, "changes"), partial(self._git, "status", "--porcelain")]
        for act in looks:
            act()
        found = [self._both(looks) for _ in range(repeats)]
        yield self._figure(f"{where}, nothing changed: lace changes", found, "git status", 2)
        found = []
        for _ in range(repeats):
            self._change()
            found.append(self._both([lambda: self._lace("commit", "-m", "x"), self._commit]))
        yield self._figure(f"{where}, ten changed: commit", found, "git add -A && git commit", 2)
        found = []
        for number in range(min(repeats, 3)):
            mine, theirs = self.root / f"out-{number}", self.root / f"clone-{number}"
            self._git("clone", "-q", "-n", "--shared", ".", str(theirs))
            found.append(
                self._both(
                    [partial(self._lace, *_WHOLE, str(mine)), partial(self._git, "-C", str(theirs), *_GIT_WHOLE)],
                    backwards=bool(number % 2),
                )
            )
            for folder in (mine, theirs):
                shutil.rmtree(folder)
        yield self._figure(f"{where}: whole checkout", found, "git checkout", 2)

    def ten_file_release(self) -> tuple[float, float]:
        """Return the bytes that a release of ten changed files adds to the vault and puts on a stick."""
        self._lace("release", "--yes")
        self._lace("sync", "stick")
        self._change()
        before = self._stored(), _size(self.root / "stick")
        self._lace("release", "--yes")
        stored = self._stored() - before[0]
        self._lace("sync", "stick")
        return stored, _size(self.root / "stick") - before[1]

    def _stored(self) -> int:
        import sqlite3

        with sqlite3.connect(self.folders[0] / ".vault" / "store.db") as db:
            # What is added is counted, not the pages of a database, which grows by many at once.
            known = int(db.execute("SELECT sum(length(bytes)) FROM body").fetchone()[0])
            known += int(db.execute("SELECT ifnull(sum(size), 0) FROM pack").fetchone()[0])
        db.close()
        return known

    def _change(self) -> None:
        for path in self.seed.sample(self.paths, _CHANGED):
            line = self.seed.randbytes(16).hex().encode() + b"\n"
            for folder in self.folders:
                with (folder / path).open("ab") as file:
                    file.write(line)

    def _both(self, acts: Sequence[Callable[[], object]], *, backwards: bool = False) -> tuple[_Cost, _Cost]:
        costs = {}
        for at in (1, 0) if backwards else (0, 1):
            _settle()
            costs[at] = _cost(acts[at])
        return costs[0], costs[1]

    def _figure(self, what: str, found: list[tuple[_Cost, _Cost]], against: str, limit: float | None) -> Figure:
        mine, theirs = (statistics.median(cost.wall for cost in side) for side in zip(*found, strict=True))
        cpu = [statistics.median(cost.cpu for cost in side) for side in zip(*found, strict=True)]
        return Figure(_WORK, what, mine, "s", f"{against} (CPU {cpu[0]:.2f} to {cpu[1]:.2f})", theirs, limit)

    def _commit(self) -> None:
        self._git("add", "-A")
        self._git(*_NAME, "commit", "-q", "-m", "x")

    def _lace(self, *words: str) -> None:
        self._run(self.folders[0], sys.executable, "-c", _MAIN, *words)

    def _git(self, *words: str) -> None:
        self._run(self.folders[1], "git", *words)

    def _run(self, folder: Path, *words: str) -> None:
        done = subprocess.run(words, cwd=folder, env=self.environ, capture_output=True, check=False)
        if done.returncode:
            sys.exit(f"{' '.join(words)}: {done.stderr.decode(errors='replace')}")


# What the installed command does.
_ROOT = str(Path(__file__).parents[2])
_MAIN = f"import sys; sys.path.insert(0, {_ROOT!r}); from lace_tui.__main__ import main; sys.exit(main())"


def _settle() -> None:
    """Let what was written before reach the disk, so that nobody pays for another's writes."""
    os.sync()


def _cost(act: Callable[[], object]) -> _Cost:
    cpu, wall = _cpu(), time.perf_counter()
    act()
    return _Cost(time.perf_counter() - wall, _cpu() - cpu)


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
