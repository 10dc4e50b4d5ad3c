"""What the same small change costs in a vault of 1, 10 and 100 times the size: the slope is the finding.

The folder is the same each time; what grows is what the vault holds. The change is one edited file, committed and
released.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.bench.start import large_vault
from tests.bench.table import Figure
from vault.work import commit, release

__all__ = ["figures"]

_TIMES = (1, 10, 100)


def figures(quick: bool) -> Iterator[Figure]:
    """Yield the cost of a small commit and release at each size, beside the smallest vault."""
    releases, records, repeats = (2, 20, 5) if quick else (20, 1_000, 15)
    first: dict[str, float] = {}
    for turn, times in enumerate((1, *_TIMES)):
        with tempfile.TemporaryDirectory() as text:
            vault = large_vault(Path(text), releases * times, records * times)
            spent: dict[str, list[float]] = {"commit": [], "release": []}
            for number in range(repeats):
                (vault.folder / "song.txt").write_text(f"verse {number}\n")
                begun = time.process_time()
                commit(vault, f"verse {number}")
                made = time.process_time()
                release(vault, None, "")
                spent["commit"].append(made - begun)
                spent["release"].append(time.process_time() - made)
            vault.close()
        if turn == 0:  # imports and caches of the process are paid for here
            continue
        for what, costs in spent.items():
            cost = 1000 * statistics.median(costs)
            base = first.setdefault(what, cost)
            limit = 2 if times > 1 else None
            yield Figure(
                "growth", f"{what} of one file, vault {times}x", cost, "ms CPU", "the vault at 1x", base, limit
            )
