"""A large file is read from its medium, and not from what the system kept of it (faults.md row 6)."""

from __future__ import annotations

import errno
import os
import random
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from blake3 import blake3

from transports import past_cache
from transports.mailbox import ByteCount

_SIZE = (18 << 20) + 4_321  # no whole number of blocks


@pytest.fixture
def large(tmp_path: Path) -> Path:
    path = tmp_path / "large"
    path.write_bytes(random.Random(1).randbytes(_SIZE))
    return path


@pytest.fixture
def direct(large: Path) -> Path:
    """The same on a disk that is read past the cache."""
    with large.open("rb") as file:
        if not past_cache._read_directly(file.fileno()):
            pytest.skip("this disk reads nothing past the cache")
    return large


def digest(path: Path) -> tuple[bytes, int]:
    count = ByteCount()
    return past_cache.digest_past_cache(os.open(path, os.O_RDONLY), count), count.read


@pytest.mark.parametrize("size", [0, 1, 100_000, 16 << 20, (16 << 20) + 1, _SIZE])
def test_the_digest_is_that_of_the_bytes(large: Path, size: int) -> None:
    os.truncate(large, size)
    assert digest(large) == (blake3(large.read_bytes()).digest(), size)


def test_a_large_file_is_read_past_the_cache(direct: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    was_direct: list[bool] = []

    def watched(descriptor: int, into: list[memoryview], at: int) -> int:
        import fcntl

        was_direct.append(bool(fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_DIRECT))
        return read(descriptor, into, at)

    read = os.preadv
    monkeypatch.setattr(os, "preadv", watched)
    assert digest(direct) == (blake3(direct.read_bytes()).digest(), _SIZE)
    assert was_direct == [True] * 19


def _too_short(descriptor: int, into: list[memoryview], at: int) -> int:
    return min(4_096, len(os.pread(descriptor, len(into[0]), at)))


def _refused(number: int) -> Callable[[int, list[memoryview], int], int]:
    def refuse(_descriptor: int, _into: list[memoryview], at: int) -> int:
        if at:
            raise OSError(number, os.strerror(number))
        return 1 << 20

    return refuse


@pytest.mark.parametrize("answer", [_too_short, *map(_refused, (errno.EINVAL, errno.EOPNOTSUPP, errno.EIO))])
def test_what_cannot_be_read_so_is_read_as_ever(
    direct: Path, monkeypatch: pytest.MonkeyPatch, answer: Callable[[int, list[memoryview], int], int]
) -> None:
    """Some media take such reads in their own sizes only, or say that they do and do not; a real fault comes again."""
    monkeypatch.setattr(os, "preadv", answer)
    assert digest(direct)[0] == blake3(direct.read_bytes()).digest()


def test_without_threads_it_is_read_as_ever(direct: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", none)
    assert digest(direct)[0] == blake3(direct.read_bytes()).digest()
