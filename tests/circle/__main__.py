"""The circle at length: seeded walks of four people, two sticks and a git remote, and the replay of one.

python -m tests.circle [--seeds N] [--first SEED] [--steps 300]
python -m tests.circle --replay SEED STEP...        (as a failing walk prints it)
"""

from __future__ import annotations

import argparse
import re
import sys
import time

from tests.circle.walk import fault_of, shortened, steps_of
from tests.circle.world import Step

__all__ = ["main"]


def _kind(fault: str) -> str:
    """Return a fault without its hashes and numbers."""
    return re.sub(r"[0-9A-Za-z~_.-]{12,}|[0-9]+", "#", fault)[:60]


def main(words: list[str]) -> int:
    """Walk, or replay."""
    parser = argparse.ArgumentParser(prog="python -m tests.circle", description=__doc__)
    parser.add_argument("--seeds", type=int, default=10, help="how many walks")
    parser.add_argument("--first", type=int, default=1, help="the first walk's seed")
    parser.add_argument("--steps", type=int, default=300, help="steps of a walk")
    parser.add_argument("--tries", type=int, default=60, help="walks taken to shorten one that fails; 0 for none")
    parser.add_argument("--replay", nargs="+", metavar=("SEED", "STEP"), help="take these steps and tell every command")
    args = parser.parse_args(words)
    if args.replay:
        seed, *texts = args.replay
        fault = fault_of(int(seed), [Step.parse(text) for text in texts], _print)
        _print(fault or "no fault")
        return 1 if fault else 0
    bad = 0
    for seed in range(args.first, args.first + args.seeds):
        begun = time.monotonic()
        steps = steps_of(seed, args.steps)
        fault = fault_of(seed, steps)
        _print(f"seed {seed}: {len(steps)} steps in {time.monotonic() - begun:.0f} s: {fault or 'no fault'}")
        if fault:
            bad += 1
            fewer = shortened(seed, steps, fault, args.tries, _kind)
            _print(f"  python -m tests.circle --replay {seed} {' '.join(map(str, fewer))}")
    _print(f"{args.seeds} walks, {bad} with faults")
    return 1 if bad else 0


def _print(line: str) -> None:
    print(line, flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
