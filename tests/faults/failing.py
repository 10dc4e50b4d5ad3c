"""Calls that fail: a command meets a full disk, a broken one or too many open files at its first call, its second ...

    python -m tests.faults.failing [COMMAND...] [--sample K]

Each fails once, and for ever. The command ends with an error of the house, or well; everything is sound afterwards,
and once the fault is gone the same command leads to the state of the undisturbed run (fault matrix, row 3; APP-13).
"""

from __future__ import annotations

import errno
import sys
import traceback
from collections.abc import Iterable

from tests.faults.iolayer import can_fail, fail_from
from tests.faults.scenes import Scene
from tests.faults.sweep import Swept, compare, disturbed, in_child, named_calls, parser_of

__all__ = ["CODES", "failing", "main"]

_REPORTING = {"merged", "repair", "resolve"}  # these end with 1 and say what is not done yet
CODES = (errno.ENOSPC, errno.EIO, errno.EMFILE)


def failing(scene: Scene, points: Iterable[int] = (), codes: Iterable[int] = CODES) -> Swept:
    """Fail every call of one command, or those at `points`, once and for ever, with each code that it can fail with."""
    names = named_calls(scene)
    numbers = list(points) or range(1, len(names) + 1)
    report = scene.stage.root / "report"
    faults: list[tuple[int, str]] = []
    count = 0
    for number in numbers:
        for code in (code for code in codes if can_fail(names[number - 1], code)):
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
                    assert ended not in {1, 70} or scene.command.name in _REPORTING, (ended, told)
                    scene.sound()
                    scene.finish()
                    scene.sound(done=True)
                    compare(scene.state(), scene.goal)
                except Exception:
                    how = f"{errno.errorcode[code]} {'for ever' if for_ever else 'once'}"
                    faults.append((number, f"{how}: {traceback.format_exc(limit=-3)}"))
    return Swept(scene.command.name, count, 0.0, tuple(faults))


def main(words: list[str]) -> int:
    """Fail the commands named, or all."""
    parser = parser_of("failing", __doc__)
    parser.add_argument("--sample", type=int, default=0, help="fail so many calls only")
    args = parser.parse_args(words)
    return disturbed(args.commands, args.sample, failing, "failures")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
