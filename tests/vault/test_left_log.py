"""Whether somebody has a store open beside which a log lies, as the system's table of locks tells it (APP-13)."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from vault import left_log
from vault.left_log import is_left

_LOCKS, _MOUNTS = "/proc/locks", "/proc/self/mountinfo"

pytestmark = pytest.mark.skipif(not Path(_LOCKS).exists(), reason="this system names no locks")


def _tables(monkeypatch: pytest.MonkeyPatch, disk: tuple[int, int], number: int, mounted: tuple[int, int]) -> None:
    """Let the system name one lock, of a file on a disk, and that another disk is mounted."""
    locked = b"1: POSIX  ADVISORY  WRITE 7 %02x:%02x:%d 0 EOF" % (*disk, number)
    mount = b"27 1 %d:%d / /mnt rw - ext4 /dev/sda rw" % mounted
    tables = {_LOCKS: [locked.split()], _MOUNTS: [mount.split()]}
    monkeypatch.setattr(left_log, "_lines", lambda table: tables[table])


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Return a store with a log beside it."""
    path = tmp_path / "store.db"
    path.write_bytes(b"store")
    path.with_name("store.db-wal").write_bytes(b"log")
    return path


def test_a_log_is_left_while_nobody_holds_a_lock_there(store: Path) -> None:
    """APP-13."""
    assert is_left(str(store))
    with store.open("r+b") as file:
        fcntl.lockf(file, fcntl.LOCK_EX)
        assert not is_left(str(store))
    assert is_left(str(store))


def test_a_lock_of_a_file_with_the_same_number_on_another_disk_says_nothing(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-13: a log that rotted was not looked at then, and SQLite dropped what lay behind the rot without a word."""
    found = store.stat()
    here = os.major(found.st_dev), os.minor(found.st_dev)
    elsewhere = here[0], here[1] + 1
    _tables(monkeypatch, elsewhere, found.st_ino, mounted=here)
    assert is_left(str(store))
    _tables(monkeypatch, here, found.st_ino, mounted=here)
    assert not is_left(str(store))
    # As of btrfs, where locks name the disk, and a file names a number that no mount has.
    _tables(monkeypatch, elsewhere, found.st_ino, mounted=elsewhere)
    assert not is_left(str(store))
