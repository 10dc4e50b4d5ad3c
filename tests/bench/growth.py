"""What the same small change costs in a vault of 1, 10 and 100 times the size: the slope is the finding.

The folder is the same each time; what grows is what the vault holds. The change is one edited file, committed and
released; then brought to a stick, off it again and into a friend's folder; and a visit that finds nothing new. On a
long history two work beside each other: what one took of it is merged, a version that both released is looked at and
decided, and eight lines are merged twice, so that the base of both is a virtual one.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from lazy.conflicts import conflicts
from lazy.folder.update import update
from lazy.resolving.resolve import resolve_prefer
from lazy.sync import sync
from tests.bench.start import large_vault
from tests.bench.table import Figure
from tests.faults.circle import PLACE, befriend, found, visit
from vault.desks.memory import MemoryObjects
from vault.folder.checked_out import checkout_of
from vault.folder.criss_cross import base_of
from vault.folder.work import commit
from vault.names import Version
from vault.profile import Commit
from vault.records import RecordHash
from vault.releasing import release
from vault.revisions.graph import merge_bases
from vault.vault import Vault

__all__ = ["figures"]

_TIMES = (1, 10, 100)
_LINES = 8


def figures(quick: bool) -> Iterator[Figure]:
    """Yield the cost of a small commit and release at each size, beside the smallest vault."""
    releases, records, commits, repeats = (2, 20, 20, 5) if quick else (20, 1_000, 100, 15)
    first: dict[str, float] = {}
    for turn, times in enumerate((1, *_TIMES)):  # imports and caches of the process are paid for in the first turn
        spent = {
            **_acts(releases * times, records * times, repeats),
            **_visits(releases * times, repeats),
            **_sides(commits * times, repeats),
        }
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


def _sides(commits: int, repeats: int) -> dict[str, list[float]]:
    """Return what it costs to merge, to make a virtual base, to look at a conflict, and to decide it."""
    spent: dict[str, list[float]] = {"merging": [], "virtual base": [], "look at a conflict": [], "decision": []}
    with tempfile.TemporaryDirectory() as text:
        alice = found(Path(text))
        for number in range(commits):
            (alice.folder / "song.txt").write_text(f"version {number}\n")
            commit(alice, "")
        release(alice, Version(2, 0, 0), "")
        bob = befriend(Path(text), alice, "bob")
        update(bob)
        for who in (bob, alice, bob):
            visit(who)
        for number in range(repeats):
            _release_both(alice, bob, Version(3, number, 0), Version(4, number, 0))
            spent["merging"].append(_spent(lambda: update(bob)))
            ours, theirs = _crossed(bob)
            spent["virtual base"].append(_spent(lambda: _base(bob, ours, theirs)))  # noqa: B023 - called here
            release(bob, Version(5, number, 0), "")
            for who in (bob, alice):
                visit(who)
            update(alice)
        _release_both(alice, bob, Version(6, 0, 0), Version(6, 0, 0))
        for _ in range(repeats):
            spent["look at a conflict"].append(_spent(lambda: conflicts(bob)))
        (asked,) = conflicts(bob)
        spent["decision"].append(_spent(lambda: resolve_prefer(bob, asked.id, "local")))
        for vault in (alice, bob):
            vault.close()
    return spent


def _spent(act: Callable[[], object]) -> float:
    begun = time.process_time()
    act()
    return time.process_time() - begun


def _release_both(alice: Vault, bob: Vault, hers: Version, his: Version) -> None:
    """Let both release a file of their own, and know of the other's."""
    for who, version in ((alice, hers), (bob, his)):
        (who.folder / f"{who.name}.txt").write_text(f"{version}\n")
        release(who, version, "")
    for who in (bob, alice, bob):
        visit(who)


def _crossed(vault: Vault) -> tuple[RecordHash, RecordHash]:
    """Return two commits that merge the same eight lines, which leave each other where the folder stands."""
    base = checkout_of(vault, "main")
    assert base is not None
    with vault.writing() as w:

        def sealed(parents: Sequence[RecordHash], words: str) -> RecordHash:
            plex = Commit.to_plex(
                group=vault.group, desk="main", tree=base.tree, parents=tuple(parents), message=words, tai=w.tai()
            )
            return w.seal(plex).hash

        lines = [sealed([base.commit], f"line {number}") for number in range(_LINES)]
        return sealed(lines, "ours"), sealed(lines, "theirs")


def _base(vault: Vault, ours: RecordHash, theirs: RecordHash) -> RecordHash | None:
    bases = merge_bases(vault.store, ours, theirs).commits
    assert len(bases) == _LINES
    return base_of(MemoryObjects(fallback=vault.store), vault, bases)


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
