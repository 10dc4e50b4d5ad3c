"""A worker process is as quick as the command that began it."""

from __future__ import annotations

import os
import platform
import resource

import pytest

from vault.worker_process import WorkerProcess

_BLOCK, _TOGETHER, _TIMES = 1 << 20, 4, 50


def serve() -> None:
    """Take and free blocks as a reader of large content does, and answer how many fresh pages that took."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(_TIMES):
        blocks = [bytes(bytearray(_BLOCK)) for _ in range(_TOGETHER)]
        del blocks
    os.write(1, str(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before).encode())


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="elsewhere memory is held in another way")
def test_a_worker_holds_the_memory_that_it_freed() -> None:
    worker = WorkerProcess(__name__, serve.__name__)
    answer = b""
    while worker.wait(60) and (piece := worker.read(100)):
        answer += piece
    worker.close()
    pages = _TIMES * _TOGETHER * _BLOCK // resource.getpagesize()
    assert 0 < int(answer) < pages / 5
