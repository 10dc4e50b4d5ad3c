from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from vault import lock as lock_module
from vault.files import NotWritable
from vault.lock import Holder, Locked, VaultLock

HOLDER = """
import sys
from vault.lock import VaultLock
with VaultLock(sys.argv[1], now=lambda: "noon").held():
    print("held", flush=True)
    sys.stdin.read()
"""


class Clock:
    """A clock that moves only when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0
        self.pauses: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds

    def read(self) -> float:
        return self.now


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "lock"


def other_process(path: Path) -> subprocess.Popen[str]:
    root = Path(lock_module.__file__).parents[1]
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=root,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_another_process_excludes_and_its_death_releases(path: Path) -> None:
    """APP-13: the lock of a killed process is not stale, it is gone."""
    process = other_process(path)
    try:
        waits: list[Holder | None] = []
        with (
            pytest.raises(Locked, match=f"process {process.pid}, since noon"),
            VaultLock(path).held(timeout=0, on_wait=waits.append),
        ):
            pass
        assert waits == [Holder(process.pid, "noon")]
    finally:
        process.kill()
        process.communicate()
    with VaultLock(path).held(timeout=0):
        assert VaultLock(path).holder() == Holder(os.getpid(), "")


def test_waits_with_growing_pauses_until_the_time_is_over(path: Path) -> None:
    clock = Clock()
    with (
        VaultLock(path).held(),
        pytest.raises(Locked),
        VaultLock(path, sleep=clock.sleep, monotonic=clock.read).held(timeout=1.0),
    ):
        pass
    assert clock.now == pytest.approx(1.0)
    assert clock.pauses[:-1] == sorted(clock.pauses[:-1])
    assert max(clock.pauses) <= 0.1


def test_a_waiting_of_more_than_a_second_is_told_once(path: Path) -> None:
    clock, told = Clock(), list[float]()
    lock = VaultLock(path, sleep=clock.sleep, monotonic=clock.read, waits=lambda _holder: told.append(clock.now))
    for seconds, count in ((0.9, 0), (5.0, 1)):
        with VaultLock(path).held(), pytest.raises(Locked), lock.held(timeout=seconds):
            pass
        assert len(told) == count
    assert 1.0 < told[0] - 0.9 < 1.3


def test_gets_the_lock_when_the_holder_leaves(path: Path) -> None:
    first = VaultLock(path)
    holding = first.held()
    holding.__enter__()

    def leave(_seconds: float) -> None:
        holding.__exit__(None, None, None)

    second = VaultLock(path, sleep=leave)
    with second.held(timeout=None), pytest.raises(Locked), first.held(timeout=0):
        pass


def test_is_reentrant_and_releases_at_the_outermost(path: Path) -> None:
    one = VaultLock(path)
    other = VaultLock(path)
    with one.held():
        with one.held(timeout=0):
            pass
        with pytest.raises(Locked), other.held(timeout=0):
            pass
    with other.held(timeout=0):
        pass
    assert path.read_bytes() == b""


def test_is_released_after_an_exception(path: Path) -> None:
    one = VaultLock(path)
    with pytest.raises(KeyError), one.held():
        raise KeyError
    with VaultLock(path).held(timeout=0):
        pass


def test_threads_of_one_object_exclude_each_other(path: Path) -> None:
    shared = VaultLock(path)
    inside = 0
    most = 0

    def work() -> None:
        nonlocal inside, most
        for _ in range(50):
            with shared.held(timeout=60):
                inside += 1
                most = max(most, inside)
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1
    with VaultLock(path).held(timeout=0):
        pass


def test_other_thread_is_refused_in_time(path: Path) -> None:
    shared = VaultLock(path)
    caught: list[str] = []

    def work() -> None:
        try:
            with shared.held(timeout=0, on_wait=lambda holder: caught.append(str(holder))):
                pass
        except Locked as error:
            caught.append(error.code)

    with shared.held():
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert caught == [f"process {os.getpid()}", "vault-locked"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_does_not_hold_or_release_the_lock(path: Path) -> None:
    one = VaultLock(path)
    with one.held():
        child = os.fork()
        if child == 0:
            status = 1
            try:
                try:
                    with one.held(timeout=0):
                        pass
                except Locked:
                    status = 0
            finally:
                os._exit(status)
        _, result = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(result) == 0
        with pytest.raises(Locked), VaultLock(path).held(timeout=0):
            pass


def test_a_deleted_lock_file_is_noticed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = lock_module._try_lock
    calls = 0

    def lock_then_lose(fd: int) -> None:
        nonlocal calls
        calls += 1
        if calls == 1:
            path.unlink()
        real(fd)

    monkeypatch.setattr(lock_module, "_try_lock", lock_then_lose)
    with VaultLock(path, sleep=lambda _seconds: None).held(timeout=5):
        assert path.exists()
        monkeypatch.undo()
        with pytest.raises(Locked), VaultLock(path).held(timeout=0):
            pass
    assert calls == 2


def test_file_that_cannot_be_locked_has_its_own_error(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NotWritable, match="lock"), VaultLock(path.parent / "none" / "lock").held():
        pass

    def no_locks(_fd: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(lock_module, "_try_lock", no_locks)
    with pytest.raises(NotWritable, match="cannot be taken"), VaultLock(path).held():
        pass

    def read_only(_fd: int) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(lock_module, "_try_lock", read_only)
    with pytest.raises(NotWritable) as told, VaultLock(path).held():
        pass
    assert "can only be read now" in told.value.hint, "and not that it knows no locks"


def test_foreign_text_in_the_file_names_nobody(path: Path) -> None:
    assert VaultLock(path).holder() is None
    path.write_bytes(b"\xff\xfe what")
    assert VaultLock(path).holder() is None
