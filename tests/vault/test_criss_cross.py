"""The one base of several nearest common ancestors (CLAY-73)."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

from tests.vault.vaults import found, write
from vault import profile
from vault.desks.memory import MemoryObjects
from vault.folder.criss_cross import base_of
from vault.folder.work import commit
from vault.records import RecordHash
from vault.revisions.history import commit_info, line_head
from vault.vault import Vault

ROUNDS = 150
ROOM = 100  # frames that are left: fewer than rounds


def crossed(alice: Vault) -> tuple[list[RecordHash], RecordHash]:
    """Lay two lines that cross at each round, of a file that one line alone changes; return their heads and a tree."""
    trees = []
    for number in range(2):
        write(alice, "a.txt", f"{number}\n")
        commit(alice, f"{number}")
        head = line_head(alice.store, alice.node.text, "main")
        assert head is not None
        trees.append(commit_info(alice.store, head.commit).tree)
    below: list[RecordHash] = []
    with alice.writing() as w:
        for number in range(ROUNDS):
            pair = []
            for side in range(2):
                plex = profile.Commit.to_plex(
                    group=alice.group,
                    desk="main",
                    parents=tuple(below),
                    tree=trees[number > side],  # one line changed the file, and the other has it a round later
                    message=f"{number}.{side}",
                    tai=w.tai(),
                )
                pair.append(w.seal(plex).hash)
            below = sorted(pair, key=str)
    return below, trees[1]


def test_lines_that_crossed_more_often_than_python_calls_itself_have_a_base(
    tmp_path: Path,
) -> None:
    """CLAY-73, APP-13: who releases at once with a friend each day crosses a thousand times in three years."""
    alice = found(tmp_path)
    heads, tree = crossed(alice)
    usual = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + ROOM)
    try:
        assert base_of(MemoryObjects(fallback=alice.store), alice, heads) == tree
    finally:
        sys.setrecursionlimit(usual)
    alice.close()
