"""New versions of one large file beside git: what each adds to the vault and to a stick, and what it costs (W3).

The file is source-like text of 100 MiB; each version changes one per cent of it in 64 places.
"""

from __future__ import annotations

import random
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from lazy.places.adding import add_place
from tests.bench.content import MIB, Cost, begin, both, commit_git, git, in_child, opened, size_of, timed_git
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
    """Yield bytes of one version, bytes of all, processor time of one version from folder to medium, and the memory."""
    size = (8 if quick else 100) * MIB
    draw = random.Random(3)
    content = text(size, draw)
    mine: list[list[Cost]] = []
    theirs: list[Cost] = []
    bytes_of: dict[str, list[int]] = {"vault": [], "stick": [], "thin": [], "rsync": []}
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        folder, repository = begin(root)
        _media(root, folder, repository)
        for version in range(_VERSIONS):
            if version:
                changed(content, draw)
            both(folder, repository, "large", content)
            before = _rest(folder), size_of(root / "stick")
            mine.append([in_child(act, folder) for act in ("commit", "release", "sync")])
            theirs.append(_commit_and_push(repository))
            sent = _rsync(folder / "large", root / "copy")
            if version:
                bytes_of["vault"].append(_rest(folder) - before[0])
                bytes_of["stick"].append(size_of(root / "stick") - before[1])
                bytes_of["thin"].append(_thin_pack(repository))
                bytes_of["rsync"] += [sent] if sent else []
        stored = _rest(folder)
        git(repository, "gc", "-q", "--prune=now")
        git_stored = size_of(repository / ".git" / "objects")
    what = f"{size // MIB} MiB, 1 % changed"
    megabytes = {name: median(sizes) / 1e6 for name, sizes in bytes_of.items() if sizes}
    thin = megabytes["thin"]
    yield Figure("W3", f"{what}: one version in the vault", megabytes["vault"], "MB", "git's thin pack", thin, 2)
    yield Figure("W3", f"{what}: one version on the stick", megabytes["stick"], "MB", "git's thin pack", thin, 2)
    if "rsync" in megabytes:
        sent_by = megabytes["rsync"]
        yield Figure("W3", f"{what}: one version on the stick", megabytes["stick"], "MB", "rsync -z", sent_by, 0.8)
    yield Figure("W3", f"{what}: all five stored", stored / 1e6, "MB", "git after repack", git_stored / 1e6, 1.3)
    cpu = median(sum(cost.cpu for cost in costs) for costs in mine[1:])
    against = median(cost.cpu for cost in theirs[1:])
    yield Figure("W3", f"{what}: commit, release, sync", cpu, "CPU s", "git add, commit, push", against, 0.15)
    peak = max(cost.peak for costs in mine for cost in costs)
    yield Figure("W3", f"{what}: peak memory", peak, "MB", "the promise", _MEMORY_MB, 1)


def _media(root: Path, folder: Path, repository: Path) -> None:
    """Give both a medium: a stick, and a bare repository on the same disk."""
    with opened(folder) as vault:
        add_place(vault, "stick", str(root / "stick"), cwd=root)
    (root / "bare").mkdir()
    git(root / "bare", "init", "-q", "--bare")
    git(repository, "remote", "add", "origin", str(root / "bare"))


def _commit_and_push(repository: Path) -> Cost:
    made = commit_git(repository)
    pushed = timed_git(repository, "push", "-q", "origin", "HEAD:main")
    return Cost(made.wall + pushed.wall, made.cpu + pushed.cpu, 0)


def _rsync(file: Path, copy: Path) -> int:
    """Bring a copy up to date; return the bytes that crossed in both directions, 0 where there is no rsync."""
    program = shutil.which("rsync")
    if program is None:
        return 0
    words = (program, "-z", "--no-whole-file", "--ignore-times", "--stats", str(file), str(copy))
    said = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    return sum(
        int(line.split(":")[1].replace(",", "")) for line in said.splitlines() if line.startswith("Total bytes ")
    )


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
