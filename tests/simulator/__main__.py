"""Many seeds at once: `python -m tests.simulator --seeds 2000 [--first SEED] [--processes 2]`.

Prints what fails and how to run it alone; the last line holds a digest of all traces, which is the same for the same
seeds on every machine.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from multiprocessing import get_context

from blake3 import blake3

from tests.simulator.scenario import Outcome, simulate

__all__ = ["main"]


def _tried(seed: int) -> Outcome | str:
    try:
        return simulate(seed)
    except AssertionError as error:
        return str(error)


def _all(first: int, count: int, processes: int) -> Iterator[Outcome | str]:
    seeds = range(first, first + count)
    if processes == 1:
        yield from map(_tried, seeds)
        return
    with get_context("spawn").Pool(processes) as pool:
        yield from pool.imap(_tried, seeds, chunksize=10)


def main(words: list[str]) -> int:
    """Run the seeds; return 1 if any of them failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulator", description=__doc__)
    parser.add_argument("--seeds", type=int, default=100, help="how many")
    parser.add_argument("--first", type=int, default=1, help="the first one")
    parser.add_argument("--processes", type=int, default=1, help="how many at a time")
    args = parser.parse_args(words)
    hasher = blake3()
    bad = exchanges = aborts = 0
    for outcome in _all(args.first, args.seeds, args.processes):
        if isinstance(outcome, str):
            bad += 1
            sys.stdout.write(f"{outcome}\n")
            sys.stdout.flush()
            continue
        hasher.update(outcome.trace.encode())
        exchanges += outcome.exchanges
        aborts += outcome.aborts
    told = f"{args.seeds} seeds, {bad} failed; {exchanges} sides of exchanges, {aborts} aborted"
    sys.stdout.write(f"{told}; {hasher.hexdigest()[:24]}\n")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
