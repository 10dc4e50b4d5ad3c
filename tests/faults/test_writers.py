"""Several processes on one vault: nothing is lost, nobody is turned away, a dead holder is no obstacle (APP-13)."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

from tests.faults.circle import around, records_in, write
from tests.people import ROOT
from vault.audit.trail import verify_trail
from vault.beginning import found_vault
from vault.desks.tree import walk
from vault.folder import work
from vault.folder.checked_out import checkout_of
from vault.records import RecordHash
from vault.revisions.history import line_head
from vault.vault import Vault


def _start(vault: Vault, name: str, count: int) -> subprocess.Popen[str]:
    words = [str(vault.folder), str(vault.around.data_root), name, str(count)]
    return subprocess.Popen(
        [sys.executable, "-m", "tests.faults.writer", *words],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _vault(root: Path) -> Vault:
    vault = found_vault(root / "alice" / "f", around(root, "alice"), name="alice", group="friends")
    write(vault, "start.txt", "start\n")
    assert work.commit(vault, "start")
    return vault


def _check(vault: Vault, writers: int, each: int) -> None:
    """Run the writers to their end and compare what they were told with what the vault holds."""
    running = [_start(vault, f"w{number}", each) for number in range(writers)]
    told: list[tuple[str, int]] = []
    for process in running:
        out, err = process.communicate(timeout=300)
        assert process.returncode == 0, err  # nobody meets a lock or a busy database
        assert err == ""
        told += [(commit, int(number)) for commit, number in (line.split() for line in out.splitlines())]
    assert len(told) == writers * each

    rows = vault.store.rows("SELECT number, commit_hash FROM rev WHERE node = ? ORDER BY number", vault.node.text)
    assert [int(row[0]) for row in rows] == list(range(1, writers * each + 2))  # no gap, no duplicate
    assert {(str(commit), int(number)) for number, commit in rows[1:]} == set(told)
    stored = records_in(vault)
    assert all(RecordHash.parse(commit) in stored for commit, _ in told)

    head = line_head(vault.store, vault.node.text, "main")
    base = checkout_of(vault)
    assert head is not None
    assert base is not None
    assert base.commit == head.commit  # a linear history: each commit stands on the one before
    chain = [str(parent) for (parent,) in vault.store.rows("SELECT parent FROM parent")]
    assert len(chain) == len(set(chain)) == writers * each
    files = {path: vault.store.content(entry.hash) for path, entry in walk(vault.store, base.tree)}
    for number in range(writers):
        assert files[f"w{number}.txt"] == f"w{number} {each}\n".encode()
    verdict = verify_trail(vault)
    assert verdict.ok  # CYB-10
    assert work.changes(vault).items == ()


def test_two_processes_commit_at_once(tmp_path: Path) -> None:
    # APP-13
    with _vault(tmp_path) as vault:
        _check(vault, 2, 25)


def test_eight_writers_of_two_hundred_commits_each(tmp_path: Path) -> None:
    # APP-13, LAZ-66: linear log, nothing lost
    with _vault(tmp_path) as vault:
        _check(vault, 8, 200)


def test_a_holder_that_is_killed_leaves_no_lock_and_no_half_commit(tmp_path: Path) -> None:
    # APP-13: no manual step after a crash
    with _vault(tmp_path) as vault:
        before = set(records_in(vault))
        write(vault, "new.txt", "new\n")
        process = _start(vault, "doomed", 0)
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        assert vault.lock.holder() is not None
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        assert set(records_in(vault)) == before
        made = work.commit(vault, "after the crash")
        assert made
        assert made.revision == 2
        assert made.paths("added") == ["new.txt"]
        assert verify_trail(vault).ok
    with Vault(tmp_path / "alice" / "f", around(tmp_path, "alice")) as again:
        assert work.changes(again).items == ()
