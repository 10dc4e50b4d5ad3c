"""Old revisions cost what new ones cost: read, diff and log at revision 1 of a long line beside the head.

Only the ratio is a promise (at most 1.5); both are measured in turn, in one process, on one vault.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.bench.table import Figure
from tests.faults.circle import around
from vault.beginning import found_vault
from vault.desks.diff import diff_trees
from vault.desks.tree import lookup
from vault.folder.work import commit as commit_folder
from vault.folder.work import record_commit
from vault.revisions.history import commit_info, revision
from vault.revisions.reads import Care, read_line
from vault.vault import Vault

__all__ = ["figures"]

_REPEATS = 15
_FILES = 50


def figures(quick: bool) -> Iterator[Figure]:
    """Yield a ratio for each question."""
    revisions = 300 if quick else 10_000
    with tempfile.TemporaryDirectory() as scratch, _line(Path(scratch), revisions) as vault:
        for what, ask in _QUESTIONS.items():
            old, new = _medians(lambda ask=ask: ask(vault, 1), lambda ask=ask: ask(vault, revisions - 1))  # type: ignore[misc]
            yield Figure("line", f"{what} at 1 of {revisions} revisions", old, "ms", "at the head", new, 1.5)


def _line(root: Path, revisions: int) -> Vault:
    """Make a vault whose line has so many revisions of one small change each."""
    vault = found_vault(root / "alice", around(root, "alice"), name="alice", group="bench")
    for number in range(_FILES):
        (vault.folder / f"f{number}").write_text(f"{number}\n")
    for number in range(4):
        (vault.folder / "f0").write_text(f"step {number}\n")
        commit_folder(vault, f"step {number}")
    me = vault.node.text
    so_far = [revision(vault.store, me, "main", number) for number in (1, 2, 3, 4)]
    trees = [commit_info(vault.store, found.commit).tree for found in so_far if found is not None]
    parents = [found.commit for found in so_far[-1:] if found is not None]
    with vault.writing() as w:
        for number in range(4, revisions):
            made, _ = record_commit(w, vault, "main", trees[number % 4], parents, f"step {number}")
            parents = [made]
    return vault


def _medians(one: Callable[[], object], other: Callable[[], object]) -> tuple[float, float]:
    spent: tuple[list[float], list[float]] = ([], [])
    for _ in range(_REPEATS):
        for call, times in zip((one, other), spent, strict=True):
            began = time.perf_counter()
            call()
            times.append((time.perf_counter() - began) * 1e3)
    return statistics.median(spent[0]), statistics.median(spent[1])


def _read(vault: Vault, number: int) -> None:
    answer = read_line(vault.store, vault.node.text, "main", number, Care.FULL)
    assert answer.value
    found = revision(vault.store, vault.node.text, "main", number)
    assert found is not None
    entry = lookup(vault.store, commit_info(vault.store, found.commit).tree, "f1")
    assert entry is not None
    assert vault.store.content(entry.hash)


def _diff(vault: Vault, number: int) -> None:
    sides = [revision(vault.store, vault.node.text, "main", n) for n in (number, number + 1)]
    before, after = (commit_info(vault.store, side.commit).tree for side in sides if side is not None)
    assert list(diff_trees(vault.store, before, after))


def _log(vault: Vault, number: int) -> None:
    for n in range(number, number + 2):
        found = revision(vault.store, vault.node.text, "main", n)
        assert found is not None
        assert commit_info(vault.store, found.commit).message


_QUESTIONS: dict[str, Callable[[Vault, int], None]] = {"read": _read, "diff": _diff, "log": _log}
