"""The circle in short: random steps of four people always lead to one truth (LAZ-4, LAZ-31, LAZ-38, CYB-10).

The whole form is `python -m tests.circle --seeds 20 --steps 300`.
"""

from __future__ import annotations

import pytest

from tests.circle.walk import fault_of, steps_of


@pytest.mark.parametrize("seed", [3, 4])
def test_a_circle_converges_whatever_its_people_do(seed: int) -> None:
    """Edits, releases, sticks, decisions, revocations and restored backups end in the same records and folders."""
    steps = steps_of(seed, 40)
    assert fault_of(seed, steps) == "", f"python -m tests.circle --replay {seed} {' '.join(map(str, steps))}"
