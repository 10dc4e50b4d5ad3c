"""Calls that fail: a command meets a full disk, a broken one or too many open files at its first call, its second ...

    python -m tests.faults.failing [COMMAND...] [--sample K]

Each fails once, and for ever. The command ends with an error of the house, or well; everything is sound afterwards,
and once the fault is gone the same command leads to the state of the undisturbed run (fault matrix, row 3; APP-13).
"""

from __future__ import annotations

import argparse
import errno
import shutil
import sys
import tempfile
import traceback
from collections.abc import Iterable
from pathlib import Path

from tests.faults.iolayer import fail_from
from tests.faults.scenes import COMMANDS, prepared
from tests.faults.sweep import Swept, calls_of, compare, in_child, spread

__all__ = ["CODES", "failing", "main"]

CODES = (errno.ENOSPC, errno.EIO, errno.EMFILE)


def failing(root: Path, name: str, points: Iterable[int] = (), codes: Iterable[int] = CODES) -> Swept:
    """Fail every call of one command, or those at `points`, once and for ever."""
    scene = prepared(root, name)
    numbers = list(points) or range(1, calls_of(scene) + 1)
    report = root / "report"
    faults: list[tuple[int, str]] = []
    count = 0
    for number in numbers:
        for code in codes:
            for for_ever in (False, True):
                count += 1
                scene.stage.back()
                report.unlink(missing_ok=True)
                try:
                    ended = in_child(scene, fail_from(number, code, for_ever=for_ever), report)
                    assert report.exists(), f"it ended with {ended} and no word"
                    _, _, told = report.read_text().split("\n", 2)
                    assert "Traceback" not in told, told
                    assert ended == 0 or told.strip(), f"it ended with {ended} and no word"
                    assert ended not in {1, 70} or scene.command.name in {"resolve", "merged"}, (ended, told)
                    scene.sound()
                    scene.finish()
                    scene.sound()
                    compare(scene.state(), scene.goal)
                except Exception:
                    how = f"{errno.errorcode[code]} {'for ever' if for_ever else 'once'}"
                    faults.append((number, f"{how}: {traceback.format_exc(limit=-3)}"))
    return Swept(name, count, 0.0, tuple(faults))


def main(words: list[str]) -> int:
    """Fail the commands named, or all."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.failing", description=__doc__)
    parser.add_argument("commands", nargs="*", metavar="COMMAND", help=", ".join(COMMANDS))
    parser.add_argument("--sample", type=int, default=0, help="fail so many calls only")
    args = parser.parse_args(words)
    top = Path(tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
    bad = 0
    try:
        for name in args.commands or COMMANDS:
            points: Iterable[int] = ()
            if args.sample:
                points = spread(calls_of(prepared(top / f"{name}-count", name)), args.sample)
            done = failing(top / name, name, points)
            bad += len(done.faults)
            print(f"{name}: {done.points} failures, {len(done.faults)} faults", flush=True)  # noqa: T201
            for number, what in done.faults[:6]:
                print(f"  at call {number}: {what}"[:1200], flush=True)  # noqa: T201
            shutil.rmtree(top / name, ignore_errors=True)
    finally:
        shutil.rmtree(top, ignore_errors=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
