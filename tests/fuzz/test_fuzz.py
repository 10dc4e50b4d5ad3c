"""Every parser of foreign bytes under the fuzzer in short, and every input that was once taken badly (APP-12, REC-82).

The whole of it: python -m tests.fuzz --minutes 60
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.fuzz.engine import Target, execute, fuzz, mutate
from tests.fuzz.targets import TARGETS, target

CASES = Path(__file__).parent / "cases"
SHORT = 300


@pytest.mark.parametrize("name", TARGETS)
def test_only_errors_of_the_house_come_out(name: str) -> None:
    """REC-82, INT-144, LAZ-79, APP-14: strict, bounded, and never a traceback."""
    done = fuzz(target(name), random.Random(f"{name} short"), executions=SHORT)
    assert done.executions >= SHORT
    assert list(done.findings.values()) == []


@pytest.mark.parametrize("path", sorted(CASES.glob("*/*.bin")), ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_what_was_once_taken_badly_is_taken_well(path: Path) -> None:
    _, finding = execute(target(path.parent.name), path.read_bytes())
    assert finding is None


def test_every_target_takes_what_it_begins_with() -> None:
    """A target whose seeds are all refused would prove nothing."""
    for name in TARGETS:
        assert any(execute(target(name), seed)[0] == "ok" for seed in target(name).seeds), name


def test_the_fuzzer_finds_what_is_wrong() -> None:
    def bad(data: bytes) -> None:
        if b"\xff" in data:
            raise KeyError(data)

    done = fuzz(Target("bad", (b"seed",), bad), random.Random(1), executions=2000)
    (finding,) = done.findings.values()
    assert b"\xff" in finding.data
    rng = random.Random(2)
    assert {mutate(rng, b"abc", b"xyz") for _ in range(50)} != {b"abc"}
