"""Random walks through the circle: made from a seed, run, and shortened when they fail."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.circle.truth import close, sound
from tests.circle.world import NAMES, Circle, Step

__all__ = ["fault_of", "shortened", "steps_of"]

_WEIGHTS = {
    "edit": 30, "commit": 6, "release": 14, "sync": 18, "carry": 8, "update": 12, "resolve": 6, "accept": 5,
    "leave": 1, "rejoin": 2, "backup": 2, "restore": 2, "admit": 2, "revoke": 1, "quarrel": 1, "comeback": 2,
    "invite": 2, "part": 6, "undo": 5,
}  # fmt: skip
_CHECK_EVERY = 10  # steps


def steps_of(seed: int, count: int) -> list[Step]:
    """Return the steps that a seed stands for."""
    chance = random.Random(seed)
    acts = chance.choices(list(_WEIGHTS), list(_WEIGHTS.values()), k=count)
    return [Step(chance.choice(NAMES), act, chance.randrange(1000)) for act in acts]


def fault_of(seed: int, steps: Sequence[Step], say: Callable[[str], None] = lambda _line: None) -> str:
    """Let the circle take the steps, check it on the way and bring it together; return what was wrong, or nothing."""
    seen: dict[str, set[str]] = {}
    with tempfile.TemporaryDirectory(prefix="circle-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as root:
        try:
            circle = Circle(Path(root), seed, say)
            for number, step in enumerate(steps, 1):
                circle.do(step)
                if number % _CHECK_EVERY == 0:
                    sound(circle, seen)
            close(circle)
            sound(circle, seen)
        except Exception as error:
            return f"{type(error).__name__}: {error}"
    return ""


def shortened(seed: int, steps: list[Step], fault: str, tries: int, kind: Callable[[str], str]) -> list[Step]:
    """Return fewer steps that fail in the same way, found by leaving out ever smaller parts.

    Args:
        seed: of the keys.
        steps: that fail.
        fault: how they fail.
        tries: how many walks may be taken for it.
        kind: makes faults of one kind equal.
    """
    size = len(steps) // 2
    while size and tries > 0:
        at = 0
        while at < len(steps) and tries > 0:
            fewer = steps[:at] + steps[at + size :]
            tries -= 1
            found = fault_of(seed, fewer)
            if found and kind(found) == kind(fault):
                steps = fewer
            else:
                at += size
        size //= 2
    return steps
