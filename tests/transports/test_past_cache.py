"""A large file is read from its medium, and not from what the system kept of it (faults.md row 6)."""

from __future__ import annotations

import errno
import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from blake3 import blake3

from transports import past_cache
from transports.mailbox import ByteCount

_SIZE = (18 << 20) + 4_321  # no whole number of blocks

needs_direct = pytest.mark.skipif(not hasattr(os, "O_DIRECT"), reason="this system reads nothing past its cache")


@pytest.fixture
def large(tmp_path: Path) -> Path:
    path = tmp_path / "large"
    path.write_bytes(random.Random(1).randbytes(_SIZE))
    return path


def digest(path: Path) -> tuple[bytes, int]:
    count = ByteCount()
    return past_cache.digest_past_cache(os.open(path, os.O_RDONLY), count), count.read


@pytest.mark.parametrize("size", [0, 1, 100_000, 16 << 20, (16 << 20) + 1, _SIZE])
def test_the_digest_is_that_of_the_bytes(large: Path, size: int) -> None:
    os.truncate(large, size)
    assert digest(large) == (blake3(large.read_bytes()).digest(), size)


@needs_direct
def test_a_large_file_is_read_past_the_cache(large: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    direct: list[bool] = []

    def watched(descriptor: int, into: list[memoryview], at: int) -> int:
        import fcntl

        direct.append(bool(fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_DIRECT))
        return read(descriptor, into, at)

    read = os.preadv
    with large.open("rb") as file:
        if not past_cache._read_directly(file.fileno()):
            pytest.skip("this disk reads nothing past the cache")
    monkeypatch.setattr(os, "preadv", watched)
    assert digest(large)[0] == blake3(large.read_bytes()).digest()
    assert direct == [True] * 19


def _refused(_descriptor: int, _into: list[memoryview], _at: int) -> int:
    raise OSError(errno.EINVAL, "not in such pieces")


def _too_short(descriptor: int, into: list[memoryview], at: int) -> int:
    return min(4_096, len(os.pread(descriptor, len(into[0]), at)))


@needs_direct
@pytest.mark.parametrize("answer", [_refused, _too_short])
def test_what_cannot_be_read_so_is_read_as_ever(
    large: Path, monkeypatch: pytest.MonkeyPatch, answer: Callable[[int, list[memoryview], int], int]
) -> None:
    """Some media take such reads in their own sizes only, or say that they do and do not."""
    monkeypatch.setattr(os, "preadv", answer)
    assert digest(large)[0] == blake3(large.read_bytes()).digest()


@needs_direct
def test_a_fault_of_the_medium_is_told(large: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_descriptor: int, _into: list[memoryview], at: int) -> int:
        if at:
            raise OSError(errno.EIO, "Input/output error")
        return 1 << 20

    monkeypatch.setattr(os, "preadv", broken)
    with pytest.raises(OSError, match="Input/output"):
        digest(large)
