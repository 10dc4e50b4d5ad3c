"""The kill-point sweep: a command is killed at its first write, then at its second, and so on until it ends unharmed.

    python -m tests.faults.sweep [COMMAND...] [--sample K]

After every kill each vault opens without a manual step, `fsck` is clean, the medium is valid, and the same command run
again leads to the state of the undisturbed run (fault matrix, rows 1 and 5; APP-13).
"""

from __future__ import annotations

import argparse
import itertools
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.faults.iolayer import Layer, kill_at
from tests.faults.moments import COMMANDS, prepared
from tests.faults.scenes import Scene

__all__ = [
    "Swept",
    "calls_of",
    "compare",
    "disturbed",
    "in_child",
    "main",
    "named_calls",
    "parser_of",
    "spread",
    "sweep",
]


@dataclass(frozen=True, slots=True)
class Swept:
    """What a sweep saw.

    Args:
        command: which command.
        points: how often it was killed.
        slowest: seconds of the slowest check of the vaults after a kill.
        faults: number of the call and what was wrong, for each failure.
    """

    command: str
    points: int
    slowest: float
    faults: tuple[tuple[int, str], ...]


def in_child(scene: Scene, layer: Layer, report: Path | None = None) -> int:
    """Run the command behind a layer in a forked child; return its exit code, or minus the signal that ended it."""
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        code = 70
        try:
            layer.install()
            done = scene.run()
            code = done.code
            if report is not None:
                with open(report, "w", encoding="utf-8") as file:  # noqa: PTH123
                    file.write(f"{' '.join(layer.names)}\n{done.code}\n{done.err or done.text}")
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def calls_of(scene: Scene) -> int:
    """Return how many calls the undisturbed command makes."""
    return len(named_calls(scene))


def named_calls(scene: Scene) -> list[str]:
    """Return the names of the calls that the undisturbed command makes."""
    scene.stage.back()
    report = scene.stage.root / "report"
    in_child(scene, Layer(lambda _count, _name, _args, _named, call: call()), report)
    return report.read_text().split("\n", 1)[0].split()


def sweep(scene: Scene, points: Iterable[int] = ()) -> Swept:
    """Kill one command at every call, or at the `points` given."""
    count = 0
    slowest = 0.0
    faults: list[tuple[int, str]] = []
    for number in points or itertools.count(1):
        scene.stage.back()
        code = in_child(scene, kill_at(number))
        if code >= 0:
            if code != 0:
                faults.append((number, f"ended with {code}"))
            break
        if code != -signal.SIGKILL:
            faults.append((number, f"ended by signal {-code}"))
        count += 1
        try:
            begun = time.monotonic()
            scene.sound()
            slowest = max(slowest, time.monotonic() - begun)
            scene.finish()
            scene.sound(done=True)
            compare(scene.state(), scene.goal)
        except Exception:
            faults.append((number, traceback.format_exc(limit=-3)))
    return Swept(scene.command.name, count, slowest, tuple(faults))


def compare(found: dict[str, object], goal: dict[str, object]) -> None:
    """Refuse a state that is not the goal."""
    if found != goal:
        wrong = {key: (found.get(key), goal.get(key)) for key in goal | found if found.get(key) != goal.get(key)}
        raise AssertionError(f"another state than undisturbed: {wrong}"[:1500])


def spread(total: int, samples: int) -> Iterator[int]:
    """Return call numbers from the first to the last, evenly spread."""
    yield from sorted({1 + round(at * (total - 1) / max(1, samples - 1)) for at in range(samples)})


def parser_of(module: str, description: str | None) -> argparse.ArgumentParser:
    """Return the parser of a fault command, which takes the commands that it disturbs."""
    parser = argparse.ArgumentParser(prog=f"python -m tests.faults.{module}", description=description)
    parser.add_argument("commands", nargs="*", metavar="COMMAND", help=", ".join(COMMANDS))
    return parser


def disturbed(
    commands: Iterable[str], samples: int, disturb: Callable[[Scene, Iterable[int]], Swept], points: str
) -> int:
    """Disturb each of the commands in a directory of its own, print what came of it, and return the exit code.

    Args:
        commands: the commands named; all when none is.
        samples: how many of a command's calls are disturbed; 0 for each of them.
        disturb: given the moment before a command and the calls (none for all of them).
        points: what its points are called.
    """
    top = Path(tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
    bad = 0
    try:
        for name in commands or COMMANDS:
            scene = prepared(top / name, name)
            total = calls_of(scene)
            done = disturb(scene, spread(total, samples) if samples else ())
            bad += len(done.faults)
            slowest = f", slowest check {done.slowest:.2f} s" if done.slowest else ""
            told = f"{name}: {total} calls, {done.points} {points}, {len(done.faults)} faults{slowest}"
            print(told, flush=True)  # noqa: T201
            for number, what in done.faults[:6]:
                print(f"  at call {number}: {what}"[:1200], flush=True)  # noqa: T201
            shutil.rmtree(top / name, ignore_errors=True)
    finally:
        shutil.rmtree(top, ignore_errors=True)
    return 1 if bad else 0


def main(words: list[str]) -> int:
    """Sweep the commands named, or all."""
    parser = parser_of("sweep", __doc__)
    parser.add_argument("--sample", type=int, default=0, help="kill at so many calls only")
    args = parser.parse_args(words)
    return disturbed(args.commands, args.sample, sweep, "kill points")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
