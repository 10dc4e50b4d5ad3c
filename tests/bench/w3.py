"""New versions of one large file beside git: what each adds to the vault, and what it costs (W3, the storing side).

The file is source-like text of 100 MiB; each version changes one per cent of it in 64 places.
"""

from __future__ import annotations

import random
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from tests.bench.content import MIB, Cost, begin, both, commit_git, git, in_child, size_of
from tests.bench.table import Figure

__all__ = ["changed", "figures", "text"]

_PLACES = 64
_VERSIONS = 5
_MEMORY_MB = 200


def text(size: int, draw: random.Random) -> bytearray:
    """Return bytes that compress as source code does: lines of words from a small vocabulary."""
    words = [f"{draw.getrandbits(32):x}"[: draw.randrange(2, 9)] for _ in range(4_000)]
    made = bytearray()
    while len(made) < size:
        line = " ".join(draw.choices(words, k=draw.randrange(3, 12)))
        made += (" " * draw.randrange(0, 12) + line + "\n").encode()
    return made[:size]


def changed(content: bytearray, draw: random.Random) -> None:
    """Rewrite one per cent in 64 places."""
    piece = len(content) // 100 // _PLACES
    for _ in range(_PLACES):
        at = draw.randrange(len(content) - piece)
        content[at : at + piece] = text(piece, draw)


def figures(quick: bool) -> Iterator[Figure]:
    """Yield bytes of one version, bytes of all, CPU of one commit, and the memory."""
    size = (8 if quick else 100) * MIB
    draw = random.Random(3)
    content = text(size, draw)
    mine: list[Cost] = []
    theirs: list[Cost] = []
    added: list[int] = []
    thin: list[int] = []
    with tempfile.TemporaryDirectory() as name:
        folder, repository = begin(Path(name))
        for version in range(_VERSIONS):
            if version:
                changed(content, draw)
            both(folder, repository, "large", content)
            before = _rest(folder)
            mine.append(in_child("commit", folder))
            theirs.append(commit_git(repository))
            if version:
                added.append(_rest(folder) - before)
                thin.append(_thin_pack(repository))
        stored = _rest(folder)
        git(repository, "gc", "-q", "--prune=now")
        git_stored = size_of(repository / ".git" / "objects")
    what = f"{size // MIB} MiB, 1 % changed"
    yield Figure(
        "W3", f"{what}: one version in the vault", median(added) / 1e6, "MB", "git's thin pack", median(thin) / 1e6, 2
    )
    yield Figure("W3", f"{what}: all five stored", stored / 1e6, "MB", "git after repack", git_stored / 1e6, 1.3)
    cpu = median(cost.cpu for cost in mine[1:])
    yield Figure("W3", f"{what}: commit", cpu, "CPU s", "git add + commit", median(c.cpu for c in theirs[1:]), 0.15)
    peak = max(cost.peak for cost in mine)
    yield Figure("W3", f"{what}: peak memory", peak, "MB", "the promise", _MEMORY_MB, 1)


def _rest(folder: Path) -> int:
    """Return the bytes of a vault's store, its log written back."""

    db = sqlite3.connect(folder / ".vault" / "store.db")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    return size_of(folder / ".vault")


def _thin_pack(repository: Path) -> int:
    out = git(repository, "rev-parse", "HEAD", "^HEAD~1")
    pack = repository / ".git" / "thin.pack"
    with pack.open("wb") as file:
        subprocess.run(
            ["git", "-C", str(repository), "pack-objects", "--thin", "--revs", "--stdout", "-q"],
            input=out.encode(),
            stdout=file,
            check=True,
        )
    size = pack.stat().st_size
    pack.unlink()
    return size
