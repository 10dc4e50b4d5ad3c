"""What a scan keeps in the store for the next one goes with the directories it is about."""

from __future__ import annotations

import os
import shutil
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.vault import vaults
from vault.desks import memory
from vault.desks.diff import diff_trees
from vault.desks.filling import Filling
from vault.desks.glance import LOOKS, is_as_scanned, told_by
from vault.desks.memory import MemoryObjects
from vault.folder import dir_cache, work
from vault.folder.checked_out import checkout_of
from vault.folder.dir_cache import StoredDirCache
from vault.folder.looking import look
from vault.folder.unfinished import checkout_tree
from vault.folder.work import changes, commit
from vault.notes.own import GENERATION
from vault.records import RecordHash
from vault.store import Store
from vault.vault import Vault
from vault.watch import Watch


def _is_as_scanned(vault: Vault) -> bool:
    cache = StoredDirCache(vault, "main")
    told = told_by(cache.load(LOOKS))
    fd = os.open(vault.folder, os.O_RDONLY)
    try:
        return told is not None and is_as_scanned(fd, told[0], cache.load)
    finally:
        os.close(fd)


def _files(store: Store, tree: RecordHash) -> list[tuple[str, int]]:
    return [(path, after.size if after is not None else -1) for path, _, _, after in diff_trees(store, None, tree)]


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


def test_what_a_scan_of_much_kept_on_the_way_is_what_it_keeps_at_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Performance, peak memory: neither the pages nor the looks of a large folder wait for its end to be written."""
    files = {f"{number}/{name}.txt": f"{number % 3}\n" for number in range(5) for name in "abc"}
    kept: list[set[str]] = []
    trees: list[object] = []
    for most in (1 << 20, 0):
        monkeypatch.setattr(dir_cache, "_FRESH_BYTES", most)
        monkeypatch.setattr(memory, "_MOST_BYTES", most)
        (tmp_path / str(most)).mkdir()
        alice = vaults.found(tmp_path / str(most))
        for path, text in files.items():
            vaults.write(alice, path, text)
        made = commit(alice, "all")
        assert made
        assert len(made.items) == len(files)
        shutil.rmtree(alice.folder / "1")
        vaults.write(alice, "2/a.txt", "other\n")
        made = commit(alice, "less")
        assert made
        assert {kind: len(made.paths(kind)) for kind in ("changed", "deleted")} == {"changed": 1, "deleted": 3}
        kept.append({str(key) for (key,) in alice.store.rows("SELECT dir FROM dircache")})
        base = checkout_of(alice, "main")
        trees.append(base and _files(alice.store, base.tree))
        assert not changes(alice).items
    assert kept[0] == kept[1]
    assert trees[0] == trees[1]


def test_a_scan_that_is_taken_back_keeps_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dir_cache, "_FRESH_BYTES", 0)
    alice = vaults.found(tmp_path)
    vaults.write(alice, "a/b.txt", "one\n")

    def fail(*_given: object, **_named: object) -> None:
        assert _kept(alice)  # it was written, and goes with the transaction
        raise RuntimeError

    monkeypatch.setattr(work, "record_commit", fail)
    with pytest.raises(RuntimeError):
        commit(alice, "all")
    assert not _kept(alice)


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


def test_folders_that_hold_nothing_of_the_desk_cost_no_second_scan(tmp_path: Path) -> None:
    """CLAY-71: until the next commit nothing was kept of what lies above one, and each look listed all of it anew."""
    vaults.found(tmp_path).close()
    alice = Vault(tmp_path / "alice", replace(vaults.around(tmp_path, "alice"), now_ns=time.time_ns))
    vaults.write(alice, ".laceignore", "*.log\n")
    vaults.write(alice, "songs/a.txt", "one\n")
    commit(alice, "all")
    (alice.folder / "deep/er").mkdir(parents=True)
    vaults.write(alice, "deep/er/today.log", "x\n")
    vaults.write(alice, "songs/logs/today.log", "x\n")
    time.sleep(0.05)  # what is as young as the look at it is read again
    assert not changes(alice).items
    hollow = {"deep", "deep/er", "songs/logs"}
    assert _kept(alice) == {"", "songs", *hollow}
    assert _is_as_scanned(alice)
    generation = alice.store.note(GENERATION)
    assert not changes(alice).items
    assert alice.store.note(GENERATION) == generation, "nothing new was kept"
    vaults.write(alice, "deep/er/song.txt", "la\n")
    assert not _is_as_scanned(alice)
    assert [item.path for item in changes(alice).items] == ["deep/er/song.txt"]
    (alice.folder / "deep/er/song.txt").unlink()
    assert not changes(alice).items
    (alice.folder / "deep/er/today.log").unlink()
    assert [item.path for item in changes(alice).items] == ["deep/er"], "an empty folder is taken"
    vaults.write(alice, "deep/er/today.log", "x\n")
    vaults.write(alice, "songs/a.txt", "two\n")
    made = commit(alice, "more")
    assert made
    assert [item.path for item in made.items] == ["songs/a.txt"]


def test_a_folder_that_is_in_the_tree_stays_when_it_holds_nothing_of_the_desk(tmp_path: Path) -> None:
    """CLAY-71: what it held before is gone, and it is still a folder of the desk."""
    alice = vaults.found(tmp_path)
    vaults.write(alice, ".laceignore", "*.log\n")
    vaults.write(alice, "logs/today.log", "x\n")
    vaults.write(alice, "logs/read.me", "one\n")
    commit(alice, "all")
    (alice.folder / "logs/read.me").unlink()
    for _ in range(2):
        assert [item.path for item in changes(alice).items] == ["logs", "logs/read.me"]
    assert commit(alice, "less")
    assert not changes(alice).items


def test_directories_that_a_checkout_made_are_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """CLAY-71: the first look after an update read every file that it had brought; rules may be among them."""
    alice = vaults.found(tmp_path)
    for path in (".laceignore", "notes/a.txt", "notes/old/b.txt", "notes/old/c.log"):
        vaults.write(alice, path, "*.log\n")
    commit(alice, "all", ["notes", ".laceignore"])
    full = checkout_of(alice, "main")
    shutil.rmtree(alice.folder / "notes")
    (alice.folder / ".laceignore").unlink()
    commit(alice, "nothing", [""])
    empty = checkout_of(alice, "main")
    assert full is not None
    assert empty is not None
    settle = Filling.settle

    def settling(files: Filling, root: int) -> None:
        settle(files, root)
        time.sleep(0.05)  # what arrives in the tick in which it was written is read again

    monkeypatch.setattr(Filling, "settle", settling)
    with alice.writing() as w:
        checkout_tree(w, alice, "main", empty.tree, full.tree, Watch())
    overlay = MemoryObjects(fallback=alice.store, trees_only=True)
    found = look(alice, "main", full.tree, overlay, StoredDirCache(alice, "main"), Watch())
    assert (found.root, found.files, found.read) == (full.tree, 3, 1)  # the rules themselves are no new directory
