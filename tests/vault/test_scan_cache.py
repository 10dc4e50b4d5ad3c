"""What a scan keeps in the store for the next one goes with the directories it is about."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

from tests.vault import vaults
from vault.unfinished import StoredDirCache
from vault.vault import Vault
from vault.work import changes, commit


def _kept(vault: Vault) -> set[str]:
    return {str(row[0]).removeprefix("//") for row in vault.store.rows("SELECT dir FROM dircache")}


def test_directories_that_are_gone_leave_no_rows(tmp_path: Path) -> None:
    """CLAY-71: the cache follows the folder and not its history; names that only begin alike stay."""
    alice = vaults.found(tmp_path)
    for path in ("old/a/x.txt", "old/b.txt", "older/x.txt", "old.d/x.txt", "kept/old/x.txt"):
        vaults.write(alice, path, "one\n")
    commit(alice, "all")
    stays = {"", "older", "old.d", "kept", "kept/old"}
    assert _kept(alice) == stays | {"old", "old/a"}
    shutil.rmtree(alice.folder / "old")
    vaults.write(alice, "old", "a file now\n")
    commit(alice, "less")
    assert _kept(alice) == stays
    (alice.folder / "old").unlink()
    vaults.write(alice, "old/a/x.txt", "one\n")
    commit(alice, "again")
    assert _kept(alice) == stays | {"old", "old/a"}
    assert not changes(alice).items


def test_many_folders_that_hold_nothing_of_the_desk_cost_one_pass(tmp_path: Path) -> None:
    """APP-12, CLAY-71: each directory was compared with each of them, at every look: a minute for some thousands."""
    alice = vaults.found(tmp_path)
    hollow = {f"music/{number}/thumbs" for number in range(3000)}
    cache = StoredDirCache(alice, "main")
    beside = {"musical", "music.d", "music/a", "other/music/1"}
    for path in ("", "music", *hollow, *(f"{path}/deep" for path in hollow), *beside):
        cache.save(path, b"seen")
        cache.save(f"//{path}", b"look")
    began = time.process_time()
    cache.keep_if_free(alice, hollow)
    assert time.process_time() - began < 3
    assert _kept(alice) == beside
