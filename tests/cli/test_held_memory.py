"""Memory that large content needed once serves what comes next (performance: W2)."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

from tests.people import ROOT

# Blocks as content is read and joined in: two of a megabyte at a time, here and in another thread.
_BLOCKS = """
import sys, threading
from resource import RUSAGE_SELF, getrusage
from lace_tui.__main__ import main

def blocks():
    kept = None
    for _ in range(200):
        kept = [b"".join([b"x" * 700_000, b"y" * 300_000]), b"z" * (1 << 20)]

main(["--version"])
thread = threading.Thread(target=blocks)
thread.start()
thread.join()
blocks()
print(getrusage(RUSAGE_SELF).ru_minflt)
"""
_PAGES = 2 * 200 * 2 * 256  # of all that is taken; without holding on a quarter of them comes anew


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="others hold memory by other rules")
def test_blocks_of_large_content_come_from_memory_that_was_freed() -> None:
    done = subprocess.run([sys.executable, "-c", _BLOCKS], cwd=ROOT, capture_output=True, text=True, check=True)
    faults = int(done.stdout.splitlines()[-1])
    assert faults < _PAGES // 10
