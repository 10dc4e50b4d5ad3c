"""Which processors a benchmark runs on, where the system lets it choose."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["all_processors", "apart", "only_on"]


def all_processors() -> set[int]:
    """Return the numbers of the processors that this process may run on; none where the system does not tell."""
    return os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()


def apart() -> tuple[set[int], set[int]]:
    """Return which processors the near and the far end of a line run on: apart, as two machines do.

    Else it is chance whether both ends share one, which takes a download twice as long. None of either where there is
    no choice.
    """
    every = sorted(all_processors())
    return ({every[-1]}, set(every[:-1])) if len(every) > 1 else (set(), set())


@contextmanager
def only_on(processors: set[int]) -> Iterator[None]:
    """Run on these only, as do processes that are begun meanwhile; on any where there are none."""
    if not processors:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, processors)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
