"""The circle in short: whatever four people do, it leads to one truth (LAZ-4, LAZ-31, LAZ-38, CYB-10).

The whole form is `python -m tests.circle --seeds 20 --steps 300`.
"""

from __future__ import annotations

import re

from tests.circle.walk import fault_of, steps_of
from tests.circle.world import Step

_SEED = 3
# What random steps do rarely in so few: two cut one friend at two entries, a backup is brought back, a revocation of
# oneself, and going on after it.
_SCRIPT = (
    "cara:invite:1 alice:sync:0 bob:quarrel:12"
    " bob:edit:2 bob:sync:0 bob:backup:0 bob:edit:7 bob:release:1 bob:sync:0 bob:restore:0 bob:release:1 bob:carry:0"
    " alice:update:0 bob:revoke:0 bob:carry:0 bob:comeback:0 bob:edit:3 bob:release:1"
)


def test_a_circle_converges_whatever_its_people_do() -> None:
    """DWN-1, DWN-74: edits, releases, sticks and decisions end in the same records and folders."""
    steps = steps_of(_SEED, 40)
    assert fault_of(_SEED, steps) == "", f"python -m tests.circle --replay {_SEED} {' '.join(map(str, steps))}"


def test_a_circle_survives_a_restored_backup_and_a_revocation() -> None:
    """Who went back in time fetches what is theirs first; who revoked themselves goes on under a new key."""
    said: list[str] = []
    fault = fault_of(_SEED, [Step.parse(text) for text in _SCRIPT.split()], said.append)
    assert fault == "", f"python -m tests.circle --replay {_SEED} {_SCRIPT}"
    told = "\n".join(said)
    for act in ("bob$ lace revoke self --yes  [0]", "bob$ lace adopt  [0]"):
        assert act in told
    cuts = re.findall(r"(bob|alice)\$ lace revoke \S+ --last (\d+) --yes  \[0\]", told)
    assert cuts == [("bob", "1"), ("alice", "0")]
    restored = told[told.index("bob:restore:0") : told.index("bob:carry:0")]
    assert restored.count("bob$ lace sync") == 3
    assert "bob$ lace release --yes -m step 11  [0]" in restored
