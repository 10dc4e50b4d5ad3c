from __future__ import annotations

import ctypes
import errno
import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault.files import (
    AtomicFile,
    DiskFull,
    FileMissing,
    FileTooLarge,
    NotWritable,
    Unreadable,
    can_flush_everything,
    flush_everything,
    fsync_directory,
    make_directory,
    read_bounded,
    refuse_write,
    remove_leftovers,
    write_atomic,
)


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def fail_with(number: int):  # type: ignore[no-untyped-def]
    def fail(*_args: object) -> int:
        raise OSError(number, os.strerror(number))

    return fail


def test_writes_whole_file_and_leaves_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "head.rec"
    with AtomicFile(target) as file:
        assert file.write(b"one ") == 4
        file.write(memoryview(b"two"))
        assert not target.exists()  # APP-13: nobody sees a half-written file
    assert target.read_bytes() == b"one two"
    assert names(tmp_path) == ["head.rec"]


@given(st.lists(st.binary(max_size=64), max_size=8))
def test_reads_back_what_was_written(tmp_path_factory: pytest.TempPathFactory, parts: list[bytes]) -> None:
    target = tmp_path_factory.mktemp("d") / "f"
    with AtomicFile(target, durable=False) as file:
        for part in parts:
            file.write(part)
    whole = b"".join(parts)
    assert read_bounded(target, len(whole)) == whole


def test_exception_keeps_the_old_bytes_and_removes_the_temporary_file(tmp_path: Path) -> None:
    """APP-13."""
    target = tmp_path / "f"
    write_atomic(target, b"old")

    def interrupted() -> None:
        with AtomicFile(target) as file:
            file.write(b"new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert target.read_bytes() == b"old"
    assert names(tmp_path) == ["f"]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
@pytest.mark.parametrize("call", ["write", "fsync", "close"])
def test_each_failing_step_keeps_the_old_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, number: int
) -> None:
    """APP-13, faults.md row 3: a full disk or quota at any step is DiskFull, and the old file stays."""
    target = tmp_path / "f"
    write_atomic(target, b"old")
    monkeypatch.setattr(os, call, fail_with(number))
    with pytest.raises(DiskFull, match="f"):
        write_atomic(target, b"new")
    monkeypatch.undo()
    assert target.read_bytes() == b"old"
    assert names(tmp_path) == ["f"]


def test_failing_rename_is_not_writable(tmp_path: Path) -> None:
    target = tmp_path / "taken"
    target.mkdir()
    (target / "inside").touch()
    with pytest.raises(NotWritable, match="taken"):
        write_atomic(target, b"x")
    assert names(tmp_path) == ["taken"]


def test_short_writes_are_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: real(fd, bytes(data[:3])))
    write_atomic(tmp_path / "f", b"0123456789")
    monkeypatch.undo()
    assert (tmp_path / "f").read_bytes() == b"0123456789"


def test_a_missing_directory_has_its_own_error(tmp_path: Path) -> None:
    with pytest.raises(NotWritable, match="no such file"):
        write_atomic(tmp_path / "none" / "f", b"x")
    with pytest.raises(NotWritable):
        fsync_directory(tmp_path / "none")


def test_directory_that_cannot_be_flushed_is_accepted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", fail_with(errno.EINVAL))
    fsync_directory(tmp_path)
    monkeypatch.setattr(os, "fsync", fail_with(errno.EIO))
    with pytest.raises(NotWritable):
        fsync_directory(tmp_path)


