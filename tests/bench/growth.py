"""What the same small change costs in a vault of 1, 10 and 100 times the size: the slope is the finding.

The folder is the same each time; what grows is what the vault holds. The change is one edited file, committed and
released; then brought to a stick, off it again and into a friend's folder; and a visit that finds nothing new.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from lazy.folder.update import update
from lazy.sync import sync
from tests.bench.start import large_vault
from tests.bench.table import Figure
from tests.faults.circle import PLACE, befriend, found, visit
from vault.folder.work import commit
from vault.names import Version
from vault.releasing import release

__all__ = ["figures"]

_TIMES = (1, 10, 100)


def figures(quick: bool) -> Iterator[Figure]:
    """Yield the cost of a small commit and release at each size, beside the smallest vault."""
    releases, records, repeats = (2, 20, 5) if quick else (20, 1_000, 15)
    first: dict[str, float] = {}
    for turn, times in enumerate((1, *_TIMES)):  # imports and caches of the process are paid for in the first turn
        spent = {**_acts(releases * times, records * times, repeats), **_visits(releases * times, repeats)}
        if turn == 0:
            continue
        for what, costs in spent.items():
            cost = 1000 * statistics.median(costs)
            base = first.setdefault(what, cost)
            limit = 2 if times > 1 else None
            yield Figure(
                "growth", f"{what} of one file, vault {times}x", cost, "ms CPU", "the vault at 1x", base, limit
            )


def _acts(releases: int, records: int, repeats: int) -> dict[str, list[float]]:
    """Return what a small commit and release cost."""
    spent: dict[str, list[float]] = {"commit": [], "release": []}
    with tempfile.TemporaryDirectory() as text:
        vault = large_vault(Path(text), releases, records)
        for number in range(repeats):
            (vault.folder / "song.txt").write_text(f"verse {number}\n")
            begun = time.process_time()
            commit(vault, f"verse {number}")
            made = time.process_time()
            release(vault, None, "")
            spent["commit"].append(made - begun)
            spent["release"].append(time.process_time() - made)
        vault.close()
    return spent


def _visits(releases: int, repeats: int) -> dict[str, list[float]]:
    """Return what it costs to bring a small release to a stick, off it and into a folder; and to find nothing new."""
    spent: dict[str, list[float]] = {"sending": [], "receiving": [], "update": [], "finding nothing": []}
    with tempfile.TemporaryDirectory() as text:
        alice = found(Path(text))
        for number in range(releases):
            (alice.folder / "song.txt").write_text(f"version {number}\n")
            release(alice, Version(2, number // 1000, number % 1000), "")
        bob = befriend(Path(text), alice, "bob")
        update(bob)
        for who in (bob, alice, bob):
            visit(who)
        for number in range(repeats):
            (alice.folder / "song.txt").write_text(f"verse {number}\n")
            release(alice, None, "")
            acts = (
                ("sending", lambda: sync(alice, [PLACE])),
                ("receiving", lambda: sync(bob, [PLACE])),
                ("update", lambda: update(bob)),
                ("finding nothing", lambda: sync(bob, [PLACE])),
            )
            for what, act in acts:
                begun = time.process_time()
                act()
                spent[what].append(time.process_time() - begun)
        for vault in (alice, bob):
            vault.close()
    return spent
