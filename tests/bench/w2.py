"""Large random files beside git: 1 GiB in 64 files taken in and released (W2, the side of the one who commits).

Both work in their own process, in turn; medians of the repeats. Nothing here compresses, so it shows what hashing,
cutting and writing cost.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from tests.bench.content import MIB, Cost, begin, both, commit_git, in_child
from tests.bench.table import Figure

__all__ = ["figures"]

_FILES = 64
_MEMORY_MB = 200


def figures(quick: bool) -> Iterator[Figure]:
    """Yield commit and release of many large files beside git, and the memory they took."""
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