@pytest.mark.skipif(not can_flush_everything(), reason="there is no such call")
def test_a_disk_that_cannot_be_flushed_alone_is_flushed_with_all_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-13: a share that knows no flush of its own keeps no checkout from its end, and a broken disk still does."""
    flushed: list[str] = []

    class System:
        number = errno.EINVAL

        def syncfs(self, _fd: int) -> int:
            ctypes.set_errno(self.number)
            return -1

    monkeypatch.setattr(ctypes, "CDLL", lambda *_args, **_named: System())
    monkeypatch.setattr(os, "sync", lambda: flushed.append("all"))
    fd = os.open(tmp_path, os.O_RDONLY)
    try:
        flush_everything(fd)
        assert flushed == ["all"]
        monkeypatch.setattr(System, "number", errno.EIO)
        with pytest.raises(OSError, match="Input/output"):
            flush_everything(fd)
    finally:
        os.close(fd)
    assert flushed == ["all"]


@pytest.mark.skipif(os.name == "nt", reason="there NTFS journals names by itself")
def test_a_directory_is_flushed_until_it_holds_something(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """APP-13: an empty one may be what a killed run left before its flush; any other costs none."""
    flushed: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda fd: flushed.append(os.fstat(fd).st_ino))
    above, directory = tmp_path / "above", tmp_path / "above" / "directory"
    (tmp_path / "f").write_bytes(b"x")
    for _ in range(2):
        make_directory(directory)
    assert flushed == [tmp_path.stat().st_ino, above.stat().st_ino, above.stat().st_ino]
    (directory / "f").write_bytes(b"x")
    make_directory(directory)
    assert len(flushed) == 3


@pytest.mark.skipif(os.name == "nt", reason="permission bits are POSIX")
def test_mode_is_set_from_the_first_byte(tmp_path: Path) -> None:
    """APP-11: a secret file is never readable by others, not even under its temporary name."""
    with AtomicFile(tmp_path / "secret", mode=0o600) as file:
        file.write(b"x")
        (temp,) = tmp_path.iterdir()
        assert stat.S_IMODE(temp.stat().st_mode) & 0o077 == 0
    assert stat.S_IMODE((tmp_path / "secret").stat().st_mode) == 0o600


def test_leftover_of_a_crash_is_stepped_over_and_can_be_removed(tmp_path: Path) -> None:
    """APP-13."""
    (tmp_path / "f.0.tmp").write_bytes(b"half")
    (tmp_path / "mine.tmp").write_bytes(b"not ours")
    write_atomic(tmp_path / "f", b"new")
    assert (tmp_path / "f").read_bytes() == b"new"
    assert (tmp_path / "f.0.tmp").read_bytes() == b"half"
    assert remove_leftovers(tmp_path) == 1
    assert names(tmp_path) == ["f", "mine.tmp"]
    with pytest.raises(NotWritable):
        remove_leftovers(tmp_path / "none")


def test_two_writers_at_once_do_not_mix(tmp_path: Path) -> None:
    target = tmp_path / "f"
    with AtomicFile(target) as one, AtomicFile(target) as two:
        one.write(b"1111")
        two.write(b"2222")
    assert target.read_bytes() == b"1111"  # the outer block ends last
    assert names(tmp_path) == ["f"]


def test_longest_name_can_be_written(tmp_path: Path) -> None:
    name = "ä" * 127
    write_atomic(tmp_path / name, b"x")
    assert names(tmp_path) == [name]


def test_read_bounded_checks_the_limit(tmp_path: Path) -> None:
    target = tmp_path / "f"
    target.write_bytes(b"12345")
    assert read_bounded(target, 5) == b"12345"
    with pytest.raises(FileTooLarge, match="more than the 4 bytes"):
        read_bounded(target, 4)
    target.write_bytes(b"")
    assert read_bounded(target, 0) == b""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs a file that reports size 0")
def test_read_bounded_counts_while_reading() -> None:
    with pytest.raises(FileTooLarge):
        read_bounded("/proc/self/status", 10)


def test_read_bounded_names_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(FileMissing, match="gone does not exist"):
        read_bounded(tmp_path / "gone", 10)
    with pytest.raises(Unreadable):
        read_bounded(tmp_path, 10)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes in the file system here")
def test_read_bounded_does_not_wait_for_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(Unreadable, match="not a regular file"):
        read_bounded(tmp_path / "pipe", 10)


@pytest.mark.parametrize(
    ("code", "way"), [(errno.EFBIG, "another disk"), (errno.EMFILE, "ulimit -n"), (errno.EACCES, "is yours")]
)
def test_a_write_that_fails_names_its_own_way_out(tmp_path: Path, code: int, way: str) -> None:
    """APP-14: to look whether the disk is read-only helps nobody whose file is too large for it."""
    with pytest.raises(NotWritable) as refused:
        refuse_write(tmp_path / "a", OSError(code, os.strerror(code)))
    assert way in refused.value.hint
