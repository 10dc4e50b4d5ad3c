"""Fuzz every parser of foreign bytes: python -m tests.fuzz [--minutes M] [--seed N] [TARGET...].

Findings go to `tests/fuzz/cases/TARGET`, where the test suite runs them again for ever.
"""

from __future__ import annotations

import argparse
import random
import resource
import sys
from pathlib import Path

from tests.fuzz.engine import fuzz, name_of, watch
from tests.fuzz.targets import TARGETS, target

CASES = Path(__file__).parent / "cases"
_MEMORY = 3 << 30  # bytes of address space; more than any input may take


def main(words: list[str]) -> int:
    """Run the targets named, or all, one after the other, each for so many minutes."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0, help="for each target")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(TARGETS))
    args = parser.parse_args(words)
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    watch()
    bad = 0
    for name in args.targets or TARGETS:
        rng = random.Random(f"{name} {args.seed}")
        done = fuzz(target(name), rng, seconds=args.minutes * 60)
        bad += len(done.findings)
        print(  # noqa: T201
            f"{name}: {done.executions} executions in {done.seconds / 60:.1f} minutes,"
            f" {len(done.outcomes)} outcomes, {len(done.findings)} findings",
            flush=True,
        )
        for finding in done.findings.values():
            path = CASES / name / name_of(finding)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(finding.data)
            print(f"  {finding.what}\n    kept as {path}", flush=True)  # noqa: T201
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
